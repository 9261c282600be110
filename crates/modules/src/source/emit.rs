//! Prints a parsed file for one engine.
//!
//! Imports of host packages (and, embedded, of Node's own modules) become constants on
//! the first line: there is nothing to link, and a name we do not have is a stand-in
//! that fails when it is used, not when the module loads.

use super::edits::Edits;
use super::imports::ImportNames;
use super::lower::quoted;
use super::parse::{Parsed, SourceKind};
use std::path::Path;

/// What an import leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Linked {
    /// Something our prelude offers, by this name.
    Provided(String),
    /// Left to the engine under this specifier.
    Specifier(String),
}

impl Parsed {
    /// The text an engine runs. `link` says what each import leads to.
    pub fn emit(&self, path: &Path, link: impl Fn(&str) -> Linked) -> String {
        if self.kind == SourceKind::Json {
            return format!("export default {};", self.source.trim());
        }
        let mut edits = self.edits.clone();
        let mut prologue = String::new();
        for (index, import) in self.imports.iter().enumerate() {
            match (link(&import.specifier), &import.names) {
                (Linked::Provided(name), names) => {
                    let text = provided(&name, names, index, &mut prologue);
                    edits.rewrite(&self.source, import.span, &text);
                }
                (Linked::Specifier(specifier), ImportNames::Require) => {
                    let local = format!("__ona_required{index}");
                    prologue.push_str(&format!("import * as {local} from {};", quoted(&specifier)));
                    edits.rewrite(&self.source, import.span, &format!("__ona.required({local})"));
                }
                (Linked::Specifier(specifier), ImportNames::Dynamic | ImportNames::ExportAll(_)) => {
                    edits.replace(import.literal, quoted(&specifier));
                }
                (Linked::Specifier(specifier), ImportNames::Static { default, namespace, named }) => {
                    let text = statement(default.as_deref(), namespace.as_deref(), named, &specifier);
                    edits.rewrite(&self.source, import.span, &text);
                }
                (Linked::Specifier(specifier), ImportNames::ExportFrom(names)) => {
                    let text = format!("export {{ {} }} from {};", pairs(names), quoted(&specifier));
                    edits.rewrite(&self.source, import.span, &text);
                }
            }
        }
        self.surroundings(path, &mut edits, &mut prologue);
        let body = edits.apply(&self.source);
        // A `#!` line is not valid inside the wrapped text.
        let body = if body.starts_with("#!") { format!("//{body}") } else { body };
        if self.is_common_js {
            return format!(
                "{prologue}const module = {{ exports: {{}} }}; const exports = module.exports; (function () {{{body}\n}}).call(exports); export default __ona.commonJs(module.exports);"
            );
        }
        format!("{prologue}{body}")
    }

    fn surroundings(&self, path: &Path, edits: &mut Edits, prologue: &mut String) {
        for span in &self.metas {
            edits.replace(*span, "__ona_meta");
        }
        for span in &self.computed_imports {
            edits.replace(*span, "__ona_import");
        }
        let path = quoted(&path.to_string_lossy());
        if !self.metas.is_empty() {
            prologue.push_str(&format!("const __ona_meta = __ona.meta({path});"));
        }
        if !self.computed_imports.is_empty() {
            prologue.push_str(&format!("const __ona_import = (what) => __ona.importFrom({path}, what);"));
        }
        for name in &self.paths {
            prologue.push_str(&format!("const {name} = __ona.meta({path}).{};", &name[2..]));
        }
    }
}

/// Returns the replacement for an import of something the prelude offers.
fn provided(module: &str, names: &ImportNames, index: usize, prologue: &mut String) -> String {
    let module = quoted(module);
    match names {
        ImportNames::Static { default, namespace, named } => {
            if let Some(local) = default {
                prologue.push_str(&format!("const {local} = __ona.pick({module}, \"default\");"));
            }
            if let Some(local) = namespace {
                prologue.push_str(&format!("const {local} = __ona.provided({module});"));
            }
            for (name, local) in named {
                prologue.push_str(&format!("const {local} = __ona.pick({module}, {});", quoted(name)));
            }
            ";".to_owned()
        }
        ImportNames::ExportFrom(names) => {
            let mut kept = Vec::new();
            for (nth, (name, exported)) in names.iter().enumerate() {
                prologue.push_str(&format!("const __ona_e{index}_{nth} = __ona.pick({module}, {});", quoted(name)));
                kept.push((format!("__ona_e{index}_{nth}"), exported.clone()));
            }
            format!("export {{ {} }};", pairs(&kept))
        }
        ImportNames::ExportAll(Some(name)) => {
            prologue.push_str(&format!("const __ona_e{index} = __ona.provided({module});"));
            format!("export {{ __ona_e{index} as {name} }};")
        }
        // The names are not known here; an import that needs one names it.
        ImportNames::ExportAll(None) => ";".to_owned(),
        ImportNames::Dynamic => format!("Promise.resolve(__ona.provided({module}))"),
        ImportNames::Require => format!("__ona.provided({module})"),
    }
}

fn statement(default: Option<&str>, namespace: Option<&str>, named: &[(String, String)], specifier: &str) -> String {
    let mut parts: Vec<String> = default.map(str::to_owned).into_iter().collect();
    parts.extend(namespace.map(|local| format!("* as {local}")));
    if !named.is_empty() {
        parts.push(format!("{{ {} }}", pairs(named)));
    }
    let specifier = quoted(specifier);
    if parts.is_empty() {
        format!("import {specifier};")
    } else {
        format!("import {} from {specifier};", parts.join(", "))
    }
}

fn pairs(names: &[(String, String)]) -> String {
    let one = |(name, local): &(String, String)| {
        let name =
            if name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$') { name.clone() } else { quoted(name) };
        format!("{name} as {local}")
    };
    names.iter().map(one).collect::<Vec<_>>().join(", ")
}
