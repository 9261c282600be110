//! Network addresses: one parser for rules and requests, and `domain:` patterns.

use crate::wildcard::Wildcard;
use ona_api::{AddressClass, address_class, name_class};
use url::{Host, Url};

/// Returns the address a fetch would go to; `None` unless it is http or https.
pub(crate) fn address(text: &str) -> Option<Url> {
    let url = Url::parse(text.trim()).ok()?;
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(url)
}

/// Returns the host of an address, without the dot that may end it.
pub(crate) fn host(url: &Url) -> String {
    url.host_str().unwrap_or_default().trim_end_matches('.').to_ascii_lowercase()
}

/// Returns why the host of an address is not a public one, if its text tells.
pub(crate) fn class(url: &Url) -> Option<AddressClass> {
    match url.host()? {
        Host::Ipv4(address) => address_class(address.into()),
        Host::Ipv6(address) => address_class(address.into()),
        Host::Domain(name) => name_class(name),
    }
}

/// `domain:example.com`, `domain:*.example.com`, `domain:example.com/docs/*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Domain {
    /// From left to right; a leading `*` stands for one label or more.
    labels: Vec<Wildcard>,
    any_depth: bool,
    /// Only addresses whose path starts so (attack J-6).
    path: Option<Wildcard>,
}

impl Domain {
    /// `None` if it is not a host: an address, a port, a user.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (host, path) = match text.split_once('/') {
            Some((host, path)) => (host, Some(Wildcard::new(&format!("/{path}")))),
            None => (text, None),
        };
        let host = host.trim().trim_end_matches('.').to_lowercase();
        let (any_depth, rest) = match host.strip_prefix("*.") {
            Some(rest) => (true, rest.to_owned()),
            None => (false, host),
        };
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '*' | ':' | '[' | ']');
        if rest.is_empty() || !rest.chars().all(plain) {
            return None;
        }
        // Names are compared in the form requests use.
        let rest = match rest.contains('*') {
            true => rest,
            false => Host::parse(&rest).ok()?.to_string(),
        };
        let labels = if rest.starts_with('[') {
            vec![Wildcard::new(&rest)]
        } else {
            rest.split('.').map(Wildcard::new).collect()
        };
        Some(Self { labels, any_depth, path })
    }

    pub(crate) fn matches(&self, url: &Url) -> bool {
        let host = host(url);
        let names: Vec<&str> = if host.starts_with('[') { vec![&host] } else { host.split('.').collect() };
        let Some(extra) = names.len().checked_sub(self.labels.len()) else { return false };
        let deep_enough = if self.any_depth { extra > 0 } else { extra == 0 };
        deep_enough
            && self.labels.iter().zip(&names[extra..]).all(|(label, name)| label.fits(name))
            && self.path.as_ref().is_none_or(|path| path.fits(url.path()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_compared_as_requests_see_them() {
        for (domain, url, expected) in [
            ("example.com", "https://example.com/a", true),
            ("example.com", "http://example.com:8443/a", true),
            ("example.com", "https://EXAMPLE.com./", true),
            ("Example.COM.", "https://example.com/", true),
            ("example.com", "https://sub.example.com/", false),
            ("example.com", "https://example.com.evil.test/", false),
            ("example.com", "https://evil.test\\@example.com/", false),
            ("example.com", "https://example.com@evil.test/", false),
            ("example.com", "https://evil.test/example.com", false),
            ("*.example.com", "https://a.b.example.com/", true),
            ("*.example.com", "https://example.com/", false),
            ("*.example.com", "https://notexample.com/", false),
            ("api-*.example.com", "https://api-1.example.com/", true),
            ("api-*.example.com", "https://api-1.x.example.com/", false),
            ("bücher.test", "https://xn--bcher-kva.test/", true),
            ("127.0.0.1", "http://0x7f.1/", true),
            ("[::1]", "http://[0:0::1]:80/", true),
            ("host.test/org/*", "https://host.test/org/a", true),
            ("host.test/org/*", "https://host.test/evil/a", false),
            ("host.test/org/*", "https://host.test/org/../evil/a", false),
        ] {
            let address = address(url).unwrap();
            assert_eq!(Domain::parse(domain).unwrap().matches(&address), expected, "{domain} {url}");
        }
    }

    #[test]
    fn only_web_addresses_can_be_fetched() {
        for text in ["file:///etc/passwd", "ftp://a.test", "javascript:1", "a.test", "https://", ""] {
            assert_eq!(address(text), None, "{text}");
        }
        for text in ["", "https://a.test/*", "a.test:80", "u@a.test", "a b"] {
            assert_eq!(Domain::parse(text), None, "{text}");
        }
    }
}
