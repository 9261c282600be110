//! Where hooks stand and how they are written down.

use super::*;
use crate::ona;
use ona_testkit::model::{Wire, call, say};
use std::os::unix::fs::PermissionsExt;

#[test]
fn a_rewrite_of_somebodys_file_keeps_unknown_keys_and_its_mode() {
    let mut ona = ona();
    let update = json!({"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "touch *"}], "behavior": "allow", "destination": "localSettings"});
    let grant = says("PermissionRequest", json!({"decision": {"behavior": "allow", "updatedPermissions": [update]}}));
    let _server = ona.model(Wire::Messages, [call("Bash", json!({"command": "touch x"})), say("done")]);
    install(&ona, json!({"PermissionRequest": [group("Bash", &[&grant])]}));
    let path = ona
        .file(".ona/settings.local.json", r#"{"zeta": 1, "_tool": {"b": 2, "a": 1}, "permissions": {"custom": true}}"#);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    ona.run(["-p", "go"]).expect_code(0);
    let written: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(
        written,
        json!({"zeta": 1, "_tool": {"b": 2, "a": 1}, "permissions": {"custom": true, "allow": ["Bash(touch *)"]}})
    );
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn hooks_of_all_places_add_up_in_their_order() {
    let mut ona = ona();
    let hooks =
        |word: &str| json!({"hooks": {"PreToolUse": [group("Bash", &[&format!("echo {word} >> log")])]}}).to_string();
    // The user's file may be somewhere else.
    ona.home_file("elsewhere/settings.json", hooks("user"));
    let elsewhere = ona.home().join("elsewhere");
    ona.env("CLAUDE_CONFIG_DIR", elsewhere.to_str().unwrap());
    ona.file(".claude/settings.json", hooks("project"));
    ona.file(".claude/settings.local.json", hooks("local"));
    ona.file("extra.json", hooks("flag"));
    ona.eval_with("Bash", json!({"command": "true"}), &["--settings", "extra.json"]);
    assert_eq!(ona.read("log"), "user\nproject\nlocal\nflag\n");
    let dialects = ona.column(
        "SELECT DISTINCT json_extract(h.value,'$.dialect') FROM settings_snapshot s, json_each(s.json,'$.hooks') h",
    );
    assert_eq!(dialects, ["claude"]);
}
