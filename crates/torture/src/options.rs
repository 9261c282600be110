//! The command line.

use crate::kinds::KINDS;
use clap::Parser;
use std::path::PathBuf;

/// Kills, faults, fuzz and soak against ona; exits 1 when a promise does not hold
#[derive(Debug, Parser)]
#[command(name = "scripts/torture", max_term_width = 100, after_help = after_help())]
pub(crate) struct Options {
    /// Minutes of wall time, divided among the kinds
    #[arg(default_value_t = 25.0)]
    pub minutes: f64,

    /// Only these kinds, or the kinds whose names begin so
    #[arg(long, value_name = "KIND")]
    pub only: Vec<String>,

    /// Seed of every random choice
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// Only the round with this number, to repeat a violation
    #[arg(long, value_name = "N")]
    pub round: Option<u64>,

    /// Copy the folders of the rounds into this folder, to look at them
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,

    /// Rounds that run at the same time
    #[arg(long, default_value_t = 2)]
    pub jobs: usize,

    /// The program to torture
    #[arg(long, value_name = "PATH", default_value = "target/debug/ona")]
    pub ona: PathBuf,

    /// A small part of each kind, for scripts/test
    #[arg(long)]
    pub short: bool,
}

impl Options {
    pub(crate) fn takes(&self, kind: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| kind.starts_with(only.as_str()))
    }
}

fn after_help() -> String {
    let names: Vec<_> = KINDS.iter().map(|kind| kind.name).collect();
    format!("Kinds: {}", names.join(", "))
}
