use crate::fixture::Fixture;
use ona_api::ResultClass;
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn run(command: &str) -> Value {
    json!({"command": command})
}

#[tokio::test]
async fn streams_are_joined_by_the_formula() {
    let fixture = Fixture::new();
    let cases = [
        ("echo out", ResultClass::Success, "out\n", 0),
        ("echo out; echo err >&2", ResultClass::Success, "out\n\n--- stderr ---\nerr\n", 0),
        ("echo err >&2", ResultClass::Success, "\n--- stderr ---\nerr\n", 0),
        ("true", ResultClass::Success, "", 0),
        ("echo out; exit 3", ResultClass::Rejected, "out\n", 3),
        ("false", ResultClass::Rejected, "", 1),
        ("cat", ResultClass::Success, "", 0),
        ("printf '\\xef\\xbb\\xbfa\\xff'", ResultClass::Success, "a\u{fffd}", 0),
    ];
    for (command, class, content, code) in cases {
        let result = fixture.call("Bash", run(command)).await;
        assert_eq!(
            (result.class, result.content.as_str(), &result.data["exit_code"]),
            (class, content, &json!(code)),
            "{command}"
        );
    }
    let result = fixture.call("Bash", run("echo out; echo err >&2")).await;
    assert_eq!(
        Value::Object(result.data),
        json!({"stdout": "out\n", "stderr": "err\n", "interrupted": false, "exit_code": 0})
    );
}

#[tokio::test]
async fn each_stream_is_cut_at_a_mebibyte() {
    let fixture = Fixture::new();
    let result = fixture.call("Bash", run("head -c 2097152 /dev/zero | tr '\\0' x; echo err >&2")).await;
    assert_eq!(result.content, format!("{}[SDLC_TRUNCATED]\n--- stderr ---\nerr\n", "x".repeat(1_048_576)));
    let result = fixture.call("Bash", run("head -c 2097152 /dev/zero | tr '\\0' x >&2")).await;
    assert_eq!(result.content, format!("\n--- stderr ---\n{}[SDLC_TRUNCATED]", "x".repeat(1_048_576)));
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_an_internal_failure_and_its_group_is_gone() {
    let fixture = Fixture::new();
    let began = Instant::now();
    let result =
        fixture.call("Bash", json!({"command": "echo begun; sleep 60 & echo $! >pid; wait", "timeout": 200})).await;
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_eq!(
        (result.class, result.content.as_str()),
        (ResultClass::Internal, "[SDLC_INTERNAL] The command ran longer than 200 ms and was ended.\nbegun\n")
    );
    assert_eq!(result.data["timedOutAfterMs"], 200);
    // Gone, or a zombie that nobody has collected yet.
    let alive = "grep -qs '^State:.[^Z]' /proc/$(<pid)/status && echo alive; true";
    assert_eq!(fixture.ok("Bash", run(alive)).await, "");
}

#[tokio::test]
async fn a_signal_rejects_and_a_cancelled_call_is_an_interrupt() {
    let fixture = Fixture::new();
    let result = fixture.call("Bash", run("kill -9 $$")).await;
    assert_eq!(
        (result.class, &result.data["signal"], &result.data["exit_code"]),
        (ResultClass::Rejected, &json!(9), &json!(137))
    );

    let cancel = fixture.cx.cancel.clone();
    let started = fixture.path("started");
    let call = fixture.call("Bash", run("echo begun; touch started; sleep 60"));
    let interrupt = async {
        while !started.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cancel.cancel();
    };
    let (result, ()) = tokio::join!(call, interrupt);
    assert_eq!((result.class, result.content.as_str()), (ResultClass::Rejected, "Interrupted.\nbegun\n"));
    assert_eq!((&result.data["interrupted"], &result.data["is_interrupt"]), (&json!(true), &json!(true)));
}

#[tokio::test]
async fn a_nul_byte_is_refused() {
    let fixture = Fixture::new();
    assert_eq!(fixture.no("Bash", run("echo a\0b")).await, "command contains a NUL byte.");
}

/// As a plain `bash -c` would run it: exit code, output, traps, exec and exit.
#[tokio::test]
async fn a_command_does_not_notice_that_its_directory_is_watched() {
    let fixture = Fixture::new();
    std::fs::create_dir(fixture.path("sub")).unwrap();
    let sub = fixture.path("sub");
    // command, content, exit code, whether the session follows into sub
    let cases = [
        ("cd sub", "", 0, true),
        ("cd sub; exit 3", "", 3, true),
        ("cd sub; false", "", 1, true),
        ("cd sub && exec echo x", "x\n", 0, false),
        ("(cd sub)", "", 0, false),
        ("cd sub &", "", 0, false),
        ("cd sub; trap 'echo bye $?' EXIT; (exit 4)", "bye 4\n", 4, true),
        ("trap 'echo bye' EXIT; cd sub; exit 5", "bye\n", 5, false),
        ("trap -p; cd sub", "", 0, true),
        ("trap 'echo debug' DEBUG; cd sub", "debug\n", 0, true),
        ("trap 'echo failed' ERR; false", "failed\n", 1, false),
        ("set -x; cd sub", "\n--- stderr ---\n+ cd sub\n", 0, true),
        ("set -v; cd sub", "", 0, true),
        ("set -eu; cd sub; false; echo no", "", 1, true),
        ("echo $# $0 ${BASH_ENV-unset}; set -- a b; echo $#", "0 bash unset\n2\n", 0, false),
        ("echo a # no newline", "a\n", 0, false),
        ("cat <<X\nhello\nX", "hello\n", 0, false),
        ("set -o noclobber; cd sub", "", 0, true),
        ("pwd() { echo mine; }; cd sub", "", 0, true),
        ("exec >/dev/null; cd sub; echo gone", "", 0, true),
        ("f() { return 7; }; cd sub; f", "", 7, true),
    ];
    for (command, content, code, moves) in cases {
        let result = fixture.call("Bash", run(command)).await;
        assert_eq!((result.content.as_str(), &result.data["exit_code"]), (content, &json!(code)), "{command}");
        assert_eq!(result.moved_to, moves.then(|| sub.clone()), "{command}");
    }
    let words = fixture.call("Bash", run("if")).await;
    assert_eq!(
        (words.content.as_str(), &words.data["exit_code"]),
        ("\n--- stderr ---\nbash: -c: line 2: syntax error: unexpected end of file\n", &json!(2))
    );
}

#[tokio::test]
async fn the_session_follows_inside_its_directories_only() {
    let mut fixture = Fixture::new();
    std::fs::create_dir_all(fixture.path("a/b")).unwrap();
    let result = fixture.call("Bash", run("cd a/b")).await;
    assert_eq!(result.moved_to, Some(fixture.path("a/b")));
    fixture.cx.cwd = fixture.path("a/b");

    let extra = fixture.cx.extra[0].clone();
    let result = fixture.call("Bash", run(&format!("cd {}", extra.display()))).await;
    assert_eq!(result.moved_to, Some(extra));

    let result = fixture.call("Bash", run("cd /usr; echo out")).await;
    assert_eq!(fixture.short(&result.content), "out\n\n--- stderr ---\nShell cwd was reset to /p");
    assert_eq!(result.moved_to, Some(fixture.cx.project.clone()));

    let result = fixture.call("Bash", run("cd /; printf err >&2; exit 2")).await;
    assert_eq!(fixture.short(&result.content), "\n--- stderr ---\nerr\nShell cwd was reset to /p");

    fixture.cx.cwd = fixture.cx.project.clone();
    let result = fixture.call("Bash", run("cd /")).await;
    assert_eq!(
        (fixture.short(&result.content), result.moved_to),
        ("\n--- stderr ---\nShell cwd was reset to /p".into(), None)
    );
}

#[tokio::test]
async fn a_project_behind_a_link_keeps_its_name() {
    let mut fixture = Fixture::new();
    std::fs::create_dir(fixture.path("sub")).unwrap();
    let link = fixture.cx.project.parent().unwrap().join("link");
    symlink(&fixture.cx.project, &link).unwrap();
    fixture.cx.project = link.clone();
    fixture.cx.cwd = link.clone();
    assert_eq!(fixture.call("Bash", run("true")).await.moved_to, None);
    assert_eq!(fixture.call("Bash", run("cd sub")).await.moved_to, Some(link.join("sub")));
    fixture.cx.cwd = link.join("sub");
    assert_eq!(fixture.call("Bash", run("cd ..")).await.moved_to, Some(link));
}

#[tokio::test]
async fn a_directory_that_was_removed_is_left_for_the_project() {
    let mut fixture = Fixture::new();
    fixture.cx.cwd = fixture.path("gone");
    let result = fixture.call("Bash", run("true")).await;
    assert_eq!(fixture.short(&result.content), "/p/gone no longer exists. Shell cwd was reset to /p");
    assert_eq!((result.class, result.moved_to), (ResultClass::Rejected, Some(fixture.cx.project.clone())));
}

#[tokio::test]
async fn the_environment_is_the_given_one_and_the_prelude_comes_first() {
    let mut fixture = Fixture::new();
    let names = fixture.ok("Bash", run("env | cut -d= -f1 | sort | tr '\\n' ' '")).await;
    assert_eq!(names, "HOME PATH PWD SHLVL TMPDIR _ ");
    for command in ["echo $GREETING", "trap - INT; echo $GREETING"] {
        fixture.cx.prelude = "export GREETING='hello there'\necho noise\n".into();
        assert_eq!(fixture.ok("Bash", run(command)).await, "hello there\n");
        fixture.cx.prelude = "export GREETING=before\nif\n".into();
        assert_eq!(fixture.ok("Bash", run("echo still runs")).await, "still runs\n");
    }
    fixture.file("own", "FROM_OWN=yes");
    fixture.cx.prelude = String::new();
    fixture.cx.env = Arc::new((*fixture.cx.env).clone().with("BASH_ENV", fixture.path("own").as_os_str()));
    assert_eq!(fixture.ok("Bash", run("echo $FROM_OWN ${BASH_ENV##*/}")).await, "yes own\n");
    fixture.cx.env = Arc::new((*fixture.cx.env).clone().with("POSIXLY_CORRECT", "1"));
    fixture.cx.prelude = "export GREETING=posix".into();
    assert_eq!(fixture.ok("Bash", run("echo $GREETING")).await, "posix\n");
}

#[tokio::test]
async fn a_command_longer_than_an_argument_may_be_runs() {
    let fixture = Fixture::new();
    std::fs::create_dir(fixture.path("sub")).unwrap();
    let text = "it's ".repeat(60_000);
    let result = fixture.call("Bash", run(&format!("cd sub; cat <<'X' | wc -c\n{text}\nX\n"))).await;
    assert_eq!(result.content.trim(), (text.len() + 1).to_string());
    assert_eq!(result.moved_to, Some(fixture.path("sub")));
}

#[tokio::test]
async fn nothing_is_left_behind() {
    let fixture = Fixture::new();
    fixture.ok("Bash", run("trap : INT; true")).await;
    fixture.ok("Bash", run("true")).await;
    assert_eq!(std::fs::read_dir(fixture.cx.env.lookup("TMPDIR").unwrap()).unwrap().count(), 0);
}
