//! Which model a run asks, and with what it could sign (section 2.4, DEC-082).

use crate::environments::operator_environment;
use crate::failure::Failure;
use crate::launch::{Launch, OpenProject, Purpose, nowhere};
use ona_api::model::{ModelFailure, ProviderName};
use ona_api::{Env, Group, Row, Variable, environment};
use ona_auth::{
    ApiKeyHelper, CredentialKind, CredentialSources, ModelChoice, ModelConfigError, WireModels, default_model_config,
    inherited_token, model_of_environment, resolve_model, resolve_named,
};
use ona_orchestration::{ContextWindow, ModelSetup};
use ona_settings::{Settings, keys};
use serde_json::{Value, json};

pub struct Chosen {
    /// The model, or why none can be asked: a turn that fails before it begins (section 2.4).
    pub choice: Result<ModelChoice, ModelFailure>,
    pub setup: ModelSetup,
    /// What the settings do not say yet, for the first turn to write down (DEC-082).
    pub fresh: Option<Value>,
}

/// `env` is the process environment with the settings' own over it; `wanted` is a model that was
/// named for this run.
pub fn model(
    launch: &Launch,
    open: &OpenProject,
    wanted: Option<&str>,
    settings: &Settings,
    env: &Env,
) -> Result<Chosen, Failure> {
    let mut setup = setup(launch, open, settings, env)?;
    let usual = default_model_config(env, setup.anthropic_available());
    let in_use = |config: &Value| ProviderName::from_text(config["provider"].as_str()?);
    let mut fresh = None;
    let resolved = match (wanted, settings.model_config.as_ref()) {
        (Some(name), configured) => {
            let provider = in_use(configured.unwrap_or(&usual)).unwrap_or(ProviderName::ClaudeCodeSubscription);
            let named = ona_auth::named_model(name, provider, env).map_err(|unknown| unknown_name(name, unknown))?;
            if let (ProviderName::LmStudioLocal, Some(wire)) = (named.provider, &named.wire) {
                setup.env = setup.env.with(environment::LM_STUDIO_MODEL, wire);
            }
            resolve_named(&named, env, &setup.wire_models)
        }
        (None, Some(config)) => {
            mention_unused(launch, config, env);
            resolve_model(config, env, &setup.wire_models)
        }
        (None, None) => match in_use(&usual).and_then(|provider| model_of_environment(provider, env)) {
            // Nothing is written down: the variable would not count any more.
            Some((_, named)) => resolve_named(&named, env, &setup.wire_models),
            None => {
                // The agent's own shell writes no settings, and a provider that nothing speaks for is not a choice:
                // written down, it would outlast the moment a credential for another one is there.
                let by_want_of_any =
                    usual["provider"] == ProviderName::ClaudeCodeSubscription.as_str() && !setup.anthropic_available();
                if !launch.agent_shell && !by_want_of_any {
                    fresh = Some(usual.clone());
                }
                match by_want_of_any && env.non_empty(environment::OPENAI_API_KEY).is_some() {
                    // The only key there is lacks its endpoint (section 2.3).
                    true => Err(ModelConfigError::MissingVariable(environment::OPENAI_BASE_URL)),
                    false => resolve_model(&usual, env, &setup.wire_models),
                }
            }
        },
    };
    let choice = match resolved {
        Ok(choice) => {
            mention_socket(launch, &choice, env);
            Ok(choice)
        }
        Err(missing @ ModelConfigError::MissingVariable(_)) => Err(ModelFailure::from(missing)),
        Err(wrong) => return Err(Failure::usage(wrong)),
    };
    Ok(Chosen { choice, setup, fresh })
}

/// A variable that names a model counts only while the settings name none.
fn mention_unused(launch: &Launch, config: &Value, env: &Env) {
    let provider = config["provider"].as_str().and_then(ProviderName::from_text);
    let Some((variable, named)) = provider.and_then(|provider| model_of_environment(provider, env)) else { return };
    if named.wire.is_some() || named.config() != *config {
        launch.say_once(
            "model variable",
            &format!(
                "ona: {variable} is not used: the settings name the model {}; --model NAME is for one run",
                config["model_id"].as_str().unwrap_or_default()
            ),
        );
    }
}

fn unknown_name(name: &str, unknown: ModelConfigError) -> Failure {
    let plain = name.len() <= 100 && !name.chars().any(|c| c.is_whitespace() || c.is_control()) && !name.is_empty();
    let name = if plain { name } else { "NAME" };
    Failure::usage(unknown).hint(format!(
        "to send a name as it is: --model anthropic/{name}, --model openai/{name} or --model local/{name}"
    ))
}

fn setup(launch: &Launch, open: &OpenProject, settings: &Settings, env: &Env) -> Result<ModelSetup, Failure> {
    let helper = settings
        .api_key_helper
        .as_deref()
        .map(|command| ApiKeyHelper::new(command, launch.project.clone(), env.clone()));
    Ok(ModelSetup {
        env: env.clone(),
        bare: launch.options.bare,
        helper,
        handed: inherited_token(env),
        login: launch.login(),
        redactor: open.redactor.clone(),
        window: window(settings, env)?,
        info: settings.model_info.clone().map_err(Failure::usage)?,
        wire_models: WireModels::read(&settings.wire_models).map_err(Failure::usage)?,
        timeouts: settings.model_timeouts.clone().map_err(Failure::usage)?,
    })
}

/// Returns what would sign a request to Anthropic if a session started now. Runs nothing.
pub fn anthropic_source(launch: &Launch) -> Result<CredentialKind, Failure> {
    let open = launch.look()?;
    let settings = launch.effective(&open, Purpose::Look)?;
    let env = operator_environment(launch, &open, &settings);
    Ok(setup(launch, &open, &settings, &env)?.anthropic_source())
}

/// The same as far as the environment and the stored login tell.
pub fn anthropic_source_of_environment(launch: &Launch) -> CredentialKind {
    let (handed, login) = (inherited_token(&launch.env), launch.login());
    let sources = CredentialSources::new(&launch.env);
    let bare = launch.options.bare;
    CredentialSources { bare, inherited: handed.as_ref(), stored: login.as_deref(), ..sources }.kind()
}

/// A launcher that hands requests to a proxy of its own must not believe that it sees them.
fn mention_socket(launch: &Launch, choice: &ModelChoice, env: &Env) {
    let unused = choice.provider == ProviderName::ClaudeCodeSubscription
        && env.non_empty(environment::ANTHROPIC_UNIX_SOCKET).is_some();
    if unused {
        launch.say_once(
            "socket",
            "ona: ANTHROPIC_UNIX_SOCKET is not supported and not used; name an endpoint with ANTHROPIC_BASE_URL",
        );
    }
}

/// When a conversation is compacted unasked (DEC-035), as the settings have it.
fn window(settings: &Settings, env: &Env) -> Result<ContextWindow, Failure> {
    if !settings.compaction.enabled || env.get(environment::DISABLE_AUTO_COMPACT) == Some("1") {
        return Ok(ContextWindow::Unlimited);
    }
    match &settings.compaction.window {
        Ok(None) => Ok(ContextWindow::FromModel),
        Ok(Some(tokens)) => Ok(ContextWindow::Tokens(*tokens)),
        Err(problem) => Err(Failure::usage(problem)),
    }
}

/// Variables that bring a credential for Anthropic, or say where one is handed over.
const ANTHROPIC_CREDENTIALS: [Variable; 4] = [
    environment::ANTHROPIC_API_KEY,
    environment::ANTHROPIC_AUTH_TOKEN,
    environment::CLAUDE_CODE_OAUTH_TOKEN,
    environment::CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR,
];

/// Whether anybody could be asked without a person doing something first. Runs nothing and asks nobody.
pub fn can_be_asked(launch: &Launch, settings: &Settings) -> bool {
    let env = &launch.env;
    let openai = env.non_empty(environment::OPENAI_API_KEY).is_some();
    let anthropic = settings.api_key_helper.is_some()
        || ANTHROPIC_CREDENTIALS.iter().any(|variable| env.non_empty(*variable).is_some())
        || launch.login().is_some();
    let provider = settings.model_config.as_ref().and_then(|config| config["provider"].as_str());
    match provider.and_then(ProviderName::from_text) {
        Some(ProviderName::ClaudeCodeSubscription) => anthropic,
        Some(ProviderName::OpenaiCompatible) => openai,
        Some(ProviderName::LmStudioLocal) => true,
        None => anthropic || openai,
    }
}

/// The snapshot is the supplier, so the first choice becomes part of it.
pub fn remember(launch: &Launch, open: &OpenProject, config: &Value) -> Result<(), Failure> {
    change_row(launch, open, |row| row[keys::MODEL_CONFIG] = config.clone())
}

/// Takes a choice back that a run added and no model confirmed by a reply (DEC-190). What was written
/// since by others stays.
pub fn take_back(launch: &Launch, open: &OpenProject, config: &Value) -> Result<(), Failure> {
    change_row(launch, open, |row| {
        if row.get(keys::MODEL_CONFIG) == Some(config)
            && let Some(fields) = row.as_object_mut()
        {
            fields.shift_remove(keys::MODEL_CONFIG);
        }
    })
}

fn change_row(launch: &Launch, open: &OpenProject, change: impl FnOnce(&mut Value)) -> Result<(), Failure> {
    let failed = |error| launch.store_failure(error);
    let row = open.store.reader().and_then(|reader| reader.settings()).map_err(failed)?;
    let mut row: Value = row.and_then(|(json, _)| serde_json::from_str(&json).ok()).unwrap_or_else(|| json!({}));
    let before = row.clone();
    change(&mut row);
    if row == before {
        return Ok(());
    }
    open.store.commit_now(&nowhere(), Group(vec![Row::Settings(row)])).map(drop).map_err(failed)
}
