//! Finds the login server of an MCP server.

use super::LoginUnavailable;
use super::fetch::{json, permitted, send};
use super::metadata::{Challenge, has_pkce, is_about, is_of, issuer_places, resource_places};
use crate::definition::HttpEndpoint;
use http::{StatusCode, header};
use reqwest::{Method, Url};
use serde_json::Value;

/// What there is to know about a login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discovery {
    pub authorize_url: Url,
    pub token_url: Url,
    pub register_url: Option<Url>,
    pub revoke_url: Option<Url>,
    pub scopes: Vec<String>,
    /// What the tokens are for.
    pub resource: String,
}

pub async fn discover(endpoint: &HttpEndpoint) -> Result<Discovery, LoginUnavailable> {
    let server = Url::parse(&endpoint.url).map_err(|_| "its address cannot be read".to_owned())?;
    let challenge = challenge(&server).await?;
    let resource = resource(&server, challenge.as_ref()).await?;
    if challenge.is_none() && resource.is_none() && endpoint.oauth.metadata_url.is_none() {
        return Err(LoginUnavailable::NotNeeded);
    }
    let issuer = match resource.as_ref().and_then(|about| about["authorization_servers"][0].as_str()) {
        Some(text) => permitted(text, &server)?,
        // Older servers are their own login server.
        None => server.join("/").expect("a root"),
    };
    let metadata = match &endpoint.oauth.metadata_url {
        Some(text) => {
            let url = permitted(text, &server)?;
            json(&url)
                .await?
                .ok_or_else(|| format!("nothing about the login was found at {}", url.origin().ascii_serialization()))?
        }
        None => issued(&issuer).await?,
    };
    if !has_pkce(&metadata) {
        return Err("its login server does not offer PKCE with S256, without which a login is not safe"
            .to_owned()
            .into());
    }
    let at = |key: &str| metadata[key].as_str().map(|text| permitted(text, &server)).transpose();
    let required = |key: &str| at(key)?.ok_or_else(|| format!("the metadata of its login server have no {key}"));
    let scopes = endpoint.oauth.scopes.clone().unwrap_or_else(|| {
        let asked = challenge.as_ref().and_then(|challenge| challenge.scope.as_deref());
        let all = || resource.as_ref().and_then(|about| about["scopes_supported"].as_array());
        match asked {
            Some(scopes) => scopes.split_whitespace().map(str::to_owned).collect(),
            None => all().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect(),
        }
    });
    let named = resource.as_ref().and_then(|about| about["resource"].as_str()).map(str::to_owned);
    Ok(Discovery {
        authorize_url: required("authorization_endpoint")?,
        token_url: required("token_endpoint")?,
        register_url: at("registration_endpoint")?,
        revoke_url: at("revocation_endpoint")?,
        scopes,
        resource: named.unwrap_or_else(|| endpoint.url.clone()),
    })
}

/// Asks without a login. `None`: the server answers.
async fn challenge(server: &Url) -> Result<Option<Challenge>, String> {
    let hello = serde_json::json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "ona", "version": env!("CARGO_PKG_VERSION")},
        },
    });
    let response = send(Method::POST, server, Some(&hello)).await?;
    if !matches!(response.status(), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return Ok(None);
    }
    let headers = response.headers().get_all(header::WWW_AUTHENTICATE).iter();
    let challenges = headers.filter_map(|value| value.to_str().ok()).map(Challenge::read);
    Ok(Some(challenges.into_iter().next().unwrap_or_default()))
}

/// Returns what the server says about itself as a protected resource.
async fn resource(server: &Url, challenge: Option<&Challenge>) -> Result<Option<Value>, String> {
    let named = challenge.and_then(|challenge| challenge.resource_metadata.as_deref());
    let places = match named {
        Some(text) => vec![permitted(text, server)?],
        None => resource_places(server),
    };
    for place in places {
        if let Some(about) = json(&place).await? {
            return if is_about(&about, server) {
                Ok(Some(about))
            } else {
                Err("its metadata are those of another server, which is refused".into())
            };
        }
    }
    Ok(None)
}

/// Returns the metadata of a login server.
async fn issued(issuer: &Url) -> Result<Value, String> {
    for place in issuer_places(issuer) {
        if let Some(metadata) = json(&place).await? {
            return if is_of(&metadata, issuer) {
                Ok(metadata)
            } else {
                Err("the metadata of its login server are those of another one, which is refused".into())
            };
        }
    }
    let host = issuer.host_str().unwrap_or_default();
    Err(format!("{host} has no metadata about logins (/.well-known/oauth-authorization-server)"))
}
