//! Logging in to a server, for every front: what has to be asked, registered and stored.

use crate::failure::Failure;
use crate::launch::Launch;
use crate::login::page::LoginPage;
use crate::login::{LoginFront, interrupted};
use ona_api::{clock, environment};
use ona_auth::oauth::{AuthorizationAttempt, CallbackListener};
use ona_auth::{CredentialStore, LogoutReport, StoredLogin};
use ona_mcp::login::{LoginUnavailable, client, discover};
use ona_mcp::{HttpEndpoint, HttpStyle, ServerDefinition, ServerLogins, ServerTransport};
use tokio_util::sync::CancellationToken;

const THE_LOGIN: &str = "the login to an MCP server";

/// How a login to a server is obtained.
#[derive(Clone, Debug, Default)]
pub struct ServerLogin {
    /// The secret of a client that the operator has registered.
    pub secret: Option<String>,
    pub open_browser: bool,
}

/// Refuses in a shell of an agent (DEC-071).
pub fn login_by_operator_only(launch: &Launch) -> Result<(), Failure> {
    launch.never_from_an_agent(THE_LOGIN)
}

/// Finds the login server of an MCP server, registers there, obtains a login in a browser and stores it.
pub async fn log_in(
    launch: &Launch,
    server: &ServerDefinition,
    how: ServerLogin,
    front: &mut dyn LoginFront,
    cancel: &CancellationToken,
) -> Result<(), Failure> {
    login_by_operator_only(launch)?;
    let (endpoint, store) = place(launch, server)?;
    let name = &server.name;
    let failed = |error: LoginUnavailable| match error {
        LoginUnavailable::NotNeeded => Failure::refused(format_args!("the MCP server {name:?} asks for no login")),
        LoginUnavailable::Failed(why) => Failure::refused(format_args!("no login to the MCP server {name:?}: {why}")),
    };
    let prepared = async {
        let found = discover(endpoint).await.map_err(failed)?;
        let port = launch.env.get(environment::MCP_OAUTH_CALLBACK_PORT).and_then(|text| text.trim().parse().ok());
        let port = endpoint.oauth.callback_port.or(port);
        let listener = CallbackListener::bind_local(port).await.map_err(|error| match port {
            Some(port) => Failure::refused(format_args!("port {port} cannot be used: {error}")),
            None => Failure::refused(format_args!("no port of this machine can be used: {error}")),
        })?;
        let client = client(&found, &endpoint.oauth, how.secret, listener.redirect()).await.map_err(failed)?;
        Ok((listener, client))
    };
    let (listener, client) = tokio::select! {
        prepared = prepared => prepared?,
        () = cancel.cancelled() => return Err(interrupted()),
    };
    if let Some(secret) = &client.secret {
        launch.notices.redactor().learn("client secret", &secret.0);
    }
    let attempt = AuthorizationAttempt::begin(&client, listener.redirect()).map_err(Failure::refused)?;
    let again = format!("ona mcp login {name}");
    let page = LoginPage { listener: &listener, attempt: &attempt, again: &again };
    let open = how.open_browser && launch.env.get(environment::ONA_OAUTH_NO_BROWSER) != Some("1");
    let tokens = page.obtain(launch, open, front, cancel).await?;
    let login = StoredLogin::granted(tokens, client, clock::now());
    let _lock = store.lock(cancel).await.map_err(Failure::refused)?;
    let writer = store.clone();
    let saved = tokio::task::spawn_blocking(move || writer.save(&login)).await;
    saved.expect("saving a login does not panic").map_err(Failure::refused)?;
    Ok(())
}

/// Removes the login to a server and tells its login server, if that can be reached.
pub async fn log_out(
    launch: &Launch,
    server: &ServerDefinition,
    cancel: &CancellationToken,
) -> Result<LogoutReport, Failure> {
    login_by_operator_only(launch)?;
    let (_, store) = place(launch, server)?;
    ona_auth::log_out(&store, &launch.notices.redactor(), cancel).await.map_err(Failure::refused)
}

fn place<'a>(launch: &Launch, server: &'a ServerDefinition) -> Result<(&'a HttpEndpoint, CredentialStore), Failure> {
    match &server.endpoint {
        ServerTransport::Http(endpoint) if endpoint.style == HttpStyle::WebSocket => {
            Err(Failure::refused(format_args!(
                "the MCP server {:?} is a WebSocket; give it a header in `headers` or a headersHelper",
                server.name
            )))
        }
        ServerTransport::Http(endpoint) => {
            Ok((endpoint, ServerLogins::from_env(&launch.env).of(&server.name, &endpoint.url)))
        }
        ServerTransport::Stdio { .. } | ServerTransport::Host => Err(Failure::refused(format_args!(
            "the MCP server {:?} is a program of this machine; logins are for servers with an address",
            server.name
        ))),
    }
}
