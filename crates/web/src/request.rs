//! From an address to a page, hop by hop.
//!
//! A redirect is followed on the same host, at most ten times, and only where the rules judge its target as
//! they judged the address of the call. Any other one is reported, and the model may ask for the target itself:
//! that is a call of its own, with its own decision (attack J-4).

use crate::content::{self, MediaType, RawBody};
use crate::download::{self, Answer};
use crate::fetch::Page;
use crate::lookup::{self, LookupError, Reach};
use ona_api::{Ruling, Verdict};
use ona_tools::{AddressRuling, CallAuthor, ToolContext};
use reqwest::StatusCode;
use url::Url;

const MAX_REDIRECTS: usize = 10;

pub(crate) enum Outcome {
    Page(Page),
    /// A redirect that is not followed: where it is, where it leads, and why it is not followed.
    Redirect {
        status: StatusCode,
        from: Url,
        to: String,
        why: String,
    },
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RequestError {
    /// The request is not made.
    #[error("{0}")]
    Refused(String),
    /// Name service, connection or server.
    #[error("{0}")]
    Transport(String),
}

impl From<LookupError> for RequestError {
    fn from(error: LookupError) -> Self {
        match error {
            LookupError::NotPublic { .. } => Self::Refused(format!("Denied: {error}")),
            LookupError::Unknown { .. } => Self::Transport(error.to_string()),
        }
    }
}

/// Reads the address of a call.
pub(crate) fn address(text: &str) -> Result<Url, String> {
    let mut url = Url::parse(text.trim()).map_err(|error| format!("{text:?} is not a web address: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(format!("{text:?} is not a web address: only http and https are fetched"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("The address has a user name or a password in it. Nothing is fetched with credentials.".to_owned());
    }
    // `host.` is `host`; certificates know only the second.
    if let Some(host) = url.host_str().and_then(|host| host.strip_suffix('.')).map(str::to_owned) {
        url.set_host(Some(&host)).map_err(|error| format!("{text:?} is not a web address: {error}"))?;
    }
    url.set_fragment(None);
    Ok(url)
}

pub(crate) async fn fetch(start: &Url, cx: &ToolContext) -> Result<Outcome, RequestError> {
    let first = (cx.judge_address)(start.as_str());
    let mut url = start.clone();
    let mut hops = vec![url.clone()];
    loop {
        let ruling = (cx.judge_address)(url.as_str());
        let reach = reach(cx, &ruling);
        let route = match upgraded(&url) {
            None => lookup::route(&url, reach).await?,
            Some(secure) => {
                let route = lookup::route(&secure, reach).await?;
                match route.class {
                    None => {
                        url = secure;
                        route
                    }
                    // What is not public seldom has a certificate.
                    Some(_) => lookup::route(&url, reach).await?,
                }
            }
        };
        let answer = download::get(&url, &route).await.map_err(|why| transport(&url, start, &why))?;
        let status = answer.status;
        let Some(location) = redirect_target(&answer) else {
            let (media, code) = (answer.media.clone(), status);
            let body = answer.body().await.map_err(|why| transport(&url, start, &why))?;
            return Ok(Outcome::Page(page(code, url, hops, route.class.is_some(), media, body).await));
        };
        let not_followed = |to: String, why: String| Outcome::Redirect { status, from: url.clone(), to, why };
        let target = match url.join(&location).map_err(|error| error.to_string()).and_then(|to| address(to.as_str())) {
            Ok(target) => target,
            Err(why) => return Ok(not_followed(location, why)),
        };
        if host(&target) != host(&url) {
            return Ok(not_followed(target.into(), "It leads to another host.".to_owned()));
        }
        if let Some(why) = objection(&first.verdict, &(cx.judge_address)(target.as_str()).verdict) {
            return Ok(not_followed(target.into(), why));
        }
        if hops.len() > MAX_REDIRECTS {
            return Err(RequestError::Refused(format!("{start} was redirected more than {MAX_REDIRECTS} times.")));
        }
        hops.push(target.clone());
        url = target;
    }
}

/// Whether a call may connect to addresses that are not public.
pub(crate) fn reach(cx: &ToolContext, ruling: &AddressRuling) -> Reach {
    if ruling.named || cx.author == CallAuthor::Operator { Reach::Anywhere } else { Reach::PublicOnly }
}

/// Why the rules do not let a redirect be followed. `first` is what they say of the call's own address:
/// who allowed that has allowed what is judged in the same way.
pub(crate) fn objection(first: &Verdict, target: &Verdict) -> Option<String> {
    let same = (target.ruling, &target.by) == (first.ruling, &first.by);
    match target.ruling {
        Ruling::Allow => None,
        Ruling::Ask | Ruling::Deny if same => None,
        Ruling::Ask => Some("The rules ask about its target.".to_owned()),
        Ruling::Deny => Some(target.message.clone()),
    }
}

fn redirect_target(answer: &Answer) -> Option<String> {
    let follows = matches!(answer.status.as_u16(), 301 | 302 | 303 | 307 | 308);
    answer.location.clone().filter(|_| follows)
}

/// Returns the address with https, by which public pages are asked for. A port that is written out is left
/// alone: it says what speaks there.
fn upgraded(url: &Url) -> Option<Url> {
    let mut secure = url.clone();
    let plain = url.scheme() == "http" && url.port().is_none();
    (plain && secure.set_scheme("https").is_ok()).then_some(secure)
}

fn host(url: &Url) -> Option<&str> {
    url.host_str()
}

fn transport(url: &Url, start: &Url, why: &str) -> RequestError {
    let host = url.host_str().unwrap_or_default();
    let asked = if url.scheme() == "https" && start.scheme() == "http" {
        " (http addresses of public hosts are asked for by https)"
    } else {
        ""
    };
    RequestError::Transport(format!("{host}: {why}{asked}"))
}

async fn page(code: StatusCode, url: Url, hops: Vec<Url>, hidden: bool, media: MediaType, body: RawBody) -> Page {
    let bytes = body.bytes.len();
    let at = url.clone();
    // Markup can take seconds, during which nothing else would go on.
    let made = tokio::task::spawn_blocking(move || content::text_of(&body, &media, &at)).await;
    let text = made.unwrap_or_else(|_| "(the page cannot be turned into text)".to_owned());
    Page { code, url, hops, hidden, bytes, text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ona_api::{Authority, Mode};

    #[test]
    fn addresses_are_read_once_and_in_one_form() {
        for (text, expected) in [
            (" HTTPS://Docs.Python.org./3/#x ", Ok("https://docs.python.org/3/")),
            ("http://bücher.test/", Ok("http://xn--bcher-kva.test/")),
            ("https://evil.test\\@docs.python.org/", Ok("https://evil.test/@docs.python.org/")),
            ("http://0x7f.1:8080", Ok("http://127.0.0.1:8080/")),
            ("https://user@a.test/", Err("user name")),
            ("https://:pw@a.test/", Err("user name")),
            ("file:///etc/passwd", Err("only http and https")),
            ("a.test/x", Err("not a web address")),
            ("https://a..b:99999/", Err("not a web address")),
        ] {
            match (address(text), expected) {
                (Ok(url), Ok(expected)) => assert_eq!(url.as_str(), expected),
                (Err(why), Err(part)) => assert!(why.contains(part), "{text}: {why}"),
                (other, _) => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn public_pages_are_asked_for_by_https() {
        let url = |text: &str| Url::parse(text).unwrap();
        assert_eq!(upgraded(&url("http://a.test/x")), Some(url("https://a.test/x")));
        for text in ["http://a.test:8080/", "https://a.test/"] {
            assert_eq!(upgraded(&url(text)), None, "{text}");
        }
    }

    #[test]
    fn a_redirect_is_followed_where_the_rules_say_the_same() {
        let by = |ruling, by| Verdict::new(ruling, by, "words");
        let rule = |name: &str| Authority::Rule(name.to_owned());
        let mode = || Authority::Mode(Mode::Default);
        for (first, target, follows) in [
            (by(Ruling::Allow, rule("a")), by(Ruling::Allow, rule("b")), true),
            (by(Ruling::Ask, mode()), by(Ruling::Ask, mode()), true),
            (by(Ruling::Ask, mode()), by(Ruling::Allow, rule("a")), true),
            (by(Ruling::Allow, rule("a")), by(Ruling::Ask, mode()), false),
            (by(Ruling::Ask, mode()), by(Ruling::Ask, rule("a")), false),
            (by(Ruling::Ask, mode()), by(Ruling::Deny, rule("a")), false),
            (by(Ruling::Allow, rule("a")), by(Ruling::Deny, rule("b")), false),
        ] {
            assert_eq!(objection(&first, &target).is_none(), follows, "{first:?} {target:?}");
        }
    }
}
