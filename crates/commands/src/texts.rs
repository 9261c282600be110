//! What commands tell the model. A skill of the same name replaces the first three.

pub(crate) const INIT: &str = "Look at this project and write a CLAUDE.md at its root for agents that work here later: what \
                    the project is, how to build it, how to run its tests, where things are, and conventions that cannot \
                    be seen from a single file. Keep it short. If there is one already, improve it.";
pub(crate) const REVIEW: &str = "Review the uncommitted changes of this project, or, if there are none, the newest commit. \
                      Look for mistakes, missing tests and unclear names. Report findings by importance, with file and \
                      line. Change nothing.";
pub(crate) const SECURITY: &str = "Review the changes of this branch against its base for security problems: injection, \
                        broken authorisation, secrets in code, unsafe file handling, missing validation. Report only \
                        what can be exploited, with file, line and a remedy. Change nothing.";
pub(crate) const PLAN: &str = "Enter plan mode with EnterPlanMode, then make a plan for this task and present it with \
                               ExitPlanMode:";

/// Asked beside the conversation.
pub(crate) const RECAP: &str = "Say in one line of at most 400 characters what this conversation was about, what was done \
                                and what is open. Answer with that line alone, and use no tool.";
pub(crate) const TITLE: &str = "Name this conversation in three to seven words, as a title without quotes or a full stop. \
                                Answer with the title alone, and use no tool.";
pub(crate) const BESIDE: &str = "A question beside the conversation, which is not part of it. Answer it shortly from what \
                                 you know of the conversation, and use no tool:";
pub(crate) const SUMMARY: &str = "Summarise what was done in this conversation from one prompt on to its end: decisions, \
                                  changed files, results, what is open. Use no tool and answer with the summary alone. \
                                  It begins at the prompt:";
/// Judged at every stop.
pub(crate) const GOAL: &str = "The operator wants the agent to go on until this is met. Look at the last message and say \
                               ok only if it is met; otherwise say in a sentence what is missing. The condition: ";
