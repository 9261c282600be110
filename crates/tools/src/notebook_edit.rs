//! Replaces, inserts or deletes one cell of a Jupyter notebook.
//!
//! Only the text of the `cells` array is rewritten, and in it only the cell
//! concerned; every other byte of the file is copied. So unknown keys, key order
//! and number formats survive, and a diff shows the cell and nothing else.

use crate::files::{FileResult, ToolRefusal, blocking, io_refusal, seen, unchanged};
use crate::path::{absolute, absolutise};
use crate::read::notebook::{cell_id, language, source};
use crate::resolved_file::ResolvedFile;
use crate::{Tool, ToolContext, patch};
use ona_api::digest::sha256_hex;
use ona_api::{Access, ToolResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::ser::PrettyFormatter;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

const MAX_NOTEBOOK: u64 = 64 * 1024 * 1024;

const NEEDS_ID: &str = "cell_id is required to replace or delete a cell.";
const NEEDS_TYPE: &str = "cell_type is required to insert a cell.";

pub(crate) struct NotebookEditTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NotebookEditInput {
    /// Path of the .ipynb file; a relative path starts at the session's directory.
    notebook_path: String,
    /// The cell, as Read names it. A new cell goes after it, or to the start if this is left out.
    cell_id: Option<String>,
    /// The cell's new source. Ignored when deleting.
    new_source: String,
    /// Type of the cell; required to insert one.
    cell_type: Option<CellType>,
    /// What to do; replace if not given.
    edit_mode: Option<EditMode>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum CellType {
    Code,
    Markdown,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum EditMode {
    Replace,
    Insert,
    Delete,
}

impl CellType {
    fn as_str(self) -> &'static str {
        match self {
            CellType::Code => "code",
            CellType::Markdown => "markdown",
        }
    }
}

impl Tool for NotebookEditTool {
    type Input = NotebookEditInput;
    const NAME: &'static str = "NotebookEdit";
    const DESCRIPTION: &'static str = "Changes one cell of a Jupyter notebook (.ipynb, format 4).\n\
        replace sets the source of the cell cell_id and clears its outputs if it is code; insert adds a cell after \
        cell_id, or at the start; delete removes the cell. Read shows the cell ids. Everything else in the notebook \
        stays as it is.";

    fn normalise(&self, input: &mut Value, cx: &ToolContext) {
        absolutise(input, "notebook_path", cx);
    }

    fn access(&self, input: &NotebookEditInput, cx: &ToolContext) -> Vec<Access> {
        vec![Access::Edit(absolute(&input.notebook_path, cx))]
    }

    async fn run(&self, input: NotebookEditInput, cx: &ToolContext) -> ToolResult {
        let path = absolute(&input.notebook_path, cx);
        let cx = cx.clone();
        blocking(move || edit(&path, &input, &cx)).await
    }
}

fn edit(path: &Path, input: &NotebookEditInput, cx: &ToolContext) -> FileResult {
    let name = path.display();
    if path.extension().is_none_or(|extension| extension != "ipynb") {
        return Err(format!("{name} is not a notebook (.ipynb); use Edit.").into());
    }
    let mut file = ResolvedFile::new(path, cx)?;
    let Some(old) = file.writable(cx)? else {
        return Err(format!("{name} does not exist.").into());
    };
    let bytes = file.read_whole(MAX_NOTEBOOK)?;
    unchanged(path, &crate::fingerprint(&bytes[..]).map_err(|error| io_refusal(path, &error))?, cx)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| format!("{name} is not UTF-8."))?;
    let notebook = Notebook::parse(text).map_err(|why| format!("{name}: {}", why.0))?;

    let edited = notebook.edit(input)?;
    let updated = notebook.with_cells(&edited.cells);
    file.replace(Some(&old), updated.as_bytes())?;

    let mode = input.edit_mode.unwrap_or(EditMode::Replace);
    let (done, mode) = match mode {
        EditMode::Replace => ("Replaced", "replace"),
        EditMode::Insert => ("Inserted", "insert"),
        EditMode::Delete => ("Deleted", "delete"),
    };
    let mut result = ToolResult::success(format!("{done} cell {} in {name}", edited.cell_id)).data(json!({
        "new_source": input.new_source,
        "old_source": edited.old_source,
        "cell_id": edited.cell_id,
        "cell_type": edited.cell_type,
        "language": notebook.language,
        "edit_mode": mode,
        "notebook_path": path,
        "original_file": patch::bounded(text),
        "updated_file": patch::bounded(&updated),
    }));
    result.seen = seen(path, updated.as_bytes());
    Ok(result)
}

/// A notebook's text and where its cells lie in it.
struct Notebook<'a> {
    text: &'a str,
    cells_at: Range<usize>,
    cells: Vec<&'a RawValue>,
    language: String,
    /// Format 4.5 and later.
    has_ids: bool,
    layout: Layout<'a>,
}

#[derive(Deserialize)]
struct Outline<'a> {
    #[serde(borrow)]
    cells: &'a RawValue,
    #[serde(default)]
    metadata: Value,
    nbformat: u64,
    #[serde(default)]
    nbformat_minor: u64,
}

struct Edited<'a> {
    /// The new list of cells, each as JSON text.
    cells: Vec<Cow<'a, str>>,
    cell_id: String,
    cell_type: String,
    old_source: Option<String>,
}

impl<'a> Notebook<'a> {
    fn parse(text: &'a str) -> Result<Self, ToolRefusal> {
        let broken = |error: serde_json::Error| ToolRefusal(format!("not a notebook: {error}."));
        let body = text.strip_prefix('\u{feff}').unwrap_or(text);
        let outline: Outline = serde_json::from_str(body).map_err(broken)?;
        if outline.nbformat != 4 {
            return Err(format!("notebook format {} is not supported, only 4.", outline.nbformat).into());
        }
        let array = outline.cells.get();
        // A raw value borrows from the text it was parsed from, so its address tells its place.
        let start = array.as_ptr().addr() - text.as_ptr().addr();
        Ok(Self {
            text,
            cells_at: start..start + array.len(),
            cells: serde_json::from_str(array).map_err(broken)?,
            language: language(&outline.metadata).to_owned(),
            has_ids: outline.nbformat_minor >= 5,
            layout: Layout::of(body),
        })
    }

    fn edit(&self, input: &NotebookEditInput) -> Result<Edited<'a>, ToolRefusal> {
        // Each cell is a part of a text that was parsed.
        let parsed: Vec<Value> =
            self.cells.iter().map(|cell| serde_json::from_str(cell.get()).unwrap_or_default()).collect();
        let position = input.cell_id.as_deref().filter(|id| !id.is_empty()).map(|id| find(&parsed, id)).transpose()?;
        let mut cells: Vec<_> = self.cells.iter().map(|cell| cell.get().into()).collect();
        match input.edit_mode.unwrap_or(EditMode::Replace) {
            EditMode::Insert => {
                let cell_type = input.cell_type.ok_or(NEEDS_TYPE)?;
                let cell = self.new_cell(cell_type, &input.new_source, &parsed);
                let at = position.map_or(0, |position| position + 1);
                cells.insert(at, self.layout.cell(&cell).into());
                let cell_type = cell_type.as_str().into();
                Ok(Edited { cells, cell_id: cell_id(at, &cell), cell_type, old_source: None })
            }
            EditMode::Delete => {
                let at = position.ok_or(NEEDS_ID)?;
                cells.remove(at);
                Ok(Edited::of(cells, at, &parsed[at], &parsed[at]))
            }
            EditMode::Replace => {
                let at = position.ok_or(NEEDS_ID)?;
                let cell = replaced(&parsed[at], input)?;
                cells[at] = self.layout.cell(&cell).into();
                Ok(Edited::of(cells, at, &cell, &parsed[at]))
            }
        }
    }

    fn new_cell(&self, cell_type: CellType, source: &str, others: &[Value]) -> Value {
        let mut cell = Map::new();
        cell.insert("cell_type".into(), cell_type.as_str().into());
        if let CellType::Code = cell_type {
            cell.insert("execution_count".into(), Value::Null);
        }
        if self.has_ids {
            cell.insert("id".into(), self.free_id(source, others).into());
        }
        cell.insert("metadata".into(), json!({}));
        if let CellType::Code = cell_type {
            cell.insert("outputs".into(), json!([]));
        }
        cell.insert("source".into(), source_lines(source));
        cell.into()
    }

    /// Eight hexadecimal digits, as Jupyter makes them, that no other cell has.
    fn free_id(&self, source: &str, others: &[Value]) -> String {
        let taken = |id: &str| others.iter().any(|cell| cell["id"] == id);
        let candidates = (others.len()..).map(|n| sha256_hex(format!("{n}\n{source}").as_bytes())[..8].to_owned());
        let mut free = candidates.filter(|id| !taken(id));
        free.next().expect("more digests than cells")
    }

    fn with_cells(&self, cells: &[Cow<str>]) -> String {
        let Range { start, end } = self.cells_at;
        [&self.text[..start], &self.layout.array(cells), &self.text[end..]].concat()
    }
}

impl<'a> Edited<'a> {
    fn of(cells: Vec<Cow<'a, str>>, at: usize, cell: &Value, old: &Value) -> Self {
        let cell_type = cell["cell_type"].as_str().unwrap_or("code").into();
        Self { cells, cell_id: cell_id(at, old), cell_type, old_source: Some(source(old)) }
    }
}

fn find(cells: &[Value], id: &str) -> Result<usize, ToolRefusal> {
    cells.iter().enumerate().position(|(index, cell)| cell_id(index, cell) == id).ok_or_else(|| {
        let ids: Vec<_> = cells.iter().enumerate().map(|(index, cell)| cell_id(index, cell)).collect();
        ToolRefusal(format!("Unknown cell {id}. The cells are: {}", ids.join(", ")))
    })
}

/// Returns the cell with its new source, and no results of the old one.
fn replaced(cell: &Value, input: &NotebookEditInput) -> Result<Value, ToolRefusal> {
    let mut cell = cell.as_object().cloned().ok_or("The cell is not a JSON object.")?;
    if let Some(cell_type) = input.cell_type {
        cell.insert("cell_type".into(), cell_type.as_str().into());
    }
    let as_string = cell.get("source").is_some_and(Value::is_string);
    let source = if as_string { input.new_source.clone().into() } else { source_lines(&input.new_source) };
    cell.insert("source".into(), source);
    if cell.get("cell_type") == Some(&"code".into()) {
        cell.insert("execution_count".into(), Value::Null);
        cell.insert("outputs".into(), json!([]));
    } else {
        // Other cells must not have these.
        cell.shift_remove("execution_count");
        cell.shift_remove("outputs");
    }
    Ok(cell.into())
}

fn source_lines(source: &str) -> Value {
    source.split_inclusive('\n').collect()
}

/// How the file's JSON is laid out.
#[derive(Clone, Copy)]
enum Layout<'a> {
    OneLine,
    Lines { indent: &'a str, newline: &'a str },
}

impl<'a> Layout<'a> {
    /// Read off the first indented line.
    fn of(text: &'a str) -> Self {
        let Some((first, rest)) = text.trim_end().split_once('\n') else { return Layout::OneLine };
        let width = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let newline = if first.ends_with('\r') { "\r\n" } else { "\n" };
        Layout::Lines { indent: &rest[..width], newline }
    }

    /// Returns a cell, which is two levels deep, without the indent of its first line.
    fn cell(self, cell: &Value) -> String {
        let Layout::Lines { indent, newline } = self else { return cell.to_string() };
        let mut text = Vec::new();
        let mut writer =
            serde_json::Serializer::with_formatter(&mut text, PrettyFormatter::with_indent(indent.as_bytes()));
        cell.serialize(&mut writer).expect("a JSON value is written to memory");
        let text = String::from_utf8(text).expect("JSON is UTF-8");
        text.replace('\n', &format!("{newline}{indent}{indent}"))
    }

    fn array(self, cells: &[Cow<str>]) -> String {
        match self {
            _ if cells.is_empty() => "[]".into(),
            Layout::OneLine => format!("[{}]", cells.join(", ")),
            Layout::Lines { indent, newline } => {
                let cells = cells.join(&format!(",{newline}{indent}{indent}"));
                format!("[{newline}{indent}{indent}{cells}{newline}{indent}]")
            }
        }
    }
}
