//! Receives the browser on 127.0.0.1, once.
//!
//! Any page can send requests to a port of this machine, and a name of another site can be made to
//! lead there. A request for another host, from a page of another origin, with another path or
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

    /// Whether a request was meant for this machine. A browser that was led here by another name says that name.
    fn is_own_host(&self, host: Option<&str>) -> bool {
        let port = self.redirect.port().unwrap_or(80);
        let names = ["127.0.0.1", "localhost", "[::1]"];
        host.is_some_and(|host| names.iter().any(|name| host.eq_ignore_ascii_case(&format!("{name}:{port}"))))
    }

    /// A browser that is sent back names no origin, or one that it does not tell.
    fn is_own_origin(&self, origin: Option<&str>) -> bool {
        origin.is_none_or(|origin| origin == "null" || origin == self.redirect.origin().ascii_serialization())
    }

    /// Waits for the answer that carries this state.
    pub async fn answer(&self, state: &str) -> io::Result<PastedCode> {
        loop {
            let (mut stream, _) = self.listener.accept().await?;
            let Ok(Some(request)) = timeout(PATIENCE, read_request(&mut stream)).await else { continue };
            let Request { target, host, origin } = request;
            if !self.is_own_host(host.as_deref()) || !self.is_own_origin(origin.as_deref()) {
                reply(&mut stream, "403 Forbidden", "This request is not one of the login that ona waits for.").await;
                continue;
            }
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

/// What is looked at of a request.
struct Request {
    target: String,
    host: Option<String>,
    origin: Option<String>,
}

/// Reads a GET request; `None` for anything else. A header that occurs twice is not believed.
async fn read_request(stream: &mut TcpStream) -> Option<Request> {
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
    let head = String::from_utf8(head).ok()?;
    let mut lines = head.split("\r\n");
    let mut words = lines.next()?.split(' ');
    let target = match (words.next(), words.next()) {
        (Some("GET"), Some(target)) if target.starts_with('/') => target.to_owned(),
        _ => return None,
    };
    let (mut host, mut origin) = (None, None);
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        let known = match name.to_ascii_lowercase().as_str() {
            "host" => &mut host,
            "origin" => &mut origin,
            _ => continue,
        };
        if known.replace(value.trim().to_owned()).is_some() {
            return None;
        }
    }
    Some(Request { target, host, origin })
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
            let own = format!("host: 127.0.0.1:{}", listener.redirect().port().unwrap());
            for (line, headers) in [
                ("GET /favicon.ico", own.as_str()),
                ("GET //other.example/callback?code=a&state=st", &own),
                ("GET /callback?code=evil&state=other", &own),
                ("POST /callback?code=evil&state=st", &own),
                // A name of another site that leads here, a page of another site, and nobody at all.
                ("GET /callback?code=evil&state=st", "host: evil.test"),
                ("GET /callback?code=evil&state=st", &own.replace("127.0.0.1", "evil.test")),
                ("GET /callback?code=evil&state=st", "host: 127.0.0.1"),
                ("GET /callback?code=evil&state=st", &format!("{own}\r\norigin: https://evil.test")),
                ("GET /callback?code=evil&state=st", &format!("{own}\r\nhost: evil.test")),
                ("GET /callback?code=evil&state=st", "accept: */*"),
                ("GET /callback?code=good&state=st", &own.replace("127.0.0.1", "LOCALHOST")),
            ] {
                let request = &format!("{line} HTTP/1.1\r\n{headers}\r\n\r\n");
                answers.push(get(&listener, request).await);
            }
            answers
        };
        let (answers, code) = tokio::join!(browser, listener.answer("st"));
        assert_eq!(code.unwrap(), PastedCode::Code("good".to_owned()));
        let status = |number: &str| format!("HTTP/1.1 {number}");
        let forbidden = || status("403 Forbidden");
        assert_eq!(
            answers,
            [
                status("404 Not Found"),
                status("404 Not Found"),
                status("400 Bad Request"),
                String::new(),
                forbidden(),
                forbidden(),
                forbidden(),
                forbidden(),
                String::new(),
                forbidden(),
                status("200 OK"),
            ]
        );
    }
}
