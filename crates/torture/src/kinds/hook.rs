//! Hooks that fail: they exit with anything, are killed, print bytes that are not text, too much or
//! half an answer, close their streams, do not end, leave processes behind, deny and stop.

use super::{Next, Round};
use crate::invariants;
use crate::scene::{Commands, Scene};
use crate::violation::{Checked, Class};
use serde_json::{Value, json};

const COMMANDS: [&str; 24] = [
    "exit 2",
    "echo no >&2; exit 2",
    "exit 1",
    "exit 127",
    "exit 255",
    "kill -9 $$",
    "kill -SEGV $$",
    "exec 0<&- 1>&- 2>&-",
    "sleep 9",
    "sleep 0.3 & exit 0",
    "cat",
    "head -c 5000000 /dev/zero",
    "head -c 5000000 /dev/zero >&2",
    "printf '\\377\\376\\000{'",
    "printf '{'",
    "printf '\\357\\273\\277 \\n{}'",
    "echo '{\"continue\":false,\"stopReason\":\"enough\"}'",
    "echo '{\"decision\":\"block\",\"reason\":\"no\"}'",
    "echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"deny\"}}'",
    "echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"ask\"}}'",
    "echo '{\"hookSpecificOutput\":{\"hookEventName\":\"Dance\"}}'",
    "echo '{\"async\":true}'",
    "yes '{\"systemMessage\":\"a\"}' | head -c 100000",
    "sqlite3 \"$AGENT_SDLC_DB\" \"INSERT INTO state(conversation_id, key, value) VALUES ('x', hex(randomblob(9)), 'x')\"",
];

const EVENTS: [&str; 8] = [
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PermissionDenied",
    "SubagentStart",
    "SubagentStop",
    "SessionStart",
    "SessionEnd",
];

pub(crate) fn round(round: &mut Round<'_>) -> Checked<Next> {
    let mut scene = Scene::new(round.context).with_model(Commands::Short);
    for _ in 0..4 {
        let hooks: Vec<Value> = (0..1 + round.random.below(3)).map(|_| random_hook(round)).collect();
        scene.settings(&hooks);
        let mut args = scene.turn_args("main")?;
        args.extend(["--max-turns".to_owned(), "8".to_owned()]);
        let ended = scene.run(&args, &[])?;
        round.tally.add("faulty hooks", hooks.len() as u64);
        round.tally.add(if ended.code == Some(0) { "turns that ended well" } else { "turns that failed" }, 1);
        if !matches!(ended.code, Some(0 | 1)) {
            return Err(Class::Law.of(format!("exit {:?} with hooks {hooks:?}: {}", ended.code, ended.stderr)));
        }
        invariants::check(&scene)?;
    }
    Ok(Next::Round)
}

fn random_hook(round: &mut Round<'_>) -> Value {
    json!({
        "hook_event_name": round.random.pick(&EVENTS),
        "command": round.random.pick(&COMMANDS),
        "dialect": round.random.pick(&["sdlc", "claude"]),
        "shell": "sh",
        "timeout": 0.5,
    })
}
