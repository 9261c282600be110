//! SHA-256 in hexadecimal, and base64 for attachments.

use base64::engine::general_purpose::{GeneralPurpose, NO_PAD, PAD, STANDARD};
use base64::{Engine, alphabet};
use std::fmt::Write;
use std::io::{self, Read};

pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&ring::digest::digest(&ring::digest::SHA256, bytes))
}

/// Returns the digest of everything a reader returns, without keeping it in memory.
pub fn sha256_of(mut reader: impl Read) -> io::Result<String> {
    let mut digest = ring::digest::Context::new(&ring::digest::SHA256);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(hex(&digest.finish())),
            count => digest.update(&buffer[..count]),
        }
    }
}

fn hex(digest: &ring::digest::Digest) -> String {
    digest.as_ref().iter().fold(String::with_capacity(64), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a String cannot fail");
        text
    })
}

/// Encodes bytes as standard base64 with padding.
/// Returns what a server answers to the key of a WebSocket (RFC 6455). Not for secrets.
pub fn websocket_accept(key: &str) -> String {
    const SUFFIX: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    let sum = ring::digest::digest(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY, format!("{key}{SUFFIX}").as_bytes());
    base64(sum.as_ref())
}

pub fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Decodes base64 in the standard alphabet, with or without padding; line ends and
/// spaces are ignored. Returns `None` if the text contains anything else.
pub fn from_base64(text: &str) -> Option<Vec<u8>> {
    // Encoders differ in what they leave in the last bits, which carry no data.
    const PADDED: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, PAD.with_decode_allow_trailing_bits(true));
    const BARE: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, NO_PAD.with_decode_allow_trailing_bits(true));
    let text: String = text.split_ascii_whitespace().collect();
    let engine = if text.ends_with('=') { PADDED } else { BARE };
    engine.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers() {
        assert_eq!(sha256_hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(sha256_of(&b"abc"[..]).unwrap(), sha256_hex(b"abc"));
        let encoded: Vec<_> = ["", "f", "fo", "foo", "foob"].iter().map(|t| base64(t.as_bytes())).collect();
        assert_eq!(encoded, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]);
    }

    #[test]
    fn base64_is_read_back() {
        for length in 0..70u8 {
            let bytes: Vec<u8> = (0..length).map(|byte| byte.wrapping_mul(37)).collect();
            let text = base64(&bytes);
            assert_eq!(from_base64(&text), Some(bytes.clone()));
            assert_eq!(from_base64(text.trim_end_matches('=')), Some(bytes));
        }
        assert_eq!(from_base64(" Zm9v\nYg== \n").as_deref(), Some(b"foob".as_slice()));
        for wrong in ["Z", "Zg=", "Zm8==", "Zm9v=", "Z=g=", "Zm9*", "Zm9vY", "é"] {
            assert_eq!(from_base64(wrong), None, "{wrong}");
        }
    }
}
