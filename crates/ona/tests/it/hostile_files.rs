//! Files of a folder that are not what they seem: pipes, devices, endless files, endless
//! folders. Each is one line on stderr and is skipped; nothing waits and nothing fills the memory.

use crate::ona;
use ona_testkit::model::{ModelServer, Wire, call, say};
use ona_testkit::{Ona, RunOutput};
use serde_json::json;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;

/// What a program reads at a start because it lies in the folder.
const FOUND: [&str; 14] = [
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".ona/settings.json",
    ".ona/settings.local.json",
    "CLAUDE.md",
    "AGENTS.md",
    "CLAUDE.local.md",
    ".claude/CLAUDE.md",
    ".claude/rules/r.md",
    ".claude/skills/s/SKILL.md",
    ".claude/commands/c.md",
    ".claude/agents/a.md",
    ".mcp.json",
    ".omp/hooks/pre/m.ts",
];

/// One of each kind.
const ONE_EACH: [&str; 5] =
    [".claude/settings.json", "CLAUDE.md", ".claude/rules/r.md", ".claude/agents/a.md", ".mcp.json"];

fn fifo(path: &Path) {
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
}

fn sparse(path: &Path) {
    File::create(path).unwrap().set_len(8 << 30).unwrap();
}

fn device(path: &Path) {
    symlink("/dev/zero", path).unwrap();
}

fn put(ona: &Ona, name: &str, make: fn(&Path)) {
    let path = ona.project().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    make(&path);
}

/// One run that may neither take long nor need much memory.
fn run(ona: &Ona, flags: &str) -> RunOutput {
    ona.lenient_shell(&format!("ulimit -v 4000000; exec timeout 30 ona -p hi {flags}"))
}

fn talking(ona: &mut Ona) -> ModelServer {
    ona.model(Wire::Messages, [say("done")])
}

fn lines_about<'r>(ran: &'r RunOutput, file: &str) -> Vec<&'r str> {
    let named = |line: &&str| line.contains(&format!("/project/{file}")) || line.starts_with(&format!("ona: {file} "));
    ran.stderr.lines().filter(named).collect()
}

#[test]
fn a_file_that_is_none_is_one_line_and_skipped() {
    for (kind, make, told) in [
        ("fifo", fifo as fn(&Path), "a named pipe"),
        ("sparse", sparse, "larger than 4 MiB"),
        ("device", device, "a device"),
    ] {
        let mut ona = ona();
        for name in FOUND {
            put(&ona, name, make);
        }
        let server = talking(&mut ona);
        let ran = run(&ona, "").expect_code(0);
        assert_eq!(ran.stdout, "done\n", "{kind}: {ran:?}");
        for name in FOUND {
            // They are one and the same device, and the same file by another way counts once.
            if kind == "device" && !ONE_EACH.contains(&name) {
                continue;
            }
            let lines = lines_about(&ran, name);
            assert!(lines.len() == 1 && lines[0].contains(told), "{kind} {name}: {lines:?} in {}", ran.stderr);
        }
        assert_eq!(server.requests().len(), 1);
    }
}

#[test]
fn an_untrusted_folder_does_not_make_a_start_wait_either() {
    for make in [fifo as fn(&Path), sparse, device] {
        let mut ona = ona().untrusted();
        for name in FOUND {
            put(&ona, name, make);
        }
        let _server = talking(&mut ona);
        for flags in ["--no-trust", ""] {
            let ran = run(&ona, flags);
            assert_eq!((ran.code, ran.stdout.as_str()), (0, "done\n"), "{ran:?}");
        }
    }
}

#[test]
fn what_instructions_import_and_what_lies_deeper_is_bounded_too() {
    let mut ona = ona();
    ona.file("CLAUDE.md", "Kept. @more/import.md\n");
    put(&ona, "more/import.md", fifo);
    put(&ona, "sub/CLAUDE.md", fifo);
    ona.file("sub/file.txt", "text\n");
    let of_plugin = ["plug/.claude-plugin/plugin.json", "plug/hooks/hooks.json", "plug/skills/s/SKILL.md"];
    of_plugin.iter().for_each(|name| put(&ona, name, fifo));
    let server = ona.model(Wire::Messages, [call("Read", json!({"file_path": "sub/file.txt"})), say("done")]);
    let ran = run(&ona, "--allowedTools Read --plugin-dir plug").expect_code(0);
    assert!(server.request(0).system().contains("Kept."));
    assert!(server.request(1).last_message().contains("text"));
    assert_eq!(lines_about(&ran, "more/import.md").len(), 1, "{ran:?}");
    assert_eq!(lines_about(&ran, "sub/CLAUDE.md").len(), 1, "{ran:?}");
    of_plugin.iter().for_each(|name| assert!(!lines_about(&ran, name).is_empty(), "{name}: {ran:?}"));
}

#[test]
fn folders_without_end_are_cut_off_and_said() {
    let mut ona = ona();
    for folder in [".claude/rules", ".claude/commands", ".claude/agents"] {
        ona.file(&format!("{folder}/a/b.md"), "---\nname: b\ndescription: b\n---\nText.");
        for at in 0..20 {
            symlink("..", ona.project().join(folder).join(format!("a/loop{at}"))).unwrap();
        }
    }
    let many = ona.project().join(".claude/skills");
    fs::create_dir_all(&many).unwrap();
    for at in 0..10_001 {
        File::create(many.join(at.to_string())).unwrap();
    }
    let _server = talking(&mut ona);
    let ran = run(&ona, "").expect_code(0);
    let lines = lines_about(&ran, ".claude/skills");
    assert!(lines.len() == 1 && lines[0].contains("more than 10000 entries"), "{ran:?}");
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
}

#[test]
fn files_that_the_operator_names_may_be_pipes() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [call("Bash", json!({"command": "touch made"})), say("done")]);
    let ran = ona.lenient_shell(
        "timeout 30 ona -p hi --allowedTools Bash --settings <(echo '{\"permissions\":{\"deny\":[\"Bash(touch:*)\"]}}') \
         --mcp-config <(echo '{\"mcpServers\":{}}') --append-system-prompt-file <(echo From a pipe) \
         --agents <(echo '{\"piped\":{\"description\":\"d\",\"prompt\":\"p\"}}') --hooks-config <(echo '{\"hooks\":{}}')",
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "done\n"), "{ran:?}");
    assert!(server.request(0).system().contains("From a pipe"));
    assert!(server.request(0).json()["tools"].to_string().contains("piped") || !ran.stderr.contains("agents"));
    assert!(server.request(1).last_message().contains("Denied by permission rule Bash(touch:*)"));
    assert!(!ona.exists("made"));
    ona.run(["plan", "list"]);
    let ran = ona.lenient_shell("timeout 30 ona hooks test --config <(echo '{}') <(echo '[]')");
    assert!(ran.stderr.contains("it has no fixtures"), "{ran:?}");
}

#[test]
fn an_instruction_file_that_leads_out_of_an_untrusted_folder_is_not_sent() {
    for trusted in [false, true] {
        let mut ona = ona();
        if !trusted {
            ona = ona.untrusted();
        }
        fs::write(ona.root().join("private"), "the private text").unwrap();
        symlink("../private", ona.project().join("CLAUDE.md")).unwrap();
        fs::create_dir_all(ona.project().join(".claude/rules")).unwrap();
        symlink("../../../private", ona.project().join(".claude/rules/r.md")).unwrap();
        let server = talking(&mut ona);
        run(&ona, if trusted { "" } else { "--no-trust" }).expect_code(0);
        assert_eq!(server.request(0).system().contains("the private text"), trusted);
    }
}

#[test]
fn a_search_does_not_wait_for_an_ignore_file() {
    let ona = ona();
    ona.file("src/a.txt", "needle\n");
    put(&ona, "bad/.gitignore", fifo);
    ona.file("bad/b.txt", "needle\n");
    let input = json!({"pattern": "needle", "output_mode": "content"}).to_string();
    let eval = |input: &str| {
        let call = format!("{{\"tool\":\"Grep\",\"input\":{input}}}");
        ona.lenient_shell(&format!("timeout 30 ona --eval '{call}'")).expect_code(0).json()["content"].to_string()
    };
    fs::create_dir(ona.project().join(".git")).unwrap();
    let found = eval(&input);
    assert!(found.contains("src/a.txt:1:needle") && found.contains("1 path could not be read"), "{found}");
    put(&ona, ".gitignore", sparse);
    let refused = eval(&input);
    assert!(refused.contains(".gitignore is larger than 4 MiB"), "{refused}");
}

#[test]
fn memories_are_imported_from_files_only() {
    let ona = ona();
    ona.file("notes/a.md", "# A\ntext");
    put(&ona, "notes/b.md", fifo);
    put(&ona, "notes/deep/c.md", sparse);
    let ran = ona.lenient_shell("ulimit -v 4000000; timeout 30 ona memory import notes").expect_code(0);
    assert_eq!(ran.stderr.lines().filter(|line| line.contains("ignoring")).count(), 2, "{ran:?}");
    assert_eq!(ona.column("SELECT title FROM memories"), ["A"]);
}
