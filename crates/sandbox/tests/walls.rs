//! What each set of mechanisms keeps out, tried by real processes.

use ona_sandbox::{Enforcement, Mechanism, State, attempts};
use std::ffi::OsString;
use std::process::{Command, ExitCode};

const CHILD: &str = "child of the test";

type Test = fn(who: &str, unprivileged: bool);

const TESTS: [(&str, Test); 3] = [
    ("all_together_keep_everything_out", all_together_keep_everything_out),
    ("without_a_wall_something_gets_through", without_a_wall_something_gets_through),
    ("landlock_guards_files_without_namespaces", landlock_guards_files_without_namespaces),
];

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args().collect();
    if args.get(1).is_some_and(|arg| arg == CHILD) {
        let mechanisms: Vec<Mechanism> = serde_json::from_str(&args[3]).unwrap();
        let state = attempts::try_all(args[2].as_ref(), &mechanisms).unwrap();
        serde_json::to_writer(std::io::stdout(), &state).unwrap();
    } else if args.iter().any(|arg| arg == "--list") {
        if !args.iter().any(|arg| arg == "--ignored") {
            #[expect(clippy::print_stdout, reason = "the list is for cargo and nextest")]
            TESTS.iter().for_each(|(name, _)| println!("{name}: test"));
        }
    } else {
        let wanted = |name: &str| args[1..].iter().all(|arg| arg.starts_with('-') || name.contains(arg.as_str()));
        let is_root = rustix::process::geteuid().is_root();
        for (_, test) in TESTS.iter().filter(|(name, _)| wanted(name)) {
            test(if is_root { "root" } else { "an ordinary user" }, false);
            // Root can be another user as well.
            if is_root {
                test("an ordinary user", true);
            }
        }
    }
    ExitCode::SUCCESS
}

fn all_together_keep_everything_out(who: &str, unprivileged: bool) {
    let state = found(&Mechanism::ALL, unprivileged);
    assert_eq!(state.overall(), Enforcement::Enforced, "{who}: {state:?}");
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
    let mut words: Vec<OsString> = Vec::new();
    let mut program = std::env::current_exe().unwrap();
    if unprivileged {
        // The program may lie where that user cannot go.
        let copy = folder.path().join("program");
        std::fs::copy(&program, &copy).unwrap();
        program = copy;
        // Its parent must be of that user too, or every attempt on it would fail anyway.
        words.extend(
            ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--", "sh", "-c", "\"$@\"; exit $?", "sh"]
                .map(Into::into),
        );
    }
    words.extend([
        program.into(),
        CHILD.into(),
        folder.path().into(),
        serde_json::to_string(mechanisms).unwrap().into(),
    ]);
    #[expect(clippy::disallowed_methods, reason = "this test is about processes")]
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    serde_json::from_slice(&ran.stdout).unwrap()
}
