//! One hook event as it was typed, checked against its contract (Appendix A).

use ona_api::event::BASE_FIELDS;
use ona_api::{Access, EventName, Mode};
use ona_hookplane::{Base, Firing, contract};
use ona_orchestration::Session;
use ona_runtime::Failure;
use ona_tools::ToolBox;
use serde_json::{Map, Value};

/// Returns the firing of this event in a session.
pub fn firing(asked: &EventInput, session: &mut Session, tools: &ToolBox) -> Result<Firing, Failure> {
    session.agent_id = asked.text("agent_id").map(str::to_owned);
    session.agent_type = asked.text("agent_type").map(str::to_owned);
    let mut base: Base = session.base();
    if let Some(mode) = asked.text("permission_mode") {
        base.mode = Some(mode.parse::<Mode>().map_err(Failure::usage)?);
    }
    let tool = asked.fields.get("tool_name").and_then(Value::as_str).and_then(|name| tools.get(name));
    let cx = session.cx.clone();
    let mut firing = Firing::new(asked.event, base, Value::Object(asked.fields.clone())).with_access(move |input| {
        let plan = tool.clone().and_then(|tool| tool.plan(input, &cx).ok());
        plan.map_or_else(|| stated_access(input), |plan| plan.access)
    });
    if contract::of(asked.event).env_file {
        firing.env_file = session.env_file.path().map(ToOwned::to_owned);
    }
    Ok(firing)
}

/// What the input of an unknown tool says about its access.
fn stated_access(input: &Value) -> Vec<Access> {
    input["url"].as_str().map(|url| Access::Fetch { url: url.to_owned() }).into_iter().collect()
}

/// One event as it was typed.
pub struct EventInput {
    pub event: EventName,
    base: Map<String, Value>,
    fields: Map<String, Value>,
}

impl EventInput {
    /// Returns a base field.
    pub fn base_text(&self, name: &str) -> Option<&str> {
        self.base.get(name).and_then(Value::as_str)
    }

    /// Returns a base field, or the event's own field of the same name.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.base.get(name).or(self.fields.get(name)).and_then(Value::as_str)
    }
}

const SHAPE: &str = r#"ona --fire-hook '{"hook_event_name":"SessionStart","source":"startup"}'"#;

pub fn parse(text: &str) -> Result<EventInput, Failure> {
    let mut object: Map<String, Value> = serde_json::from_str(text)
        .map_err(|error| Failure::usage(format_args!("the event is not a JSON object: {error}")).hint(SHAPE))?;
    let wrong = |what: String| Failure::usage(what).hint(SHAPE);
    let name = object.get("hook_event_name").and_then(Value::as_str);
    let name = name.ok_or_else(|| wrong("the field \"hook_event_name\" is missing".into()))?;
    let event = name.parse::<EventName>().map_err(|unknown| wrong(unknown.to_string()))?;
    event.check(&object).map_err(|bad| wrong(format!("{event}: {bad}")))?;
    if event == EventName::SubagentStop {
        // A transcript file does not exist; the field is always sent empty (DEC-062).
        object.insert("agent_transcript_path".into(), "".into());
    }
    let (mut base, mut fields) = (Map::new(), Map::new());
    for (key, value) in &object {
        let is_base = BASE_FIELDS.iter().any(|field| field.name == key);
        if is_base && !value.is_string() {
            return Err(wrong(format!("{event}: the field {key:?} must be a string")));
        }
        if is_base {
            base.insert(key.clone(), value.clone());
        } else if !event.fields().iter().any(|field| field.name == key) {
            return Err(wrong(format!("{event} has no field {key:?}")));
        }
    }
    // In the order of Appendix A, whatever order they were typed in.
    for field in event.fields() {
        if let Some(value) = object.get(field.name) {
            fields.insert(field.name.to_owned(), value.clone());
        }
    }
    Ok(EventInput { event, base, fields })
}
