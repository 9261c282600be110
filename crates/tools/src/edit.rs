//! Replaces an exact piece of text in a file.
//!
//! The search runs on the text as Read shows it, with LF line ends; the change
//! is made in the file's own bytes, so untouched lines stay as they are.

use crate::files::{FileResult, ToolRefusal, blocking, counted, io_refusal, seen, unchanged};
use crate::path::{absolute, absolutise};
use crate::resolved_file::ResolvedFile;
use crate::text_file::{TextFile, View};
use crate::write::create;
use crate::{Tool, ToolContext, patch};
use ona_api::{Access, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;

const MAX_EDITED: u64 = 64 * 1024 * 1024;
/// Line numbers named when the text occurs more than once.
const NAMED_LINES: usize = 10;

const SAME: &str = "old_string and new_string are the same.";

pub(crate) struct EditTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditInput {
    /// Path of the file; a relative path starts at the session's directory.
    file_path: String,
    /// The text to replace, exactly as in the file, without line numbers. Empty to create a new file.
    old_string: String,
    /// The text to put in its place.
    new_string: String,
    /// Replace every occurrence instead of exactly one.
    replace_all: Option<bool>,
}

impl Tool for EditTool {
    type Input = EditInput;
    const NAME: &'static str = "Edit";
    const DESCRIPTION: &'static str = "Replaces text in a file.\n\
        old_string must occur in the file exactly once, character for character, unless replace_all is set; give enough \
        surrounding lines to make it unique. Encoding, line endings and permissions of the file are kept, and CRLF \
        counts as LF. Refused when the file has changed on disk since this session read it. An empty old_string \
        creates a new file with new_string as its content.";

    fn normalise(&self, input: &mut Value, cx: &ToolContext) {
        absolutise(input, "file_path", cx);
    }

    fn access(&self, input: &EditInput, cx: &ToolContext) -> Vec<Access> {
        vec![Access::Edit(absolute(&input.file_path, cx))]
    }

    async fn run(&self, input: EditInput, cx: &ToolContext) -> ToolResult {
        let path = absolute(&input.file_path, cx);
        let cx = cx.clone();
        blocking(move || edit(&path, &input, &cx)).await
    }
}

fn edit(path: &Path, input: &EditInput, cx: &ToolContext) -> FileResult {
    let name = path.display();
    if input.old_string == input.new_string {
        return Err(SAME.into());
    }
    let mut on_disk = ResolvedFile::new(path, cx)?;
    let existing = on_disk.writable(cx)?;
    if input.old_string.is_empty() {
        return match existing {
            Some(info) if info.len > 0 => {
                Err(format!("{name} exists. An empty old_string only creates a file; use Write to replace it.").into())
            }
            empty => create(&mut on_disk, empty.as_ref(), &input.new_string),
        };
    }
    if existing.is_none() {
        return Err(format!("{name} does not exist.").into());
    }
    let bytes = on_disk.read_whole(MAX_EDITED)?;
    unchanged(path, &crate::fingerprint(&bytes[..]).map_err(|error| io_refusal(path, &error))?, cx)?;
    let file = TextFile::parse(&bytes).ok_or_else(|| format!("{name} is a binary file; Edit changes text only."))?;

    let replace_all = input.replace_all == Some(true);
    let edited = replaced(&file, &input.old_string, &input.new_string, replace_all).map_err(|why| why.words(path))?;
    let new_bytes = file.encoding.encode(&edited.raw).ok_or_else(|| {
        format!("new_string has a character that {name}, which is {}, cannot represent.", file.encoding.name())
    })?;
    on_disk.replace(existing.as_ref(), &new_bytes)?;

    let original = file.view().text;
    let updated = TextFile { encoding: file.encoding, raw: edited.raw }.view().text;
    let count = counted(edited.count as u64, "replacement");
    let mut result = ToolResult::success(format!("Edited {name} ({count})")).data(json!({
        "filePath": path,
        "oldString": input.old_string,
        "newString": input.new_string,
        "originalFile": patch::bounded(&original),
        "structuredPatch": patch::hunks(&original, &updated),
        "userModified": false,
        "replaceAll": replace_all,
    }));
    result.seen = seen(path, &new_bytes);
    Ok(result)
}

struct Edited {
    raw: String,
    count: usize,
}

#[derive(Debug, PartialEq, Eq)]
enum NoEdit {
    NotFound(Option<Hint>),
    Ambiguous { count: usize, lines: Vec<usize> },
}

/// What is probably wrong with a text that was not found.
#[derive(Debug, PartialEq, Eq)]
enum Hint {
    LineNumbers,
    LineEndings,
    Whitespace,
}

fn replaced(file: &TextFile, old: &str, new: &str, all: bool) -> Result<Edited, NoEdit> {
    let view = file.view();
    // In a file with CRLF the model may have written either; both mean a line end.
    let lf = if view.has_crlf() { old.replace("\r\n", "\n") } else { old.to_owned() };
    let found = if all { apart(&view.text, &lf) } else { anywhere(&view.text, &lf) };
    if found.is_empty() {
        return Err(NoEdit::NotFound(hint(&view, old)));
    }
    if found.len() > 1 && !all {
        let line = |at: &usize| view.text[..*at].matches('\n').count() + 1;
        let lines = found.iter().take(NAMED_LINES).map(line).collect();
        return Err(NoEdit::Ambiguous { count: found.len(), lines });
    }
    let newlines = file.newlines();
    let mut raw = String::with_capacity(file.raw.len());
    let mut done = 0;
    for at in &found {
        let range = view.raw(*at..at + lf.len());
        raw.push_str(&file.raw[done..range.start]);
        raw.push_str(&newlines.apply(new, &file.raw[range.clone()]));
        done = range.end;
    }
    raw.push_str(&file.raw[done..]);
    Ok(Edited { raw, count: found.len() })
}

/// Returns where `wanted` occurs, each after the end of the one before.
fn apart(text: &str, wanted: &str) -> Vec<usize> {
    text.match_indices(wanted).map(|(at, _)| at).collect()
}

/// Returns where `wanted` occurs, overlaps included: `aa` is not unique in `aaa`.
fn anywhere(text: &str, wanted: &str) -> Vec<usize> {
    let step = wanted.chars().next().map_or(1, char::len_utf8);
    let after = |from: usize| text[from..].find(wanted).map(|at| from + at);
    std::iter::successors(after(0), |at| after(at + step)).collect()
}

fn hint(view: &View, old: &str) -> Option<Hint> {
    let lf = old.replace("\r\n", "\n");
    if view.text.contains(&lf) {
        return Some(Hint::LineEndings);
    }
    if let Some(bare) = without_numbers(&lf)
        && view.text.contains(&bare)
    {
        return Some(Hint::LineNumbers);
    }
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted = squeezed(old);
    (!wanted.is_empty() && squeezed(&view.text).contains(&wanted)).then_some(Hint::Whitespace)
}

/// Returns the text without the numbers Read puts before each line, if it has them.
fn without_numbers(text: &str) -> Option<String> {
    let bare = text.lines().map(|line| {
        let (number, rest) = line.split_once('\t')?;
        (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(rest)
    });
    bare.collect::<Option<Vec<_>>>().filter(|lines| !lines.is_empty()).map(|lines| lines.join("\n"))
}

impl NoEdit {
    fn words(self, path: &Path) -> ToolRefusal {
        let path = path.display();
        ToolRefusal(match self {
            NoEdit::NotFound(hint) => {
                let hint = match hint {
                    None => "",
                    Some(Hint::LineNumbers) => " It does without the line numbers that Read puts before each line.",
                    Some(Hint::LineEndings) => " It does with LF instead of CRLF line endings.",
                    Some(Hint::Whitespace) => {
                        " Similar text differs in spaces, tabs or line breaks: copy it exactly as Read shows it."
                    }
                };
                format!("old_string does not occur in {path}.{hint}")
            }
            NoEdit::Ambiguous { count, lines } => {
                let more = if count > lines.len() { ", …" } else { "" };
                let lines = lines.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
                format!(
                    "old_string occurs {count} times in {path} (lines {lines}{more}). Add surrounding lines to make it \
                     unique, or set replace_all."
                )
            }
        })
    }
}
