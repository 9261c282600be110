//! What a session brings to a model besides its transcript: instruction files, agent
//! definitions, skills, the system prompt; and which files its project has (`project`).
//!
//! Files are read here once and returned as values; firing InstructionsLoaded and
//! deciding when to read more is left to the turn.

mod agents;
mod frontmatter;
mod imports;
mod instructions;
pub mod project;
mod prompt;
mod rules;
pub mod skills;

pub use agents::{AgentDefinition, Agents, BUILTIN_AGENTS, BadAgents, Origin};
pub use instructions::{Instruction, Instructions, LoadReason, MemoryType, Sources};
pub use prompt::{Prompt, system_prompt};
