//! Skills and commands of files: finding, loading, typing, their rules and their hooks.

use crate::ona;
use ona_testkit::model::{Wire, call, say};
use ona_testkit::{Ona, RunOutput};
use serde_json::{Value, json};

const STREAM: [&str; 5] = ["-p", "--output-format", "stream-json", "--verbose", "--input-format=stream-json"];

fn skill(ona: &Ona, path: &str, text: &str) {
    ona.file(&format!("{path}/SKILL.md"), text);
}

fn load(ona: &Ona, input: Value) -> (bool, String) {
    told(&ona.eval("Skill", input))
}

fn told(line: &Value) -> (bool, String) {
    (line["is_error"].as_bool().unwrap(), line["content"].as_str().unwrap().to_owned())
}

/// The content of the newest result a request tells of.
fn result_in(request: &ona_testkit::model::ModelRequest) -> String {
    request.last_message()
}

#[test]
fn a_skill_is_loaded_by_name_with_its_arguments() {
    let ona = ona();
    skill(&ona, ".ona/skills/greet", "---\ndescription: greets\n---\n\nGreet $ARGUMENTS from ${CLAUDE_SKILL_DIR}.\n");
    skill(&ona, ".claude/skills/plain", "Just this.\n");
    ona.home_file(".ona/skills/mine/SKILL.md", "Mine, $0 of $1.");
    ona.home_file(".claude/skills/theirs/SKILL.md", "Session ${CLAUDE_SESSION_ID}.");
    let folder = ona.project().join(".ona/skills/greet");
    assert_eq!(
        load(&ona, json!({"skill": "greet", "args": "the world"})),
        (false, format!("Greet the world from {}.", folder.display()))
    );
    assert_eq!(load(&ona, json!({"skill": "plain"})), (false, "Just this.".into()));
    assert_eq!(load(&ona, json!({"skill": " /plain", "args": "x"})), (false, "Just this.\n\nARGUMENTS: x".into()));
    assert_eq!(load(&ona, json!({"skill": "mine", "args": "'a b' c"})), (false, "Mine, a b of c.".into()));
    let line = ona.eval("Skill", json!({"skill": "theirs"}));
    assert_eq!(line["content"], format!("Session {}.", line["session_id"].as_str().unwrap()));
    // Something beside the text can be found.
    ona.file(".ona/skills/greet/names.txt", "Ann\n");
    let (_, text) = load(&ona, json!({"skill": "greet"}));
    assert!(text.ends_with(&format!("Files of this skill: {}", folder.display())), "{text}");
    // Without compatible files there are ona's own.
    let line = ona.eval_with("Skill", json!({"skill": "plain"}), &["--no-claude-settings"]);
    assert_eq!(told(&line), (true, "Unknown skill plain. The skills are: greet, mine.".into()));
}

#[test]
fn rules_decide_about_skills_and_the_default_asks() {
    for (flags, expected) in [
        (vec![], "nobody to ask"),
        (vec!["--allowedTools", "Skill"], "Loaded."),
        (vec!["--allowedTools", "Skill", "--disallowedTools", "Skill(one)"], "Denied by permission rule Skill(one)"),
        (vec!["--allowedTools", "Skill(other)"], "nobody to ask"),
    ] {
        let mut ona = ona();
        skill(&ona, ".ona/skills/one", "Loaded.");
        let server = ona.model(Wire::Messages, [call("Skill", json!({"skill": "/one "})), say("ok")]);
        let mut args = vec!["-p", "go"];
        args.extend(&flags);
        ona.run(args).expect_code(0);
        assert!(result_in(&server.request(1)).contains(expected), "{flags:?}: {}", result_in(&server.request(1)));
    }
}

#[test]
fn commands_of_a_text_go_the_way_of_every_bash_call() {
    let ona = ona();
    skill(&ona, ".ona/skills/look", "Here: !`echo $0; echo two` end.\n```!\necho three\n```\n");
    let guard = json!({"hook_event_name": "PreToolUse", "matcher": "Bash", "command": "cat >> seen; echo >> seen"});
    ona.settings(json!({"permissions": {"allow": ["Skill", "Bash(echo *)"]}, "hooks": [guard]}));
    assert_eq!(load(&ona, json!({"skill": "look", "args": "one"})), (false, "Here: one\ntwo end.\nthree".into()));
    let seen = ona.read("seen");
    assert!(seen.contains("echo one; echo two") && seen.contains("echo three"), "{seen}");
    let calls = "SELECT count(*) FROM transcript_entries t JOIN state s ON s.key = 'session_parent:' || t.session_id \
                 WHERE entry_type = 'tool_result'";
    assert_eq!(ona.value(calls), 2, "their rows are in a session of their own");

    // What is not allowed is not run, and the text is not loaded without it.
    skill(&ona, ".ona/skills/touch", "!`touch made`");
    let (failed, text) = load(&ona, json!({"skill": "touch"}));
    assert!(
        failed && text.starts_with("The skill touch was not loaded: its command `touch made` may not run."),
        "{text}"
    );
    assert!(!ona.exists("made"));
    // An argument is not a command, and what it makes of a command is judged as a whole.
    let (_, text) = load(&ona, json!({"skill": "look", "args": "'$(touch made)'"}));
    assert!(text.contains("may not run"), "{text}");
    skill(&ona, ".ona/skills/echo", "$ARGUMENTS");
    assert_eq!(load(&ona, json!({"skill": "echo", "args": "!`touch made`"})).1, "!`touch made`");
    assert!(!ona.exists("made"));
    // A hook's deny holds.
    ona.settings(json!({
        "permissions": {"allow": ["Skill", "Bash"]},
        "hooks": [{"hook_event_name": "PreToolUse", "matcher": "Bash", "command": "echo no >&2; exit 2"}],
    }));
    let (failed, text) = load(&ona, json!({"skill": "touch"}));
    assert!(failed && text.contains("Denied by PreToolUse hook"), "{text}");
    // Failures end it, an exit code of 1 does not.
    ona.settings(json!({"permissions": {"allow": ["Skill", "Bash"]}}));
    skill(&ona, ".ona/skills/fails", "a !`exit 3` b");
    skill(&ona, ".ona/skills/differs", "a !`echo d; exit 1` b");
    assert!(load(&ona, json!({"skill": "fails"})).1.contains("`exit 3` ended with exit code 3."));
    assert_eq!(load(&ona, json!({"skill": "differs"})), (false, "a d b".into()));
    // The policy may switch them off.
    ona.settings(json!({"permissions": {"allow": ["Skill", "Bash"]}, "disableSkillShellExecution": true}));
    assert_eq!(
        load(&ona, json!({"skill": "differs"})),
        (false, "a [shell command execution disabled by policy] b".into())
    );
}

/// A skill that wants `touch made` allowed, and a model that does it then and in the next turn.
fn granting(flags: &[&str], front: &str, at_home: bool) -> (Ona, RunOutput) {
    let mut ona = ona().untrusted();
    let text = format!("---\n{front}\n---\nGo.");
    match at_home {
        true => drop(ona.home_file(".ona/skills/maker/SKILL.md", text)),
        false => skill(&ona, ".ona/skills/maker", &text),
    }
    let touch = |name: &str| call("Bash", json!({ "command": format!("touch {name}") }));
    let script = [call("Skill", json!({"skill": "maker"})), touch("first"), say("a"), touch("second"), say("b")];
    let _server = ona.model(Wire::Messages, script);
    let line = |text: &str| json!({"type": "user", "message": {"role": "user", "content": text}}).to_string();
    let mut args = STREAM.to_vec();
    args.extend(["--allowedTools", "Skill"]);
    args.extend(flags);
    let ran = ona.run_with_stdin(args, [line("one"), line("two")].join("\n").as_bytes()).expect_code(0);
    (ona, ran)
}

#[test]
fn the_tools_a_skill_allows_are_allowed_for_the_turn() {
    let front = "allowed-tools: Bash(touch *), AskUserQuestion";
    let (world, _) = granting(&[], front, true);
    assert!(world.exists("first") && !world.exists("second"), "the user's own skill, in its turn");
    let (world, _) = granting(&["--trust"], front, false);
    assert!(world.exists("first") && !world.exists("second"), "a folder that was trusted");
    let (world, ran) = granting(&[], front, false);
    assert!(!world.exists("first"), "a folder nobody said yes to widens nothing");
    assert!(ran.stdout.contains("Unknown skill maker"), "{}", ran.stdout);
    let (world, _) = granting(&["--disallowedTools", "Bash(touch first)"], front, true);
    assert!(!world.exists("first"), "a deny wins");
    // And what it takes away is gone for the turn.
    let flags = ["--allowedTools", "Bash", "--trust"];
    let (world, _) = granting(&flags, "disallowed-tools: Bash(touch *)", false);
    assert!(!world.exists("first") && world.exists("second"));
}

#[test]
fn a_folder_that_is_not_trusted_brings_no_skills() {
    let ona = ona();
    skill(&ona, ".ona/skills/theirs", "Theirs.");
    ona.home_file(".ona/skills/mine/SKILL.md", "Mine.");
    let line = ona.eval_with("Skill", json!({"skill": "theirs"}), &["--no-trust"]);
    assert_eq!(told(&line), (true, "Unknown skill theirs. The skills are: mine.".into()));
    let line = ona.eval_with("Skill", json!({"skill": "mine"}), &["--no-trust"]);
    assert_eq!(told(&line), (false, "Mine.".into()));
    // A project cannot stand in for the user's own.
    skill(&ona, ".ona/skills/mine", "Not mine.");
    assert_eq!(load(&ona, json!({"skill": "mine"})), (false, "Mine.".into()));
    // Nor lead out of itself.
    std::fs::create_dir_all(ona.project().join(".ona/skills/leak")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", ona.project().join(".ona/skills/leak/SKILL.md")).unwrap();
    let (failed, text) = load(&ona, json!({"skill": "leak"}));
    assert!(failed && !text.contains("root:"), "{text}");
}

/// A skill whose hook notes every Bash call in `guard.log` and refuses `rm`.
const CAREFUL: &str = r#"---
name: careful
description: looks twice
hooks:
  PreToolUse:
    - matcher: "Bash"
      hooks:
        - type: command
          command: "sh ${CLAUDE_SKILL_DIR}/bin/check.sh"
          timeout: 20
---
Be careful.
"#;

const CHECK: &str = r#"input=$(cat)
printf '%s\n' "$input" >> guard.log
case $input in *'"rm '*) echo 'careful: not that' >&2; exit 2 ;; esac
"#;

fn careful(ona: &Ona) {
    skill(ona, ".claude/skills/careful", CAREFUL);
    ona.file(".claude/skills/careful/bin/check.sh", CHECK);
}

fn bash(command: &str) -> ona_testkit::model::ScriptedTurn {
    call("Bash", json!({ "command": command }))
}

/// The commands the guard was asked about.
fn asked(ona: &Ona) -> Vec<String> {
    let log = std::fs::read_to_string(ona.project().join("guard.log")).unwrap_or_default();
    let command =
        |line: &str| serde_json::from_str::<Value>(line).unwrap()["tool_input"]["command"].as_str().unwrap().to_owned();
    log.lines().map(command).collect()
}

#[test]
fn clearing_leaves_the_hooks_of_skills_behind() {
    let mut ona = ona();
    careful(&ona);
    let script = [call("Skill", json!({"skill": "careful"})), bash("true one"), say("ok"), bash("true two"), say("ok")];
    let _server = ona.model(Wire::Messages, script);
    let line = |text: &str| json!({"type": "user", "message": {"role": "user", "content": text}}).to_string();
    let mut args = STREAM.to_vec();
    args.extend(["--allowedTools", "Skill,Bash"]);
    ona.run_with_stdin(args, [line("go"), line("/clear"), line("again")].join("\n").as_bytes()).expect_code(0);
    assert_eq!(asked(&ona), ["true one"]);
}

fn eval_in(ona: &Ona, session: &str, tool: &str, input: Value, flags: &[&str]) -> Value {
    let call = json!({"tool": tool, "input": input, "session_id": session}).to_string();
    let mut args = vec!["--eval", &call];
    args.extend(flags);
    ona.run(args).expect_code(0).json()
}

#[test]
fn hooks_of_skills_come_last_in_the_order_they_came() {
    let ona = ona();
    let entry = |text: &str, matcher: &str| {
        format!("---\nhooks:\n  PreToolUse:\n    - matcher: {matcher}\n      command: echo {text} >> order\n---\nx")
    };
    skill(&ona, ".ona/skills/b", &entry("b", "Bas"));
    skill(&ona, ".claude/skills/a", &entry("a", "Bash"));
    skill(&ona, ".claude/skills/exact", &entry("never", "Bas"));
    ona.settings(json!({
        "permissions": {"allow": ["Bash", "Skill"]},
        "hooks": [{"hook_event_name": "PreToolUse", "matcher": "Bash", "command": "echo settings >> order"}],
    }));
    for name in ["b", "a", "exact", "b"] {
        assert_eq!(eval_in(&ona, "s", "Skill", json!({"skill": name}), &[])["is_error"], false);
    }
    eval_in(&ona, "s", "Bash", json!({"command": "true"}), &[]);
    // `.ona` speaks sdlc, where a matcher is an expression; `.claude` takes a plain name at its word.
    assert_eq!(ona.read("order"), "settings\nb\na\n");
    let ordinals = ona.rows("SELECT hook_ordinal, command FROM hook_invocations ORDER BY id");
    assert_eq!(ordinals.iter().map(|row| row[0].as_i64().unwrap()).collect::<Vec<_>>(), [0, 1, 2], "{ordinals:?}");
    // Somewhere else nothing of it runs.
    eval_in(&ona, "other", "Bash", json!({"command": "true"}), &[]);
    assert_eq!(ona.read("order"), "settings\nb\na\nsettings\n");
}

#[test]
fn a_hook_that_runs_once_has_run_also_for_the_next_process() {
    let ona = ona();
    let text = "---\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - command: echo once >> ran\n          once: true\n        - command: echo always >> ran\n---\nx";
    skill(&ona, ".claude/skills/s", text);
    ona.settings(json!({"permissions": {"allow": ["Bash", "Skill"]}}));
    eval_in(&ona, "s", "Skill", json!({"skill": "s"}), &[]);
    for _ in 0..2 {
        eval_in(&ona, "s", "Bash", json!({"command": "true"}), &[]);
    }
    eval_in(&ona, "s", "Skill", json!({"skill": "s"}), &[]);
    eval_in(&ona, "s", "Bash", json!({"command": "true"}), &[]);
    assert_eq!(ona.read("ran"), "once\nalways\nalways\nalways\n");
    eval_in(&ona, "t", "Skill", json!({"skill": "s"}), &[]);
    eval_in(&ona, "t", "Bash", json!({"command": "true"}), &[]);
    assert_eq!(ona.read("ran"), "once\nalways\nalways\nalways\nonce\nalways\n");
}

#[test]
fn trust_and_switches_hold_for_hooks_of_skills() {
    let ona = ona().untrusted();
    careful(&ona);
    ona.settings(json!({"permissions": {"allow": ["Bash", "Skill"]}}));
    let call = json!({"tool": "Skill", "input": {"skill": "careful"}, "session_id": "s"}).to_string();
    let ran = ona.run(["--eval", &call]).expect_code(0);
    assert!(ran.stdout.contains("Unknown skill careful") && ran.stderr.contains("not trusted"), "{ran:?}");
    let ran = ona.run(["--eval", &call, "--trust"]).expect_code(0);
    assert!(!ran.stderr.contains("brings hooks"), "{}", ran.stderr);
    eval_in(&ona, "s", "Bash", json!({"command": "true 1"}), &["--no-trust"]);
    let skipped = "SELECT coalesce(skipped_reason, 'ran') FROM hook_invocations ORDER BY id DESC LIMIT 1";
    assert_eq!(ona.value(skipped), "untrusted_workspace");
    ona.settings(json!({"permissions": {"allow": ["Bash", "Skill"]}, "disableAllHooks": true}));
    eval_in(&ona, "s", "Bash", json!({"command": "true 2"}), &[]);
    assert_eq!(ona.value(skipped), "all_hooks_disabled");
    ona.settings(
        json!({"permissions": {"allow": ["Bash", "Skill", "Edit", "Write"]}, "defaultMode": "bypassPermissions"}),
    );
    eval_in(&ona, "s", "Bash", json!({"command": "true 3"}), &[]);
    assert_eq!(asked(&ona), ["true 3"]);
    // The agent cannot take the guard away.
    let file = ona.project().join(".claude/skills/careful/bin/check.sh");
    let written = eval_in(&ona, "s", "Write", json!({"file_path": file, "content": ""}), &["--yes"]);
    assert_eq!(written["is_error"], true, "{written}");
    assert_eq!(std::fs::read_to_string(file).unwrap(), CHECK);
    // Before a skill is loaded its hooks are listed as what it would bring.
    let listed = ona.run(["hooks", "list", "--json"]).expect_code(0).json();
    assert_eq!(listed["on_demand"][0]["source"], "skill:careful");
}

#[test]
fn an_agent_has_the_hooks_of_its_definition_while_it_runs() {
    let mut ona = ona();
    let hooks = "hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - command: cat >> guard.log\n  Stop:\n    - matcher: ignored\n      hooks:\n        - command: cat >> stop.log\n";
    ona.file(".claude/agents/w.md", format!("---\nname: worker\ndescription: works\n{hooks}---\nWork.\n"));
    let task = json!({"description": "a task", "prompt": "do it", "subagent_type": "worker"});
    let script =
        [bash("true before"), call("Agent", task), bash("true inside"), say("done"), bash("true after"), say("ok")];
    let _server = ona.model(Wire::Messages, script);
    ona.run(["-p", "go", "--allowedTools", "Bash,Agent"]).expect_code(0);
    assert_eq!(asked(&ona), ["true inside"]);
    let stop: Value = serde_json::from_str(&ona.read("stop.log")).expect("once, at the end of the agent");
    assert_eq!((&stop["hook_event_name"], &stop["agent_type"]), (&json!("SubagentStop"), &json!("worker")));

    // As the agent of the session itself they are the session's.
    std::fs::remove_file(ona.project().join("stop.log")).unwrap();
    let _server = ona.model(Wire::Messages, [bash("true lead"), say("ok")]);
    ona.run(["-p", "go", "--agent", "worker", "--allowedTools", "Bash"]).expect_code(0);
    assert_eq!(asked(&ona), ["true inside", "true lead"]);
    let stop: Value = serde_json::from_str(&ona.read("stop.log")).unwrap();
    assert_eq!(stop["hook_event_name"], "Stop");
    // A folder that is not trusted brings no agents.
    let ran = ona.run(["-p", "go", "--agent", "worker", "--no-trust"]).expect_code(2);
    assert!(ran.stderr.contains("agent worker does not exist"), "{}", ran.stderr);
}

#[test]
fn a_guard_of_the_session_holds_for_its_agents_and_a_guard_of_an_agent_for_nobody_else() {
    let mut ona = ona();
    careful(&ona);
    let task = || json!({"description": "a task", "prompt": "do it"});
    let script = [
        call("Skill", json!({"skill": "careful"})),
        call("Agent", task()),
        bash("true inside"),
        say("done"),
        say("ok"),
        // In another session an agent loads the skill for itself.
        call("Agent", task()),
        call("Skill", json!({"skill": "careful"})),
        bash("true its own"),
        say("done"),
        bash("true outside"),
        say("ok"),
    ];
    let _server = ona.model(Wire::Messages, script);
    let allow = ["--allowedTools", "Skill,Bash,Agent"];
    ona.run(["-p", "go", allow[0], allow[1]]).expect_code(0);
    assert_eq!(asked(&ona), ["true inside"]);
    ona.run(["-p", "go", allow[0], allow[1]]).expect_code(0);
    assert_eq!(asked(&ona), ["true inside", "true its own"]);
}

#[test]
fn a_command_of_a_file_is_typed_as_the_prompt() {
    let mut ona = ona();
    ona.file(
        ".claude/commands/done.md",
        "---\ndescription: Finish\nargument-hint: [id]\n---\nFinish $ARGUMENTS now.\n",
    );
    ona.file(".ona/commands/git/tidy.md", "Tidy $0 in $1; !`printf five`.");
    ona.home_file(".claude/commands/mine.md", "Mine.");
    skill(&ona, ".claude/skills/theirs", "---\nuser-invocable: false\n---\nTheirs.");
    skill(&ona, ".claude/skills/typed", "---\ndisable-model-invocation: true\n---\nTyped.");
    let server = ona.model(Wire::Messages, []);
    let allow = ["--allowedTools", "Bash(printf *)"];
    for (prompt, expected) in [
        ("/done gt-1", "Finish gt-1 now."),
        ("/git:tidy 'a b' c", "Tidy a b in c; five."),
        ("/tidy a c", "Tidy a in c; five."),
        ("/mine", "Mine."),
        ("/mine /typed all of it", "Mine.\n\nARGUMENTS: all of it\n\nTyped.\n\nARGUMENTS: all of it"),
        ("/mine /nothing", "Mine.\n\nARGUMENTS: /nothing"),
        ("/usr/bin/env is broken", "/usr/bin/env is broken"),
    ] {
        let before = server.request_count();
        ona.run(["-p", prompt, allow[0], allow[1]]).expect_code(0);
        let asked = server.request(before).json()["messages"][0]["content"].to_string();
        assert!(asked.contains(&serde_json::to_string(expected).unwrap()), "{prompt}: {asked}");
    }
    assert_eq!(
        ona.value("SELECT json_extract(payload_json, '$.typed') FROM transcript_entries WHERE entry_type = 'system' ORDER BY id LIMIT 1"),
        "/done gt-1"
    );

    // What nobody knows is not asked of a model.
    let before = server.request_count();
    for (prompt, expected) in
        [("/nonesuch x", "Unknown command: /nonesuch"), ("/theirs", "/theirs can only be loaded by the model")]
    {
        let ran = ona.run(["-p", prompt]).expect_code(1);
        assert!(ran.stderr.contains(expected), "{ran:?}");
    }
    // Nor is a text one of whose commands may not run.
    let ran = ona.run(["-p", "/git:tidy a b"]).expect_code(1);
    assert!(ran.stderr.contains("its command `printf five` may not run"), "{ran:?}");
    assert_eq!(server.request_count(), before);
    // Switched off, everything is words.
    ona.run(["-p", "/done gt-1", "--disable-slash-commands"]).expect_code(0);
    assert!(server.request(before).last_message().contains("/done gt-1"));
}

#[test]
fn programs_are_told_what_can_be_typed_and_type_it() {
    let mut ona = ona();
    ona.file(".claude/commands/done.md", "---\ndescription: Finish\nargument-hint: \"[id]\"\n---\nFinish $ARGUMENTS.");
    careful(&ona);
    skill(&ona, ".claude/skills/theirs", "---\nuser-invocable: false\n---\nTheirs.");
    let server = ona.model(Wire::Messages, [say("ok"), say("ok"), bash("true guarded"), say("ok")]);
    let mut args = STREAM.to_vec();
    args.extend(["--allowedTools", "Bash"]);
    let mut talk = ona.talk(args);
    let answer = talk.ask(json!({"subtype": "initialize"}));
    let commands = answer["response"]["commands"].as_array().unwrap().clone();
    assert!(
        commands.contains(&json!({"name": "done", "description": "Finish", "argumentHint": "[id]"})),
        "{commands:?}"
    );
    talk.say("/done gt-2");
    let init = talk.until(|line| line["subtype"] == "init");
    let names = init["slash_commands"].as_array().unwrap();
    assert!(
        ["careful", "clear", "compact", "done", "status"].iter().all(|name| names.contains(&json!(name))),
        "{names:?}"
    );
    assert!(!names.contains(&json!("exit")), "needs a terminal");
    assert_eq!(init["skills"], json!(["careful", "done", "theirs"]));
    assert_eq!(talk.until_result()["is_error"], false);
    talk.say("/what is this");
    let result = talk.until_result();
    assert_eq!((&result["is_error"], &result["result"]), (&json!(true), &json!("Unknown command: /what")));
    // A skill that is typed brings its hooks like one that is loaded.
    talk.say("/careful");
    talk.until_result();
    talk.say("go");
    talk.until_result();
    assert_eq!(talk.finish().0, 0);
    assert!(server.request(0).last_message().contains("Finish gt-2."));
    assert_eq!(asked(&ona), ["true guarded"]);
}

/// A plugin whose hooks note who they are, what they learned about their folders, and the event.
fn plugin(root: &std::path::Path, name: &str) {
    let hook = |word: &str| {
        json!([{"matcher": "Bash", "hooks": [{"type": "command", "command": format!(
        "printf '%s %s %s\\n' {name}-{word} \"${{CLAUDE_PLUGIN_ROOT}}\" \"$CLAUDE_PLUGIN_DATA\" >> plugins.log; test -d \"$CLAUDE_PLUGIN_DATA\" || echo none >> plugins.log")}]}])
    };
    let files = [
        ("hooks/hooks.json", json!({"description": "x", "hooks": {"PreToolUse": hook("file")}})),
        ("extra.json", json!({"hooks": {"PreToolUse": hook("named")}})),
        (
            ".claude-plugin/plugin.json",
            json!({"name": name, "hooks": ["./extra.json", "./hooks/hooks.json", "../outside.json", {"PreToolUse": hook("inline")}]}),
        ),
    ];
    for (path, value) in files {
        std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        std::fs::write(root.join(path), value.to_string()).unwrap();
    }
    std::fs::create_dir_all(root.join("skills/help")).unwrap();
    std::fs::write(root.join("skills/help/SKILL.md"), "Look into ${CLAUDE_PLUGIN_ROOT}.").unwrap();
}

fn logged(ona: &Ona) -> Vec<String> {
    let log = std::fs::read_to_string(ona.project().join("plugins.log")).unwrap_or_default();
    log.lines().map(str::to_owned).collect()
}

#[test]
fn c31_hooks_of_enabled_plugins_run_with_their_folders() {
    let ona = ona();
    let root = ona.home().join(".claude/plugins/cache/market/beads/1.0.0");
    plugin(&root, "beads");
    ona.home_file(
        ".claude/outside.json",
        json!({"hooks": {"PreToolUse": [{"hooks": [{"command": "echo out >> plugins.log"}]}]}}).to_string(),
    );
    ona.home_file(
        ".claude/plugins/installed_plugins.json",
        json!({"version": 2, "plugins": {"beads@market": [
            {"scope": "project", "projectPath": "/elsewhere", "installPath": "/nowhere"},
            {"scope": "user", "installPath": root},
        ]}})
        .to_string(),
    );
    let settings =
        |on: bool| json!({"enabledPlugins": {"beads@market": on}, "permissions": {"allow": ["Bash"]}}).to_string();
    ona.home_file(".claude/settings.json", settings(true));
    let data = ona.home().join(".claude/plugins/data/beads-market");
    let expected: Vec<_> =
        ["file", "named", "inline"].map(|word| format!("beads-{word} {} {}", root.display(), data.display())).into();
    ona.run(["settings", "import"]).expect_code(0);
    ona.eval("Bash", json!({"command": "true"}));
    assert_eq!(logged(&ona), expected);
    let listed = ona.run(["hooks", "list", "--json"]).expect_code(0).json();
    assert_eq!(
        (&listed["hooks"][0]["source"], &listed["hooks"][0]["dialect"]),
        (&json!("plugin:beads@market"), &json!("claude"))
    );
    // Its skills go by its name.
    assert_eq!(load(&ona, json!({"skill": "beads:help"})), (false, format!("Look into {}.", root.display())));

    // A folder cannot switch off what the operator switched on.
    ona.file(".claude/settings.json", settings(false));
    ona.run(["settings", "import"]).expect_code(0);
    ona.eval("Bash", json!({"command": "true"}));
    assert_eq!(logged(&ona).len(), 6);
    // The operator can, also in a file named on the command line.
    let off = json!({"enabledPlugins": {"beads@market": false}}).to_string();
    ona.eval_with("Bash", json!({"command": "true"}), &["--settings", &off]);
    assert_eq!(logged(&ona).len(), 6);
    ona.home_file(".claude/settings.json", settings(false));
    ona.run(["settings", "import"]).expect_code(0);
    ona.eval("Bash", json!({"command": "true"}));
    assert_eq!(logged(&ona).len(), 6);
    assert!(load(&ona, json!({"skill": "beads:help"})).0);
}

#[test]
fn a_plugin_may_be_named_on_the_command_line() {
    let ona = ona();
    let root = ona.root().join("mine");
    plugin(&root, "mine");
    ona.home_file(".ona/settings.json", json!({"permissions": {"allow": ["Bash"]}}).to_string());
    let dir = root.to_str().unwrap();
    ona.eval_with("Bash", json!({"command": "true"}), &["--plugin-dir", dir]);
    assert_eq!(logged(&ona).len(), 3);
    ona.run(["settings", "import"]).expect_code(0);
    ona.eval("Bash", json!({"command": "true"}));
    assert_eq!(logged(&ona).len(), 3);
    let ran =
        ona.run(["--plugin-dir", "nowhere", "--eval", r#"{"tool":"Bash","input":{"command":"true"}}"#]).expect_code(2);
    assert!(ran.stderr.contains("--plugin-dir: folder "), "{}", ran.stderr);
}

#[test]
fn what_a_skill_asks_for_in_vain_is_said() {
    let ona = ona();
    skill(&ona, ".ona/skills/fork", "---\ncontext: inline\nshell: powershell\neffort: high\nlicense: MIT\n---\nText.");
    let ran = ona.run(["--eval", r#"{"tool":"Skill","input":{"skill":"fork"}}"#]).expect_code(0);
    assert_eq!(ran.json()["content"], "Text.");
    let said = "The skill fork: effort, shell of its front matter has no effect in this build";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
}

#[test]
fn the_operator_says_how_much_of_a_skill_is_seen() {
    let ona = ona();
    for name in ["a", "b", "c", "d"] {
        skill(&ona, &format!(".ona/skills/{name}"), &format!("---\ndescription: about {name}\n---\n{name}."));
    }
    let overrides = json!({"a": "off", "b": "user-invocable-only", "c": "name-only", "d": "loud"});
    ona.home_file(".ona/settings.json", json!({ "skillOverrides": overrides }).to_string());
    let ran = ona.run(["--eval", r#"{"tool":"Skill","input":{"skill":"a"}}"#]).expect_code(0);
    assert_eq!(ran.json()["content"], "Unknown skill a. The skills are: c, d.");
    assert!(ran.stderr.contains("skillOverrides.d must be on"), "{}", ran.stderr);
    assert!(load(&ona, json!({"skill": "b"})).1.contains("for the user alone"));
    assert_eq!(load(&ona, json!({"skill": "c"})), (false, "c.".into()));
}

#[test]
fn a_skill_may_bring_a_hook_that_asks_the_model() {
    let mut ona = ona();
    let text = "---\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: prompt\n          prompt: May this run?\n          continueOnBlock: true\n---\nx";
    skill(&ona, ".claude/skills/judge", text);
    let verdict = say(r#"{"ok": false, "reason": "not today"}"#);
    let script = [call("Skill", json!({"skill": "judge"})), bash("touch made"), verdict, say("ok")];
    let server = ona.model(Wire::Messages, script);
    ona.run(["-p", "go", "--allowedTools", "Skill,Bash"]).expect_code(0);
    assert!(server.request(2).last_message().contains("May this run?"), "{}", server.request(2).last_message());
    assert!(server.request(3).last_message().contains("not today"), "{}", server.request(3).last_message());
    assert!(!ona.exists("made"));
}
