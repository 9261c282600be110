use super::Hand;

#[test]
fn keys_edit_the_text() {
    for (start, keys, expected) in [
        ("one two", "ctrl+a x", "x|one two"),
        ("one two", "alt+b x", "one x|two"),
        ("one two", "ctrl+w", "one |"),
        ("a.b-c/d e", "alt+backspace alt+backspace", "a.b-c/|"),
        ("a.b-c/d", "ctrl+w", "|"),
        ("one two", "ctrl+a alt+d", "| two"),
        ("one two", "ctrl+a alt+f ctrl+k", "one|"),
        ("one\ntwo", "ctrl+u", "one\n|"),
        ("one\ntwo", "ctrl+u ctrl+u", "one|"),
        ("one\ntwo", "up ctrl+k", "one|two"),
        ("one\ntwo", "ctrl+home ctrl+end x", "one\ntwox|"),
        ("日本語", "backspace left x", "日x|本"),
        ("e\u{301}x", "left backspace", "|x"),
        ("one", "left left delete", "o|e"),
        ("one", "left ctrl+d", "on|"),
        ("ab", "ctrl+h", "a|"),
        ("a", "shift+enter b", "a\nb|"),
        ("a", "alt+enter b", "a\nb|"),
        ("a\\", "enter b", "a\nb|"),
        ("a\\b", "enter", "|"),
    ] {
        let mut hand = Hand::new();
        hand.types(start).keys(keys);
        assert_eq!(hand.shown(), expected, "{start:?}, {keys}");
    }
}

#[test]
fn what_was_cut_is_put_back() {
    let mut hand = Hand::new();
    hand.types("one two three").keys("ctrl+w ctrl+w ctrl+a ctrl+y");
    assert_eq!(hand.shown(), "two three|one ", "cuts that follow one another are one");
    hand.keys("ctrl+e ctrl+u ctrl+y alt+y");
    assert_eq!(hand.shown(), "two three|", "the cut before");
    hand.keys("alt+y");
    assert_eq!(hand.shown(), "two threeone |", "and around again");
    hand.keys("left alt+y");
    assert_eq!(hand.shown(), "two threeone| ", "only right after putting back");
}

#[test]
fn typing_is_undone_word_by_word() {
    let mut hand = Hand::new();
    hand.types("one two").keys("ctrl+w x");
    let mut seen = Vec::new();
    for _ in 0..5 {
        seen.push(hand.text());
        hand.keys("ctrl+_");
    }
    assert_eq!(seen, ["one x", "one ", "one two", "one ", ""]);
    hand.keys("alt+_ alt+_ alt+_");
    assert_eq!(hand.text(), "one ");
}

#[test]
fn long_lines_wrap_and_the_cursor_is_where_the_next_character_goes() {
    let mut hand = Hand::new();
    hand.composer.resize(14, 3);
    hand.types("one two three");
    assert_eq!(hand.screen(), "❯ one two\n  three▏");
    hand.keys("up");
    assert_eq!(hand.screen(), "❯ one t▏wo\n  three");
    hand.keys("ctrl+e").types(" 日本語日本語");
    assert_eq!(hand.screen(), "  three\n  日本語日本\n  語▏", "the rows around the cursor show");
    hand.composer.resize(40, 3);
    assert_eq!(hand.screen(), "❯ one two three 日本語日本語▏");
}

#[test]
fn a_long_text_scrolls_with_the_cursor() {
    let mut hand = Hand::new();
    hand.composer.resize(20, 3);
    hand.types("1\n2\n3\n4\n5");
    assert_eq!(hand.screen(), "  3\n  4\n  5▏");
    hand.keys("up up");
    assert_eq!(hand.screen(), "  3▏\n  4\n  5");
    hand.keys("up up");
    assert_eq!(hand.screen(), "❯ 1▏\n  2\n  3");
}

#[test]
fn a_chord_shows_that_it_waits() {
    let mut hand = Hand::new();
    hand.types("a").keys("ctrl+x");
    assert_eq!(hand.screen(), "❯ a▏\n  Ctrl+X …");
    hand.keys("ctrl+e");
    assert_eq!(hand.events, [crate::composer::ComposerEvent::EditExternally("a".into())]);
    hand.composer.set_text("from the editor\n");
    assert_eq!(hand.shown(), "from the editor|");
}

#[test]
fn text_is_put_aside_and_taken_back() {
    let mut hand = Hand::new();
    hand.types("first").keys("ctrl+s");
    assert_eq!(hand.shown(), "|");
    hand.keys("ctrl+s");
    assert_eq!(hand.shown(), "first|");
    hand.keys("ctrl+s").types("quick").keys("enter");
    assert_eq!(hand.sent(), ["quick"]);
    assert_eq!(hand.shown(), "first|", "it comes back when the quick one is sent");
}
