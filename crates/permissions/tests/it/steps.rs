//! The order of section 5.12, the words of a verdict, and what a rule covers.

use crate::world::{World, permissions};
use ona_api::{Access, Authority, Mode, Ordinal, Ruling, Verdict};
use ona_settings::Planning;
use serde_json::{Value, json};

fn verdict(ruling: Ruling, by: Authority, message: &str) -> Verdict {
    Verdict::new(ruling, by, message)
}

fn rule(text: &str) -> Authority {
    Authority::Rule(text.to_owned())
}

#[test]
fn a_verdict_says_who_decided_and_in_which_words() {
    let world = World::new();
    let touch = json!({"command": "touch a"});
    let decide = |permissions: Value| world.decide(&permissions, "Bash", &touch);
    assert_eq!(
        decide(json!({"allow": ["Bash"], "deny": ["Bash(touch *)"]})),
        verdict(Ruling::Deny, rule("Bash(touch *)"), "Denied by permission rule Bash(touch *)")
    );
    assert_eq!(
        decide(json!({"allow": ["Bash"], "ask": ["Bash(touch:*)"]})),
        verdict(Ruling::Ask, rule("Bash(touch:*)"), "Bash wants to run touch a, which rule Bash(touch:*) asks about")
    );
    assert_eq!(decide(json!({"allow": ["Bash(touch:*)"]})), verdict(Ruling::Allow, rule("Bash(touch:*)"), ""));
    assert_eq!(
        decide(json!({})),
        verdict(Ruling::Ask, Authority::Mode(Mode::Default), "Bash wants to run touch a; no rule covers it")
    );
    assert_eq!(
        decide(json!({"defaultMode": "dontAsk"})),
        verdict(Ruling::Deny, Authority::Mode(Mode::DontAsk), "Denied by permission mode dontAsk")
    );
    assert_eq!(
        decide(json!({"defaultMode": "bypassPermissions"})),
        verdict(Ruling::Allow, Authority::Mode(Mode::BypassPermissions), "")
    );
    let part = world.decide(&json!({"allow": ["Bash(ls)"]}), "Bash", &json!({"command": "ls; touch a"}));
    assert_eq!(part.message, "Bash wants to run ls; touch a; no rule covers touch a");
    let tool = world.decide(&json!({}), "TodoWrite", &json!({}));
    assert_eq!(tool.message, "TodoWrite wants to run; no rule covers it");
    let removal = world.decide(&json!({"allow": ["Bash"]}), "Bash", &json!({"command": "rm -rf ~"}));
    let what = "rm would remove ~";
    assert_eq!(
        removal,
        verdict(
            Ruling::Ask,
            Authority::Safety(what.into()),
            "rm would remove ~; only a person can allow this, whatever rules and hooks say"
        )
    );
    let database = world.db.display().to_string();
    let write = world.decide(&json!({"allow": ["Write"]}), "Write", &json!({"file_path": world.db}));
    let message = format!("Denied: {database} is part of ona's own record and guards, which nothing may change");
    assert_eq!(write, verdict(Ruling::Deny, Authority::Protected(database), &message));
}

#[test]
fn modes_follow_the_letter_of_5_12() {
    use Ruling::{Allow, Ask, Deny};
    let world = World::new();
    let file = world.project.join("n.txt");
    let calls = [
        ("Read", json!({"file_path": file})),
        ("Write", json!({"file_path": file})),
        ("Edit", json!({"file_path": file})),
        ("NotebookEdit", json!({"notebook_path": file})),
        ("Bash", json!({"command": "ls"})),
        ("Glob", json!({"pattern": "*"})),
        ("WebFetch", json!({"url": "https://a.test"})),
        ("TodoWrite", json!({})),
        ("mcp__a__b", json!({})),
    ];
    for (mode, expected) in [
        (Mode::Default, [Ask; 9]),
        (Mode::AcceptEdits, [Allow, Allow, Allow, Ask, Ask, Ask, Ask, Ask, Ask]),
        (Mode::BypassPermissions, [Allow; 9]),
        (Mode::Plan, [Ask, Deny, Deny, Deny, Deny, Ask, Ask, Ask, Ask]),
        (Mode::DontAsk, [Deny; 9]),
    ] {
        for ((tool, input), expected) in calls.iter().zip(expected) {
            let ruling = world.decide(&permissions(mode, &[], &[]), tool, input).ruling;
            assert_eq!(ruling, expected, "{tool} in {mode}");
        }
    }
}

#[test]
fn a_hook_stands_in_for_the_mode_and_for_nothing_else() {
    use Ruling::{Allow, Ask, Deny};
    let world = World::new();
    let decide = |settings: &Value, command: &str, hook: Ruling| {
        let input = json!({ "command": command });
        let access = world.access(&world.project, "Bash", &input);
        world.engine(settings).decide("Bash", &input, &access, Some((hook, Ordinal(7), "because".into())))
    };
    let hook = |ruling| verdict(ruling, Authority::Hook(Ordinal(7)), "because");
    for (mode, allowed) in
        [(Mode::Default, Allow), (Mode::DontAsk, Allow), (Mode::AcceptEdits, Allow), (Mode::Plan, Deny)]
    {
        let settings = permissions(mode, &[], &[]);
        assert_eq!(decide(&settings, "ls", Allow).ruling, allowed, "{mode}");
        assert_eq!(decide(&settings, "ls", Ask), hook(Ask), "{mode}");
        assert_eq!(decide(&settings, "ls", Deny), hook(Deny), "{mode}");
    }
    assert_eq!(decide(&json!({}), "ls", Allow), hook(Allow));
    assert_eq!(decide(&json!({"deny": ["Bash(ls)"]}), "ls", Allow).ruling, Deny);
    assert_eq!(decide(&json!({"ask": ["Bash(ls)"]}), "ls", Allow).ruling, Ask);
    assert_eq!(decide(&json!({"allow": ["Bash(ls)"]}), "ls", Ask), hook(Ask));
    assert_eq!(decide(&json!({"deny": ["Bash(ls)"]}), "ls", Ask).ruling, Deny);
    assert_eq!(decide(&json!({}), "rm -rf ~", Allow).ruling, Ask, "safety");
    assert_eq!(decide(&json!({}), "touch .git/x", Allow).ruling, Ask, "safety");
    assert_eq!(decide(&json!({}), "touch .claude/settings.json", Allow).ruling, Deny, "floor");
}

/// DEC-183: a hook may answer the question of a rule or of another hook, not the floor's.
#[test]
fn where_the_floor_asks_as_well_the_question_is_the_floors() {
    let world = World::new();
    let input = json!({"command": "rm -rf ~"});
    let access = world.access(&world.project, "Bash", &input);
    let ask = json!({"ask": ["Bash(rm:*)"]});
    let hook = Some((Ruling::Ask, Ordinal(7), "because".to_owned()));
    for (settings, hook, second) in [
        (&ask, None, "Bash wants to run rm -rf ~, which rule Bash(rm:*) asks about"),
        (&json!({}), hook.clone(), "because"),
        (&json!({"allow": ["Bash"]}), hook, "because"),
    ] {
        let first = "rm would remove ~; only a person can allow this, whatever rules and hooks say";
        assert_eq!(
            world.engine(settings).decide("Bash", &input, &access, hook),
            verdict(Ruling::Ask, Authority::Safety("rm would remove ~".into()), &format!("{first}\n{second}"))
        );
    }
}

/// DEC-186
#[test]
fn what_the_settings_say_of_tools_of_servers_while_planning_counts_like_a_rule() {
    use Ruling::{Allow, Ask, Deny};
    let world = World::new();
    let allowed = json!({"allow": ["mcp__a"]});
    let bypass = json!({"defaultMode": "bypassPermissions"});
    let hook = || Some((Allow, Ordinal(7), String::new()));
    for (settings, hook, expected) in [
        (&allowed, None, [Allow, Ask, Deny]),
        (&bypass, None, [Allow, Ask, Deny]),
        (&json!({}), None, [Ask, Ask, Deny]),
        (&json!({}), hook(), [Allow, Ask, Deny]),
        (&json!({"deny": ["mcp__a"]}), hook(), [Deny; 3]),
    ] {
        for (mcp, expected) in [None, Some(Ask), Some(Deny)].into_iter().zip(expected) {
            let engine = world.engine(settings).with_planning(Planning { mcp, ..Planning::default() });
            let decided = engine.decide_while_planning("mcp__a__b", &json!({}), &[Access::Plain], hook.clone());
            assert_eq!(decided.ruling, expected, "{settings} {mcp:?}");
        }
    }
    let engine = world.engine(&allowed).with_planning(Planning { mcp: Some(Deny), ..Planning::default() });
    let denied = engine.decide_while_planning("mcp__a__b", &json!({}), &[Access::Plain], None);
    assert_eq!(denied.by, Authority::Rule(Planning::rule(Deny)));
}

#[test]
fn a_denied_tool_is_removed_and_refused() {
    let world = World::new();
    for (deny, removed) in [
        ("Bash", &["Bash"][..]),
        ("Bash(*)", &["Bash"]),
        ("*", &["Bash", "Read", "mcp__lab__echo"]),
        ("mcp__lab", &["mcp__lab__echo"]),
        ("mcp__lab__*", &["mcp__lab__echo"]),
        ("mcp__lab__echo", &["mcp__lab__echo"]),
        ("mcp__*", &["mcp__lab__echo"]),
        ("Bash(rm:*)", &[]),
        ("Read(.env)", &[]),
    ] {
        let engine = world.engine(&json!({"deny": [deny], "allow": ["Bash", "Read", "mcp__lab"]}));
        for tool in ["Bash", "Read", "mcp__lab__echo", "TodoWrite"] {
            let expected = removed.contains(&tool) || deny == "*";
            assert_eq!(engine.hides_tool(tool), expected, "{deny} {tool}");
            let denied = engine.decide(tool, &json!({}), &[Access::Plain], None).ruling == Ruling::Deny;
            assert_eq!(denied, expected, "{deny} {tool}");
        }
    }
}

#[test]
fn who_may_edit_may_read_and_who_may_not_read_may_not_edit() {
    let world = World::new();
    let decide = |settings: Value, tool: &str| {
        let input =
            json!({"file_path": world.project.join("src/a.js"), "notebook_path": world.project.join("src/a.js")});
        world.decide(&settings, tool, &input).ruling
    };
    for tool in ["Read", "Write", "Edit", "NotebookEdit"] {
        assert_eq!(decide(json!({"allow": ["Edit(src/**)"]}), tool), Ruling::Allow, "{tool}");
        assert_eq!(
            decide(json!({"allow": ["Write", "Edit", "Read", "NotebookEdit"], "deny": ["Read(src/**)"]}), tool),
            Ruling::Deny,
            "{tool}"
        );
    }
    assert_eq!(decide(json!({"allow": ["Edit"]}), "Write"), Ruling::Ask);
    assert_eq!(decide(json!({"allow": ["Write"]}), "Edit"), Ruling::Ask);
    assert_eq!(decide(json!({"allow": ["Read", "Write"], "deny": ["Edit(src/**)"]}), "Read"), Ruling::Allow);
    assert_eq!(decide(json!({"allow": ["Read", "Write"], "deny": ["Edit(src/**)"]}), "Write"), Ruling::Deny);
}

#[test]
fn a_search_outside_takes_a_rule_for_reading() {
    let world = World::new();
    let grep = |allow: &[&str], path: &str| {
        let allow: Vec<String> = allow.iter().map(|rule| world.fill(rule)).collect();
        world.decide(&json!({ "allow": allow }), "Grep", &json!({"pattern": "x", "path": world.fill(path)})).ruling
    };
    assert_eq!(grep(&["Grep"], "<repo>/src"), Ruling::Allow);
    assert_eq!(grep(&["Grep"], "<home>/.ssh"), Ruling::Ask);
    assert_eq!(grep(&["Grep", "Read"], "<home>/.ssh"), Ruling::Allow);
    assert_eq!(grep(&["Grep", "Read(/${OUTSIDE}/**)"], "${OUTSIDE}"), Ruling::Allow);
    assert_eq!(grep(&["Read(src/**)"], "<repo>/src"), Ruling::Allow);
    assert_eq!(grep(&["Read(src/**)"], "<repo>"), Ruling::Ask);
}

#[test]
fn additional_directories_are_working_directories() {
    let world = World::new();
    let outside = world.outside.clone();
    let settings = |extra: &str, mode: &str| json!({"allow": ["Read(./**)"], "additionalDirectories": [extra], "defaultMode": mode});
    let read = json!({"file_path": outside.join("o.txt")});
    assert_eq!(world.decide(&settings("/nowhere", "default"), "Read", &read).ruling, Ruling::Ask);
    for extra in [outside.to_str().unwrap(), "../outside"] {
        assert_eq!(world.decide(&settings(extra, "default"), "Read", &read).ruling, Ruling::Allow, "{extra}");
        assert_eq!(world.decide(&settings(extra, "default"), "Write", &read).ruling, Ruling::Ask, "{extra}");
        assert_eq!(world.decide(&settings(extra, "acceptEdits"), "Write", &read).ruling, Ruling::Allow, "{extra}");
    }
}

/// Understood and covered; these should never be asked about.
#[test]
fn everyday_commands_pass_their_rules() {
    let world = World::new();
    let allow = [
        "Bash(git:*)",
        "Bash(npm run *)",
        "Bash(cargo test:*)",
        "Bash(ls:*)",
        "Bash(cat:*)",
        "Bash(rg:*)",
        "Bash(grep:*)",
        "Bash(echo:*)",
        "Bash(cd:*)",
        "Bash(mkdir:*)",
        "Bash(rm:*)",
        "Bash(find:*)",
        "Bash(xargs:*)",
        "Bash(sed:*)",
        "Bash(true)",
        "Bash(test:*)",
        "Bash(head:*)",
        "Bash(python3:*)",
        "Bash(make:*)",
        "Bash(curl:*)",
        "Bash(tail:*)",
        "Bash(wc:*)",
        "Bash(sort:*)",
    ];
    for script in [
        "git add -A && git commit -m 'fix: a \"quoted\" thing'",
        "git diff --stat HEAD~1 -- src | head -20",
        "git log --oneline -5; git status --short",
        "git push -u origin feature/x",
        "npm run build 2>&1 | tail -50",
        "cargo test -p x --all-features -- --nocapture",
        "NODE_ENV=test LC_ALL=C npm run test",
        "cd src && ls -la && cat a.js",
        "cd src; cat a.js",
        "ls 'a b.txt' a\\ b.txt \"a b.txt\"",
        "ls *.txt src/*.js",
        "cat f.txt < f.txt 2>/dev/null",
        "echo hi >/dev/null 2>&1 || true",
        "if test -f f.txt; then cat f.txt; else echo none; fi",
        "for f in a b; do echo x; done",
        "while true; do ls; done",
        "! grep -q x f.txt",
        "rg -n 'fn main' src --glob '*.rs'",
        "grep -rn needle src | wc -l",
        "find . -name '*.js' -not -path './node_modules/*' | xargs grep -l x",
        "git ls-files | sort | xargs wc -l",
        "sed -n '1,20p' f.txt",
        "sed -i 's/a/b/g' src/a.js",
        "mkdir -p build/a build/b && rm -rf build/a",
        "rm -f build/*.o",
        "python3 script.py --flag value",
        "make -j4 test",
        "curl -sSfL https://a.test/x -o build/x",
        "timeout 60 npm run test",
        "time cargo test",
        "nice -n 5 make",
        "ls \\\n  -la \\\n  src",
        "ls # trailing comment",
        "# leading comment\nls",
        "cat <<'EOF'\n$(not run) `neither`\nEOF",
        "git commit -F - <<'EOF'\nmessage\nEOF",
    ] {
        let verdict = world.decide(&json!({ "allow": allow }), "Bash", &json!({ "command": script }));
        assert!(verdict.is_allow(), "{script}: {verdict:?}");
    }
    // Writing takes an Edit rule, or the mode for it.
    for script in [
        "echo hi > out.txt",
        "cat > src/x.js <<'EOF'\nx\nEOF",
        "cat <<'EOF' > src/x.js\nx\nEOF",
        "ls >> build/log 2>&1",
    ] {
        let ruling = |settings: Value| world.decide(&settings, "Bash", &json!({ "command": script })).ruling;
        assert_eq!(ruling(json!({ "allow": allow })), Ruling::Ask, "{script}");
        assert_eq!(ruling(json!({"allow": allow, "defaultMode": "acceptEdits"})), Ruling::Allow, "{script}");
        let with_edit: Vec<&str> = allow.into_iter().chain(["Edit(./**)"]).collect();
        assert_eq!(ruling(json!({ "allow": with_edit })), Ruling::Allow, "{script}");
    }
}

/// Holes that a narrow rule must not open.
#[test]
fn a_narrow_rule_stays_inside_the_working_directories() {
    let world = World::new();
    world.link("/etc/passwd".as_ref(), &world.project.join("links/out"));
    let allow = [
        "Bash(cat:*)",
        "Bash(echo:*)",
        "Bash(xargs:*)",
        "Bash(grep:*)",
        "Bash(ls:*)",
        "Bash(cd:*)",
        "Bash(foo:*)",
        "Bash(sed:*)",
    ];
    for script in [
        "cat /etc/passwd",
        "cat ~/x",
        "cat ../x",
        "cat src/../../x",
        "cat links/out",
        "cat links/*",
        "cat lin*/out",
        "cat < /etc/passwd",
        "echo /etc/passwd | xargs cat",
        "cat f.txt | xargs cat",
        "grep . f.txt | xargs cat",
        "sed s/a/b/ f.txt | xargs cat",
        "echo -e '\\x2fetc' | xargs cat",
        "grep -R x .",
        "ls /",
        "cd / && ls",
        "cd ..",
        "foo /etc/passwd",
        "foo --file=/etc/passwd",
        "foo a:/etc/passwd",
        "foo //etc/passwd",
        "foo file:///etc/passwd",
        "cat //etc/passwd",
        "cat /proc/../etc/passwd",
    ] {
        let verdict = world.decide(&json!({ "allow": allow }), "Bash", &json!({ "command": script }));
        assert_eq!(verdict.ruling, Ruling::Ask, "{script}: {verdict:?}");
    }
    for script in ["foo https://a.test/x", "foo a/b", "cat src/a.js"] {
        assert_eq!(world.bash(&json!({ "allow": allow }), script), Ruling::Allow, "{script}");
    }
}

#[test]
fn the_rule_that_covers_a_path_outside_lets_a_command_reach_it() {
    let world = World::new();
    let decide = |rules: &[&str], script: &str| {
        let rules: Vec<String> = rules.iter().map(|rule| world.fill(rule)).collect();
        world.bash(&json!({ "allow": rules }), script)
    };
    assert_eq!(decide(&["Bash(cat:*)", "Read(/${OUTSIDE}/**)"], "cat ${OUTSIDE}/o.txt"), Ruling::Allow);
    assert_eq!(decide(&["Bash(touch:*)", "Read(/${OUTSIDE}/**)"], "touch ${OUTSIDE}/o.txt"), Ruling::Ask);
    assert_eq!(decide(&["Bash(touch:*)", "Edit(/${OUTSIDE}/**)"], "touch ${OUTSIDE}/o.txt"), Ruling::Allow);
    assert_eq!(decide(&["Bash(touch ${OUTSIDE}/o.txt)"], "touch ${OUTSIDE}/o.txt"), Ruling::Allow);
}
