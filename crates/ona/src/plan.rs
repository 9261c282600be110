//! `ona plan list|show|approve|import`.

use crate::args::Plan as Command;
use crate::output;
use ona_api::PlanStatus;
use ona_runtime::table::{Table, Tone};
use ona_runtime::{Failure, Launch, at, ids};

use ona_store::{Store, StoreError, StoredPlan};
use serde_json::{Value, json};
use std::path::Path;

pub(crate) fn run(launch: &Launch, command: Command) -> Result<u8, Failure> {
    if matches!(command, Command::Approve { .. } | Command::Import { .. }) {
        launch.operator_only("plans")?;
    }
    let open = launch.open()?;
    let store = &open.store;
    match command {
        Command::List { json } => list(launch, store, json),
        Command::Show { id, json, .. } => show(launch, store, id, json),
        Command::Approve { id, .. } => approve(launch, store, id),
        Command::Import { file, last } => import(launch, store, &file, last),
    }
}

fn list(launch: &Launch, store: &Store, json: bool) -> Result<u8, Failure> {
    let reader = store.reader().map_err(|error| launch.store_failure(error))?;
    let named = ids::named_conversation(launch, reader)?;
    let all = || -> Result<Vec<StoredPlan>, StoreError> {
        if let Some(id) = &named {
            return reader.plans(id);
        }
        let mut plans = Vec::new();
        for conversation in reader.conversations()? {
            plans.extend(reader.plans(&conversation.id)?);
        }
        plans.sort_by_key(|plan| plan.id);
        Ok(plans)
    };
    let plans = all().map_err(|error| launch.store_failure(error))?;
    if json {
        output::json(&plans.iter().map(described).collect());
        return Ok(0);
    }
    let title_of = |plan: &StoredPlan| {
        let title = plan.content.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        title.trim_start_matches('#').trim().to_owned()
    };
    if let Some(style) = output::terminal_style(&launch.env).filter(|_| !plans.is_empty()) {
        let mut table = Table::new(["plan", "status", "created", "conversation", "title"]);
        for plan in &plans {
            let tone = if plan.status == PlanStatus::Approved { Tone::Good } else { Tone::Plain };
            table.row([
                (plan.id.to_string(), Tone::Plain),
                (plan.status.as_str().to_owned(), tone),
                (plan.created_at.clone(), Tone::Secondary),
                (plan.conversation.to_string(), Tone::Secondary),
                (title_of(plan), Tone::Plain),
            ]);
        }
        table.lines(style).iter().for_each(output::line);
        return Ok(0);
    }
    for plan in &plans {
        output::line(format_args!(
            "{:>4}  {:<10}  {}  {}  {}",
            plan.id,
            plan.status.as_str(),
            plan.created_at,
            plan.conversation,
            title_of(plan)
        ));
    }
    if plans.is_empty() {
        output::note("No plans.");
    }
    Ok(0)
}

fn show(launch: &Launch, store: &Store, id: Option<i64>, json: bool) -> Result<u8, Failure> {
    let plan = ids::plan(launch, store, id)?;
    if json {
        output::json(&described(&plan))
    } else {
        output::line(plan.content.trim_end())
    }
    Ok(0)
}

fn approve(launch: &Launch, store: &Store, id: Option<i64>) -> Result<u8, Failure> {
    let plan = ids::plan(launch, store, id)?;
    let id = plan.id;
    if plan.status == PlanStatus::Approved {
        // Asked before the commit, which supersedes the approved plan first.
        return Err(Failure::refused(format_args!("plan {id} is already approved; nothing was changed")));
    }
    let group = ona_workflow::approve_plan(id, &plan.hash, &plan.content);
    store.commit_now(&at(&plan.conversation, ""), group).map_err(|error| match error {
        StoreError::PlanMoved { found, .. } => {
            Failure::refused(format_args!("plan {id} is {found}, only a draft can be approved"))
        }
        other => launch.store_failure(other),
    })?;
    if ona_workflow::testgen::criteria::parse(&plan.content).is_empty() {
        output::note(ona_workflow::NO_CRITERIA);
    }
    output::json(&json!({"plan_id": id, "conversation_id": plan.conversation, "status": "approved"}));
    Ok(0)
}

fn import(launch: &Launch, store: &Store, file: &Path, last: bool) -> Result<u8, Failure> {
    let reader = store.reader().map_err(|error| launch.store_failure(error))?;
    let id = match (ids::named_conversation(launch, reader)?, last) {
        (Some(_), true) => return Err(Failure::usage("--last and --conversation name a conversation each")),
        (Some(id), false) => id,
        (None, true) => ids::last_conversation(launch, reader)?,
        (None, false) => {
            return Err(Failure::usage("plan import needs --conversation ID, or --last").hint("ona conversations list"));
        }
    };
    let path = launch.cwd.join(file);
    let content =
        ona_files::read_named(&path).map_err(|why| Failure::usage(format_args!("{} {why}", path.display())))?;
    if content.trim().is_empty() {
        return Err(Failure::usage(format_args!("{} is empty", path.display())));
    }
    let group = ona_workflow::save_draft(&content, path.to_str());
    let committed = store.commit_now(&at(&id, ""), group).map_err(|error| launch.store_failure(error))?;
    output::json(&json!({"plan_id": committed.plans.first(), "conversation_id": id, "status": "draft"}));
    Ok(0)
}

fn described(plan: &StoredPlan) -> Value {
    json!({
        "id": plan.id,
        "conversation_id": plan.conversation,
        "file_path": plan.file_path,
        "content": plan.content,
        "hash": plan.hash,
        "status": plan.status.as_str(),
        "created_at": plan.created_at,
        "approved_at": plan.approved_at,
        "completed_at": plan.completed_at,
    })
}
