//! Receives the browser on 127.0.0.1, once.
//!
//! Any page can send requests to a port of this machine. A request with another path or
//! another state is answered and changes nothing; the one that has the state of this attempt
//! ends the listener.

use super::pasted::{PastedCode, read_query};
use reqwest::Url;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

const PATH: &str = "/callback";
/// A request line longer than this is not the browser's.
const MAX_HEAD: usize = 16 * 1024;
/// Connections that say nothing must not keep the browser waiting.
const PATIENCE: Duration = Duration::from_secs(5);

pub struct CallbackListener {
    listener: TcpListener,
    redirect: Url,
}

impl CallbackListener {
    pub async fn bind() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let redirect = Url::parse(&format!("http://127.0.0.1:{port}{PATH}")).expect("an address and a path");
        Ok(Self { listener, redirect })
    }

    /// Listens for a login to an MCP server, whose clients are registered with this name of the
    /// machine; `port` is that of a client that is registered with one.
    pub async fn bind_local(port: Option<u16>) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port.unwrap_or(0))).await?;
        let port = listener.local_addr()?.port();
        let redirect = Url::parse(&format!("http://localhost:{port}{PATH}")).expect("an address and a path");
        Ok(Self { listener, redirect })
    }

    /// Returns the address to which the server sends the browser back.
    pub fn redirect(&self) -> &Url {
        &self.redirect
    }

    /// Waits for the answer that carries this state.
    pub async fn answer(&self, state: &str) -> io::Result<PastedCode> {
        loop {
            let (mut stream, _) = self.listener.accept().await?;
            let Ok(Some(target)) = timeout(PATIENCE, request_target(&mut stream)).await else { continue };
            let url = self
                .redirect
                .join(&target)
                .ok()
                .filter(|url| url.path() == PATH && url.origin() == self.redirect.origin());
            let Some(url) = url else {
                reply(&mut stream, "404 Not Found", "This address belongs to a login of ona.").await;
                continue;
            };
            match read_query(&url, state) {
                PastedCode::OtherState | PastedCode::NotACode | PastedCode::Nothing => {
                    reply(
                        &mut stream,
                        "400 Bad Request",
                        "This answer does not belong to the login that ona waits for. Nothing was changed.",
                    )
                    .await;
                }
                answer @ PastedCode::Declined { .. } => {
                    reply(
                        &mut stream,
                        "200 OK",
                        "The login was not approved. You can close this page; ona says more in the terminal.",
                    )
                    .await;
                    return Ok(answer);
                }
                answer @ PastedCode::Code(_) => {
                    reply(
                        &mut stream,
                        "200 OK",
                        "ona has received the answer. You can close this page and return to the terminal.",
                    )
                    .await;
                    return Ok(answer);
                }
            }
        }
    }
}

/// Returns the target of a GET request; `None` for anything else.
async fn request_target(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut buffer = [0; 2048];
    // Read to the end of the head: a browser whose request is not read gets no answer.
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = stream.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        head.extend_from_slice(&buffer[..count]);
        if head.len() > MAX_HEAD {
            return None;
        }
    }
    let line = head.split(|byte| *byte == b'\r').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split(' ');
    match (words.next(), words.next()) {
        (Some("GET"), Some(target)) if target.starts_with('/') => Some(target.to_owned()),
        _ => None,
    }
}

async fn reply(stream: &mut TcpStream, status: &str, sentence: &str) {
    let page = format!("<!doctype html><meta charset=utf-8><title>ona</title><p>{sentence}\n");
    // No referrer and no cache: the address of this page holds the code.
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\n\
         cache-control: no-store\r\nreferrer-policy: no-referrer\r\nconnection: close\r\n\r\n",
        page.len()
    );
    let sent = timeout(PATIENCE, async {
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(page.as_bytes()).await?;
        stream.shutdown().await
    });
    if !matches!(sent.await, Ok(Ok(()))) {
        tracing::debug!("the browser did not wait for the page");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn get(listener: &CallbackListener, request: &str) -> String {
        let port = listener.redirect().port().unwrap();
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.ok();
        answer.lines().next().unwrap_or_default().to_owned()
    }

    #[tokio::test]
    async fn only_the_answer_with_the_state_ends_the_listener() {
        let listener = CallbackListener::bind().await.unwrap();
        let browser = async {
            let mut answers = Vec::new();
            for request in [
                "GET /favicon.ico HTTP/1.1\r\n\r\n",
                "GET //other.example/callback?code=a&state=st HTTP/1.1\r\n\r\n",
                "GET /callback?code=evil&state=other HTTP/1.1\r\n\r\n",
                "POST /callback?code=evil&state=st HTTP/1.1\r\n\r\n",
                "GET /callback?code=good&state=st HTTP/1.1\r\nhost: x\r\n\r\n",
            ] {
                answers.push(get(&listener, request).await);
            }
            answers
        };
        let (answers, code) = tokio::join!(browser, listener.answer("st"));
        assert_eq!(code.unwrap(), PastedCode::Code("good".to_owned()));
        assert_eq!(
            answers,
            ["HTTP/1.1 404 Not Found", "HTTP/1.1 404 Not Found", "HTTP/1.1 400 Bad Request", "", "HTTP/1.1 200 OK"]
        );
    }
}
