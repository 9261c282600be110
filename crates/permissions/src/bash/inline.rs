//! Programs written into arguments: sed, awk, SQL, one-liners.
//!
//! Each function answers whether the text may do more than read its input and
//! print. They know a small harmless language; everything else may.

use super::words::ShellWord;

/// Returns whether a sed script may run a command or name a file.
pub(super) fn sed(args: &[ShellWord]) -> bool {
    let mut scripts = Vec::new();
    let mut given = false;
    let mut at = 0;
    while let Some(word) = args.get(at) {
        at += 1;
        let text = word.text.as_str();
        if let Some(script) = text.strip_prefix("--expression=") {
            scripts.push(script);
            given = true;
        } else if text == "-e" || text == "--expression" {
            scripts.extend(args.get(at).map(|word| word.text.as_str()));
            (at, given) = (at + 1, true);
        } else if let Some(script) = text.strip_prefix("-e") {
            scripts.push(script);
            given = true;
        } else if text.starts_with("--file") || (text.starts_with('-') && !text.starts_with("--") && text.contains('f'))
        {
            return true;
        } else if word.is_option() && !text.starts_with("--") && text.ends_with('e') {
            scripts.extend(args.get(at).map(|word| word.text.as_str()));
            (at, given) = (at + 1, true);
        } else if !word.is_option() && !given {
            scripts.push(text);
            given = true;
        }
    }
    !scripts.iter().all(|script| Sed(script.as_bytes()).is_harmless())
}

/// The rest of a sed script.
struct Sed<'a>(&'a [u8]);

impl Sed<'_> {
    fn is_harmless(&mut self) -> bool {
        loop {
            while let [b' ' | b'\t' | b'\n' | b';' | b'}', rest @ ..] = self.0 {
                self.0 = rest;
            }
            if self.0.is_empty() {
                return true;
            }
            if !self.addresses() {
                return false;
            }
            match self.next() {
                Some(
                    b'{' | b'p' | b'P' | b'd' | b'D' | b'=' | b'n' | b'N' | b'g' | b'G' | b'h' | b'H' | b'x' | b'z'
                    | b'l',
                ) => {}
                Some(b'q' | b'Q') => {
                    while self.0.first().is_some_and(u8::is_ascii_digit) {
                        self.next();
                    }
                }
                // Text, up to the end of the line. `i\` and `a\` with more lines are left alone.
                Some(b'a' | b'i' | b'c') => {
                    let end = self.0.iter().position(|b| *b == b'\n').unwrap_or(self.0.len());
                    if self.0[..end].ends_with(b"\\") {
                        return false;
                    }
                    self.0 = &self.0[end..];
                }
                Some(b's') if self.substitution() => {}
                Some(b'y') if self.delimited(2) => {}
                Some(b'b' | b't' | b'T' | b':') => {
                    let end = self.0.iter().position(|b| matches!(b, b';' | b'\n' | b'}')).unwrap_or(self.0.len());
                    self.0 = &self.0[end..];
                }
                // `e` runs, `w` and `W` write, `r` and `R` read; anything else is not known.
                _ => return false,
            }
        }
    }

    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn addresses(&mut self) -> bool {
        loop {
            match self.0 {
                [b'0'..=b'9' | b'$' | b',' | b'!' | b'~' | b'+' | b' ', ..] => {
                    self.next();
                }
                [b'/', ..] => {
                    if !self.delimited(1) {
                        return false;
                    }
                    while let [b'I' | b'M', rest @ ..] = self.0 {
                        self.0 = rest;
                    }
                }
                _ => return true,
            }
        }
    }

    fn substitution(&mut self) -> bool {
        if !self.delimited(2) {
            return false;
        }
        while let [b'g' | b'p' | b'i' | b'I' | b'm' | b'M' | b'0'..=b'9', rest @ ..] = self.0 {
            self.0 = rest;
        }
        matches!(self.0.first(), None | Some(b';' | b'\n' | b'}' | b' '))
    }

    /// `/…/` once, or `/…/…/`.
    fn delimited(&mut self, parts: usize) -> bool {
        let Some(mark) = self.next().filter(|b| b.is_ascii_punctuation() && *b != b'\\') else { return false };
        for _ in 0..parts {
            loop {
                match self.next() {
                    None => return false,
                    Some(b'\\') => {
                        self.next();
                    }
                    Some(byte) if byte == mark => break,
                    Some(_) => {}
                }
            }
        }
        true
    }
}

/// Returns whether an awk program may run a command, write or load something.
pub(super) fn awk(args: &[ShellWord]) -> bool {
    args.iter().any(|word| {
        let text = word.text.as_str();
        let piped = text.replace("||", "").contains('|');
        piped
            || text.contains('>')
            || ["system", "getline", "@load", "@include", "@/"].iter().any(|word| text.contains(word))
            || ["--file", "--include", "--load", "--exec"].iter().any(|option| text.starts_with(option))
            || matches!(text.get(..2), Some("-f" | "-i" | "-l" | "-E"))
    })
}

/// Returns whether a statement for a database client may leave the database.
pub(super) fn sql(args: &[ShellWord]) -> bool {
    args.iter().any(|word| {
        let text = word.text.to_ascii_lowercase();
        let dotted = text.lines().any(|line| {
            // `.hidden/x.db` is a file.
            line.trim_start().strip_prefix('.').is_some_and(|rest| {
                let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
                end > 0 && !rest[end..].starts_with(['/', '.'])
            })
        });
        dotted
            || text.contains('\\')
            || [
                "program",
                "outfile",
                "dumpfile",
                "attach",
                "load_extension",
                "readfile",
                "writefile",
                "edit(",
                "system ",
                "source ",
                "copy ",
            ]
            .iter()
            .any(|word| text.contains(word))
    })
}

/// Returns how an interpreter is handed a program on its command line.
pub(super) fn interpreter(name: &str, args: &[ShellWord]) -> Option<&'static str> {
    let family = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let (short, long): (&str, &[&str]) = match family {
        "python" | "pypy" => ("c", &[]),
        "perl" => ("eEMmiI", &[]),
        "ruby" => ("erI", &[]),
        "node" | "nodejs" | "bun" | "tsx" => {
            ("epr", &["--eval", "--print", "--require", "--import", "--loader", "--experimental-loader"])
        }
        "deno" => ("", &["eval"]),
        "php" => ("rBRE", &["--run"]),
        "lua" | "luajit" | "Rscript" | "osascript" | "groovy" | "julia" | "swift" | "scala" => ("eE", &["--eval"]),
        "gdb" | "lldb" => return None,
        _ => return None,
    };
    let inline = args.iter().take_while(|word| word.is_option() || word.text == "eval").any(|word| {
        let text = word.text.split('=').next().unwrap_or_default();
        long.contains(&text) || (word.is_option() && !text.starts_with("--") && text.contains(|c| short.contains(c)))
    });
    if inline {
        return Some("code on its command line");
    }
    let version =
        args.iter().any(|word| matches!(word.text.as_str(), "--version" | "-V" | "-v" | "--help" | "-h" | "-m"));
    (!version && args.iter().all(|word| word.is_option() || word.text == "-")).then_some("code on its input")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(args: &[&str]) -> Vec<ShellWord> {
        args.iter().map(|text| ShellWord::plain(text)).collect()
    }

    #[test]
    fn harmless_sed_scripts_are_known() {
        for script in [
            "s/x/y/",
            "s|a/b|c|g",
            "1,5p",
            "/re/d",
            "$d;1p",
            "s/a\\/b/c/2;s/x/y/",
            "/a/,/b/{p;d}",
            "y/abc/xyz/",
            "1i text",
        ] {
            assert!(!sed(&words(&[script, "f"])), "{script}");
        }
        for script in
            ["s/x/touch c/e", "e touch c", "1e", "w f", "s/x/y/w f", "r /etc/passwd", "s/x/y/gew f", "s/x", "W f", "?"]
        {
            assert!(sed(&words(&[script])), "{script}");
            assert!(sed(&words(&["-n", "-e", script])), "-e {script}");
        }
        assert!(
            sed(&words(&["-f", "x.sed", "f"]))
                && sed(&words(&["-ne", "1e", "f"]))
                && !sed(&words(&["-i.bak", "s/a/b/", "f"]))
        );
    }

    #[test]
    fn one_liners_are_recognised() {
        for (name, args) in [
            ("python3", &["-c", "1"][..]),
            ("python3.12", &["-c1"]),
            ("perl", &["-pe", "s/a/b/"]),
            ("node", &["--eval=1"]),
            ("ruby", &["-e", "1"]),
            ("python3", &[]),
            ("python3", &["-"]),
        ] {
            assert!(interpreter(name, &words(args)).is_some(), "{name} {args:?}");
        }
        for (name, args) in [
            ("python3", &["x.py", "-c"][..]),
            ("python3", &["-m", "pytest"]),
            ("node", &["--version"]),
            ("ls", &["-e"]),
        ] {
            assert!(interpreter(name, &words(args)).is_none(), "{name} {args:?}");
        }
    }
}
