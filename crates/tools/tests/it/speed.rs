//! How fast a search is beside ripgrep. Run by hand, optimised, with `rg` in
//! `/usr/bin` or `/usr/local/bin`:
//! `cargo test --release -p ona-tools --test it -- --ignored`.

use crate::room::Room;
use ona_process::Command;
use serde_json::json;
use std::time::{Duration, Instant};

const FILES: usize = 100_000;
/// The best of this many runs counts.
const RUNS: usize = 7;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "writes 100000 files and needs rg"]
async fn a_tree_of_100_000_files_is_searched_about_as_fast_as_by_ripgrep() {
    let room = Room::new();
    let filler = "the quick brown fox jumps over the lazy dog, again and again\n".repeat(30);
    for n in 0..FILES {
        let hit = if n % 100 == 0 { "a needle in the hay\n" } else { "" };
        room.file(&format!("{:02}/{:02}/{n}.txt", n % 50, n / 50 % 40), format!("{filler}{hit}{n}\n"));
    }
    let mut measured = Vec::new();
    for (mode, flags) in [("files_with_matches", "-l"), ("count", "-c"), ("content", "-n")] {
        let (mut ours, mut theirs) = (Duration::MAX, Duration::MAX);
        for _ in 0..RUNS {
            let began = Instant::now();
            room.ok("Grep", json!({"pattern": "n[e]+dle", "output_mode": mode, "head_limit": 0})).await;
            ours = ours.min(began.elapsed());

            let command = Command {
                program: "rg".into(),
                args: vec![flags.into(), "--hidden".into(), "n[e]+dle".into(), room.cx.project.clone().into()],
                cwd: room.cx.project.clone(),
                env: (*room.cx.env).clone().with("PATH", "/usr/local/bin:/usr/bin"),
                stdin: Vec::new(),
                cap: 64 << 20,
                deadline: None,
                grace: Duration::ZERO,
            };
            let began = Instant::now();
            ona_process::run(command, &room.cx.cancel).await.unwrap();
            theirs = theirs.min(began.elapsed());
        }
        measured.push((mode, ours, theirs));
    }
    let near = |ours: Duration, theirs: Duration| ours.as_secs_f64() < 1.2 * theirs.as_secs_f64();
    assert!(measured.iter().all(|(_, ours, theirs)| near(*ours, *theirs)), "mode, ours, rg: {measured:?}");
}
