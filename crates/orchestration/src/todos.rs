//! TodoWrite: the things a session wants to do, and who hears of them (DEC-137).
//!
//! The list is one `state` row per session, replaced as a whole. Hooks may refuse: a
//! TaskCreated or TaskCompleted hook that blocks leaves the list as it was (DEC-050). What
//! is new and what is done is a comparison with the list before, and pure.

use crate::records;
use crate::session::Session;
use ona_api::row::SessionKey;
use ona_api::{Access, EventName, Group, Row, ToolResult};
use ona_hookplane::{Base, Firing, HookEngine};
use ona_store::{Store, StoreError};
use ona_tools::{Tool, ToolContext};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

/// `state` key of a session's list; the session id follows.
const LIST: &str = "todos:";
/// `state` key of what the list has ever held, in order of first appearance.
const KNOWN: &str = "todo_ids:";

pub struct TodoWrite {
    store: Arc<Store>,
    hooks: Arc<HookEngine>,
    place: SessionKey,
    base: Base,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TodoWriteInput {
    /// The whole list; it takes the place of the one before.
    todos: Vec<Todo>,
}

#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Todo {
    /// What is to be done.
    #[schemars(length(min = 1))]
    content: String,
    status: Status,
    /// The same in the form of something going on: "Running the tests".
    #[serde(rename = "activeForm")]
    active_form: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Completed,
}

/// An entry with its lasting name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Item {
    id: String,
    content: String,
    status: Status,
    #[serde(rename = "activeForm", skip_serializing_if = "Option::is_none")]
    active_form: Option<String>,
}

/// What a session still has to do, in the words of hook modules.
pub(crate) fn unfinished(store: &Store, place: &SessionKey) -> Result<Vec<Value>, StoreError> {
    let list = store.reader()?.state(&place.conversation, &format!("{LIST}{}", place.session))?;
    // A row that another program wrote counts as an empty list.
    let items: Vec<Item> = list.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let open = items.into_iter().filter(|item| item.status != Status::Completed);
    Ok(open.map(|item| json!({"id": item.id, "content": item.content, "status": item.status})).collect())
}

impl TodoWrite {
    pub fn of(session: &Session, store: &Arc<Store>, hooks: &Arc<HookEngine>) -> Self {
        Self { store: Arc::clone(store), hooks: Arc::clone(hooks), place: session.place.clone(), base: session.base() }
    }

    async fn replace(&self, todos: Vec<Todo>, cx: &ToolContext) -> Result<ToolResult, StoreError> {
        let before: Vec<Item> = self.stored(LIST)?;
        let mut known: Vec<String> = self.stored(KNOWN)?;
        let after = named(todos, &mut known);
        for (event, item) in news(&before, &after) {
            if let Some(refusal) = self.tell(event, item, cx).await? {
                return Ok(refusal);
            }
        }
        let mut group = Group::default();
        group.push(self.row(LIST, &after));
        group.push(self.row(KNOWN, &known));
        self.store.commit(&self.place, group).await?;
        Ok(ToolResult::success(shown(&after)).data(json!({"oldTodos": before, "newTodos": after})))
    }

    /// Fires the event; what to answer if a hook refuses.
    async fn tell(&self, event: EventName, item: &Item, cx: &ToolContext) -> Result<Option<ToolResult>, StoreError> {
        if !self.hooks.listens_to(event) {
            return Ok(None);
        }
        let mut fields = json!({"task_id": item.id, "task_subject": item.content});
        if let Some(description) = &item.active_form {
            fields["task_description"] = description.as_str().into();
        }
        let base = Base { cwd: cx.cwd.clone(), ..self.base.clone() };
        let outcome = self.hooks.fire(Firing { call: cx.call.clone(), ..Firing::new(event, base, fields) }).await;
        let mut group = Group::default();
        records::chain(&mut group, event, cx.call.as_ref(), &outcome);
        self.store.commit(&self.place, group).await?;
        let words = || format!("Refused by {} hook\n{}", event.as_str(), outcome.message());
        Ok(outcome.is_denied().then(|| ToolResult::rejected(words().trim_end())))
    }

    fn stored<T: for<'a> Deserialize<'a> + Default>(&self, key: &str) -> Result<T, StoreError> {
        let value = self.store.reader()?.state(&self.place.conversation, &self.key(key))?;
        // A row that another program wrote is replaced like any other.
        Ok(value.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
    }

    fn row(&self, key: &str, value: &impl Serialize) -> Row {
        Row::State { key: self.key(key), value: json!(value).to_string() }
    }

    fn key(&self, key: &str) -> String {
        format!("{key}{}", self.place.session)
    }
}

impl Tool for TodoWrite {
    type Input = TodoWriteInput;
    const NAME: &'static str = "TodoWrite";
    const DESCRIPTION: &'static str = "Replaces this session's list of things to do, so that the operator can follow work of several steps. Give the whole \
        list each time; keep one entry in_progress, and mark an entry completed as soon as it is done.";

    fn access(&self, _: &TodoWriteInput, _: &ToolContext) -> Vec<Access> {
        vec![Access::Plain]
    }

    async fn run(&self, input: TodoWriteInput, cx: &ToolContext) -> ToolResult {
        if input.todos.iter().any(|todo| todo.content.trim().is_empty()) {
            return ToolResult::rejected("content: an entry of the list says nothing");
        }
        self.replace(input.todos, cx).await.unwrap_or_else(|error| ToolResult::internal(error.to_string()))
    }
}

/// Names by what an entry says: the first that ever stood in the list is t1.
fn named(todos: Vec<Todo>, known: &mut Vec<String>) -> Vec<Item> {
    let mut items = Vec::with_capacity(todos.len());
    for Todo { content, status, active_form } in todos {
        let place = known.iter().position(|one| *one == content).unwrap_or_else(|| {
            known.push(content.clone());
            known.len() - 1
        });
        items.push(Item { id: format!("t{}", place + 1), content, status, active_form });
    }
    items
}

/// What there is to tell, in the order of the new list.
fn news<'a>(before: &[Item], after: &'a [Item]) -> Vec<(EventName, &'a Item)> {
    let mut news = Vec::new();
    for (index, item) in after.iter().enumerate() {
        let earlier = after[..index].iter().chain(before).find(|one| one.id == item.id);
        if earlier.is_none() {
            news.push((EventName::TaskCreated, item));
        }
        if item.status == Status::Completed && earlier.is_none_or(|one| one.status != Status::Completed) {
            news.push((EventName::TaskCompleted, item));
        }
    }
    news
}

/// The list for a reader: how far it is, then a line each.
fn shown(items: &[Item]) -> String {
    let done = items.iter().filter(|item| item.status == Status::Completed).count();
    let mut text = format!("{done} of {} done", items.len());
    for item in items {
        let mark = match item.status {
            Status::Pending => "[ ]",
            Status::InProgress => "[>]",
            Status::Completed => "[x]",
        };
        text.push_str(&format!("\n{mark} {}", item.content));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(known: &mut Vec<String>, entries: &[(&str, Status)]) -> Vec<Item> {
        let todo = |(content, status): &(&str, Status)| Todo {
            content: (*content).into(),
            status: *status,
            active_form: None,
        };
        named(entries.iter().map(todo).collect(), known)
    }

    #[test]
    fn an_entry_keeps_its_name_and_is_told_of_when_it_comes_and_when_it_is_done() {
        use EventName::{TaskCompleted, TaskCreated};
        use Status::{Completed, InProgress, Pending};
        let mut known = Vec::new();
        let one = list(&mut known, &[("a", Pending), ("b", Completed), ("a", Pending)]);
        let told = |before: &[Item], after: &[Item]| -> Vec<_> {
            news(before, after).into_iter().map(|(event, item)| (event, item.id.clone())).collect()
        };
        let t = |number: u32| format!("t{number}");
        assert_eq!(told(&[], &one), [(TaskCreated, t(1)), (TaskCreated, t(2)), (TaskCompleted, t(2))]);
        let two = list(&mut known, &[("c", InProgress), ("b", Completed)]);
        assert_eq!(told(&one, &two), [(TaskCreated, t(3))]);
        let three = list(&mut known, &[("a", Completed), ("c", Completed), ("b", Pending)]);
        assert_eq!(told(&two, &three), [(TaskCreated, t(1)), (TaskCompleted, t(1)), (TaskCompleted, t(3))]);
        assert_eq!(shown(&two), "1 of 2 done\n[>] c\n[x] b");
    }
}
