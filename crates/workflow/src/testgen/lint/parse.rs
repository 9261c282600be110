//! Reads a script: sanitized, parsed by the grammar, lowered to statements.

use super::sanitize::{SanitizedScript, sanitize};
use super::syntax::{Statement, Unreadable};
use ona_permissions::bash_tree;
use tree_sitter::{Node, Tree};

/// Far more steps than a script of the longest length takes.
const STEPS: usize = 50_000;

/// Returns the statements of a script whose first line has the number `first`.
pub(super) fn read(script: &str, first: u32) -> Result<Vec<Statement>, Unreadable> {
    read_within(script, first, 0)
}

/// `read`, so many scripts inside others.
pub(super) fn read_within(script: &str, first: u32, level: u8) -> Result<Vec<Statement>, Unreadable> {
    /// A substitution in a here-document in a substitution …
    const LEVELS: u8 = 6;
    if level > LEVELS {
        return Err(Unreadable { line: first, why: "It is nested too deeply" });
    }
    let at = |unreadable: Unreadable| Unreadable { line: unreadable.line + first - 1, ..unreadable };
    let shielded = sanitize(script).map_err(at)?;
    let tree = bash_tree(&shielded.text, STEPS).ok_or(Unreadable { line: first, why: "It takes too long to parse" })?;
    let root = tree.root_node();
    if root.has_error() {
        let line = first_error(&tree);
        return Err(Unreadable { line: line + first, why: "It is not valid bash" });
    }
    let lower = Lower { script, shielded: &shielded, first, level, depth: 0.into() };
    lower.same_quotes(&tree)?;
    lower.body(root)
}

/// Every node, parents first, without recursion.
fn each<'t>(tree: &'t Tree, mut see: impl FnMut(Node<'t>)) {
    let mut cursor = tree.walk();
    loop {
        see(cursor.node());
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// Returns the line of the first error, counted from 0.
fn first_error(tree: &Tree) -> u32 {
    let mut line = None;
    each(tree, |node| {
        if line.is_none() && (node.is_error() || node.is_missing()) {
            line = Some(node.start_position().row as u32);
        }
    });
    line.unwrap_or(0)
}

pub(super) type Lowered<T> = Result<T, Unreadable>;

pub(super) struct Lower<'a> {
    pub script: &'a str,
    pub shielded: &'a SanitizedScript,
    pub first: u32,
    pub level: u8,
    pub depth: std::cell::Cell<u16>,
}

/// Statements in statements; also what `a && b && …` amounts to.
pub(super) const DEEPEST: u16 = 150;

impl Lower<'_> {
    pub(crate) fn line(&self, node: Node<'_>) -> u32 {
        // The grammar counts blanks before a word to some of its nodes.
        let blanks = self.script[node.byte_range()].bytes().take_while(|b| b.is_ascii_whitespace());
        node.start_position().row as u32 + self.first + blanks.filter(|byte| *byte == b'\n').count() as u32
    }

    pub(crate) fn raw(&self, node: Node<'_>) -> &str {
        &self.script[node.byte_range()]
    }

    pub(crate) fn refuse<T>(&self, node: Node<'_>, why: &'static str) -> Lowered<T> {
        Err(Unreadable { line: self.line(node), why })
    }

    /// Checks that the grammar and the sanitizer agree on what is quoted.
    pub(crate) fn same_quotes(&self, tree: &Tree) -> Lowered<()> {
        let mut seen = Vec::new();
        each(tree, |node| {
            if matches!(node.kind(), "raw_string" | "ansi_c_string") {
                let blanks = self.raw(node).bytes().take_while(|b| b.is_ascii_whitespace()).count();
                seen.push(node.start_byte() + blanks);
            }
        });
        // Patterns and expressions swallow quotes without a node of their own.
        match seen.iter().find(|at| !self.shielded.quotes.contains(at)) {
            Some(at) => {
                let line = self.script[..*at].matches('\n').count() as u32 + self.first;
                Err(Unreadable { line, why: "Its quotes can be read in two ways" })
            }
            None => Ok(()),
        }
    }
}
