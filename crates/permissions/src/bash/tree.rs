//! The one place that shows a script to the grammar.
//!
//! The grammar is C code with a scanner of its own, and hostile text can make it crash
//! (here-documents, characters that are not ASCII) or take for ever. Against the second
//! it has a number of steps here; against the first such text never reaches it. The caller
//! takes it out before, in the way that suits what is read from the tree.

use std::cell::RefCell;
use std::ops::ControlFlow;
use tree_sitter::{ParseOptions, ParseState, Parser, Point, Tree};

/// Returns the tree of a script, or `None` if it takes more than so many steps, has a sign for
/// here-documents in it, or a character that is neither printable ASCII nor white space.
pub fn bash_tree(text: &str, most: usize) -> Option<Tree> {
    if !is_safe(text) {
        return None;
    }
    thread_local! {
        static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
    }
    PARSER.with_borrow_mut(|parser| {
        parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
        let mut steps = 0;
        let mut patience = |_: &ParseState| {
            steps += 1;
            if steps > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let mut input = |at: usize, _: Point| text.as_bytes().get(at..).unwrap_or_default();
        let options = ParseOptions::new().progress_callback(&mut patience);
        let tree = parser.parse_with_options(&mut input, None, Some(options));
        if tree.is_none() {
            parser.reset();
        }
        tree
    })
}

/// Whether the grammar's scanner can be shown this text: it looks characters up in a table that ends at
/// 255, and keeps here-documents in memory it manages by hand.
fn is_safe(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')) && !text.contains("<<")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_crashes_the_scanner_is_not_shown_to_it() {
        assert!(bash_tree("ls -l | wc\n\techo {a,b} <x >y", 1_000).is_some());
        for text in ["cat <<A\nx\nA", "cat <<< x", "ls \u{e9}", "{\u{1f600}", "ls \0", "ls \u{1}", "a\rb"] {
            assert!(bash_tree(text, 1_000).is_none(), "{text:?}");
        }
    }
}
