//! What a module asks of others.

use oxc_span::Span;

/// One place that names another module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleImport {
    pub specifier: String,
    pub names: ImportNames,
    /// The whole statement or expression.
    pub span: Span,
    /// The string that names the module.
    pub literal: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportNames {
    /// `import d, { a as b } from "x"`, `import * as n from "x"`, `import "x"`.
    Static { default: Option<String>, namespace: Option<String>, named: Vec<(String, String)> },
    /// `export { a as b } from "x"`.
    ExportFrom(Vec<(String, String)>),
    /// `export * from "x"`, with a name or without.
    ExportAll(Option<String>),
    /// `import("x")`.
    Dynamic,
    /// `require("x")`.
    Require,
}
