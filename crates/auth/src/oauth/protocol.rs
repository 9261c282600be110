//! The requests of a login: authorization code with PKCE, device grant, refresh, revocation.
//!
//! The `oauth2` library makes the requests and reads the answers; they travel through the one
//! HTTP client, which follows no redirect. Revocation is a form of one field that the library
//! would not send to a server on this machine, so it is sent here.

use super::config::{OAuthClient, OAuthConfigError};
use super::error::{OAuthError, sentence};
use crate::http;
use oauth2::basic::{BasicClient, BasicErrorResponse, BasicErrorResponseType, BasicTokenResponse};
use oauth2::{
    AuthUrl, AuthorizationCode, ClientId, ClientSecret, CsrfToken, DeviceAuthorizationUrl, DeviceCodeErrorResponse,
    DeviceCodeErrorResponseType, EndpointNotSet, EndpointSet, HttpRequest, HttpResponse, PkceCodeChallenge,
    PkceCodeVerifier, RedirectUrl, RefreshToken, RequestTokenError, Scope, StandardDeviceAuthorizationResponse,
    TokenResponse, TokenUrl,
};
use reqwest::{Client, Url};
use secrecy::{ExposeSecret, SecretString};
use std::time::Duration;

/// Bytes of an answer that are read.
const MAX_ANSWER: usize = 1024 * 1024;

type TokenClient = BasicClient<EndpointNotSet, EndpointNotSet, EndpointNotSet, EndpointNotSet, EndpointSet>;

/// What a server hands out at the end of a login or a refresh.
#[derive(Debug)]
pub struct GrantedTokens {
    pub access_token: SecretString,
    pub refresh_token: Option<SecretString>,
    pub lifetime: Option<Duration>,
    pub scopes: Option<Vec<String>>,
}

impl From<BasicTokenResponse> for GrantedTokens {
    fn from(answer: BasicTokenResponse) -> Self {
        Self {
            access_token: answer.access_token().secret().as_str().into(),
            refresh_token: answer.refresh_token().map(|token| token.secret().as_str().into()),
            lifetime: answer.expires_in(),
            scopes: answer.scopes().map(|scopes| scopes.iter().map(|scope| scope.to_string()).collect()),
        }
    }
}

/// A login in a browser that has begun.
pub struct AuthorizationAttempt {
    client: OAuthClient,
    redirect: Url,
    verifier: SecretString,
    /// The page to open.
    pub url: Url,
    /// Has to come back with the code.
    pub state: SecretString,
}

impl AuthorizationAttempt {
    pub fn begin(client: &OAuthClient, redirect: &Url) -> Result<Self, OAuthConfigError> {
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let page = BasicClient::new(ClientId::new(client.client_id.clone()))
            .set_auth_uri(AuthUrl::from_url(client.authorize_url()?.clone()))
            .set_redirect_uri(RedirectUrl::from_url(redirect.clone()));
        let mut asked = page
            .authorize_url(CsrfToken::new_random)
            .add_scopes(client.scopes.iter().cloned().map(Scope::new))
            .set_pkce_challenge(challenge);
        if let Some(resource) = &client.resource {
            asked = asked.add_extra_param("resource", resource);
        }
        let (url, state) = asked.url();
        Ok(Self {
            client: client.clone(),
            redirect: redirect.clone(),
            verifier: verifier.secret().as_str().into(),
            url,
            state: state.secret().as_str().into(),
        })
    }

    /// Returns the secret that proves to the server who began, for the redactor.
    pub fn verifier(&self) -> &SecretString {
        &self.verifier
    }

    /// May be called again with another code: the verifier belongs to the attempt.
    pub async fn exchange(&self, code: &str) -> Result<GrantedTokens, OAuthError> {
        let http = client_for(&self.client.token_url)?;
        let client = token_client(&self.client).set_redirect_uri(RedirectUrl::from_url(self.redirect.clone()));
        let mut asked = client
            .exchange_code(AuthorizationCode::new(code.to_owned()))
            .set_pkce_verifier(PkceCodeVerifier::new(self.verifier.expose_secret().to_owned()));
        if let Some(resource) = &self.client.resource {
            asked = asked.add_extra_param("resource", resource);
        }
        let granted = asked.request_async(&|request| send(http.clone(), request)).await;
        granted.map(GrantedTokens::from).map_err(token_error)
    }
}

/// A login on another device that has begun (RFC 8628).
pub struct DeviceAttempt {
    client: OAuthClient,
    details: StandardDeviceAuthorizationResponse,
}

impl DeviceAttempt {
    pub async fn begin(client: &OAuthClient, device_url: &Url) -> Result<Self, OAuthError> {
        let http = client_for(device_url)?;
        let asked =
            token_client(client).set_device_authorization_url(DeviceAuthorizationUrl::from_url(device_url.clone()));
        let details: StandardDeviceAuthorizationResponse = asked
            .exchange_device_code()
            .add_scopes(client.scopes.iter().cloned().map(Scope::new))
            .request_async(&|request| send(http.clone(), request))
            .await
            .map_err(token_error)?;
        Ok(Self { client: client.clone(), details })
    }

    /// Returns the page on which the code is entered.
    pub fn verification_url(&self) -> &str {
        self.details.verification_uri()
    }

    /// Returns the page that has the code in its address, if the server offers one.
    pub fn complete_url(&self) -> Option<&str> {
        self.details.verification_uri_complete().map(|url| url.secret().as_str())
    }

    pub fn user_code(&self) -> &str {
        self.details.user_code().secret()
    }

    /// Returns the code with which this program asks; the redactor has to know it.
    pub fn device_code(&self) -> &str {
        self.details.device_code().secret()
    }

    pub fn expires_in(&self) -> Duration {
        self.details.expires_in()
    }

    /// Asks until the login is approved, denied or too old, at the pace the server sets.
    pub async fn granted(&self) -> Result<GrantedTokens, OAuthError> {
        let http = client_for(&self.client.token_url)?;
        let granted = token_client(&self.client)
            .exchange_device_access_token(&self.details)
            .request_async(&|request| send(http.clone(), request), tokio::time::sleep, None)
            .await;
        granted.map(GrantedTokens::from).map_err(|error| match error {
            RequestTokenError::ServerResponse(answer) => device_error(&answer),
            RequestTokenError::Request(error) => error,
            RequestTokenError::Parse(..) | RequestTokenError::Other(_) => OAuthError::Unreadable,
        })
    }
}

/// Exchanges a refresh token. The server may hand out another one, which replaces it.
pub(crate) async fn refresh(client: &OAuthClient, token: &SecretString) -> Result<GrantedTokens, OAuthError> {
    let http = client_for(&client.token_url)?;
    let (tokens, token) = (token_client(client), RefreshToken::new(token.expose_secret().to_owned()));
    let mut asked = tokens.exchange_refresh_token(&token);
    if let Some(resource) = &client.resource {
        asked = asked.add_extra_param("resource", resource);
    }
    let granted = asked.request_async(&|request| send(http.clone(), request)).await;
    granted.map(GrantedTokens::from).map_err(token_error)
}

/// Tells the server that a token is not used any more (RFC 7009).
pub(crate) async fn revoke(client: &OAuthClient, url: &Url, token: &SecretString) -> Result<(), OAuthError> {
    let form = [("token", token.expose_secret()), ("client_id", &client.client_id)];
    let body = Url::parse_with_params("http://form/", form).expect("an address and pairs");
    let request = client_for(url)?
        .post(url.clone())
        .header(::http::header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(body.query().unwrap_or_default().to_owned());
    let answer = request.send().await.map_err(unreachable)?;
    match answer.status() {
        status if status.is_success() => Ok(()),
        status => Err(OAuthError::Status(status.as_u16())),
    }
}

fn token_client(client: &OAuthClient) -> TokenClient {
    let own = BasicClient::new(ClientId::new(client.client_id.clone()))
        // A public client has no secret: its id is a field of the form, and so is a secret.
        .set_auth_type(oauth2::AuthType::RequestBody)
        .set_token_uri(TokenUrl::from_url(client.token_url.clone()));
    match &client.secret {
        Some(secret) => own.set_client_secret(ClientSecret::new(secret.0.clone())),
        None => own,
    }
}

fn client_for(url: &Url) -> Result<Client, OAuthError> {
    http::login_client(url.as_str()).map_err(|error| OAuthError::Unreachable(error.to_string()))
}

async fn send(client: Client, request: HttpRequest) -> Result<HttpResponse, OAuthError> {
    let (parts, body) = request.into_parts();
    let url = Url::parse(&parts.uri.to_string()).map_err(|_| OAuthError::Unreadable)?;
    let answer = client.request(parts.method, url).headers(parts.headers).body(body).send().await;
    let mut answer = answer.map_err(unreachable)?;
    let status = answer.status();
    if status.is_server_error() || status.is_redirection() {
        return Err(OAuthError::Status(status.as_u16()));
    }
    let mut response = HttpResponse::new(Vec::new());
    *response.status_mut() = status;
    *response.headers_mut() = std::mem::take(answer.headers_mut());
    while let Some(chunk) = answer.chunk().await.map_err(unreachable)? {
        response.body_mut().extend_from_slice(&chunk);
        if response.body().len() > MAX_ANSWER {
            return Err(OAuthError::Unreadable);
        }
    }
    Ok(response)
}

fn unreachable(error: reqwest::Error) -> OAuthError {
    OAuthError::Unreachable(http::describe_error(error))
}

fn token_error(error: RequestTokenError<OAuthError, BasicErrorResponse>) -> OAuthError {
    match error {
        RequestTokenError::ServerResponse(answer) => match answer.error() {
            BasicErrorResponseType::Extension(code) if code == "access_denied" => OAuthError::Denied,
            code => {
                let told = sentence(code.as_ref(), answer.error_description().map(String::as_str));
                match code {
                    BasicErrorResponseType::InvalidGrant => OAuthError::InvalidGrant(told),
                    _ => OAuthError::Refused(told),
                }
            }
        },
        RequestTokenError::Request(error) => error,
        // The answer may hold a token: it is not quoted.
        RequestTokenError::Parse(..) | RequestTokenError::Other(_) => OAuthError::Unreadable,
    }
}

fn device_error(answer: &DeviceCodeErrorResponse) -> OAuthError {
    match answer.error() {
        DeviceCodeErrorResponseType::AccessDenied => OAuthError::Denied,
        DeviceCodeErrorResponseType::ExpiredToken => OAuthError::Expired,
        code => OAuthError::Refused(sentence(code.as_ref(), answer.error_description().map(String::as_str))),
    }
}

impl OAuthError {
    /// Returns the error of an answer that a browser brought.
    pub fn declined(error: &str, description: Option<&str>) -> Self {
        if error == "access_denied" { OAuthError::Denied } else { OAuthError::Refused(sentence(error, description)) }
    }
}
