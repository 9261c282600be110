//! What a WebSearch call of the operator is signed with (DEC-100, DEC-133).

use crate::launch::{Launch, OpenProject};
use crate::model_choice;
use crate::runtime::Runtime;
use ona_orchestration::{CurrentModel, Model, search_access};
use ona_web::MessagesAccess;
use std::sync::Arc;

/// Returns `None` where no model is configured that could be asked: a search then needs none.
pub fn operator_search_access(launch: &Launch, open: &OpenProject, runtime: &Runtime) -> Option<MessagesAccess> {
    let chosen = model_choice::model(launch, open, None, &runtime.settings, &runtime.operators).ok()?;
    let model = chosen.choice.and_then(|choice| Model::new(choice, chosen.setup)).ok()?;
    Some(search_access(&CurrentModel::new(Arc::new(model))))
}
