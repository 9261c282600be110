//! The system prompt. A pure function of its input, without clock or random text, so that
//! the same session makes the same request twice.

use crate::instructions::Instruction;
use crate::output_styles::OutputStyle;
use ona_api::Phase;
use std::fmt::Write;
use std::path::Path;

/// The parts of the prompt.
pub struct PromptParts<'a> {
    /// `--system-prompt`: in place of our own words about the work.
    pub instead: Option<&'a str>,
    /// How the agent talks; not for subagents, and not where the words about the work are replaced.
    pub style: Option<&'a OutputStyle>,
    /// `--append-system-prompt`, or the instructions of a subagent.
    pub also: Option<&'a str>,
    pub cwd: &'a Path,
    pub project: &'a Path,
    pub extra: &'a [std::path::PathBuf],
    pub phase: Phase,
    pub has_approved_plan: bool,
    pub instructions: &'a [Instruction],
    /// What MCP servers say about their use: name and words.
    pub servers: &'a [(String, String)],
}

/// What stays where an output style replaces the words about the work.
const ROLE: &str = "You are ona, an agent in a terminal. You work on the project below with the tools you are given, on behalf of the person who started you.";

const WORK: &str = "\
You are ona, a coding agent in a terminal. You work on the project below with the tools you are given, on behalf of the person who started you.

How you work:
- Look before you act: read the files a change touches, and search rather than guess. Say so when you do not know.
- Make the change that was asked for, in the style of the code around it, and no other. Keep what you did not understand.
- Use the file tools for files and Bash for programs. Paths in tool calls are absolute or start at the working directory.
- When a tool refuses, the reason is the rule of the house: take another way or ask, do not try to get around it.
- Check your work by running it. Report what you saw, not what you expect; a failed check is a result worth reporting.
- Be brief. Answer in the language you were asked in.";

pub fn system_prompt(prompt: &PromptParts<'_>) -> String {
    let style = prompt.style.filter(|style| prompt.instead.is_none() && !style.text.is_empty());
    let work = if style.is_some_and(|style| !style.keeps_instructions) { ROLE } else { WORK };
    let mut text = prompt.instead.unwrap_or(work).trim_end().to_owned();
    let mut section = |title: &str, body: &str| {
        // Writing to a String cannot fail.
        write!(text, "\n\n# {title}\n{}", body.trim_end()).ok();
    };
    if let Some(style) = style {
        section(&format!("Output style: {}", style.name), &style.text);
    }
    section("Surroundings", &surroundings(prompt));
    section("Phase", phase(prompt.phase, prompt.has_approved_plan));
    if !prompt.instructions.is_empty() {
        let bodies: Vec<_> =
            prompt.instructions.iter().map(|one| format!("From {}:\n{}", one.path.display(), one.text)).collect();
        section("Instructions of this project and its people", &bodies.join("\n\n"));
    }
    if !prompt.servers.is_empty() {
        let bodies: Vec<_> = prompt.servers.iter().map(|(name, words)| format!("From {name}:\n{words}")).collect();
        section("Words of MCP servers about their tools", &bodies.join("\n\n"));
    }
    if let Some(also) = prompt.also {
        text.push_str("\n\n");
        text.push_str(also.trim_end());
    }
    text
}

fn surroundings(prompt: &PromptParts<'_>) -> String {
    let mut lines = vec![
        format!("Working directory: {}", prompt.cwd.display()),
        format!("Project: {}", prompt.project.display()),
        format!("Platform: {}", std::env::consts::OS),
    ];
    lines.extend(prompt.extra.iter().map(|dir| format!("Also yours to work in: {}", dir.display())));
    lines.join("\n")
}

/// Returns what the phase means for the one who works in it.
fn phase(phase: Phase, has_approved_plan: bool) -> &'static str {
    match (phase, has_approved_plan) {
        (Phase::Idle, _) => "The conversation is idle: no plan is being followed.",
        (Phase::Planning, false) => {
            "The conversation is in planning and no plan is approved: Write, Edit, NotebookEdit and Bash are closed. Work out a \
             plan with success criteria that can be checked from outside, and present it."
        }
        (Phase::Planning, true) => "The conversation is in planning and a plan is approved.",
        (Phase::Implement, _) => "The conversation is in implementation: carry out the approved plan.",
        (Phase::Test, _) => {
            "The conversation is in the test phase: tests written from the plan alone are run against your work. Mend the \
             work, not the tests."
        }
        (Phase::Verify, _) => "The conversation is in verification: the operator looks at the report.",
        (Phase::Done, _) => "The plan is done.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt<'a>() -> PromptParts<'a> {
        PromptParts {
            instead: None,
            style: None,
            also: None,
            cwd: Path::new("/p"),
            project: Path::new("/p"),
            extra: &[],
            phase: Phase::Planning,
            has_approved_plan: false,
            instructions: &[],
            servers: &[],
        }
    }

    #[test]
    fn the_prompt_names_place_and_phase_and_is_the_same_twice() {
        let text = system_prompt(&prompt());
        assert!(
            text.starts_with("You are ona")
                && text.contains("Working directory: /p")
                && text.contains("no plan is approved")
        );
        assert_eq!(text, system_prompt(&prompt()));
    }

    #[test]
    fn a_style_is_added_or_replaces_the_words_about_the_work() {
        let style = |keeps_instructions| OutputStyle {
            name: "terse".into(),
            description: String::new(),
            text: "Be terse.".into(),
            keeps_instructions,
            file: None,
        };
        let (kept, replaced) = (style(true), style(false));
        let text = system_prompt(&PromptParts { style: Some(&kept), ..prompt() });
        assert!(text.contains("How you work:") && text.contains("# Output style: terse\nBe terse."));
        let text = system_prompt(&PromptParts { style: Some(&replaced), ..prompt() });
        assert!(!text.contains("How you work:") && text.contains("Be terse.") && text.contains("/p"));
        let text = system_prompt(&PromptParts { style: Some(&kept), instead: Some("Only this."), ..prompt() });
        assert!(!text.contains("Be terse."));
    }

    #[test]
    fn it_can_be_replaced_and_added_to() {
        let text = system_prompt(&PromptParts { instead: Some("Only this."), also: Some("And that."), ..prompt() });
        assert!(text.starts_with("Only this.\n\n# Surroundings") && text.ends_with("\n\nAnd that."));
    }
}
