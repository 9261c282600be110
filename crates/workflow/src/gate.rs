//! The planning gate (section 8.3), which no hook, rule or mode can open.

use ona_api::{Authority, Phase, Ruling, Verdict};

/// Tools that change things; denied while planning without an approved plan.
pub const GATED_TOOLS: [&str; 4] = ["Write", "Edit", "Bash", "NotebookEdit"];

/// Returns the denial, if the gate is closed for this tool. Nothing overrides it: no
/// allow rule, no mode, no hook.
pub fn planning_gate(phase: Phase, has_approved_plan: bool, tool: &str) -> Option<Verdict> {
    let closed = phase == Phase::Planning && !has_approved_plan && GATED_TOOLS.contains(&tool);
    closed.then(|| {
        Verdict::new(Ruling::Deny, Authority::PlanningGate, "Denied: phase is planning and no approved plan exists")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ona_api::tool::BUILTINS;

    #[test]
    fn the_gate_closes_for_four_tools_while_planning_without_an_approved_plan() {
        let denied: Vec<_> =
            BUILTINS.iter().filter(|tool| planning_gate(Phase::Planning, false, tool).is_some()).collect();
        assert_eq!(denied, [&"Write", &"Edit", &"NotebookEdit", &"Bash"]);
        assert_eq!(planning_gate(Phase::Planning, true, "Write"), None);
        assert!(
            Phase::ALL.iter().filter(|phase| planning_gate(**phase, false, "Bash").is_some()).eq([&Phase::Planning])
        );
        assert_eq!(planning_gate(Phase::Planning, false, "mcp__x__Write"), None);
    }
}
