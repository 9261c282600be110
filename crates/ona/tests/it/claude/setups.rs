//! Hooks as people set them up: a guard of paths, a rewriter of commands, a formatter, a gate
//! before the end. Written from public documentation, each with the traps such scripts have.

use super::*;
use crate::ona;
use ona_testkit::model::{Wire, calls, say};
use std::os::unix::fs::PermissionsExt;

fn script(ona: &Ona, name: &str, text: &str) -> String {
    let path = ona.file(&format!(".claude/hooks/{name}"), text);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/{name}")
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
