//! What each set of mechanisms keeps out, tried by real processes.

use ona_sandbox::{Condition, Mechanism, State, attempts};
use std::process::{Command, ExitCode};

const CHILD: &str = "child of the test";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    if args.next().as_deref() == Some(CHILD) {
        let (folder, mechanisms) = (args.next().unwrap(), args.next().unwrap());
        let mechanisms: Vec<Mechanism> = serde_json::from_str(&mechanisms).unwrap();
        let state = attempts::try_all(folder.as_ref(), &mechanisms).unwrap();
        println!("{}", serde_json::to_string(&state).unwrap());
        return ExitCode::SUCCESS;
    }
    let is_root = rustix::process::geteuid().is_root();
    for unprivileged in [false, true] {
        if unprivileged && !is_root {
            continue;
        }
        let who = if is_root && !unprivileged { "root" } else { "an ordinary user" };
        all_together_keep_everything_out(who, unprivileged);
        without_a_wall_something_gets_through(who, unprivileged);
        landlock_guards_files_without_namespaces(who, unprivileged);
    }
    println!("test result: ok. 3 passed; 0 failed");
    ExitCode::SUCCESS
}

fn all_together_keep_everything_out(who: &str, unprivileged: bool) {
    let state = found(&Mechanism::ALL, unprivileged);
    assert_eq!(state.overall(), Condition::Enforced, "{who}: {state:?}");
}

fn without_a_wall_something_gets_through(who: &str, unprivileged: bool) {
    let state = found(&[], unprivileged);
    for gap in [
        "writing a guarded file",
        "reading a hidden file",
        "moving the folder of a guarded file",
        "a signal to this program",
    ] {
        assert!(state.gaps.iter().any(|found| found == gap), "{who}: {gap} proves nothing: {state:?}");
    }
    assert_eq!(state.overall().name(), "off");
}

fn landlock_guards_files_without_namespaces(who: &str, unprivileged: bool) {
    let state = found(&[Mechanism::Landlock, Mechanism::Seccomp], unprivileged);
    for gap in [
        "writing a guarded file",
        "replacing a guarded file",
        "moving the folder of a guarded file",
        "reading a hidden file",
    ] {
        assert!(!state.gaps.iter().any(|found| found == gap), "{who}: {state:?}");
    }
}

fn found(mechanisms: &[Mechanism], unprivileged: bool) -> State {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    #[expect(clippy::disallowed_methods, reason = "this test is about processes")]
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg(CHILD).arg(folder.path()).arg(serde_json::to_string(mechanisms).unwrap());
    if unprivileged {
        #[expect(clippy::disallowed_methods, reason = "as above")]
        let mut other = Command::new("setpriv");
        other.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]);
        // The program may lie where that user cannot go.
        let copy = folder.path().join("program");
        std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
        other.arg(copy).args(command.get_args());
        command = other;
        // As a parent it must be of that user too, or every attempt on it would fail anyway.
        let script = "\"$@\"; exit $?";
        #[expect(clippy::disallowed_methods, reason = "as above")]
        let mut shell = Command::new("setpriv");
        shell.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--", "sh", "-c", script, "sh"]);
        shell.arg(folder.path().join("program")).args(command.get_args().skip(5));
        command = shell;
    }
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    serde_json::from_slice(&ran.stdout).unwrap()
}
