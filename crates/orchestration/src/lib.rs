//! The turn (`turn`) and the path of a tool call (`pipeline`): plan, hooks, gate,
//! rules, person, run, hooks, one commit.
//!
//! This is the only crate that sees both hooks and store, so "no transaction is
//! open while a hook or a tool runs" (DEC-017) is a property of `pipeline`.

mod account;
mod amended;
mod changed_scripts;
mod compaction;
mod context;
mod ending;
mod events;
mod firings;
mod given;
mod history;
mod hook_handlers;
mod lifecycle;
mod mcp;
mod mentions;
mod model;
mod modules;
mod operator;
mod pipeline;
mod plan_mode;
mod planning_tasks;
mod projection;
mod records;
mod said;
mod session;
mod session_hooks;
mod sight;
mod skills;
mod stored;
mod subagent;
mod todos;
mod turn;
mod unstaffed;
mod watch;

pub use account::account;
pub use changed_scripts::{CHANGED_HOOK_SCRIPT, ChangedScripts};
pub use compaction::{CANCELLED as COMPACTION_CANCELLED, Compacted};
pub use context::{Context, Memories, loaded};
pub use ending::{EndedBy, clear, end_session};
pub use events::{Compaction, Events, TurnEvent};
pub use history::History;
pub use hook_handlers::{Desk, HookDesk, HttpHook, Judge, JudgeHook, McpToolHook};
pub use lifecycle::lifecycle;
pub use mcp::{AskPerson, Elicitations, equip, hide_denied, search_what_is_left};
pub use model::{Model, Seat, Setup, Window};
pub use modules::{Boundary, Commanded, Log as ModuleLog, Modules, Resumed, Screen, SessionHost, Wish};
pub use operator::{Answer, Operator, Question};
pub use pipeline::{Finished, Pipeline};
pub use plan_mode::{IN_PLAN_MODE, LookAt, PlanDesk};
pub use projection::Projection;
pub use said::Said;
pub use session::{EnvFile, Keep, Parent, Session, set_mode};
pub use session_hooks::{Bearer, FrontHooks, MadeHooks, MakeHooks, Registrar, of_agent};
pub use skills::{NotLoaded, SkillDesk, SkillTerms, SkillTool, front_hooks};
pub use subagent::{Agent, Office};
pub use todos::TodoWrite;
pub use turn::{Activity, Ended, Outcome as TurnOutcome, Speaker, Turn};
pub use unstaffed::Unstaffed;
pub use watch::Watch;
