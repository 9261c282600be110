//! Real shells, real process groups.

use ona_api::Env;
use ona_process::{ChildCommand, ChildExit, ChildIoError, OnDeath, PersistentChild, SpawnError, run, start};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

fn sh(script: &str) -> ChildCommand {
    ChildCommand {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), script.into()],
        cwd: "/".into(),
        env: Env::default().with("PATH", "/usr/bin:/bin"),
        stdin: Vec::new(),
        cap: 4096,
        deadline: Some(Duration::from_secs(20)),
        grace: Duration::from_secs(1),
        on_death: OnDeath::Leave,
        wall: None,
    }
}

async fn output(command: ChildCommand) -> (ChildExit, String, String) {
    let ran = run(command, &CancellationToken::new()).await.unwrap();
    (ran.end, String::from_utf8(ran.stdout.bytes).unwrap(), String::from_utf8(ran.stderr.bytes).unwrap())
}

#[tokio::test]
async fn streams_and_exit_code_are_kept_apart() {
    assert_eq!(
        output(sh("echo out; echo err >&2; exit 7")).await,
        (ChildExit::Exited(7), "out\n".into(), "err\n".into())
    );
}

#[tokio::test]
async fn stdin_is_written_and_closed() {
    let command = ChildCommand { stdin: b"hello\n".to_vec(), ..sh("cat; echo end") };
    assert_eq!(output(command).await.1, "hello\nend\n");
}

#[tokio::test]
async fn a_child_that_never_reads_a_large_stdin_is_no_error() {
    let command = ChildCommand { stdin: vec![b'x'; 1 << 20], ..sh("exit 3") };
    assert_eq!(output(command).await.0, ChildExit::Exited(3));
}

#[tokio::test]
async fn a_flood_is_drained_and_the_exit_code_survives() {
    let ran = run(sh("head -c 300000 /dev/zero; exit 2"), &CancellationToken::new()).await.unwrap();
    assert_eq!((ran.end, ran.stdout.bytes.len(), ran.stdout.truncated), (ChildExit::Exited(2), 4096, true));
    let exact = run(sh("head -c 4096 /dev/zero"), &CancellationToken::new()).await.unwrap();
    assert_eq!((exact.stdout.bytes.len(), exact.stdout.truncated), (4096, false));
}

#[tokio::test]
async fn the_deadline_ends_the_whole_group_even_if_it_ignores_sigterm() {
    let dir = tempfile::tempdir().unwrap();
    let script = "trap '' TERM; (trap '' TERM; sleep 1.5; touch survived) & sleep 30";
    let command = ChildCommand {
        cwd: dir.path().into(),
        deadline: Some(Duration::from_millis(100)),
        grace: Duration::from_millis(200),
        ..sh(script)
    };
    let began = Instant::now();
    assert_eq!(output(command).await.0, ChildExit::TimedOut);
    assert!(began.elapsed() < Duration::from_secs(10));
    tokio::time::sleep(Duration::from_millis(1800)).await;
    assert!(!dir.path().join("survived").exists());
}

#[tokio::test]
async fn a_background_descendant_neither_delays_nor_dies() {
    let dir = tempfile::tempdir().unwrap();
    let command = ChildCommand { cwd: dir.path().into(), ..sh("(sleep 1; echo late; touch alive) & echo done") };
    let began = Instant::now();
    assert_eq!(output(command).await, (ChildExit::Exited(0), "done\n".into(), String::new()));
    assert!(began.elapsed() < Duration::from_millis(900));
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert!(dir.path().join("alive").exists());
}

#[tokio::test]
async fn a_child_has_its_own_session_and_only_the_given_environment() {
    let command = ChildCommand {
        env: Env::default().with("PATH", "/usr/bin:/bin").with("ONLY", "1"),
        ..sh("env; ps -o sid= -p $$ | tr -d ' '; echo $$")
    };
    let (_, out, _) = output(command).await;
    let lines: Vec<_> = out.lines().collect();
    assert!(lines.contains(&"ONLY=1") && !out.contains("HOME="));
    assert_eq!(lines[lines.len() - 2], lines[lines.len() - 1]);
}

#[tokio::test]
async fn cancelling_ends_the_child() {
    let cancel = CancellationToken::new();
    cancel.cancel();
    let ran = run(sh("sleep 30"), &cancel).await.unwrap();
    assert_eq!(ran.end, ChildExit::Cancelled);
}

#[tokio::test]
async fn a_signal_is_told_apart_from_an_exit() {
    assert_eq!(output(sh("kill -9 $$")).await.0, ChildExit::Signalled(9));
}

#[tokio::test]
async fn what_is_missing_is_named() {
    let gone = run(ChildCommand { cwd: "/nonexistent/dir".into(), ..sh("true") }, &CancellationToken::new()).await;
    assert!(matches!(gone, Err(SpawnError::MissingDirectory(path)) if path.ends_with("dir")));
    let program = ChildCommand { program: "/no/such/program".into(), ..sh("true") };
    let gone = run(program, &CancellationToken::new()).await;
    assert!(matches!(gone, Err(SpawnError::MissingProgram(name)) if name == "/no/such/program"));
}

#[tokio::test]
async fn a_started_child_can_be_watched_and_stopped() {
    let running = start(sh("echo one; sleep 30")).unwrap();
    while running.snapshot().0.bytes != b"one\n" {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(running.end(), None);
    running.stop();
    assert_eq!(running.wait().await, ChildExit::Cancelled);
}

#[tokio::test]
async fn a_worker_answers_line_by_line_and_ends_with_its_owner() {
    let mut worker =
        PersistentChild::start(&sh("echo $$; while read -r line; do echo \"got $line\"; echo mumble >&2; done"))
            .await
            .unwrap();
    let id = worker.receive().await.unwrap();
    for word in ["one", "two"] {
        worker.send(word).await.unwrap();
        assert_eq!(worker.receive().await.unwrap(), format!("got {word}"));
    }
    drop(worker);
    while std::fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| !stat.contains(") Z ")) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_worker_that_ended_or_says_too_much_is_lost() {
    let mut worker = PersistentChild::start(&sh("exit 0")).await.unwrap();
    assert!(matches!(worker.receive().await, Err(ChildIoError::Ended)));
    let mut worker = PersistentChild::start(&sh("head -c 5000 /dev/zero | tr '\\0' x; sleep 20")).await.unwrap();
    assert!(matches!(worker.receive().await, Err(ChildIoError::TooLong(4096))));
}
