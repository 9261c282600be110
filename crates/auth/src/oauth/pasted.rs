//! What a person copied from the browser.
//!
//! Where the browser cannot reach the listener (another machine, a container) its address
//! bar holds the answer, and some servers show a code instead. Three forms are read: the
//! whole address, `CODE#STATE`, and the code alone, which the PKCE verifier still binds to this
//! attempt.

use reqwest::Url;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PastedCode {
    Code(String),
    /// An empty line.
    Nothing,
    /// It belongs to another attempt.
    OtherState,
    /// The server's own word: the person or the server said no.
    Declined {
        error: String,
        description: Option<String>,
    },
    /// Neither an address with a code nor a code.
    NotACode,
}

/// Longest text that can be a code.
const MAX_CODE: usize = 4096;

pub fn read_pasted(text: &str, state: &str) -> PastedCode {
    let text = text.trim();
    if text.is_empty() {
        return PastedCode::Nothing;
    }
    if text.contains("://") {
        return match Url::parse(text) {
            Ok(url) => read_query(&url, state),
            Err(_) => PastedCode::NotACode,
        };
    }
    let (code, of) = text.split_once('#').map_or((text, None), |(code, of)| (code, Some(of)));
    match of {
        Some(of) if !same(of, state) => PastedCode::OtherState,
        _ => checked(code),
    }
}

/// Reads the answer from an address, where the state is required.
pub(super) fn read_query(url: &Url, state: &str) -> PastedCode {
    let field = |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    if !field("state").is_some_and(|of| same(&of, state)) {
        return PastedCode::OtherState;
    }
    match (field("error"), field("code")) {
        (Some(error), _) => PastedCode::Declined { error, description: field("error_description") },
        (None, Some(code)) => checked(&code),
        (None, None) => PastedCode::NotACode,
    }
}

fn checked(code: &str) -> PastedCode {
    let usable = !code.is_empty() && code.len() <= MAX_CODE && code.bytes().all(|byte| byte.is_ascii_graphic());
    if usable { PastedCode::Code(code.to_owned()) } else { PastedCode::NotACode }
}

/// Compares without an early end, so that time says nothing about the state.
fn same(one: &str, other: &str) -> bool {
    one.len() == other.len() && one.bytes().zip(other.bytes()).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_a_code_with_state_and_a_code_alone_are_read() {
        let code = |text: &str| PastedCode::Code(text.to_owned());
        let declined = |description: Option<&str>| PastedCode::Declined {
            error: "access_denied".to_owned(),
            description: description.map(str::to_owned),
        };
        for (text, expected) in [
            ("  abc-1 \n", code("abc-1")),
            ("abc#st", code("abc")),
            ("abc#other", PastedCode::OtherState),
            ("abc#", PastedCode::OtherState),
            ("http://127.0.0.1:9/callback?code=a%2Bb&state=st", code("a+b")),
            ("http://127.0.0.1:9/callback?code=abc&state=other", PastedCode::OtherState),
            ("http://127.0.0.1:9/callback?code=abc", PastedCode::OtherState),
            ("http://127.0.0.1:9/callback?error=access_denied&state=st", declined(None)),
            ("https://x/?error=access_denied&error_description=no&state=st", declined(Some("no"))),
            ("http://127.0.0.1:9/callback?state=st", PastedCode::NotACode),
            ("http://[", PastedCode::NotACode),
            ("two words", PastedCode::NotACode),
            ("", PastedCode::Nothing),
        ] {
            assert_eq!(read_pasted(text, "st"), expected, "{text}");
        }
    }
}
