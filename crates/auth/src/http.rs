//! The one function that builds HTTP clients.
//!
//! It installs the crypto provider first: a reqwest client built before that
//! panics. Proxies and certificate roots (HTTPS_PROXY, NO_PROXY, SSL_CERT_FILE,
//! SSL_CERT_DIR, the system's own settings) are read by the HTTP and TLS libraries
//! from the process itself, not from `Env`.
//!
//! Reading the system's roots takes milliseconds and fails on a machine that has
//! none, so a client for plain HTTP on this machine does without them.

use crate::Endpoint;
use hyper_util::client::proxy::matcher::Matcher;
use ona_api::{Env, environment};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};
use rustls::RootCertStore;
use std::net::SocketAddr;
use std::time::Duration;

pub const USER_AGENT: &str = concat!("ona/", env!("CARGO_PKG_VERSION"));

const CONNECT: Duration = Duration::from_secs(15);
/// For a request to which no setting applies.
const READ_TIMEOUT: Duration = Duration::from_secs(300);
/// A login server answers from memory.
const LOGIN: Duration = Duration::from_secs(20);
/// A stream for what an MCP server says unasked.
const IDLE_STREAM_TIMEOUT: Duration = Duration::from_secs(24 * 3600);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpLimits {
    pub connect: Duration,
    /// How long a server may say nothing, before or inside an answer.
    pub read_timeout: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self { connect: CONNECT, read_timeout: READ_TIMEOUT }
    }
}

impl HttpLimits {
    /// ONA_READ_TIMEOUT_MS replaces `read_timeout`; what is not a positive number is ignored.
    pub fn from_env(env: &Env, read_timeout: Duration) -> Self {
        let replaced =
            env.get(environment::ONA_READ_TIMEOUT_MS).and_then(|text| text.trim().parse().ok()).filter(|ms| *ms > 0);
        Self { connect: CONNECT, read_timeout: replaced.map_or(read_timeout, Duration::from_millis) }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no HTTP client: {0}")]
pub struct HttpError(String);

/// Returns a client for the model calls of this endpoint. It never follows a redirect,
/// because the credential would go along.
pub fn client(endpoint: &Endpoint, limits: HttpLimits) -> Result<Client, HttpError> {
    install_crypto();
    let common = || common(limits);
    let plain = endpoint.url().scheme() == "http";
    let built = if endpoint.is_loopback() {
        let direct = common().no_proxy();
        if plain { without_roots(direct).build() } else { direct.build() }
    } else {
        match common().build() {
            // A machine without certificate roots can still use plain HTTP.
            Err(_) if plain => without_roots(common()).build(),
            built => built,
        }
    };
    built.map_err(|error| HttpError(describe_error(error)))
}

/// Returns a client for a hook that posts to this address. It follows no redirect either: the
/// input of a hook is not meant for another server.
pub fn hook_client(url: &str) -> Result<Client, HttpError> {
    client_of(url, HttpLimits::default())
}

/// Returns a client for a search at this address. It follows no redirect: the address may hold a key.
pub fn search_client(url: &str) -> Result<Client, HttpError> {
    client_of(url, HttpLimits::default())
}

/// Returns a client for an MCP server at this address. How long an answer may take is the
/// caller's business, and so is a stream on which nothing is said for hours.
pub fn server_client(url: &str) -> Result<Client, HttpError> {
    client_of(url, HttpLimits { connect: CONNECT, read_timeout: IDLE_STREAM_TIMEOUT })
}

fn client_of(url: &str, limits: HttpLimits) -> Result<Client, HttpError> {
    install_crypto();
    let builder = || common(limits);
    let built = if is_local(url) { without_roots(builder().no_proxy()).build() } else { builder().build() };
    built.map_err(|error| HttpError(describe_error(error)))
}

/// How a page of the web is reached.
#[derive(Clone, Copy, Debug)]
pub enum PageRoute<'a> {
    /// At these addresses of its host and at no others: they are those that were judged.
    Direct(&'a [SocketAddr]),
    /// Through the proxy of the environment, which looks the host up itself.
    Proxy,
}

/// Returns a client for one request for a page. It follows no redirect, because each target is judged
/// before it is asked, and it keeps no cookies.
pub fn page_client(url: &reqwest::Url, route: PageRoute<'_>, limits: HttpLimits) -> Result<Client, HttpError> {
    install_crypto();
    let builder = || match route {
        PageRoute::Direct(addresses) => {
            common(limits).no_proxy().resolve_to_addrs(url.host_str().unwrap_or_default(), addresses)
        }
        PageRoute::Proxy => common(limits),
    };
    let built = if url.scheme() == "http" { without_roots(builder()).build() } else { builder().build() };
    built.map_err(|error| HttpError(describe_error(error)))
}

/// Returns whether the environment has a proxy for this address.
pub fn is_proxied(url: &reqwest::Url) -> bool {
    url.as_str().parse::<http::Uri>().is_ok_and(|url| Matcher::from_system().intercept(&url).is_some())
}

/// Returns a client for a login server at this address. Its requests carry codes and tokens, so
/// it follows no redirect, and none of them takes long.
pub fn login_client(url: &str) -> Result<Client, HttpError> {
    install_crypto();
    let common = || common(HttpLimits { connect: CONNECT, read_timeout: LOGIN }).timeout(LOGIN);
    let built = if is_local(url) { without_roots(common().no_proxy()).build() } else { common().build() };
    built.map_err(|error| HttpError(describe_error(error)))
}

/// Plain HTTP on this machine.
fn is_local(url: &str) -> bool {
    let Ok(url) = reqwest::Url::parse(url) else { return false };
    url.scheme() == "http" && matches!(url.host_str(), Some("127.0.0.1" | "localhost" | "[::1]"))
}

fn common(limits: HttpLimits) -> ClientBuilder {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that builds HTTP clients")]
    let builder = Client::builder();
    builder
        .user_agent(USER_AGENT)
        .connect_timeout(limits.connect)
        .read_timeout(limits.read_timeout)
        .redirect(Policy::none())
        .referer(false)
}

fn without_roots(builder: ClientBuilder) -> ClientBuilder {
    let tls = rustls::ClientConfig::builder().with_root_certificates(RootCertStore::empty()).with_no_client_auth();
    builder.tls_backend_preconfigured(tls)
}

/// Also for libraries that build clients of their own.
pub fn install_crypto() {
    // An error means that a provider is installed already, which is all we want.
    rustls::crypto::ring::default_provider().install_default().ok();
}

/// Returns the text of an error and its causes, without the URL it may contain.
pub fn describe_error(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut words = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(inner) = cause {
        words = format!("{words}: {inner}");
        cause = inner.source();
    }
    words
}
