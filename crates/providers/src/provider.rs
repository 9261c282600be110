//! One call to a model: sends a body, reads the answer, names what went wrong.
//!
//! It translates and classifies; it never retries and never waits longer than the
//! client's limits, because the turn decides that for every provider.

use crate::reading::{Format, Reading};
use crate::{Dialogue, Wire, classify, retry_after, transport};
use ona_api::Redactor;
use ona_api::model::{Delta, FailureClass, ModelFailure, Reply, RequestParams};
use ona_auth::{Credential, Endpoint};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Response};
use secrecy::ExposeSecret;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const ANTHROPIC_VERSION: &str = "2023-06-01";
/// What is read of the body of a failed answer.
const MAX_ERROR_BYTES: usize = 64 * 1024;
const FOR_AN_EXPLANATION: Duration = Duration::from_secs(5);
/// Once the reply is whole, how long its formal end may take ...
const FOR_THE_REST: Duration = Duration::from_secs(2);
/// ... and, once that has come, the end of the HTTP answer, without which the
/// connection can not be used again.
const FOR_THE_END: Duration = Duration::from_millis(200);

#[derive(Clone, Debug)]
pub struct Provider {
    client: Client,
    endpoint: Endpoint,
    credential: Credential,
}

impl Provider {
    pub fn new(client: Client, endpoint: Endpoint, credential: Credential) -> Self {
        Self { client, endpoint, credential }
    }

    /// A credential can change between calls: helpers print new keys, tokens are refreshed.
    pub fn set_credential(&mut self, credential: Credential) {
        self.credential = credential;
    }

    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Asks once. `on_delta` sees the reply while it arrives, also if the call fails later.
    #[tracing::instrument(level = "debug", name = "model_request", skip_all, fields(model = %asking.model, host = self.endpoint.url().host_str()))]
    pub async fn ask(
        &self,
        asking: &RequestParams,
        dialogue: &Dialogue,
        on_delta: &mut (dyn FnMut(Delta) + Send),
        cancel: &CancellationToken,
    ) -> Result<Reply, ModelFailure> {
        let body = dialogue.body(asking);
        let outcome = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(interrupted()),
            outcome = self.exchange(dialogue.wire(), body, on_delta) => outcome,
        };
        match outcome {
            Ok(reply) => {
                tracing::debug!(usage = ?reply.usage, "answered");
                Ok(reply)
            }
            Err(failure) => {
                let failure = classify::presentable(failure, &self.redactor());
                tracing::debug!(status = failure.status, transient = failure.transient, why = %failure.message, "failed");
                Err(failure)
            }
        }
    }

    async fn exchange(
        &self,
        wire: Wire,
        body: Vec<u8>,
        on_delta: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<Reply, ModelFailure> {
        let request = self.client.post(self.endpoint.url().clone()).headers(self.headers(wire)).body(body);
        let mut answer = request.send().await.map_err(|error| transport::failure(error, &self.endpoint))?;
        if !answer.status().is_success() {
            return Err(refusal(answer).await);
        }
        let content_type = answer.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let mut reading = Reading::new(wire, Format::of(content_type));
        loop {
            let outcome = match next(&mut answer, &reading).await {
                Ok(Some(bytes)) => reading.push(bytes.as_ref(), on_delta),
                Ok(None) => break,
                Err(error) => Err(transport::failure(error, &self.endpoint)),
            };
            match outcome {
                Ok(()) => {}
                // What goes wrong after the model has finished does not matter.
                Err(_) if reading.is_complete() => break,
                Err(failure) => return Err(failure),
            }
        }
        reading.finish(on_delta)
    }

    fn headers(&self, wire: Wire) -> HeaderMap {
        let mut headers = self.credential.headers();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
        if let Wire::Messages(_) = wire {
            headers.insert("anthropic-version", HeaderValue::from_static(ANTHROPIC_VERSION));
        }
        headers
    }

    /// Knows the one secret a server could repeat to us.
    fn redactor(&self) -> Redactor {
        Redactor::new([("credential", self.credential.secret().expose_secret())])
    }
}

/// The next piece of the answer. `None` is its end, or what we take for it: a server that
/// has said everything and keeps the connection open is not waited for.
async fn next(answer: &mut Response, reading: &Reading) -> Result<Option<impl AsRef<[u8]> + use<>>, reqwest::Error> {
    let patience = match (reading.is_over(), reading.is_complete()) {
        (true, _) => FOR_THE_END,
        (false, true) => FOR_THE_REST,
        (false, false) => return answer.chunk().await,
    };
    tokio::time::timeout(patience, answer.chunk()).await.unwrap_or(Ok(None))
}

async fn refusal(mut answer: Response) -> ModelFailure {
    let status = answer.status().as_u16();
    let hints = retry_after::hints(answer.headers());
    let mut body = Vec::new();
    let read = async {
        // The status alone says enough if the body breaks off.
        while body.len() < MAX_ERROR_BYTES
            && let Ok(Some(bytes)) = answer.chunk().await
        {
            body.extend_from_slice(&bytes);
        }
    };
    tokio::time::timeout(FOR_AN_EXPLANATION, read).await.ok();
    classify::answer(status, hints, &body)
}

fn interrupted() -> ModelFailure {
    ModelFailure {
        class: FailureClass::Unknown,
        message: "interrupted".to_owned(),
        transient: false,
        retry_after: None,
        status: None,
    }
}
