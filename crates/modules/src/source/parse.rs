//! One parse: types erased, forms lowered, imports listed.

use super::edits::Edits;
use super::erase::Eraser;
use super::imports::ModuleImport;
use oxc_allocator::Allocator;
use oxc_ast_visit::Visit;
use oxc_parser::Parser;
use oxc_span::{SourceType, Span};
use std::collections::BTreeSet;
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    TypeScript,
    JavaScript,
    Json,
}

impl SourceKind {
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "ts" | "mts" | "cts" => Some(SourceKind::TypeScript),
            "js" | "mjs" | "cjs" => Some(SourceKind::JavaScript),
            "json" => Some(SourceKind::Json),
            _ => None,
        }
    }
}

/// A file, read and understood.
#[derive(Clone, Debug)]
pub struct Parsed {
    pub source: String,
    pub kind: SourceKind,
    pub(super) edits: Edits,
    pub imports: Vec<ModuleImport>,
    /// `import.meta` in all its places.
    pub(super) metas: Vec<Span>,
    /// `import(x)` where `x` is not a plain string.
    pub(super) computed_imports: Vec<Span>,
    /// Uses `module.exports` or `exports` and has no export of its own.
    pub is_common_js: bool,
    /// `__dirname` and `__filename`, if they are used and not made by the text itself.
    pub(super) paths: BTreeSet<&'static str>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SyntaxError {
    #[error("{message} ({line}:{column})")]
    At { message: String, line: usize, column: usize },
    #[error("{what} cannot be run here ({line}:{column})")]
    Unsupported { what: &'static str, line: usize, column: usize },
}

pub fn parse(source: String, kind: SourceKind) -> Result<Parsed, SyntaxError> {
    if kind == SourceKind::Json {
        return json(source);
    }
    let allocator = Allocator::default();
    let source_type = match kind {
        SourceKind::TypeScript => SourceType::ts(),
        SourceKind::JavaScript | SourceKind::Json => SourceType::mjs(),
    };
    let parsed = Parser::new(&allocator, &source, source_type).parse();
    // What the parser could recover from is for the engine to refuse: it may be a matter
    // of types, which are not checked here.
    if parsed.panicked {
        let found = parsed.diagnostics.first();
        let message = found.map_or("the text cannot be parsed".to_owned(), |one| one.message.to_string());
        let offset = found.and_then(|one| one.labels.first()).map_or(0, |label| label.offset() as usize);
        let (line, column) = place(&source, offset);
        return Err(SyntaxError::At { message, line, column });
    }
    let mut eraser = Eraser::new(&source, kind);
    eraser.visit_program(&parsed.program);
    if let Some((what, at)) = eraser.unsupported {
        let (line, column) = place(&source, at as usize);
        return Err(SyntaxError::Unsupported { what, line, column });
    }
    eraser.settle_imports();
    let Eraser { edits, imports, metas, computed_imports, exports, common_js, paths_used, paths_made, .. } = eraser;
    Ok(Parsed {
        kind,
        edits,
        imports,
        metas,
        computed_imports,
        is_common_js: common_js && !exports,
        paths: &paths_used - &paths_made,
        source,
    })
}

fn json(source: String) -> Result<Parsed, SyntaxError> {
    if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(&source) {
        return Err(SyntaxError::At { message: error.to_string(), line: error.line(), column: error.column() });
    }
    Ok(Parsed {
        source,
        kind: SourceKind::Json,
        edits: Edits::default(),
        imports: Vec::new(),
        metas: Vec::new(),
        computed_imports: Vec::new(),
        is_common_js: false,
        paths: BTreeSet::new(),
    })
}

/// Line and column, both counted from 1.
fn place(source: &str, offset: usize) -> (usize, usize) {
    let before = source.get(..offset).unwrap_or(source);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}
