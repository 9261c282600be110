//! Names what went wrong with a model call (DEC-089).
//!
//! The status decides; the body refines it (a credit that ran out hides behind several
//! statuses) and supplies the words. Both error shapes are read, and the looser ones of
//! local servers. Words leave this crate only through `presentable`, because a server
//! may repeat the key it refused.

use crate::lone_surrogates;
use ona_api::Redactor;
use ona_api::model::{FailureClass, ModelFailure};
use ona_api::text::head;
use serde_json::Value;
use std::time::Duration;

/// Characters of a message that are kept.
const MAX_MESSAGE: usize = 600;

/// What the headers of a failed answer say about trying again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetryHints {
    pub retry_after: Option<Duration>,
    /// `x-should-retry`, where a server knows better than its status.
    pub should_retry: Option<bool>,
}

/// An answer whose status is not a success.
pub fn http_error(status: u16, hints: RetryHints, body: &[u8]) -> ModelFailure {
    let body = ErrorBody::from_body(body);
    let class = match by_status(status) {
        _ if body.is_billing(status) => FailureClass::BillingError,
        // Servers that cannot read images report that as a server error; trying again does not help.
        FailureClass::ServerError if body.says(&["image input is not supported"]) => FailureClass::InvalidRequest,
        class => class,
    };
    let transient = matches!(class, FailureClass::RateLimit | FailureClass::ServerError);
    let message = match (body.description(), status) {
        (Some(words), _) => format!("HTTP {status}: {words}"),
        (None, 300..400) => format!("HTTP {status}: the server redirects, which model calls do not follow"),
        (None, _) => format!("HTTP {status}"),
    };
    ModelFailure {
        class,
        message,
        transient: transient && hints.should_retry.unwrap_or(true),
        retry_after: hints.retry_after,
        status: Some(status),
    }
}

/// Classifies an error inside a stream, or inside an answer that claimed to be a success.
pub fn error_event(error: &Value) -> ModelFailure {
    let body = ErrorBody::from_value(error);
    let class = body.class().unwrap_or(FailureClass::ServerError);
    let words = body.description().unwrap_or_else(|| "the server reported an error".to_owned());
    ModelFailure {
        class,
        message: words,
        transient: matches!(class, FailureClass::RateLimit | FailureClass::ServerError),
        retry_after: None,
        status: None,
    }
}

/// An answer that is not what the wire says an answer is.
pub fn unreadable(what: &str) -> ModelFailure {
    server(format!("unreadable reply: {what}"))
}

/// Returns a failure of the server that may pass.
pub fn server(message: String) -> ModelFailure {
    ModelFailure { class: FailureClass::ServerError, message, transient: true, retry_after: None, status: None }
}

/// The model takes no pictures: the same dialogue with [`crate::ImageSupport::TextOnly`] helps.
pub fn is_about_pictures(failure: &ModelFailure) -> bool {
    let words = failure.message.to_lowercase();
    failure.class == FailureClass::InvalidRequest && refuses_pictures(&words)
}

/// Also true for an error about a single image: with text instead, the session can continue.
fn refuses_pictures(words: &str) -> bool {
    const UNABLE: [&str; 8] = [
        "support",
        "not allowed",
        "unable",
        "does not accept",
        "could not process",
        "exceed",
        "invalid image",
        "invalid base64",
    ];
    let picture = ["image", "vision", "multimodal"].iter().any(|word| words.contains(word));
    picture && UNABLE.iter().any(|word| words.contains(word))
}

/// Redacted, on one line, of bounded length. In this order: a cut could leave half a key.
pub fn presentable(mut failure: ModelFailure, redactor: &Redactor) -> ModelFailure {
    let clean = redactor.apply(&failure.message).into_owned();
    let line = clean.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let line = line.collect::<Vec<_>>().join(" ");
    let (kept, more) = head(&line, MAX_MESSAGE);
    failure.message = if more { format!("{kept}…") } else { kept.to_owned() };
    failure
}

fn by_status(status: u16) -> FailureClass {
    match status {
        401 | 403 => FailureClass::AuthenticationFailed,
        402 => FailureClass::BillingError,
        429 => FailureClass::RateLimit,
        400 | 404 | 413 | 422 => FailureClass::InvalidRequest,
        500..600 => FailureClass::ServerError,
        _ => FailureClass::Unknown,
    }
}

/// Phrases of the vendors and of the servers people run themselves.
fn mentions_context(words: &str) -> bool {
    const PHRASES: [&str; 11] = [
        "prompt is too long",
        "input is too long",
        "context_length_exceeded",
        "context length",
        "context window",
        "context limit",
        "context size",
        "maximum context",
        "too many tokens",
        "maximum number of tokens",
        "request_too_large",
    ];
    let words = words.to_lowercase();
    PHRASES.iter().any(|phrase| words.contains(phrase))
}

/// What an error body says, whatever its shape.
#[derive(Debug, Default)]
struct ErrorBody {
    /// `type` and `code`.
    kinds: Vec<String>,
    /// `code` where it is a number: a status that came too late for the head.
    status: Option<u16>,
    message: Option<String>,
}

impl ErrorBody {
    fn from_body(body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        if let Ok(value) = lone_surrogates::parse(&text) {
            return Self::from_value(&value);
        }
        let text = text.trim();
        // A web page of some proxy says nothing in a line.
        let message = (!text.is_empty() && !text.starts_with('<')).then(|| text.to_owned());
        Self { message, ..Self::default() }
    }

    fn from_value(value: &Value) -> Self {
        // Some gateways wrap the object in a list.
        let value = value.get(0).unwrap_or(value);
        let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
        if let Some(text) = error.as_str() {
            return Self { message: Some(text.to_owned()), ..Self::default() };
        }
        let text = |key| error[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        Self {
            kinds: [text("code"), text("type")].into_iter().flatten().collect(),
            status: error["code"].as_u64().and_then(|code| u16::try_from(code).ok()),
            message: text("message").or_else(|| text("detail")).or_else(|| text("title")),
        }
    }

    fn is(&self, kinds: &[&str]) -> bool {
        self.kinds.iter().any(|kind| kinds.contains(&kind.as_str()))
    }

    fn says(&self, phrases: &[&str]) -> bool {
        let message = self.message.as_deref().unwrap_or_default().to_lowercase();
        phrases.iter().any(|phrase| message.contains(phrase))
    }

    /// On a 429 only unmistakable words count: rate limit texts link to billing pages.
    fn is_billing(&self, status: u16) -> bool {
        const KINDS: [&str; 4] =
            ["billing_error", "insufficient_quota", "billing_hard_limit_reached", "billing_not_active"];
        const PHRASES: [&str; 5] = [
            "credit balance",
            "exceeded your current quota",
            "insufficient credit",
            "insufficient quota",
            "insufficient balance",
        ];
        let body = self.is(&KINDS) || self.says(&PHRASES) || status != 429 && self.says(&["billing"]);
        (400..500).contains(&status) && body
    }

    /// Returns the class by words alone.
    fn class(&self) -> Option<FailureClass> {
        if self.is_billing(400) {
            return Some(FailureClass::BillingError);
        }
        if let Some(status) = self.status {
            return Some(by_status(status));
        }
        const AUTHENTICATION: [&str; 3] = ["authentication_error", "permission_error", "invalid_api_key"];
        const RATE: [&str; 4] = ["rate_limit_error", "rate_limit_exceeded", "tokens", "requests"];
        const INVALID: [&str; 4] =
            ["invalid_request_error", "not_found_error", "request_too_large", "context_length_exceeded"];
        if self.is(&AUTHENTICATION) {
            Some(FailureClass::AuthenticationFailed)
        } else if self.is(&RATE) {
            Some(FailureClass::RateLimit)
        } else if self.is(&INVALID) || self.message.as_deref().is_some_and(mentions_context) {
            Some(FailureClass::InvalidRequest)
        } else {
            None
        }
    }

    /// Returns the message and its most telling kind.
    fn description(&self) -> Option<String> {
        match (&self.message, self.kinds.first()) {
            (Some(message), Some(kind)) => Some(format!("{message} ({kind})")),
            (Some(message), None) => Some(message.clone()),
            (None, Some(kind)) => Some(kind.clone()),
            (None, None) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use FailureClass::{AuthenticationFailed, BillingError, InvalidRequest, RateLimit, ServerError, Unknown};
    use serde_json::json;

    fn class(status: u16, body: &str) -> (FailureClass, bool) {
        let failure = http_error(status, RetryHints::default(), body.as_bytes());
        (failure.class, failure.transient)
    }

    #[test]
    fn the_status_gives_the_class() {
        for (status, expected, transient) in [
            (401, AuthenticationFailed, false),
            (403, AuthenticationFailed, false),
            (402, BillingError, false),
            (429, RateLimit, true),
            (400, InvalidRequest, false),
            (404, InvalidRequest, false),
            (413, InvalidRequest, false),
            (422, InvalidRequest, false),
            (500, ServerError, true),
            (502, ServerError, true),
            (503, ServerError, true),
            (529, ServerError, true),
            (307, Unknown, false),
            (418, Unknown, false),
        ] {
            assert_eq!(class(status, ""), (expected, transient), "{status}");
        }
    }

    #[test]
    fn a_credit_that_ran_out_is_seen_behind_other_statuses() {
        let anthropic = |kind: &str, message: &str| {
            json!({"type": "error", "error": {"type": kind, "message": message}}).to_string()
        };
        let openai = |code: Value, message: &str| {
            json!({"error": {"message": message, "type": "x", "param": null, "code": code}}).to_string()
        };
        for (status, body, expected) in [
            (400, anthropic("invalid_request_error", "Your credit balance is too low"), BillingError),
            (402, anthropic("billing_error", "There is an issue with billing"), BillingError),
            (429, openai(json!("insufficient_quota"), "You exceeded your current quota"), BillingError),
            (403, openai(json!("billing_not_active"), "Your account is not active"), BillingError),
            (429, openai(json!("rate_limit_exceeded"), "Add a payment method at /account/billing"), RateLimit),
            (500, openai(json!(null), "billing service down"), ServerError),
        ] {
            assert_eq!(class(status, &body).0, expected, "{status} {body}");
        }
    }

    #[test]
    fn errors_inside_a_stream_are_classified_by_their_words() {
        for (error, expected, transient) in [
            (json!({"type": "overloaded_error", "message": "Overloaded"}), ServerError, true),
            (json!({"type": "api_error", "message": "x"}), ServerError, true),
            (json!({"type": "rate_limit_error", "message": "x"}), RateLimit, true),
            (json!({"type": "authentication_error", "message": "x"}), AuthenticationFailed, false),
            (json!({"type": "invalid_request_error", "message": "x"}), InvalidRequest, false),
            (json!({"type": "billing_error", "message": "x"}), BillingError, false),
            (json!({"code": 429, "message": "x"}), RateLimit, true),
            (json!({"code": 502, "message": "x"}), ServerError, true),
            (json!("greater than the context length"), InvalidRequest, false),
            (json!({}), ServerError, true),
        ] {
            let failure = error_event(&json!({"type": "error", "error": error}));
            assert_eq!((failure.class, failure.transient), (expected, transient), "{error}");
        }
    }

    #[test]
    fn the_words_come_from_any_shape_of_body() {
        for (body, expected) in [
            (
                r#"{"type":"error","error":{"type":"not_found_error","message":"model: x"}}"#,
                "HTTP 404: model: x (not_found_error)",
            ),
            (
                r#"{"error":{"message":"No","type":"invalid_request_error","code":"model_not_found"}}"#,
                "HTTP 404: No (model_not_found)",
            ),
            (r#"{"error":"no model loaded"}"#, "HTTP 404: no model loaded"),
            (r#"{"detail":"Not Found"}"#, "HTTP 404: Not Found"),
            (r#"[{"error":{"code":404,"message":"gone"}}]"#, "HTTP 404: gone"),
            ("page not found\n", "HTTP 404: page not found"),
            ("<html><h1>404</h1></html>", "HTTP 404"),
            ("", "HTTP 404"),
        ] {
            assert_eq!(http_error(404, RetryHints::default(), body.as_bytes()).message, expected);
        }
        assert_eq!(
            http_error(302, RetryHints::default(), b"").message,
            "HTTP 302: the server redirects, which model calls do not follow"
        );
    }

    #[test]
    fn a_conversation_that_is_too_long_is_an_invalid_request() {
        for message in [
            "prompt is too long: 210000 tokens > 200000 maximum",
            "input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000",
            "This model's maximum context length is 128000 tokens.",
            "the request exceeds the available context size, try increasing it",
        ] {
            let failure = error_event(&json!({"error": {"message": message}}));
            assert_eq!((failure.class, failure.transient), (InvalidRequest, false), "{message}");
        }
        let other = error_event(&json!({"error": {"message": "tools.0.name: bad"}}));
        assert_eq!(other.class, ServerError);
    }

    #[test]
    fn a_model_without_image_support_is_recognised() {
        let refused =
            |message| http_error(400, RetryHints::default(), format!(r#"{{"error":"{message}"}}"#).as_bytes());
        assert!(is_about_pictures(&refused("Model does not support images. Please use a model that does.")));
        assert!(is_about_pictures(&refused("Invalid content type. image_url is only supported by certain models.")));
        assert!(is_about_pictures(&refused("Could not process image")));
        assert!(is_about_pictures(&refused("messages.0.content.1.image.source.base64: image exceeds 5 MB maximum")));
        let local = br#"{"error":{"code":500,"message":"image input is not supported - hint: provide the mmproj"}}"#;
        assert!(is_about_pictures(&http_error(500, RetryHints::default(), local)));
        assert!(!is_about_pictures(&refused("max_tokens is not supported")));
        assert!(!is_about_pictures(&http_error(500, RetryHints::default(), b"image service down")));
    }

    #[test]
    fn the_server_can_forbid_trying_again_and_say_when() {
        let hints = RetryHints { retry_after: Some(Duration::from_secs(3)), should_retry: Some(false) };
        let failure = http_error(429, hints, b"");
        assert_eq!((failure.transient, failure.retry_after), (false, Some(Duration::from_secs(3))));
    }

    #[test]
    fn what_is_shown_is_short_plain_and_without_credentials() {
        let key = "canary-key-0123456789";
        let redactor = Redactor::new([("credential", key)]);
        // The key lies across the place where the text is cut.
        let body = format!(r#"{{"error":"\u001b[31mbad\nkey {}{key}{}"}}"#, "x".repeat(570), "y".repeat(100));
        let failure = presentable(http_error(401, RetryHints::default(), body.as_bytes()), &redactor);
        assert!(failure.message.starts_with("HTTP 401: [31mbad key xxx"), "{}", failure.message);
        assert!(!failure.message.contains("canary"), "{}", failure.message);
        assert_eq!(failure.message.chars().count(), MAX_MESSAGE + 1);
    }
}
