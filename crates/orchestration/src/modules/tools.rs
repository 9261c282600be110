//! Tools of modules, on the one path of a call.
//!
//! A module's tool is a tool like any other: its input is checked against its schema, hooks and
//! rules judge it, rows tell of it. What it does then cannot be inspected, so the
//! planning gate treats it as it treats a shell.

use ona_api::tool::{Attachment, BUILTINS, canonical};
use ona_api::{Access, ToolResult, ToolSpec};
use ona_modules::rules::tool::presented;
use ona_modules::rules::{Emitter, failure, truthy};
use ona_modules::{CallOutcome, Module, ModuleContext, ModuleRequest, RegisteredTool};
use ona_tools::{AnyTool, BadInput, PlannedCall, ToolBox, ToolContext, validate, with_defaults};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a tool of a module may work.
const LONGEST: Duration = Duration::from_secs(3600);

/// Who has which name, and what of all tools the model is offered.
#[derive(Default)]
pub(super) struct Toolkit(Mutex<Kit>);

#[derive(Default)]
struct Kit {
    /// First come, first served.
    owners: BTreeMap<String, PathBuf>,
    refused: Vec<(PathBuf, String)>,
    /// What the session was equipped with, before and after what limits it.
    seen: BTreeSet<String>,
    specs: Vec<ToolSpec>,
    /// Nothing may be added to what it was equipped with.
    closed: bool,
    /// What modules have chosen, by the names modules know.
    active: Option<BTreeSet<String>>,
}

impl Toolkit {
    /// Why a module cannot have a tool of this name and shape; nothing if it can.
    pub(super) fn register(&self, module: &Path, name: &str, parameters: &Value) -> Option<String> {
        let mut kit = self.lock();
        let why = match kit.owners.get(name) {
            Some(owner) if owner != module => {
                Some(format!("the tool {name} is there already; {} has it", owner.display()))
            }
            _ => unusable(name, parameters),
        };
        match &why {
            Some(why) => kit.refused.push((module.to_owned(), why.clone())),
            None => {
                kit.owners.insert(name.to_owned(), module.to_owned());
            }
        }
        why
    }

    /// Refusals since this was last asked.
    pub(super) fn refused(&self) -> Vec<(PathBuf, String)> {
        std::mem::take(&mut self.lock().refused)
    }

    pub(super) fn choose(&self, names: impl Iterator<Item = String>) {
        self.lock().active = Some(names.collect());
    }

    fn is_active(&self, tool: &str) -> bool {
        self.lock().active.as_ref().is_none_or(|active| active.contains(&known_as(tool)))
    }

    fn lock(&self) -> MutexGuard<'_, Kit> {
        // Every change is one assignment or insertion.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unusable(name: &str, parameters: &Value) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
        return Some(format!("{name:?} cannot name a tool: letters, digits, _ and -, at most 64 of them"));
    }
    if name.starts_with("mcp__") {
        return Some(format!("the tool {name} is refused: names that begin with mcp__ belong to servers"));
    }
    // Modules know the built-in tools in lower case.
    if BUILTINS.iter().any(|builtin| builtin.eq_ignore_ascii_case(name)) || canonical(name) != name {
        return Some(format!("the tool {name} is refused: a built-in tool has this name and cannot be replaced"));
    }
    if parameters["type"] != "object" {
        return Some(format!("the tool {name} is refused: its parameters are not a JSON schema of an object"));
    }
    None
}

fn known_as(tool: &str) -> String {
    presented(tool, &Value::Null).0
}

impl super::Modules {
    /// Adds the tools there are now.
    pub fn equip(&self, tools: &mut ToolBox) {
        for tool in self.tools() {
            tools.add(tool);
        }
        self.host.kit.lock().seen = tools.specs().into_iter().map(|spec| spec.name).collect();
    }

    /// What is left of them, and whether modules may add more.
    pub fn offer(&self, left: &ToolBox, more: bool) {
        let mut kit = self.host.kit.lock();
        kit.specs = left.specs();
        kit.closed = !more;
    }

    fn tools(&self) -> Vec<Arc<dyn AnyTool>> {
        all(&self.emitter)
    }

    /// A tool that was registered after the session began.
    pub(crate) fn added(&self, name: &str) -> Option<Arc<dyn AnyTool>> {
        let kit = self.host.kit.lock();
        if kit.closed || kit.seen.contains(name) {
            return None;
        }
        drop(kit);
        self.tools().into_iter().find(|tool| tool.spec().name == name)
    }

    /// Whether a module has chosen tools among which this one is not.
    pub(crate) fn leaves_out(&self, tool: &str) -> bool {
        !self.host.kit.is_active(tool)
    }

    /// Whether a call of this name runs code of a module.
    pub(crate) fn has_tool(&self, name: &str) -> bool {
        self.emitter.modules().iter().any(|module| module.registry().tools.iter().any(|tool| tool.name == name))
    }

    /// What the model is offered now, if that is not what it was offered at first.
    pub(crate) fn offered(&self, first: &[ToolSpec], may: impl Fn(&str) -> bool) -> Option<Vec<ToolSpec>> {
        let kit = self.host.kit.lock();
        let (closed, seen, chosen) = (kit.closed, kit.seen.clone(), kit.active.is_some());
        drop(kit);
        let mut added = Vec::new();
        if !closed {
            added.extend(self.tools().iter().map(|tool| tool.spec()).filter(|spec| !seen.contains(&spec.name)));
            added.retain(|spec| may(&spec.name) && !first.iter().any(|one| one.name == spec.name));
        }
        if added.is_empty() && !chosen {
            return None;
        }
        let mut all: Vec<_> = first.iter().cloned().chain(added).collect();
        all.retain(|spec| !self.leaves_out(&spec.name));
        Some(all)
    }
}

impl super::SessionHost {
    /// `getAllTools`, in the words of the extension API.
    pub(super) fn all_tools(&self) -> Value {
        let emitter = self.emitter.get().and_then(std::sync::Weak::upgrade);
        let own = emitter.map(|emitter| all(&emitter)).unwrap_or_default();
        let kit = self.kit.lock();
        let mut specs = kit.specs.clone();
        let added = own.iter().map(|tool| tool.spec()).filter(|spec| !kit.closed && !kit.seen.contains(&spec.name));
        specs.extend(added);
        let told = |spec: &ToolSpec| {
            let (name, _) = presented(&spec.name, &Value::Null);
            let source = match kit.owners.get(&spec.name) {
                Some(path) => json!({"path": path, "source": "extension", "scope": "temporary", "origin": "top-level"}),
                None => json!({
                    "path": format!("<builtin:{name}>"), "source": "builtin", "scope": "temporary", "origin": "top-level",
                }),
            };
            json!({
                "name": name, "description": spec.description, "parameters": spec.input_schema, "sourceInfo": source,
            })
        };
        specs.iter().map(told).collect::<Vec<_>>().into()
    }

    pub(super) fn active_tools(&self) -> Value {
        let all = self.all_tools();
        let names = all.as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str());
        names.filter(|name| self.kit.is_active(name)).map(Value::from).collect::<Vec<_>>().into()
    }
}

fn all(emitter: &Arc<Emitter>) -> Vec<Arc<dyn AnyTool>> {
    let mut tools: Vec<Arc<dyn AnyTool>> = Vec::new();
    for module in emitter.modules() {
        for tool in module.registry().tools {
            let (module, emitter) = (Arc::clone(module), Arc::clone(emitter));
            tools.push(Arc::new(ModuleTool { tool, module, emitter }));
        }
    }
    tools
}

struct ModuleTool {
    tool: RegisteredTool,
    module: Arc<Module>,
    emitter: Arc<Emitter>,
}

impl AnyTool for ModuleTool {
    fn spec(&self) -> ToolSpec {
        let RegisteredTool { name, description, parameters, .. } = &self.tool;
        ToolSpec { name: name.clone(), description: description.clone(), input_schema: parameters.clone() }
    }

    fn plan(self: Arc<Self>, input: &Value, _: &ToolContext) -> Result<PlannedCall, BadInput> {
        if !input.is_object() {
            return Err(BadInput::new("the input must be a JSON object"));
        }
        let mut input = input.clone();
        // A tool that makes other shapes fit is checked when it has done so.
        if !self.tool.prepares {
            validate(&self.tool.parameters, &input)?;
            with_defaults(&self.tool.parameters, &mut input);
        }
        let args = input.clone();
        Ok(PlannedCall::new(input, vec![Access::Plain], move |cx| {
            Box::pin(async move {
                let moment = ModuleContext { cwd: cx.cwd.to_string_lossy().into_owned(), ..self.emitter.context() };
                let call = cx.call.as_ref().map(|call| call.0.as_str()).unwrap_or_default();
                let request = ModuleRequest::Tool { name: &self.tool.name, call, args: &args };
                result(self.module.invoke(request, &moment, Some(LONGEST), &cx.cancel).await)
            })
        }))
    }
}

/// What the model reads of what a tool returned.
fn result(answer: CallOutcome) -> ToolResult {
    let value = match answer {
        CallOutcome::Returned(value) => value.unwrap_or_default(),
        CallOutcome::Threw { message, .. } => return ToolResult::rejected(message),
        CallOutcome::Cancelled => return ToolResult::rejected("Interrupted by the operator"),
        ref broken @ (CallOutcome::TimedOut(_) | CallOutcome::Overrun(_) | CallOutcome::Lost(_)) => {
            return ToolResult::internal(failure(broken).unwrap_or_default());
        }
    };
    let content = match &value["content"] {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().filter_map(|one| one["text"].as_str()).collect::<Vec<_>>().join("\n"),
        _ => match &value {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            other => other.to_string(),
        },
    };
    let mut result =
        if truthy(&value["isError"]) { ToolResult::rejected(content) } else { ToolResult::success(content) };
    result.attachments = pictures(&value["content"]);
    match value.get("details").filter(|details| !details.is_null()) {
        Some(details) => result.data(json!({ "details": details })),
        None => result,
    }
}

fn pictures(content: &Value) -> Vec<Attachment> {
    let picture = |block: &Value| {
        (block["type"] == "image").then_some(())?;
        let (media_type, data) = (block["mimeType"].as_str()?.to_owned(), block["data"].as_str()?.to_owned());
        Some(Attachment { kind: "image", media_type, data })
    };
    content.as_array().into_iter().flatten().filter_map(picture).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_belongs_to_the_first_and_never_to_a_module_if_it_is_built_in() {
        let (kit, schema) = (Toolkit::default(), json!({"type": "object"}));
        let (one, other) = (Path::new("/a.ts"), Path::new("/b.ts"));
        assert_eq!(kit.register(one, "greet", &schema), None);
        // A module that was ended and loaded again.
        assert_eq!(kit.register(one, "greet", &schema), None);
        let cases = [
            ("greet", "the tool greet is there already; /a.ts has it"),
            ("bash", "the tool bash is refused: a built-in tool has this name and cannot be replaced"),
            ("Read", "the tool Read is refused: a built-in tool has this name and cannot be replaced"),
            ("Task", "the tool Task is refused: a built-in tool has this name and cannot be replaced"),
            ("mcp__a__b", "the tool mcp__a__b is refused: names that begin with mcp__ belong to servers"),
            ("two words", "\"two words\" cannot name a tool: letters, digits, _ and -, at most 64 of them"),
        ];
        for (name, why) in cases {
            assert_eq!(kit.register(other, name, &schema).as_deref(), Some(why));
        }
        assert!(kit.register(other, "odd", &json!({"type": "string"})).is_some());
        assert_eq!(kit.refused().len(), 7);
    }

    #[test]
    fn results_are_text_pictures_and_details() {
        let returned = |value: Value| result(CallOutcome::Returned(Some(value)));
        let blocks = json!([{"type": "text", "text": "a"}, {"type": "image", "data": "eA==", "mimeType": "image/png"}, {"type": "text", "text": "b"}]);
        let found = returned(json!({"content": blocks, "details": {"n": 1}}));
        let picture = Attachment { kind: "image", media_type: "image/png".into(), data: "eA==".into() };
        assert_eq!((found.content.as_str(), found.is_error(), &found.attachments), ("a\nb", false, &vec![picture]));
        assert_eq!(found.data.get("details"), Some(&json!({"n": 1})));
        assert!(returned(json!({"content": "no", "isError": true})).is_error());
        let threw = result(CallOutcome::Threw { message: "broken".into(), is_error: true });
        assert_eq!((threw.content.as_str(), threw.is_error()), ("broken", true));
        assert_eq!(result(CallOutcome::Returned(None)).content, "");
    }
}
