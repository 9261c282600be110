//! The order of hook sources (DEC-060): as the table has it, and as a run with all of them
//! lists its hooks.

use ona_api::{Env, Redactor};
use ona_runtime::hook_sources::HOOK_SOURCES;
use ona_runtime::{Launch, Notices, Options, Purpose, Runtime};
use serde_json::json;
use std::fs;
use std::path::Path;
use tokio_util::sync::CancellationToken;

#[test]
fn the_table_is_in_the_order_of_dec_060() {
    let names: Vec<_> = HOOK_SOURCES.iter().map(|source| source.name).collect();
    assert_eq!(names, ["settings", "plugins", "pi", "massgen", "modules", "skills and agents"]);
}

fn write(file: &Path, text: impl AsRef<str>) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text.as_ref()).unwrap();
}

/// A project in which every source has one hook before a Bash call.
fn project(dir: &Path) -> Options {
    let on_bash = |command: &str| json!({"hook_event_name": "PreToolUse", "matcher": "Bash", "command": command});
    let mut claude = on_bash("true claude");
    claude["dialect"] = "claude".into();
    let pi = json!({"PreToolUse": [{"command": "true pi", "matcher": {"toolNames": ["bash"]}}]});
    let plugin = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "true plugin"}]}]}});
    write(&dir.join(".ona/settings.json"), json!({"hooks": [on_bash("true sdlc"), claude]}).to_string());
    write(&dir.join("plugin/.claude-plugin/plugin.json"), json!({"name": "p"}).to_string());
    write(&dir.join("plugin/hooks/hooks.json"), plugin.to_string());
    write(&dir.join("pi.json"), pi.to_string());
    write(
        &dir.join("massgen.yaml"),
        "hooks:\n  PreToolUse:\n    - matcher: Bash\n      handler: guards.add\n      type: python\n",
    );
    write(&dir.join("guards.py"), "def add(event):\n    return {}\n");
    write(&dir.join("module.ts"), "export default function (pi: any) { pi.on(\"tool_call\", async () => {}); }\n");
    write(
        &dir.join(".ona/skills/careful/SKILL.md"),
        "---\nname: careful\ndescription: careful\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: true skill\n---\ntext\n",
    );
    Options {
        trust: true,
        plugin_dir: vec![dir.join("plugin")],
        hooks_config: Some("pi.json".into()),
        massgen_config: Some("massgen.yaml".into()),
        hook: vec![dir.join("module.ts").display().to_string()],
        ..Options::default()
    }
}

#[test]
fn hooks_of_all_sources_run_in_that_order() {
    let temporary = tempfile::tempdir().unwrap();
    let dir = fs::canonicalize(temporary.path()).unwrap();
    let project_dir = dir.join("project");
    let options = project(&project_dir);
    let env = Env::default()
        .with("HOME", dir.join("home").as_os_str())
        .with("PATH", "/usr/bin:/bin")
        .with("AGENT_SDLC_DB", dir.join("ona.db").as_os_str());
    let notices = Notices::new(Redactor::default(), |_| {});
    let launch = Launch::new(env, project_dir, options, notices).unwrap();
    let open = launch.open().unwrap();
    let mut runtime = Runtime::new(&launch, &open, &launch.cwd, Purpose::Look, &CancellationToken::new()).unwrap();
    ona_runtime::block_on(runtime.load_modules(&launch, &open)).unwrap();

    let at_start = runtime.hooks.list();
    let on_demand = runtime.on_demand_hooks(&launch, &open).unwrap();
    let listed: Vec<_> = at_start.iter().chain(&on_demand).map(|hook| (hook.dialect.name(), hook.command())).collect();
    let dialects: Vec<_> = listed.iter().map(|(dialect, _)| *dialect).collect();
    assert_eq!(dialects, ["sdlc", "claude", "claude", "pi", "massgen", "omp", "sdlc"], "{listed:?}");
    let commands: Vec<_> = listed.iter().map(|(_, command)| command.trim_start_matches("true ")).collect();
    assert_eq!(commands[..4], ["sdlc", "claude", "plugin", "pi"], "{listed:?}");
    assert!(commands[4].starts_with("massgen:") && commands[5].starts_with("omp:"), "{listed:?}");
    assert_eq!(commands[6], "skill");
}
