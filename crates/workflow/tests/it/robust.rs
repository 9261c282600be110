//! No text makes the checker crash, hang or contradict itself.

use ona_workflow::testgen::lint::{LintContext, check, header};
use proptest::collection::vec;
use proptest::prelude::*;
use std::path::Path;

fn corpus() -> Vec<String> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/lint");
    let files = std::fs::read_dir(dir).unwrap().map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
    let scripts = |text: String| {
        let blocks = text.split("````bash\n").skip(1).map(|rest| rest.split("````").next().unwrap().to_owned());
        blocks.collect::<Vec<_>>()
    };
    files.flat_map(scripts).collect()
}

/// What hostile texts are made of.
const PIECES: [&str; 48] = [
    "<<EOF\n",
    "<<-'E'\n",
    "EOF\n",
    "E\n",
    "<<<",
    "<<",
    "$(",
    ")",
    "`",
    "\"",
    "'",
    "$'",
    "${",
    "}",
    "((",
    "))",
    "$((",
    "[[",
    "]]",
    "case x in ",
    "esac",
    ";;",
    "if ",
    "then ",
    "fi",
    "do ",
    "done",
    "while ",
    "for x in ",
    "{ ",
    "; }",
    "||",
    "&&",
    "|",
    "&",
    ";",
    "\n",
    "\\",
    "\\\n",
    "é",
    "\u{1f600}",
    "ß=1",
    "#",
    "eval ",
    "ona ",
    "${x:-",
    "x=$x$x;",
    "f() { f; f; }; f\n",
];

fn judged(script: &[u8]) {
    let touched = ["src/main.rs".to_owned()];
    let around = LintContext { entry_points: &[], touched: &touched };
    let first = check(script, &around);
    assert_eq!(first, check(script, &around), "the same script, another verdict");
    let lines = script.iter().filter(|byte| **byte == b'\n').count() as u32 + 1;
    for finding in &first {
        assert!(finding.line >= 1 && finding.line <= lines, "{finding:?} of {lines}");
    }
    if let Ok(text) = std::str::from_utf8(script) {
        let titled = header(text).is_some();
        assert!(titled || !first.is_empty(), "without a header nothing passes");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn cut_and_pasted_scripts_are_judged(
        which in any::<prop::sample::Index>(),
        other in any::<prop::sample::Index>(),
        cuts in vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..6),
    ) {
        let corpus = corpus();
        let mut bytes = which.get(&corpus).clone().into_bytes();
        let donor = other.get(&corpus).as_bytes();
        for (at, piece, length) in cuts {
            let at = at.index(bytes.len() + 1);
            let piece = PIECES[piece.index(PIECES.len())].as_bytes();
            match length.index(3) {
                0 => { bytes.splice(at..at, piece.iter().copied()); }
                1 => { bytes.truncate(at); bytes.extend_from_slice(&donor[at.min(donor.len())..]); }
                _ => { let end = (at + 7).min(bytes.len()); bytes.drain(at..end); }
            }
        }
        judged(&bytes);
    }

    #[test]
    fn texts_of_hostile_pieces_are_judged(pieces in vec(any::<prop::sample::Index>(), 0..60)) {
        let text: String = pieces.iter().map(|piece| PIECES[piece.index(PIECES.len())]).collect();
        judged(text.as_bytes());
    }

    #[test]
    fn any_bytes_are_judged(bytes in vec(any::<u8>(), 0..300)) {
        judged(&bytes);
    }
}

fn survives(script: String) {
    assert!(!check(script.as_bytes(), &LintContext::default()).is_empty());
}

#[test]
fn long_and_deep_scripts_end() {
    for (piece, times) in [
        ("(", 60_000),
        ("{ ", 30_000),
        ("$(", 30_000),
        ("\"$(", 20_000),
        ("a && ", 12_000),
        ("a | ", 15_000),
        ("if a; then ", 5_000),
        ("x=$x$x$x\n", 5_000),
        ("f() { f; f; }; f\n", 3_000),
        ("for a in 1 2 3 4 5 6 7 8; do ", 2_000),
        ("cat <<E\n$(cat <<E\nE\n)\nE\n", 2_000),
        ("[ a = b ] || exit 1\n", 3_000),
        ("ona <<<$(ona)\n", 4_000),
        ("eval 'eval \"eval x\"'\n", 3_000),
        ("<<E ", 15_000),
        ("`", 60_000),
        ("((", 30_000),
        ("case a in b) ", 4_000),
        ("x+=(a)\n", 8_000),
    ] {
        survives(piece.repeat(times / 2));
    }
    let loops = "for a in 1 2 3 4 5 6 7 8; do ".repeat(12) + "ona --version; " + &"done; ".repeat(12);
    survives(loops);
    let calls: String = (0..40).map(|n| format!("f{n}() {{ f{0}; f{0}; }}\n", n + 1)).collect();
    survives(format!("{calls}f0\n"));
}
