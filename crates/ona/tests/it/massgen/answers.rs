//! What hooks may answer: matchers, denials, changed input, injections.

use super::*;

#[test]
fn mg_4_a_matcher_is_a_list_of_globs_and_none_means_all() {
    // MG-4.1, MG-4.2, MG-4.3, MG-X13
    let ona = world(
        "hooks:
  PreToolUse:
    - {handler: star.log, matcher: '*'}
    - {handler: list.log, matcher: 'Write|Edit'}
    - {handler: none.log}
    - {handler: bar.log, matcher: '|'}
    - {handler: glob.log, matcher: 'Web?etch | [!W]*'}
",
    );
    for module in ["star", "list", "none", "bar", "glob"] {
        ona.file(&format!("{module}.py"), LOG);
    }
    let ran = |tool: &str| ran_commands(&fire(&ona, pre(tool), &[])).join(" ").replace("massgen:python:", "");
    assert_eq!(ran("Write"), "star.log list.log none.log");
    assert_eq!(ran("Edit"), "star.log list.log none.log glob.log");
    assert_eq!(ran("NotebookEdit"), "star.log none.log glob.log");
    assert_eq!(ran("WebFetch"), "star.log none.log glob.log");
    assert_eq!(ran("WebSearch"), "star.log none.log");
    assert_eq!(hook_rows(&ona, "DISTINCT matcher").len(), 4);
}

#[test]
fn mg_5_1_a_deny_stops_the_call_and_the_agent_is_told_why() {
    let mut ona = python("return {'decision': 'deny', 'reason': 'R'}", "");
    denied(&write(&ona), "R");
    assert!(!ona.exists("a.txt"));
    let model = ona.model(Wire::Messages, [call("Write", json!({"file_path": "a.txt", "content": "x"})), say("no")]);
    ona.run(["-p", "go"]).expect_code(0);
    assert!(model.request(1).last_message().contains("(error)"), "{}", model.request(1).last_message());
    assert!(model.request(1).last_message().contains('R'));
    assert!(!ona.exists("a.txt"));
    assert_eq!(hook_rows(&ona, "exit_code, stdout_text")[0], [json!(2), json!(r#"{"decision":"deny","reason":"R"}"#)]);
}

#[test]
fn mg_5_1b_a_deny_without_a_reason_names_the_hook() {
    for body in ["return {'allowed': False}", "return {'decision': 'deny'}"] {
        denied(&write(&python(body, "")), "Denied by hook python_hooks.f");
    }
    let ona = program("PreToolUse", "echo '{\"decision\":\"deny\"}'", "");
    denied(&write(&ona), "Denied by hook command_hook.sh");
    assert_eq!(hook_rows(&ona, "exit_code, command"), [[json!(0), json!("massgen:command:hook.sh")]]);
}

#[test]
fn mg_5_2_updated_input_replaces_the_whole_input() {
    let ona = python("return {'updated_input': {'file_path': 'b.txt', 'content': 'y'}}", "");
    assert_eq!(write(&ona)["is_error"], false);
    assert_eq!((ona.exists("a.txt"), ona.read("b.txt").as_str()), (false, "y"));
    let kept = ona.value(
        "SELECT json_extract(payload_json, '$.input.file_path') FROM transcript_entries WHERE entry_type='tool_use'",
    );
    assert_eq!(kept, "a.txt");
    // Nothing is merged: what the update leaves out is gone, and the schema says so.
    let ona = python("return {'updated_input': {'file_path': 'b.txt'}}", "");
    let result = write(&ona);
    assert_eq!(result["is_error"], true);
    assert!(said(&result).starts_with("A hook changed the input:"), "{result}");
    assert!(!ona.exists("b.txt"));
}

#[test]
fn mg_5_3_allow_or_nothing_is_no_objection_and_opens_nothing() {
    for body in ["return {'decision': 'allow'}", "return {}", "return None", "pass"] {
        let ona = python(body, "");
        assert_eq!(write(&ona)["is_error"], false, "{body}");
        ona.settings(json!({"permissions": {"allow": ["Write"], "ask": ["Write"]}}));
        let result = ona.eval("Write", json!({"file_path": "b.txt", "content": ""}));
        assert_eq!((&result["is_error"], ona.exists("b.txt")), (&json!(true), false), "{body}: {result}");
    }
    for script in ["", "echo", "echo '{}'", "echo '{\"decision\":\"allow\"}'"] {
        let ona = program("PreToolUse", script, "");
        assert_eq!(write(&ona)["is_error"], false, "{script}");
        assert_eq!((errors(&ona), logged(&ona, "hook_output_invalid")), (vec![], vec![]), "{script}");
    }
}

/// The rows of a session after its first call, and what is said in them.
fn entries(ona: &Ona) -> Vec<(String, Value)> {
    let rows = ona.rows(
        "SELECT entry_type, coalesce(json_extract(payload_json, '$.content[0].text'), json_extract(payload_json, '$.content'))
         FROM transcript_entries WHERE entry_type IN ('tool_result', 'user', 'content_replacement') ORDER BY sequence",
    );
    rows.into_iter().skip(1).map(|row| (row[0].as_str().unwrap().to_owned(), row[1].clone())).collect()
}

#[test]
fn mg_6_1_an_injection_into_the_result_stands_at_its_end_and_the_original_is_kept() {
    let (ona, model) = injecting(&[("C", "tool_result")], one_glob(), Wire::Messages);
    let seen = results(&ona)[0].as_str().unwrap().to_owned();
    let (original, injected) = seen.rsplit_once('\n').unwrap();
    assert_eq!(injected, "C");
    let kept = ona.value(
        "SELECT json_extract(payload_json, '$.content') FROM transcript_entries WHERE entry_type='content_replacement'",
    );
    assert_eq!(kept, original);
    assert!(model.request(1).last_message().contains(&seen), "{}", model.request(1).last_message());
    // What the hook was told is what the tool gave.
    assert_eq!(ona.value("SELECT json_extract(input_json, '$.tool_output') FROM hook_invocations"), original);
}

#[test]
fn mg_6_2_a_user_message_follows_the_result_on_both_wires() {
    for wire in [Wire::Messages, Wire::Chat] {
        let (ona, model) = injecting(&[("C", "user_message")], one_glob(), wire);
        let rows = entries(&ona);
        assert_eq!(rows.iter().map(|row| row.0.as_str()).collect::<Vec<_>>(), ["tool_result", "user"]);
        assert_eq!(rows[1].1, "C");
        let last = model.request(1).json()["messages"].as_array().unwrap().last().unwrap().clone();
        assert_eq!(last["role"], "user", "{last}");
        match wire {
            Wire::Messages => {
                assert_eq!(last["content"][0]["type"], "tool_result", "{last}");
                assert_eq!(last["content"][1]["text"], "C", "{last}");
            }
            Wire::Chat => assert!(last["content"].to_string().contains('C'), "{last}"),
        }
    }
}

#[test]
fn a_user_message_after_the_first_of_two_calls_leaves_both_their_results() {
    for wire in [Wire::Messages, Wire::Chat] {
        let both = calls([("Glob", json!({"pattern": "*.none"})), ("Bash", json!({"command": "echo second"}))]);
        let (ona, model) = injecting(&[("C", "user_message")], vec![both, say("done")], wire);
        let rows = entries(&ona);
        assert_eq!(rows.iter().map(|row| row.0.as_str()).collect::<Vec<_>>(), ["tool_result", "user", "tool_result"]);
        assert_eq!(model.requests().len(), 2);
        let body = model.request(1).json().clone();
        let messages = body["messages"].as_array().unwrap();
        match wire {
            Wire::Messages => {
                let last = &messages[messages.len() - 1]["content"];
                let kinds: Vec<_> =
                    last.as_array().unwrap().iter().map(|part| part["type"].as_str().unwrap()).collect();
                assert_eq!(kinds, ["tool_result", "tool_result", "text"], "{last}");
                assert_eq!(last[2]["text"], "C");
                assert!(last[1].to_string().contains("second"));
            }
            Wire::Chat => {
                let roles: Vec<_> = messages.iter().map(|one| one["role"].as_str().unwrap()).collect();
                assert_eq!(roles[roles.len() - 3..], ["tool", "tool", "user"], "{messages:?}");
            }
        }
    }
}
