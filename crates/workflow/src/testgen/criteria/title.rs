//! Determines which headings announce criteria, and which word in front of one is its id.

/// Returns whether a heading says "success criteria" or "acceptance criteria", after its
/// numbering (DEC-120).
pub(super) fn is_criteria(heading: &str) -> bool {
    let plain: String = heading.chars().filter(|c| !matches!(c, '*' | '_' | '`' | '[' | ']')).collect();
    let words = without_numbering(&plain).to_lowercase();
    let mut words = words.split_whitespace();
    let first = matches!(words.next(), Some("success" | "acceptance"));
    let second = words.next().and_then(|word| word.strip_prefix("criteria"));
    first && second.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

/// Returns whether a list item is nothing but such a heading: bold, or with a colon at its end.
pub(super) fn is_heading(item: &str) -> bool {
    (bold(item).is_some() || item.ends_with(':')) && is_criteria(item)
}

/// Returns the text of a line that is bold from end to end.
pub(super) fn bold(line: &str) -> Option<&str> {
    let line = line.strip_suffix(':').unwrap_or(line);
    let inner = ["**", "__"].iter().find_map(|mark| {
        let inner = line.strip_prefix(mark)?.strip_suffix(mark)?;
        (!inner.is_empty() && !inner.contains(mark)).then_some(inner)
    })?;
    Some(inner.strip_suffix(':').unwrap_or(inner).trim())
}

/// Title and rest of a line such as `Success criteria: it prints the version`.
pub(super) fn before_colon(line: &str) -> Option<(&str, &str)> {
    let (title, rest) = line.split_once(':')?;
    let rest = rest.trim_start_matches(['*', '_']).trim();
    // A sentence that merely begins with these words is not a title.
    let bare = title.trim_matches(['*', '_', ' ']);
    let exact = without_numbering(bare).split_whitespace().count() == 2;
    (exact && !rest.is_empty() && is_criteria(title)).then_some((title, rest))
}

/// Drops `3.`, `3.1)`, `(a)`, `IV.`, and whatever is not a letter in front of a word.
fn without_numbering(text: &str) -> &str {
    let mut text = text;
    loop {
        text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
        let end = text.find(char::is_whitespace).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        let bare = word.trim_end_matches(['.', ')', ':', '-', '–', '—']);
        let number = bare.starts_with(|c: char| c.is_ascii_digit())
            && bare.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | ')'));
        let letter = bare.len() < word.len()
            && (bare.chars().count() == 1 || bare.chars().all(|c| matches!(c.to_ascii_uppercase(), 'I' | 'V' | 'X')));
        if !(number || letter) || rest.is_empty() {
            return text;
        }
        text = rest;
    }
}

/// Returns an item without its task box.
pub(super) fn without_box(item: &str) -> String {
    let rest = ["[ ]", "[x]", "[X]"].iter().find_map(|mark| item.strip_prefix(mark));
    rest.filter(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
        .map_or(item, str::trim_start)
        .to_owned()
}

/// Returns the id a criterion gives itself, `ID:` or `**ID**`, and the text without it.
pub(super) fn id(text: &str) -> Option<(&str, String)> {
    let mark = ["**", "__"].into_iter().find(|mark| text.starts_with(mark)).unwrap_or("");
    let inner = &text[mark.len()..];
    let id = &inner[..id_length(inner)?];
    let after = &inner[id.len()..];
    let rest = match after.strip_prefix(':') {
        // `**ID: words** more`
        Some(words) if !mark.is_empty() && !words.starts_with(mark) => format!("{mark}{}", words.trim_start()),
        Some(words) => words.strip_prefix(mark).unwrap_or(words).to_owned(),
        None if !mark.is_empty() => after.strip_prefix(mark)?.to_owned(),
        None => return None,
    };
    let rest = rest.trim_start().trim_start_matches([':', '-', '–', '—', '.']).trim();
    Some((id, if rest.is_empty() { text.to_owned() } else { rest.to_owned() }))
}

/// Bytes of `[A-Z]{1,4}-?\d+(\.\d+)*` at the front.
fn id_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let letters = bytes.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    if !(1..=4).contains(&letters) {
        return None;
    }
    let mut end = letters + usize::from(bytes.get(letters) == Some(&b'-'));
    let number = digits(end);
    if number == 0 {
        return None;
    }
    end += number;
    while bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    Some(end)
}
