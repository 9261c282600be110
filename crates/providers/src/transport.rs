//! Failures between us and the server, as model failures.

use crate::classify;
use ona_api::model::{FailureClass, ModelFailure};
use ona_auth::{Endpoint, http};

/// No answer, or the end of one in the middle. The URL is left out: it can hold a password.
pub(crate) fn failure(error: reqwest::Error, endpoint: &Endpoint) -> ModelFailure {
    let server = endpoint.shown();
    if error.is_builder() {
        let message = format!("the request cannot be built: {}", http::describe_error(error));
        return ModelFailure { class: FailureClass::InvalidRequest, transient: false, ..classify::server(message) };
    }
    let (connecting, silent) = (error.is_connect(), error.is_timeout());
    let words = http::describe_error(error);
    if connecting {
        // A certificate that is wrong now is wrong in a second too.
        let transient = !words.contains("certificate");
        return ModelFailure { transient, ..classify::server(format!("no connection to {server}: {words}")) };
    }
    classify::server(match silent {
        true => format!("{server} sent nothing for too long (setting modelTimeouts.idleSeconds)"),
        false => format!("the connection to {server} broke: {words}"),
    })
}
