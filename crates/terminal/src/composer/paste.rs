//! What a paste is: text, or the path of an image.

use std::path::PathBuf;

const IMAGES: [&str; 5] = ["png", "jpg", "jpeg", "gif", "webp"];

/// Returns the paths if the paste is nothing but paths of images, as terminals write them when files are dropped on
/// them: quoted, with escaped spaces, or as `file://` addresses.
pub(crate) fn image_paths(text: &str) -> Option<Vec<PathBuf>> {
    let words = words(text.trim())?;
    let paths: Vec<PathBuf> = words.into_iter().map(image_path).collect::<Option<_>>()?;
    (!paths.is_empty()).then_some(paths)
}

fn image_path(word: String) -> Option<PathBuf> {
    let (_, extension) = word.rsplit_once('.')?;
    if !IMAGES.contains(&extension.to_ascii_lowercase().as_str()) {
        return None;
    }
    match word.strip_prefix("file://") {
        Some(path) => Some(PathBuf::from(percent_decoded(path.strip_prefix("localhost").unwrap_or(path))?)),
        // A bare name could be a word of a sentence; a path says where it is.
        None => word.contains('/').then(|| PathBuf::from(word)),
    }
}

fn percent_decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        let mut digit = || rest.next().and_then(|byte| char::from(byte).to_digit(16));
        bytes.push(match byte {
            b'%' => u8::try_from(digit()? * 16 + digit()?).ok()?,
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

/// Splits one line at spaces that are neither quoted nor escaped.
fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\n', _) => return None,
            (c, Some(open)) if c == open => quote = None,
            (c, Some(_)) => word.push(c),
            ('"' | '\'', None) => quote = Some(c),
            ('\\', None) => word.push(chars.next()?),
            (' ', None) => words.extend((!word.is_empty()).then(|| std::mem::take(&mut word))),
            (c, None) => word.push(c),
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::image_paths;

    #[test]
    fn dropped_files_are_images() {
        for (paste, expected) in [
            ("/tmp/a.png", Some(vec!["/tmp/a.png"])),
            (" '/tmp/my shot.PNG' ", Some(vec!["/tmp/my shot.PNG"])),
            ("/tmp/my\\ shot.jpg ./b.webp", Some(vec!["/tmp/my shot.jpg", "./b.webp"])),
            ("file:///tmp/my%20shot.gif", Some(vec!["/tmp/my shot.gif"])),
            ("see /tmp/a.png", None),
            ("/tmp/a.txt", None),
            ("a.png", None),
            ("/tmp/a.png\n/tmp/b.png", None),
            ("'/tmp/a.png", None),
            ("", None),
        ] {
            let found = image_paths(paste);
            let expected = expected.map(|paths| paths.into_iter().map(std::path::PathBuf::from).collect());
            assert_eq!(found, expected, "{paste}");
        }
    }
}
