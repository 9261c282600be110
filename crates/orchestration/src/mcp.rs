//! MCP servers in a session: their tools in its box, and who answers what they ask.
//!
//! A question of a server goes to Elicitation hooks first, then to the person or what
//! stands in for them; no answer counts as a no. ElicitationResult hooks have the last word
//! (Appendix A). All of it happens while the tool runs; the rows are commits of their own.

use crate::records;
use crate::session::Session;
use ona_api::row::SessionKey;
use ona_api::{EventName, Group};
use ona_hookplane::{Base, Firing, HookEngine, HookOutcome};
use ona_mcp::{ElicitAnswer, ElicitHandler, Elicitation, ListMcpResources, ReadMcpResource, Servers};
use ona_permissions::PermissionEngine;
use ona_store::Store;
use ona_tools::{BoxFuture, ToolBox, ToolSearchTool};
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// Puts the tools of servers into a box, and those that deal with servers and tools.
pub fn add_mcp_tools(tools: &mut ToolBox, servers: &Arc<Servers>, keep: impl Fn(&str) -> bool + Send + Sync + 'static) {
    tools.add(Arc::new(ListMcpResources(Arc::clone(servers))));
    tools.add(Arc::new(ReadMcpResource(Arc::clone(servers))));
    // Servers may come in later.
    tools.attach(Arc::clone(servers) as _, keep);
    tools.add(Arc::new(ToolSearchTool(tools.clone())));
}

/// ToolSearch finds what the session has, not what was taken away from it.
pub fn refresh_tool_search(tools: &mut ToolBox) {
    if tools.get("ToolSearch").is_some() {
        tools.add(Arc::new(ToolSearchTool(tools.clone())));
    }
}

/// Leaves tools that a rule denies as a whole out of what is offered (DEC-185), of servers too.
pub fn hide_denied(tools: &mut ToolBox, rules: &Arc<RwLock<PermissionEngine>>) {
    let rules = Arc::clone(rules);
    tools.hide(move |name| rules.read().unwrap_or_else(PoisonError::into_inner).hides_tool(name));
}

/// Asks the person; `None` if they do not answer.
pub trait ElicitationPrompter: Send + Sync {
    fn prompt(&self, fields: Map<String, Value>) -> BoxFuture<'_, Option<Map<String, Value>>>;
}

pub struct Elicitations {
    pub hooks: Arc<HookEngine>,
    pub store: Arc<Store>,
    pub person: Option<Arc<dyn ElicitationPrompter>>,
    /// The session whose calls are being made.
    session: Mutex<Option<(SessionKey, Base)>>,
}

impl Elicitations {
    pub fn new(hooks: Arc<HookEngine>, store: Arc<Store>, person: Option<Arc<dyn ElicitationPrompter>>) -> Self {
        Self { hooks, store, person, session: Mutex::default() }
    }

    /// Questions from now on belong to this session.
    pub fn enter(&self, session: &Session) {
        let now = Some((session.place.clone(), session.base()));
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

    /// Fires an event and keeps its rows.
    async fn fire(&self, event: EventName, fields: Value) -> HookOutcome {
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some((place, base)) = session.filter(|_| self.hooks.listens_to(event)) else {
            return HookOutcome::default();
        };
        let outcome = self.hooks.fire(Firing::new(event, base, fields)).await;
        let mut group = Group::default();
        records::chain(&mut group, event, None, &outcome);
        // A session whose rows cannot be kept fails at its next commit, and says so there.
        self.store.commit(&place, group).await.ok();
        outcome
    }

    async fn decide(&self, asked: Elicitation) -> ElicitAnswer {
        let fields = asked.fields();
        let said = self.fire(EventName::Elicitation, Value::Object(fields.clone())).await;
        let answered = match by_hooks(&said) {
            Some(answered) => answered,
            None => self.by_person(&asked, fields).await,
        };
        let mut result = json!({"mcp_server_name": asked.server});
        for (name, value) in [("elicitation_id", &asked.id), ("mode", &asked.mode)] {
            if let Some(value) = value {
                result[name] = value.clone().into();
            }
        }
        result["action"] = answered.action.as_str().into();
        if let Some(content) = &answered.content {
            result["content"] = content.clone().into();
        }
        let said = self.fire(EventName::ElicitationResult, result).await;
        by_hooks(&said).unwrap_or(answered)
    }

    async fn by_person(&self, asked: &Elicitation, fields: Map<String, Value>) -> ElicitAnswer {
        let Some(person) = &self.person else { return ElicitAnswer::declined() };
        let message = format!("{} asks: {}", asked.server, asked.message);
        self.fire(
            EventName::Notification,
            json!({"message": message, "title": "ona", "notification_type": "elicitation_dialog"}),
        )
        .await;
        let answer = person.prompt(fields).await;
        // Broken means no.
        answer.as_ref().and_then(ElicitAnswer::read).unwrap_or_else(ElicitAnswer::declined)
    }
}

/// What hooks answered: a block is a no (DEC-050), otherwise the last one is heard.
fn by_hooks(said: &HookOutcome) -> Option<ElicitAnswer> {
    if said.is_denied() {
        return Some(ElicitAnswer::declined());
    }
    said.specific.iter().rev().find_map(|(_, fields)| ElicitAnswer::read(fields))
}

impl ElicitHandler for Elicitations {
    fn answer(&self, asked: Elicitation) -> BoxFuture<'_, ElicitAnswer> {
        Box::pin(self.decide(asked))
    }
}
