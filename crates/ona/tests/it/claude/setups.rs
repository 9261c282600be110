//! Hooks as people set them up: a guard of paths, a rewriter of commands, a formatter, a gate
//! before the end. Written from public documentation, each with the traps such scripts have.

use super::*;
use crate::ona;
use ona_testkit::model::{Wire, call, calls, say};
use std::os::unix::fs::PermissionsExt;

fn script(ona: &Ona, name: &str, text: &str) -> String {
    let path = ona.file(&format!(".claude/hooks/{name}"), text);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/{name}")
}

#[test]
fn a_guard_of_paths_can_not_be_talked_around_by_spelling() {
    let ona = ona();
    let guard = script(
        &ona,
        "freeze.sh",
        "#!/bin/sh\npath=$(jq -r '.tool_input.file_path // empty')\ncase $path in\n  \"$CLAUDE_PROJECT_DIR\"/frozen/*) printf '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"%s is frozen\"}}' \"$path\" ;;\n  *) echo '{}' ;;\nesac\n",
    );
    ona.file("frozen/a", "one\n");
    install(&ona, json!({"PreToolUse": [group("Edit", &[&guard]), group("Write", &[&guard])]}));
    for path in ["frozen/a", "./free/../frozen/b", "frozen//c"] {
        let denied = ona.eval("Write", json!({"file_path": path, "content": "x"}));
        assert!(denied["content"].as_str().unwrap().contains("is frozen"), "{path}: {denied}");
    }
    assert_eq!(ona.eval("Write", json!({"file_path": "free/a", "content": "x"}))["is_error"], false);
    assert_eq!(ona.read("frozen/a"), "one\n");
}

#[test]
fn a_rewriter_of_commands_and_a_formatter_work_on_what_the_other_left() {
    let mut ona = ona();
    let rewriter = script(
        &ona,
        "prefer.sh",
        "#!/bin/sh\njq -c 'if (.tool_input.command | startswith(\"npm \")) then {hookSpecificOutput:{hookEventName:\"PreToolUse\",permissionDecision:\"allow\",updatedInput:(.tool_input + {command:(.tool_input.command | sub(\"^npm \"; \"echo pnpm \"))})}} else empty end'\n",
    );
    let formatter = script(
        &ona,
        "format.sh",
        "#!/bin/sh\nfile=$(jq -r '.tool_response.filePath // .tool_input.file_path')\ncase $file in *.txt) tr a-z A-Z < \"$file\" > \"$file.new\" && mv \"$file.new\" \"$file\" ;; esac\n",
    );
    let script = [
        calls([
            ("Bash", json!({"command": "npm test", "description": "d"})),
            ("Write", json!({"file_path": "a.txt", "content": "shout\n"})),
        ]),
        say("done"),
    ];
    let server = ona.model(Wire::Messages, script);
    install_with(
        &ona,
        json!({"PreToolUse": [group("Bash", &[&rewriter])], "PostToolUse": [group("Edit|Write", &[&formatter])]}),
        json!({"permissions": {"allow": ["Write", "Edit"]}}),
    );
    ona.run(["-p", "go"]).expect_code(0);
    assert!(server.request(1).last_message().contains("pnpm test"), "{}", server.request(1).last_message());
    assert_eq!(ona.read("a.txt"), "SHOUT\n");
}

#[test]
fn a_gate_before_the_end_holds_until_the_check_passes() {
    let mut ona = ona();
    let gate = script(
        &ona,
        "verify.sh",
        "#!/bin/sh\ncat >/dev/null\n[ -e fixed ] || { echo 'the check fails: fix it' >&2; exit 2; }\n",
    );
    let server =
        ona.model(Wire::Messages, [say("finished"), call("Bash", json!({"command": "touch fixed"})), say("now it is")]);
    install_with(&ona, json!({"Stop": [group("", &[&gate])]}), json!({"permissions": {"allow": ["Bash"]}}));
    let ran = ona.run(["-p", "go"]).expect_code(0);
    assert_eq!(ran.stdout, "now it is\n");
    assert!(server.request(1).last_message().contains("the check fails: fix it"));
    assert_eq!(ona.column("SELECT exit_code FROM hook_invocations WHERE hook_event='Stop' ORDER BY id"), [2, 0]);
}

/// The way gstack has gone since: a deny whose reason names the option, logged by the hook itself.
#[test]
fn a_question_decided_by_a_deny_goes_on_without_events_after_the_tool() {
    let mut ona = ona();
    let prefer = script(
        &ona,
        "prefer-question.sh",
        "#!/bin/sh\nevent=$(cat)\nmkdir -p \"$HOME/.gstack/sessions/$(printf %s \"$event\" | jq -r .session_id)\"\ntouch \"$HOME/.gstack/sessions/$(printf %s \"$event\" | jq -r .session_id)/.auto-decided-$(printf %s \"$event\" | jq -r .tool_use_id)\"\nprintf %s \"$event\" | jq -c '{hookSpecificOutput:{hookEventName:\"PreToolUse\",permissionDecision:\"deny\",permissionDecisionReason:(\"Decided: \" + (.tool_input.questions[0].options[] | select(.label | endswith(\"(recommended)\")) | .label) + \". Proceed.\")}}'\n",
    );
    let server = ona.model(
        Wire::Messages,
        [call("AskUserQuestion", json!({"questions": [question("<gstack-qid:q1> Which?")]})), say("done")],
    );
    install(
        &ona,
        json!({"PreToolUse": [group(QUESTION_MATCHER, &[&prefer])], "PostToolUse": [group(QUESTION_MATCHER, &["touch post"]), group(QUESTION_MATCHER, &["touch post2"])]}),
    );
    ona.run(["-p", "go", "--session-id", "s-1"]).expect_code(0);
    let told = server.request(1).last_message();
    assert!(told.contains("Decided: A (recommended). Proceed.") && told.contains("(error)"), "{told}");
    assert!(!ona.exists("post") && !ona.exists("post2"));
    let markers: Vec<_> = std::fs::read_dir(ona.home().join(".gstack/sessions/s-1")).unwrap().collect();
    assert_eq!(markers.len(), 1, "the id is a file name");
}
