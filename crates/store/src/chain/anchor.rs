//! An anchor: one line that names the newest row of a chain, to be kept where nobody who can
//! change the database can change it.
//!
//! `ona-anchor-1:DATABASE:GROUP:HASH:CHECK`. The last part is the beginning of the digest of what
//! stands before it: a mistyped anchor is refused, and does not look like a changed database.

use crate::chain::encoding::{Digest, hexadecimal};
use crate::chain::walk::{self, ChainLink};
use crate::error::StoreError;
use ring::digest::{SHA256, digest};
use rusqlite::Connection;
use std::fmt;
use std::str::FromStr;

const FORM: &str = "ona-anchor-1";
const CHECK: usize = 8;

/// A row of a chain, by its hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// The random id of the database.
    pub database: String,
    pub group: i64,
    pub(crate) hash: Digest,
}

/// The text is not an anchor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnchorError {
    #[error("{0:?} is not an anchor; one begins with ona-anchor-1: and ona audit anchor prints it")]
    Form(String),
    #[error("the anchor {0:?} was not copied as it was printed: its last part does not fit the rest")]
    Check(String),
}

impl Anchor {
    /// The anchor of the newest row. `None` if that row has no hash or the chain no id.
    pub(crate) fn of(database: Option<&str>, link: &ChainLink) -> Option<Anchor> {
        Some(Anchor { database: database?.to_owned(), group: link.group, hash: link.hash? })
    }

    /// Hash in hexadecimal.
    pub fn hash(&self) -> String {
        hexadecimal(&self.hash)
    }
}

/// Returns the anchor of the chain as it ends now, and when that row was written.
pub(crate) fn newest(connection: &Connection) -> Result<Option<(Anchor, String)>, StoreError> {
    let Some(link) = walk::newest(connection)? else { return Ok(None) };
    let database = walk::database_id(connection)?;
    Ok(Anchor::of(database.as_deref(), &link).map(|anchor| (anchor, link.written_at)))
}

impl fmt::Display for Anchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{FORM}:{}:{}:{}", self.database, self.group, self.hash());
        write!(f, "{text}:{}", check(&text))
    }
}

impl FromStr for Anchor {
    type Err = AnchorError;

    fn from_str(text: &str) -> Result<Self, AnchorError> {
        let text = text.trim();
        let bad = || AnchorError::Form(text.to_owned());
        let (rest, last) = text.rsplit_once(':').ok_or_else(bad)?;
        let [form, database, group, hash] = rest.split(':').collect::<Vec<_>>()[..] else { return Err(bad()) };
        let group = group.parse().ok();
        let (Some(group), Some(hash)) = (group, digest_of(hash)) else { return Err(bad()) };
        if form != FORM || database.len() != 32 || !database.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(bad());
        }
        if last != check(rest) {
            return Err(AnchorError::Check(text.to_owned()));
        }
        Ok(Anchor { database: database.to_owned(), group, hash })
    }
}

fn check(text: &str) -> String {
    hexadecimal(digest(&SHA256, text.as_bytes()).as_ref())[..CHECK].to_owned()
}

fn digest_of(text: &str) -> Option<Digest> {
    let mut found = Digest::default();
    if text.len() != 2 * found.len() || !text.is_ascii() {
        return None;
    }
    for (at, byte) in found.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_anchor_is_read_as_it_was_printed_and_nothing_else_is() {
        let anchor = Anchor { database: "0123456789abcdef".repeat(2), group: 12, hash: [0xab; 32] };
        let text = anchor.to_string();
        assert_eq!(text.parse::<Anchor>(), Ok(anchor.clone()));
        assert_eq!(format!(" {text}\n").parse::<Anchor>(), Ok(anchor));
        for at in 0..text.len() {
            let mut other = text.clone().into_bytes();
            other[at] = if other[at] == b'1' { b'2' } else { b'1' };
            let other = String::from_utf8(other).unwrap();
            assert!(other.parse::<Anchor>().is_err(), "{other}");
        }
        for bad in ["", "ona-anchor-1", "x", &text[1..], &text[..text.len() - 1], &format!("{text}:")] {
            assert!(bad.parse::<Anchor>().is_err(), "{bad}");
        }
    }
}
