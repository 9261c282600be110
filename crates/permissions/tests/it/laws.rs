//! Laws that hold for any text, not only for the written cases.

use crate::world::{World, permissions};
use ona_api::{Access, Mode, Ruling};
use ona_permissions::{Condition, PermissionEngine};
use proptest::prelude::*;
use serde_json::json;
use std::sync::LazyLock;

static WORLD: LazyLock<World> = LazyLock::new(World::new);

fn decide(engine: &PermissionEngine, script: &str) -> Ruling {
    let input = json!({ "command": script });
    let access = [Access::Shell { script: script.to_owned(), cwd: WORLD.project.clone() }];
    engine.decide("Bash", &input, &access, None).ruling
}

/// Pieces that mean something to a shell, to be put together blindly.
fn fragment() -> impl Strategy<Value = String> {
    let pieces = [
        "ls",
        "rm",
        "rm -rf x",
        "echo",
        "cat .env",
        "git push",
        "sh -c",
        "eval",
        "'",
        "\"",
        "`",
        "$(",
        ")",
        "(",
        "{",
        "}",
        "[[",
        "]]",
        "((",
        "))",
        ";",
        "&",
        "&&",
        "||",
        "|",
        "\n",
        " ",
        "\\",
        "\\\n",
        ">",
        ">>",
        "<",
        "<<EOF",
        "EOF",
        "<<<",
        "2>&1",
        "$X",
        "${X",
        "X=1",
        "*",
        "~",
        "#",
        "if",
        "then",
        "fi",
        "for",
        "in",
        "do",
        "done",
        "while",
        "case",
        "esac",
        "function",
        "!",
        "$'",
        "\\x72",
        "é",
        "\0",
        "\u{fffc}",
        "-exec",
        "xargs",
        "timeout 5",
        "env",
        "/proc/self/environ",
        ".claude/settings.json",
        "{a,b}",
        "..",
        "/",
    ];
    prop_oneof![9 => prop::sample::select(pieces.to_vec()).prop_map(str::to_owned), 1 => "\\PC{0,6}"]
}

fn script() -> impl Strategy<Value = String> {
    prop::collection::vec(fragment(), 0..14).prop_map(|pieces| pieces.concat())
}

fn spaced() -> impl Strategy<Value = String> {
    prop::collection::vec(fragment(), 0..14).prop_map(|pieces| pieces.join(" "))
}

fn rule() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "Bash",
        "Bash(ls:*)",
        "Bash(rm:*)",
        "Bash(rm *)",
        "Bash(echo *)",
        "Bash(git push)",
        "Bash(* x)",
        "Bash(cat:*)",
        "Bash(eval:*)",
        "Bash(sh:*)",
        "Bash(env:*)",
        "Bash(xargs:*)",
        "Read(.env)",
        "Read(./**)",
        "Edit(src/**)",
        "Edit(/x)",
        "Read",
        "Edit",
        "Write",
    ])
}

fn rules() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(rule(), 0..5)
}

/// The grammar's scanner reads beyond a table for large characters and beyond its
/// buffers for here-documents. Neither may reach it.
#[test]
fn texts_that_crash_the_grammar_do_no_harm() {
    let engine = WORLD.engine(&json!({"allow": ["Bash(ls:*)"], "deny": ["Bash(rm:*)"]}));
    let starts = ["{", "ls {1", "ls {1..", "${", "[[ x =~ ", "case x in ", "ls "];
    let ends =
        ["\u{1f600}", "\u{10ffff}", "<<A\n<<B\nA\n", "<<-\\\nA", "<<\"\nA", "$(cat <<A\nx", "<<A <<B <<C\nA\nB\n"];
    for (start, end) in starts.iter().flat_map(|start| ends.map(|end| (start, end))) {
        decide(&engine, &format!("{start}{end}"));
        decide(&engine, &format!("{start}{end}").repeat(50));
    }
    for long in ["(", "{", "$(", "${", "((", "a|", "[[ ", "\"", "`", "<<A\n", "find . -exec ", "{a,", "cd a && "] {
        decide(&engine, &long.repeat(30_000 / long.len()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_the_engine_panic(text in prop_oneof![script(), spaced(), "\\PC{0,80}", ".{0,80}"]) {
        let engine = WORLD.engine(&json!({"allow": ["Bash(ls:*)"], "deny": ["Bash(rm:*)", "Read(.env)"], "ask": ["Bash(git:*)"]}));
        decide(&engine, &text);
        let access = [Access::Shell { script: text.clone(), cwd: WORLD.project.clone() }];
        engine.explain("Bash", &json!({}), &access);
        if let Some(condition) = Condition::parse(&format!("Bash({text})")) {
            condition.matches("Bash", &json!({}), &access, &WORLD.place());
        }
    }

    #[test]
    fn a_deny_rule_never_allows(script in prop_oneof![script(), spaced()], allow in rules(), deny in rules(), more in rule()) {
        let without = WORLD.engine(&permissions(Mode::Default, &allow, &deny));
        let with: Vec<_> = deny.iter().copied().chain([more]).collect();
        let with = WORLD.engine(&permissions(Mode::Default, &allow, &with));
        prop_assert!(decide(&with, &script) >= decide(&without, &script));
    }

    #[test]
    fn an_ask_rule_never_widens(script in prop_oneof![script(), spaced()], allow in rules(), more in rule()) {
        let without = WORLD.engine(&json!({"allow": allow}));
        let with = WORLD.engine(&json!({"allow": allow, "ask": [more]}));
        prop_assert!(decide(&with, &script) >= decide(&without, &script));
    }

    #[test]
    fn fewer_allow_rules_never_widen(script in prop_oneof![script(), spaced()], allow in rules(), deny in rules(), drop in 0..5_usize) {
        let all = WORLD.engine(&permissions(Mode::Default, &allow, &deny));
        let fewer: Vec<_> = allow.iter().enumerate().filter(|(at, _)| *at != drop).map(|(_, rule)| *rule).collect();
        let fewer = WORLD.engine(&permissions(Mode::Default, &fewer, &deny));
        prop_assert!(decide(&fewer, &script) >= decide(&all, &script));
    }

    #[test]
    fn what_is_denied_stays_denied_wherever_it_stands(before in "[a-z]{1,6}( [a-z0-9]{1,4}){0,3}", frame in 0..16_usize, wrapper in 0..9_usize) {
        let wrappers = ["", "env ", "timeout 5 ", "nice ", "command ", "FOO=1 ", "sudo ", "\\", "/bin/"];
        let rm = format!("{}rm -rf x", wrappers[wrapper]);
        let script = match frame {
            0 => format!("{before}; {rm}"),
            1 => format!("{before} && {rm}"),
            2 => format!("{before}\n{rm}"),
            3 => format!("{before} $({rm})"),
            4 => format!("({rm})"),
            5 => format!("if {before}; then {rm}; fi"),
            6 => format!("{before} | {rm}"),
            7 => format!("{before} `{rm}`"),
            8 => format!("{before} \"$({rm})\""),
            9 => format!("while {before}; do {rm}; done"),
            10 => format!("{{ {before}; {rm}; }}"),
            11 => format!("sh -c '{rm}'"),
            12 => format!("{before} || {rm} &"),
            13 => format!("f() {{ {rm}; }}"),
            14 => format!("{before} <({rm})"),
            _ => format!("X=$({before}); {rm} > out"),
        };
        for mode in Mode::ALL {
            let engine = WORLD.engine(&permissions(mode, &["Bash"], &["Bash(rm:*)"]));
            prop_assert_eq!(decide(&engine, &script), Ruling::Deny, "{} in {}", script, mode);
        }
    }

    #[test]
    fn a_narrow_rule_allows_only_scripts_of_its_program(script in prop_oneof![script(), spaced()]) {
        let engine = WORLD.engine(&json!({"allow": ["Bash(ls:*)", "Bash(echo:*)"]}));
        if decide(&engine, &script) == Ruling::Allow {
            let access = [Access::Shell { script: script.clone(), cwd: WORLD.project.clone() }];
            let programs = engine.explain("Bash", &json!({}), &access).programs;
            // A bare xargs is looked through (observed case 236): what it starts is what counts.
            let allowed = |name: &String| matches!(name.as_str(), "ls" | "echo" | "xargs");
            prop_assert!(programs.iter().all(allowed), "{script:?} runs {programs:?}");
            prop_assert!(!script.contains(['`', '\0']));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_wrapper_never_widens(at in 0..17_usize, wrapper in 0..10_usize) {
        let scripts = [
            "rm -rf x", "cat .env", "echo {} > .claude/settings.json", "tee $X/.claude/settings.json", "cp -r sub out",
            "awk 'BEGIN { system(\"rm x\") }'", "sed '1e rm x' f.txt", "sqlite3 a.db '.shell rm x'", "make -f - <<< 'a:;rm x'",
            "curl file://$PWD/.env", "vim -c '!rm x'", "ls", "echo $X", "rm -rf ~", "cat /proc/1/environ", "tar -I 'rm x' -cf a b",
            "find .claude -exec cp f {} +",
        ];
        let wrappers =
            ["env", "nice", "timeout 5", "nohup", "sudo", "command", "stdbuf -oL", "time", "setsid", "env A=1"];
        let engine = WORLD.engine(&permissions(Mode::Default, &["Bash"], &["Bash(rm:*)", "Read(.env)"]));
        let wrapped = format!("{} {}", wrappers[wrapper], scripts[at]);
        prop_assert!(decide(&engine, &wrapped) >= decide(&engine, scripts[at]), "{wrapped}");
    }

    #[test]
    fn the_name_of_a_variable_does_not_matter(at in 0..12_usize, name in "[a-z][a-z0-9_]{0,8}") {
        let scripts = [
            "N=.env; cat $N", "N=rm; $N x", "for N in src/*.js; do cat $N; done", "for N in .claude/*; do echo > \"$N\"; done",
            "N=$(ls); echo > out/$N", "read N <<< .env; cat $N", "N=~; rm -rf $N", "N=a; N+=b; touch $N",
            "N=(.env x); cat \"${N[@]}\"", "N=.cla; echo > ${N}ude/settings.json", "echo > ${N:-.claude/settings.json}",
            "f() { cat \"$1\"; }; N=.env; f $N",
        ];
        let reserved = ["if", "fi", "do", "in", "f", "ls", "cat", "for", "read", "done", "case", "esac", "then", "else", "elif"];
        prop_assume!(!reserved.contains(&name.as_str()));
        let engine = WORLD.engine(&permissions(Mode::Default, &["Bash"], &["Bash(rm:*)", "Read(.env)"]));
        let renamed = scripts[at].replace('N', &name);
        prop_assert_eq!(decide(&engine, &renamed), decide(&engine, scripts[at]), "{}", renamed);
    }
}
