//! From the grammar's tree to statements.
//!
//! The grammar hangs some things where bash does not: a redirection behind `a && b` on
//! the whole list, a `!` before a pipeline on its first command, the words behind a
//! redirection's target on the redirection. That is put right here. A construct nobody
//! thought about makes the script unreadable, it is never skipped.

use super::quote::{ansi, unescape};
use super::shield::{Fed, Shielded, shield};
use super::syntax::*;
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;
use tree_sitter::{Node, ParseOptions, ParseState, Parser, Point, Tree};

/// The statements of a script whose first line has the number `first`.
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
    let shielded = shield(script).map_err(at)?;
    let tree = parse(&shielded.text).ok_or(Unreadable { line: first, why: "It takes too long to parse" })?;
    let root = tree.root_node();
    if root.has_error() {
        let line = first_error(&tree);
        return Err(Unreadable { line: line + first, why: "It is not valid bash" });
    }
    let lower = Lower { script, shielded: &shielded, first, level, depth: 0.into() };
    lower.same_quotes(&tree)?;
    lower.body(root)
}

fn parse(text: &str) -> Option<Tree> {
    /// Far more steps than a script of the longest length takes.
    const STEPS: usize = 50_000;
    thread_local! {
        static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
    }
    PARSER.with_borrow_mut(|parser| {
        parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
        let mut steps = 0;
        let mut patience = |_: &ParseState| {
            steps += 1;
            if steps > STEPS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
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

/// The line of the first error, counted from 0.
fn first_error(tree: &Tree) -> u32 {
    let mut line = None;
    each(tree, |node| {
        if line.is_none() && (node.is_error() || node.is_missing()) {
            line = Some(node.start_position().row as u32);
        }
    });
    line.unwrap_or(0)
}

type Lowered<T> = Result<T, Unreadable>;

struct Lower<'a> {
    script: &'a str,
    shielded: &'a Shielded,
    first: u32,
    level: u8,
    depth: std::cell::Cell<u16>,
}

/// Statements in statements; also what `a && b && …` amounts to.
const DEEPEST: u16 = 150;

impl Lower<'_> {
    fn line(&self, node: Node<'_>) -> u32 {
        // The grammar counts blanks before a word to some of its nodes.
        let blanks = self.script[node.byte_range()].bytes().take_while(|b| b.is_ascii_whitespace());
        node.start_position().row as u32 + self.first + blanks.filter(|byte| *byte == b'\n').count() as u32
    }

    fn raw(&self, node: Node<'_>) -> &str {
        &self.script[node.byte_range()]
    }

    fn refuse<T>(&self, node: Node<'_>, why: &'static str) -> Lowered<T> {
        Err(Unreadable { line: self.line(node), why })
    }

    /// The grammar and the shield must agree on what is quoted.
    fn same_quotes(&self, tree: &Tree) -> Lowered<()> {
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

    /// The statements among a node's children.
    fn body(&self, node: Node<'_>) -> Lowered<Vec<Statement>> {
        let mut cursor = node.walk();
        self.statements(node.children(&mut cursor))
    }

    fn statements<'t>(&self, nodes: impl Iterator<Item = Node<'t>>) -> Lowered<Vec<Statement>> {
        let mut found: Vec<Statement> = Vec::new();
        for node in nodes {
            match node.kind() {
                "&" => {
                    if let Some(last) = found.last_mut() {
                        last.background = true;
                    }
                }
                "comment" => {}
                _ if !node.is_named() => {}
                _ => found.push(self.statement(node)?),
            }
        }
        Ok(found)
    }

    fn statement(&self, node: Node<'_>) -> Lowered<Statement> {
        self.depth.set(self.depth.get() + 1);
        if self.depth.get() > DEEPEST {
            return self.refuse(node, "It is nested too deeply");
        }
        let statement = self.statement_inside(node);
        self.depth.set(self.depth.get() - 1);
        statement
    }

    fn statement_inside(&self, node: Node<'_>) -> Lowered<Statement> {
        let line = self.line(node);
        let plain = |kind| Ok(Statement { line, kind, redirects: Vec::new(), background: false });
        match node.kind() {
            "command" | "declaration_command" | "unset_command" => self.command(node),
            "variable_assignment" => {
                let assignments = vec![self.assignment(node)?];
                plain(Kind::Command(Command { assignments, words: Vec::new() }))
            }
            "variable_assignments" => {
                let mut cursor = node.walk();
                let assignments = node.named_children(&mut cursor).map(|child| self.assignment(child));
                let assignments = assignments.collect::<Lowered<_>>()?;
                plain(Kind::Command(Command { assignments, words: Vec::new() }))
            }
            "redirected_statement" => self.redirected(node),
            "list" => {
                let mut cursor = node.walk();
                let mut parts = node.children(&mut cursor).filter(|child| child.kind() != "comment");
                let (Some(left), Some(sign), Some(right), None) =
                    (parts.next(), parts.next(), parts.next(), parts.next())
                else {
                    return self.refuse(node, "It joins commands in a way that is not known");
                };
                let (left, right) = (Box::new(self.statement(left)?), Box::new(self.statement(right)?));
                match sign.kind() {
                    "&&" => plain(Kind::And(left, right)),
                    "||" => plain(Kind::Or(left, right)),
                    _ => self.refuse(sign, "It joins commands in a way that is not known"),
                }
            }
            "pipeline" => self.pipeline(node),
            "negated_command" => {
                let mut cursor = node.walk();
                let Some(inner) = node.named_children(&mut cursor).find(|child| child.kind() != "comment") else {
                    return self.refuse(node, "It is not valid bash");
                };
                plain(Kind::Not(Box::new(self.statement(inner)?)))
            }
            "if_statement" => self.conditional(node),
            "while_statement" => {
                let mut cursor = node.walk();
                let condition = node.children_by_field_name("condition", &mut cursor);
                let condition = self.statements(condition)?;
                plain(Kind::While(condition, self.field(node, "body")?))
            }
            "for_statement" => {
                let mut cursor = node.walk();
                let words = node.children_by_field_name("value", &mut cursor).map(|word| self.word(word));
                let words = words.collect::<Lowered<Vec<_>>>()?;
                let name = node.child_by_field_name("variable").map(|name| self.raw(name)).unwrap_or_default();
                plain(Kind::For { name: name.to_owned(), words: Some(words), body: self.field(node, "body")? })
            }
            "c_style_for_statement" => {
                let name = node.child_by_field_name("initializer").and_then(|start| start.child_by_field_name("name"));
                let name = name.map(|name| self.raw(name)).unwrap_or_default().to_owned();
                plain(Kind::For { name, words: None, body: self.field(node, "body")? })
            }
            "case_statement" => self.case(node),
            "compound_statement" if self.raw(node).trim_start().starts_with("((") => {
                let raw = self.raw(node).replace("==", "").replace("!=", "").replace("<=", "").replace(">=", "");
                let sets = raw.contains("++") || raw.contains("--") || raw.contains('=');
                let word = Word { parts: vec![Part::Number(self.names(node)?)], line };
                plain(Kind::Arithmetic { word, sets })
            }
            "compound_statement" => plain(Kind::Group(self.body(node)?)),
            "subshell" => plain(Kind::Subshell(self.body(node)?)),
            "function_definition" => {
                let name = node.child_by_field_name("name").map(|name| self.raw(name)).unwrap_or_default().to_owned();
                let Some(body) = node.child_by_field_name("body") else {
                    return self.refuse(node, "It is not valid bash");
                };
                let mut body = self.statement(body)?;
                let mut cursor = node.walk();
                for redirect in node.children_by_field_name("redirect", &mut cursor) {
                    body.redirects.push(self.redirect(redirect, &mut Vec::new())?);
                }
                plain(Kind::Function { name, body: Rc::new(body) })
            }
            "test_command" => {
                let double = self.raw(node).trim_start().starts_with("[[");
                let mut pieces = Vec::new();
                self.tokens(node, &mut pieces)?;
                plain(Kind::Test { tokens: pieces.into_iter().map(|piece| piece.2).collect(), double })
            }
            _ => self.refuse(node, "It uses syntax that is not known"),
        }
    }

    fn field(&self, node: Node<'_>, name: &str) -> Lowered<Vec<Statement>> {
        node.child_by_field_name(name).map_or(Ok(Vec::new()), |body| self.body(body))
    }

    fn command(&self, node: Node<'_>) -> Lowered<Statement> {
        let mut command = Command::default();
        let mut redirects = Vec::new();
        let mut cursor = node.walk();
        let mut tail: Option<(usize, Node<'_>)> = None;
        for child in node.children(&mut cursor) {
            match child.kind() {
                // `export A=b`: an assignment is one of its words.
                "variable_assignment" if node.kind() != "command" => command.words.push(self.assigned_word(child)?),
                "variable_assignment" => command.assignments.push(self.assignment(child)?),
                "file_redirect" => redirects.push(self.redirect(child, &mut command.words)?),
                "comment" => {}
                "subshell" => return self.refuse(child, "It uses syntax that is not known"),
                _ => {
                    // `a=b"c"` as an argument can arrive in pieces that touch.
                    let word = self.word(child)?;
                    match (&tail, command.words.last_mut()) {
                        (Some((end, _)), Some(last)) if *end == self.start(child) => last.parts.extend(word.parts),
                        _ => command.words.push(word),
                    }
                    tail = Some((child.end_byte(), child));
                }
            }
        }
        Ok(Statement { line: self.line(node), kind: Kind::Command(command), redirects, background: false })
    }

    fn start(&self, node: Node<'_>) -> usize {
        node.start_byte() + self.raw(node).bytes().take_while(|b| b.is_ascii_whitespace()).count()
    }

    fn assignment(&self, node: Node<'_>) -> Lowered<Assignment> {
        let Some(name) = node.child_by_field_name("name") else {
            return self.refuse(node, "It is not valid bash");
        };
        let indexed = name.kind() == "subscript";
        let bare = name.child_by_field_name("name").filter(|_| indexed).unwrap_or(name);
        let mut cursor = node.walk();
        let adds = indexed || node.children(&mut cursor).any(|child| child.kind() == "+=");
        let mut value = Word { parts: Vec::new(), line: self.line(node) };
        let mut cursor = node.walk();
        for part in node.children_by_field_name("value", &mut cursor) {
            value.parts.extend(self.word(part)?.parts);
        }
        Ok(Assignment { name: self.raw(bare).to_owned(), adds, value })
    }

    fn assigned_word(&self, node: Node<'_>) -> Lowered<Word> {
        let Assignment { name, adds, value } = self.assignment(node)?;
        let text = format!("{name}{}=", if adds { "+" } else { "" });
        let mut parts = vec![Part::Text { text, quoted: false }];
        parts.extend(value.parts);
        Ok(Word { parts, line: value.line })
    }

    /// A statement with redirections, which belong to its last command.
    fn redirected(&self, node: Node<'_>) -> Lowered<Statement> {
        let mut statement = match node.child_by_field_name("body") {
            Some(body) => self.statement(body)?,
            None => {
                let kind = Kind::Command(Command::default());
                Statement { line: self.line(node), kind, redirects: Vec::new(), background: false }
            }
        };
        let mut cursor = node.walk();
        let mut redirects = Vec::new();
        let mut words = Vec::new();
        for child in node.children(&mut cursor).filter(|child| child.kind() == "file_redirect") {
            redirects.push(self.redirect(child, &mut words)?);
        }
        let last = last_command(&mut statement);
        last.redirects.extend(redirects);
        match &mut last.kind {
            Kind::Command(command) => command.words.extend(words),
            _ if words.is_empty() => {}
            _ => return self.refuse(node, "Words follow a redirection"),
        }
        Ok(statement)
    }

    /// One redirection. Words the grammar took for further targets go to `words`.
    fn redirect(&self, node: Node<'_>, words: &mut Vec<Word>) -> Lowered<Redirect> {
        let line = self.line(node);
        let descriptor = node.child_by_field_name("descriptor").and_then(|number| self.raw(number).trim().parse().ok());
        let mut cursor = node.walk();
        let sign = node.children(&mut cursor).find(|child| !child.is_named());
        let Some(sign) = sign else { return self.refuse(node, "It is not valid bash") };
        let mut cursor = node.walk();
        let mut targets = node.children_by_field_name("destination", &mut cursor);
        let fed = self.shielded.fed.get(&sign.start_byte());
        let first = targets.next();
        let to = match (sign.kind(), first) {
            (">&-" | "<&-", _) => Target::Descriptor("-".into()),
            (_, None) => return self.refuse(node, "It is not valid bash"),
            ("<", Some(target)) => match fed {
                Some(Fed::Document { body, expands, tabs }) => self.document(body.clone(), *expands, *tabs)?,
                Some(Fed::String) => Target::Text(self.word(target)?),
                None => Target::Read(self.word(target)?),
            },
            (">&" | "<&", Some(target)) => {
                let word = self.word(target)?;
                match word.literal() {
                    Some(text) if text.trim_end_matches('-').bytes().all(|b| b.is_ascii_digit()) => {
                        Target::Descriptor(text)
                    }
                    _ if sign.kind() == "<&" => Target::Read(word),
                    _ => Target::Write { word, append: false, both: true },
                }
            }
            (">" | ">|", Some(target)) => Target::Write { word: self.word(target)?, append: false, both: false },
            (">>", Some(target)) => Target::Write { word: self.word(target)?, append: true, both: false },
            ("&>", Some(target)) => Target::Write { word: self.word(target)?, append: false, both: true },
            ("&>>", Some(target)) => Target::Write { word: self.word(target)?, append: true, both: true },
            _ => return self.refuse(node, "It redirects in a way that is not known"),
        };
        for word in targets {
            words.push(self.word(word)?);
        }
        Ok(Redirect { descriptor, to, line })
    }

    fn document(&self, body: std::ops::Range<usize>, expands: bool, tabs: bool) -> Lowered<Target> {
        let line = self.script[..body.start].matches('\n').count() as u32 + self.first;
        let mut text = self.script[body].to_owned();
        if tabs {
            text = text.split_inclusive('\n').map(|line| line.trim_start_matches('\t')).collect();
        }
        let parts = if expands {
            super::document::parts(&text, line, self.level + 1)?
        } else {
            vec![Part::Text { text, quoted: true }]
        };
        Ok(Target::Text(Word { parts, line }))
    }

    /// Stages; a `!` before the first belongs to all of them.
    fn pipeline(&self, node: Node<'_>) -> Lowered<Statement> {
        let line = self.line(node);
        let mut cursor = node.walk();
        let mut stages = Vec::new();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "|" | "comment" => {}
                "|&" => {
                    let last: Option<&mut Statement> = stages.last_mut();
                    if let Some(last) = last {
                        let both = Target::Descriptor("1".into());
                        last.redirects.push(Redirect { descriptor: Some(2), to: both, line });
                    }
                }
                _ => stages.push(self.statement(child)?),
            }
        }
        let plain = |kind| Statement { line, kind, redirects: Vec::new(), background: false };
        if let Some(first) = stages.first_mut()
            && let Kind::Not(inner) = &mut first.kind
        {
            let inner = std::mem::replace(inner, Box::new(plain(Kind::Group(Vec::new()))));
            *first = *inner;
            return Ok(plain(Kind::Not(Box::new(plain(Kind::Pipeline(stages))))));
        }
        Ok(plain(Kind::Pipeline(stages)))
    }

    fn conditional(&self, node: Node<'_>) -> Lowered<Statement> {
        let mut arms = Vec::new();
        let mut otherwise = Vec::new();
        let mut cursor = node.walk();
        let conditions = node.children_by_field_name("condition", &mut cursor);
        let condition = self.statements(conditions)?;
        let mut cursor = node.walk();
        let children: Vec<_> = node.children(&mut cursor).collect();
        let then = children.iter().position(|child| child.kind() == "then").unwrap_or(0);
        let clause = |child: &&Node<'_>| matches!(child.kind(), "elif_clause" | "else_clause");
        let body = children[then..].iter().take_while(|child| !clause(child)).copied();
        arms.push((condition, self.statements(body)?));
        for child in children.iter().filter(clause) {
            if child.kind() == "else_clause" {
                otherwise = self.body(*child)?;
                continue;
            }
            let mut cursor = child.walk();
            let parts: Vec<_> = child.children(&mut cursor).collect();
            let then = parts.iter().position(|part| part.kind() == "then").unwrap_or(parts.len());
            let (condition, body) = parts.split_at(then);
            arms.push((self.statements(condition.iter().copied())?, self.statements(body.iter().copied())?));
        }
        let kind = Kind::If(arms, otherwise);
        Ok(Statement { line: self.line(node), kind, redirects: Vec::new(), background: false })
    }

    fn case(&self, node: Node<'_>) -> Lowered<Statement> {
        let Some(subject) = node.child_by_field_name("value") else {
            return self.refuse(node, "It is not valid bash");
        };
        let mut arms = Vec::new();
        let mut cursor = node.walk();
        for item in node.children(&mut cursor).filter(|child| child.kind() == "case_item") {
            let mut patterns: Vec<Word> = Vec::new();
            let mut body = Vec::new();
            let mut end = None;
            let mut cursor = item.walk();
            let mut inside = false;
            if cursor.goto_first_child() {
                loop {
                    let child = cursor.node();
                    match (cursor.field_name(), child.kind()) {
                        (Some("value"), _) => {
                            let word = self.word(child)?;
                            match patterns.last_mut() {
                                Some(last) if end == Some(self.start(child)) => last.parts.extend(word.parts),
                                _ => patterns.push(word),
                            }
                            end = Some(child.end_byte());
                        }
                        (_, ")") => inside = true,
                        _ if inside => body.push(child),
                        _ => {}
                    }
                    if !cursor.goto_next_sibling() {
                        break;
                    }
                }
            }
            arms.push(Arm { patterns, body: self.statements(body.into_iter())? });
        }
        let kind = Kind::Case { subject: self.word(subject)?, arms };
        Ok(Statement { line: self.line(node), kind, redirects: Vec::new(), background: false })
    }

    /// Operands and operators of a test in the order they are written; how the grammar
    /// groups them is not how bash does. Pieces that touch are one operand.
    fn tokens(&self, node: Node<'_>, found: &mut Vec<(usize, usize, Token)>) -> Lowered<()> {
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            let (start, end) = (self.start(child), child.end_byte());
            match child.kind() {
                "[" | "]" | "[[" | "]]" | "comment" => {}
                "binary_expression"
                | "unary_expression"
                | "parenthesized_expression"
                | "postfix_expression"
                | "ternary_expression" => self.tokens(child, found)?,
                "test_operator" => found.push((start, end, Token::Operator(self.raw(child).trim().to_owned()))),
                kind if !child.is_named() => found.push((start, end, Token::Operator(kind.trim().to_owned()))),
                _ => {
                    let word = self.word(child)?;
                    match found.last_mut() {
                        Some((_, last, Token::Word(before))) if *last == start => {
                            before.parts.extend(word.parts);
                            *last = end;
                        }
                        // `-1` comes as a sign and a number.
                        Some((_, last, before @ Token::Operator(_))) if *last == start && is_minus(before) => {
                            let mut parts = vec![Part::Text { text: "-".into(), quoted: false }];
                            parts.extend(word.parts);
                            *before = Token::Word(Word { parts, line: word.line });
                            *last = end;
                        }
                        _ => found.push((start, end, Token::Word(word))),
                    }
                }
            }
        }
        Ok(())
    }

    fn word(&self, node: Node<'_>) -> Lowered<Word> {
        let mut parts = Vec::new();
        self.depth.set(self.depth.get() + 1);
        if self.depth.get() > DEEPEST {
            return self.refuse(node, "It is nested too deeply");
        }
        self.parts(node, false, &mut parts)?;
        self.depth.set(self.depth.get() - 1);
        Ok(Word { parts, line: self.line(node) })
    }

    fn parts(&self, node: Node<'_>, quoted: bool, parts: &mut Vec<Part>) -> Lowered<()> {
        let raw = self.raw(node);
        let raw = if quoted { raw } else { raw.trim_start_matches([' ', '\t', '\n']) };
        let mut text = |text: String, quoted: bool| parts.push(Part::Text { text, quoted });
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
                let how = if matches!(name.as_str(), "@" | "*") { How::All } else { How::Plain };
                parts.push(Part::Variable { name, how, quoted });
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
                parts.push(Part::Output { body, quoted });
            }
            "process_substitution" => parts.push(Part::File(self.body(node)?)),
            "arithmetic_expansion" => parts.push(Part::Number(self.names(node)?)),
            "array" => {
                let mut cursor = node.walk();
                let named = node.named_children(&mut cursor).filter(|child| child.kind() != "comment");
                let words = named.map(|child| self.word(child)).collect::<Lowered<Vec<_>>>()?;
                parts.push(Part::List(words));
            }
            "string_content" => text(unescape(raw, true), true),
            "binary_expression"
            | "unary_expression"
            | "postfix_expression"
            | "parenthesized_expression"
            | "ternary_expression" => {
                let inner = self.names(node)?;
                parts.push(Part::Number(inner));
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
    fn pieces(&self, node: Node<'_>, parts: &mut Vec<Part>) -> Lowered<()> {
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            self.parts(child, false, parts)?;
        }
        Ok(())
    }

    /// Double quotes. The grammar leaves out some of the text between expansions, so
    /// the gaps are filled from the script.
    fn string(&self, node: Node<'_>, parts: &mut Vec<Part>) -> Lowered<()> {
        let open = self.script[node.start_byte()..].find('"').map_or(node.start_byte(), |at| node.start_byte() + at);
        let mut at = open + 1;
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor).filter(|child| child.kind() != "string_content") {
            let gap = self.script.get(at..child.start_byte()).unwrap_or_default();
            if !gap.is_empty() {
                parts.push(Part::Text { text: unescape(gap, true), quoted: true });
            }
            self.parts(child, true, parts)?;
            at = child.end_byte();
        }
        let rest = self.script.get(at..node.end_byte().saturating_sub(1)).unwrap_or_default();
        parts.push(Part::Text { text: unescape(rest, true), quoted: true });
        Ok(())
    }

    /// `$(…)`, also `$(< file)`.
    fn substituted(&self, node: Node<'_>) -> Lowered<Vec<Statement>> {
        let mut body = self.body_without_redirects(node)?;
        let mut cursor = node.walk();
        for redirect in node.children_by_field_name("redirect", &mut cursor) {
            let line = self.line(redirect);
            let redirect = self.redirect(redirect, &mut Vec::new())?;
            let kind = Kind::Command(Command {
                words: vec![Word { parts: vec![Part::Text { text: "cat".into(), quoted: false }], line }],
                ..Command::default()
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
    fn expansion(&self, node: Node<'_>, quoted: bool) -> Lowered<Part> {
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
        let mut operand = Word { parts: Vec::new(), line: self.line(node) };
        for child in inner[subject + 1..].iter().filter(|child| child.is_named()) {
            self.parts(**child, quoted, &mut operand.parts)?;
        }
        let before = subject.checked_sub(1).map(|at| inner[at].kind());
        let sign = inner.get(subject + 1).map(|child| child.kind());
        let how = match (before, sign) {
            (Some("!"), None) => How::Named,
            (Some(_), _) => How::Changed(operand.parts),
            (None, None) if all || matches!(name.as_str(), "@" | "*") => How::All,
            (None, None) => How::Plain,
            (None, Some(":-" | "-" | ":=" | "=")) => How::Else(Box::new(operand)),
            (None, Some(":+" | "+")) => How::Then(Box::new(operand)),
            (None, Some(":?" | "?")) => How::Plain,
            // Nothing is left of it.
            (None, Some("%%" | "##")) if self.raw(node).ends_with("%%*}") || self.raw(node).ends_with("##*}") => {
                return Ok(Part::Text { text: String::new(), quoted });
            }
            (None, Some("%" | "%%")) => How::Without(Box::new(operand)),
            (None, Some(_)) => How::Changed(operand.parts),
        };
        Ok(Part::Variable { name, how, quoted })
    }

    /// Everything an arithmetic expression is made of.
    fn names(&self, node: Node<'_>) -> Lowered<Vec<Part>> {
        let mut parts = Vec::new();
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "variable_name" | "word" => {
                    let name = self.raw(child).trim().to_owned();
                    parts.push(Part::Variable { name, how: How::Plain, quoted: true });
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

fn is_minus(token: &Token) -> bool {
    matches!(token, Token::Operator(sign) if sign == "-")
}

/// The command a redirection behind this statement belongs to.
fn last_command(statement: &mut Statement) -> &mut Statement {
    // Two looks, because a borrow that is returned from one arm would cover the other.
    match statement.kind {
        Kind::And(..) | Kind::Or(..) | Kind::Pipeline(_) | Kind::Not(_) => {}
        _ => return statement,
    }
    match &mut statement.kind {
        Kind::And(_, right) | Kind::Or(_, right) | Kind::Not(right) => last_command(right),
        Kind::Pipeline(stages) if !stages.is_empty() => last_command(stages.last_mut().expect("a pipeline has stages")),
        _ => unreachable!("looked at above"),
    }
}
