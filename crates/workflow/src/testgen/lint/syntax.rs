//! The script as the rules see it: statements, words, redirections.

use std::rc::Rc;

/// A script, or a part of one, that cannot be read for certain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unreadable {
    pub line: u32,
    pub why: &'static str,
}

#[derive(Clone, Debug)]
pub(super) struct Statement {
    pub line: u32,
    pub kind: StatementKind,
    pub redirects: Vec<Redirection>,
    /// `… &`
    pub background: bool,
}

#[derive(Clone, Debug)]
pub(super) enum StatementKind {
    Command(SimpleStatement),
    Pipeline(Vec<Statement>),
    And(Box<Statement>, Box<Statement>),
    Or(Box<Statement>, Box<Statement>),
    Not(Box<Statement>),
    /// Conditions with what they lead to, and `else`.
    If(Vec<(Vec<Statement>, Vec<Statement>)>, Vec<Statement>),
    /// `while` and `until`
    While(Vec<Statement>, Vec<Statement>),
    /// `for NAME in WORDS`; without words it counts.
    For {
        name: String,
        words: Option<Vec<ScriptWord>>,
        body: Vec<Statement>,
    },
    Case {
        subject: ScriptWord,
        arms: Vec<Arm>,
    },
    Group(Vec<Statement>),
    Subshell(Vec<Statement>),
    Function {
        name: String,
        body: Rc<Statement>,
    },
    /// `[ … ]` and `[[ … ]]`
    Test {
        tokens: Vec<TestToken>,
        double: bool,
    },
    /// `(( … ))`, with the variables in it; `sets` if it changes one
    Arithmetic {
        word: ScriptWord,
        sets: bool,
    },
}

#[derive(Clone, Debug)]
pub(super) struct Arm {
    pub patterns: Vec<ScriptWord>,
    pub body: Vec<Statement>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct SimpleStatement {
    pub assignments: Vec<VariableAssignment>,
    pub words: Vec<ScriptWord>,
}

#[derive(Clone, Debug)]
pub(super) struct VariableAssignment {
    pub name: String,
    /// `+=`, or one element of an array
    pub adds: bool,
    pub value: ScriptWord,
}

#[derive(Clone, Debug)]
pub(super) enum TestToken {
    Word(ScriptWord),
    Operator(String),
}

#[derive(Clone, Debug)]
pub(super) struct Redirection {
    /// `None`: 0 or 1, by the operator
    pub descriptor: Option<u32>,
    pub to: RedirectTarget,
    pub line: u32,
}

#[derive(Clone, Debug)]
pub(super) enum RedirectTarget {
    Read(ScriptWord),
    Write {
        word: ScriptWord,
        append: bool,
        both: bool,
    },
    /// `>&2`, `2>&1`, `>&-`
    Descriptor(String),
    /// A here-document or here-string.
    Text(ScriptWord),
}

#[derive(Clone, Debug, Default)]
pub(super) struct ScriptWord {
    pub parts: Vec<WordPart>,
    pub line: u32,
}

#[derive(Clone, Debug)]
pub(super) enum WordPart {
    /// Quotes and escapes removed.
    Text {
        text: String,
        quoted: bool,
    },
    Variable {
        name: String,
        how: Expansion,
        quoted: bool,
    },
    /// `$(…)`
    Output {
        body: Vec<Statement>,
        quoted: bool,
    },
    /// `<(…)`, `>(…)`
    File(Vec<Statement>),
    /// `$((…))`: what it is made of
    Number(Vec<WordPart>),
    /// `(…)` on the right of an assignment
    List(Vec<ScriptWord>),
}

/// What is made of a variable's value.
#[derive(Clone, Debug)]
pub(super) enum Expansion {
    Plain,
    /// `${x[@]}`
    All,
    /// `${x:-word}`, `${x-word}`, `${x:=word}`, `${x=word}`
    Else(Box<ScriptWord>),
    /// `${x:+word}`
    Then(Box<ScriptWord>),
    /// `${x%word}`, `${x%%word}`
    Without(Box<ScriptWord>),
    /// `${!x}`: the variable it names
    Named,
    /// Anything else: a length, a piece, another case
    Changed(Vec<WordPart>),
}

impl ScriptWord {
    /// Returns the text, if nothing in it expands.
    pub(crate) fn literal(&self) -> Option<String> {
        let mut all = String::new();
        for part in &self.parts {
            match part {
                WordPart::Text { text, .. } => all.push_str(text),
                _ => return None,
            }
        }
        Some(all)
    }
}
