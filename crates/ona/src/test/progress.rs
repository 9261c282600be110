//! How a run goes, on stderr: a bar on a terminal, a line per case elsewhere.

use crate::output;
use ona_api::testing::TestRun;
use ona_runtime::plan_tests::RunWatcher;
use ona_runtime::table::Tone;
use ona_test_runner::{RunProgress, Sandbox};
use std::io::{self, IsTerminal, Write};
use std::time::Instant;

const WIDTH: usize = 20;

pub(super) struct Bar {
    total: usize,
    done: usize,
    passed: usize,
    current: String,
    since: Instant,
    terminal: bool,
    coloured: bool,
}

impl Bar {
    pub(super) fn new(total: usize, coloured: bool) -> Self {
        let terminal = io::stderr().is_terminal();
        Self {
            total,
            done: 0,
            passed: 0,
            current: String::new(),
            since: Instant::now(),
            terminal,
            coloured: terminal && coloured,
        }
    }

    fn wipe(&self) {
        if self.terminal {
            // A terminal that has gone away shows nothing.
            write!(io::stderr(), "\r\x1b[K").ok();
        }
    }
}

impl RunWatcher for Bar {
    fn show(&mut self, progress: &RunProgress<'_>) {
        match progress {
            RunProgress::Begins { sandbox: Sandbox::Bubblewrap(_), .. } => {}
            RunProgress::Begins { sandbox: Sandbox::None, .. } => output::note(
                "ona: bwrap cannot be used here, so nothing keeps tests from changing the project; if one does, its result will not count",
            ),
            RunProgress::Started { case, .. } => {
                self.current = format!("{} {}", case.id, case.title);
                self.tick();
            }
            RunProgress::Finished { case, run, .. } => {
                self.done += 1;
                self.passed += usize::from(run.exit_code == Some(0));
                self.wipe();
                let count = format!("{}/{}", self.done, self.total);
                let tone = if run.exit_code == Some(0) { Tone::Good } else { Tone::Bad };
                let word = tone.paint(&format!("{:<13}", word(run)), self.coloured);
                let case = ona_permissions::printable(&format!("{}  {}{}", case.id, case.title, took(run)));
                output::note(format_args!("{count:>7}  {word}  {case}"));
                self.current.clear();
                self.tick();
            }
        }
    }

    /// Draws the bar again, if there is a terminal for it.
    fn tick(&mut self) {
        if !self.terminal {
            return;
        }
        let full = WIDTH * self.done / self.total.max(1);
        let elapsed = self.since.elapsed().as_secs();
        let line = format!(
            "[{}{}] {}/{}  {} passed, {} failed  {}:{:02}  {}",
            "#".repeat(full),
            "-".repeat(WIDTH - full),
            self.done,
            self.total,
            self.passed,
            self.done - self.passed,
            elapsed / 60,
            elapsed % 60,
            ona_permissions::printable(&self.current)
        );
        // Zero is what a terminal says that does not know.
        let width = rustix::termios::tcgetwinsize(io::stderr()).map_or(0, |size| usize::from(size.ws_col));
        let width = if width == 0 { 80 } else { width };
        let line: String = line.chars().take(width - 1).collect();
        // A terminal that has gone away shows nothing.
        write!(io::stderr(), "\r{line}\x1b[K").and_then(|()| io::stderr().flush()).ok();
    }

    fn end(&mut self) {
        self.wipe();
        output::note(format_args!("{} passed, {} failed, {} in all", self.passed, self.done - self.passed, self.total));
    }
}

fn word(run: &TestRun) -> String {
    match (run.exit_code, run.timed_out, &run.completed_at) {
        (Some(0), false, _) => "passed".to_owned(),
        (Some(code), false, _) => format!("failed ({code})"),
        (_, true, _) => "timed out".to_owned(),
        (None, false, _) => "not completed".to_owned(),
    }
}

fn took(run: &TestRun) -> String {
    run.took_ms.map(|ms| format!("  {}.{} s", ms / 1000, ms % 1000 / 100)).unwrap_or_default()
}
