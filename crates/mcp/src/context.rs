//! What servers are started with: environment, directories, limits, and who answers them.

use crate::definition::DefinitionOwner;
use crate::elicit::{ElicitAnswer, ElicitHandler, Elicitation};
use crate::logins::ServerLogins;
use crate::policy::Policy;
use crate::protocol::CallProgress;
use crate::relay::MessageRelay;
use ona_api::{CallId, Env, Redactor, credentials, environment};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

/// How long a server may take to connect.
const CONNECT: Duration = Duration::from_secs(30);
/// Maximum length of a result, at four characters per token.
const OUTPUT_TOKENS: usize = 25_000;
const CHARS_PER_TOKEN: usize = 4;

/// A project may set variables for its own servers, not for the operator's: it could put
/// another program in the place of a guard.
#[derive(Clone, Debug, Default)]
pub struct Environments {
    pub operators: Env,
    pub projects: Env,
}

impl Environments {
    /// Returns the same environment for both, for listings, which start nothing.
    pub fn one(env: &Env) -> Self {
        Self { operators: env.clone(), projects: env.clone() }
    }

    pub(crate) fn of(&self, owner: DefinitionOwner) -> &Env {
        match owner {
            DefinitionOwner::Operator | DefinitionOwner::Plugin => &self.operators,
            DefinitionOwner::Project => &self.projects,
        }
    }
}

/// Directories, and how often they have changed.
struct Roots {
    version: usize,
    list: Vec<PathBuf>,
}

/// What holds for servers that come in while a run goes on.
#[derive(Clone, Debug, Default)]
pub struct Additions {
    /// The variables that definitions speak of.
    pub variables: Environments,
    pub policy: Policy,
    /// Why none may come in.
    pub refused: Option<String>,
}

pub struct ServerContext {
    /// The environments of children, complete. They do not contain the
    /// credentials of model providers; a server that needs one gets it from its definition.
    pub(crate) env: Environments,
    /// Where servers are started.
    cwd: RwLock<PathBuf>,
    /// The directories that servers get as roots.
    roots: RwLock<Roots>,
    pub(crate) connect: Duration,
    pub(crate) output: usize,
    /// Learns what must not be recorded: headers that a helper prints, tokens.
    pub(crate) redactor: Redactor,
    pub(crate) additions: Additions,
    /// Where logins to servers are kept; none in a bare run.
    pub(crate) logins: Option<ServerLogins>,
    elicit: RwLock<Option<Arc<dyn ElicitHandler>>>,
    relay: RwLock<Option<Arc<dyn MessageRelay>>>,
    progress: RwLock<Option<ProgressListener>>,
}

/// Hears what servers say about running calls: the call, the name of the tool, what was said.
pub type ProgressListener = Arc<dyn Fn(&CallId, &str, CallProgress) + Send + Sync>;

impl ServerContext {
    /// MCP_TIMEOUT and MAX_MCP_OUTPUT_TOKENS set the limits; a project may set them.
    pub fn new(mut env: Environments, cwd: PathBuf, roots: Vec<PathBuf>) -> Self {
        let number =
            |variable| env.projects.get(variable).and_then(|text| text.trim().parse::<u64>().ok()).filter(|n| *n > 0);
        let connect = number(environment::MCP_TIMEOUT).map_or(CONNECT, Duration::from_millis);
        let tokens = number(environment::MAX_MCP_OUTPUT_TOKENS).and_then(|tokens| usize::try_from(tokens).ok());
        let output = tokens.unwrap_or(OUTPUT_TOKENS).saturating_mul(CHARS_PER_TOKEN);
        credentials::remove_from(&mut env.operators);
        credentials::remove_from(&mut env.projects);
        Self {
            env,
            cwd: RwLock::new(cwd),
            roots: RwLock::new(Roots { version: 0, list: roots }),
            connect,
            output,
            redactor: Redactor::default(),
            additions: Additions::default(),
            logins: None,
            elicit: RwLock::default(),
            relay: RwLock::default(),
            progress: RwLock::default(),
        }
    }

    #[must_use]
    pub fn with_logins(self, logins: Option<ServerLogins>, redactor: Redactor) -> Self {
        Self { logins, redactor, ..self }
    }

    #[must_use]
    pub fn with_additions(self, additions: Additions) -> Self {
        Self { additions, ..self }
    }

    /// Moves to another directory, before servers are started there.
    pub fn move_to(&self, cwd: PathBuf, roots: Vec<PathBuf>) {
        *self.cwd.write().unwrap_or_else(PoisonError::into_inner) = cwd;
        self.set_roots(roots);
    }

    pub(crate) fn cwd(&self) -> PathBuf {
        self.cwd.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn roots(&self) -> Vec<PathBuf> {
        self.roots.read().unwrap_or_else(PoisonError::into_inner).list.clone()
    }

    /// Returns the version of the list, which is another one if these are others than before.
    pub(crate) fn set_roots(&self, list: Vec<PathBuf>) -> usize {
        let mut now = self.roots.write().unwrap_or_else(PoisonError::into_inner);
        if now.list != list {
            *now = Roots { version: now.version + 1, list };
        }
        now.version
    }

    /// Sets who answers elicitations from now on.
    pub fn set_elicit_handler(&self, elicit: Arc<dyn ElicitHandler>) {
        *self.elicit.write().unwrap_or_else(PoisonError::into_inner) = Some(elicit);
    }

    /// Sets the listener for the progress of calls.
    pub fn set_progress_listener(&self, listener: ProgressListener) {
        *self.progress.write().unwrap_or_else(PoisonError::into_inner) = Some(listener);
    }

    pub(crate) fn progress_listener(&self) -> Option<ProgressListener> {
        self.progress.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets who forwards messages to servers of the program that drives this one.
    pub fn set_relay(&self, relay: Arc<dyn MessageRelay>) {
        *self.relay.write().unwrap_or_else(PoisonError::into_inner) = Some(relay);
    }

    pub(crate) fn relay(&self) -> Option<Arc<dyn MessageRelay>> {
        self.relay.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) async fn answer(&self, asked: Elicitation) -> ElicitAnswer {
        let elicit = self.elicit.read().unwrap_or_else(PoisonError::into_inner).clone();
        match elicit {
            Some(elicit) => elicit.answer(asked).await,
            None => ElicitAnswer::declined(),
        }
    }
}
