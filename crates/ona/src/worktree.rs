//! `ona worktree list|remove|prune`: worktrees that sessions and agents have left behind.

use crate::args::Worktree as Command;
use crate::{interrupt, output};
use ona_orchestration::Worktrees;
use ona_permissions::printable;
use ona_runtime::ids::{self, IdKind};
use ona_runtime::left_worktrees::{KnownWorktree, list};
use ona_runtime::{Failure, Launch, Purpose, block_on};
use serde_json::json;
use tokio_util::sync::CancellationToken;

pub(crate) fn run(launch: &Launch, command: &Command) -> Result<u8, Failure> {
    if !matches!(command, Command::List { .. }) {
        launch.operator_only("worktrees")?;
    }
    let open = launch.look()?;
    let settings = launch.effective(&open, Purpose::Look)?;
    let cancel = CancellationToken::new();
    interrupt::on_signal(&cancel);
    block_on(async {
        let (worktrees, known) = list(launch, &open, &settings).await?;
        match command {
            Command::List { json } => {
                show(&known, *json);
                Ok(0)
            }
            Command::Remove { name, force, json } => {
                let name = ids::find(IdKind::Worktree, name, known.iter().map(|one| one.left.name.as_str()))?;
                let one = known.iter().find(|one| one.left.name == name).expect("it was found by its name");
                one.remove(&worktrees, *force).await?;
                match json {
                    true => output::json(&json!({"removed": [name]})),
                    false => output::line(format_args!("Removed the worktree {name}.")),
                }
                Ok(0)
            }
            Command::Prune { dry_run, json } => prune(&worktrees, &known, *dry_run, *json, &cancel).await,
        }
    })
}

fn show(known: &[KnownWorktree], as_json: bool) {
    if as_json {
        output::json(&known.iter().map(KnownWorktree::to_json).collect());
        return;
    }
    for one in known {
        let session = one.session.as_ref().map_or("-", |id| id.as_str());
        let path = printable(&one.left.path.to_string_lossy());
        output::line(format_args!("{:<24}  {:<36}  {}  {path}", one.left.name, session, one.words()));
    }
    if known.is_empty() {
        output::note("No worktrees.");
    }
}

async fn prune(
    worktrees: &Worktrees,
    known: &[KnownWorktree],
    dry_run: bool,
    as_json: bool,
    cancel: &CancellationToken,
) -> Result<u8, Failure> {
    let (mut removed, mut failed) = (Vec::new(), 0);
    for one in known.iter().filter(|one| one.is_removable()) {
        if cancel.is_cancelled() {
            return Ok(interrupt::INTERRUPTED);
        }
        if !dry_run && let Err(failure) = one.remove(worktrees, false).await {
            output::note(failure);
            failed += 1;
            continue;
        }
        removed.push(one.left.name.as_str());
    }
    if as_json {
        output::json(&json!({"removed": removed, "dry_run": dry_run}));
    } else {
        let what = if dry_run { "would be removed" } else { "removed" };
        removed.iter().for_each(|name| output::line(format_args!("{what}: {name}")));
    }
    for one in known.iter().filter(|one| !one.is_removable()) {
        output::note(format_args!("kept, {}: {}", one.words(), one.left.name));
    }
    Ok(u8::from(failed > 0))
}
