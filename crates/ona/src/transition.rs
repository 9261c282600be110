//! `ona --transition PHASE --conversation ID` (DEC-102).

use crate::failure::Failure;
use crate::output;
use crate::program::{Program, at};
use ona_api::{ConversationId, Phase};
use ona_store::StoreError;
use ona_trust::How;
use ona_workflow::{Facts, transition};
use serde_json::json;

pub fn run(program: &Program, phase: &str) -> Result<u8, Failure> {
    let to: Phase = phase.parse().map_err(Failure::usage)?;
    let Some(id) = &program.options.conversation else {
        return Err(Failure::usage("--transition needs --conversation ID"));
    };
    let id = ConversationId::from(id.as_str());
    program.operator_only("the phase")?;
    let open = program.open()?;
    let store = &open.store;
    program.effective(&open, How::FirstUseOnly)?;
    let reader = store.reader().map_err(|error| program.store_failure(error))?;
    let facts = || -> Result<Option<Facts>, StoreError> {
        let Some(phase) = reader.phase(&id)? else { return Ok(None) };
        Ok(Some(Facts {
            phase,
            has_approved_plan: reader.has_approved_plan(&id)?,
            report_approved: program.options.approve,
        }))
    };
    let facts = facts().map_err(|error| program.store_failure(error))?;
    let facts = facts.ok_or_else(|| Failure::usage(format_args!("there is no conversation {id}")))?;
    let group = transition(facts, to).map_err(Failure::refused)?;
    store.commit_now(&at(&id, ""), group).map_err(|error| program.store_failure(error))?;
    output::json(&json!({"conversation_id": id, "from": facts.phase.as_str(), "to": to.as_str()}));
    Ok(0)
}
