//! Puts multiple-choice questions to the person (DEC-135).
//!
//! Answers come with the call: from a hook, or from the front end that asked for permission.
//! If every question has one, nothing is shown. Asking a person who sits at
//! a terminal is not done here.

use crate::{Tool, ToolContext};
use ona_api::{Access, ToolResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::ops::RangeInclusive;

const QUESTIONS: RangeInclusive<usize> = 1..=4;
const OPTIONS: RangeInclusive<usize> = 2..=4;

const SELF_ANSWERED: &str = "Answers are the user's to give: ask the questions without answers.";

const NOBODY: &str = "Nobody is there to answer: this run has no user to ask.";
const GO_ON: &str = "Go on with your best judgement, or say what you would have asked.";

pub(crate) struct AskUserQuestionTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskInput {
    /// One to four questions.
    questions: Vec<QuestionInput>,
    /// Question text to chosen label; given by hooks and programs, never by the model.
    #[schemars(skip)]
    answers: Option<Map<String, Value>>,
    /// Notes beside answers, kept as they are.
    #[schemars(skip)]
    annotations: Option<Map<String, Value>>,
    #[schemars(skip)]
    #[expect(dead_code, reason = "accepted because other programs send it; it says nothing about the answer")]
    metadata: Option<Value>,
}

#[derive(Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct QuestionInput {
    /// The whole question, as the person will read it.
    question: String,
    /// A word or two for a narrow column, at most 12 characters.
    #[serde(default)]
    header: String,
    /// Two to four choices.
    options: Vec<OptionInput>,
    /// Whether several choices may be taken.
    #[serde(default)]
    multi_select: bool,
    #[schemars(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    #[schemars(skip)]
    #[serde(rename = "user_answer", skip_serializing_if = "Option::is_none")]
    user_answer: Option<String>,
    #[schemars(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    selected: Option<String>,
}

#[derive(Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OptionInput {
    /// What the person chooses, in a few words.
    label: String,
    /// What choosing it means.
    #[serde(default)]
    description: String,
    /// Text shown while the choice is looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    preview: Option<String>,
}

impl Tool for AskUserQuestionTool {
    type Input = AskInput;
    const NAME: &'static str = "AskUserQuestion";
    const DESCRIPTION: &'static str = "Asks the user one to four multiple-choice questions and returns the answers.\n\
        Use it when a decision is the user's and the work cannot go on well without it. The user may always answer in \
        words of their own, so offer no choice for that.";

    fn access(&self, _: &AskInput, _: &ToolContext) -> Vec<Access> {
        vec![Access::Plain]
    }

    async fn run(&self, input: AskInput, _: &ToolContext) -> ToolResult {
        if let Some(wrong) = misfit(&input.questions) {
            return ToolResult::rejected(wrong);
        }
        let given = input.answers.unwrap_or_default();
        let answers: Option<Vec<_>> = input.questions.iter().map(|asked| answer(asked, &given)).collect();
        let Some(answers) = answers else {
            let open: Vec<_> = open(&input.questions, &given).collect();
            return ToolResult::rejected(match open.len() == input.questions.len() {
                true => format!("{NOBODY} {GO_ON}"),
                false => format!("Not answered: {:?}. {GO_ON}", open.join("; ")),
            });
        };
        let pairs = || input.questions.iter().map(|asked| asked.question.as_str()).zip(&answers);
        let lines: Vec<_> = pairs().map(|(question, answer)| format!("\"{question}\" = \"{answer}\"")).collect();
        let answered: Map<String, Value> = pairs().map(|(question, answer)| (question.into(), json!(answer))).collect();
        let mut data = json!({"questions": input.questions, "answers": answered});
        if let Some(annotations) = input.annotations {
            data["annotations"] = annotations.into();
        }
        ToolResult::success(lines.join("\n")).data(data)
    }
}

/// Returns whether a question of this input is still unanswered.
pub fn has_open_questions(input: &Value) -> bool {
    let Ok(input) = serde_json::from_value::<AskInput>(input.clone()) else { return false };
    let given = input.answers.unwrap_or_default();
    open(&input.questions, &given).next().is_some()
}

/// Returns why a model may not make this call: it would answer for the user.
pub fn answers_itself(input: &Value) -> Option<&'static str> {
    let says = |value: &Value, keys: &[&str]| keys.iter().any(|key| !matches!(&value[*key], Value::Null));
    let mut questions = input["questions"].as_array().into_iter().flatten();
    let answered = questions.any(|question| says(question, &["answer", "user_answer", "selected"]));
    (answered || says(input, &["answers", "annotations"])).then_some(SELF_ANSWERED)
}

fn open<'q>(questions: &'q [QuestionInput], given: &'q Map<String, Value>) -> impl Iterator<Item = &'q str> {
    questions.iter().filter(|asked| answer(asked, given).is_none()).map(|asked| asked.question.as_str())
}

fn misfit(questions: &[QuestionInput]) -> Option<String> {
    if !QUESTIONS.contains(&questions.len()) {
        return Some(format!("Ask one to four questions at a time, not {}.", questions.len()));
    }
    questions.iter().find_map(|asked| match asked {
        _ if asked.question.trim().is_empty() => Some("A question has no text.".to_owned()),
        _ if !OPTIONS.contains(&asked.options.len()) => {
            Some(format!("The question {:?} has {} options; give two to four.", asked.question, asked.options.len()))
        }
        _ => None,
    })
}

/// Returns the answer to a question: from the map of answers, else from the question object itself (DEC-135).
fn answer(asked: &QuestionInput, given: &Map<String, Value>) -> Option<String> {
    let own = || asked.answer.as_ref().or(asked.user_answer.as_ref()).or(asked.selected.as_ref());
    given.get(&asked.question).and_then(written).or_else(|| own().cloned())
}

/// Returns a label or words of one's own; several labels of one question are joined.
fn written(answer: &Value) -> Option<String> {
    match answer {
        Value::String(text) => Some(text.clone()),
        Value::Array(labels) if !labels.is_empty() => {
            let labels: Option<Vec<_>> = labels.iter().map(Value::as_str).collect();
            labels.map(|labels| labels.join(", "))
        }
        _ => None,
    }
}
