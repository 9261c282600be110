use super::Buffer;
use crate::composer::graphemes;
use proptest::prelude::*;

#[test]
fn typed_characters_are_undone_by_steps() {
    let mut buffer = Buffer::default();
    for text in ["o", "n", "e"] {
        buffer.insert(text);
    }
    buffer.begin_step();
    for text in [" ", "t", "w", "o"] {
        buffer.insert(text);
    }
    assert!(buffer.undo());
    assert_eq!((buffer.text(), buffer.cursor()), ("one", 3));
    assert!(buffer.undo());
    assert_eq!(buffer.text(), "");
    assert!(!buffer.undo());
    assert!(buffer.redo() && buffer.redo() && !buffer.redo());
    assert_eq!((buffer.text(), buffer.cursor()), ("one two", 7));
}

#[test]
fn moving_by_rows_keeps_the_column() {
    let mut buffer = Buffer::default();
    buffer.set_width(8);
    buffer.insert("one two three\nab\n日本語日x");
    // Rows: "one two ", "three", "ab", "日本語日", "x".
    buffer.move_to(6);
    let mut seen = Vec::new();
    while buffer.move_rows(1) {
        seen.push((buffer.position(), buffer.cursor()));
    }
    assert_eq!(seen, [((1, 5), 13), ((2, 2), 16), ((3, 6), 26), ((4, 1), 30)]);
    assert!(buffer.move_rows(-1));
    assert_eq!(buffer.position(), (3, 6), "the column is the one from the start");
    buffer.move_to(0);
    assert!(!buffer.move_rows(-1));
}

#[derive(Clone, Debug)]
enum Edit {
    Insert(String),
    Replace(prop::sample::Index, prop::sample::Index, String),
    MoveTo(usize),
    Rows(isize),
    Undo,
    Redo,
    NewStep,
    Width(usize),
}

fn steps() -> impl Strategy<Value = Vec<Edit>> {
    let text = || "[ab \n日é\u{301}\u{200d}👩🇩]{0,6}";
    let step = prop_oneof![
        4 => text().prop_map(Edit::Insert),
        2 => (any::<prop::sample::Index>(), any::<prop::sample::Index>(), text()).prop_map(|(a, b, t)| Edit::Replace(a, b, t)),
        2 => (0usize..80).prop_map(Edit::MoveTo),
        2 => (-2isize..3).prop_map(Edit::Rows),
        1 => Just(Edit::Undo),
        1 => Just(Edit::Redo),
        1 => Just(Edit::NewStep),
        1 => (1usize..20).prop_map(Edit::Width),
    ];
    prop::collection::vec(step, 0..40)
}

fn take(buffer: &mut Buffer, step: Edit) {
    match step {
        Edit::Insert(text) => buffer.insert(&text),
        Edit::Replace(a, b, with) => {
            let mut bounds = vec![0];
            while *bounds.last().unwrap() < buffer.text().len() {
                bounds.push(graphemes::next(buffer.text(), *bounds.last().unwrap()));
            }
            let (a, b) = (*a.get(&bounds), *b.get(&bounds));
            buffer.replace(a.min(b)..a.max(b), &with);
        }
        Edit::MoveTo(at) => buffer.move_to(at),
        Edit::Rows(by) => drop(buffer.move_rows(by)),
        Edit::Undo => drop(buffer.undo()),
        Edit::Redo => drop(buffer.redo()),
        Edit::NewStep => buffer.begin_step(),
        Edit::Width(width) => buffer.set_width(width),
    }
}

proptest! {
    #[test]
    fn the_cursor_is_always_on_the_boundary_of_a_character(steps in steps()) {
        let mut buffer = Buffer::default();
        for step in steps {
            take(&mut buffer, step);
            prop_assert!(graphemes::is_boundary(buffer.text(), buffer.cursor()), "{:?} {}", buffer.text(), buffer.cursor());
            let (row, column) = buffer.position();
            prop_assert!(row < buffer.rows().count() && column <= buffer.rows().width() + 2);
        }
    }

    #[test]
    fn undoing_everything_gives_back_the_text_and_redoing_the_result(steps in steps()) {
        let mut buffer = Buffer::default();
        buffer.insert("before");
        buffer.begin_step();
        for step in steps.into_iter().filter(|step| !matches!(step, Edit::Undo | Edit::Redo)) {
            take(&mut buffer, step);
        }
        let after = buffer.text().to_owned();
        while buffer.undo() {}
        prop_assert_eq!(buffer.text(), "");
        while buffer.redo() {}
        prop_assert_eq!(buffer.text(), after);
    }
}
