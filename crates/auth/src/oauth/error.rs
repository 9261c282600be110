//! Why a login did not succeed.
//!
//! The words of a server are quoted, shortened and without control characters; the caller
//! passes them through the redactor, which knows every code and token of the attempt.

use ona_api::text::head;

const MAX_QUOTE: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OAuthError {
    #[error("the login server could not be reached: {0}")]
    Unreachable(String),
    /// The code or the refresh token is not valid: asking again cannot help.
    #[error("the login server refused: {0}")]
    InvalidGrant(String),
    /// Something about the request or the client.
    #[error("the login server refused: {0}")]
    Refused(String),
    #[error("the login was denied")]
    Denied,
    #[error("the code has expired before the login was approved")]
    Expired,
    #[error("the login server sent an answer that is not OAuth")]
    Unreadable,
    #[error("the login server refused the request with status {0}")]
    Status(u16),
}

/// Returns the sentence of an error answer: its code, and its description if it has one.
pub(super) fn sentence(code: &str, description: Option<&str>) -> String {
    let quote = |text: &str| {
        let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let (shown, more) = head(clean.trim(), MAX_QUOTE);
        if more { format!("{shown}…") } else { shown.to_owned() }
    };
    match description.map(quote).filter(|text| !text.is_empty()) {
        Some(description) => format!("{} ({})", description.trim_end_matches('.'), quote(code)),
        None => quote(code),
    }
}
