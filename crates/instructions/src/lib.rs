//! Everything a model receives besides its transcript: instruction files, agent
//! definitions, skills and the system prompt.
//!
//! Files are read here once and returned as values. Firing InstructionsLoaded and
//! deciding when to read more is left to the turn (`orchestration`).

mod agents;
mod frontmatter;
mod imports;
mod instructions;
mod output_styles;
mod prompt;
mod rules;
pub mod skills;

pub use agents::{AgentDefinition, AgentOrigin, Agents, AgentsError, BUILTIN_AGENTS};
pub use instructions::{Instruction, InstructionSources, Instructions, LoadReason, MemoryType};
pub use output_styles::{DEFAULT_STYLE, OutputStyle, OutputStyles, StyleFolder};
pub use prompt::{PromptParts, system_prompt};
