//! apiKeyHelper: a command of the operator that prints a key (DEC-088).
//!
//! It runs only while a credential for a model call is resolved, which is why
//! `key` is not public; whether the workspace is trusted was asked before a
//! `ApiKeyHelper` was made. Nothing of its output ever reaches an error text.

use crate::HelperFailure;
use ona_api::Env;
use ona_process::{ChildCommand, ChildExit, OnDeath};
use secrecy::SecretString;
use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

const DEADLINE: Duration = Duration::from_secs(10);
const FRESH: Duration = Duration::from_secs(300);
const MAX_OUTPUT: usize = 64 * 1024;

pub struct ApiKeyHelper {
    command: String,
    cwd: PathBuf,
    env: Env,
    deadline: Duration,
    /// Held while the command runs, so that several sessions start it once.
    cached: Mutex<Option<Cached>>,
}

struct Cached {
    key: SecretString,
    at: Instant,
}

impl Cached {
    fn is_fresh(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.at) < FRESH
    }
}

impl ApiKeyHelper {
    pub fn new(command: impl Into<String>, cwd: impl Into<PathBuf>, env: Env) -> Self {
        Self { command: command.into(), cwd: cwd.into(), env, deadline: DEADLINE, cached: Mutex::new(None) }
    }

    /// The server refused the key: the next call asks the command again.
    pub async fn refused(&self) {
        *self.cached.lock().await = None;
    }

    pub(crate) async fn key(&self, cancel: &CancellationToken) -> Result<SecretString, HelperFailure> {
        let mut cached = self.cached.lock().await;
        if let Some(cached) = cached.as_ref().filter(|cached| cached.is_fresh(Instant::now())) {
            return Ok(cached.key.clone());
        }
        *cached = None;
        let key = self.run(cancel).await?;
        *cached = Some(Cached { key: key.clone(), at: Instant::now() });
        Ok(key)
    }

    async fn run(&self, cancel: &CancellationToken) -> Result<SecretString, HelperFailure> {
        let command = ChildCommand {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), self.command.clone().into()],
            cwd: self.cwd.clone(),
            env: self.env.clone(),
            stdin: Vec::new(),
            cap: MAX_OUTPUT,
            deadline: Some(self.deadline),
            grace: Duration::ZERO,
            on_death: OnDeath::Leave,
            wall: None,
        };
        let ran = ona_process::run(command, cancel).await.map_err(|_| HelperFailure::NotStarted)?;
        match ran.end {
            ChildExit::Exited(0) => {}
            ChildExit::Exited(code) => return Err(HelperFailure::Exit(code)),
            ChildExit::Signalled(signal) => return Err(HelperFailure::Signal(signal)),
            ChildExit::TimedOut => return Err(HelperFailure::TimedOut),
            ChildExit::Cancelled => return Err(HelperFailure::Cancelled),
        }
        let printed = std::str::from_utf8(&ran.stdout.bytes).map_err(|_| HelperFailure::Unusable)?.trim();
        match printed {
            "" => Err(HelperFailure::Empty),
            key if ran.stdout.truncated || key.bytes().any(|byte| !byte.is_ascii_graphic()) => {
                Err(HelperFailure::Unusable)
            }
            key => Ok(SecretString::from(key)),
        }
    }
}

/// The command is the operator's; it may hold a secret of its own.
impl fmt::Debug for ApiKeyHelper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKeyHelper")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret;

    fn helper(command: &str) -> (tempfile::TempDir, ApiKeyHelper) {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::default().with("PATH", "/usr/bin:/bin");
        let helper = ApiKeyHelper::new(command, dir.path(), env);
        (dir, helper)
    }

    async fn key(helper: &ApiKeyHelper) -> Result<String, HelperFailure> {
        helper.key(&CancellationToken::new()).await.map(|key| key.expose_secret().to_owned())
    }

    #[tokio::test]
    async fn the_output_is_trimmed_and_kept_until_it_is_refused() {
        let (_dir, helper) = helper("echo run >> runs; printf '  key-%s \n' $(wc -l < runs)");
        assert_eq!(key(&helper).await.as_deref(), Ok("key-1"));
        assert_eq!(key(&helper).await.as_deref(), Ok("key-1"));
        helper.refused().await;
        assert_eq!(key(&helper).await.as_deref(), Ok("key-2"));
    }

    #[test]
    fn a_key_is_fresh_for_300_seconds() {
        let now = Instant::now();
        let cached = Cached { key: SecretString::from("k"), at: now };
        assert!(cached.is_fresh(now + Duration::from_secs(299)));
        assert!(!cached.is_fresh(now + Duration::from_secs(300)));
    }

    #[tokio::test]
    async fn every_failure_has_a_name_and_none_shows_the_output() {
        for (command, expected) in [
            ("echo hush-hush; exit 3", HelperFailure::Exit(3)),
            ("echo hush-hush; kill -9 $$", HelperFailure::Signal(9)),
            ("true", HelperFailure::Empty),
            ("echo hush-hush; echo hush-hush", HelperFailure::Unusable),
            ("echo 'hush hush-hush'", HelperFailure::Unusable),
            ("yes hush-hush | tr -d '\\n' | head -c 70000", HelperFailure::Unusable),
        ] {
            let failure = key(&helper(command).1).await.unwrap_err();
            assert_eq!(failure, expected, "{command}");
            assert!(!format!("{failure} {failure:?}").contains("hush-hush"), "{command}");
        }
    }

    #[tokio::test]
    async fn a_helper_that_hangs_is_ended_at_its_deadline() {
        let (_dir, mut helper) = helper("sleep 30");
        helper.deadline = Duration::from_millis(20);
        assert_eq!(key(&helper).await, Err(HelperFailure::TimedOut));
    }

    #[tokio::test]
    async fn an_interrupt_ends_the_helper() {
        let (_dir, helper) = helper("sleep 30");
        let cancel = CancellationToken::new();
        cancel.cancel();
        assert_eq!(helper.key(&cancel).await.unwrap_err(), HelperFailure::Cancelled);
    }
}
