//! The object `sdlc`: planning, behavioural tests and the project's public interface.

use crate::problem::SettingsProblem;
use ona_api::Ruling;
use serde_json::Value;
use std::time::Duration;

/// Maximum number of seconds a behavioural test may take.
const LONGEST: u64 = 24 * 3600;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SdlcSettings {
    pub planning: Planning,
    /// What is wrong with `sdlc.planning`, a sentence each.
    pub planning_problems: Vec<String>,
    /// Paths relative to the project that tests may write to, as they are written.
    pub build_outputs: Result<Vec<String>, SettingsProblem>,
    pub test_timeout: Result<Option<Duration>, SettingsProblem>,
    pub public_api: Result<PublicApi, BadDeclaration>,
}

impl SdlcSettings {
    pub(crate) fn read(sdlc: &Value) -> Self {
        let (planning, planning_problems) = Planning::read(&sdlc["planning"]);
        Self {
            planning,
            planning_problems,
            build_outputs: build_outputs(&sdlc["buildOutputs"]),
            test_timeout: test_timeout(&sdlc["testTimeoutSeconds"]),
            public_api: PublicApi::read(&sdlc["publicApi"]),
        }
    }

    /// Returns the problem of an entry of `buildOutputs` that is not a path inside the project.
    pub fn bad_build_output(entry: &Value) -> SettingsProblem {
        let message = format_args!(
            "the setting sdlc.buildOutputs must be a list of paths inside the project, and {entry} is not one"
        );
        SettingsProblem::new("sdlc.buildOutputs", message)
    }
}

fn build_outputs(value: &Value) -> Result<Vec<String>, SettingsProblem> {
    let path = |entry: &Value| crate::text(entry).ok_or_else(|| SdlcSettings::bad_build_output(entry));
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(entries) => entries.iter().map(path).collect(),
        other => Err(SdlcSettings::bad_build_output(other)),
    }
}

fn test_timeout(value: &Value) -> Result<Option<Duration>, SettingsProblem> {
    match (value, value.as_u64()) {
        (Value::Null, _) => Ok(None),
        (_, Some(seconds @ 1..=LONGEST)) => Ok(Some(Duration::from_secs(seconds))),
        (other, _) => {
            let message =
                format_args!("the setting sdlc.testTimeoutSeconds must be a number from 1 to {LONGEST}, not {other}");
            Err(SettingsProblem::new("sdlc.testTimeoutSeconds", message))
        }
    }
}

/// What `sdlc.planning` says about the planning phase (DEC-186).
///
/// The planning gate (section 8.3) is not configurable and not decided here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Planning {
    /// The ruling for an MCP tool without `readOnlyHint` while planning, as if a rule of that list
    /// matched it. `None`: only the rules count.
    pub mcp: Option<Ruling>,
    pub tasks: TasksWhilePlanning,
}

/// What happens to background tasks that still run when planning begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TasksWhilePlanning {
    #[default]
    Listed,
    Stopped,
}

impl Planning {
    /// The strings say what is wrong. A value that cannot be read asks.
    fn read(planning: &Value) -> (Self, Vec<String>) {
        let mut wrong = Vec::new();
        if !planning.is_null() && !planning.is_object() {
            wrong.push(format!("sdlc.planning must be an object, not {planning}; MCP tools ask while planning"));
            return (Self { mcp: Some(Ruling::Ask), ..Self::default() }, wrong);
        }
        let mcp = match &planning["mcp"] {
            Value::Null => None,
            Value::String(word) if word == "allow" => None,
            Value::String(word) if word == "ask" => Some(Ruling::Ask),
            Value::String(word) if word == "deny" => Some(Ruling::Deny),
            other => {
                wrong.push(format!(
                    "sdlc.planning.mcp must be \"ask\", \"deny\" or \"allow\", not {other}; \"ask\" is used"
                ));
                Some(Ruling::Ask)
            }
        };
        let tasks = match &planning["tasks"] {
            Value::Null => TasksWhilePlanning::Listed,
            Value::String(word) if word == "stop" => TasksWhilePlanning::Stopped,
            other => {
                wrong.push(format!(
                    "sdlc.planning.tasks must be \"stop\" or absent, not {other}; tasks are listed only"
                ));
                TasksWhilePlanning::Listed
            }
        };
        let unknown = |key: &&String| !matches!(key.as_str(), "mcp" | "tasks");
        let unknown = planning.as_object().into_iter().flat_map(serde_json::Map::keys).filter(unknown);
        wrong.extend(unknown.map(|key| format!("sdlc.planning has the unknown key {key:?}; known are mcp and tasks")));
        (Self { mcp, tasks }, wrong)
    }

    /// Returns the entry of a deny or ask list that the setting stands for.
    pub fn rule(ruling: Ruling) -> String {
        format!("sdlc.planning.mcp: {}", ruling.as_str())
    }
}

/// What the operator declared as the project's public interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PublicApi {
    /// Commands whose output is shown to a test generator.
    pub commands: Vec<String>,
    /// Files that are shown to it.
    pub files: Vec<String>,
    /// Programs that a test may call.
    pub entry_points: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadDeclaration {
    #[error("the setting sdlc.publicApi must be an object, not {0}")]
    NoObject(String),
    #[error("the setting sdlc.publicApi has commands, files and entryPoints, but no {0:?}")]
    UnknownKey(String),
    #[error("the setting sdlc.publicApi.{0} must be a list of texts")]
    NoTexts(&'static str),
}

impl PublicApi {
    fn read(value: &Value) -> Result<Self, BadDeclaration> {
        let mut declared = Self::default();
        let fields = match value {
            Value::Null => return Ok(declared),
            Value::Object(fields) => fields,
            other => return Err(BadDeclaration::NoObject(other.to_string())),
        };
        for (key, value) in fields {
            let (name, list) = match key.as_str() {
                "commands" => ("commands", &mut declared.commands),
                "files" => ("files", &mut declared.files),
                "entryPoints" => ("entryPoints", &mut declared.entry_points),
                other => return Err(BadDeclaration::UnknownKey(other.to_owned())),
            };
            *list = non_blank(value).ok_or(BadDeclaration::NoTexts(name))?;
        }
        Ok(declared)
    }
}

fn non_blank(value: &Value) -> Option<Vec<String>> {
    let text = |value: &Value| value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned);
    value.as_array()?.iter().map(text).collect()
}
