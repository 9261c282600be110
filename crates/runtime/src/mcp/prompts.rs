//! Prompts of servers as commands: `/mcp__server__prompt arguments`.

use ona_mcp::{PromptText, Servers};
use tokio_util::sync::CancellationToken;

/// Returns what a prompt of a server says; `None` if no server has a prompt of this name. An error
/// is a sentence for the person who typed it.
pub async fn prompt_command(
    servers: &Servers,
    name: &str,
    arguments: &str,
    cancel: &CancellationToken,
) -> Option<Result<PromptText, String>> {
    if !name.starts_with("mcp__") {
        return None;
    }
    servers.settled().await;
    ona_tools::ToolSource::refresh(servers).await;
    let (server, prompt) = servers.prompts().into_iter().find(|(_, prompt)| prompt.name == name)?;
    let arguments = match prompt.arguments_of(arguments) {
        Ok(arguments) => arguments,
        Err(why) => return Some(Err(why)),
    };
    let said = server.prompt(&prompt, &arguments, cancel).await;
    Some(match said {
        Ok(said) if said.text.trim().is_empty() && said.pictures.is_empty() => {
            Err(format!("/{name}: the prompt is empty"))
        }
        Ok(said) => Ok(said),
        Err(error) => Err(format!("/{name}: MCP server {:?}: {error}", server.definition.name)),
    })
}
