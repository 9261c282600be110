//! What the program and its keeper say to each other.
//!
//! A request is a length, with the descriptors of the child attached to its first byte, and
//! that many bytes that describe it; a length of zero is the farewell. Each child has a
//! socket of its own, on which the keeper answers with notes of eight bytes: first whether
//! it runs, later how it ended. Both sides are the same build of the same executable, so
//! nothing here has a version.

use crate::spawn::ChildSpec;
use crate::wall::WallOrder;
use ona_api::Env;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use std::ffi::OsString;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// Standard input, output and error of a child, and the socket for notes about it.
const DESCRIPTORS: usize = 4;

/// What the program asks for.
pub(super) enum KeeperRequest {
    Start { spec: ChildSpec, streams: [OwnedFd; 3], notes: UnixStream },
    Farewell,
}

pub(super) fn send_start(
    control: &UnixStream,
    spec: &ChildSpec,
    streams: [BorrowedFd<'_>; 3],
    notes: &UnixStream,
) -> io::Result<()> {
    let body = encode(spec);
    let length = u32::try_from(body.len()).map_err(|_| io::ErrorKind::ArgumentListTooLong)?;
    let [stdin, stdout, stderr] = streams;
    let descriptors: [_; DESCRIPTORS] = [stdin, stdout, stderr, notes.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut attached = SendAncillaryBuffer::new(&mut space);
    if !attached.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::Error::other("the descriptors do not fit"));
    }
    let length = length.to_ne_bytes();
    let sent = sendmsg(control, &[IoSlice::new(&length)], &mut attached, SendFlags::NOSIGNAL)?;
    let mut control = control;
    control.write_all(&length[sent..])?;
    control.write_all(&body)
}

pub(super) fn send_farewell(mut control: &UnixStream) -> io::Result<()> {
    control.write_all(&0_u32.to_ne_bytes())
}

/// Receives a request that has begun to arrive from a socket that does not block. `None`: the
/// program is gone. An error of the kind `WouldBlock`: nothing has arrived.
pub(super) fn receive(control: &UnixStream) -> io::Result<Option<KeeperRequest>> {
    let mut length = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut attached = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    let received = recvmsg(control, &mut [IoSliceMut::new(&mut length)], &mut attached, flags)?.bytes;
    if received == 0 {
        return Ok(None);
    }
    let mut descriptors = attached.drain().flat_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => descriptors.collect(),
        _ => Vec::new(),
    });
    // The rest is on its way.
    control.set_nonblocking(false)?;
    let mut control = control;
    control.read_exact(&mut length[received..])?;
    let length = u32::from_ne_bytes(length);
    if length == 0 {
        return Ok(Some(KeeperRequest::Farewell));
    }
    let mut descriptor = || descriptors.next().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData));
    let streams = [descriptor()?, descriptor()?, descriptor()?];
    let notes = UnixStream::from(descriptor()?);
    let mut body = Vec::new();
    control.take(length.into()).read_to_end(&mut body)?;
    control.set_nonblocking(true)?;
    let spec = decode(&body).ok_or(io::ErrorKind::InvalidData)?;
    Ok(Some(KeeperRequest::Start { spec, streams, notes }))
}

/// What the keeper says about a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeeperNote {
    Started {
        id: i32,
    },
    /// It could not be started: the system's number for why.
    Failed {
        error: i32,
    },
    /// It ended with this status, as `wait` returns it.
    Ended {
        status: i32,
    },
}

impl KeeperNote {
    pub(super) const LENGTH: usize = 8;

    pub(super) fn to_bytes(self) -> [u8; Self::LENGTH] {
        let (kind, value) = match self {
            Self::Started { id } => (0_i32, id),
            Self::Failed { error } => (1, error),
            Self::Ended { status } => (2, status),
        };
        let mut bytes = [0; Self::LENGTH];
        bytes[..4].copy_from_slice(&kind.to_ne_bytes());
        bytes[4..].copy_from_slice(&value.to_ne_bytes());
        bytes
    }

    pub(super) fn from_bytes(bytes: [u8; Self::LENGTH]) -> Option<Self> {
        let [a, b, c, d, e, f, g, h] = bytes;
        let value = i32::from_ne_bytes([e, f, g, h]);
        match i32::from_ne_bytes([a, b, c, d]) {
            0 => Some(Self::Started { id: value }),
            1 => Some(Self::Failed { error: value }),
            2 => Some(Self::Ended { status: value }),
            _ => None,
        }
    }
}

/// Every string with its length before it: strings of a child are any bytes.
fn encode(spec: &ChildSpec) -> Vec<u8> {
    let mut body = Vec::new();
    body.extend_from_slice(&spec.mark.unwrap_or_default().to_ne_bytes());
    body.push(u8::from(spec.of_agent));
    let mut add = |text: &[u8]| {
        // Longer than the system lets a child have is refused by it, not here.
        body.extend_from_slice(&u64::try_from(text.len()).unwrap_or(u64::MAX).to_ne_bytes());
        body.extend_from_slice(text);
    };
    match &spec.wall {
        Some(wall) => wall.write(&mut add),
        None => add(b""),
    }
    add(spec.program.as_bytes());
    add(spec.cwd.as_os_str().as_bytes());
    add(spec.args.len().to_string().as_bytes());
    spec.args.iter().for_each(|arg| add(arg.as_bytes()));
    for (name, value) in spec.env.iter() {
        add(name.as_bytes());
        add(value.as_bytes());
    }
    body
}

fn decode(body: &[u8]) -> Option<ChildSpec> {
    let (mark, rest) = body.split_first_chunk()?;
    let (of_agent, mut rest) = rest.split_first()?;
    let mut next = || {
        let (length, after) = rest.split_first_chunk()?;
        let (text, after) = after.split_at_checked(usize::try_from(u64::from_ne_bytes(*length)).ok()?)?;
        rest = after;
        Some(OsString::from_vec(text.to_vec()))
    };
    let wall = match next()? {
        none if none.is_empty() => None,
        first => Some(Arc::new(WallOrder::read(&first, &mut next)?)),
    };
    let (program, cwd) = (next()?, next()?.into());
    let count: usize = next()?.to_str()?.parse().ok()?;
    let args = (0..count).map(|_| next()).collect::<Option<_>>()?;
    let env = Env::new(std::iter::from_fn(|| Some((next()?, next()?))));
    let mark = Some(u64::from_ne_bytes(*mark)).filter(|mark| *mark != 0);
    Some(ChildSpec { program, args, cwd, env, mark, of_agent: *of_agent != 0, wall })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ona_sandbox::{Mechanism, Network, WallPolicy};

    #[test]
    fn a_description_arrives_as_it_was_sent() {
        let spec = ChildSpec {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), String::new().into(), OsString::from_vec(vec![0xff, b'\n'])],
            cwd: "/tmp".into(),
            env: Env::default().with("A", "").with("B", OsString::from_vec(vec![0xfe])),
            mark: Some(7),
            of_agent: true,
            wall: Some(Arc::new(WallOrder {
                policy: WallPolicy {
                    read_only: vec!["/a b".into(), OsString::from_vec(vec![b'/', 0xfc]).into()],
                    hidden: vec!["/h".into()],
                    workspace: Some(Vec::new()),
                    network: Network::Off,
                    protected_processes: vec![1, 70_000],
                    ..WallPolicy::default()
                },
                mechanisms: vec![Mechanism::Seccomp, Mechanism::Landlock],
            })),
        };
        assert_eq!(decode(&encode(&spec)), Some(spec.clone()));
        let bare = ChildSpec { args: Vec::new(), env: Env::default(), mark: None, of_agent: false, wall: None, ..spec };
        assert_eq!(decode(&encode(&bare)), Some(bare));
    }

    #[test]
    fn notes_arrive_as_they_were_sent() {
        for note in [KeeperNote::Started { id: 4 }, KeeperNote::Failed { error: 2 }, KeeperNote::Ended { status: -1 }] {
            assert_eq!(KeeperNote::from_bytes(note.to_bytes()), Some(note));
        }
        assert_eq!(KeeperNote::from_bytes([9; KeeperNote::LENGTH]), None);
    }
}
