//! Whether a turn could be made: model, credential, endpoint, and the programs that hooks,
//! modules and tests run in.
//!
//! Broken is what is configured and does not work; only that makes `ona doctor` fail.
//! What a turn needs and is not there is told with the remedy. No credential is sent and no helper is run. The endpoint is
//! contacted only where the operator named it (a base URL variable, or a local model
//! server): one HEAD request without a credential; any answer means that it is there. Other local
//! servers are the matter of `local_servers`.

use super::local_servers;
use crate::launch::{Launch, OpenProject};
use crate::model_choice;
use crate::runtime::Runtime;
use ona_api::model::ProviderName;
use ona_api::{Env, Variable, environment};
use ona_auth::http::{self, HttpLimits};
use ona_auth::{CredentialKind, Endpoint};
use ona_modules::{RuntimeChoice, find_runtime};
use ona_orchestration::Model;
use ona_process::find_in_path;
use serde_json::{Value, json};
use std::fmt;
use std::time::Duration;

/// How long an endpoint may take to answer.
const ANSWER: Duration = Duration::from_secs(3);

/// Whether it works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckState {
    Ok,
    /// Configured, and does not work.
    Broken,
    /// A turn needs it and it is not there; everything else works without it, so that guards
    /// can be checked where no key is.
    Missing,
    /// Not there, or not looked at; nothing relies on it.
    Absent,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    pub name: &'static str,
    pub state: CheckState,
    pub detail: String,
    /// What to do about it; empty where nothing is to be done.
    pub remedy: String,
}

impl Check {
    pub(super) fn ok(name: &'static str, detail: &str) -> Self {
        Self { name, state: CheckState::Ok, detail: detail.to_owned(), remedy: String::new() }
    }

    pub(super) fn broken(name: &'static str, detail: &str, remedy: &str) -> Self {
        Self { name, state: CheckState::Broken, detail: detail.to_owned(), remedy: remedy.to_owned() }
    }

    pub(super) fn missing(name: &'static str, detail: &str, remedy: &str) -> Self {
        Self { name, state: CheckState::Missing, detail: detail.to_owned(), remedy: remedy.to_owned() }
    }

    pub(super) fn absent(name: &'static str, detail: &str, remedy: &str) -> Self {
        Self { name, state: CheckState::Absent, detail: detail.to_owned(), remedy: remedy.to_owned() }
    }

    pub fn to_json(&self) -> Value {
        let state = match self.state {
            CheckState::Ok => "ok",
            CheckState::Broken => "broken",
            CheckState::Missing => "missing",
            CheckState::Absent => "absent",
        };
        json!({"name": self.name, "state": state, "detail": self.detail, "remedy": self.remedy})
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.state {
            CheckState::Ok => '✓',
            CheckState::Broken | CheckState::Missing => '✗',
            CheckState::Absent => '-',
        };
        write!(f, "{sign} {:<12} {}", self.name, self.detail)?;
        if self.remedy.is_empty() { Ok(()) } else { write!(f, " ({})", self.remedy) }
    }
}

pub(super) async fn all(launch: &Launch, open: &OpenProject, runtime: &Runtime) -> Vec<Check> {
    let mut checks = model(launch, open, runtime).await;
    checks.push(javascript(&runtime.host).await);
    let path = runtime.host.get(environment::PATH).unwrap_or_default();
    let found = |name: &'static str, programs: &[&str], remedy: &str| match programs
        .iter()
        .find_map(|program| find_in_path(path, program))
    {
        Some(file) => Check::ok(name, &file.display().to_string()),
        None => Check::absent(name, "not found", remedy),
    };
    checks.push(found("python", &["python3", "python"], "needed by Python functions of a MassGen configuration only"));
    checks.push(found("bwrap", &["bwrap"], "install bubblewrap to keep behavioural tests from changing the project"));
    checks
}

/// Model, credential and endpoint; the later ones only where the earlier are known.
async fn model(launch: &Launch, open: &OpenProject, runtime: &Runtime) -> Vec<Check> {
    let wanted = launch.options.model.as_deref();
    let chosen = match model_choice::model(launch, open, wanted, &runtime.settings, &runtime.operators) {
        Ok(chosen) => chosen,
        Err(failure) => {
            return vec![Check::broken("model", &failure.message, failure.hint.as_deref().unwrap_or_default())];
        }
    };
    let made = chosen.choice.and_then(|choice| Model::new(choice, chosen.setup));
    let model = match made {
        Ok(model) => model,
        Err(failure) => {
            let missing = Check::missing("model", &failure.message, CREDENTIALS);
            return vec![missing, local_servers::check(&runtime.host, None).await];
        }
    };
    let choice = &model.choice;
    let provider = choice.provider.as_str();
    let mut checks = vec![Check::ok("model", &format!("{} as {:?} of {provider}", choice.model_id, choice.wire_model))];
    checks.push(match model.credential_class() {
        CredentialKind::None => Check::missing("credential", "none", CREDENTIALS),
        class => Check::ok("credential", class.as_str()),
    });
    checks.push(endpoint(choice.provider, &runtime.host).await);
    let in_use = Endpoint::of(choice.provider, &runtime.host).ok();
    checks.push(local_servers::check(&runtime.host, in_use.as_ref()).await);
    checks
}

const CREDENTIALS: &str = "export ANTHROPIC_API_KEY; or OPENAI_BASE_URL and OPENAI_API_KEY, for --model gpt_4o; \
    or start LM Studio and export LM_STUDIO_MODEL, for --model lm_studio_server_routed";

/// The variable that names another endpoint than the provider's own.
fn named_by(provider: ProviderName) -> Variable {
    match provider {
        ProviderName::ClaudeCodeSubscription => environment::ANTHROPIC_BASE_URL,
        ProviderName::OpenaiCompatible => environment::OPENAI_BASE_URL,
        ProviderName::LmStudioLocal => environment::LM_STUDIO_BASE_URL,
    }
}

async fn endpoint(provider: ProviderName, env: &Env) -> Check {
    const NAME: &str = "endpoint";
    let variable = named_by(provider);
    let endpoint = match Endpoint::of(provider, env) {
        Ok(endpoint) => endpoint,
        Err(error) => return Check::broken(NAME, &error.to_string(), &format!("set {variable}")),
    };
    let shown = endpoint.shown();
    if env.non_empty(variable).is_none() && provider != ProviderName::LmStudioLocal {
        return Check::absent(NAME, &format!("{shown} was not contacted"), "");
    }
    let limits = HttpLimits { connect: ANSWER, read_timeout: ANSWER };
    let asked = match http::client(&endpoint, limits) {
        Ok(client) => tokio::time::timeout(ANSWER, client.head(&shown).send()).await,
        Err(error) => return Check::broken(NAME, &error.to_string(), &format!("check {variable}")),
    };
    let remedy = format!("start it, or check {variable}");
    match asked {
        Ok(Ok(_)) => Check::ok(NAME, &format!("{shown} answers")),
        Ok(Err(error)) => Check::broken(NAME, &format!("{shown}: {}", http::describe_error(error)), &remedy),
        Err(_) => Check::broken(NAME, &format!("{shown} did not answer within {} s", ANSWER.as_secs()), &remedy),
    }
}

async fn javascript(env: &Env) -> Check {
    const NAME: &str = "javascript";
    let wanted = RuntimeChoice::parse(env.get(environment::ONA_JS_RUNTIME));
    match (find_runtime(&wanted, env).await, wanted) {
        (_, RuntimeChoice::Embedded) => Check::ok(NAME, "the engine inside ona (ONA_JS_RUNTIME=embedded)"),
        (Ok(runtime), _) => Check::ok(NAME, &runtime.program.display().to_string()),
        (Err(why), RuntimeChoice::Runtime(_)) => Check::broken(NAME, &why, "install it, or unset ONA_JS_RUNTIME"),
        (Err(_), RuntimeChoice::ByNeed) => {
            Check::absent(NAME, "no bun, node or deno", "needed by hook modules that import packages only")
        }
    }
}
