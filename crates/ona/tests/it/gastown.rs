//! A worker of a Gastown town, from outside, with stand-ins for `gt` and `bd`. Each test
//! carries the ids of its scenarios (docs/SPECIFICATION.md); G8 to G10 are about the terminal.

use crate::ona;
use crate::pi::{called, stub};
use ona_testkit::Ona;
use ona_testkit::model::{ModelServer, ScriptedTurn, Wire, call, say};
use serde_json::{Value, json};

/// The hooks Gastown installs for its autonomous roles.
fn template() -> Value {
    let group =
        |matcher: &str, command: &str| json!({"matcher": matcher, "hooks": [{"type": "command", "command": command}]});
    let path = "export PATH=\"$HOME/go/bin:$HOME/.local/bin:$PATH\" && ";
    let guard = "gt tap guard pr-workflow";
    json!({
        "enabledPlugins": {"beads@beads-marketplace": false},
        "permissions": {"allow": ["Bash"]},
        "hooks": {
            "SessionStart": [group("", &format!("{path}gt prime --hook && gt mail check --inject"))],
            "PreCompact": [group("", &format!("{path}gt prime --hook"))],
            "UserPromptSubmit": [group("", &format!("{path}gt mail check --inject"))],
            "PreToolUse": [group("Bash(gh pr create*)", guard), group("Bash(git checkout -b*)", guard),
                group("Bash(*bd mol pour*patrol*)", "echo 'patrols are not poured' && exit 2")],
            "Stop": [group("", "gt costs record &")],
        }
    })
}

const GT: &str = r#"case "$1 $2" in
"prime --hook") read -r line; echo "$line" >> "$HOME/prime.stdin"; env > "$HOME/prime.env"; echo 'ROLE TEXT';;
"mail check") echo '<system-reminder>you have mail</system-reminder>';;
"tap guard") echo 'BANNER: not from here' >&2; exit 2;;
esac"#;

/// A worker whose orchestrator handed it the template with `--settings`.
fn worker(script: impl IntoIterator<Item = ScriptedTurn>) -> (Ona, ModelServer) {
    let mut ona = ona();
    stub(&mut ona, "gt", GT);
    std::fs::write(ona.root().join("settings.json"), template().to_string()).unwrap();
    let root = ona.root().display().to_string();
    ona.env("GT_ROLE", "rig/polecats/toast").env("GT_ROOT", root);
    ona.env("BD_ACTOR", "rig/polecats/toast").env("GT_SESSION_ID_ENV", "TOAST_SESSION_ID");
    let model = ona.model(Wire::Messages, script);
    (ona, model)
}

fn settings_file(ona: &Ona) -> String {
    ona.root().join("settings.json").display().to_string()
}

fn prompt(ona: &Ona, flags: &[&str]) {
    let settings = settings_file(ona);
    let mut args = vec!["-p", "do your work", "--settings", &settings];
    args.extend(flags);
    ona.run(args).expect_code(0);
}

fn body(model: &ModelServer, index: usize) -> String {
    String::from_utf8_lossy(&model.request(index).body).into_owned()
}

#[test]
fn g1_priming_is_in_the_first_request_and_gt_is_told_what_it_asks_for() {
    let (ona, model) = worker([say("done")]);
    prompt(&ona, &[]);
    let first = body(&model, 0);
    assert!(first.contains("ROLE TEXT"), "{first}");
    // Once from the start of the session, once with the prompt itself.
    assert_eq!(first.matches("you have mail").count(), 2, "{first}");
    let stdin = std::fs::read_to_string(ona.home().join("prime.stdin")).unwrap();
    assert_eq!(stdin.lines().count(), 1);
    let stdin: Value = serde_json::from_str(&stdin).unwrap();
    assert_eq!((&stdin["hook_event_name"], &stdin["source"]), (&json!("SessionStart"), &json!("startup")));
    let session = stdin["session_id"].as_str().unwrap();
    assert_eq!((session.len(), session.matches('-').count()), (36, 4), "{session}");
    assert_eq!(called(&ona, "gt"), ["prime --hook", "mail check --inject", "mail check --inject", "costs record"]);
}

#[test]
fn g3_mail_is_in_the_request_of_the_prompt_it_came_with() {
    let (mut ona, _) = worker([]);
    stub(
        &mut ona,
        "gt",
        r#"[ "$1" = mail ] && { n=$(cat "$HOME/n" 2>/dev/null || echo 0); n=$((n+1)); echo $n > "$HOME/n"; echo "<system-reminder>letter $n</system-reminder>"; }; true"#,
    );
    let model = ona.model(Wire::Messages, [say("one"), say("two")]);
    let settings = settings_file(&ona);
    let mut talk =
        ona.talk(["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--settings", &settings]);
    for text in ["first", "second"] {
        talk.say(text);
        talk.until_result();
    }
    talk.close();
    assert_eq!(talk.finish().0, 0);
    // The first letter came with the start of the session.
    let newest = |index: usize| model.request(index).last_message();
    assert!(newest(0).contains("letter 2") && !newest(0).contains("letter 3"), "{}", newest(0));
    assert!(newest(1).contains("second") && newest(1).contains("letter 3"), "{}", newest(1));
}

#[test]
fn g17_hooks_learn_session_and_source_from_the_environment() {
    let (mut ona, _model) = worker([say("one"), say("two")]);
    ona.env("CLAUDE_SESSION_ID", "of-an-agent-above").env("GT_HOOK_SOURCE", "stale");
    let env = |ona: &Ona, name: &str| {
        let text = std::fs::read_to_string(ona.home().join("prime.env")).unwrap();
        text.lines().find_map(|line| line.strip_prefix(&format!("{name}=")).map(str::to_owned))
    };
    prompt(&ona, &[]);
    assert_eq!(env(&ona, "GT_HOOK_SOURCE").as_deref(), Some("startup"));
    assert_eq!((env(&ona, "CLAUDE_SESSION_ID"), env(&ona, "GT_SESSION_ID")), (None, None));
    let session = ona.value("SELECT session_id FROM sessions");
    assert_eq!(env(&ona, "ONA_SESSION_ID").as_deref(), session.as_str());
    assert_eq!(env(&ona, "TOAST_SESSION_ID").as_deref(), session.as_str());
    assert_eq!(env(&ona, "BD_ACTOR").as_deref(), Some("rig/polecats/toast"));
    prompt(&ona, &["--resume", session.as_str().unwrap()]);
    assert_eq!(env(&ona, "GT_HOOK_SOURCE").as_deref(), Some("resume"));
    // Outside of a town nobody reads it.
    ona.env("GT_ROLE", "").env("GT_ROOT", "");
    let event = json!({"hook_event_name": "SessionStart", "source": "clear"}).to_string();
    let settings = settings_file(&ona);
    ona.run(["--fire-hook", &event, "--settings", &settings]).expect_code(0);
    assert_eq!(env(&ona, "GT_HOOK_SOURCE"), None);
}

#[test]
fn g15_commands_of_the_agent_see_the_town_and_their_session_but_no_hook() {
    let (mut ona, model) =
        worker([call("Bash", json!({"command": "env | sort; test -c /dev/stdin && echo 'a device'"})), say("done")]);
    ona.env("GT_HOOK_SOURCE", "stale").env("BD_BACKUP_ENABLED", "0");
    prompt(&ona, &[]);
    let seen = model.request(1).last_message();
    let session = ona.value("SELECT session_id FROM sessions");
    let session = session.as_str().unwrap();
    for (name, value) in [
        ("GT_ROLE", "rig/polecats/toast"),
        ("BD_ACTOR", "rig/polecats/toast"),
        ("BD_BACKUP_ENABLED", "0"),
        ("ONA_SESSION_ID", session),
        ("CLAUDE_SESSION_ID", session),
        ("TOAST_SESSION_ID", session),
    ] {
        assert!(seen.contains(&format!("\n{name}={value}\n")), "{name} in {seen}");
    }
    assert!(seen.contains("a device"), "{seen}");
    assert!(!seen.contains("GT_HOOK_SOURCE") && !seen.contains("\nGT_SESSION_ID="), "{seen}");
}

#[test]
fn g5_a_guard_sees_each_part_of_a_compound_command() {
    for command in ["cd x && gh pr create", "true; gh pr create --fill", "echo a | gh pr create", "(gh pr create)"] {
        let (ona, model) = worker([call("Bash", json!({ "command": command })), say("done")]);
        prompt(&ona, &["--gastown"]);
        let told = model.request(1).last_message();
        assert!(
            told.contains("Denied by PreToolUse hook") && told.contains("BANNER: not from here"),
            "{command}: {told}"
        );
    }
}

#[test]
fn g4_g6_guards_written_as_rules_guard_in_gastown_mode_and_are_named_otherwise() {
    let cases = [
        ("gh pr create --fill", Some("BANNER: not from here")),
        ("git checkout -b topic", Some("BANNER: not from here")),
        ("bd mol pour x patrol y", Some("patrols are not poured")),
        ("echo fine", None),
    ];
    for (command, refused) in cases {
        let (ona, model) = worker([call("Bash", json!({ "command": command })), say("done")]);
        prompt(&ona, &["--gastown"]);
        let told = model.request(1).last_message();
        match refused {
            Some(banner) => assert!(told.contains("Denied by PreToolUse hook") && told.contains(banner), "{told}"),
            None => assert!(told.contains("fine") && !told.contains("Denied"), "{told}"),
        }
    }
    let (ona, model) = worker([call("Bash", json!({"command": "gh pr create"})), say("done")]);
    let settings = settings_file(&ona);
    let ran = ona.run(["-p", "go", "--settings", &settings]).expect_code(0);
    assert!(!model.request(1).last_message().contains("BANNER"));
    for matcher in ["Bash(gh pr create*)", "Bash(git checkout -b*)", "Bash(*bd mol pour*patrol*)"] {
        assert!(ran.stderr.contains(&format!("the hook matcher {matcher:?} fits no tool name")), "{ran:?}");
    }
}

/// The same while a program drives it: the next prompt is answered while the child lives.
#[test]
fn g7_after_a_stop_hook_with_a_background_child_the_next_prompt_is_answered() {
    let mut ona = ona();
    let _model = ona.model(Wire::Messages, [say("one"), say("two")]);
    let hook = "sh -c 'echo $$ >> pids; exec sleep 300' & while ! [ -s pids ]; do :; done";
    let settings = json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": hook}]}]}}).to_string();
    let mut talk =
        ona.talk(["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--settings", &settings]);
    for text in ["one", "two"] {
        talk.say(text);
        assert_eq!(talk.until_result()["result"], text);
    }
    talk.close();
    assert_eq!(talk.finish().0, 0);
    assert_eq!(ona.shell("kill $(cat pids)").code, 0, "both outlived the session");
}

#[test]
fn g2_compact_typed_by_hand_primes_before_and_after() {
    let (ona, model) = worker([say("one"), say("SUMMARY"), say("two")]);
    prompt(&ona, &["--session-id", "s"]);
    let settings = settings_file(&ona);
    ona.run(["-p", "/compact", "-r", "s", "--settings", &settings]).expect_code(0);
    let stdin = std::fs::read_to_string(ona.home().join("prime.stdin")).unwrap();
    let told: Vec<Value> = stdin.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<_> = told.iter().map(|one| (&one["hook_event_name"], &one["source"])).collect();
    let (start, before) = (json!("SessionStart"), json!("PreCompact"));
    let sources = [json!("startup"), json!("resume"), Value::Null, json!("compact")];
    assert_eq!(told, [(&start, &sources[0]), (&start, &sources[1]), (&before, &sources[2]), (&start, &sources[3])]);
    prompt(&ona, &["-r", "s"]);
    assert!(body(&model, 2).contains("SUMMARY") && body(&model, 2).contains("ROLE TEXT"), "{}", body(&model, 2));
}

/// A session that is close to a full context, and the flags that go on in it.
fn long_session(ona: &mut Ona, more: impl IntoIterator<Item = ScriptedTurn>) -> ModelServer {
    let script = [say("one"), say("two")].into_iter().chain(more);
    let model = ona.model(Wire::Chat, script);
    ona.use_provider("lm_studio_local", "lm_studio_server_routed");
    ona.run(["-p", "first", "--session-id", "long"]).expect_code(0);
    ona.run(["-p", "second", "-r", "long"]).expect_code(0);
    model
}

fn fill(ona: &Ona, flags: &[&str]) -> i32 {
    let mut args = vec!["-p", "-r", "long"];
    args.extend(flags);
    ona.run_with_stdin(args, "fill the context ".repeat(7000).as_bytes()).code
}

#[test]
fn g2_p29_before_the_summary_precompact_has_run_and_after_it_the_session_starts_again() {
    let mut ona = ona();
    stub(&mut ona, "gt", "echo \"$GT_HOOK_SOURCE\" >> \"$HOME/sources\"; echo RECOVER");
    stub(&mut ona, "bd", "touch marker");
    ona.env("GT_ROLE", "rig/crew/ann");
    let model = long_session(&mut ona, [say("SUMMARY"), say("three")]);
    let marker = ona.project().join("marker");
    let (tell, seen) = std::sync::mpsc::channel();
    model.on_request(move |_| tell.send(marker.exists()).unwrap_or_default());
    assert_eq!(fill(&ona, &["--gastown"]), 0);
    assert_eq!(seen.try_iter().collect::<Vec<_>>(), [true, true], "the summary and the turn");
    assert_eq!((called(&ona, "gt"), called(&ona, "bd")), (vec!["prime".to_owned(); 2], vec!["sync".to_owned()]));
    let sources = std::fs::read_to_string(ona.home().join("sources")).unwrap();
    assert_eq!(sources, "resume\ncompact\n");
    assert!(body(&model, 3).contains("SUMMARY") && body(&model, 3).contains("RECOVER"), "{}", body(&model, 3));
    let order = ona.column("SELECT hook_event FROM hook_invocations ORDER BY id");
    assert_eq!(order, [json!("SessionStart"), json!("PreCompact"), json!("SessionStart")]);
}

#[test]
fn g11_to_be_killed_by_a_hook_before_compaction_loses_nothing() {
    let mut ona = ona();
    let model = long_session(&mut ona, [say("SUMMARY"), say("three")]);
    let settings = json!({"PreCompact": [{"command": "kill -9 $PPID; sleep 30"}]}).to_string();
    ona.file("hooks.json", settings);
    assert_eq!(fill(&ona, &["--hooks-config", "hooks.json"]), -1, "killed");
    assert_eq!(model.request_count(), 2, "no summary was asked for");
    ona.run(["db", "check"]).expect_code(0);
    let ran = ona.run(["-p", "go on", "-r", "long"]).expect_code(0);
    assert_eq!(ran.stdout, "three\n");
    assert!(model.request(2).last_message().contains("fill the context"), "the prompt was kept");
}

#[test]
fn g12_a_fork_answers_from_the_copied_history_and_leaves_the_original_alone() {
    let mut ona = ona();
    let model = ona.model(Wire::Messages, [say("the word is plum"), say("plum")]);
    ona.run(["-p", "pick a word", "--session-id", "seance"]).expect_code(0);
    let rows = "SELECT sequence, payload_json FROM transcript_entries WHERE session_id='seance' ORDER BY sequence";
    let before = ona.rows(rows);
    ona.run(["--fork-session", "--resume", "seance", "-p", "which word?"]).expect_code(0);
    assert!(body(&model, 1).contains("the word is plum"));
    assert_eq!(ona.rows(rows), before);
}

#[test]
fn g13_settings_above_the_checkout_count_inside_a_town_and_silence_the_defaults() {
    let mut ona = ona();
    stub(&mut ona, "gt", "");
    let rig = ona.root().join("town/rig/crew");
    let cwd = rig.join("ann");
    std::fs::create_dir_all(cwd.join(".git")).unwrap();
    std::fs::create_dir_all(rig.join(".claude")).unwrap();
    let hook = json!({"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "gt prime --hook"}]}]}});
    std::fs::write(rig.join(".claude/settings.json"), hook.to_string()).unwrap();
    let _model = ona.model(Wire::Messages, (0..4).map(|_| say("done")));
    let run = |role: &str, flags: &[&str]| {
        std::fs::remove_file(ona.root().join("gt.log")).ok();
        let mut args = vec!["-p", "go"];
        args.extend(flags);
        let mut command = ona.command_in(&cwd, args);
        command.env("GT_ROLE", role).env("GT_ROOT", ona.root().join("town"));
        ona_testkit::finish(command.spawn().unwrap(), b"").expect_code(0);
        called(&ona, "gt")
    };
    assert_eq!(run("rig/crew/ann", &[]), ["prime --hook"]);
    assert_eq!(run("rig/crew/ann", &["--gastown"]), ["prime --hook"], "not the default as well");
    assert!(run("", &[]).is_empty());
    assert_eq!(run("", &["--gastown"]), ["prime"]);
}

#[test]
fn g14_what_bd_prime_says_as_json_is_in_the_first_request() {
    let mut ona = ona();
    let answer = json!({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "BEADS CONTEXT"}});
    stub(&mut ona, "bd", &format!("printf %s '{answer}'"));
    let file =
        json!({"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "bd prime --hook-json"}]}]}});
    ona.file(".claude/settings.json", file.to_string());
    let model = ona.model(Wire::Messages, [say("done"), say("done")]);
    ona.run(["-p", "go"]).expect_code(0);
    assert!(body(&model, 0).contains("<hook-context>\\nBEADS CONTEXT\\n</hook-context>"), "{}", body(&model, 0));
    // The same file, handed over as a configuration of the other dialect.
    ona.run(["-p", "go", "--hooks-config", ".claude/settings.json"]).expect_code(0);
    assert!(body(&model, 1).contains("<hook-context>\\nBEADS CONTEXT\\n</hook-context>"), "{}", body(&model, 1));
    assert_eq!(called(&ona, "bd").len(), 2);
}

#[test]
fn g16_two_handlers_in_one_group_both_speak_in_order() {
    let mut ona = ona();
    stub(&mut ona, "gc", "echo \"from $1 $2\"");
    let handler = |command: &str| json!({"type": "command", "command": command});
    let group = json!([{"hooks": [handler("gc nudge drain --inject"), handler("gc mail check --inject")]}]);
    let settings = json!({"hooks": {"UserPromptSubmit": group}}).to_string();
    let model = ona.model(Wire::Messages, [say("done")]);
    ona.run(["-p", "go", "--settings", &settings]).expect_code(0);
    assert!(body(&model, 0).contains("from nudge drain\\n\\nfrom mail check"), "{}", body(&model, 0));
}

#[test]
fn agents_md_and_claude_md_are_both_instructions() {
    let (ona, model) = worker([say("done")]);
    ona.file("AGENTS.md", "Words of the town.\n");
    ona.file("CLAUDE.md", "Words of the project.\n");
    prompt(&ona, &["--gastown"]);
    let first = body(&model, 0);
    assert!(first.contains("Words of the town.") && first.contains("Words of the project."), "{first}");
}

/// A folder may ask for the mode, but not get rid of the operator's guards with it.
#[test]
fn a_project_that_turns_gastown_mode_on_keeps_the_operators_claude_hooks() {
    let ona = ona();
    let hook = |command: &str| {
        json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}]}})
            .to_string()
    };
    ona.home_file(".claude/settings.json", hook("echo guarded >&2; exit 2"));
    ona.file(".claude/settings.json", hook("touch project-hook"));
    ona.file(".ona/settings.json", r#"{"gastownMode": true, "permissions": {"allow": ["Bash"]}}"#);
    let result = ona.eval("Bash", json!({"command": "touch ran"}));
    assert!(result["content"].as_str().unwrap().contains("guarded"), "{result}");
    assert_eq!((ona.exists("ran"), ona.exists("project-hook")), (false, false));
}

#[test]
fn installing_adds_what_is_missing_twice_the_same_and_breaks_nothing() {
    let ona = ona();
    let town = ona.root().join("town");
    std::fs::create_dir_all(town.join("settings")).unwrap();
    let there = json!({"default_agent": "claude", "agents": {"ona": {"args": ["--mine"]}, "other": {"command": "x"}}});
    let (agents, config) = (town.join("settings/agents.json"), town.join("settings/config.json"));
    std::fs::write(&config, there.to_string()).unwrap();
    let install = || ona.run(["gastown", "install", "--town", town.to_str().unwrap()]);
    let read =
        |file: &std::path::Path| -> Value { serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap() };
    install().expect_code(0);
    assert_eq!(read(&agents)["agents"]["ona"]["resume_flag"], "--resume");
    let merged = read(&config);
    assert_eq!((&merged["default_agent"], &merged["agents"]["other"]), (&json!("claude"), &json!({"command": "x"})));
    assert_eq!(merged["agents"]["ona"]["args"], json!(["--mine"]));
    assert_eq!(merged["agents"]["ona"]["provider"], "claude");
    let before = std::fs::read_to_string(&config).unwrap();
    assert!(install().expect_code(0).stdout.lines().all(|line| line.starts_with("already in ")));
    assert_eq!(std::fs::read_to_string(&config).unwrap(), before);

    // Another way of writing the same is not a reason to write it anew.
    let compact = read(&config).to_string();
    std::fs::write(&config, &compact).unwrap();
    assert!(install().expect_code(0).stdout.lines().all(|line| line.starts_with("already in ")));
    assert_eq!(std::fs::read_to_string(&config).unwrap(), compact);

    std::fs::remove_file(&agents).unwrap();
    for broken in ["{", "[]", r#"{"agents": []}"#, r#"{"agents": {"ona": "mine"}}"#] {
        std::fs::write(&config, broken).unwrap();
        let ran = install().expect_code(2);
        assert!(ran.stderr.contains("config.json") && ran.stderr.contains("nothing was changed"), "{ran:?}");
        assert!(!agents.exists(), "nothing is half registered");
        assert_eq!(std::fs::read_to_string(&config).unwrap(), broken);
    }
    ona.run(["gastown", "install"]).expect_code(2);
    ona.run(["gastown", "install", "--town", "nowhere"]).expect_code(2);
}
