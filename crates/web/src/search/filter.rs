//! Which results a caller wants, by domain.

use url::{Host, Url};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DomainFilter {
    /// Empty: all.
    pub allowed: Vec<String>,
    pub blocked: Vec<String>,
}

impl DomainFilter {
    pub(crate) fn new(allowed: Option<&[String]>, blocked: Option<&[String]>) -> Result<Self, String> {
        let (allowed, blocked) = (allowed.unwrap_or_default(), blocked.unwrap_or_default());
        if !allowed.is_empty() && !blocked.is_empty() {
            return Err("allowed_domains and blocked_domains cannot be used together.".to_owned());
        }
        let all = |domains: &[String]| domains.iter().map(|domain| name(domain)).collect::<Result<Vec<_>, _>>();
        Ok(Self { allowed: all(allowed)?, blocked: all(blocked)? })
    }

    pub(crate) fn keeps(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default().trim_end_matches('.');
        let is_in = |domain: &String| {
            host.strip_suffix(domain.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        (self.allowed.is_empty() || self.allowed.iter().any(is_in)) && !self.blocked.iter().any(is_in)
    }
}

/// A domain in the form addresses have. `https://example.com/` and `*.example.com` mean the same domain.
fn name(written: &str) -> Result<String, String> {
    let text = written.trim();
    let text = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).unwrap_or(text);
    let text = text.trim_end_matches('/').trim_start_matches("*.").trim_end_matches('.');
    match Host::parse(text) {
        Ok(host) if !text.is_empty() => Ok(host.to_string()),
        _ => Err(format!("{written:?} is not a domain, such as example.com.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(allowed: &[&str], blocked: &[&str]) -> Result<DomainFilter, String> {
        let owned = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        DomainFilter::new(Some(&owned(allowed)), Some(&owned(blocked)))
    }

    #[test]
    fn a_domain_means_the_hosts_below_it_too() {
        for (allowed, blocked, url, kept) in [
            (&["example.com"][..], &[][..], "https://example.com/a", true),
            (&["example.com"], &[], "https://docs.EXAMPLE.com./a", true),
            (&["example.com"], &[], "https://notexample.com/", false),
            (&["https://Example.com/", "b.test"], &[], "https://b.test/", true),
            (&["*.example.com"], &[], "https://example.com/", true),
            (&["bücher.test"], &[], "https://xn--bcher-kva.test/", true),
            (&[], &["example.com"], "https://a.example.com/", false),
            (&[], &["example.com"], "https://example.org/", true),
            (&[], &[], "https://example.org/", true),
        ] {
            let url = Url::parse(url).unwrap();
            assert_eq!(filter(allowed, blocked).unwrap().keeps(&url), kept, "{allowed:?} {blocked:?} {url}");
        }
    }

    #[test]
    fn what_is_not_a_domain_is_named() {
        assert!(filter(&["a.test"], &["b.test"]).unwrap_err().contains("cannot be used together"));
        for text in ["", "a b", "a.test/path", "https://"] {
            assert!(filter(&[text], &[]).unwrap_err().contains("is not a domain"), "{text}");
        }
    }
}
