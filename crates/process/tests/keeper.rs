//! A program with a keeper, killed from outside: real processes, real signals.
//!
//! The keeper is the program's own executable, so this one has a `main` of its own: it is
//! the keeper, or the program that is killed, or lists and runs the tests as `cargo` and
//! `nextest` ask for it.

fn main() -> std::process::ExitCode {
    #[cfg(target_os = "linux")]
    return linux::main();
    #[cfg(not(target_os = "linux"))]
    std::process::ExitCode::SUCCESS
}

#[cfg(target_os = "linux")]
mod linux {
    use ona_api::Env;
    use ona_process::{
        ChildCommand, ChildExit, OnDeath, PersistentChild, SpawnError, WallOrder, keeper, run, run_and_clear, start,
        wall,
    };
    use ona_sandbox::{Mechanism, WallPolicy};
    use rustix::process::{Pid, Signal, kill_process};
    use std::os::unix::process::ExitStatusExt;
    use std::path::Path;
    use std::process::{Child, Command, ExitCode, Stdio};
    use std::time::{Duration, Instant};
    use tokio_util::sync::CancellationToken;

    const TESTS: [(&str, fn()); 7] = [
        ("whatever_ends_the_program_nothing_it_started_goes_on", whatever_ends_the_program_nothing_it_started_goes_on),
        ("after_a_farewell_what_runs_may_stay", after_a_farewell_what_runs_may_stay),
        ("a_kept_child_is_like_any_other", a_kept_child_is_like_any_other),
        ("a_keeper_that_is_killed_takes_its_children_along", a_keeper_that_is_killed_takes_its_children_along),
        ("what_holds_here_is_found_out_by_trying", what_holds_here_is_found_out_by_trying),
        ("a_child_behind_a_wall_is_kept_in", a_child_behind_a_wall_is_kept_in),
        ("a_worker_that_is_dropped_takes_its_group_along", a_worker_that_is_dropped_takes_its_group_along),
    ];

    pub(super) fn main() -> ExitCode {
        let args: Vec<_> = std::env::args().collect();
        if keeper::is_keeper(args.first().map(AsRef::as_ref)) {
            return keeper::serve();
        }
        if wall::is_check(args.first().map(AsRef::as_ref)) {
            return wall::serve_check(std::env::args_os());
        }
        match args.get(1).map(String::as_str) {
            Some("program") => program(Path::new(&args[2]), &args[3]),
            _ if args.iter().any(|arg| arg == "--list") => {
                if !args.iter().any(|arg| arg == "--ignored") {
                    #[expect(clippy::print_stdout, reason = "the list is for cargo and nextest")]
                    TESTS.iter().for_each(|(name, _)| println!("{name}: test"));
                }
            }
            _ => {
                let wanted =
                    |name: &&str| args[1..].iter().all(|arg| arg.starts_with('-') || name.contains(arg.as_str()));
                TESTS.iter().filter(|(name, _)| wanted(name)).for_each(|(_, test)| test());
            }
        }
        ExitCode::SUCCESS
    }

    fn sh(script: &str, cwd: &Path) -> ChildCommand {
        ChildCommand {
            program: "/bin/bash".into(),
            args: vec!["-c".into(), script.into()],
            cwd: cwd.into(),
            env: Env::default().with("PATH", "/usr/bin:/bin"),
            stdin: Vec::new(),
            cap: 4096,
            deadline: None,
            grace: Duration::from_secs(1),
            on_death: OnDeath::Kill,
            wall: None,
        }
    }

    fn on_runtime<F: Future>(work: F) -> F::Output {
        keeper::enable();
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(work)
    }

    /// Notes its id, then writes until it ends.
    const WRITER: &str = "echo $BASHPID >>ids; while :; do echo x >>written; sleep 0.01; done";

    /// Starts writers of every kind and then ends as it is told.
    fn program(cwd: &Path, end: &str) {
        std::fs::write(cwd.join("writer.sh"), WRITER).unwrap();
        on_runtime(async {
            // What a finished command has left, one that runs, and a worker.
            let left = "bash writer.sh & setsid bash writer.sh >/dev/null 2>&1 & (setsid setsid bash writer.sh >/dev/null 2>&1 &) & \
                (env -i /usr/bin/setsid /bin/bash -c 'for f in {0..40}; do eval \"exec $f>&-\"; done; exec /bin/bash writer.sh' &)";
            run(sh(left, cwd), &CancellationToken::new()).await.unwrap();
            let running = start(sh("trap '' TERM; bash writer.sh; true", cwd)).unwrap();
            let worker = PersistentChild::start(&sh("bash writer.sh", cwd)).await.unwrap();
            while ids(cwd).len() < 6 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            std::fs::write(cwd.join("ready"), "").unwrap();
            match end {
                "farewell" => keeper::release(),
                "abort" => std::process::abort(),
                "panic" => panic!("on purpose"),
                _ => std::future::pending().await,
            }
            // Dropped, they would be ended.
            std::mem::forget((running, worker));
        });
    }

    fn run_program(cwd: &Path, end: &str) -> Child {
        #[expect(clippy::disallowed_methods, reason = "this is the program under test")]
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args([Path::new("program"), cwd, Path::new(end)])
            .stderr(Stdio::null())
            .current_dir(cwd)
            .spawn()
            .unwrap()
    }

    fn ids(cwd: &Path) -> Vec<i32> {
        let text = std::fs::read_to_string(cwd.join("ids")).unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).collect()
    }

    fn is_alive(id: i32) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
    }

    fn wait_until(what: &str, is_so: impl Fn() -> bool) {
        let began = Instant::now();
        while !is_so() {
            assert!(began.elapsed() < Duration::from_secs(20), "{what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn whatever_ends_the_program_nothing_it_started_goes_on() {
        let by_signal = [Signal::KILL, Signal::QUIT, Signal::ABORT].map(|signal| ("wait", Some(signal)));
        for (end, signal) in by_signal.into_iter().chain([("abort", None), ("panic", None)]) {
            let dir = tempfile::tempdir().unwrap();
            let mut program = run_program(dir.path(), end);
            wait_until("the writers start", || dir.path().join("ready").exists());
            if let Some(signal) = signal {
                kill_process(Pid::from_child(&program), signal).unwrap();
            }
            let status = program.wait().unwrap();
            assert!(status.signal().is_some() || status.code() == Some(101), "{end} {signal:?}: {status}");
            wait_until(&format!("{end} {signal:?}: they end"), || !ids(dir.path()).into_iter().any(is_alive));
            let written = std::fs::metadata(dir.path().join("written")).unwrap().len();
            std::thread::sleep(Duration::from_millis(100));
            assert_eq!(std::fs::metadata(dir.path().join("written")).unwrap().len(), written);
        }
    }

    fn after_a_farewell_what_runs_may_stay() {
        let dir = tempfile::tempdir().unwrap();
        assert!(run_program(dir.path(), "farewell").wait().unwrap().success());
        std::thread::sleep(Duration::from_millis(200));
        let ids = ids(dir.path());
        assert_eq!(ids.iter().filter(|id| is_alive(**id)).count(), 6);
        ids.iter().filter_map(|id| Pid::from_raw(*id)).for_each(|id| kill_process(id, Signal::KILL).unwrap());
    }

    fn a_kept_child_is_like_any_other() {
        let dir = tempfile::tempdir().unwrap();
        let cwd = dir.path();
        on_runtime(async {
            let cancel = CancellationToken::new();
            let command = ChildCommand {
                stdin: b"in".to_vec(),
                ..sh("cat; echo err >&2; ps -o ppid= -p $$ >parent; exit 7", cwd)
            };
            let ran = run(command, &cancel).await.unwrap();
            assert_eq!(
                (ran.end, &*ran.stdout.bytes, &*ran.stderr.bytes),
                (ChildExit::Exited(7), &b"in"[..], &b"err\n"[..])
            );
            let parent = std::fs::read_to_string(cwd.join("parent")).unwrap();
            assert_ne!(parent.trim(), std::process::id().to_string(), "it was started by the keeper");
            let name = std::fs::read_to_string(format!("/proc/{}/comm", parent.trim())).unwrap();
            assert_eq!(name, "agent-children\n");
            let environment = std::fs::read(format!("/proc/{}/environ", parent.trim())).unwrap();
            assert_eq!(environment, b"", "the keeper has no environment");
            assert_eq!(run(sh("kill -9 $$", cwd), &cancel).await.unwrap().end, ChildExit::Signalled(9));
            let late = ChildCommand { deadline: Some(Duration::from_millis(50)), ..sh("sleep 60 & sleep 60", cwd) };
            assert_eq!(run(late, &cancel).await.unwrap().end, ChildExit::TimedOut);
            let program = ChildCommand { program: "/no/such/program".into(), ..sh("", cwd) };
            assert!(matches!(run(program, &cancel).await, Err(SpawnError::MissingProgram(_))));
            let nul = ChildCommand { args: vec!["a\0b".into()], ..sh("", cwd) };
            assert!(
                matches!(run(nul, &cancel).await, Err(SpawnError::Io(error)) if error.kind() == std::io::ErrorKind::InvalidInput)
            );
            // A job of it goes on, unless it is to be cleared.
            run(sh("sleep 60 & echo $! >ids", cwd), &cancel).await.unwrap();
            assert!(is_alive(ids(cwd)[0]));
            kill_process(Pid::from_raw(ids(cwd)[0]).unwrap(), Signal::KILL).unwrap();
            run_and_clear(sh("sleep 60 & echo $! >ids", cwd), &cancel).await.unwrap();
            wait_until("the job ends", || !is_alive(ids(cwd)[0]));
            let stopped = start(sh("sleep 60", cwd)).unwrap();
            stopped.stop();
            assert_eq!(stopped.wait().await, ChildExit::Cancelled);
            // Many at a time.
            let many: Vec<_> = (0..40).map(|code| start(sh(&format!("exit {code}"), cwd)).unwrap()).collect();
            for (code, child) in (0..40).zip(many) {
                assert_eq!(child.wait().await, ChildExit::Exited(code));
            }
        });
    }

    /// Also what it leaves in the background, and also where the keeper does not start it.
    fn a_child_behind_a_wall_is_kept_in() {
        for on_death in [OnDeath::Kill, OnDeath::Leave] {
            let dir = tempfile::tempdir().unwrap();
            std::fs::create_dir(dir.path().join("in")).unwrap();
            std::fs::write(dir.path().join("in/guarded"), "kept").unwrap();
            let policy = WallPolicy {
                read_only: vec![dir.path().join("in/guarded")],
                hidden: vec![dir.path().join("none")],
                protected_processes: vec![std::process::id().cast_signed()],
                ..WallPolicy::default()
            };
            let wall = WallOrder { policy, mechanisms: Mechanism::ALL.to_vec() };
            let script = format!(
                "pwd; cat in/guarded; echo >free; (echo no >in/guarded) & wait; rm -f in/guarded; mv in out; kill -9 {}; true",
                std::process::id()
            );
            let command = ChildCommand { wall: Some(std::sync::Arc::new(wall)), on_death, ..sh(&script, dir.path()) };
            let ran = on_runtime(run(command, &CancellationToken::new())).unwrap();
            let (stdout, stderr) =
                (String::from_utf8_lossy(&ran.stdout.bytes), String::from_utf8_lossy(&ran.stderr.bytes));
            assert_eq!(ran.end, ChildExit::Exited(0), "{stderr}");
            assert_eq!(stdout, format!("{}\nkept", dir.path().display()), "{stderr}");
            assert!(dir.path().join("free").exists());
            assert_eq!(std::fs::read_to_string(dir.path().join("in/guarded")).unwrap(), "kept");
        }
    }

    fn what_holds_here_is_found_out_by_trying() {
        let dir = tempfile::tempdir().unwrap();
        let state = wall::try_here(dir.path()).unwrap();
        let names: Vec<_> = state.mechanisms.iter().map(|(mechanism, _)| *mechanism).collect();
        assert_eq!(names, Mechanism::ALL);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "it leaves nothing");
    }

    fn a_keeper_that_is_killed_takes_its_children_along() {
        let dir = tempfile::tempdir().unwrap();
        let cwd = dir.path();
        on_runtime(async {
            let running = start(sh("ps -o ppid= -p $$ >parent; echo $$ >ids; sleep 60; true", cwd)).unwrap();
            wait_until("it starts", || ids(cwd).len() == 1);
            let keeper: i32 = std::fs::read_to_string(cwd.join("parent")).unwrap().trim().parse().unwrap();
            kill_process(Pid::from_raw(keeper).unwrap(), Signal::KILL).unwrap();
            assert_eq!(running.wait().await, ChildExit::Signalled(9));
            wait_until("it ends", || !is_alive(ids(cwd)[0]));
            let ran = run(sh("echo again", cwd), &CancellationToken::new()).await.unwrap();
            assert_eq!(ran.stdout.bytes, b"again\n");
        });
    }

    fn a_worker_that_is_dropped_takes_its_group_along() {
        let dir = tempfile::tempdir().unwrap();
        let cwd = dir.path();
        on_runtime(async {
            // Once while it runs, once when it has ended before its group.
            for script in ["echo $$ >ids; sleep 60 & echo $! >>ids; wait", "sleep 60 & echo $! >ids; exit 0"] {
                let mut worker = PersistentChild::start(&sh(script, cwd)).await.unwrap();
                wait_until("it starts", || !ids(cwd).is_empty());
                if script.contains("exit") {
                    while worker.is_alive() {
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                }
                drop(worker);
                wait_until("the group ends", || !ids(cwd).into_iter().any(is_alive));
                std::fs::remove_file(cwd.join("ids")).unwrap();
            }
        });
    }
}
