//! A call that rules leave open: request hooks, then the person, and what their answers bring.

use super::{Pipeline, Trail, denial, is_question};
use crate::firings;
use crate::operator::{OperatorAnswer, PermissionQuestion};
use crate::records;
use crate::session::Session;
use ona_api::permission_update::PermissionUpdate;
use ona_api::{Access, Authority, EventName, Ruling, ToolCall, Verdict};
use ona_files::PathForms;
use ona_hookplane::{HookOutcome, RequestDecision};
use ona_permissions::Explanation;
use ona_store::StoreError;
use ona_tools::{AnyTool, PlannedCall};
use serde_json::{Map, Value};
use std::path::Path;
use std::sync::Arc;

impl Pipeline {
    /// Finds an answer to an ask: request hooks first, then the person.
    pub(super) async fn resolve(
        &self,
        session: &mut Session,
        call: &mut ToolCall,
        tool: &Arc<dyn AnyTool>,
        plan: &mut PlannedCall,
        mut asked: Verdict,
        trail: &mut Trail,
    ) -> Result<Verdict, StoreError> {
        let explained = explained(session, call, &plan.access, &asked);
        let request = self.hooks.fire(firings::permission_request(session, call, tool, &explained.remember)).await;
        trail.chain(EventName::PermissionRequest, call, &request);
        match request.permission_request() {
            Some((ordinal, RequestDecision::Deny { message, interrupt })) => {
                if interrupt {
                    trail.stop = Some(message.clone());
                }
                let text = denial("Denied by PermissionRequest hook", &message);
                return Ok(Verdict::new(Ruling::Deny, Authority::Hook(ordinal), text));
            }
            // The floor's question is not a hook's to answer (DEC-183); nothing of such an answer counts.
            Some((ordinal, RequestDecision::Allow { input: None, .. })) if asked.by.asks_a_person() => {
                let allowed = format!("The allow of PermissionRequest hook {ordinal} does not answer this.");
                asked.message = format!("{}\n{allowed}", asked.message);
            }
            Some((ordinal, RequestDecision::Allow { input, updates })) => {
                let by = Authority::Hook(ordinal);
                if !asked.by.asks_a_person() {
                    self.update(session, &updates, trail);
                }
                let Some(input) = input else { return Ok(Verdict::new(Ruling::Allow, by, "")) };
                if let Err(bad) = self.rewrite(session, call, tool, plan, input.into(), trail) {
                    return Ok(Verdict::new(Ruling::Deny, by, format!("A hook changed the input: {bad}")));
                }
                // A rewritten call is judged like a new one: an allow must not carry
                // something else past a rule. The question it was given for is answered.
                let again = self.judge(session, call, plan, &HookOutcome::default())?;
                let same = again.by == asked.by && !again.by.asks_a_person();
                let answered = matches!(again.by, Authority::Mode(_)) || same;
                match again.ruling {
                    Ruling::Deny => return Ok(again),
                    Ruling::Ask if !answered => {}
                    Ruling::Ask | Ruling::Allow => return Ok(Verdict::new(Ruling::Allow, by, "")),
                }
                return self.confirm(session, call, tool, plan, again, trail).await;
            }
            None => {}
        }
        self.confirm(session, call, tool, plan, asked, trail).await
    }

    /// Puts a question to the person, who sees what a yes would mean.
    pub(crate) async fn prompt_operator(
        &self,
        session: &Session,
        call: &ToolCall,
        access: &[Access],
        asked: &Verdict,
    ) -> OperatorAnswer {
        let explanation = explained(session, call, access, asked);
        let agent = session.agent_id.as_deref();
        let plan = (call.name == "ExitPlanMode").then(|| call.input["plan"].as_str()).flatten();
        self.operator.confirm(PermissionQuestion { call, agent, asked, explanation, plan }).await
    }

    /// The person's word, and what comes with it.
    pub(super) async fn confirm(
        &self,
        session: &mut Session,
        call: &mut ToolCall,
        tool: &Arc<dyn AnyTool>,
        plan: &mut PlannedCall,
        asked: Verdict,
        trail: &mut Trail,
    ) -> Result<Verdict, StoreError> {
        // At once and not after a while: what hooks hear must not depend on how fast one answers.
        if self.operator.can_answer_questions() && self.hooks.listens_to(EventName::Notification) {
            let heard = self.hooks.fire(firings::waits_for_answer(session, call)).await;
            trail.chain(EventName::Notification, call, &heard);
        }
        let mut answer = self.prompt_operator(session, call, &plan.access, &asked).await;
        trail.interrupt |= answer.interrupt;
        if !answer.verdict.is_allow() {
            return Ok(answer.verdict);
        }
        // The row says what the person was asked.
        if asked.by.asks_a_person() && answer.verdict.message.is_empty() {
            answer.verdict.message.clone_from(&asked.message);
        }
        self.update(session, &answer.updates, trail);
        let answered = answer.input.map(|input| with_earlier_answers(call, input));
        if let Some(input) = answered.map(Value::from).filter(|input| *input != call.input) {
            if let Err(bad) = self.rewrite(session, call, tool, plan, input, trail) {
                let words = format!("The input was changed to one the tool cannot use: {bad}");
                return Ok(Verdict::new(Ruling::Deny, answer.verdict.by, words));
            }
            // The person has seen the input they wrote, so only a deny is left.
            let again = self.judge(session, call, plan, &HookOutcome::default())?;
            if again.ruling == Ruling::Deny {
                return Ok(again);
            }
            // A tool of a server is not that person (DEC-183).
            if again.ruling == Ruling::Ask
                && again.by.asks_a_person()
                && matches!(answer.verdict.by, Authority::PromptTool(_))
            {
                let words = format!("Denied: only a person can allow this. {}", again.message);
                return Ok(Verdict::new(Ruling::Deny, Authority::Headless, words));
            }
        }
        Ok(answer.verdict)
    }

    /// Resolves and judges the paths of an allowed call once more: a question takes time,
    /// and what was answered may not be there any more (DEC-184).
    pub(super) fn judge_again(
        &self,
        session: &Session,
        call: &ToolCall,
        plan: &mut PlannedCall,
        pre: &HookOutcome,
        answered: Verdict,
        trail: &mut Trail,
    ) -> Result<Verdict, StoreError> {
        if !answered.is_allow() || plan.judged.as_ref().is_none_or(|paths| paths.is_empty()) {
            return Ok(answered);
        }
        trail.judged.extend(plan.judged.take().iter().flat_map(|paths| paths.iter().cloned()));
        let again = self.judge(session, call, plan, pre)?;
        if let Some(denied) = plan.judged.as_deref().and_then(|now| moved(&trail.judged, now)) {
            return Ok(denied);
        }
        // The answer itself may have changed the mode; it was given before that.
        let denied = again.ruling == Ruling::Deny && !matches!(again.by, Authority::Mode(_));
        Ok(if denied { again } else { answered })
    }

    /// Another input in place of the one there was, planned anew.
    fn rewrite(
        &self,
        session: &Session,
        call: &mut ToolCall,
        tool: &Arc<dyn AnyTool>,
        plan: &mut PlannedCall,
        input: Value,
        trail: &mut Trail,
    ) -> Result<(), String> {
        records::rewritten(&mut trail.group, EventName::PermissionRequest, call, &input);
        trail.judged.extend(plan.judged.take().iter().flat_map(|paths| paths.iter().cloned()));
        trail.written.clone_from(&input);
        *plan = Arc::clone(tool).plan(&input, &session.cx).map_err(|bad| bad.to_string())?;
        call.input = plan.input.clone();
        Ok(())
    }

    fn update(&self, session: &mut Session, updates: &[PermissionUpdate], trail: &mut Trail) {
        for update in updates {
            match session.update_rules(update) {
                Ok(rows) => trail.group.append(rows),
                Err(why) => trail.messages.push(format!("A permission change was not made: {why}")),
            }
        }
    }
}

/// The refusal of a path that leads somewhere else than when it was asked about, or through
/// another folder of the same name.
pub(crate) fn moved(before: &[PathForms], now: &[PathForms]) -> Option<Verdict> {
    let refusal = |path: &Path, what: String| {
        let path = ona_permissions::printable(&path.to_string_lossy());
        let message = format!("Denied: {path} {what}. Nothing was opened.");
        Verdict::new(Ruling::Deny, Authority::Protected(path), message)
    };
    let differs = |is: &PathForms| before.iter().find(|was| was.given == is.given && was.real != is.real);
    if let Some((was, is)) = now.iter().find_map(|is| Some((differs(is)?, is))) {
        let shown = |forms: &PathForms| match &forms.real {
            Some(real) => ona_permissions::printable(&real.to_string_lossy()),
            None => "a place that cannot be resolved".to_owned(),
        };
        let (was, now) = (shown(was), shown(is));
        return Some(refusal(&is.given, format!("led to {was} when this was asked about and leads to {now} now")));
    }
    let used = |was: &&PathForms| now.iter().any(|is| is.given == was.given);
    let folder = before.iter().filter(used).find_map(PathForms::replaced_folder)?;
    Some(refusal(folder, "is not the folder it was when this was asked about".to_owned()))
}

fn explained(session: &Session, call: &ToolCall, access: &[Access], asked: &Verdict) -> Explanation {
    let mut explanation = session.with_rules(|rules| rules.explain(&call.name, &call.input, access));
    // No allow rule lifts the question of an ask rule.
    if matches!(asked.by, Authority::Rule(_)) {
        explanation.remember.clear();
    }
    explanation
}

/// What a hook has answered stays answered where the person says nothing else.
fn with_earlier_answers(call: &ToolCall, mut input: Map<String, Value>) -> Map<String, Value> {
    if let (true, Some(earlier)) = (is_question(call), call.input["answers"].as_object()) {
        let mut answers = earlier.clone();
        if let Some(Value::Object(later)) = input.remove("answers") {
            answers.extend(later);
        }
        input.insert("answers".into(), answers.into());
    }
    input
}
