//! Skills and commands of files: finding, loading, typing, their rules and their hooks.

use crate::ona;
use ona_testkit::model::{Wire, call, say};
use ona_testkit::{Ona, Ran};
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
fn result_in(request: &ona_testkit::model::Request) -> String {
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
    assert_eq!(told(&line), (true, "There is no skill plain. The skills are: greet, mine.".into()));
}

#[test]
fn what_can_not_be_loaded_is_said_and_nobody_is_asked() {
    let ona = ona();
    skill(&ona, ".ona/skills/theirs", "---\ndisable-model-invocation: yes\n---\nSteps.");
    skill(&ona, ".ona/skills/known", "ok");
    assert_eq!(
        load(&ona, json!({"skill": "../known"})),
        (true, "There is no skill ../known. The skills are: known.".into())
    );
    let (failed, text) = load(&ona, json!({"skill": "theirs"}));
    assert!(failed && text.contains("for the user alone") && !text.contains("Steps"), "{text}");
    for wrong in [json!({}), json!({"skill": "known", "extra": 1}), json!({"skill": 1})] {
        assert!(load(&ona, wrong).0);
    }
    assert_eq!(ona.value("SELECT count(*) FROM tool_permission_log"), 0);
    assert_eq!(ona.value("SELECT count(*) FROM events WHERE event_type = 'tool_started'"), 0);
}

#[test]
fn a_model_is_told_which_skills_there_are_and_gets_the_text() {
    let mut ona = ona();
    skill(&ona, ".claude/skills/tidy", "---\ndescription: Tidies up\nwhen_to_use: after work\n---\nTidy $0.");
    skill(&ona, ".claude/skills/hidden", "---\ndisable-model-invocation: true\ndescription: x\n---\nHidden.");
    let server = ona.model(Wire::Messages, [call("Skill", json!({"skill": "tidy", "args": "src"})), say("ok")]);
    ona.run(["-p", "clean", "--allowedTools", "Skill(tidy *)"]).expect_code(0);
    let tools = server.request(0).json()["tools"].as_array().unwrap().clone();
    let skill = tools.iter().find(|tool| tool["name"] == "Skill").expect("the tool is offered");
    let description = skill["description"].as_str().unwrap();
    assert!(description.ends_with("Skills:\n- tidy: Tidies up after work"), "{description}");
    assert_eq!(skill["input_schema"]["required"], json!(["skill"]));
    assert!(result_in(&server.request(1)).contains("Tidy src."), "{}", result_in(&server.request(1)));
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
    // An argument is no command, and what it makes of a command is judged as a whole.
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
fn granting(flags: &[&str], front: &str, at_home: bool) -> (Ona, Ran) {
    let mut ona = ona();
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
    assert!(world.exists("first") && !world.exists("second"), "a folder somebody said yes to");
    let (world, ran) = granting(&[], front, false);
    assert!(!world.exists("first"), "a folder nobody said yes to widens nothing");
    assert!(ran.stdout.contains("nobody has trusted this folder yet"), "{}", ran.stdout);
    let (world, _) = granting(&["--disallowedTools", "Bash(touch first)"], front, true);
    assert!(!world.exists("first"), "a deny wins");
    // And what it takes away is gone for the turn.
    let flags = ["--allowedTools", "Bash"];
    let (world, _) = granting(&flags, "disallowed-tools: Bash(touch *)", false);
    assert!(!world.exists("first") && world.exists("second"));
}

#[test]
fn a_folder_that_is_not_trusted_brings_no_skills() {
    let ona = ona();
    skill(&ona, ".ona/skills/theirs", "Theirs.");
    ona.home_file(".ona/skills/mine/SKILL.md", "Mine.");
    let line = ona.eval_with("Skill", json!({"skill": "theirs"}), &["--no-trust"]);
    assert_eq!(told(&line), (true, "There is no skill theirs. The skills are: mine.".into()));
    let line = ona.eval_with("Skill", json!({"skill": "mine"}), &["--no-trust"]);
    assert_eq!(told(&line), (false, "Mine.".into()));
    // A project can not stand in for the user's own.
    skill(&ona, ".ona/skills/mine", "Not mine.");
    assert_eq!(load(&ona, json!({"skill": "mine"})), (false, "Mine.".into()));
    // Nor lead out of itself.
    std::fs::create_dir_all(ona.project().join(".ona/skills/leak")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", ona.project().join(".ona/skills/leak/SKILL.md")).unwrap();
    let (failed, text) = load(&ona, json!({"skill": "leak"}));
    assert!(failed && !text.contains("root:"), "{text}");
}
