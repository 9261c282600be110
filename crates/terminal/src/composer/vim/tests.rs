//! Text with `|` where the cursor is, keys, text.

use super::VimMode;
use crate::composer::ComposerEvent;
use crate::composer::tests::Hand;
use crate::keys::Key;

/// A composer in normal mode.
fn normal(text: &str) -> Hand {
    let mut hand = Hand::new();
    hand.composer.set_vim(true);
    let at = text.find('|').expect("the text has a cursor");
    hand.composer.set_text(&text.replacen('|', "", 1));
    hand.key(Key::ESC);
    hand.composer.buffer.move_to(at);
    hand.composer.buffer.forget_changes();
    hand
}

/// Types keys; `⎋` is Escape.
fn types(hand: &mut Hand, keys: &str) {
    for c in keys.chars() {
        hand.key(if c == '⎋' { Key::ESC } else { Key::char(c) });
    }
}

#[track_caller]
fn table(cases: &[(&str, &str, &str)]) {
    for (start, keys, expected) in cases {
        let mut hand = normal(start);
        types(&mut hand, keys);
        assert_eq!(hand.shown(), *expected, "{keys} in {start:?}");
    }
}

#[test]
fn motions() {
    table(&[
        ("a|bc", "h", "|abc"),
        ("|abc", "h", "|abc"),
        ("|abc", "2l", "ab|c"),
        ("|abc", "9l", "ab|c"),
        ("|abc\nd", " ", "a|bc\nd"),
        ("one |two, three", "w", "one two|, three"),
        ("|one two", "9w", "one tw|o"),
        ("|one.x two", "W", "one.x |two"),
        ("|one\n\ntwo", "w", "one\n|\ntwo"),
        ("|one two", "e", "on|e two"),
        ("on|e two", "2e", "one tw|o"),
        ("one tw|o", "b", "one |two"),
        ("one tw|o", "2b", "|one two"),
        ("  on|e", "0", "|  one"),
        ("  on|e", "^", "  |one"),
        ("|one", "$", "on|e"),
        ("a\nb|b\nc", "gg", "|a\nbb\nc"),
        ("|a\nb\nc", "G", "a\nb\n|c"),
        ("|a\nb\nc", "2G", "a\n|b\nc"),
        ("|one two", "ft", "one |two"),
        ("|one two", "tt", "one| two"),
        ("one tw|o", "Fn", "o|ne two"),
        ("one tw|o", "Tn", "on|e two"),
        ("|a,b,c", "f,;", "a,b|,c"),
        ("|a,b,c", "f,;,", "a|,b,c"),
        ("|a,b,c", "t,;", "a,|b,c"),
        ("|a,b,c", "2f,", "a,b|,c"),
        ("|abc", "fz", "|abc"),
        ("a|b\nc", "j", "ab\n|c"),
        ("日|本語", "l", "日本|語"),
    ]);
}

#[test]
fn operators() {
    table(&[
        ("|one two three", "dw", "|two three"),
        ("|one two three", "2dw", "|three"),
        ("|one two three", "d2w", "|three"),
        ("one |two", "dw", "one| "),
        ("|one\ntwo", "dw", "|\ntwo"),
        ("one |two three", "de", "one | three"),
        ("one tw|o", "db", "one |o"),
        ("one |two\nx", "D", "one| \nx"),
        ("one |two\nx", "d$", "one| \nx"),
        ("one |two", "d0", "|two"),
        ("a\n|b\nc", "dd", "a\n|c"),
        ("a\nb\n|c", "dd", "a\n|b"),
        ("|a", "dd", "|"),
        ("a\n|b\nc\nd", "2dd", "a\n|d"),
        ("|a\nb\nc", "dj", "|c"),
        ("a\n|b\nc", "dk", "|c"),
        ("a\n|b\nc", "dG", "|a"),
        ("a\n|b\nc", "dgg", "|c"),
        ("|one, two", "df,", "| two"),
        ("|one, two", "dt,", "|, two"),
        ("one |two three", "cwX⎋", "one |X three"),
        ("one |two three", "ceX⎋", "one |X three"),
        ("|one two three", "c2wX⎋", "|X three"),
        ("one| two", "cwX⎋", "one|Xtwo"),
        ("one |two", "CX⎋", "one |X"),
        ("  o|ne\ntwo", "ccX⎋", "  |X\ntwo"),
        ("|one", "SX⎋", "|X"),
        ("|one", "sX⎋", "|Xne"),
        ("|one", "2sX⎋", "|Xe"),
        ("|one", "x", "|ne"),
        ("o|ne", "2x", "|o"),
        ("on|e", "X", "o|e"),
        ("|one", "rX", "|Xne"),
        ("|one", "2rX", "X|Xe"),
        ("|one", "~", "O|ne"),
        ("|one two", "dz", "|one two"),
        ("|one two", "d⎋w", "one |two"),
        ("|a\nb", ">>", "  |a\nb"),
        ("  |a\nb", "<<", "|a\nb"),
        ("|a\nb", "2>>", "  |a\n  b"),
        ("|a\n  b", "J", "a| b"),
        ("|a\nb\nc", "3J", "a b| c"),
    ]);
}

#[test]
fn putting_back() {
    table(&[
        ("|ab", "xp", "b|a"),
        ("|ab", "xP", "|ab"),
        ("|a\nb", "yyp", "a\n|a\nb"),
        ("|a\nb", "yyP", "|a\na\nb"),
        ("|a\nb", "ddp", "b\n|a"),
        ("|a\nb", "Yjp", "a\nb\n|a"),
        ("one |two", "yiwP", "one tw|otwo"),
        ("|one two", "yw$p", "one twoone| "),
        ("|ab", "x3p", "baa|a"),
    ]);
}

#[test]
fn text_objects() {
    table(&[
        ("one t|wo three", "diw", "one | three"),
        ("one t|wo three", "daw", "one |three"),
        ("one t|wo", "daw", "on|e"),
        ("a t|wo.x b", "diW", "a | b"),
        ("a t|wo.x b", "daW", "a |b"),
        ("say \"on|e two\" x", "di\"", "say \"|\" x"),
        ("say \"on|e two\" x", "da\"", "say | x"),
        ("|say 'one'", "ci'X⎋", "say '|X'"),
        ("f(a, (|b), c)", "di(", "f(a, (|), c)"),
        ("f(a, |(b), c)", "da(", "f(a, |, c)"),
        ("f(a|, (b), c)", "dib", "f(|)"),
        ("x[1, |2]", "di]", "x[|]"),
        ("{ a\n |b }", "di{", "{|}"),
        ("|no brackets", "di(", "|no brackets"),
        ("a |b", "di\"", "a |b"),
    ]);
}

#[test]
fn inserting() {
    table(&[
        ("o|ne", "iX⎋", "o|Xne"),
        ("o|ne", "aX⎋", "on|Xe"),
        ("  o|ne", "IX⎋", "  |Xone"),
        ("|one", "AX⎋", "one|X"),
        ("|one\ntwo", "oX⎋", "one\n|X\ntwo"),
        ("one\n|two", "OX⎋", "one\n|X\ntwo"),
    ]);
}

#[test]
fn the_dot_does_the_last_change_again() {
    table(&[
        ("|one two three", "dw.", "|three"),
        ("|one two", "cwX⎋w.", "X |X"),
        ("|a b c", "xl..", " |c"),
        ("|a\nb", "A!⎋j.", "a!\nb|!"),
        ("|abcdef", "x3.", "|ef"),
        ("|one two", "ddu", "|one two"),
        ("|one two", "dw.uu", "|one two"),
        ("|a b", "A x y⎋u", "a |b"),
    ]);
}

#[test]
fn visual_mode() {
    table(&[
        ("|one two", "ved", "| two"),
        ("|one two", "vwd", "|wo"),
        ("one t|wo", "viwy0P", "tw|oone two"),
        ("o|ne", "vlcX⎋", "o|X"),
        ("one |two", "vhod", "one|wo"),
        ("|one", "vl~", "|ONe"),
        ("|One", "v$u", "|one"),
        ("|one", "vlU", "|ONe"),
        ("|one", "vlrX", "|XXe"),
        ("|a\nb\nc", "Vjd", "|c"),
        ("a\n|b\nc", "Vy", "a\n|b\nc"),
        ("|a\nb", "Vj>", "  |a\n  b"),
        ("|a\nb\nc", "VjJ", "a| b\nc"),
        ("|one two", "yiwwviwp", "one on|e"),
        ("|one", "v⎋x", "|ne"),
        ("|one", "vvx", "|ne"),
    ]);
}

#[test]
fn modes_are_shown() {
    let mut hand = normal("|one");
    assert_eq!(hand.screen(), "❯ ▏one\n  -- NORMAL --");
    types(&mut hand, "V");
    assert_eq!(
        (hand.composer.vim_mode(), hand.screen()),
        (Some(VimMode::VisualLine), "❯ ▏one\n  -- VISUAL LINE --".into())
    );
    types(&mut hand, "⎋i");
    assert_eq!((hand.composer.vim_mode(), hand.screen()), (Some(VimMode::Insert), "❯ ▏one".into()));
}

#[test]
fn normal_mode_sends_and_walks_through_the_history() {
    let mut hand = normal("|draft");
    hand.composer.set_history(vec!["older".into()], vec!["older".into()]);
    types(&mut hand, "k");
    assert_eq!(hand.shown(), "older|");
    types(&mut hand, "j");
    assert_eq!(hand.shown(), "draft|");
    hand.keys("enter");
    assert_eq!(hand.sent(), ["draft"]);
    assert_eq!(hand.composer.vim_mode(), Some(VimMode::Insert), "the next prompt can be typed at once");
    types(&mut hand, "⎋/old");
    assert!(hand.screen().contains("search: old"), "{}", hand.screen());
}

#[test]
fn escape_in_normal_mode_means_what_it_means() {
    let mut hand = normal("|");
    hand.busy = true;
    hand.key(Key::ESC);
    assert_eq!(hand.events, [ComposerEvent::Interrupt]);
    let mut hand = Hand::new();
    hand.composer.set_vim(true);
    hand.busy = true;
    hand.types("draft").keys("escape");
    assert_eq!(hand.events, [], "it ends insert mode first");
    // A driver's Escape before Enter.
    hand.wait(600).keys("enter");
    assert_eq!(hand.sent(), ["draft"]);
}

#[test]
fn two_characters_can_mean_escape() {
    let mut hand = Hand::new();
    hand.composer.set_vim(true);
    hand.composer.set_vim_remaps(vec![('j', 'k')]);
    hand.types("ajxj").wait(1_500).types("k");
    assert_eq!((hand.shown().as_str(), hand.composer.vim_mode()), ("ajxjk|", Some(VimMode::Insert)));
    hand.types("jk");
    assert_eq!((hand.shown().as_str(), hand.composer.vim_mode()), ("ajxj|k", Some(VimMode::Normal)));
}

#[test]
fn keys_that_arrive_together_are_keys_in_normal_mode() {
    let mut hand = normal("|one two");
    hand.chunk("dwx");
    assert_eq!(hand.shown(), "|wo");
    hand.chunk("ifirst");
    assert_eq!(hand.shown(), "first|wo");
}
