//! The surfaces assertions may look at (section 8.5.2), closed.

use super::value::Origins;
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

    pub(super) fn of(from: Origins) -> Vec<Surface> {
        let all = [
            (Surface::Database, Origins::DATABASE),
            (Surface::File, Origins::FILES),
            (Surface::ProcessOutput, Origins::OUTPUT | Origins::STATUS),
            (Surface::ToolResult, Origins::RESULT),
            (Surface::HookRecord, Origins::HOOKS),
        ];
        all.into_iter().filter(|(_, origins)| from.has(*origins)).map(|(surface, _)| surface).collect()
    }
}

impl fmt::Display for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
