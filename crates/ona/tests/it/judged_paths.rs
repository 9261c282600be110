//! What was judged is what is done (DEC-184): links and other names that are put in the
//! way of a file tool between the decision and the act.

use crate::ona;
use ona_testkit::model::{Wire, call, calls, say};
use ona_testkit::{DrivenProcess, Ona};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// A project with a folder `d`, and a guarded folder whose hook nothing may change.
fn world() -> Ona {
    let ona = ona();
    ona.file("d/f.txt", "inside\n");
    ona.file("d/n.ipynb", notebook("inside"));
    ona.file("elsewhere/f.txt", "secret\n");
    ona.file("elsewhere/n.ipynb", notebook("secret"));
    ona.file(".claude/settings.json", "{}\n");
    ona
}

fn notebook(source: &str) -> String {
    json!({"cells": [{"id": "a", "cell_type": "markdown", "metadata": {}, "source": source}],
        "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    .to_string()
}

fn model_settings(more: Value) -> Value {
    let mut settings = json!({"model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"}});
    settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    settings
}

/// Moves the folder away and puts a link in its place.
fn swap_folder(ona: &Ona) {
    fs::rename(ona.project().join("d"), ona.project().join("d.old")).unwrap();
    symlink("elsewhere", ona.project().join("d")).unwrap();
}

fn asked_then(ona: &Ona, between: impl FnOnce(), answer: impl FnOnce(&Value) -> Value) -> (DrivenProcess, String) {
    let mut talk = ona.attended();
    talk.say("go");
    let asked = talk.until_asked("can_use_tool");
    between();
    let answer = answer(&asked["request"]["input"]);
    talk.answer(&asked, answer);
    let line = talk.until(|line| line["message"]["content"][0]["type"] == "tool_result");
    let content = &line["message"]["content"][0]["content"];
    let text = content.as_str().map_or_else(|| content.to_string(), str::to_owned);
    (talk, text)
}

fn allow(_: &Value) -> Value {
    json!({"behavior": "allow"})
}

#[test]
fn a_folder_that_becomes_a_link_while_somebody_is_asked() {
    let every_tool = json!({"permissions": {"ask": ["Read", "Grep", "Glob"]}});
    for (tool, input) in [
        ("Write", json!({"file_path": "d/f.txt", "content": "changed\n"})),
        ("Write", json!({"file_path": "d/new.txt", "content": "changed\n"})),
        ("Edit", json!({"file_path": "d/f.txt", "old_string": "secret", "new_string": "changed"})),
        ("NotebookEdit", json!({"notebook_path": "d/n.ipynb", "cell_id": "a", "new_source": "changed"})),
        ("Read", json!({"file_path": "d/f.txt"})),
        ("Grep", json!({"pattern": "secret", "path": "d", "output_mode": "content"})),
        ("Grep", json!({"pattern": "secret", "path": "d/f.txt", "output_mode": "content"})),
        ("Glob", json!({"pattern": "*", "path": "d"})),
    ] {
        let mut ona = world();
        ona.settings(model_settings(every_tool.clone()));
        let _server = ona.model(Wire::Messages, [call(tool, input.clone()), say("done")]);
        let (mut talk, result) = asked_then(&ona, || swap_folder(&ona), allow);
        let moved = format!("leads to {}", ona.project().join("elsewhere").display());
        assert!(result.contains("when this was asked about") && result.contains(&moved), "{tool} {input}: {result}");
        assert!(!result.contains("secret"), "{tool}: {result}");
        talk.until_result();
        assert_eq!(talk.finish().0, 0);
        assert_eq!(ona.read("elsewhere/f.txt"), "secret\n", "{tool}");
        assert_eq!(ona.read("elsewhere/n.ipynb"), notebook("secret"), "{tool}");
        assert!(!ona.exists("elsewhere/new.txt"), "{tool}");
        assert_eq!(ona.column("SELECT decision FROM tool_permission_log"), ["deny"], "{tool}");
        assert_eq!(ona.value("SELECT count(*) FROM events WHERE event_type = 'tool_started'"), 0, "{tool}");
    }
}

#[test]
fn an_answer_that_changes_the_content_does_not_hide_a_changed_path() {
    let mut ona = world();
    let _server =
        ona.model(Wire::Messages, [call("Write", json!({"file_path": "d/f.txt", "content": "one"})), say("done")]);
    let edited = |input: &Value| {
        let mut input = input.clone();
        input["content"] = json!("two");
        json!({"behavior": "allow", "updatedInput": input})
    };
    let (_talk, result) = asked_then(&ona, || swap_folder(&ona), edited);
    assert!(result.contains("when this was asked about"), "{result}");
    assert_eq!(ona.read("elsewhere/f.txt"), "secret\n");
}

#[test]
fn a_link_that_was_there_when_somebody_was_asked_is_followed() {
    let mut ona = world();
    symlink("elsewhere/f.txt", ona.project().join("link.txt")).unwrap();
    let _server =
        ona.model(Wire::Messages, [call("Write", json!({"file_path": "link.txt", "content": "new\n"})), say("done")]);
    let (_talk, result) = asked_then(&ona, || (), allow);
    assert!(result.starts_with("Wrote"), "{result}");
    assert_eq!(ona.read("elsewhere/f.txt"), "new\n");
    assert!(ona.project().join("link.txt").is_symlink());
}

#[test]
fn a_second_name_of_a_guarded_file_is_refused_also_when_it_appears_late() {
    let mut ona = world();
    let input = json!({"file_path": "d/f.txt", "content": "{\"hooks\": {}}"});
    let _server = ona.model(Wire::Messages, [call("Write", input), say("done")]);
    let link = || {
        fs::remove_file(ona.project().join("d/f.txt")).unwrap();
        fs::hard_link(ona.project().join(".claude/settings.json"), ona.project().join("d/f.txt")).unwrap();
    };
    let (_talk, result) = asked_then(&ona, link, allow);
    assert!(result.contains("part of ona's own record and guards"), "{result}");
    assert_eq!((ona.read(".claude/settings.json"), ona.read("d/f.txt")), ("{}\n".into(), "{}\n".into()));
}

#[test]
fn a_hook_that_allows_and_swaps_does_not_get_a_write_through() {
    let mut ona = world();
    let allow =
        json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}});
    let command = format!("mv d d.old; ln -s elsewhere d; printf '%s' '{allow}'");
    ona.settings(
        json!({"hooks": [{"hook_event_name": "PermissionRequest", "matcher": "Write", "command": command, "shell": "sh"}]}),
    );
    let db = ona.db().to_string_lossy().into_owned();
    ona.env("ONA_AGENT_DB", db);
    let result = ona.eval("Write", json!({"file_path": "d/f.txt", "content": "changed"}));
    assert!(result["content"].as_str().unwrap().contains("when this was asked about"), "{result}");
    assert_eq!(ona.read("elsewhere/f.txt"), "secret\n");
}

#[test]
fn what_a_hook_swaps_before_the_decision_is_what_is_judged() {
    let mut ona = world();
    let outside = ona.root().join("outside");
    fs::create_dir(&outside).unwrap();
    let command = format!("mv d d.old; ln -s '{}' d", outside.display());
    ona.settings(json!({"permissions": {"allow": ["Write(./d/**)"]},
        "hooks": [{"hook_event_name": "PreToolUse", "matcher": "Write", "command": command, "shell": "sh"}]}));
    let db = ona.db().to_string_lossy().into_owned();
    ona.env("ONA_AGENT_DB", db);
    let result = ona.eval("Write", json!({"file_path": "d/new.txt", "content": "changed"}));
    assert_eq!(result["is_error"], true, "{result}");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn a_mentioned_file_that_becomes_a_link_while_somebody_is_asked_is_not_attached() {
    for word in ["d/f.txt", "d"] {
        let mut ona = world();
        ona.settings(model_settings(json!({"permissions": {"ask": ["Read"]}})));
        let server = ona.model(Wire::Messages, [say("done")]);
        let mut talk = ona.attended();
        talk.say(&format!("see @{word}"));
        let asked = talk.until_asked("can_use_tool");
        swap_folder(&ona);
        talk.answer(&asked, json!({"behavior": "allow"}));
        talk.until_result();
        let sent = server.request(0).json().to_string();
        assert!(!sent.contains("secret") && !sent.contains("n.ipynb"), "{sent}");
        let told = ona.column("SELECT payload_json FROM transcript_entries WHERE payload_json LIKE '%not_attached%'");
        assert!(told.len() == 1 && told[0].as_str().unwrap().contains("when this was asked about"), "{told:?}");
    }
}

/// Swaps two directory entries until told to stop, in one step where the system can.
fn swapping(a: &Path, b: &Path, stop: &AtomicBool) -> usize {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let mut swaps = 0;
    while !stop.load(Ordering::Relaxed) {
        renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE).unwrap();
        swaps += 1;
    }
    swaps
}

#[test]
#[cfg(target_os = "linux")]
fn two_hundred_writes_in_a_race_with_a_swapped_link_never_get_through() {
    let mut ona = world();
    ona.settings(model_settings(json!({"permissions": {"allow": ["Write(./d/**)", "Edit(./d/**)"]}})));
    let outside = ona.root().join("outside");
    fs::create_dir(&outside).unwrap();
    symlink(&outside, ona.project().join("trap")).unwrap();
    // A file that is there is read, compared and replaced; a new one is created with its folder.
    for at in 0..100 {
        ona.file(&format!("d/old{at}"), "before");
        fs::write(outside.join(format!("old{at}")), "kept").unwrap();
    }
    let write = |at: usize| match at % 2 {
        0 => ("Write", json!({"file_path": format!("d/old{}", at / 2), "content": "changed"})),
        _ => ("Write", json!({"file_path": format!("d/sub{at}/new"), "content": "changed"})),
    };
    let _server = ona.model(Wire::Messages, [calls((0..200).map(write)), say("done")]);
    let stop = AtomicBool::new(false);
    let (real, trap) = (ona.project().join("d"), ona.project().join("trap"));
    std::thread::scope(|scope| {
        let swaps = scope.spawn(|| swapping(&real, &trap, &stop));
        ona.run(["-p", "go"]);
        stop.store(true, Ordering::Relaxed);
        assert!(swaps.join().unwrap() > 200);
    });
    for at in 0..100 {
        assert_eq!(fs::read_to_string(outside.join(format!("old{at}"))).unwrap(), "kept", "{at}");
    }
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 100, "nothing was created outside");
    let results = ona
        .column("SELECT json_extract(payload_json,'$.content') FROM transcript_entries WHERE entry_type='tool_result'");
    let told = |words: &str| results.iter().filter(|text| text.as_str().unwrap_or_default().contains(words)).count();
    assert_eq!(results.len(), 200);
    assert!(told("Wrote") > 0, "some were judged and done inside: {:?}", &results[..5]);
    assert!(told("Wrote") < 200, "some met the link");
}

#[test]
fn the_copy_that_replaces_a_private_file_is_never_readable_by_others() {
    let ona = world();
    let file = ona.file("private/key", "a".repeat(1000));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let stop = AtomicBool::new(false);
    let folder = ona.project().join("private");
    let widest = std::thread::scope(|scope| {
        let looking = scope.spawn(|| {
            let mut widest = 0;
            while !stop.load(Ordering::Relaxed) {
                for entry in fs::read_dir(&folder).unwrap().flatten() {
                    widest |= entry.metadata().map_or(0, |meta| meta.permissions().mode() & 0o077);
                }
            }
            widest
        });
        for turn in 0..10 {
            let (old, new) = (((b'a' + turn) as char).to_string(), ((b'b' + turn) as char).to_string());
            let input = json!({"file_path": "private/key", "old_string": old, "new_string": new, "replace_all": true});
            ona.eval_with("Edit", input, &["--yes"]);
        }
        stop.store(true, Ordering::Relaxed);
        looking.join().unwrap()
    });
    assert_eq!(widest, 0);
    assert_eq!(ona.read("private/key"), "k".repeat(1000));
}
