//! The fingerprint by which a file is recognised later.
//!
//! Up to one block it is the SHA-256 of the bytes. A larger file is hashed block
//! by block, in bounded memory, and its fingerprint is the SHA-256 of the
//! blocks' hexadecimal digests in order.

use ona_api::digest::sha256_hex;
use std::io::{self, Read};

const BLOCK: usize = 16 * 1024 * 1024;

#[derive(Default)]
pub(crate) struct Fingerprint {
    block: Vec<u8>,
    digests: String,
}

impl Fingerprint {
    pub(crate) fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.block.len() == BLOCK {
                self.digests.push_str(&sha256_hex(&self.block));
                self.block.clear();
            }
            let (now, later) = bytes.split_at(bytes.len().min(BLOCK - self.block.len()));
            self.block.extend_from_slice(now);
            bytes = later;
        }
    }

    pub(crate) fn finish(mut self) -> String {
        let last = sha256_hex(&self.block);
        if self.digests.is_empty() {
            return last;
        }
        self.digests.push_str(&last);
        sha256_hex(self.digests.as_bytes())
    }
}

/// Returns the fingerprint of everything `source` still has to give.
pub fn fingerprint(mut source: impl Read) -> io::Result<String> {
    let mut state = Fingerprint::default();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return Ok(state.finish()),
            Ok(n) => state.update(&buffer[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_block_is_plain_sha256_and_splitting_does_not_matter() {
        assert_eq!(fingerprint(&b"abc"[..]).unwrap(), sha256_hex(b"abc"));
        let exact = vec![7u8; BLOCK];
        assert_eq!(fingerprint(&exact[..]).unwrap(), sha256_hex(&exact));

        let large = vec![7u8; BLOCK + 1];
        let mut pieces = Fingerprint::default();
        large.chunks(1_000_003).for_each(|piece| pieces.update(piece));
        let blocks = sha256_hex(&large[..BLOCK]) + &sha256_hex(&large[BLOCK..]);
        assert_eq!(pieces.finish(), sha256_hex(blocks.as_bytes()));
        assert_eq!(fingerprint(&large[..]).unwrap(), sha256_hex(blocks.as_bytes()));
    }
}
