//! Holds the parameters that permission rules can name against the schemas of the tools.

use crate::plan_mode::{EnterPlanMode, ExitPlanMode};
use crate::subagent::AgentInput;
use crate::todos::TodoWrite;
use ona_mcp::{ListMcpResources, ReadMcpResource};
use ona_permissions::rule_parameters;
use ona_tools::{Tool, ToolBox, ToolSearchTool, schema};
use ona_web::{WebFetchTool, WebSearchTool};
use serde_json::Value;

/// Parameters that rules written for other programs name and this one does not offer.
const ELSEWHERE: [(&str, &[&str]); 2] = [("Agent", &["name", "effort", "mode"]), ("TaskStop", &["shell_id"])];

fn of<T: Tool>() -> (String, Value) {
    (T::NAME.to_owned(), schema::<T::Input>())
}

/// Returns the parameters that hold one value.
fn scalars(schema: &Value) -> Vec<&str> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let is_scalar = |schema: &Value| !matches!(schema["type"].as_str(), Some("array" | "object"));
    properties.filter(|(_, schema)| is_scalar(schema)).map(|(name, _)| name.as_str()).collect()
}

#[test]
fn rules_can_name_the_parameters_of_every_built_in_tool() {
    let builtin = ToolBox::builtin().specs().into_iter().map(|spec| (spec.name, spec.input_schema));
    let others = [
        ("Agent".to_owned(), schema::<AgentInput>()),
        of::<EnterPlanMode>(),
        of::<ExitPlanMode>(),
        of::<ListMcpResources>(),
        of::<ReadMcpResource>(),
        of::<TodoWrite>(),
        of::<ToolSearchTool>(),
        of::<WebFetchTool>(),
        of::<WebSearchTool>(),
    ];
    for (tool, schema) in builtin.chain(others) {
        let elsewhere = ELSEWHERE.iter().find(|(name, _)| *name == tool).map_or(&[][..], |(_, names)| names);
        let mut expected = [scalars(&schema), elsewhere.to_vec()].concat();
        let mut known = rule_parameters(&tool).to_vec();
        expected.sort_unstable();
        known.sort_unstable();
        assert_eq!(known, expected, "{tool}");
    }
}
