use super::*;

fn told(line: &str) -> String {
    let words = std::iter::once("ona").chain(line.split_whitespace()).map(OsString::from).collect();
    match parse(words) {
        Ok(_) => "accepted".to_owned(),
        Err(Wrong::Clap(error)) => error.to_string().lines().next().unwrap_or_default().to_owned(),
        Err(Wrong::Failure(failure)) => failure.to_string(),
    }
}

#[test]
fn a_flag_is_used_or_refused() {
    for line in [
        "-p x --max-turns 3",
        "x -p",
        "--db /x db path",
        "db path --db /x",
        "--db /x sessions --conversation c list",
        "--input-format stream-json --output-format stream-json",
        "doctor --model m",
        "--eval {} --yes",
    ] {
        assert_eq!(told(line), "accepted", "{line}");
    }
    for (line, sentence) in [
        (
            "--max-turns 3 db path",
            "ona: --max-turns cannot be used with ona db path\n  it is an option of the terminal, -p",
        ),
        (
            "db path --max-turns 3",
            "ona: --max-turns cannot be used with ona db path\n  it is an option of the terminal, -p",
        ),
        ("--eval {} --approve", "ona: --approve cannot be used with --eval\n  it is an option of --transition"),
        ("-p x --yes", "ona: --yes cannot be used with -p\n  it is an option of --eval, --fire-hook, plugin install"),
        ("hooks types --bare", "ona: --bare cannot be used with ona hooks types\n  ona help hooks types"),
    ] {
        assert_eq!(told(line), sentence, "{line}");
    }
}

#[test]
fn a_mistyped_command_is_named_with_the_nearest_one() {
    for (line, sentence) in [
        ("sesions list", "ona: unknown command 'sesions'; did you mean 'sessions'?"),
        ("doctr", "ona: unknown command 'doctr'; did you mean 'doctor'?"),
        ("doctr --jsn", "ona: unknown command 'doctr'; did you mean 'doctor'?"),
        ("--db /x hoks list --json", "ona: unknown command 'hoks'; did you mean 'hooks'?"),
        ("xyzzy", "ona: unknown command 'xyzzy'\n  ona -p 'xyzzy' answers a prompt; ona -h lists the commands"),
        (
            "--db /x explain this --json",
            "ona: unknown command 'explain'\n  ona -p 'explain this' answers a prompt; ona -h lists the commands",
        ),
    ] {
        assert_eq!(told(line), sentence, "{line}");
    }
    assert_eq!(told("sessions lst"), "error: unrecognized subcommand 'lst'");
    let number = "error: invalid value 'x' for '--max-turns <N>': it must be a whole number in range";
    assert_eq!(told("-p hi --max-turns x"), number);
    assert_eq!(told("--no-such-flag"), "error: unexpected argument '--no-such-flag' found");
}
