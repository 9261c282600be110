//! Credentials never reach a table, hook stdin or an error text (section 2.8).

use crate::ona;
use serde_json::json;

const CANARIES: [(&str, &str); 5] = [
    ("ANTHROPIC_API_KEY", "canary-anthropic-key-1"),
    ("ANTHROPIC_AUTH_TOKEN", "canary-anthropic-token-2"),
    ("OPENAI_API_KEY", "canary-openai-\"key\"-3"),
    ("LM_STUDIO_API_KEY", "canary-studio-4"),
    ("CLAUDE_CODE_OAUTH_TOKEN", "canary-oauth-5"),
];

/// A model that repeats a key does so token by token: no piece is the key, all of them are.
#[test]
fn a_key_spread_over_pieces_of_a_reply_is_neither_printed_nor_stored() {
    use ona_testkit::model::{ScriptedCall, Split, Wire, calls, say};
    let secret = "canary/of+the=wire";
    let encoded = ["canary%2fof%2bthe%3dwire", "canary/of%2Bthe%3Dwire", "Y2FuYXJ5L29mK3RoZT13aXJl", secret];
    for wire in [Wire::Messages, Wire::Chat] {
        let mut ona = ona();
        let input = json!({"file_path": "k.txt", "content": format!("key {secret}\n")});
        let text = format!("The key is {} and that is all.", encoded.join(" or "));
        let _server = ona.model(
            wire,
            [
                calls([ScriptedCall::new("Write", input).split(Split::EveryByte)]),
                say(&text).split_text(Split::EveryByte),
                say("again: canary/of+the=wire").split_text(Split::At(vec![3, 14, 20])),
            ],
        );
        let settings = json!({"env": {"SOME_TOKEN": secret}, "permissions": {"allow": ["Write"]}});
        ona.home_file(".ona/settings.json", settings.to_string());
        let mut printed = Vec::new();
        let pieces = ["-p", "go", "--output-format", "stream-json", "--include-partial-messages"];
        for args in [&pieces[..], &["-p", "go", "--output-format", "json", "--verbose"]] {
            let ran = ona.run(args);
            assert!(!ran.stdout.contains("canary") && !ran.stdout.contains("Y2Fu"), "{wire:?} {}", ran.stdout);
            printed.push(ran.expect_code(0).stdout);
        }
        assert_eq!(ona.read("k.txt"), format!("key {secret}\n"), "the tool works with the real value");
        let lines = printed[0].lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let deltas: Vec<_> = lines.map(|line| line["event"]["delta"].clone()).collect();
        let of = |key: &str| deltas.iter().filter_map(|delta| delta[key].as_str()).collect::<String>();
        let label = "[REDACTED:SOME_TOKEN]";
        assert_eq!(of("text"), format!("The key is {label} or {label} or {label} or {label} and that is all."));
        let input: serde_json::Value = serde_json::from_str(&of("partial_json")).unwrap();
        assert_eq!(input["content"], format!("key {label}\n"));
        assert!(deltas.len() > 40, "text is shown as it comes");
        let rows = format!("{:?}", ona.rows("SELECT payload_json FROM transcript_entries"));
        assert!(!rows.contains("canary") && !rows.contains("Y2Fu"), "{rows}");
    }
}

const NOTE: &str = "not passed to commands, because they hold a model provider's credential: ";

/// A world with all credentials, in which Bash may run.
fn with_credentials() -> ona_testkit::Ona {
    let mut ona = ona();
    for (name, value) in CANARIES {
        ona.env(name, value);
    }
    ona.env("COPY", "canary-anthropic-key-1").env("CURL_HEADERS", "x-api-key: canary-anthropic-token-2");
    ona.env("OTHER_TOKEN", "another-service");
    ona.home_file(".ona/settings.json", json!({"permissions": {"allow": ["Bash"]}}).to_string());
    ona
}

/// The names of the variables a command was given, of those that concern us.
fn given(ona: &ona_testkit::Ona, flags: &[&str]) -> String {
    let command = "env > given; cut -d= -f1 given | grep -E 'KEY|TOKEN|CO.Y|CURL_' | sort | paste -sd,";
    let said = ona.eval_with("Bash", json!({"command": command}), flags)["content"].as_str().unwrap().to_owned();
    said.trim().to_owned()
}

#[test]
fn commands_are_started_without_the_providers_credentials() {
    let ona = with_credentials();
    assert_eq!(given(&ona, &[]), "OTHER_TOKEN");
    assert!(!ona.read("given").contains("canary"));

    let said = |command: &str, more: serde_json::Value| {
        let mut input = json!({"command": command});
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ona.eval("Bash", input)
    };
    for (command, named) in [
        ("echo \"<$ANTHROPIC_API_KEY>\"", "ANTHROPIC_API_KEY"),
        ("echo \"<${OPENAI_API_KEY:-}>\"", "OPENAI_API_KEY"),
        ("echo \"<$(printenv COPY CLAUDE_CODE_OAUTH_TOKEN)>\"", "CLAUDE_CODE_OAUTH_TOKEN, COPY"),
    ] {
        let result = said(command, json!({}));
        let content = result["content"].as_str().unwrap();
        assert_eq!(content.split_once("\n--- stderr ---\n").map(|(out, _)| out), Some("<>\n"), "{result}");
        assert_eq!(content.matches(NOTE).count(), 1, "{content}");
        assert!(content.contains(&format!("{NOTE}{named}.")) && content.contains("passCredentials"), "{content}");
    }
    let plain = said("OPENAI_API_KEY=own; echo done", json!({}));
    assert_eq!(plain["content"], "done\n", "nothing is said where nothing is missed");

    let calls = [
        json!({"tool": "Bash", "input": {"command": "env > later; echo $OPENAI_API_KEY", "run_in_background": true}}),
        json!({"tool": "TaskOutput", "input": {"task_id": "b1", "block": true}}),
    ];
    let ran = ona.run_with_stdin(["--eval", "-"], calls.map(|call| call.to_string()).join("\n").as_bytes());
    assert!(ran.expect_code(0).stdout.contains(&format!("{NOTE}OPENAI_API_KEY.")));
    assert!(!ona.read("later").contains("canary"));

    // Nor are the commands of a skill; hooks keep the environment (section 5.11).
    let hook = json!({"hook_event_name": "PreToolUse", "command": "env > of_hook", "shell": "sh"});
    ona.home_file(
        ".ona/settings.json",
        json!({"permissions": {"allow": ["Bash(env:*)", "Bash", "Skill"]}, "hooks": [hook]}).to_string(),
    );
    ona.home_file(".ona/skills/look/SKILL.md", "---\ndescription: looks\n---\nSee:\n!`env > skill; wc -l < skill`\n");
    ona.run(["--eval", r#"{"tool":"Skill","input":{"skill":"look"}}"#]).expect_code(0);
    assert!(!ona.read("skill").contains("canary"), "{}", ona.read("skill"));
    assert!(CANARIES.iter().all(|(_, value)| ona.read("of_hook").contains(value)), "hooks have them");
}

#[test]
fn only_the_operator_can_have_credentials_passed() {
    let everything = "ANTHROPIC_API_KEY,ANTHROPIC_AUTH_TOKEN,CLAUDE_CODE_OAUTH_TOKEN,COPY,CURL_HEADERS,LM_STUDIO_API_KEY,OPENAI_API_KEY,OTHER_TOKEN";
    let pass = json!({"passCredentials": true}).to_string();
    let ona = with_credentials();
    ona.file(".ona/settings.json", &pass);
    ona.file(".claude/settings.json", &pass);
    assert_eq!(given(&ona, &["--trust"]), "OTHER_TOKEN", "a project cannot");
    assert_eq!(given(&ona, &["--settings", &pass]), everything);

    let ona = with_credentials();
    ona.file(".ona/settings.local.json", &pass);
    assert_eq!(given(&ona, &["--trust"]), everything, "the local file is the operator's");

    let ona = with_credentials();
    let settings = json!({"passCredentials": true, "permissions": {"allow": ["Bash"]}});
    ona.home_file(".ona/settings.json", settings.to_string());
    assert_eq!(given(&ona, &[]), everything);
    let said = ona.eval("Bash", json!({"command": "echo $OPENAI_API_KEY"}));
    assert_eq!(said["content"], "[REDACTED:OPENAI_API_KEY]\n");

    let ona = with_credentials();
    let settings = json!({"passCredentials": "yes", "permissions": {"allow": ["Bash"]}});
    ona.home_file(".ona/settings.json", settings.to_string());
    let ran = ona.run(["--eval", r#"{"tool":"Bash","input":{"command":"env > given"}}"#]).expect_code(0);
    assert!(ran.stderr.contains("passCredentials must be true or false"), "{}", ran.stderr);
    assert!(!ona.read("given").contains("canary"));
}

/// The environment a program was started with can be read by every other of the same user.
#[cfg(target_os = "linux")]
#[test]
fn commands_do_not_find_credentials_in_the_program_that_started_them() {
    let ona = with_credentials();
    // The parent of a command is the keeper of the children, and that one's is the program.
    ona.file("token", "canary-handed-over\n");
    ona.file(
        "look.sh",
        "tr '\\0' '\\n' < /proc/$1/environ > of_parent; tr '\\0' ' ' < /proc/$1/cmdline > arguments
        cat > handed <&9; ls -l /proc/self/fd > descriptors",
    );
    let call = json!({"tool": "Bash", "input": {"command": "bash look.sh $(ps -o ppid= -p $PPID)"}}).to_string();
    let script = format!(
        "exec 9< token; CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR=9 ona --eval '{}'",
        call.replace('\'', r"'\''")
    );
    ona.shell(&script).expect_code(0);
    let of_parent = ona.read("of_parent");
    assert!(of_parent.contains("HOME=") && of_parent.contains("ANTHROPIC_API_KEY="), "{of_parent}");
    for (name, value) in CANARIES {
        assert!(!of_parent.contains(&format!("{name}={value}")), "{of_parent}");
    }
    assert_eq!(ona.read("handed"), "");
    assert!(!ona.read("descriptors").contains("token") && !ona.read("arguments").contains("canary"));
}

#[test]
fn folders_below_tmpdir_are_for_this_user_alone() {
    let ona = with_credentials();
    let command = "stat -c %a \"$TMPDIR\"/ona-shell-*; cd .";
    let call = json!({"tool": "Bash", "input": {"command": command}}).to_string();
    let ran = ona.shell(&format!("umask 0; ona --eval '{call}'")).expect_code(0);
    assert_eq!(ran.json()["content"], "700\n");
    ona.shell("umask 0; ona demo > told").expect_code(0);
    let ran = ona.shell("stat -c %a \"$TMPDIR\"/ona-demo-*").expect_code(0);
    assert_eq!(ran.stdout, "700\n");
}

/// What is printed about the configuration is as clean as what is stored.
#[test]
fn listings_and_checks_show_no_credential() {
    let mut ona = with_credentials();
    ona.env("ANTHROPIC_BASE_URL", "http://127.0.0.1:9");
    let hooks = json!([
        {"hook_event_name": "PreToolUse", "command": "curl -H 'x-api-key: canary-anthropic-token-2' x", "shell": "sh"},
        {"hook_event_name": "PreToolUse", "command": "true", "shell": "canary-openai-\"key\"-3"},
        {"hook_event_name": "canary-anthropic-key-1", "command": "true"},
    ]);
    ona.home_file(
        ".ona/settings.json",
        json!({
            "env": {"MY_TOKEN": "canary-settings-6"},
            "permissions": {"allow": ["Bash"], "deny": ["canary-oauth-55(x)"]},
            "mcpServers": {"web": {"command": "true", "args": ["canary-settings-6"], "env": {"A_KEY": "canary-server-7"}}},
            "hooks": hooks,
        })
        .to_string(),
    );
    for args in [
        &["doctor", "--json"][..],
        &["doctor"],
        &["hooks", "list"],
        &["hooks", "list", "--json"],
        &["hooks", "lint"],
        &["settings", "show"],
        &["mcp", "list"],
        &["--eval", r#"{"tool":"Bash","input":{"command":"true"}}"#, "--verbose"],
    ] {
        let ran = ona.run(args);
        let told = format!("{}{}", ran.stdout, ran.stderr);
        for known in ["canary-anthropic", "canary-openai", "canary-settings", "canary-server", "canary-studio"] {
            assert!(!told.contains(known), "{args:?} {told}");
        }
        assert!(!told.is_empty(), "{args:?}");
    }
}
