//! The stored login against a scripted login server: who asks it, and what is kept.

use crate::env;
use ona_api::{Env, Redactor, clock};
use ona_auth::oauth::{GrantedTokens, OAuthClient};
use ona_auth::{
    AuthError, CredentialSources, CredentialStore, LoginError, LoginSource, StoredLogin, resolve_anthropic,
};
use secrecy::ExposeSecret;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// A token endpoint that takes each refresh token once.
struct LoginServer {
    url: String,
    refreshes: Arc<AtomicUsize>,
}

impl LoginServer {
    async fn start(first_refresh_token: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/token", listener.local_addr().unwrap());
        let refreshes = Arc::new(AtomicUsize::new(0));
        let valid = Arc::new(Mutex::new(first_refresh_token.to_owned()));
        let counted = Arc::clone(&refreshes);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (counted, valid) = (Arc::clone(&counted), Arc::clone(&valid));
                tokio::spawn(async move {
                    let mut asked = String::new();
                    while !asked.contains("refresh_token=") {
                        let mut buffer = [0; 4096];
                        let count = stream.read(&mut buffer).await.unwrap();
                        asked.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
                    }
                    let number = counted.fetch_add(1, Ordering::SeqCst) + 1;
                    let (status, body) = {
                        let mut valid = valid.lock().unwrap();
                        if asked.contains(&format!("refresh_token={valid}")) {
                            *valid = format!("refresh-{number}");
                            let body = format!(
                                r#"{{"access_token":"access-{number}","token_type":"bearer","expires_in":3600,"refresh_token":"{valid}"}}"#
                            );
                            ("200 OK", body)
                        } else {
                            ("400 Bad Request", r#"{"error":"invalid_grant"}"#.to_owned())
                        }
                    };
                    let answer = format!(
                        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                        body.len()
                    );
                    stream.write_all(answer.as_bytes()).await.unwrap();
                });
            }
        });
        Self { url, refreshes }
    }

    fn client(&self) -> OAuthClient {
        OAuthClient::from_env(&env([("ONA_OAUTH_CLIENT_ID", "c"), ("ONA_OAUTH_TOKEN_URL", &self.url)])).unwrap()
    }

    fn count(&self) -> usize {
        self.refreshes.load(Ordering::SeqCst)
    }
}

/// A home with a login in it.
struct Home {
    dir: tempfile::TempDir,
}

impl Home {
    fn with(login: &StoredLogin) -> Self {
        let home = Self { dir: tempfile::tempdir().unwrap() };
        home.store().save(login).unwrap();
        home
    }

    fn env(&self) -> Env {
        env([("HOME", self.dir.path().to_str().unwrap())])
    }

    fn store(&self) -> CredentialStore {
        CredentialStore::from_env(&self.env())
    }

    fn source(&self) -> LoginSource {
        LoginSource::open(self.store(), Redactor::default()).unwrap().unwrap()
    }

    fn stored(&self) -> StoredLogin {
        self.store().load().unwrap().unwrap().0
    }
}

fn login(client: OAuthClient, lifetime: u64) -> StoredLogin {
    let tokens = GrantedTokens {
        access_token: "access-0".into(),
        refresh_token: Some("refresh-0".into()),
        lifetime: Some(Duration::from_secs(lifetime)),
        scopes: None,
    };
    StoredLogin::granted(tokens, client, clock::now())
}

async fn value(source: &LoginSource) -> Result<String, AuthError> {
    let env = Env::default();
    let sources = CredentialSources { stored: Some(source), ..CredentialSources::new(&env) };
    let credential = resolve_anthropic(&sources, &CancellationToken::new()).await?;
    Ok(credential.secret().expose_secret().to_owned())
}

#[tokio::test]
async fn of_many_that_are_refused_at_once_one_asks_and_the_others_find_its_answer() {
    let server = LoginServer::start("refresh-0").await;
    let home = Home::with(&login(server.client(), 3600));
    let mut tasks = JoinSet::new();
    for source in (0..8).map(|_| home.source()) {
        tasks.spawn(async move {
            assert_eq!(value(&source).await.unwrap(), "access-0");
            assert!(source.refused(&"access-0".into()).await);
            value(&source).await.unwrap()
        });
    }
    let all = tasks.join_all().await;
    assert_eq!((all, server.count()), (vec!["access-1".to_owned(); 8], 1));
    let stored: Vec<_> = home.stored().secrets().map(|(_, value)| value.to_owned()).collect();
    assert_eq!(stored, ["access-1", "refresh-1"]);
}

#[tokio::test]
async fn a_newer_login_is_taken_over_and_never_overwritten() {
    let server = LoginServer::start("refresh-0").await;
    let home = Home::with(&login(server.client(), 10));
    let late = home.source();
    assert_eq!(value(&home.source()).await.unwrap(), "access-1");
    assert_eq!(value(&late).await.unwrap(), "access-1");
    // Another process has logged out meanwhile.
    home.store().delete().unwrap();
    late.refused(&"access-1".into()).await;
    assert_eq!(value(&late).await.unwrap_err(), AuthError::Login(LoginError::LoggedOut));
    assert!(home.store().load().unwrap().is_none());
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn a_refusal_ends_the_login_once_and_for_all() {
    let server = LoginServer::start("another").await;
    let home = Home::with(&login(server.client(), 0));
    for _ in 0..2 {
        assert_eq!(value(&home.source()).await.unwrap_err(), AuthError::Login(LoginError::Expired));
    }
    assert_eq!(server.count(), 1);
    assert!(!home.stored().can_refresh());
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_costs_nothing_while_the_token_is_good() {
    let client = env([("ONA_OAUTH_CLIENT_ID", "c"), ("ONA_OAUTH_TOKEN_URL", "http://127.0.0.1:9/token")]);
    let client = OAuthClient::from_env(&client).unwrap();
    let home = Home::with(&login(client.clone(), 30));
    assert_eq!(value(&home.source()).await.unwrap(), "access-0");
    let home = Home::with(&login(client, 0));
    let error = value(&home.source()).await.unwrap_err().to_string();
    assert!(error.contains("could not be renewed") && !error.contains("refresh-0"), "{error}");
}
