//! `ona demo --sdlc`: one conversation through all phases, on a small command-line tool.
//!
//! The model is scripted and its first implementation is wrong, so that the gate has
//! something to refuse. The tests are written by a second scripted model that is told the
//! plan and nothing else; both answer on loopback. Everything between them is the product.

use super::Demo;
use ona_runtime::Failure;
use ona_scripted_model::{ModelServer, ScriptedTurn, Wire, call, calls, say};
use serde_json::{Value, json};

const PLAN: &str = "# A word counter\n\nA script `tally` that counts the words of a file.\n\n## Success criteria\n\n\
    - SC-1: `./tally FILE` prints the number of words in FILE, as in `3 words`\n\
    - SC-2: `./tally FILE` with a file that does not exist exits 1 and names the file on stderr\n";

/// Counts, but takes a missing file for an empty one.
const HASTY: &str = "#!/bin/bash\necho \"$(cat \"$1\" 2>/dev/null | wc -w) words\"\n";

const MENDED: &str = "#!/bin/bash\nif [ ! -e \"$1\" ]; then\n  echo \"tally: no such file: $1\" >&2\n  exit 1\nfi\n\
    echo \"$(wc -w <\"$1\") words\"\n";

const COUNTS: &str = "```bash\n# traces: SC-1\n# title: Three words are counted as three\n\
    printf 'one two\\nthree\\n' >\"$SDLC_TEST_TMP/notes.txt\"\nout=$(./tally \"$SDLC_TEST_TMP/notes.txt\") || exit 1\n\
    [ \"$out\" = '3 words' ] || { echo \"expected 3 words, got: $out\" >&2; exit 1; }\n```\n";

/// Fails only if the tool crashes: no test at all.
const SMOKE: &str = "```bash\n# traces: SC-2\n# title: It runs\n./tally nowhere.txt\ntest $? -lt 2\n```\n";

const REFUSES: &str = "```bash\n# traces: SC-2\n# title: A missing file is named and refused\ncode=0\n\
    ./tally \"$SDLC_TEST_TMP/nowhere.txt\" >\"$SDLC_TEST_TMP/out\" 2>\"$SDLC_TEST_TMP/err\" || code=$?\n\
    [ \"$code\" -eq 1 ] || { echo \"expected exit code 1, got $code\" >&2; exit 1; }\n\
    grep -q nowhere.txt \"$SDLC_TEST_TMP/err\" || { echo 'stderr does not name the file' >&2; exit 1; }\n```\n";

/// The operator's own: edits are accepted, one command is allowed, and `./tally` is what tests may call.
pub(super) fn settings() -> String {
    let settings = json!({
        "permissions": {"defaultMode": "acceptEdits", "allow": ["EnterPlanMode", "Read", "Bash(chmod +x tally)"]},
        "sdlc": {"publicApi": {"entryPoints": ["./tally"]}},
    });
    format!("{settings:#}\n")
}

impl Demo {
    pub(super) async fn through_all_phases(&self) -> Result<(), Failure> {
        self.line(
            "One conversation through all phases. The models are SCRIPTED: servers on loopback that say fixed lines.\n",
        );
        let write = |text: &str| call("Write", json!({"file_path": "tally", "content": text}));
        let script = [
            call("EnterPlanMode", json!({})),
            write(HASTY),
            call("ExitPlanMode", json!({ "plan": PLAN })),
            say("I may not write yet. My plan waits for you."),
        ];
        let begun = self
            .turn("idle to planning: the model plans and cannot write", "Write me a word counter.", script, None)
            .await?;
        let (session, id) = (begun.session, begun.conversation);
        self.ona("You read the plan", &["plan", "show", "1"]).await?;
        self.ona("You approve it", &["plan", "approve", "1"]).await?;

        let script = [
            call("ExitPlanMode", json!({})),
            calls([
                ("Write", json!({"file_path": "tally", "content": HASTY})),
                ("Bash", json!({"command": "chmod +x tally"})),
            ]),
            say("The counter is there."),
        ];
        self.turn(
            "planning to implement: the approved plan is carried out, hastily",
            "Go ahead.",
            script,
            Some(&session),
        )
        .await?;

        let answers = [say(&format!("{COUNTS}{SMOKE}")), say(REFUSES)];
        self.asked(
            "implement to test: another model, which sees the plan and not the work, writes the tests; they are run",
            &["--transition", "test", "--conversation", &id],
            answers,
        )
        .await?;
        self.ona(
            "test to verify is refused, and the criterion is named",
            &["--transition", "verify", "--conversation", &id],
        )
        .await?;

        let script = [write(MENDED), say("A missing file is refused now.")];
        self.turn("The work is mended, not the test", "SC-2 fails. Mend it.", script, Some(&session)).await?;
        self.ona("The tests run again", &["test", "run", "--conversation", &id]).await?;
        self.ona("test to verify", &["--transition", "verify", "--conversation", &id]).await?;
        self.ona("You read the report", &["test", "report", "--conversation", &id]).await?;
        self.ona("verify to done needs your word", &["--transition", "done", "--conversation", &id]).await?;
        self.ona("You give it", &["--transition", "done", "--approve", "--conversation", &id]).await?;

        let db = self.database.display();
        self.line("Everything above is in one file. Three queries to try:\n");
        for query in [
            "SELECT event_type, detail FROM events WHERE event_type LIKE 'p%' OR event_type LIKE 'test%' ORDER BY id",
            "SELECT c.criterion_id, c.title, r.exit_code, r.stderr_text FROM sdlc_test_runs r JOIN sdlc_test_cases c ON c.id = r.test_case_id",
            "SELECT phase FROM conversations",
        ] {
            self.line(format_args!("  sqlite3 {db} \"{query}\""));
        }
        Ok(())
    }

    /// A command that asks a model of its own, shown with what it says on stderr.
    async fn asked(
        &self,
        title: &str,
        args: &[&str],
        script: impl IntoIterator<Item = ScriptedTurn>,
    ) -> Result<Value, Failure> {
        let server = ModelServer::try_start(Wire::Messages, script)
            .map_err(|error| Failure::refused(format_args!("the scripted model could not be started: {error}")))?;
        let (code, stdout, stderr) = self.both(args, &server.env()).await?;
        self.line(format_args!("{title}\n  ona {}\n  exit {code}   {}", args.join(" "), stdout.trim_end()));
        for line in stderr.lines() {
            self.line(format_args!("  | {line}"));
        }
        self.line("");
        serde_json::from_str(&stdout).map_err(|_| Failure::refused(format_args!("the demo could not go on: {stderr}")))
    }
}
