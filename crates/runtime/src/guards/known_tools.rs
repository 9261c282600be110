//! Names of tools that the compatible product has or had (public documentation and what it
//! puts on the wire). Programs that drive ona send them whether the tool is here or not.

const NAMES: &str = "Agent AgentOutputTool AskUserQuestion Bash BashOutput Brief CronCreate CronDelete CronList \
    DeferredToolPlaceholder DesignSync Edit EnterPlanMode EnterWorktree ExitPlanMode ExitWorktree Glob Grep KillBash \
    KillShell LS LSP ListAgents ListMcpResources ListMcpResourcesTool MCPSearch Monitor MultiEdit NotebookEdit \
    NotebookRead PowerShell Read ReadMcpResource ReadMcpResourceDirTool ReadMcpResourceTool ReportFindings \
    ScheduleWakeup SendMessage SendUserMessage Skill SlashCommand StructuredOutput Task TaskCreate TaskGet TaskList \
    TaskOutput TaskStop TaskUpdate TeamCreate TeamDelete TodoRead TodoWrite ToolSearch WaitForMcpServers WebFetch \
    WebSearch Workflow Write";

pub(super) fn is_known(name: &str) -> bool {
    NAMES.split_whitespace().any(|known| known == name)
}

/// Servers that product brings itself.
pub(super) fn is_known_server(slug: &str) -> bool {
    ["ide", "claude-in-chrome", "computer-use"].contains(&slug)
}
