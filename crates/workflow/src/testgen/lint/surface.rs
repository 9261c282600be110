//! The surfaces assertions may look at (section 8.5.2), closed.

use super::value::Sources;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Surface {
    Database,
    File,
    ProcessOutput,
    ToolResult,
    HookRecord,
}

impl Surface {
    pub fn as_str(self) -> &'static str {
        match self {
            Surface::Database => "db_state",
            Surface::File => "file_state",
            Surface::ProcessOutput => "process_output",
            Surface::ToolResult => "tool_result",
            Surface::HookRecord => "hook_record",
        }
    }

    pub(super) fn of(from: Sources) -> Vec<Surface> {
        let all = [
            (Surface::Database, Sources::DATABASE),
            (Surface::File, Sources::FILES),
            (Surface::ProcessOutput, Sources::OUTPUT | Sources::STATUS),
            (Surface::ToolResult, Sources::RESULT),
            (Surface::HookRecord, Sources::HOOKS),
        ];
        all.into_iter().filter(|(_, sources)| from.has(*sources)).map(|(surface, _)| surface).collect()
    }
}

impl fmt::Display for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
