//! From a TypeScript or JavaScript file to what an engine can run.
//!
//! Types are never checked, only blanked in place (line numbers stay), and the few
//! forms that mean something at run time (enums, namespaces, parameter properties)
//! become plain JavaScript. The same parse yields the import list, from which the
//! engine is chosen.

mod edits;
mod emit;
mod erase;
mod imports;
mod lower;
mod parse;

pub use emit::Linked;
pub use imports::{ImportNames, ModuleImport};
pub use parse::{Parsed, SourceKind, SyntaxError, parse};
