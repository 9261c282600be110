//! Searches file contents, with ripgrep's own libraries.
//!
//! `walk` visits files on several threads and `print` turns the hits of one file
//! into lines. Here is what the operator and the model see: the input, the
//! order, the page, and the notes around it. The order never depends on which
//! thread was faster.

mod print;
mod walk;

use crate::files::{FileResult, ToolRefusal, blocking, counted, interrupted};
use crate::path::{absolute, absolutise};
use crate::resolved_file::ResolvedFile;
use crate::{Count, Tool, ToolContext};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use ona_api::{Access, ToolResult};
use print::Style;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use walk::{Hits, Search};

const DEFAULT_LIMIT: usize = 250;
/// Bytes of one answer.
const MAX_CONTENT: usize = 1024 * 1024;
/// Entries one answer can hold: none is shorter than ten bytes.
const MAX_ENTRIES: usize = MAX_CONTENT / 10;

pub(crate) struct GrepTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GrepInput {
    /// Regular expression, in ripgrep's syntax.
    pattern: String,
    /// File or directory to search; the session's directory if not given.
    path: Option<String>,
    /// Only files that match this glob, such as "*.js" or "src/**/*.{ts,tsx}"; several may be given, separated by spaces or commas, and "!" excludes.
    glob: Option<String>,
    /// Only files of this type, such as "rust", "js" or "py".
    r#type: Option<String>,
    /// What to return: matching lines, paths of files with a match (if not given), or matches per file.
    output_mode: Option<OutputMode>,
    /// Lines to show after each match; for content only.
    #[serde(rename = "-A")]
    after: Option<Count>,
    /// Lines to show before each match; for content only.
    #[serde(rename = "-B")]
    before: Option<Count>,
    /// Lines to show before and after each match; for content only.
    #[serde(rename = "-C")]
    around: Option<Count>,
    /// The same as -C.
    context: Option<Count>,
    /// Ignore case.
    #[serde(rename = "-i")]
    ignore_case: Option<bool>,
    /// Show line numbers; for content only, and true if not given.
    #[serde(rename = "-n")]
    line_numbers: Option<bool>,
    /// Show only the matching parts; for content only.
    #[serde(rename = "-o")]
    only_matching: Option<bool>,
    /// How many lines or files to return; 250 if not given, 0 for all.
    head_limit: Option<Count>,
    /// How many lines or files to leave out before that.
    offset: Option<Count>,
    /// Let a match span lines, and . match line ends.
    multiline: Option<bool>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OutputMode {
    Content,
    #[default]
    FilesWithMatches,
    Count,
}

impl Tool for GrepTool {
    type Input = GrepInput;
    const NAME: &'static str = "Grep";
    const DESCRIPTION: &'static str = "Searches the contents of files for a regular expression (ripgrep's syntax).\n\
        Returns the paths of matching files, the most recently changed first, or the matching lines as path:line:text, or \
        the number of matching lines as path:count. Files that .gitignore excludes and binary files are left out; hidden \
        files are searched. A file given as path is always searched. Long results come in pages: see head_limit and \
        offset.";

    fn normalise(&self, input: &mut Value, cx: &ToolContext) {
        absolutise(input, "path", cx);
    }

    fn access(&self, input: &GrepInput, cx: &ToolContext) -> Vec<Access> {
        let root = root(input, cx);
        vec![if root.is_file() { Access::Read(root) } else { Access::Search(root) }]
    }

    async fn run(&self, input: GrepInput, cx: &ToolContext) -> ToolResult {
        let cx = cx.clone();
        blocking(move || grep(&input, &cx)).await
    }
}

fn root(input: &GrepInput, cx: &ToolContext) -> PathBuf {
    input.path.as_ref().map_or_else(|| cx.cwd.clone(), |path| absolute(path, cx))
}

fn grep(input: &GrepInput, cx: &ToolContext) -> FileResult {
    let root = root(input, cx);
    let located = ResolvedFile::new(&root, cx)?;
    let page = Page::of(input);
    let search = Search {
        root: &located,
        matcher: matcher(input)?,
        style: Style::of(input),
        multiline: input.multiline == Some(true),
        window: page.end(),
        cx,
    };
    let hits = if located.is_dir()? {
        // Models write an empty text for a filter they do not want.
        let kind = input.r#type.as_deref().filter(|kind| !kind.is_empty());
        search.tree(walk::filters(&located.real, input.glob.as_deref(), kind)?)?
    } else {
        search.file()?
    };
    if cx.cancel.is_cancelled() {
        return Ok(interrupted());
    }
    Ok(answer(input.output_mode.unwrap_or_default(), &page, hits))
}

fn matcher(input: &GrepInput) -> Result<RegexMatcher, ToolRefusal> {
    let multiline = input.multiline == Some(true);
    let mut builder = RegexMatcherBuilder::new();
    builder.case_insensitive(input.ignore_case == Some(true)).multi_line(true).dot_matches_new_line(multiline);
    if !multiline {
        // Tells the engine that no match spans lines, which lets it skip whole buffers.
        builder.line_terminator(Some(b'\n'));
    }
    builder.build(&input.pattern).map_err(|error| format!("pattern: {error}").into())
}

/// The part of the result that is asked for.
struct Page {
    offset: usize,
    /// `None`: everything.
    limit: Option<usize>,
}

impl Page {
    fn of(input: &GrepInput) -> Self {
        let limit = input.head_limit.map_or(DEFAULT_LIMIT, Count::get);
        Self { offset: input.offset.map_or(0, Count::get), limit: (limit > 0).then_some(limit) }
    }

    /// Returns how many entries, from the first of all, are needed.
    fn end(&self) -> usize {
        self.offset.saturating_add(self.limit.unwrap_or(MAX_ENTRIES).min(MAX_ENTRIES))
    }
}

/// Cuts the page out of the hits and says in words where it lies.
fn answer(mode: OutputMode, page: &Page, hits: Hits) -> ToolResult {
    let entries = hits.entries.iter().skip(page.offset).take(page.end() - page.offset);
    let mut content = String::new();
    let mut shown = Vec::new();
    for entry in entries {
        if content.len() + entry.len() > MAX_CONTENT && !shown.is_empty() {
            break;
        }
        if !shown.is_empty() {
            content.push('\n');
        }
        content.push_str(entry);
        shown.push(entry.as_str());
    }
    let noun = if mode == OutputMode::Content { "line" } else { "file" };
    let (first, last) = (page.offset, page.offset + shown.len());
    let mut notes = Vec::new();
    if shown.is_empty() && page.offset > 0 {
        notes.push(format!("[Nothing at offset {first}: there are {}.]", counted(hits.total as u64, noun)));
    } else if last < hits.total {
        let (total, start) = (hits.total, first + 1);
        let what = if mode == OutputMode::Content { "Lines" } else { "Files" };
        notes.push(format!("[{what} {start} to {last} of {total}. Continue with offset {last}.]"));
    }
    if hits.unreadable > 0 {
        notes.push(format!("[{} could not be read.]", counted(hits.unreadable as u64, "path")));
    }

    let mut data = json!({"mode": mode_name(mode), "totalFiles": hits.files, "appliedOffset": page.offset});
    match mode {
        OutputMode::Content => {
            data["numFiles"] = json!(0);
            data["filenames"] = json!([]);
            data["content"] = json!(content);
            data["numLines"] = json!(shown.len());
            data["totalLines"] = json!(hits.total);
        }
        OutputMode::FilesWithMatches => {
            data["numFiles"] = json!(shown.len());
            data["filenames"] = json!(shown);
        }
        OutputMode::Count => {
            data["numFiles"] = json!(shown.len());
            data["filenames"] = json!([]);
            data["content"] = json!(content);
            data["numMatches"] = json!(hits.matches);
        }
    }
    if last < hits.total {
        data["appliedLimit"] = json!(page.limit);
    }
    for note in notes {
        if !content.is_empty() {
            content.push('\n');
        }
        content.push_str(&note);
    }
    ToolResult::success(content).data(data)
}

fn mode_name(mode: OutputMode) -> &'static str {
    match mode {
        OutputMode::Content => "content",
        OutputMode::FilesWithMatches => "files_with_matches",
        OutputMode::Count => "count",
    }
}

/// Returns the text form of a path in results.
fn shown(path: &Path) -> std::borrow::Cow<'_, str> {
    path.to_string_lossy()
}
