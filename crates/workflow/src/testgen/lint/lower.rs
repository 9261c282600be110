//! From the grammar's tree to statements.
//!
//! The grammar hangs some things where bash does not: a redirection behind `a && b` on
//! the whole list, a `!` before a pipeline on its first command, the words behind a
//! redirection's target on the redirection. That is corrected here. A construct that was not
//! thought about makes the script unreadable, it is never skipped.

use super::parse::{DEEPEST, Lower, Lowered};
use super::sanitize::StdinSource;
use super::syntax::*;
use std::rc::Rc;
use tree_sitter::Node;

impl Lower<'_> {
    /// Returns the statements among a node's children.
    pub(crate) fn body(&self, node: Node<'_>) -> Lowered<Vec<Statement>> {
        let mut cursor = node.walk();
        self.statements(node.children(&mut cursor))
    }

    pub(crate) fn statements<'t>(&self, nodes: impl Iterator<Item = Node<'t>>) -> Lowered<Vec<Statement>> {
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
                plain(StatementKind::Command(SimpleStatement { assignments, words: Vec::new() }))
            }
            "variable_assignments" => {
                let mut cursor = node.walk();
                let assignments = node.named_children(&mut cursor).map(|child| self.assignment(child));
                let assignments = assignments.collect::<Lowered<_>>()?;
                plain(StatementKind::Command(SimpleStatement { assignments, words: Vec::new() }))
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
                    "&&" => plain(StatementKind::And(left, right)),
                    "||" => plain(StatementKind::Or(left, right)),
                    _ => self.refuse(sign, "It joins commands in a way that is not known"),
                }
            }
            "pipeline" => self.pipeline(node),
            "negated_command" => {
                let mut cursor = node.walk();
                let Some(inner) = node.named_children(&mut cursor).find(|child| child.kind() != "comment") else {
                    return self.refuse(node, "It is not valid bash");
                };
                plain(StatementKind::Not(Box::new(self.statement(inner)?)))
            }
            "if_statement" => self.conditional(node),
            "while_statement" => {
                let mut cursor = node.walk();
                let condition = node.children_by_field_name("condition", &mut cursor);
                let condition = self.statements(condition)?;
                plain(StatementKind::While(condition, self.field(node, "body")?))
            }
            "for_statement" => {
                let mut cursor = node.walk();
                let words = node.children_by_field_name("value", &mut cursor).map(|word| self.word(word));
                let words = words.collect::<Lowered<Vec<_>>>()?;
                let name = node.child_by_field_name("variable").map(|name| self.raw(name)).unwrap_or_default();
                plain(StatementKind::For { name: name.to_owned(), words: Some(words), body: self.field(node, "body")? })
            }
            "c_style_for_statement" => {
                let name = node.child_by_field_name("initializer").and_then(|start| start.child_by_field_name("name"));
                let name = name.map(|name| self.raw(name)).unwrap_or_default().to_owned();
                plain(StatementKind::For { name, words: None, body: self.field(node, "body")? })
            }
            "case_statement" => self.case(node),
            "compound_statement" if self.raw(node).trim_start().starts_with("((") => {
                let raw = self.raw(node).replace("==", "").replace("!=", "").replace("<=", "").replace(">=", "");
                let sets = raw.contains("++") || raw.contains("--") || raw.contains('=');
                let word = ScriptWord { parts: vec![WordPart::Number(self.names(node)?)], line };
                plain(StatementKind::Arithmetic { word, sets })
            }
            "compound_statement" => plain(StatementKind::Group(self.body(node)?)),
            "subshell" => plain(StatementKind::Subshell(self.body(node)?)),
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
                plain(StatementKind::Function { name, body: Rc::new(body) })
            }
            "test_command" => {
                let double = self.raw(node).trim_start().starts_with("[[");
                let mut pieces = Vec::new();
                self.tokens(node, &mut pieces)?;
                plain(StatementKind::Test { tokens: pieces.into_iter().map(|piece| piece.2).collect(), double })
            }
            _ => self.refuse(node, "It uses syntax that is not known"),
        }
    }

    fn field(&self, node: Node<'_>, name: &str) -> Lowered<Vec<Statement>> {
        node.child_by_field_name(name).map_or(Ok(Vec::new()), |body| self.body(body))
    }

    fn command(&self, node: Node<'_>) -> Lowered<Statement> {
        let mut command = SimpleStatement::default();
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
        Ok(Statement { line: self.line(node), kind: StatementKind::Command(command), redirects, background: false })
    }

    fn start(&self, node: Node<'_>) -> usize {
        node.start_byte() + self.raw(node).bytes().take_while(|b| b.is_ascii_whitespace()).count()
    }

    fn assignment(&self, node: Node<'_>) -> Lowered<VariableAssignment> {
        let Some(name) = node.child_by_field_name("name") else {
            return self.refuse(node, "It is not valid bash");
        };
        let indexed = name.kind() == "subscript";
        let bare = name.child_by_field_name("name").filter(|_| indexed).unwrap_or(name);
        let mut cursor = node.walk();
        let adds = indexed || node.children(&mut cursor).any(|child| child.kind() == "+=");
        let mut value = ScriptWord { parts: Vec::new(), line: self.line(node) };
        let mut cursor = node.walk();
        for part in node.children_by_field_name("value", &mut cursor) {
            value.parts.extend(self.word(part)?.parts);
        }
        Ok(VariableAssignment { name: self.raw(bare).to_owned(), adds, value })
    }

    fn assigned_word(&self, node: Node<'_>) -> Lowered<ScriptWord> {
        let VariableAssignment { name, adds, value } = self.assignment(node)?;
        let text = format!("{name}{}=", if adds { "+" } else { "" });
        let mut parts = vec![WordPart::Text { text, quoted: false }];
        parts.extend(value.parts);
        Ok(ScriptWord { parts, line: value.line })
    }

    /// Lowers a statement with redirections, which belong to its last command.
    fn redirected(&self, node: Node<'_>) -> Lowered<Statement> {
        let mut statement = match node.child_by_field_name("body") {
            Some(body) => self.statement(body)?,
            None => {
                let kind = StatementKind::Command(SimpleStatement::default());
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
            StatementKind::Command(command) => command.words.extend(words),
            _ if words.is_empty() => {}
            _ => return self.refuse(node, "Words follow a redirection"),
        }
        Ok(statement)
    }

    /// Lowers one redirection. Words the grammar took for further targets go to `words`.
    pub(crate) fn redirect(&self, node: Node<'_>, words: &mut Vec<ScriptWord>) -> Lowered<Redirection> {
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
            (">&-" | "<&-", _) => RedirectTarget::Descriptor("-".into()),
            (_, None) => return self.refuse(node, "It is not valid bash"),
            ("<", Some(target)) => match fed {
                Some(StdinSource::Document { body, expands, tabs }) => self.document(body.clone(), *expands, *tabs)?,
                Some(StdinSource::String) => RedirectTarget::Text(self.word(target)?),
                None => RedirectTarget::Read(self.word(target)?),
            },
            (">&" | "<&", Some(target)) => {
                let word = self.word(target)?;
                match word.literal() {
                    Some(text) if text.trim_end_matches('-').bytes().all(|b| b.is_ascii_digit()) => {
                        RedirectTarget::Descriptor(text)
                    }
                    _ if sign.kind() == "<&" => RedirectTarget::Read(word),
                    _ => RedirectTarget::Write { word, append: false, both: true },
                }
            }
            (">" | ">|", Some(target)) => {
                RedirectTarget::Write { word: self.word(target)?, append: false, both: false }
            }
            (">>", Some(target)) => RedirectTarget::Write { word: self.word(target)?, append: true, both: false },
            ("&>", Some(target)) => RedirectTarget::Write { word: self.word(target)?, append: false, both: true },
            ("&>>", Some(target)) => RedirectTarget::Write { word: self.word(target)?, append: true, both: true },
            _ => return self.refuse(node, "It redirects in a way that is not known"),
        };
        for word in targets {
            words.push(self.word(word)?);
        }
        Ok(Redirection { descriptor, to, line })
    }

    fn document(&self, body: std::ops::Range<usize>, expands: bool, tabs: bool) -> Lowered<RedirectTarget> {
        let line = self.script[..body.start].matches('\n').count() as u32 + self.first;
        let mut text = self.script[body].to_owned();
        if tabs {
            text = text.split_inclusive('\n').map(|line| line.trim_start_matches('\t')).collect();
        }
        let parts = if expands {
            super::document::parts(&text, line, self.level + 1)?
        } else {
            vec![WordPart::Text { text, quoted: true }]
        };
        Ok(RedirectTarget::Text(ScriptWord { parts, line }))
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
                        let both = RedirectTarget::Descriptor("1".into());
                        last.redirects.push(Redirection { descriptor: Some(2), to: both, line });
                    }
                }
                _ => stages.push(self.statement(child)?),
            }
        }
        let plain = |kind| Statement { line, kind, redirects: Vec::new(), background: false };
        if let Some(first) = stages.first_mut()
            && let StatementKind::Not(inner) = &mut first.kind
        {
            let inner = std::mem::replace(inner, Box::new(plain(StatementKind::Group(Vec::new()))));
            *first = *inner;
            return Ok(plain(StatementKind::Not(Box::new(plain(StatementKind::Pipeline(stages))))));
        }
        Ok(plain(StatementKind::Pipeline(stages)))
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
        let kind = StatementKind::If(arms, otherwise);
        Ok(Statement { line: self.line(node), kind, redirects: Vec::new(), background: false })
    }

    fn case(&self, node: Node<'_>) -> Lowered<Statement> {
        let Some(subject) = node.child_by_field_name("value") else {
            return self.refuse(node, "It is not valid bash");
        };
        let mut arms = Vec::new();
        let mut cursor = node.walk();
        for item in node.children(&mut cursor).filter(|child| child.kind() == "case_item") {
            let mut patterns: Vec<ScriptWord> = Vec::new();
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
        let kind = StatementKind::Case { subject: self.word(subject)?, arms };
        Ok(Statement { line: self.line(node), kind, redirects: Vec::new(), background: false })
    }

    /// Operands and operators of a test in the order they are written; how the grammar
    /// groups them is not how bash does. Pieces that touch are one operand.
    fn tokens(&self, node: Node<'_>, found: &mut Vec<(usize, usize, TestToken)>) -> Lowered<()> {
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
                "test_operator" => found.push((start, end, TestToken::Operator(self.raw(child).trim().to_owned()))),
                kind if !child.is_named() => found.push((start, end, TestToken::Operator(kind.trim().to_owned()))),
                _ => {
                    let word = self.word(child)?;
                    match found.last_mut() {
                        Some((_, last, TestToken::Word(before))) if *last == start => {
                            before.parts.extend(word.parts);
                            *last = end;
                        }
                        // `-1` comes as a sign and a number.
                        Some((_, last, before @ TestToken::Operator(_))) if *last == start && is_minus(before) => {
                            let mut parts = vec![WordPart::Text { text: "-".into(), quoted: false }];
                            parts.extend(word.parts);
                            *before = TestToken::Word(ScriptWord { parts, line: word.line });
                            *last = end;
                        }
                        _ => found.push((start, end, TestToken::Word(word))),
                    }
                }
            }
        }
        Ok(())
    }
}

fn is_minus(token: &TestToken) -> bool {
    matches!(token, TestToken::Operator(sign) if sign == "-")
}

/// Returns the command a redirection behind this statement belongs to.
fn last_command(statement: &mut Statement) -> &mut Statement {
    // Two looks, because a borrow that is returned from one arm would cover the other.
    match statement.kind {
        StatementKind::And(..) | StatementKind::Or(..) | StatementKind::Pipeline(_) | StatementKind::Not(_) => {}
        _ => return statement,
    }
    match &mut statement.kind {
        StatementKind::And(_, right) | StatementKind::Or(_, right) | StatementKind::Not(right) => last_command(right),
        StatementKind::Pipeline(stages) if !stages.is_empty() => {
            last_command(stages.last_mut().expect("a pipeline has stages"))
        }
        _ => unreachable!("looked at above"),
    }
}
