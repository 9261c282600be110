//! What of a response is text, and what is made of it.

use crate::{BODY_CAP, capped, charset, html};
use url::Url;

/// A Content-Type header, or what stands for a missing one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MediaType {
    /// In small letters, without parameters; empty if the server did not say.
    pub essence: String,
    pub charset: Option<String>,
}

impl MediaType {
    pub(crate) fn parse(header: Option<&str>) -> Self {
        let header = header.unwrap_or_default();
        let mut parts = header.split(';').map(str::trim);
        let essence = parts.next().unwrap_or_default().to_ascii_lowercase();
        let charset = parts.find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches(['"', '\'']).to_owned())
        });
        Self { essence, charset }
    }

    fn is_html(&self) -> bool {
        matches!(self.essence.as_str(), "text/html" | "application/xhtml+xml")
    }

    fn is_text(&self) -> bool {
        let (kind, sub) = self.essence.split_once('/').unwrap_or((&self.essence, ""));
        kind == "text"
            || sub.ends_with("+json")
            || sub.ends_with("+xml")
            || kind == "message"
            || kind == "application"
                && matches!(
                    sub,
                    "json"
                        | "xml"
                        | "javascript"
                        | "ecmascript"
                        | "x-javascript"
                        | "yaml"
                        | "x-yaml"
                        | "toml"
                        | "graphql"
                        | "sql"
                        | "x-sh"
                        | "ld+json"
                        | "x-ndjson"
                        | "ndjson"
                        | "jsonl"
                        | "x-www-form-urlencoded"
                        | "x-httpd-php"
                        | "rtf"
                        | "typescript"
                )
    }
}

/// A body as it came.
pub(crate) struct RawBody {
    pub bytes: Vec<u8>,
    /// More of it was not read.
    pub cut: bool,
}

/// Returns the text of a body for a model: at most the cap of 7.1.
pub(crate) fn text_of(body: &RawBody, media: &MediaType, url: &Url) -> String {
    let bytes = body.bytes.as_slice();
    let unnamed = media.essence.is_empty() || media.essence == "application/octet-stream";
    if bytes.is_empty() {
        return "(the body is empty)".to_owned();
    }
    if media.is_html() || unnamed && looks_like_html(bytes) {
        let source = charset::decode(bytes, media.charset.as_deref(), body.cut);
        let (text, cut) = html::to_markdown(&source, url);
        return capped(text, BODY_CAP, body.cut || cut);
    }
    if media.is_text() || unnamed && !bytes[..bytes.len().min(1024)].contains(&0) && looks_like_utf8(bytes) {
        return capped(charset::decode(bytes, media.charset.as_deref(), body.cut), BODY_CAP, body.cut);
    }
    let kind = match media.essence.as_str() {
        "" => "data of an unknown type",
        "application/pdf" => "a PDF document (application/pdf)",
        named => named,
    };
    let more = if body.cut { "more than " } else { "" };
    format!(
        "The body is {kind}, {more}{} bytes. Only text is returned. To look at it, download it with a command and read the file.",
        bytes.len()
    )
}

fn looks_like_html(bytes: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(512)]).trim_start().to_ascii_lowercase();
    ["<!doctype html", "<html", "<head", "<body"].iter().any(|tag| head.starts_with(tag))
}

/// Valid, but for a last character that was cut.
fn looks_like_utf8(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).map_or_else(|error| error.error_len().is_none(), |_| true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(header: Option<&str>, bytes: &[u8], cut: bool) -> String {
        let url = Url::parse("https://a.test/x").unwrap();
        text_of(&RawBody { bytes: bytes.to_vec(), cut }, &MediaType::parse(header), &url)
    }

    #[test]
    fn text_is_returned_and_other_data_named() {
        let binary = "The body is a PDF document (application/pdf), 4 bytes. Only text is returned. To look at it, \
                      download it with a command and read the file.";
        for (header, bytes, expected) in [
            (Some("text/html; charset=utf-8"), b"<h1>A</h1>".as_slice(), "# A"),
            (Some("TEXT/HTML"), b"<p>caf\xe9", "café"),
            (Some("text/plain"), b"<h1>A</h1>", "<h1>A</h1>"),
            (Some("application/json"), b"{\"a\":1}", "{\"a\":1}"),
            (Some("application/problem+json;charset=\"iso-8859-1\""), b"\"\xe9\"", "\"é\""),
            (Some("image/svg+xml"), b"<svg/>", "<svg/>"),
            (None, b" <!DOCTYPE html><h1>A</h1>", "# A"),
            (None, b"plain", "plain"),
            (Some("application/octet-stream"), b"plain", "plain"),
            (Some("application/pdf"), b"%PDF", binary),
            (Some("text/plain"), b"", "(the body is empty)"),
        ] {
            assert_eq!(text(header, bytes, false), expected, "{header:?}");
        }
        for (header, named) in [(Some("image/png"), "image/png"), (None, "data of an unknown type")] {
            assert!(text(header, b"\0\x01", true).starts_with(&format!("The body is {named}, more than 2 bytes.")));
        }
    }

    #[test]
    fn a_long_body_is_cut_between_characters() {
        let long = "ä".repeat(BODY_CAP);
        let cut = text(Some("text/plain"), long.as_bytes(), false);
        assert_eq!(cut.len(), BODY_CAP + "[SDLC_TRUNCATED]".len());
        assert!(cut.ends_with("ä[SDLC_TRUNCATED]"));
        assert_eq!(text(Some("text/plain"), b"abc", true), "abc[SDLC_TRUNCATED]");
    }
}
