//! The turn (`turn`) and the path of a tool call (`pipeline`): plan, hooks, gate,
//! rules, person, run, hooks, one commit.
//!
//! This is the only crate that sees both hooks and store, so "no transaction is
//! open while a hook or a tool runs" (DEC-017) is a property of `pipeline`.

mod agent_without_model;
mod assembly;
mod checkpoints;
mod compaction;
mod config_watch;
mod context;
mod ending;
mod events;
mod file_watch;
mod firings;
mod history;
mod hook_handlers;
mod hook_report;
mod idle;
mod lifecycle;
mod loaded_context;
mod mcp;
mod mentions;
mod model;
mod modules;
mod operator;
mod pipeline;
mod plan_mode;
mod planning_tasks;
mod records;
mod result_changes;
mod rewind;
#[cfg(test)]
mod rule_parameters;
mod script_change_prompt;
mod search_access;
mod session;
mod session_hooks;
mod session_usage;
mod skills;
mod stored;
mod subagent;
mod task_ends;
mod text_only;
mod todos;
mod transcript_files;
mod turn;
mod unfinished;
mod user_prompt;
mod waiting_prompts;
mod worktrees;

pub use agent_without_model::AgentWithoutModel;
pub use assembly::{Profile, ToolFilter, ToolParts, builtin_tools, tool_box};
pub use checkpoints::{KeepLimits, SessionCheckpoints};
pub use compaction::{CANCELLED as COMPACTION_CANCELLED, Compacted};
pub use config_watch::{ConfigSource, ConfigWatch};
pub use context::{MemoryRecall, SessionContext, loaded};
pub use ending::{SessionEndReason, clear, end_session};
pub use events::{Compaction, Events, TurnEvent};
pub use file_watch::{FileWatch, look_at_files};
pub use history::History;
pub use hook_handlers::{HttpHook, JudgeDeps, JudgeHook, JudgeKind, McpToolHook, SharedJudgeDeps};
pub use hook_report::HookReport;
pub use idle::IdlePrompt;
pub use lifecycle::{change_folder, lifecycle};
pub use mcp::{ElicitationPrompter, Elicitations, add_mcp_tools, hide_denied, refresh_tool_search};
pub use model::{ContextWindow, CurrentModel, Model, ModelSetup};
pub use modules::{
    CompactionRequest, DeliveryPoint, ModuleCommandResult, ModuleLog, ModuleUi, Modules, ResumeKind, SessionHost,
};
pub use operator::{Operator, OperatorAnswer, PermissionQuestion};
pub use pipeline::{FinishedCall, HeldRows, Pipeline};
pub use plan_mode::{IN_PLAN_MODE, PlanModeTools, ProjectFilesAt, choose_plan_mode};
pub use rewind::{
    FileAction, FileStep, LastRewind, RewindPlan, RewindPrompt, RewindReport, RewindScope, RewindTarget, Rewinder,
    session_above,
};
pub use script_change_prompt::{CHANGED_HOOK_SCRIPT, ScriptChangePrompt};
pub use search_access::search_access;
pub use session::{EnvFile, OwnRules, ParentSession, PersistUpdate, Session, set_mode};
pub use session_hooks::{BuildHooks, BuiltHooks, FrontMatterHooks, HookOwner, SessionHookRegistry, hooks_of_agent};
pub use session_usage::session_usage;
pub use skills::{NotLoaded, SkillLoader, SkillPolicy, SkillTool, fork, front_hooks};
pub use subagent::{AgentTool, SubagentDeps};
pub use todos::TodoWrite;
pub use transcript_files::TranscriptFiles;
pub use turn::{Activity, PromptSource, Turn, TurnEnd, TurnOutcome};
pub use unfinished::{Unfinished, unfinished};
pub use user_prompt::UserPrompt;
pub use waiting_prompts::WaitingPrompts;
pub use worktrees::{
    AGENT_PREFIX, Git, Holds, Leftover, Worktree, WorktreeBase, WorktreeError, WorktreeFate, Worktrees, kept_words,
    random_name,
};
