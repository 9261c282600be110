//! With what a search of the Messages API is sent: the credential and the model of the session.

use crate::model::CurrentModel;
use ona_web::MessagesAccess;
use std::sync::Arc;

/// The model is looked up for each search, because a session can change it.
pub fn search_access(current_model: &CurrentModel) -> MessagesAccess {
    let current_model = current_model.clone();
    Arc::new(move |cancel| {
        let model = current_model.model();
        Box::pin(async move { model.search_access(&cancel).await })
    })
}
