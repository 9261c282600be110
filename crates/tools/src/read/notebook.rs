//! Notebooks, cell by cell.

use crate::files::{ToolRefusal, counted, io_refusal, seen};
use ona_api::ToolResult;
use ona_api::text::head;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Larger ones are shown as the text they are.
const MAX_NOTEBOOK: u64 = 64 * 1024 * 1024;
/// Characters of one output that are shown.
const OUTPUT_CHARS: usize = 10_000;

/// `None` if the file is not a notebook that can be shown as such.
pub(super) fn read(path: &Path, file: &mut File, cap: usize) -> Result<Option<ToolResult>, ToolRefusal> {
    let mut bytes = Vec::new();
    file.take(MAX_NOTEBOOK + 1).read_to_end(&mut bytes).map_err(|error| io_refusal(path, &error))?;
    if bytes.len() as u64 > MAX_NOTEBOOK {
        return Ok(None);
    }
    let body = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let Ok(notebook) = serde_json::from_slice::<Value>(body) else { return Ok(None) };
    let Some(cells) = notebook["cells"].as_array() else { return Ok(None) };

    let language = language(&notebook["metadata"]);
    let mut content = format!("{} ({}, {language})", path.display(), counted(cells.len() as u64, "cell"));
    let mut shown = Vec::new();
    for (index, cell) in cells.iter().enumerate() {
        let text = cell_text(index, cell);
        if content.len() + text.len() > cap && index > 0 {
            content.push_str(&format!(
                "\n[Cells 1 to {index} of {}. The others are too much for one answer: read the raw lines with offset.]",
                cells.len()
            ));
            break;
        }
        content.push('\n');
        content.push_str(&text);
        shown.push(json!({"cell_id": cell_id(index, cell), "cell_type": cell["cell_type"], "source": source(cell)}));
    }
    let mut result = ToolResult::success(content)
        .data(json!({"type": "notebook", "file": {"filePath": path, "cells": shown, "totalCells": cells.len()}}));
    result.seen = seen(path, &bytes);
    Ok(Some(result))
}

pub(crate) fn language(metadata: &Value) -> &str {
    let named = [&metadata["language_info"]["name"], &metadata["kernelspec"]["language"]];
    named.into_iter().find_map(Value::as_str).unwrap_or("python")
}

/// Returns the id by which NotebookEdit finds a cell: its own, or its position for
/// notebooks older than ids.
pub(crate) fn cell_id(index: usize, cell: &Value) -> String {
    cell["id"].as_str().map_or_else(|| format!("cell-{index}"), str::to_owned)
}

/// `source` and the texts of outputs are a string or a list of strings.
pub(crate) fn joined(text: &Value) -> Option<String> {
    match text {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => Some(parts.iter().filter_map(Value::as_str).collect()),
        _ => None,
    }
}

pub(crate) fn source(cell: &Value) -> String {
    joined(&cell["source"]).unwrap_or_default()
}

fn cell_text(index: usize, cell: &Value) -> String {
    let kind = cell["cell_type"].as_str().unwrap_or("unknown");
    let run = cell["execution_count"].as_u64().map_or(String::new(), |n| format!(", run {n}"));
    let mut text = format!("--- cell {} ({kind}{run}) ---\n{}", cell_id(index, cell), source(cell));
    for output in cell["outputs"].as_array().into_iter().flatten() {
        let shown = output_text(output);
        let (start, cut) = head(shown.trim_end_matches('\n'), OUTPUT_CHARS);
        text.push_str(&format!("\n--- output ---\n{start}"));
        if cut {
            text.push_str(&format!(" [output cut at {OUTPUT_CHARS} characters]"));
        }
    }
    text
}

fn output_text(output: &Value) -> String {
    match output["output_type"].as_str() {
        Some("stream") => joined(&output["text"]).unwrap_or_default(),
        Some("error") => {
            let named = |key: &str| output[key].as_str().unwrap_or_default().to_owned();
            format!("{}: {}", named("ename"), named("evalue"))
        }
        _ => {
            let data = &output["data"];
            let others =
                data.as_object().into_iter().flatten().map(|(kind, _)| kind).filter(|kind| *kind != "text/plain");
            let others: Vec<_> = others.map(|kind| format!("[{kind}]")).collect();
            let text = joined(&data["text/plain"]);
            text.into_iter().chain(others).collect::<Vec<_>>().join("\n")
        }
    }
}
