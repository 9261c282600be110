//! Which client this program is at a login server: one that the operator registered, or one that
//! it registers for this login.

use super::fetch::{body, send};
use super::{Discovery, LoginUnavailable};
use crate::definition::OAuthHints;
use ona_auth::oauth::{ClientSecret, OAuthClient};
use reqwest::{Method, Url};
use serde_json::{Value, json};

pub async fn client(
    found: &Discovery,
    hints: &OAuthHints,
    secret: Option<String>,
    redirect: &Url,
) -> Result<OAuthClient, LoginUnavailable> {
    let (client_id, secret) = match &hints.client_id {
        Some(id) => (id.clone(), secret),
        None => registered(found, redirect).await?,
    };
    Ok(OAuthClient {
        client_id,
        token_url: found.token_url.clone(),
        authorize_url: Some(found.authorize_url.clone()),
        device_url: None,
        revoke_url: found.revoke_url.clone(),
        scopes: found.scopes.clone(),
        secret: secret.map(ClientSecret),
        resource: Some(found.resource.clone()),
    })
}

/// Registers a client for this login (RFC 7591).
async fn registered(found: &Discovery, redirect: &Url) -> Result<(String, Option<String>), String> {
    let url = found.register_url.as_ref().ok_or(
        "its login server registers no clients; register one there and give its id in the definition: \
         \"oauth\": {\"clientId\": ...} (ona mcp add --client-id)",
    )?;
    let mut wanted = json!({
        "client_name": "ona",
        "redirect_uris": [redirect.as_str()],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    });
    if !found.scopes.is_empty() {
        wanted["scope"] = found.scopes.join(" ").into();
    }
    let response = send(Method::POST, url, Some(&wanted)).await?;
    let status = response.status();
    let answer: Value = serde_json::from_slice(&body(response).await?).unwrap_or_default();
    if !status.is_success() {
        let why = answer["error_description"].as_str().or(answer["error"].as_str()).unwrap_or("no reason was given");
        let why = ona_api::text::head(why, 200).0;
        return Err(format!("its login server did not register a client (HTTP status {}): {why}", status.as_u16()));
    }
    let text = |key: &str| answer[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let id = text("client_id").ok_or("its login server registered a client without an id")?;
    Ok((id, text("client_secret")))
}
