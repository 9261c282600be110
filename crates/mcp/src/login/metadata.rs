//! Where metadata are, and what they must say. Pure.

use reqwest::Url;
use serde_json::Value;

/// What a 401 says about the login.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Challenge {
    pub resource_metadata: Option<String>,
    pub scope: Option<String>,
}

impl Challenge {
    /// Reads a `WWW-Authenticate` header.
    pub(super) fn read(header: &str) -> Self {
        let parameter = |name: &str| {
            let lower = header.to_ascii_lowercase();
            let is_start = |at: usize| at == 0 || matches!(header.as_bytes()[at - 1], b' ' | b',' | b'\t');
            let key = format!("{name}=");
            let at = lower.match_indices(&key).map(|(at, _)| at).find(|at| is_start(*at))?;
            let rest = &header[at + key.len()..];
            let value = match rest.strip_prefix('"') {
                Some(quoted) => quoted.split('"').next()?,
                None => rest.split([',', ' ']).next()?,
            };
            (!value.is_empty()).then(|| value.to_owned())
        };
        Self { resource_metadata: parameter("resource_metadata"), scope: parameter("scope") }
    }
}

/// Where the metadata of a protected resource are, the most specific first (RFC 9728).
pub(super) fn resource_places(server: &Url) -> Vec<Url> {
    places(server, &["oauth-protected-resource"], false)
}

/// Where the metadata of a login server are (RFC 8414, then OpenID).
pub(super) fn issuer_places(issuer: &Url) -> Vec<Url> {
    places(issuer, &["oauth-authorization-server", "openid-configuration"], true)
}

fn places(of: &Url, names: &[&str], is_issuer: bool) -> Vec<Url> {
    let path = of.path().trim_end_matches('/').to_owned();
    let at = |path: &str| {
        let mut url = of.clone();
        url.set_path(path);
        url.set_query(None);
        url.set_fragment(None);
        url
    };
    let mut places: Vec<Url> = names.iter().map(|name| at(&format!("/.well-known/{name}{path}"))).collect();
    if !path.is_empty() {
        if is_issuer {
            places.push(at(&format!("{path}/.well-known/openid-configuration")));
        } else {
            places.extend(names.iter().map(|name| at(&format!("/.well-known/{name}"))));
        }
    }
    places
}

/// Whether metadata of a resource are about this server: another one must not get its tokens.
pub(super) fn is_about(metadata: &Value, server: &Url) -> bool {
    let Some(resource) = metadata["resource"].as_str().and_then(|text| Url::parse(text).ok()) else { return false };
    let (of, path) = (resource.path().trim_end_matches('/'), server.path());
    let below = path.strip_prefix(of).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    resource.origin() == server.origin() && below
}

/// Whether metadata of a login server are its own.
pub(super) fn is_of(metadata: &Value, issuer: &Url) -> bool {
    let plain = |text: &str| text.trim_end_matches('/').to_owned();
    metadata["issuer"].as_str().is_some_and(|named| plain(named) == plain(issuer.as_str()))
}

/// Without PKCE a code could be used by everyone who sees it.
pub(super) fn has_pkce(metadata: &Value) -> bool {
    let methods = metadata["code_challenge_methods_supported"].as_array();
    methods.is_some_and(|methods| methods.iter().any(|one| one == "S256"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn a_challenge_names_metadata_and_scope() {
        for (header, metadata, scope) in [
            (r#"Bearer resource_metadata="https://a/x", scope="a b""#, Some("https://a/x"), Some("a b")),
            (r#"Bearer error="x", Resource_Metadata=https://a/x,scope=a"#, Some("https://a/x"), Some("a")),
            (r#"Bearer not_scope="x""#, None, None),
            ("Bearer", None, None),
        ] {
            let read = Challenge::read(header);
            assert_eq!((read.resource_metadata.as_deref(), read.scope.as_deref()), (metadata, scope), "{header}");
        }
    }

    #[test]
    fn metadata_are_looked_for_where_the_standards_say() {
        let texts = |urls: Vec<Url>| urls.iter().map(Url::to_string).collect::<Vec<_>>();
        assert_eq!(
            texts(resource_places(&url("https://h/mcp?x=1"))),
            ["https://h/.well-known/oauth-protected-resource/mcp", "https://h/.well-known/oauth-protected-resource"]
        );
        assert_eq!(
            texts(issuer_places(&url("https://h/t"))),
            [
                "https://h/.well-known/oauth-authorization-server/t",
                "https://h/.well-known/openid-configuration/t",
                "https://h/t/.well-known/openid-configuration"
            ]
        );
        assert_eq!(issuer_places(&url("https://h")).len(), 2);
    }

    #[test]
    fn metadata_of_others_are_refused() {
        let about = |resource: &str| is_about(&json!({ "resource": resource }), &url("https://h/mcp/a"));
        for (resource, expected) in [
            ("https://h/mcp/a", true),
            ("https://h/mcp", true),
            ("https://h", true),
            ("https://h/mc", false),
            ("https://other/mcp/a", false),
            ("http://h/mcp/a", false),
            ("", false),
        ] {
            assert_eq!(about(resource), expected, "{resource}");
        }
        assert!(is_of(&json!({"issuer": "https://h/"}), &url("https://h")));
        assert!(!is_of(&json!({"issuer": "https://i"}), &url("https://h")));
        assert!(has_pkce(&json!({"code_challenge_methods_supported": ["plain", "S256"]})));
        assert!(!has_pkce(&json!({})) && !has_pkce(&json!({"code_challenge_methods_supported": ["plain"]})));
    }
}
