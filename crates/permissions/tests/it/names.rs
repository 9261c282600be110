//! Names in any case, rules without a meaning, and characters that mislead.

use crate::world::{World, permissions};
use ona_api::{Access, Mode, Ruling};
use ona_permissions::Rules;
use ona_settings::PermissionSettings;
use serde_json::{Value, json};

#[test]
fn a_deny_rule_finds_agents_skills_and_servers_in_any_case() {
    let world = World::new();
    for (rule, tool, input) in [
        ("Agent(Explore)", "Agent", json!({"subagent_type": "explore", "prompt": "x"})),
        ("Agent(explore)", "Agent", json!({"subagent_type": "EXPLORE", "prompt": "x"})),
        ("Task(Explore)", "Agent", json!({"subagent_type": "expLore", "prompt": "x"})),
        ("Skill(Deploy)", "Skill", json!({"skill": "deploy"})),
        ("mcp__Server__tool", "mcp__server__tool", json!({})),
        ("mcp__server__tool", "mcp__Server__Tool", json!({})),
        ("mcp__Server", "mcp__server__tool", json!({})),
        ("mcp__Server__*", "mcp__sErver__tool", json!({})),
        ("mcp__Ser*", "mcp__server__tool", json!({})),
        ("mcp__A__B", "mcp__a__b__c", json!({})),
    ] {
        let allow = [tool];
        let verdict = world.decide(&permissions(Mode::BypassPermissions, &allow, &[rule]), tool, &input);
        assert_eq!(verdict.ruling, Ruling::Deny, "{rule} {tool} {input}");
        let engine = world.engine(&permissions(Mode::Default, &allow, &[rule]));
        assert_eq!(engine.hides_tool(tool), tool.starts_with("mcp__"), "{rule} {tool}");
    }
    // An allow rule means what it says.
    for (rule, tool, input) in [
        ("Agent(Explore)", "Agent", json!({"subagent_type": "explore", "prompt": "x"})),
        ("mcp__Server__tool", "mcp__server__tool", json!({})),
        ("mcp__Server", "mcp__server__tool", json!({})),
    ] {
        assert_eq!(world.decide(&json!({"allow": [rule]}), tool, &input).ruling, Ruling::Ask, "{rule} {tool}");
    }
    let other = json!({"subagent_type": "Explorer", "prompt": "x"});
    assert!(world.decide(&permissions(Mode::Default, &["Agent"], &["Agent(Explore)"]), "Agent", &other).is_allow());
}

#[test]
fn parentheses_on_a_servers_tool_are_dropped_and_never_widened() {
    let world = World::new();
    for rule in ["mcp__s__t(*)", "mcp__s(*)", "mcp__s__*(*)", "mcp__s__t(x y)"] {
        for list in ["allow", "deny"] {
            let (settings, _) = PermissionSettings::parse(&json!({list: [rule]})).unwrap();
            let (_, dropped) = Rules::parse(&settings);
            assert_eq!(dropped.len(), 1, "{list} {rule}");
        }
        assert_eq!(world.decide(&json!({"allow": [rule]}), "mcp__s__t", &json!({})).ruling, Ruling::Ask, "{rule}");
    }
}

#[test]
fn a_path_with_a_nul_character_is_refused() {
    let world = World::new();
    let settings = permissions(Mode::BypassPermissions, &["Read", "Write", "Edit", "Glob", "Grep", "Bash"], &[]);
    let path = format!("{}/f.txt\0.png", world.project.display());
    for (tool, input) in [
        ("Read", json!({"file_path": path})),
        ("Write", json!({"file_path": path, "content": "x"})),
        ("Edit", json!({"file_path": path, "old_string": "a", "new_string": "b"})),
        ("NotebookEdit", json!({"notebook_path": path, "new_source": "x"})),
        ("Glob", json!({"pattern": "*", "path": path})),
        ("Grep", json!({"pattern": "x", "path": path})),
        ("Bash", json!({"command": "cat f.txt\0.png"})),
    ] {
        assert_eq!(world.decide(&settings, tool, &input).ruling, Ruling::Deny, "{tool}");
    }
}

#[test]
fn a_call_that_is_shown_in_another_order_is_asked_about_and_shown_escaped() {
    let world = World::new();
    let allow = ["Bash", "Read", "Write", "Edit", "WebFetch", "mcp__a__b"];
    let ask = |tool: &str, input: &Value| {
        Mode::ALL.map(|mode| (mode, world.decide(&permissions(mode, &allow, &[]), tool, input)))
    };
    for c in ['\u{202e}', '\u{202a}', '\u{2066}', '\u{2069}', '\u{200f}', '\u{61c}'] {
        for (tool, input) in [
            ("Bash", json!({"command": format!("ls {c}f.txt")})),
            ("Read", json!({"file_path": format!("{}/a{c}b", world.project.display())})),
            ("WebFetch", json!({"url": "https://a.test/", "prompt": format!("a{c}b")})),
            ("mcp__a__b", json!({"x": [{"y": format!("a{c}")}]})),
            ("mcp__a__b", json!({format!("k{c}"): 1})),
        ] {
            for (mode, verdict) in ask(tool, &input) {
                let expected = if mode == Mode::DontAsk { Ruling::Deny } else { Ruling::Ask };
                assert_eq!(verdict.ruling, expected, "{tool} {input} in {mode}");
                assert!(!verdict.message.contains(c), "{verdict:?}");
            }
        }
    }
    let script = "ls \u{202e}f.txt";
    let access = [Access::Shell { script: script.into(), cwd: world.project.clone() }];
    let question = world.engine(&json!({})).decide("Bash", &json!({"command": script}), &access, None).message;
    assert!(question.contains("\\u{202e}"), "{question}");
    // Content in Arabic and Hebrew has marks; what hides code in content is another thing.
    let write = |content: &str| {
        let input = json!({"file_path": world.project.join("n.txt"), "content": content});
        world.decide(&permissions(Mode::Default, &allow, &[]), "Write", &input).ruling
    };
    assert_eq!(write("שלום\u{200f}!"), Ruling::Allow);
    assert_eq!(write("if x {\u{202e} }"), Ruling::Ask);
}
