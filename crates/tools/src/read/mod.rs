//! Reads a file: text as numbered lines, pictures and PDF pages as attachments,
//! notebooks as cells, anything else as a short hexadecimal dump.
//!
//! What a file is, is told from its bytes, not from its name; only notebooks,
//! which are JSON like any other, need theirs. The text form is DEC-131.

mod binary;
mod image;
mod lines;
pub(crate) mod notebook;
mod pdf;

use crate::files::{FileResult, ToolRefusal, UntilCancelled, blocking, counted, interrupted, io_refusal};
use crate::image::ImageHeader;
use crate::path::{absolute, absolutise};
use crate::resolved_file::ResolvedFile;
use crate::text_file::Encoding;
use crate::{Count, Tool, ToolContext};
use lines::{LineRange, LineWindow};
use ona_api::tool::FileState;
use ona_api::{Access, Attachment, ToolResult};
use pdf::Pages;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read as _, Seek};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

/// Lines returned unless `limit` says otherwise.
const DEFAULT_LIMIT: u64 = 2000;
/// Bytes of text returned at most, without and with `allow_large`.
const TEXT_CAP: usize = 256 * 1024;
const LARGE_TEXT_CAP: usize = 16 * 1024 * 1024;
/// Bytes looked at to tell what a file is; enough for a JPEG's dimensions after
/// its colour profile and preview.
const HEAD: u64 = 1024 * 1024;

pub(crate) struct ReadTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadInput {
    /// Path of the file; a relative path starts at the session's directory.
    file_path: String,
    /// First line to return, counting from 1.
    offset: Option<Count>,
    /// How many lines to return; 2000 if not given.
    limit: Option<NonZeroU64>,
    /// Pages of a PDF to look at, such as "3" or "1-5"; at most 20.
    pages: Option<String>,
    /// Return up to 16 MiB of text instead of 256 KiB.
    allow_large: Option<bool>,
}

impl Tool for ReadTool {
    type Input = ReadInput;
    const NAME: &'static str = "Read";
    const DESCRIPTION: &'static str = "Reads one file.\n\
        Text comes back as its path and line count, then numbered lines (number, tab, text); lines beyond 2000 \
        characters are cut. Use offset and limit for a part of a long file. UTF-8, UTF-16 and windows-1252 are \
        recognised, and CRLF is shown as LF. Images (PNG, JPEG, GIF, WebP) and PDF documents are attached for viewing. \
        Notebooks (.ipynb) are shown cell by cell with their ids and text outputs, unless offset or limit asks for \
        their raw lines. Other binary files are described and their first bytes shown in hexadecimal. Directories \
        cannot be read; use Glob.";

    fn normalise(&self, input: &mut Value, cx: &ToolContext) {
        absolutise(input, "file_path", cx);
    }

    fn access(&self, input: &ReadInput, cx: &ToolContext) -> Vec<Access> {
        vec![Access::Read(absolute(&input.file_path, cx))]
    }

    async fn run(&self, input: ReadInput, cx: &ToolContext) -> ToolResult {
        let path = absolute(&input.file_path, cx);
        let within = cx.clone();
        let result = blocking(move || read(&path, &input, &within)).await;
        if result.is_error() && cx.cancel.is_cancelled() { interrupted() } else { result }
    }
}

fn read(path: &Path, input: &ReadInput, cx: &ToolContext) -> FileResult {
    let located = ResolvedFile::new(path, cx)?;
    let (mut file, _) = located.open().map_err(|refused| with_near_name(refused, &located, cx))?;
    let mut head = Vec::new();
    let refusal = |error| io_refusal(path, &error);
    (&mut file).take(HEAD).read_to_end(&mut head).map_err(refusal)?;
    file.rewind().map_err(refusal)?;

    // Models write an empty text for pages they do not want.
    let pages = input.pages.as_deref().filter(|pages| !pages.is_empty());
    if pdf::is_pdf(&head) {
        let pages = pages.map(Pages::parse).transpose()?;
        return pdf::read(path, file, &head, pages, cx);
    }
    if pages.is_some() {
        return Err(format!("{} is not a PDF document; `pages` is for those only.", path.display()).into());
    }
    if let Some(image) = ImageHeader::from_head(&head) {
        return image::read(path, file, &head, image, cx);
    }
    let whole = input.offset.is_none() && input.limit.is_none();
    let cap = if input.allow_large == Some(true) { LARGE_TEXT_CAP } else { TEXT_CAP };
    if whole && path.extension().is_some_and(|extension| extension == "ipynb") {
        if let Some(shown) = notebook::read(path, &mut file, cap)? {
            return Ok(shown);
        }
        file.rewind().map_err(refusal)?;
    }
    let window = LineRange {
        first: input.offset.map_or(1, |offset| offset.0.max(1)),
        limit: input.limit.map_or(DEFAULT_LIMIT, NonZeroU64::get),
        cap,
    };
    let source = UntilCancelled(file, &cx.cancel);
    let lines = LineWindow::collect(source, Encoding::sniff(&head), window).map_err(refusal)?;
    if lines.has_nul {
        return Ok(binary::describe(path, &head, &lines));
    }
    Ok(text(path, &lines, &window, input.limit.is_some()))
}

fn text(path: &Path, lines: &LineWindow, window: &LineRange, limited: bool) -> ToolResult {
    let total = lines.total;
    let mut content = format!("{} ({})", path.display(), counted(total, "line"));
    if lines.encoding == Encoding::Windows1252 {
        content.push_str("\n[Not UTF-8; decoded as windows-1252.]");
    }
    let shown = lines.decoded();
    for (number, line) in (window.first..).zip(&shown) {
        content.push_str(&format!("\n{number}\t{line}"));
    }
    let last = window.first + shown.len() as u64 - 1;
    if total == 0 {
        content.push_str("\n[The file is empty.]");
    } else if window.first > total {
        content.push_str(&format!("\n[Offset {} is past the end of the file.]", window.first));
    } else if last < total && (lines.capped || !limited) {
        let first = window.first;
        content.push_str(&format!("\n[Lines {first} to {last} of {total}. Continue with offset {}.]", last + 1));
    }
    let mut result = ToolResult::success(content).data(json!({
        "type": "text",
        "file": {
            "filePath": path,
            "content": shown.join("\n"),
            "numLines": shown.len(),
            "startLine": window.first,
            "totalLines": total,
        },
    }));
    result.seen = vec![FileState { path: path.into(), sha256: lines.fingerprint.clone() }];
    result
}

/// A file with its bytes, or why there are none: it is too large to attach.
enum Loaded {
    Whole(Vec<u8>),
    TooLarge { size: u64, fingerprint: String },
}

fn load(path: &Path, mut file: File, limit: u64, cx: &ToolContext) -> Result<Loaded, ToolRefusal> {
    let refusal = |error| io_refusal(path, &error);
    let mut bytes = Vec::new();
    (&mut file).take(limit + 1).read_to_end(&mut bytes).map_err(refusal)?;
    if bytes.len() as u64 <= limit {
        return Ok(Loaded::Whole(bytes));
    }
    drop(bytes);
    file.rewind().map_err(refusal)?;
    let size = file.metadata().map_err(refusal)?.len();
    let fingerprint = crate::fingerprint(UntilCancelled(file, &cx.cancel)).map_err(refusal)?;
    Ok(Loaded::TooLarge { size, fingerprint })
}

impl Loaded {
    fn size(&self) -> u64 {
        match self {
            Loaded::Whole(bytes) => bytes.len() as u64,
            Loaded::TooLarge { size, .. } => *size,
        }
    }

    fn seen(&self, path: &Path) -> Vec<FileState> {
        match self {
            Loaded::Whole(bytes) => crate::files::seen(path, bytes),
            Loaded::TooLarge { fingerprint, .. } => vec![FileState { path: path.into(), sha256: fingerprint.clone() }],
        }
    }

    fn attachment(&self, kind: &'static str, media_type: &str) -> Option<Attachment> {
        match self {
            Loaded::Whole(bytes) => {
                Some(Attachment { kind, media_type: media_type.into(), data: ona_api::digest::base64(bytes) })
            }
            Loaded::TooLarge { .. } => None,
        }
    }
}

/// Adds the name that was probably meant, if the same directory has one.
fn with_near_name(refused: ToolRefusal, file: &ResolvedFile, cx: &ToolContext) -> ToolRefusal {
    if file.path.exists() {
        return refused;
    }
    match near_name(file.path, file.names(), cx) {
        Some(near) => ToolRefusal(format!("{} Did you mean {}?", refused.0, near.display())),
        None => refused,
    }
}

fn near_name(path: &Path, names: Vec<OsString>, cx: &ToolContext) -> Option<PathBuf> {
    let wanted = path.file_name()?.to_str()?.to_lowercase();
    let stem = Path::new(&wanted).file_stem()?.to_owned();
    names
        .into_iter()
        .filter_map(|entry| {
            let name = entry.to_str()?.to_lowercase();
            let same_stem = Path::new(&name).file_stem() == Some(&stem);
            let distance = if same_stem { 1 } else { distance(&wanted, &name) };
            let near = distance <= wanted.chars().count() / 3;
            let entry = path.with_file_name(entry);
            (near && (cx.may_show)(&entry)).then_some((distance, entry))
        })
        .min()
        .map(|(_, path)| path)
}

/// Levenshtein distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let cost = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = cost.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
