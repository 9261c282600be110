//! One request to a model: sends the body, reads the response, classifies failures.
//!
//! It translates and classifies; it never retries and never waits longer than the
//! client's limits, because the turn decides that for every provider.

use crate::response::{BodyFormat, ResponseDecoder};
use crate::{EncodedMessages, WireFormat, classify, retry_after, transport};
use futures_util::stream;
use ona_api::Redactor;
use ona_api::model::{Delta, FailureClass, ModelFailure, Reply, RequestParams};
use ona_auth::{Credential, Endpoint};
use reqwest::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Body, Client, Response};
use secrecy::ExposeSecret;
use std::convert::Infallible;
use std::time::Duration;
use tokio_util::bytes::Bytes;
use tokio_util::sync::CancellationToken;

const ANTHROPIC_VERSION: &str = "2023-06-01";
/// Maximum number of bytes read from the body of a failed response.
const MAX_ERROR_BYTES: usize = 64 * 1024;
const ERROR_BODY_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the formal end of a complete reply may take ...
const STREAM_END_TIMEOUT: Duration = Duration::from_secs(2);
/// ... and, once that has come, the end of the HTTP response, without which the
/// connection cannot be used again.
const CONNECTION_END_TIMEOUT: Duration = Duration::from_millis(200);

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

    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Sends one request. `on_delta` sees the reply while it arrives, also if the request fails later.
    #[tracing::instrument(level = "debug", name = "model_request", skip_all, fields(model = %params.model, host = self.endpoint.url().host_str()))]
    pub async fn request(
        &self,
        params: &RequestParams,
        dialogue: &EncodedMessages,
        on_delta: &mut (dyn FnMut(Delta) + Send),
        cancel: &CancellationToken,
    ) -> Result<Reply, ModelFailure> {
        let body = dialogue.body(params);
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
        wire: WireFormat,
        body: Vec<Bytes>,
        on_delta: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<Reply, ModelFailure> {
        let length: usize = body.iter().map(Bytes::len).sum();
        let body = Body::wrap_stream(stream::iter(body.into_iter().map(Ok::<_, Infallible>)));
        let request = self.client.post(self.endpoint.url().clone()).headers(self.headers(wire));
        // Without a length the body would be sent in chunks, which not every server takes.
        let request = request.header(CONTENT_LENGTH, length).body(body);
        let mut response = request.send().await.map_err(|error| transport::failure(error, &self.endpoint))?;
        if !response.status().is_success() {
            return Err(failed_response(response).await);
        }
        let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let mut decoder = ResponseDecoder::new(wire, BodyFormat::of(content_type));
        loop {
            let outcome = match next(&mut response, &decoder).await {
                Ok(Some(bytes)) => decoder.push(bytes.as_ref(), on_delta),
                Ok(None) => break,
                Err(error) => Err(transport::failure(error, &self.endpoint)),
            };
            match outcome {
                Ok(()) => {}
                // What goes wrong after the model has finished does not matter.
                Err(_) if decoder.is_complete() => break,
                Err(failure) => return Err(failure),
            }
        }
        decoder.finish(on_delta)
    }

    fn headers(&self, wire: WireFormat) -> HeaderMap {
        let mut headers = match wire {
            WireFormat::Messages(_) => messages_headers(&self.credential),
            WireFormat::Chat(_) => self.credential.headers(),
        };
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
        headers
    }

    /// Knows the one secret a server could repeat to us.
    fn redactor(&self) -> Redactor {
        Redactor::new([("credential", self.credential.secret().expose_secret())])
    }
}

/// Returns the headers of a request to the Messages API: the credential, and the version of the interface.
pub fn messages_headers(credential: &Credential) -> HeaderMap {
    let mut headers = credential.headers();
    headers.insert("anthropic-version", HeaderValue::from_static(ANTHROPIC_VERSION));
    headers
}

/// Returns the next piece of the response. `None` is its end, or counts as such: a server that
/// has sent everything and keeps the connection open is not waited for.
async fn next(
    response: &mut Response,
    decoder: &ResponseDecoder,
) -> Result<Option<impl AsRef<[u8]> + use<>>, reqwest::Error> {
    let limit = match (decoder.is_over(), decoder.is_complete()) {
        (true, _) => CONNECTION_END_TIMEOUT,
        (false, true) => STREAM_END_TIMEOUT,
        (false, false) => return response.chunk().await,
    };
    tokio::time::timeout(limit, response.chunk()).await.unwrap_or(Ok(None))
}

async fn failed_response(mut response: Response) -> ModelFailure {
    let status = response.status().as_u16();
    let hints = retry_after::hints(response.headers());
    let mut body = Vec::new();
    let read = async {
        // The status alone says enough if the body breaks off.
        while body.len() < MAX_ERROR_BYTES
            && let Ok(Some(bytes)) = response.chunk().await
        {
            body.extend_from_slice(&bytes);
        }
    };
    // What came in time has to do.
    tokio::time::timeout(ERROR_BODY_TIMEOUT, read).await.ok();
    classify::http_error(status, hints, &body)
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
