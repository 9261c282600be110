//! SHA-256 in hexadecimal, and base64 for attachments.

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
pub fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().enumerate().fold(0u32, |word, (i, byte)| word | u32::from(*byte) << (16 - 8 * i));
        for i in 0..4 {
            if i <= chunk.len() {
                text.push(ALPHABET[(word >> (18 - 6 * i) & 63) as usize] as char);
            } else {
                text.push('=');
            }
        }
    }
    text
}

/// Decodes base64 in the standard alphabet, with or without padding; line ends and
/// spaces are ignored. Returns `None` if the text contains anything else.
pub fn from_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut word, mut digits, mut padding) = (0u32, 0usize, 0usize);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => {
                padding += 1;
                continue;
            }
            _ => return None,
        };
        if padding > 0 {
            return None;
        }
        word = word << 6 | u32::from(digit);
        digits += 1;
        if digits % 4 == 0 {
            bytes.extend_from_slice(&word.to_be_bytes()[1..]);
            word = 0;
        }
    }
    match digits % 4 {
        0 if padding == 0 => {}
        2 if matches!(padding, 0 | 2) => bytes.push((word >> 4) as u8),
        3 if matches!(padding, 0 | 1) => bytes.extend_from_slice(&((word >> 2) as u16).to_be_bytes()),
        _ => return None,
    }
    Some(bytes)
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
