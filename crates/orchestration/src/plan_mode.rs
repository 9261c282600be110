//! EnterPlanMode and ExitPlanMode: the two ends of the planning phase (section 8.2).
//!
//! Approval is an act of the operator (DEC-113). ExitPlanMode puts the plan on record as a
//! draft and asks; the yes to that question, and nothing else a model can bring about, is the approval. What
//! is approved is the text that was shown: a draft that was saved elsewhere in the meantime is not.
//!
//! Which transitions exist is `ona_workflow`'s; asking is the pipeline's.

use crate::session::{Session, set_mode};
use ona_api::row::SessionKey;
use ona_api::testing::ProjectFile;
use ona_api::{Access, Authority, ConversationId, Group, Mode, Phase, PlanStatus, Row, ToolResult};
use ona_permissions::PermissionEngine;
use ona_store::{Store, StoreError, StoredPlan};
use ona_tools::{Offer, Tool, ToolBox, ToolContext};
use ona_workflow::testgen::criteria;
use ona_workflow::{Facts, approve_plan, save_draft, transition};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

/// `state` key of a session whose mode is plan because it entered planning; its value is
/// the mode of before. The session id follows.
pub const IN_PLAN_MODE: &str = "plan_mode:";

/// The files of the project at a path, if they can be looked at.
pub type ProjectFilesAt = Arc<dyn Fn(&Path) -> Option<Vec<ProjectFile>> + Send + Sync>;

/// Where one session's plans are kept and decided.
#[derive(Clone)]
pub struct PlanModeTools {
    store: Arc<Store>,
    place: SessionKey,
    rules: Arc<RwLock<PermissionEngine>>,
    look: ProjectFilesAt,
}

impl PlanModeTools {
    pub fn of(session: &Session, store: &Arc<Store>, look: ProjectFilesAt) -> Self {
        Self { store: Arc::clone(store), place: session.place.clone(), rules: Arc::clone(&session.rules), look }
    }

    /// Adds both tools.
    pub fn equip(self, tools: &mut ToolBox) {
        tools.add(Arc::new(EnterPlanMode { tools: self.clone() }));
        tools.add(Arc::new(ExitPlanMode { tools: self }));
    }

    fn conversation(&self) -> &ConversationId {
        &self.place.conversation
    }

    fn phase(&self) -> Result<Phase, StoreError> {
        Ok(self.store.reader()?.phase(self.conversation())?.unwrap_or(Phase::Idle))
    }

    /// The newest plan in this status.
    fn newest(&self, status: PlanStatus) -> Result<Option<StoredPlan>, StoreError> {
        let plans = self.store.reader()?.plans(self.conversation())?;
        Ok(plans.into_iter().rev().find(|plan| plan.status == status))
    }

    /// Returns the draft with this text, saving it first if needed.
    async fn draft(&self, text: &str) -> Result<StoredPlan, StoreError> {
        if let Some(draft) = self.newest(PlanStatus::Draft)?.filter(|draft| draft.content == text) {
            return Ok(draft);
        }
        let committed = self.store.commit(&self.place, save_draft(text, None)).await?;
        let id = *committed.plans.first().ok_or(StoreError::NoPlan(0))?;
        self.store.reader()?.plan(id)?.ok_or(StoreError::NoPlan(id))
    }

    fn rules<T>(&self, change: impl FnOnce(&mut PermissionEngine) -> T) -> T {
        change(&mut self.rules.write().unwrap_or_else(PoisonError::into_inner))
    }

    async fn enter(&self) -> Result<ToolResult, StoreError> {
        let phase = self.phase()?;
        if phase == Phase::Planning {
            return Ok(message("The conversation is in planning already."));
        }
        let mut group = match transition(Facts::new(phase, self.approved()?), Phase::Planning) {
            Ok(group) => group,
            Err(refusal) => return Ok(ToolResult::rejected(refusal.to_string())),
        };
        let before = self.rules(|rules| rules.mode());
        group.push(Row::State { key: format!("{IN_PLAN_MODE}{}", self.place.session), value: before.to_string() });
        self.store.commit(&self.place, group).await?;
        self.rules(PermissionEngine::begin_planning);
        Ok(message(ENTERED))
    }

    fn approved(&self) -> Result<bool, StoreError> {
        self.store.reader()?.has_approved_plan(self.conversation())
    }

    /// Before anybody is asked: the plan is on record, or there is nothing to ask.
    async fn offer(&self, plan: Option<&str>) -> Result<Offer, StoreError> {
        if let Some(refused) = self.outside_planning()? {
            return Ok(Offer::Refused(refused));
        }
        let approved = self.newest(PlanStatus::Approved)?;
        let text = match (plan, approved) {
            (None, None) => return Ok(Offer::Refused(ToolResult::rejected(NO_PLAN))),
            (Some(text), _) if text.trim().is_empty() => return Ok(Offer::Refused(ToolResult::rejected(NO_PLAN))),
            (None, Some(approved)) => return Ok(settled(&approved)),
            (Some(text), Some(approved)) if approved.content == text => return Ok(settled(&approved)),
            (Some(text), _) => text,
        };
        let draft = self.draft(text).await?;
        // A session that asked nobody before planning asks nobody now (DEC-113).
        if self.rules(|rules| rules.before_planning()) == Some(Mode::BypassPermissions) {
            let by = Authority::Mode(Mode::BypassPermissions);
            return Ok(Offer::Settled(by, format!("plan {} needs no question", draft.id)));
        }
        Ok(Offer::Submission(format!(
            "Plan {} waits for the operator's approval; it can be given with: ona plan approve {}",
            draft.id, draft.id
        )))
    }

    /// The operator has said yes.
    async fn leave(&self, plan: Option<&str>) -> Result<ToolResult, StoreError> {
        if let Some(refused) = self.outside_planning()? {
            return Ok(refused);
        }
        let approved = self.newest(PlanStatus::Approved)?;
        let (mut group, plan) = match (plan, approved) {
            (None, None) => return Ok(ToolResult::rejected(NO_PLAN)),
            (None, Some(approved)) => (Group::default(), approved),
            (Some(text), Some(approved)) if approved.content == text => (Group::default(), approved),
            (Some(text), _) => {
                let draft = self.draft(text).await?;
                (approve_plan(draft.id, &draft.hash, &draft.content), draft)
            }
        };
        match transition(Facts::new(Phase::Planning, true), Phase::Implement) {
            Ok(rows) => group.append(rows),
            Err(refusal) => return Ok(ToolResult::rejected(refusal.to_string())),
        }
        group.append(self.manifest()?);
        self.store.commit(&self.place, group).await?;
        self.rules(PermissionEngine::end_planning);
        let mut words =
            format!("Plan {} is approved and the phase is implement. The plan:\n\n{}", plan.id, plan.content);
        if criteria::parse(&plan.content).is_empty() {
            words = format!("{UNTRACEABLE}\n{words}");
        }
        Ok(ToolResult::success(words).data(json!({"plan": plan.content, "isAgent": false, "plan_id": plan.id})))
    }

    /// What the project looks like before anything is implemented (DEC-123). Without a
    /// look nothing is known to be untouched later, so this refuses nothing.
    fn manifest(&self) -> Result<Group, StoreError> {
        let conversation = self.store.reader()?.conversation(self.conversation())?;
        let files = conversation.and_then(|known| (self.look)(Path::new(&known.project_dir)));
        Ok(Group(files.map(Row::Manifest).into_iter().collect()))
    }

    fn outside_planning(&self) -> Result<Option<ToolResult>, StoreError> {
        let phase = self.phase()?;
        let outside = phase != Phase::Planning;
        Ok(outside.then(|| {
            ToolResult::rejected(format!(
                "The phase is {phase}; a plan is submitted from planning, which EnterPlanMode begins."
            ))
        }))
    }
}

/// The operator has chosen plan mode by a key or as a driver: in phases idle and done it begins planning as EnterPlanMode
/// does, and its end leads back to the default mode; elsewhere it is the mode alone, because planning would supersede
/// the approved plan (DEC-195).
/// The inner error says why it could not begin.
pub async fn choose_plan_mode(
    store: &Arc<Store>,
    place: &SessionKey,
    rules: &Arc<RwLock<PermissionEngine>>,
) -> Result<Result<(), String>, StoreError> {
    let tools = PlanModeTools {
        store: Arc::clone(store),
        place: place.clone(),
        rules: Arc::clone(rules),
        look: Arc::new(|_| None),
    };
    match tools.phase()? {
        Phase::Idle | Phase::Done => {
            if tools.rules(|rules| rules.mode() == Mode::Plan && rules.before_planning().is_none())
                && let Err(why) = set_mode(rules, Mode::Default)
            {
                return Ok(Err(why));
            }
            let entered = tools.enter().await.unwrap_or_else(told);
            Ok(if entered.is_error() { Err(entered.content) } else { Ok(()) })
        }
        Phase::Planning => {
            tools.rules(PermissionEngine::begin_planning);
            Ok(Ok(()))
        }
        Phase::Implement | Phase::Test | Phase::Verify => Ok(set_mode(rules, Mode::Plan)),
    }
}

const ENTERED: &str = "The conversation is in planning. Write, Edit, NotebookEdit and Bash are closed until a plan is approved. \
    Read what you need, then call ExitPlanMode with the plan. Give it a section \"Success criteria\" whose list items each \
    say one thing that can be checked from outside; tests are written from them.";

const UNTRACEABLE: &str =
    "Note: the plan has no section \"Success criteria\", so this conversation cannot reach verify.";

const NO_PLAN: &str = "No plan to submit: call ExitPlanMode with the text of the plan.";

fn message(text: &str) -> ToolResult {
    ToolResult::success(text).data(json!({ "message": text }))
}

fn settled(approved: &StoredPlan) -> Offer {
    Offer::Settled(Authority::Human, format!("plan {} is approved", approved.id))
}

/// Another process was faster, or the database failed.
fn told(error: StoreError) -> ToolResult {
    match error {
        StoreError::PhaseMoved { .. } | StoreError::PlanMoved { .. } | StoreError::NoApprovedPlan => {
            ToolResult::rejected(format!("Nothing was changed: {error}"))
        }
        other => ToolResult::internal(other.to_string()),
    }
}

pub(crate) struct EnterPlanMode {
    tools: PlanModeTools,
}

/// No input.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EnterPlanModeInput {}

impl Tool for EnterPlanMode {
    type Input = EnterPlanModeInput;
    const NAME: &'static str = "EnterPlanMode";
    const DESCRIPTION: &'static str = "Begins planning: nothing is changed until the operator has approved a plan. Use it before work that needs \
        several steps, touches several files or leaves a choice to be made. A plan approved earlier no longer counts.";

    fn access(&self, _: &EnterPlanModeInput, _: &ToolContext) -> Vec<Access> {
        vec![Access::Plain]
    }

    async fn run(&self, _: EnterPlanModeInput, _: &ToolContext) -> ToolResult {
        self.tools.enter().await.unwrap_or_else(told)
    }
}

pub(crate) struct ExitPlanMode {
    tools: PlanModeTools,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExitPlanModeInput {
    /// The whole plan in Markdown, with a section "Success criteria". Left out: the plan saved last.
    plan: Option<String>,
}

impl Tool for ExitPlanMode {
    type Input = ExitPlanModeInput;
    const NAME: &'static str = "ExitPlanMode";
    const DESCRIPTION: &'static str = "Submits the plan for the operator's approval. Once it is approved, the phase is implement and the plan is to be \
        carried out. Refused: planning goes on, with what the operator said.";

    /// The plan that is meant, so that hooks, rules and the person see what they decide about.
    fn normalise(&self, input: &mut Value, _: &ToolContext) {
        let Some(fields) = input.as_object_mut() else { return };
        let given = fields.get("plan").is_some_and(|plan| !plan.is_null());
        // A database that cannot be read is reported when the plan is offered.
        if given || self.tools.approved().unwrap_or(true) {
            return;
        }
        if let Ok(Some(draft)) = self.tools.newest(PlanStatus::Draft) {
            fields.insert("plan".into(), draft.content.into());
        }
    }

    fn access(&self, _: &ExitPlanModeInput, _: &ToolContext) -> Vec<Access> {
        vec![Access::Plain]
    }

    async fn offer(&self, input: &ExitPlanModeInput, _: &ToolContext) -> Offer {
        self.tools.offer(input.plan.as_deref()).await.unwrap_or_else(|error| Offer::Refused(told(error)))
    }

    async fn run(&self, input: ExitPlanModeInput, _: &ToolContext) -> ToolResult {
        self.tools.leave(input.plan.as_deref()).await.unwrap_or_else(told)
    }
}
