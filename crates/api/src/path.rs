//! Paths as text. Rules and tools normalise paths here, so that both see the same path.

use std::path::{Component, Path, PathBuf};

/// Removes `.` and resolves `..` in the text, without the file system; the parent of the
/// root is the root.
pub fn lexical(path: &Path) -> PathBuf {
    let mut clean = PathBuf::with_capacity(path.as_os_str().len());
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_resolved_on_the_text() {
        let cases = [("/a/./b/../c", "/a/c"), ("/../../x", "/x"), ("/a/../../..", "/"), ("/", "/")];
        for (path, expected) in cases {
            assert_eq!(lexical(Path::new(path)), Path::new(expected), "{path}");
        }
    }
}
