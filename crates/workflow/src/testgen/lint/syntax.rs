//! The script as the rules see it: statements, words, redirections.

use std::rc::Rc;

/// A script, or a part of one, that can not be read for certain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unreadable {
    pub line: u32,
    pub why: &'static str,
}

#[derive(Clone, Debug)]
pub(super) struct Statement {
    pub line: u32,
    pub kind: Kind,
    pub redirects: Vec<Redirect>,
    /// `… &`
    pub background: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Command(Command),
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
        words: Option<Vec<Word>>,
        body: Vec<Statement>,
    },
    Case {
        subject: Word,
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
        tokens: Vec<Token>,
        double: bool,
    },
    /// `(( … ))`, with the variables in it; `sets` if it changes one
    Arithmetic {
        word: Word,
        sets: bool,
    },
}

#[derive(Clone, Debug)]
pub(super) struct Arm {
    pub patterns: Vec<Word>,
    pub body: Vec<Statement>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Command {
    pub assignments: Vec<Assignment>,
    pub words: Vec<Word>,
}

#[derive(Clone, Debug)]
pub(super) struct Assignment {
    pub name: String,
    /// `+=`, or one element of an array
    pub adds: bool,
    pub value: Word,
}

#[derive(Clone, Debug)]
pub(super) enum Token {
    Word(Word),
    Operator(String),
}

#[derive(Clone, Debug)]
pub(super) struct Redirect {
    /// `None`: 0 or 1, by the operator
    pub descriptor: Option<u32>,
    pub to: Target,
    pub line: u32,
}

#[derive(Clone, Debug)]
pub(super) enum Target {
    Read(Word),
    Write {
        word: Word,
        append: bool,
        both: bool,
    },
    /// `>&2`, `2>&1`, `>&-`
    Descriptor(String),
    /// A here-document or here-string.
    Text(Word),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Word {
    pub parts: Vec<Part>,
    pub line: u32,
}

#[derive(Clone, Debug)]
pub(super) enum Part {
    /// Quotes and escapes removed.
    Text {
        text: String,
        quoted: bool,
    },
    Variable {
        name: String,
        how: How,
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
    Number(Vec<Part>),
    /// `(…)` on the right of an assignment
    List(Vec<Word>),
}

/// What is made of a variable's value.
#[derive(Clone, Debug)]
pub(super) enum How {
    Plain,
    /// `${x[@]}`
    All,
    /// `${x:-word}`, `${x-word}`, `${x:=word}`, `${x=word}`
    Else(Box<Word>),
    /// `${x:+word}`
    Then(Box<Word>),
    /// `${x%word}`, `${x%%word}`
    Without(Box<Word>),
    /// `${!x}`: the variable it names
    Named,
    /// Anything else: a length, a piece, another case
    Changed(Vec<Part>),
}

impl Word {
    /// The text, if nothing in it expands.
    pub fn literal(&self) -> Option<String> {
        let mut all = String::new();
        for part in &self.parts {
            match part {
                Part::Text { text, .. } => all.push_str(text),
                _ => return None,
            }
        }
        Some(all)
    }
}
