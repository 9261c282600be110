//! One tool call from request to committed rows.
//!
//! The steps stand in the order of DEC-077 and are not to be moved: schema, hooks,
//! planning gate, rules, request hooks, person, execution, hooks. What is judged is
//! what runs: an input a hook rewrote is planned again before anything looks at it.

mod asking;
mod held;

pub(crate) use asking::moved;
pub use held::HeldRows;

use crate::checkpoints::edited_files;
use crate::context;
use crate::firings;
use crate::hook_report::HookReport;
use crate::operator::Operator;
use crate::planning_tasks::{self, LeftRunning};
use crate::records;
use crate::result_changes;
use crate::session::Session;
use crate::unfinished;
use ona_api::{
    Authority, EventName, Group, HookRun, LoggedEvent, Ordinal, Phase, Row, Ruling, ToolCall, ToolResult, Verdict,
    tool::canonical,
};
use ona_files::PathForms;
use ona_hookplane::{HookEngine, HookOutcome};
use ona_store::{Store, StoreError};
use ona_tools::{AnyTool, CallAuthor, Offer, PlannedCall, ToolBox, answers_itself, has_open_questions};
use ona_workflow::planning_gate;
use serde_json::Value;
use std::sync::Arc;

#[derive(Clone)]
pub struct Pipeline {
    pub store: Arc<Store>,
    pub tools: Arc<ToolBox>,
    pub hooks: Arc<HookEngine>,
    pub operator: Arc<dyn Operator>,
}

/// How a call ended.
#[derive(Debug)]
pub struct FinishedCall {
    pub result: ToolResult,
    /// The call was refused, so the tool never ran.
    pub denied: bool,
    /// A hook said `continue: false`; the reason it gave.
    pub stop: Option<String>,
    /// The operator's answer ends the turn.
    pub interrupt: bool,
    /// System messages of hooks, for the operator.
    pub messages: Vec<String>,
    /// What each hook and rule did, a line each, for verbose output.
    pub account: Vec<String>,
    /// The hooks of each event.
    pub hooks: Vec<HookReport>,
}

/// A call that may run.
struct Admitted {
    call: ToolCall,
    tool: Arc<dyn AnyTool>,
    plan: PlannedCall,
    /// What the `tool_started` row says about why.
    decision: Verdict,
}

/// A call that gets this result instead of running.
enum Refused {
    Call(ToolResult),
    /// A question that was put to the person, who did not answer it: hooks are told, because
    /// there is nothing more to a question than asking it.
    Answer {
        call: ToolCall,
        tool: Arc<dyn AnyTool>,
        result: ToolResult,
    },
}

impl From<ToolResult> for Refused {
    fn from(result: ToolResult) -> Self {
        Refused::Call(result)
    }
}

/// What a call has gathered on its way.
#[derive(Default)]
struct Trail {
    /// Rows that belong before this call's own and are not committed yet.
    held: HeldRows,
    group: Group,
    stop: Option<String>,
    interrupt: bool,
    messages: Vec<String>,
    account: Vec<String>,
    hooks: Vec<HookReport>,
    denied: bool,
    /// The paths that were judged before a person was asked, as they were resolved then.
    judged: Vec<PathForms>,
    /// The input as the model wrote it, or as a hook or a person left it.
    written: Value,
}

impl Trail {
    fn chain(&mut self, event: EventName, call: &ToolCall, outcome: &HookOutcome) {
        records::chain(&mut self.group, event, Some(&call.id), outcome);
        self.account.extend(outcome.runs.iter().map(told));
        self.hooks.extend(HookReport::of(event, outcome));
        self.messages.extend(outcome.messages.iter().map(|(_, message)| message.clone()));
        if let (None, Some((_, reason))) = (&self.stop, &outcome.stop) {
            self.stop = Some(reason.clone());
        }
    }

    /// Behind the result: nothing may stand between a call and its result.
    fn left_running(&mut self, left: LeftRunning) {
        self.group.append(left.rows);
        records::spoken(&mut self.group, &left.text);
        self.messages.push(left.text);
    }

    fn permission(&mut self, call: &ToolCall, verdict: &Verdict) {
        tracing::debug!(ruling = verdict.ruling.as_str(), reason = %verdict.reason(), "decided");
        self.denied |= verdict.ruling == Ruling::Deny;
        self.account.push(format!("{} {}", verdict.ruling.as_str(), verdict.reason()));
        self.group.push(Row::Permission { call: call.id.clone(), tool: call.name.clone(), verdict: verdict.clone() });
    }
}

impl Pipeline {
    /// Takes one call to its result and commits the rows of its group. The
    /// `tool_use` row is already there, or in `held`: rows that belong before the call
    /// and are committed before anything outside could miss them, a hook, a person or
    /// the tool. Where there is nothing to wait for they share the commit that
    /// announces the tool, which spares every call a write to the disk.
    #[tracing::instrument(level = "debug", name = "call", skip_all, err(level = "debug"), fields(tool = %call.name, id = %call.id))]
    pub async fn run(
        &self,
        session: &mut Session,
        call: ToolCall,
        held: impl Into<HeldRows>,
    ) -> Result<FinishedCall, StoreError> {
        let mut trail = Trail { held: held.into(), ..Trail::default() };
        session.follow_phase(&self.store)?;
        let mut left = planning_tasks::look(session, &self.store).await?;
        let call = ToolCall { name: canonical(&call.name).to_owned(), ..call };
        let (id, enters_planning) = (call.id.clone(), call.name == "EnterPlanMode");
        let result = match self.admit(session, call, &mut trail).await? {
            Ok(admitted) => self.execute(session, admitted, &mut trail).await?,
            Err(Refused::Call(refused)) => {
                records::result(&mut trail.group, &id, &refused);
                refused
            }
            Err(Refused::Answer { call, tool, result }) => {
                self.afterwards(session, &call, &tool, result, &mut trail).await
            }
        };
        if enters_planning {
            left = left.or(planning_tasks::look(session, &self.store).await?);
        }
        if let Some(left) = left {
            trail.left_running(left);
        }
        trail.held.commit_with(&self.store, &session.place, trail.group).await?;
        Ok(FinishedCall {
            result,
            denied: trail.denied,
            stop: trail.stop,
            interrupt: trail.interrupt,
            messages: trail.messages,
            account: trail.account,
            hooks: trail.hooks,
        })
    }

    /// Everything that can stop a call. The inner error is the result it gets instead.
    async fn admit(
        &self,
        session: &mut Session,
        mut call: ToolCall,
        trail: &mut Trail,
    ) -> Result<Result<Admitted, Refused>, StoreError> {
        let rejected = |why: String| Ok(Err(ToolResult::rejected(why).into()));
        let Some(tool) = self.tools.get(&call.name).or_else(|| session.added_tool(&call.name)) else {
            return rejected(format!("Unknown tool {}", call.name));
        };
        if session.modules.as_ref().is_some_and(|modules| modules.leaves_out(&call.name)) {
            return rejected(format!("The tool {} is not active now", call.name));
        }
        let mut plan = match Arc::clone(&tool).plan(&call.input, &session.cx) {
            Ok(plan) => plan,
            Err(bad) => return rejected(bad.to_string()),
        };
        if let Some(why) = answers_itself(&call.input).filter(|_| is_question(&call) && !self.operator.authors_calls())
        {
            return rejected(why.to_owned());
        }
        let requested = call.clone();
        trail.written.clone_from(&call.input);
        call.input = plan.input.clone();

        self.settle(session, EventName::PreToolUse, trail).await?;
        let pre = self.hooks.fire(firings::pre_tool_use(session, &call, &tool).written(&trail.written)).await;
        trail.chain(EventName::PreToolUse, &call, &pre);
        if let Some(refused) = refused_by_hooks(&pre) {
            trail.permission(&call, &refused);
            return rejected(refused.message);
        }
        if let Some(input) = &pre.input {
            records::rewritten(&mut trail.group, EventName::PreToolUse, &requested, input);
            trail.written.clone_from(input);
            plan = match Arc::clone(&tool).plan(input, &session.cx) {
                Ok(plan) => plan,
                Err(bad) => return rejected(format!("A hook changed the input: {bad}")),
            };
            call.input = plan.input.clone();
        }

        let mut verdict = self.judge(session, &call, &mut plan, &pre)?;
        let asked = verdict.ruling == Ruling::Ask;
        if verdict.ruling != Ruling::Deny {
            verdict = match tool.offer(&plan.input, &session.cx).await {
                Offer::Plain => verdict,
                Offer::Refused(refused) => return Ok(Err(refused.into())),
                Offer::Settled(by, words) => settled(verdict, by, words),
                Offer::Submission(words) => {
                    if matches!(verdict.by, Authority::Hook(_)) && verdict.is_allow() {
                        verdict = self.judge(session, &call, &mut plan, &HookOutcome::default())?;
                    }
                    submitted(verdict, &words)
                }
            };
        }
        if verdict.ruling == Ruling::Ask {
            self.commit_held(session, trail).await?;
            verdict = self.resolve(session, &mut call, &tool, &mut plan, verdict, trail).await?;
            verdict = self.judge_again(session, &call, &mut plan, &pre, verdict, trail)?;
            trail.permission(&call, &verdict);
        } else if verdict.ruling == Ruling::Deny || asked {
            trail.permission(&call, &verdict);
        } else if self.is_for_the_person(&call) {
            self.commit_held(session, trail).await?;
            verdict = self.confirm(session, &mut call, &tool, &mut plan, verdict, trail).await?;
            trail.permission(&call, &verdict);
        } else {
            tracing::debug!(ruling = verdict.ruling.as_str(), reason = %verdict.reason(), "decided");
            trail.account.push(format!("allow {}", verdict.reason()));
        }
        if !verdict.is_allow() && is_question(&call) && verdict.by == Authority::Human {
            return Ok(Err(Refused::Answer { call, tool, result: ToolResult::rejected(verdict.message) }));
        }
        if !verdict.is_allow() {
            self.settle(session, EventName::PermissionDenied, trail).await?;
            let denied = self.hooks.fire(firings::permission_denied(session, &call, &tool, &verdict.message)).await;
            trail.chain(EventName::PermissionDenied, &call, &denied);
            if denied.specific.iter().any(|(_, fields)| fields.get("retry") == Some(&true.into())) {
                records::may_retry(&mut trail.group, &call.id);
            }
            return rejected(verdict.message);
        }
        Ok(Ok(Admitted { call, tool, plan, decision: verdict }))
    }

    /// Whether this is an open question of the model that a person can answer (DEC-135).
    fn is_for_the_person(&self, call: &ToolCall) -> bool {
        is_question(call) && self.operator.can_answer_questions() && has_open_questions(&call.input)
    }

    /// Gate, then rules and mode. The phase is read at this moment (DEC-116).
    fn judge(
        &self,
        session: &Session,
        call: &ToolCall,
        plan: &mut PlannedCall,
        pre: &HookOutcome,
    ) -> Result<Verdict, StoreError> {
        let reader = self.store.reader()?;
        let conversation = &session.place.conversation;
        // What a module's tool does cannot be seen beforehand, as with a script.
        let gated = if session.modules.as_ref().is_some_and(|modules| modules.has_tool(&call.name)) {
            "Bash"
        } else {
            call.name.as_str()
        };
        let phase = reader.phase(conversation)?;
        if let Some(phase) = phase
            && let Some(closed) = planning_gate(phase, reader.has_approved_plan(conversation)?, gated)
        {
            return Ok(closed);
        }
        let opinion = pre.ruling.clone().map(|(ruling, ordinal, reason)| match ruling {
            Ruling::Ask => (ruling, ordinal, self.attributed(ordinal, reason)),
            Ruling::Allow | Ruling::Deny => (ruling, ordinal, reason),
        });
        let changes = || self.tools.get(&call.name).is_none_or(|tool| !tool.only_reads());
        if phase == Some(Phase::Planning) && call.name.starts_with("mcp__") && changes() {
            plan.judged = Some(Vec::new().into());
            let (tool, input, access) = (&call.name, &call.input, &plan.access);
            return Ok(session.with_rules(|rules| rules.decide_while_planning(tool, input, access, opinion)));
        }
        let judged =
            session.with_rules(|rules| rules.decide_with_paths(&call.name, &call.input, &plan.access, opinion));
        plan.judged = Some(judged.1.into());
        if judged.0.ruling != Ruling::Deny
            && self.author(session) == CallAuthor::Model
            && let Some(refused) = session.with_rules(|rules| rules.refuse_address(&plan.access))
        {
            return Ok(refused);
        }
        Ok(judged.0)
    }

    /// Who wrote the calls of a session here. An agent's calls are never the operator's.
    fn author(&self, session: &Session) -> CallAuthor {
        match self.operator.authors_calls() && session.agent_id.is_none() {
            true => CallAuthor::Operator,
            false => CallAuthor::Model,
        }
    }

    /// What a hook asks, with where the hook comes from: the person should know who
    /// asks.
    fn attributed(&self, ordinal: Ordinal, reason: String) -> String {
        let list = self.hooks.list();
        let Some(hook) = list.iter().find(|hook| hook.ordinal == ordinal) else { return reason };
        let scope = hook.source.split(':').next().unwrap_or_default();
        let mut letters = scope.chars();
        let name: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
        let name = if scope == "settings_snapshot" { "Settings".to_owned() } else { name };
        if reason.is_empty() { format!("[{name}] A hook asks.") } else { format!("[{name}] {reason}") }
    }

    async fn execute(
        &self,
        session: &mut Session,
        admitted: Admitted,
        trail: &mut Trail,
    ) -> Result<ToolResult, StoreError> {
        let Admitted { call, tool, plan, decision } = admitted;
        if session.cx.cancel.is_cancelled() {
            let result = ToolResult::rejected("Interrupted by the operator");
            records::result(&mut trail.group, &call.id, &result);
            return Ok(result);
        }
        let (kept, running) = match &session.checkpoints {
            Some(kept) => {
                let runs_anything = self.runs_anything(session, &call, &tool);
                kept.before(&self.store, session, edited_files(&plan), runs_anything).await?
            }
            None => None,
        }
        .unzip();
        let kept = kept.unwrap_or_default();
        self.announce(session, &call, &decision, std::mem::take(&mut trail.held), kept).await?;
        session.cx.prelude = session.env_file.text();
        let files = context::files(&call.name, &plan.access);
        session.cx.call = Some(call.id.clone());
        session.cx.author = self.author(session);
        let result = plan.run(&session.cx).await;
        let result = self.afterwards(session, &call, &tool, result, trail).await;
        // What hooks made of the files is part of how the call left them.
        if let Some(running) = running {
            trail.group.append(running.after().await);
        }
        for file in files.iter().filter(|_| !result.is_error()) {
            for (said, row) in context::brought_in(&self.hooks, session, file, Some(&call.id)).await {
                trail.chain(EventName::InstructionsLoaded, &call, &said);
                trail.group.push(row);
            }
        }
        trail.messages.extend(session.context.left_out());
        trail.group.0.extend(unfinished::running_row(session));
        Ok(result)
    }

    /// The hooks behind a tool, and the rows of its result.
    async fn afterwards(
        &self,
        session: &mut Session,
        call: &ToolCall,
        tool: &Arc<dyn AnyTool>,
        result: ToolResult,
        trail: &mut Trail,
    ) -> ToolResult {
        let post = firings::post_tool_use(session, call, tool, &result).written(&trail.written);
        let event = post.event;
        let outcome = self.hooks.fire(post).await;
        let (result, original) = result_changes::apply(&call.name, result, &outcome);
        records::result(&mut trail.group, &call.id, &result);
        if let Some(original) = original {
            records::replaced(&mut trail.group, &call.id, &original);
        }
        trail.chain(event, call, &outcome);
        records::post_messages(&mut trail.group, event, &call.id, &outcome);
        if let Some(unanswered) = firings::unanswered(session, call, tool, &result) {
            let outcome = self.hooks.fire_to(unanswered, |hook| hook.dialect.name() == "claude").await;
            trail.chain(EventName::PostToolUse, call, &outcome);
            records::post_messages(&mut trail.group, EventName::PostToolUse, &call.id, &outcome);
        }
        result_changes::user_messages(&outcome).for_each(|text| records::spoken(&mut trail.group, text));
        if let Some(new) = result.moved_to.clone() {
            let old = std::mem::replace(&mut session.cx.cwd, new.clone());
            let outcome = self.hooks.fire(firings::cwd_changed(session, &old, &new)).await;
            trail.chain(EventName::CwdChanged, call, &outcome);
            session.follow(&outcome, &self.hooks);
        }
        result
    }

    /// Hooks may look up what led to the call.
    async fn settle(&self, session: &Session, event: EventName, trail: &mut Trail) -> Result<(), StoreError> {
        if self.hooks.listens_to(event) { self.commit_held(session, trail).await } else { Ok(()) }
    }

    async fn commit_held(&self, session: &Session, trail: &mut Trail) -> Result<(), StoreError> {
        std::mem::take(&mut trail.held).commit(&self.store, &session.place).await
    }

    /// Whether the call may change files that it does not name.
    fn runs_anything(&self, session: &Session, call: &ToolCall, tool: &Arc<dyn AnyTool>) -> bool {
        call.name == "Bash"
            || call.name.starts_with("mcp__") && !tool.only_reads()
            || session.modules.as_ref().is_some_and(|modules| modules.has_tool(&call.name))
    }

    /// No tool body runs without a committed decision row, nor before the files it names are kept.
    async fn announce(
        &self,
        session: &Session,
        call: &ToolCall,
        decision: &Verdict,
        held: HeldRows,
        kept: Group,
    ) -> Result<(), StoreError> {
        let mut group = kept;
        group.log(LoggedEvent::ToolStarted {
            call: call.id.clone(),
            tool: call.name.clone(),
            decision: decision.reason(),
        });
        held.commit_with(&self.store, &session.place, group).await
    }
}

fn is_question(call: &ToolCall) -> bool {
    call.name == "AskUserQuestion"
}

/// One line about one hook.
fn told(run: &HookRun) -> String {
    let end = match (run.skipped, run.exit_code) {
        (Some(skip), _) => format!("skipped: {}", skip.as_str()),
        (None, Some(code)) => format!("exit {code}"),
        (None, None) => "no exit code".to_owned(),
    };
    format!("{} hook {} {end}: {}", run.event, run.ordinal, run.command)
}

/// A deny, a block or `continue: false` of PreToolUse hooks.
fn refused_by_hooks(pre: &HookOutcome) -> Option<Verdict> {
    if pre.is_denied() {
        let ordinal = match (pre.blocks.first(), &pre.ruling) {
            (Some((ordinal, _)), _) => *ordinal,
            (None, Some((_, ordinal, _))) => *ordinal,
            (None, None) => Ordinal(0),
        };
        let text = denial("Denied by PreToolUse hook", &pre.message());
        return Some(Verdict::new(Ruling::Deny, Authority::Hook(ordinal), text));
    }
    let (ordinal, reason) = pre.stop.as_ref()?;
    Some(Verdict::new(Ruling::Deny, Authority::Hook(*ordinal), format!("Stopped by hook: {reason}")))
}

/// A question that is answered already.
fn settled(verdict: Verdict, by: Authority, words: String) -> Verdict {
    match (verdict.ruling, &verdict.by) {
        (Ruling::Ask, Authority::Mode(_)) => Verdict::new(Ruling::Allow, by, words),
        _ => verdict,
    }
}

/// A question in the words of what is put before the person.
fn submitted(verdict: Verdict, words: &str) -> Verdict {
    match (verdict.ruling, &verdict.by) {
        (Ruling::Ask, Authority::Mode(_)) => Verdict { message: words.to_owned(), ..verdict },
        (Ruling::Ask, _) => Verdict { message: format!("{}\n{words}", verdict.message), ..verdict },
        _ => verdict,
    }
}

fn denial(prefix: &str, message: &str) -> String {
    if message.is_empty() { prefix.to_owned() } else { format!("{prefix}\n{message}") }
}
