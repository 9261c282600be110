//! Bytes and digests of the chain, as the head of this directory describes them.

use crate::chain::ChainedTable;
use ring::digest::{Context, SHA256};
use rusqlite::Row;
use rusqlite::types::ValueRef;

pub(crate) type Digest = [u8; 32];

/// What stands in for the hash before the first row.
pub(crate) const NO_HASH: Digest = [0; 32];

const ROW: &str = "ona row 1";
const GROUP: &str = "ona group 1";

/// Set in the table's byte of a row that was not written by us.
const FOREIGN: u8 = 128;

/// Hashes a sequence of values.
struct Hasher(Context);

impl Hasher {
    fn new(purpose: &str) -> Self {
        let mut hasher = Hasher(Context::new(&SHA256));
        hasher.add(ValueRef::Text(purpose.as_bytes()));
        hasher
    }

    fn add(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::Null => self.0.update(&[0]),
            ValueRef::Integer(number) => self.fixed(1, number.to_be_bytes()),
            ValueRef::Real(number) => self.fixed(2, number.to_bits().to_be_bytes()),
            ValueRef::Text(bytes) => self.sized(3, bytes),
            ValueRef::Blob(bytes) => self.sized(4, bytes),
        }
    }

    fn fixed(&mut self, class: u8, bytes: [u8; 8]) {
        let mut encoded = [class; 9];
        encoded[1..].copy_from_slice(&bytes);
        self.0.update(&encoded);
    }

    fn sized(&mut self, class: u8, bytes: &[u8]) {
        self.fixed(class, (bytes.len() as u64).to_be_bytes());
        self.0.update(bytes);
    }

    fn finish(self) -> Digest {
        let mut digest = NO_HASH;
        digest.copy_from_slice(self.0.finish().as_ref());
        digest
    }
}

/// Returns the digest of a row of a query over `ChainedTable::select`.
pub(crate) fn row_digest(table: ChainedTable, row: &Row<'_>) -> rusqlite::Result<Digest> {
    let mut hasher = Hasher::new(ROW);
    hasher.add(ValueRef::Text(table.name().as_bytes()));
    for column in 1..row.as_ref().column_count() {
        hasher.add(row.get_ref(column)?);
    }
    Ok(hasher.finish())
}

/// Returns the hash of a row of the chain from the hash before it and its columns but `hash`.
pub(crate) fn group_hash<'v>(before: ValueRef<'v>, columns: impl IntoIterator<Item = ValueRef<'v>>) -> Digest {
    let mut hasher = Hasher::new(GROUP);
    hasher.add(before);
    columns.into_iter().for_each(|value| hasher.add(value));
    hasher.finish()
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// One row that the chain lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListedRow {
    pub(crate) table: ChainedTable,
    pub(crate) is_foreign: bool,
    pub(crate) id: i64,
    pub(crate) digest: Digest,
}

impl ListedRow {
    /// Bytes of one row in `sdlc_chain.rows`.
    pub(crate) const SIZE: usize = 41;

    pub(crate) fn append_to(&self, list: &mut Vec<u8>) {
        let table = self.table.index() as u8 + 1;
        list.push(if self.is_foreign { table | FOREIGN } else { table });
        list.extend_from_slice(&self.id.to_be_bytes());
        list.extend_from_slice(&self.digest);
    }

    /// The rows of `sdlc_chain.rows`. `None` if these bytes are not such a list.
    pub(crate) fn read_all(list: &[u8]) -> Option<Vec<ListedRow>> {
        let (rows, rest) = list.as_chunks::<{ ListedRow::SIZE }>();
        if !rest.is_empty() {
            return None;
        }
        rows.iter().map(Self::read).collect()
    }

    fn read(row: &[u8; ListedRow::SIZE]) -> Option<ListedRow> {
        let (table, rest) = row.split_first()?;
        let (id, digest) = rest.split_first_chunk::<8>()?;
        let number = usize::from(table & !FOREIGN).checked_sub(1)?;
        Some(ListedRow {
            table: *ChainedTable::ALL.get(number)?,
            is_foreign: table & FOREIGN != 0,
            id: i64::from_be_bytes(*id),
            digest: Digest::try_from(digest).ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written out, because other verifiers depend on it.
    #[test]
    fn values_are_encoded_by_class_with_their_length() {
        let hash = |values: &[ValueRef<'_>]| group_hash(ValueRef::Blob(b"p"), values.iter().copied());
        let mut bytes = b"\x03\0\0\0\0\0\0\0\x0bona group 1\x04\0\0\0\0\0\0\0\x01p".to_vec();
        bytes.extend(b"\x00\x01\xff\xff\xff\xff\xff\xff\xff\xfe\x02\x3f\xf8\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\x02\xc3\xa9");
        let values = [ValueRef::Null, ValueRef::Integer(-2), ValueRef::Real(1.5), ValueRef::Text("é".as_bytes())];
        assert_eq!(hash(&values)[..], *ring::digest::digest(&SHA256, &bytes).as_ref());
    }

    #[test]
    fn a_list_is_read_as_it_was_written() {
        let row = |table, is_foreign, id| ListedRow { table, is_foreign, id, digest: [7; 32] };
        let rows = [row(ChainedTable::Transcript, false, 1), row(ChainedTable::Events, true, -5)];
        let mut list = Vec::new();
        rows.iter().for_each(|row| row.append_to(&mut list));
        assert_eq!(ListedRow::read_all(&list), Some(rows.to_vec()));
        assert_eq!(ListedRow::read_all(&list[1..]), None);
        for table in [0, 5, 127, 128, 133] {
            list[0] = table;
            assert_eq!(ListedRow::read_all(&list), None, "{table}");
        }
    }

    #[test]
    fn different_values_have_different_digests() {
        let text = |text: &'static str| ValueRef::Text(text.as_bytes());
        let lists: [&[ValueRef<'_>]; 9] = [
            &[],
            &[ValueRef::Null],
            &[text("")],
            &[text("1")],
            &[ValueRef::Integer(1)],
            &[ValueRef::Real(1.0)],
            &[ValueRef::Blob(b"1")],
            &[text("1"), text("")],
            &[text(""), text("1")],
        ];
        let digests: Vec<_> = lists.iter().map(|list| group_hash(ValueRef::Null, list.iter().copied())).collect();
        let unique: std::collections::BTreeSet<_> = digests.iter().collect();
        assert_eq!(unique.len(), digests.len());
    }
}
