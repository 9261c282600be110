//! The strict reader: whether a script is built only from syntax we know.
//!
//! Made from an allow-list of tree-sitter's nodes. A construct that was not thought
//! about refuses the script, it never shortens the list of its commands. And
//! since two programs that read shell text seldom fail in the same way, the
//! commands this reader sees have to be those of `lex`, word for word.

use super::lex::{LexOutput, SimpleCommand};
use super::redirect::RedirectOp;
use super::tree::bash_tree;
use tree_sitter::Node;

/// Far more steps than a script of the longest length takes.
const STEPS: usize = 5_000;

/// Longer scripts are not looked at by this reader.
pub(super) const LONGEST: usize = 10_000;

/// What the strict reader made of a script.
pub(super) struct StrictReading {
    /// Why the script is not fully understood.
    pub unclear: Option<&'static str>,
    /// The text of every command, wherever it stands.
    pub commands: Vec<String>,
    pub broken: bool,
}

pub(super) fn read(text: &str, found: &LexOutput) -> StrictReading {
    let unread = |why| StrictReading { unclear: Some(why), commands: Vec::new(), broken: true };
    if text.chars().count() > LONGEST {
        return unread("it is longer than 10,000 characters");
    }
    // The parser takes quadratic time for long pipelines and deep brackets.
    let brackets = text.bytes().filter(|byte| matches!(byte, b'(' | b'{' | b'[')).count();
    if found.commands.len() > 1_000 || brackets > 500 {
        return unread("it has too many parts");
    }
    let Some(text) = without_here_documents(text, found) else {
        return unread("it has a sign for here-documents in it");
    };
    let text = &plain(&text);
    let Some(tree) = bash_tree(text, STEPS) else { return unread("it cannot be parsed") };
    let mut seen = Seen::default();
    let mut cursor = tree.walk();
    // Without recursion: hostile text can nest as deep as it is long.
    'walk: loop {
        seen.visit(cursor.node(), text);
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                break 'walk;
            }
        }
    }
    let broken = tree.root_node().has_error();
    if broken {
        seen.refuse("its syntax is not valid");
    }
    if found.expands {
        seen.refuse("it feeds a text that expands to a command");
    }
    if seen.unclear.is_none() && !seen.agrees_with(found) {
        seen.refuse("its words can be read in two ways");
    }
    StrictReading { unclear: seen.unclear, commands: seen.commands, broken }
}

/// Returns the text with every character the grammar knows nothing about made a letter.
/// To bash those are letters as well, and the scanner looks characters up in a
/// table that ends at 255.
pub(super) fn plain(text: &str) -> String {
    text.chars().map(|c| if matches!(c, ' '..='~' | '\n' | '\t') { c } else { 'x' }).collect()
}

/// Returns the script without its here-documents, as the tolerant reader saw them.
///
/// The grammar's scanner keeps here-documents in hand-managed memory and can be
/// crashed with them, so none is shown to it. What stands before one is seen by
/// both readers alike, which settles that it is one.
fn without_here_documents(text: &str, found: &LexOutput) -> Option<String> {
    let mut rest = String::with_capacity(text.len());
    let mut at = 0;
    let mut cuts = found.cuts.clone();
    cuts.sort_unstable_by_key(|cut| cut.start);
    for cut in cuts {
        rest.push_str(text.get(at..cut.start)?);
        at = cut.end;
    }
    rest.push_str(text.get(at..)?);
    (!rest.contains("<<")).then_some(rest)
}

#[derive(Default)]
struct Seen<'t> {
    unclear: Option<&'static str>,
    commands: Vec<String>,
    words: Vec<Vec<&'t str>>,
    targets: Vec<&'t str>,
}

impl<'t> Seen<'t> {
    fn refuse(&mut self, why: &'static str) {
        self.unclear.get_or_insert(why);
    }

    fn visit(&mut self, node: Node<'_>, text: &'t str) {
        let here = |node: Node<'_>| &text[node.byte_range()];
        match node.kind() {
            "command" => {
                self.commands.push(here(node).to_owned());
                let mut cursor = node.walk();
                let children = node.children(&mut cursor);
                let is_word = |child: &Node<'_>| child.kind() != "file_redirect";
                self.words.push(children.filter(is_word).map(here).collect());
            }
            "declaration_command" => {
                self.commands.push(here(node).to_owned());
                self.refuse("it sets variables");
            }
            "file_redirect" => {
                let mut cursor = node.walk();
                let targets: Vec<_> = node.children_by_field_name("destination", &mut cursor).map(here).collect();
                // The grammar takes the words behind a target for more targets: `> out rm x`.
                match targets.as_slice() {
                    [] => {}
                    [one] => self.targets.push(one),
                    [_, words @ ..] => {
                        self.commands.push(words.join(" "));
                        self.refuse("words follow a redirection");
                    }
                }
            }
            "variable_assignment" if node.parent().is_none_or(|parent| parent.kind() != "command") => {
                self.refuse("it sets variables");
            }
            "for_statement" => {
                let name = node.child_by_field_name("variable").map(here).unwrap_or_default();
                let harmless = name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') && !name.ends_with("_proxy");
                if !harmless {
                    self.refuse("it sets variables");
                }
            }
            kind if !KNOWN.contains(&kind) => self.refuse(name_of(kind)),
            _ => {}
        }
    }

    fn agrees_with(&self, found: &LexOutput) -> bool {
        let own = || found.commands.iter();
        let raws = |simple: &SimpleCommand| -> Vec<String> {
            simple.env.iter().chain(&simple.words).map(|piece| plain(&piece.raw)).collect()
        };
        let files = own()
            .flat_map(|simple| &simple.redirects)
            .filter(|redirect| !matches!(redirect.op, RedirectOp::HereDoc { .. }));
        let mut read: Vec<_> = files.filter_map(|redirect| Some(plain(&redirect.target.as_ref()?.raw))).collect();
        // The grammar hangs redirections behind the commands they belong to.
        read.sort_unstable();
        let mut seen = self.targets.clone();
        seen.sort_unstable();
        own().all(|simple| !simple.words.is_empty())
            && own().all(|simple| {
                simple.redirects.iter().all(|redirect| redirect.op != RedirectOp::Odd && redirect.target.is_some())
            })
            && own()
                .map(raws)
                .eq(self.words.iter().map(|words| words.iter().map(|w| w.to_string()).collect::<Vec<_>>()))
            && seen == read
    }
}

const KNOWN: [&str; 52] = [
    "program",
    "list",
    "pipeline",
    "command",
    "command_name",
    "word",
    "raw_string",
    "string",
    "string_content",
    "concatenation",
    "number",
    "redirected_statement",
    "file_redirect",
    "file_descriptor",
    "negated_command",
    "variable_assignment",
    "variable_name",
    "if_statement",
    "elif_clause",
    "else_clause",
    "while_statement",
    "for_statement",
    "do_group",
    "comment",
    ";",
    "\n",
    "&&",
    "||",
    "|",
    "|&",
    "!",
    "=",
    "\"",
    "<",
    ">",
    ">>",
    ">|",
    "&>",
    "&>>",
    ">&",
    "<&",
    "if",
    "then",
    "elif",
    "else",
    "fi",
    "while",
    "until",
    "do",
    "done",
    "for",
    "in",
];

fn name_of(kind: &str) -> &'static str {
    match kind {
        "command_substitution" => "it runs a command inside a word",
        "process_substitution" => "it runs a command as a file",
        "simple_expansion" | "expansion" => "it expands a variable",
        "arithmetic_expansion" | "test_command" => "it evaluates an expression",
        "ansi_c_string" | "translated_string" => "it uses unusual quotes",
        "subshell" => "it opens a subshell",
        "compound_statement" => "it groups commands",
        "function_definition" => "it defines a function",
        "case_statement" => "it selects between cases",
        "brace_expression" => "it expands braces",
        "&" => "it leaves a command running",
        "ERROR" => "its syntax is not valid",
        _ => "it uses syntax that is not checked",
    }
}
