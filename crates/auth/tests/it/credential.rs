//! Who wins, what is sent, and what is never shown.

use crate::env;
use ona_api::model::{FailureClass, ModelFailure};
use ona_api::{Env, Redactor, clock};
use ona_auth::{
    ApiKeyHelper, AuthError, Credential, CredentialKind, CredentialSources, CredentialStore, HelperFailure,
    LoginSource, StoredLogin, lm_studio, openai, resolve_anthropic,
};
use secrecy::SecretString;
use tokio_util::sync::CancellationToken;

const BETA: (&str, &str) = ("anthropic-beta", "oauth-2025-04-20");

async fn resolve(sources: &CredentialSources<'_>) -> Result<Credential, AuthError> {
    resolve_anthropic(sources, &CancellationToken::new()).await
}

fn headers(credential: &Credential) -> Vec<(String, String)> {
    let all = credential.headers();
    all.iter().map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect()
}

fn owned<const N: usize>(pairs: [(&str, &str); N]) -> Vec<(String, String)> {
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
}

fn printing(key: &str) -> ApiKeyHelper {
    ApiKeyHelper::new(format!("echo {key}"), "/", Env::default().with("PATH", "/usr/bin:/bin"))
}

/// A login that was pasted.
fn stored(text: &str) -> LoginSource {
    let home = tempfile::tempdir().unwrap();
    let store = CredentialStore::from_env(&env([("HOME", home.path().to_str().unwrap())]));
    store.save(&StoredLogin::pasted(text, clock::now()).unwrap()).unwrap();
    LoginSource::open(store, Redactor::default()).unwrap().unwrap()
}

/// Every source there is; tests take some away.
struct World {
    env: Env,
    bare: bool,
    helper: Option<ApiKeyHelper>,
    inherited: Option<SecretString>,
    stored: Option<LoginSource>,
}

impl World {
    fn full() -> Self {
        let env = env([
            ("ANTHROPIC_AUTH_TOKEN", "bearer-value"),
            ("ANTHROPIC_API_KEY", "key-value"),
            ("CLAUDE_CODE_OAUTH_TOKEN", "oauth-value"),
        ]);
        let secret = |text: &str| Some(SecretString::from(text));
        let helper = Some(printing("helper-value"));
        Self { env, bare: false, helper, inherited: secret("inherited-value"), stored: Some(stored("login-value")) }
    }

    async fn resolve(&self) -> Result<Credential, AuthError> {
        let Self { env, bare, helper, inherited, stored } = self;
        let (helper, inherited, stored) = (helper.as_ref(), inherited.as_ref(), stored.as_ref());
        resolve(&CredentialSources { env, bare: *bare, helper, inherited, stored }).await
    }

    async fn sends(&self) -> (CredentialKind, Vec<(String, String)>) {
        let credential = self.resolve().await.unwrap();
        (credential.kind(), headers(&credential))
    }
}

/// Takes the winner away, one after another.
#[tokio::test]
async fn sources_are_asked_in_the_published_order() {
    let mut world = World::full();
    assert_eq!(world.sends().await, (CredentialKind::EnvBearer, owned([("authorization", "Bearer bearer-value")])));

    world.env.remove("ANTHROPIC_AUTH_TOKEN");
    assert_eq!(world.sends().await, (CredentialKind::EnvApiKey, owned([("x-api-key", "key-value")])));

    world.env.set("ANTHROPIC_API_KEY", "");
    let both = owned([("x-api-key", "helper-value"), ("authorization", "Bearer helper-value")]);
    assert_eq!(world.sends().await, (CredentialKind::Helper, both));

    world.helper = None;
    assert_eq!(
        world.sends().await,
        (CredentialKind::OauthToken, owned([("authorization", "Bearer oauth-value"), BETA]))
    );

    world.env.remove("CLAUDE_CODE_OAUTH_TOKEN");
    assert_eq!(
        world.sends().await,
        (CredentialKind::OauthToken, owned([("authorization", "Bearer inherited-value"), BETA]))
    );

    world.inherited = None;
    assert_eq!(world.sends().await, (CredentialKind::Login, owned([("authorization", "Bearer login-value"), BETA])));

    world.stored = None;
    assert_eq!(world.resolve().await.unwrap_err(), AuthError::NoAnthropic);
    assert_eq!(CredentialSources::new(&world.env).kind(), CredentialKind::None);
}

#[tokio::test]
async fn a_bare_run_takes_the_key_or_the_helper_and_nothing_else() {
    let mut world = World { bare: true, ..World::full() };
    assert_eq!(world.sends().await.0, CredentialKind::EnvApiKey);
    world.env.remove("ANTHROPIC_API_KEY");
    assert_eq!(world.sends().await.0, CredentialKind::Helper);
    world.helper = None;
    assert_eq!(world.resolve().await.unwrap_err(), AuthError::NoAnthropicBare);
}

#[tokio::test]
async fn a_bearer_of_the_vendors_oauth_says_so() {
    let env = env([("ANTHROPIC_AUTH_TOKEN", "sk-ant-oat01-x")]);
    let credential = resolve(&CredentialSources::new(&env)).await.unwrap();
    assert_eq!(headers(&credential), owned([("authorization", "Bearer sk-ant-oat01-x"), BETA]));
}

#[tokio::test]
async fn a_failing_helper_is_a_failed_authentication_and_the_next_source_is_not_asked() {
    let env = env([("CLAUDE_CODE_OAUTH_TOKEN", "oauth-value")]);
    let helper = ApiKeyHelper::new("echo hush-hush; exit 1", "/", Env::default());
    let error =
        resolve(&CredentialSources { helper: Some(&helper), ..CredentialSources::new(&env) }).await.unwrap_err();
    assert_eq!(error, AuthError::Helper(HelperFailure::Exit(1)));
    assert_eq!(
        ModelFailure::from(error),
        ModelFailure {
            class: FailureClass::AuthenticationFailed,
            message: "apiKeyHelper: it ended with exit code 1".into(),
            transient: false,
            retry_after: None,
            status: None,
        }
    );
}

/// Status asks for the class; the helper must not run for it (A6).
#[tokio::test]
async fn telling_the_class_runs_no_helper() {
    let dir = tempfile::tempdir().unwrap();
    let env = Env::default();
    let helper = ApiKeyHelper::new("touch ran; echo key", dir.path(), Env::default().with("PATH", "/usr/bin:/bin"));
    let sources = CredentialSources { helper: Some(&helper), ..CredentialSources::new(&env) };
    assert_eq!(sources.kind().as_str(), "helper");
    assert!(!dir.path().join("ran").exists());
    resolve(&sources).await.unwrap();
    assert!(dir.path().join("ran").exists());
}

#[tokio::test]
async fn no_form_of_a_credential_shows_its_value() {
    let env =
        env([("ANTHROPIC_API_KEY", "hush-hush"), ("OPENAI_API_KEY", "hush-hush"), ("LM_STUDIO_API_KEY", "hush-hush")]);
    for credential in
        [resolve(&CredentialSources::new(&env)).await.unwrap(), openai(&env).unwrap(), lm_studio(&env).unwrap()]
    {
        let shown = format!("{credential:?} {:?} {:?}", credential.headers(), credential.secret());
        assert!(!shown.contains("hush"), "{shown}");
    }
}

#[tokio::test]
async fn a_value_that_cannot_be_a_header_is_named_and_not_shown() {
    let broken = env([("ANTHROPIC_API_KEY", "hush\nhush"), ("OPENAI_API_KEY", "hush hush")]);
    let error = resolve(&CredentialSources::new(&broken)).await.unwrap_err();
    assert_eq!(error.to_string(), "ANTHROPIC_API_KEY cannot be sent in a header");
    assert_eq!(openai(&broken).unwrap_err().to_string(), "OPENAI_API_KEY cannot be sent in a header");
}

#[test]
fn openai_needs_its_key() {
    let credential = openai(&env([("OPENAI_API_KEY", "o")])).unwrap();
    assert_eq!(headers(&credential), owned([("authorization", "Bearer o")]));
    assert_eq!(
        openai(&env([("OPENAI_API_KEY", "")])).unwrap_err(),
        AuthError::Missing(ona_api::environment::OPENAI_API_KEY)
    );
}

#[test]
fn lm_studio_has_a_default_key() {
    let credential = lm_studio(&Env::default()).unwrap();
    assert_eq!(headers(&credential), owned([("authorization", "Bearer lm-studio")]));
    assert_eq!(credential.kind(), CredentialKind::LocalDefault);
    let credential = lm_studio(&env([("LM_STUDIO_API_KEY", "mine")])).unwrap();
    assert_eq!(headers(&credential), owned([("authorization", "Bearer mine")]));
    assert_eq!(credential.kind(), CredentialKind::EnvApiKey);
}
