//! As much of HTTP/1.1 as a client of a model API needs.
//!
//! A request is read without taking its last byte off the socket: the kernel answers
//! a close with unread bytes by RST, which is the only way to a reset that `std` has.
//! `IncomingRequest::take_last` makes the connection an ordinary one again.

use std::io::{self, Read, Write};
use std::net::TcpStream;

/// On every answer, so that it is not mistaken for a model's.
pub(super) const LABEL: (&str, &str) = ("x-ona-scripted", "1");
pub(super) const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

const MAX_HEAD: usize = 64 << 10;
const MAX_BODY: u64 = 512 << 20;

pub(super) struct IncomingRequest {
    pub method: String,
    pub target: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

pub(super) enum Broken {
    /// Nobody is there to be told.
    Gone,
    /// The client sent a request that cannot be read.
    Bad(u16, &'static str),
}

impl From<io::Error> for Broken {
    fn from(_: io::Error) -> Self {
        Broken::Gone
    }
}

const MALFORMED: Broken = Broken::Bad(400, "the request is malformed");
const LARGE_BODY: Broken = Broken::Bad(413, "the body is larger than this server takes");

/// Returns the next request on a connection.
pub(super) fn read(stream: &TcpStream) -> Result<IncomingRequest, Broken> {
    let (head, on_socket) = peek_head(stream)?;
    let head = String::from_utf8_lossy(&head);
    let mut lines = head.lines();
    let mut request_line = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (request_line.next(), request_line.next(), request_line.next(), request_line.next())
    else {
        return Err(MALFORMED);
    };
    if version != "HTTP/1.1" {
        return Err(Broken::Bad(505, "this server speaks HTTP/1.1"));
    }
    let headers: Option<Vec<_>> = lines
        .filter(|line| !line.is_empty())
        .map(|line| line.split_once(':').map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())))
        .collect();
    let mut incoming = IncomingRequest {
        method: method.to_owned(),
        target: target.to_owned(),
        headers: headers.ok_or(MALFORMED)?,
        body: Vec::new(),
    };
    let length = match incoming.header("content-length") {
        Some(length) => length.parse().map_err(|_| MALFORMED)?,
        None => 0,
    };
    let chunked = incoming.header("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked"));
    let has_body = chunked || length > 0;
    take(stream, if has_body { on_socket } else { on_socket - 1 })?;
    if has_body && incoming.header("expect").is_some_and(|what| what.eq_ignore_ascii_case("100-continue")) {
        let mut stream = stream;
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    if chunked {
        incoming.body = read_chunks(stream)?;
    } else if length > MAX_BODY {
        return Err(LARGE_BODY);
    } else if length > 0 {
        append(stream, length - 1, &mut incoming.body)?;
        incoming.body.push(peek_byte(stream)?);
    }
    Ok(incoming)
}

impl IncomingRequest {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }

    pub(crate) fn take_last(stream: &TcpStream) -> io::Result<()> {
        take(stream, 1)
    }
}

pub(super) fn find<'h>(headers: &'h [(String, String)], name: &str) -> Option<&'h str> {
    headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// Returns a head up to and with its empty line, and how much of it is still on the socket.
fn peek_head(stream: &TcpStream) -> Result<(Vec<u8>, usize), Broken> {
    let mut head = Vec::new();
    let mut buffer = [0; 16 << 10];
    loop {
        let seen = match stream.peek(&mut buffer)? {
            0 => return Err(Broken::Gone),
            seen => seen,
        };
        let before = head.len();
        head.extend_from_slice(&buffer[..seen]);
        let from = before.saturating_sub(3);
        if let Some(at) = head[from..].windows(4).position(|four| four == b"\r\n\r\n") {
            head.truncate(from + at + 4);
            let on_socket = head.len() - before;
            return Ok((head, on_socket));
        }
        if head.len() > MAX_HEAD {
            return Err(Broken::Bad(431, "the headers are larger than this server takes"));
        }
        take(stream, seen)?;
    }
}

fn read_chunks(stream: &TcpStream) -> Result<Vec<u8>, Broken> {
    let mut body = Vec::new();
    loop {
        let line = read_line(stream)?;
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = u64::from_str_radix(size, 16).map_err(|_| MALFORMED)?;
        if size == 0 {
            break;
        }
        if size > MAX_BODY - body.len() as u64 {
            return Err(LARGE_BODY);
        }
        append(stream, size, &mut body)?;
        if !read_line(stream)?.is_empty() {
            return Err(MALFORMED);
        }
    }
    // Trailers, up to an empty line whose line feed stays.
    while read_byte(stream)? != b'\r' {
        read_line(stream)?;
    }
    if peek_byte(stream)? != b'\n' {
        return Err(MALFORMED);
    }
    Ok(body)
}

/// Returns a short line without its end, read byte by byte so that nothing behind it is taken.
fn read_line(stream: &TcpStream) -> Result<String, Broken> {
    let mut line = Vec::new();
    loop {
        match read_byte(stream)? {
            b'\n' => break,
            byte => line.push(byte),
        }
        if line.len() > MAX_HEAD {
            return Err(MALFORMED);
        }
    }
    Ok(String::from_utf8_lossy(&line).trim_end_matches('\r').to_owned())
}

fn read_byte(mut stream: &TcpStream) -> io::Result<u8> {
    let mut byte = [0];
    stream.read_exact(&mut byte)?;
    Ok(byte[0])
}

fn peek_byte(stream: &TcpStream) -> Result<u8, Broken> {
    let mut byte = [0];
    match stream.peek(&mut byte)? {
        0 => Err(Broken::Gone),
        _ => Ok(byte[0]),
    }
}

/// Grows with what arrives, whatever length was announced.
fn append(stream: &TcpStream, length: u64, into: &mut Vec<u8>) -> Result<(), Broken> {
    let read = stream.take(length).read_to_end(into)?;
    if read as u64 == length { Ok(()) } else { Err(Broken::Gone) }
}

fn take(mut stream: &TcpStream, bytes: usize) -> io::Result<()> {
    let mut scratch = [0; 16 << 10];
    stream.read_exact(&mut scratch[..bytes])
}

pub(super) fn head<'h>(status: u16, headers: impl IntoIterator<Item = (&'h str, &'h str)>) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} {}\r\n", reason(status));
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += "\r\n";
    head.into_bytes()
}

/// Writes an answer of the server itself, outside of any script.
pub(super) fn refusal(status: u16, text: &str) -> Vec<u8> {
    let length = (text.len() + 1).to_string();
    let headers = [("content-type", "text/plain"), LABEL, ("content-length", &length), ("connection", "close")];
    let mut answer = head(status, headers);
    answer.extend(text.bytes().chain([b'\n']));
    answer
}

pub(super) fn chunk(bytes: &[u8]) -> Vec<u8> {
    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
    chunk.extend_from_slice(bytes);
    chunk.extend_from_slice(b"\r\n");
    chunk
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        413 => "Payload Too Large",
        422 => "Unprocessable Entity",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        529 => "Overloaded",
        _ => "Scripted",
    }
}
