//! Creates a file or replaces its whole content.

use crate::files::{FileResult, blocking, counted, io_refusal, line_count, seen, unchanged};
use crate::path::{absolute, absolutise};
use crate::resolved_file::ResolvedFile;
use crate::text_file::{Encoding, TextFile, to_crlf};
use crate::{Tool, ToolContext, patch};
use ona_api::{Access, ToolResult};
use ona_files::FileInfo;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::path::Path;

/// Up to this size the old file is looked at for its form and its difference.
const MAX_COMPARED: u64 = 16 * 1024 * 1024;

pub(crate) struct WriteTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteInput {
    /// Path of the file; a relative path starts at the session's directory.
    file_path: String,
    /// The complete new content.
    content: String,
}

impl Tool for WriteTool {
    type Input = WriteInput;
    const NAME: &'static str = "Write";
    const DESCRIPTION: &'static str = "Creates a file, or replaces everything in it, with the given content.\n\
        Missing parent directories are created. An existing file keeps its permissions, its byte order mark or UTF-16 \
        encoding, and CRLF line endings if it had them throughout. Refused when the file has changed on disk since \
        this session read it. To change part of a file use Edit.";

    fn normalise(&self, input: &mut Value, cx: &ToolContext) {
        absolutise(input, "file_path", cx);
    }

    fn access(&self, input: &WriteInput, cx: &ToolContext) -> Vec<Access> {
        vec![Access::Edit(absolute(&input.file_path, cx))]
    }

    async fn run(&self, input: WriteInput, cx: &ToolContext) -> ToolResult {
        let path = absolute(&input.file_path, cx);
        let cx = cx.clone();
        blocking(move || write(&path, &input.content, &cx)).await
    }
}

fn write(path: &Path, content: &str, cx: &ToolContext) -> FileResult {
    let mut file = ResolvedFile::new(path, cx)?;
    let Some(info) = file.writable(cx)? else {
        return create(&mut file, None, content);
    };
    let old = if info.len <= MAX_COMPARED {
        let bytes = file.read_whole(MAX_COMPARED)?;
        unchanged(path, &crate::fingerprint(&bytes[..]).map_err(|error| io_refusal(path, &error))?, cx)?;
        TextFile::parse(&bytes)
    } else {
        let fingerprint = crate::fingerprint(file.open()?.0).map_err(|error| io_refusal(path, &error))?;
        unchanged(path, &fingerprint, cx)?;
        None
    };
    let bytes = old.as_ref().and_then(|old| in_form_of(old, content)).unwrap_or_else(|| content.into());
    file.replace(Some(&info), &bytes)?;
    let original = old.map(|old| old.view().text);
    let patch =
        original.as_deref().map_or(json!([]), |original| patch::hunks(original, &content.replace("\r\n", "\n")));
    Ok(written(path, content, &bytes, "update", patch, original.as_deref().map_or(Value::Null, patch::bounded)))
}

/// Writes a file that does not exist yet, or is empty.
pub(crate) fn create(file: &mut ResolvedFile, empty: Option<&FileInfo>, content: &str) -> FileResult {
    file.replace(empty, content.as_bytes())?;
    Ok(written(file.path, content, content.as_bytes(), "create", json!([]), Value::Null))
}

/// Returns the content in the encoding and with the line endings of the old file;
/// `None` for windows-1252, which was a guess that new content need not share.
fn in_form_of(old: &TextFile, content: &str) -> Option<Vec<u8>> {
    if old.encoding == Encoding::Windows1252 {
        return None;
    }
    let content = if old.encoding.mark().is_empty() { content } else { content.trim_start_matches('\u{feff}') };
    let crlf = old.newlines().is_crlf() && !content.contains('\r');
    let content = if crlf { Cow::Owned(to_crlf(content)) } else { Cow::Borrowed(content) };
    old.encoding.encode(&content)
}

fn written(path: &Path, content: &str, bytes: &[u8], kind: &str, patch: Value, original: Value) -> ToolResult {
    let lines = counted(line_count(content) as u64, "line");
    let mut result = ToolResult::success(format!("Wrote {} ({lines})", path.display())).data(json!({
        "type": kind,
        "filePath": path,
        "content": patch::bounded(content),
        "structuredPatch": patch,
        "originalFile": original,
    }));
    result.seen = seen(path, bytes);
    result
}
