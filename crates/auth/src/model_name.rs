//! What people and programs call a model: ids, aliases and the providers' own names (DEC-190).
//!
//! The stored enum stays closed (section 2.2). A name outside it is not a new id: the run works with
//! the default id of a provider and sends the name in place of the id's own.

use crate::ModelConfigError;
use crate::model::{excerpt, known};
use ona_api::model::{MODELS, ProviderName};
use ona_api::{Env, Variable, environment};
use serde_json::{Value, json};

/// A model as it was named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedModel {
    pub provider: ProviderName,
    pub model_id: &'static str,
    /// What is sent in place of the id's own name.
    pub wire: Option<String>,
}

impl NamedModel {
    /// Returns the `model_config`, which never holds the other name.
    pub fn config(&self) -> Value {
        json!({"provider": self.provider.as_str(), "model_id": self.model_id})
    }
}

/// The aliases, what each means, and the variable that gives it another name on the wire.
const ALIASES: [(&str, &str, Variable); 3] = [
    ("opus", "claude_opus_4", environment::ANTHROPIC_DEFAULT_OPUS_MODEL),
    ("sonnet", "claude_sonnet_4", environment::ANTHROPIC_DEFAULT_SONNET_MODEL),
    ("haiku", "claude_3_5_haiku", environment::ANTHROPIC_DEFAULT_HAIKU_MODEL),
];

/// The words before a slash, and the id that a name of that provider stands on.
const PREFIXES: [(&str, ProviderName, &str); 3] = [
    ("anthropic", ProviderName::ClaudeCodeSubscription, "claude_sonnet_4"),
    ("openai", ProviderName::OpenaiCompatible, "gpt_4o"),
    ("local", ProviderName::LmStudioLocal, "lm_studio_server_routed"),
];

/// How many changes of a letter still look like a mistyped id.
const NEAR: usize = 2;

/// Longer than any name a provider gives a model.
const LONGEST_NAME: usize = 200;

/// Returns the model of this name. `in_use` is the provider that would be asked otherwise: a gateway
/// of the operator knows its own names.
pub fn named_model(name: &str, in_use: ProviderName, env: &Env) -> Result<NamedModel, ModelConfigError> {
    let unknown = || ModelConfigError::UnknownModelName { name: excerpt(name), nearest: near(name) };
    if let Some(found) = spoken(name, env) {
        return Ok(found);
    }
    if name.is_empty() || name.len() > LONGEST_NAME || name.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(unknown());
    }
    let prefix = name.split_once('/').and_then(|(word, rest)| {
        PREFIXES.iter().find(|(prefix, ..)| *prefix == word).map(|(_, provider, _)| (*provider, rest))
    });
    match prefix {
        Some((_, "")) => Err(unknown()),
        Some((provider, rest)) => Ok(of_provider(rest, provider, env)),
        None => match family(name) {
            Some(provider) => Ok(of_provider(name, provider, env)),
            None if is_gateway(in_use, env) && near(name).is_none() => Ok(of_provider(name, in_use, env)),
            None => Err(unknown()),
        },
    }
}

/// Returns the model that a provider's own variable names (ANTHROPIC_MODEL, OPENAI_MODEL), which
/// may be any name of that provider.
pub fn model_of_environment(provider: ProviderName, env: &Env) -> Option<(Variable, NamedModel)> {
    let variable = match provider {
        ProviderName::ClaudeCodeSubscription => environment::ANTHROPIC_MODEL,
        ProviderName::OpenaiCompatible => environment::OPENAI_MODEL,
        ProviderName::LmStudioLocal => return None,
    };
    let name = env.non_empty(variable)?.trim();
    let name = name.split_once('/').map_or(name, |(word, rest)| match PREFIXES.iter().find(|(one, ..)| *one == word) {
        Some((_, of, _)) if *of == provider && !rest.is_empty() => rest,
        _ => name,
    });
    Some((variable, of_provider(name, provider, env)))
}

/// An id or an alias.
fn spoken(name: &str, env: &Env) -> Option<NamedModel> {
    if let Some((model_id, provider, _)) = known(name) {
        return Some(NamedModel { provider: *provider, model_id, wire: None });
    }
    let (_, model_id, variable) = ALIASES.iter().find(|(alias, ..)| *alias == name)?;
    let wire = env.non_empty(*variable).map(|name| name.trim().to_owned());
    Some(NamedModel { provider: ProviderName::ClaudeCodeSubscription, model_id, wire })
}

/// A name of a provider: one of its ids or aliases, the wire name of an id, or any other.
fn of_provider(name: &str, provider: ProviderName, env: &Env) -> NamedModel {
    if let Some(found) = spoken(name, env).filter(|found| found.provider == provider) {
        return found;
    }
    if let Some((model_id, ..)) = MODELS.iter().find(|(_, of, wire)| *of == provider && *wire == Some(name)) {
        return NamedModel { provider, model_id, wire: None };
    }
    let (.., model_id) = PREFIXES.iter().find(|(_, of, _)| *of == provider).expect("every provider has a prefix");
    NamedModel { provider, model_id, wire: Some(name.to_owned()) }
}

/// The provider whose models have such names.
fn family(name: &str) -> Option<ProviderName> {
    let openai = name.strip_prefix('o').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        || ["gpt-", "chatgpt-"].iter().any(|prefix| name.starts_with(prefix));
    match () {
        () if name.starts_with("claude-") => Some(ProviderName::ClaudeCodeSubscription),
        () if openai => Some(ProviderName::OpenaiCompatible),
        () => None,
    }
}

/// Whether requests to a provider go to an address that the operator chose, and that is not the vendor's.
fn is_gateway(provider: ProviderName, env: &Env) -> bool {
    let (variable, vendor) = match provider {
        ProviderName::ClaudeCodeSubscription => (environment::ANTHROPIC_BASE_URL, "api.anthropic.com"),
        ProviderName::OpenaiCompatible => (environment::OPENAI_BASE_URL, "api.openai.com"),
        ProviderName::LmStudioLocal => (environment::LM_STUDIO_BASE_URL, ""),
    };
    let url = env.non_empty(variable).and_then(|text| reqwest::Url::parse(text.trim()).ok());
    url.is_some_and(|url| url.host_str().is_some_and(|host| host != vendor))
}

/// The id that was probably meant.
fn near(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let measured = MODELS.iter().map(|(id, ..)| (edits(&name, id), *id));
    measured.filter(|(distance, _)| *distance <= NEAR).min_by_key(|(distance, _)| *distance).map(|(_, id)| id)
}

/// Insertions, removals and replacements that turn one into the other.
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

/// `wireModels` of the settings: the name that is sent for an id, lastingly.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WireModels(Vec<(&'static str, String)>);

impl WireModels {
    pub fn read(setting: &Value) -> Result<Self, ModelConfigError> {
        let entries = match setting {
            Value::Null => return Ok(Self::default()),
            Value::Object(entries) => entries,
            _ => return Err(ModelConfigError::BadWireModels("it must be an object of model ids and names".into())),
        };
        let read = |(id, name): (&String, &Value)| {
            let bad = |why: String| Err(ModelConfigError::BadWireModels(why));
            let Some((known, ..)) = known(id) else {
                let nearest = near(id).map(|id| format!("; did you mean {id}?")).unwrap_or_default();
                return bad(format!("{} is not a model id{nearest}", excerpt(id)));
            };
            match name.as_str().map(str::trim).filter(|name| !name.is_empty()) {
                Some(name) => Ok((*known, name.to_owned())),
                None => bad(format!("the name for {id} must be a non-empty string")),
            }
        };
        entries.iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    pub(crate) fn of(&self, model_id: &str) -> Option<&str> {
        self.0.iter().find(|(id, _)| *id == model_id).map(|(_, name)| name.as_str())
    }
}
