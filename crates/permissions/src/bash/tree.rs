//! The one place that shows a script to the grammar.
//!
//! The grammar is C code with a scanner of its own, and hostile text can make it crash
//! (here-documents, characters that are not ASCII) or take for ever. Against the second
//! it has a number of steps here; against the first the caller takes such text out
//! before, in the way that suits what is read from the tree.

use std::cell::RefCell;
use std::ops::ControlFlow;
use tree_sitter::{ParseOptions, ParseState, Parser, Point, Tree};

/// Returns the tree of a script without here-documents and of ASCII alone, or `None` if it takes
/// more than so many steps.
pub fn bash_tree(text: &str, most: usize) -> Option<Tree> {
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
