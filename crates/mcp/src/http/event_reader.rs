//! The events of a response, one after another.

use super::LONGEST;
use ona_api::sse::{SseDecoder, SseEvent};
use reqwest::Response;
use std::collections::VecDeque;
use std::time::Duration;

pub(crate) struct EventReader {
    response: Response,
    decoder: SseDecoder,
    ready: VecDeque<SseEvent>,
}

impl EventReader {
    pub(crate) fn new(response: Response) -> Self {
        Self { response, decoder: SseDecoder::new(LONGEST), ready: VecDeque::new() }
    }

    /// Returns the next event; `None` at the end of the stream, however it ended. Nothing is
    /// lost if the caller stops waiting.
    pub(crate) async fn next(&mut self) -> Option<SseEvent> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            let chunk = self.response.chunk().await.ok().flatten()?;
            let mut events = Vec::new();
            if let Err(error) = self.decoder.push(&chunk, &mut events) {
                tracing::debug!(%error, "a stream is not read any further");
                return None;
            }
            self.ready.extend(events);
        }
    }

    /// Returns the id after which a server can go on.
    pub(crate) fn last_id(&self) -> Option<&str> {
        self.decoder.last_id()
    }

    /// Returns how long the server wants to be left alone before it is asked again.
    pub(crate) fn retry(&self) -> Option<Duration> {
        self.decoder.retry()
    }
}
