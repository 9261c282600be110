//! The program from outside: command line, rows, hook stdin, files, exit codes.

mod attacks;
mod call_ids;
mod claude;
mod clear;
mod cli;
mod compaction;
mod denied_tools;
mod deviations;
mod diagnostics;
mod driven;
mod eval;
mod floor;
mod gastown;
mod guards;
mod headless;
mod hook_scripts;
mod hook_types;
mod hooks_guide;
mod hooks_tools;
mod hostile_files;
mod instructions;
mod interrupts;
mod judged_paths;
mod limit;
mod massgen;
mod mcp;
mod mcp_questions;
mod memories;
mod mixed;
mod omp;
mod omp_extensions;
mod ownership;
mod persistent;
mod phases;
mod pi;
mod pictures;
mod planning;
mod plans;
mod references;
mod secrets;
mod sessions;
mod settings;
mod skills;
mod test_lint;
mod test_runs;
mod testgen;
mod transcript_path;
mod trust;
mod turn;
mod watched_files;
mod wire_names;
mod workflow;
mod worktree;

use ona_testkit::Ona;

pub fn ona() -> Ona {
    Ona::new(env!("CARGO_BIN_EXE_ona"))
}
