//! From the grammar's tree to words: quotes removed, expansions kept as parts.

use super::parse::{DEEPEST, Lower, Lowered, read_within};
use super::quote::{ansi, unescape};
use super::syntax::*;
use tree_sitter::Node;

impl Lower<'_> {
    pub(crate) fn word(&self, node: Node<'_>) -> Lowered<ScriptWord> {
        let mut parts = Vec::new();
        self.depth.set(self.depth.get() + 1);
        if self.depth.get() > DEEPEST {
            return self.refuse(node, "It is nested too deeply");
        }
        self.parts(node, false, &mut parts)?;
        self.depth.set(self.depth.get() - 1);
        Ok(ScriptWord { parts, line: self.line(node) })
    }

    fn parts(&self, node: Node<'_>, quoted: bool, parts: &mut Vec<WordPart>) -> Lowered<()> {
        let raw = self.raw(node);
        let raw = if quoted { raw } else { raw.trim_start_matches([' ', '\t', '\n']) };
        let mut text = |text: String, quoted: bool| parts.push(WordPart::Text { text, quoted });
        match node.kind() {
            "raw_string" => text(raw.trim_matches('\'').to_owned(), true),
            "ansi_c_string" => text(ansi(raw), true),
            "string" => return self.string(node, parts),
            "translated_string" | "command_name" | "concatenation" | "number" if node.named_child_count() > 0 => {
                return self.pieces(node, parts);
            }
            "simple_expansion" => {
                let blank = raw.len() - raw.trim_start().len();
                if blank > 0 {
                    text(raw[..blank].to_owned(), quoted);
                }
                let name = raw.trim_start().trim_start_matches('$').to_owned();
                let how = if matches!(name.as_str(), "@" | "*") { Expansion::All } else { Expansion::Plain };
                parts.push(WordPart::Variable { name, how, quoted });
            }
            "expansion" => {
                let part = self.expansion(node, quoted)?;
                parts.push(part);
            }
            "command_substitution" => {
                let backtick = raw.trim_start().starts_with('`');
                let body = if backtick && raw.contains('\\') {
                    // Backslashes are read twice there.
                    let inner = raw.trim().trim_matches('`');
                    let inner = inner.replace("\\`", "`").replace("\\$", "$").replace("\\\\", "\\");
                    read_within(&inner, self.line(node), self.level + 1)?
                } else {
                    self.substituted(node)?
                };
                parts.push(WordPart::Output { body, quoted });
            }
            "process_substitution" => parts.push(WordPart::File(self.body(node)?)),
            "arithmetic_expansion" => parts.push(WordPart::Number(self.names(node)?)),
            "array" => {
                let mut cursor = node.walk();
                let named = node.named_children(&mut cursor).filter(|child| child.kind() != "comment");
                let words = named.map(|child| self.word(child)).collect::<Lowered<Vec<_>>>()?;
                parts.push(WordPart::List(words));
            }
            "string_content" => text(unescape(raw, true), true),
            "binary_expression"
            | "unary_expression"
            | "postfix_expression"
            | "parenthesized_expression"
            | "ternary_expression" => {
                let inner = self.names(node)?;
                parts.push(WordPart::Number(inner));
            }
            "word"
            | "number"
            | "variable_name"
            | "special_variable_name"
            | "extglob_pattern"
            | "regex"
            | "test_operator"
            | "brace_expression"
            | "subscript"
            | "file_descriptor" => {
                text(unescape(raw, false), quoted);
            }
            "concatenation" | "command_name" | "translated_string" => text(unescape(raw, false), quoted),
            _ if !node.is_named() => text(raw.to_owned(), quoted),
            _ => return self.refuse(node, "It uses syntax that is not known"),
        }
        Ok(())
    }

    /// Children that follow each other without a gap.
    fn pieces(&self, node: Node<'_>, parts: &mut Vec<WordPart>) -> Lowered<()> {
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            self.parts(child, false, parts)?;
        }
        Ok(())
    }

    /// Double quotes. The grammar leaves out some of the text between expansions, so
    /// the gaps are filled from the script.
    fn string(&self, node: Node<'_>, parts: &mut Vec<WordPart>) -> Lowered<()> {
        let open = self.script[node.start_byte()..].find('"').map_or(node.start_byte(), |at| node.start_byte() + at);
        let mut at = open + 1;
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor).filter(|child| child.kind() != "string_content") {
            let gap = self.script.get(at..child.start_byte()).unwrap_or_default();
            if !gap.is_empty() {
                parts.push(WordPart::Text { text: unescape(gap, true), quoted: true });
            }
            self.parts(child, true, parts)?;
            at = child.end_byte();
        }
        let rest = self.script.get(at..node.end_byte().saturating_sub(1)).unwrap_or_default();
        parts.push(WordPart::Text { text: unescape(rest, true), quoted: true });
        Ok(())
    }

    /// `$(…)`, also `$(< file)`.
    fn substituted(&self, node: Node<'_>) -> Lowered<Vec<Statement>> {
        let mut body = self.body_without_redirects(node)?;
        let mut cursor = node.walk();
        for redirect in node.children_by_field_name("redirect", &mut cursor) {
            let line = self.line(redirect);
            let redirect = self.redirect(redirect, &mut Vec::new())?;
            let kind = StatementKind::Command(SimpleStatement {
                words: vec![ScriptWord { parts: vec![WordPart::Text { text: "cat".into(), quoted: false }], line }],
                ..SimpleStatement::default()
            });
            body.push(Statement { line, kind, redirects: vec![redirect], background: false });
        }
        Ok(body)
    }

    fn body_without_redirects(&self, node: Node<'_>) -> Lowered<Vec<Statement>> {
        let mut cursor = node.walk();
        self.statements(node.children(&mut cursor).filter(|child| child.kind() != "file_redirect"))
    }

    /// `${…}`
    fn expansion(&self, node: Node<'_>, quoted: bool) -> Lowered<WordPart> {
        let mut cursor = node.walk();
        let children: Vec<_> = node.children(&mut cursor).collect();
        let inner: Vec<_> = children.iter().filter(|child| !matches!(child.kind(), "${" | "}")).collect();
        let subject = inner
            .iter()
            .position(|child| matches!(child.kind(), "variable_name" | "special_variable_name" | "subscript"));
        let Some(subject) = subject else { return self.refuse(node, "It expands in a way that is not known") };
        let node_of = inner[subject];
        let (name, all) = match node_of.kind() {
            "subscript" => {
                let index = node_of.child_by_field_name("index").map(|index| self.raw(index)).unwrap_or_default();
                let name = node_of.child_by_field_name("name").map(|name| self.raw(name)).unwrap_or_default();
                (name.to_owned(), matches!(index, "@" | "*"))
            }
            _ => (self.raw(*node_of).to_owned(), false),
        };
        let mut operand = ScriptWord { parts: Vec::new(), line: self.line(node) };
        for child in inner[subject + 1..].iter().filter(|child| child.is_named()) {
            self.parts(**child, quoted, &mut operand.parts)?;
        }
        let before = subject.checked_sub(1).map(|at| inner[at].kind());
        let sign = inner.get(subject + 1).map(|child| child.kind());
        let how = match (before, sign) {
            (Some("!"), None) => Expansion::Named,
            (Some(_), _) => Expansion::Changed(operand.parts),
            (None, None) if all || matches!(name.as_str(), "@" | "*") => Expansion::All,
            (None, None) => Expansion::Plain,
            (None, Some(":-" | "-" | ":=" | "=")) => Expansion::Else(Box::new(operand)),
            (None, Some(":+" | "+")) => Expansion::Then(Box::new(operand)),
            (None, Some(":?" | "?")) => Expansion::Plain,
            // Nothing is left of it.
            (None, Some("%%" | "##")) if self.raw(node).ends_with("%%*}") || self.raw(node).ends_with("##*}") => {
                return Ok(WordPart::Text { text: String::new(), quoted });
            }
            (None, Some("%" | "%%")) => Expansion::Without(Box::new(operand)),
            (None, Some(_)) => Expansion::Changed(operand.parts),
        };
        Ok(WordPart::Variable { name, how, quoted })
    }

    /// Returns everything an arithmetic expression is made of.
    pub(crate) fn names(&self, node: Node<'_>) -> Lowered<Vec<WordPart>> {
        let mut parts = Vec::new();
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "variable_name" | "word" => {
                    let name = self.raw(child).trim().to_owned();
                    parts.push(WordPart::Variable { name, how: Expansion::Plain, quoted: true });
                }
                "number" | "comment" => {}
                "simple_expansion" | "expansion" | "command_substitution" | "string" | "raw_string" => {
                    self.parts(child, true, &mut parts)?;
                }
                _ => {
                    self.depth.set(self.depth.get() + 1);
                    if self.depth.get() > DEEPEST {
                        return self.refuse(node, "It is nested too deeply");
                    }
                    parts.extend(self.names(child)?);
                    self.depth.set(self.depth.get() - 1);
                }
            }
        }
        Ok(parts)
    }
}
