//! What servers are started with: environment, directories, limits, and who answers them.

use crate::definition::DefinitionOwner;
use crate::elicit::{ElicitAnswer, ElicitHandler, Elicitation};
use crate::relay::MessageRelay;
use ona_api::{Env, credentials, environment};
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
            DefinitionOwner::Operator => &self.operators,
            DefinitionOwner::Project => &self.projects,
        }
    }
}

pub struct ServerContext {
    /// The environments of children, complete. They do not contain the
    /// credentials of model providers; a server that needs one gets it from its definition.
    pub(crate) env: Environments,
    place: RwLock<ServerPlace>,
    pub(crate) connect: Duration,
    pub(crate) output: usize,
    elicit: RwLock<Option<Arc<dyn ElicitHandler>>>,
    relay: RwLock<Option<Arc<dyn MessageRelay>>>,
}

/// Where servers are started, and the directories they get as roots.
#[derive(Clone)]
pub(crate) struct ServerPlace {
    pub cwd: PathBuf,
    pub roots: Vec<PathBuf>,
}

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
        let place = RwLock::new(ServerPlace { cwd, roots });
        Self { env, place, connect, output, elicit: RwLock::default(), relay: RwLock::default() }
    }

    /// Moves to another directory, before servers are started there.
    pub fn move_to(&self, cwd: PathBuf, roots: Vec<PathBuf>) {
        *self.place.write().unwrap_or_else(PoisonError::into_inner) = ServerPlace { cwd, roots };
    }

    pub(crate) fn place(&self) -> ServerPlace {
        self.place.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets who answers elicitations from now on.
    pub fn set_elicit_handler(&self, elicit: Arc<dyn ElicitHandler>) {
        *self.elicit.write().unwrap_or_else(PoisonError::into_inner) = Some(elicit);
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
