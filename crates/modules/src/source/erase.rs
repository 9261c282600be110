//! Walks a program: blanks what is type, notes what is import.
//!
//! Type nodes are never walked into, so every name that is met is a value. That is how
//! an import that only types use is told from one that must be resolved.

use super::edits::{Edits, breaks, text_of};
use super::imports::{ImportNames, ModuleImport};
use super::lower::has_values;
use super::parse::SourceKind;
use oxc_ast::ast::*;
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan, Span};
use std::collections::{BTreeSet, HashSet};

pub(super) struct Eraser<'a> {
    pub source: &'a str,
    kind: SourceKind,
    pub edits: Edits,
    pub imports: Vec<ModuleImport>,
    pub metas: Vec<Span>,
    pub computed_imports: Vec<Span>,
    pub unsupported: Option<(&'static str, u32)>,
    /// Has an `export` of any kind.
    pub exports: bool,
    pub common_js: bool,
    /// `__dirname` and `__filename` where they are used, and where the module makes its own.
    pub paths_used: BTreeSet<&'static str>,
    pub paths_made: BTreeSet<&'static str>,
    values: HashSet<String>,
}

/// Modifiers that are types' business.
const MODIFIERS: &[&str] = &["public", "private", "protected", "readonly", "override", "abstract", "declare"];

impl<'a> Eraser<'a> {
    pub(super) fn new(source: &'a str, kind: SourceKind) -> Self {
        Self {
            source,
            kind,
            edits: Edits::default(),
            imports: Vec::new(),
            metas: Vec::new(),
            computed_imports: Vec::new(),
            unsupported: None,
            exports: false,
            common_js: false,
            paths_used: BTreeSet::new(),
            paths_made: BTreeSet::new(),
            values: HashSet::new(),
        }
    }

    pub(super) fn refuse(&mut self, what: &'static str, at: u32) {
        self.unsupported.get_or_insert((what, at));
    }

    /// In TypeScript an import whose names are only types is removed.
    pub(super) fn settle_imports(&mut self) {
        if self.kind != SourceKind::TypeScript {
            return;
        }
        let values = &self.values;
        for import in &mut self.imports {
            let ImportNames::Static { default, namespace, named } = &mut import.names else { continue };
            let had_names = default.is_some() || namespace.is_some() || !named.is_empty();
            default.take_if(|local| !values.contains(local));
            namespace.take_if(|local| !values.contains(local));
            named.retain(|(_, local)| values.contains(local));
            if had_names && default.is_none() && namespace.is_none() && named.is_empty() {
                self.edits.blank_whole(self.source, import.span);
            }
        }
        let edits = &self.edits;
        self.imports.retain(|import| !edits.covers(import.span));
    }

    fn blank(&mut self, span: Span) {
        self.edits.blank(self.source, span);
    }

    fn blank_whole(&mut self, span: Span) {
        self.edits.blank_whole(self.source, span);
    }

    /// Blanks the first occurrence of a character within a gap of the text.
    fn blank_mark(&mut self, from: u32, to: u32, mark: char) {
        if from >= to {
            return;
        }
        if let Some(at) = text_of(self.source, Span::new(from, to)).find(mark) {
            let start = from + u32::try_from(at).unwrap_or(0);
            self.blank(Span::new(start, start + 1));
        }
    }

    /// Blanks modifier words between the start of an element and its name.
    fn blank_modifiers(&mut self, from: u32, to: u32, in_class: bool) {
        let mut at = from;
        while at < to {
            let rest = text_of(self.source, Span::new(at, to));
            let skipped = rest.len() - rest.trim_start_matches(|c: char| !c.is_alphabetic()).len();
            at += u32::try_from(skipped).unwrap_or(0);
            let rest = text_of(self.source, Span::new(at, to));
            let length = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
            let end = at + u32::try_from(length).unwrap_or(0);
            if MODIFIERS.contains(&&rest[..length]) {
                let span = Span::new(at, end);
                if in_class && at == from { self.blank_whole(span) } else { self.blank(span) }
            }
            at = end.max(at + 1);
        }
    }

    fn text(&self, from: u32, to: u32) -> &'a str {
        if from < to { text_of(self.source, Span::new(from, to)) } else { "" }
    }

    /// Erases `as T` and `satisfies T`. Where the next line could be read as a call or an
    /// index of what is left, a semicolon stands in.
    fn blank_cast(&mut self, expression: &Expression<'a>, whole: Span) {
        let tail = Span::new(expression.span().end, whole.end);
        let after = &self.source[whole.end as usize..];
        let gap = after.len() - after.trim_start().len();
        let continues = after[..gap].contains('\n') && after[gap..].starts_with(['(', '[', '`']);
        self.blank(tail);
        if continues {
            self.edits.insert(whole.end, ";");
        }
        self.visit_expression(expression);
    }

    fn string_argument<'b>(argument: Option<&'b Argument<'a>>) -> Option<&'b StringLiteral<'a>> {
        match argument {
            Some(Argument::StringLiteral(literal)) => Some(literal),
            _ => None,
        }
    }

    fn import(&mut self, literal: &StringLiteral<'a>, span: Span, names: ImportNames) {
        self.imports.push(ModuleImport { specifier: literal.value.to_string(), names, span, literal: literal.span });
    }
}

fn exported(name: &ModuleExportName<'_>) -> String {
    name.name().to_string()
}

impl<'a> Visit<'a> for Eraser<'a> {
    fn visit_ts_type_annotation(&mut self, it: &TSTypeAnnotation<'a>) {
        self.blank(it.span);
    }

    fn visit_ts_type_parameter_declaration(&mut self, it: &TSTypeParameterDeclaration<'a>) {
        self.blank(it.span);
    }

    fn visit_ts_type_parameter_instantiation(&mut self, it: &TSTypeParameterInstantiation<'a>) {
        self.blank(it.span);
    }

    fn visit_ts_type_alias_declaration(&mut self, it: &TSTypeAliasDeclaration<'a>) {
        self.blank_whole(it.span);
    }

    fn visit_ts_interface_declaration(&mut self, it: &TSInterfaceDeclaration<'a>) {
        self.blank_whole(it.span);
    }

    fn visit_ts_external_module_declaration(&mut self, it: &TSExternalModuleDeclaration<'a>) {
        self.blank_whole(it.span);
    }

    fn visit_ts_global_declaration(&mut self, it: &TSGlobalDeclaration<'a>) {
        self.blank_whole(it.span);
    }

    fn visit_ts_namespace_export_declaration(&mut self, it: &TSNamespaceExportDeclaration<'a>) {
        self.blank_whole(it.span);
    }

    fn visit_ts_namespace_declaration(&mut self, it: &TSNamespaceDeclaration<'a>) {
        if it.declare || !has_values(&it.body) { self.blank_whole(it.span) } else { self.lower_namespace(it) }
    }

    fn visit_ts_enum_declaration(&mut self, it: &TSEnumDeclaration<'a>) {
        if it.declare { self.blank_whole(it.span) } else { self.lower_enum(it) }
    }

    fn visit_ts_import_equals_declaration(&mut self, it: &TSImportEqualsDeclaration<'a>) {
        match &it.module_reference {
            _ if it.import_kind.is_type() => self.blank_whole(it.span),
            TSModuleReference::ExternalModuleReference(external) => {
                let names =
                    ImportNames::Static { default: Some(it.id.name.to_string()), namespace: None, named: Vec::new() };
                self.import(&external.expression, it.span, names);
            }
            TSModuleReference::IdentifierReference(_) | TSModuleReference::QualifiedName(_) => {
                let head = Span::new(it.span.start, it.module_reference.span().start);
                let first = self.text(it.module_reference.span().start, it.module_reference.span().end);
                self.values.insert(first.split('.').next().unwrap_or_default().trim().to_owned());
                self.edits.replace(head, format!("const {} = ", it.id.name));
            }
        }
    }

    fn visit_ts_export_assignment(&mut self, it: &TSExportAssignment<'a>) {
        self.exports = true;
        self.edits.replace(Span::new(it.span.start, it.expression.span().start), "export default ");
        self.visit_expression(&it.expression);
    }

    fn visit_ts_as_expression(&mut self, it: &TSAsExpression<'a>) {
        self.blank_cast(&it.expression, it.span);
    }

    fn visit_ts_satisfies_expression(&mut self, it: &TSSatisfiesExpression<'a>) {
        self.blank_cast(&it.expression, it.span);
    }

    fn visit_ts_type_assertion(&mut self, it: &TSTypeAssertion<'a>) {
        self.blank(Span::new(it.span.start, it.expression.span().start));
        self.visit_expression(&it.expression);
    }

    fn visit_ts_non_null_expression(&mut self, it: &TSNonNullExpression<'a>) {
        self.blank(Span::new(it.expression.span().end, it.span.end));
        self.visit_expression(&it.expression);
    }

    fn visit_variable_declaration(&mut self, it: &VariableDeclaration<'a>) {
        if it.declare {
            self.blank_whole(it.span);
        } else {
            walk::walk_variable_declaration(self, it);
        }
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if it.definite {
            let to = it.type_annotation.as_ref().map_or(it.span.end, |one| one.span.start);
            self.blank_mark(it.id.span().end, to, '!');
        }
        walk::walk_variable_declarator(self, it);
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: oxc_syntax::scope::ScopeFlags) {
        if it.body.is_none() || it.declare {
            self.blank_whole(it.span);
            return;
        }
        if let Some(this) = &it.this_param {
            let next = it.params.items.first().map(|one| one.span.start);
            let rest = it.params.rest.as_ref().map(|one| one.span.start);
            let end = next.or(rest).unwrap_or(it.params.span.end - 1);
            self.blank(Span::new(this.span.start, end));
        }
        walk::walk_function(self, it, flags);
    }

    fn visit_ts_this_parameter(&mut self, _: &TSThisParameter<'a>) {}

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        let pattern = it.pattern.span();
        if it.accessibility.is_some() || it.readonly || it.r#override {
            self.blank_modifiers(it.span.start, pattern.start, false);
        }
        if it.optional {
            let to = it.type_annotation.as_ref().map_or(it.span.end, |one| one.span.start);
            self.blank_mark(pattern.end, to.max(pattern.end + 1), '?');
        }
        walk::walk_formal_parameter(self, it);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        // No line break may stand between the parameters and the arrow, nor before them
        // where a `return` would take it for its end. The breaks move behind the arrow.
        let mut moved = String::new();
        for span in [it.type_parameters.as_ref().map(|one| one.span), it.return_type.as_ref().map(|one| one.span)] {
            let Some(span) = span else { continue };
            let text = text_of(self.source, span);
            if text.contains('\n') {
                moved.push_str(&breaks(text));
                self.edits.replace(span, " ");
            } else {
                self.blank(span);
            }
        }
        let from = it.return_type.as_ref().map_or(it.params.span.end, |one| one.span.end);
        let body = it.body.span();
        if let (false, Some(at)) = (moved.is_empty(), self.text(from, body.start).find("=>")) {
            self.edits.insert(from + u32::try_from(at).unwrap_or(0) + 2, moved);
        }
        self.visit_formal_parameters(&it.params);
        if let ArrowFunctionBody::TSTypeAssertion(cast) = &it.body {
            // `() => <T>{}` must not become a block.
            self.edits.insert(cast.span.start, "(");
            self.edits.insert(cast.span.end, ")");
        }
        self.visit_arrow_function_body(&it.body);
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        if it.declare {
            self.blank_whole(it.span);
            return;
        }
        if let Some(decorator) = it.decorators.first() {
            self.refuse("a decorator", decorator.span.start);
        }
        if it.r#abstract {
            let head = self.text(it.span.start, it.body.span.start);
            let class = head.find("class").map_or(it.span.start, |at| it.span.start + u32::try_from(at).unwrap_or(0));
            self.blank_modifiers(it.span.start, class, false);
        }
        if let (Some(first), Some(last)) = (it.implements.first(), it.implements.last()) {
            let before = self.text(it.span.start, first.span.start);
            if let Some(at) = before.rfind("implements") {
                self.blank(Span::new(it.span.start + u32::try_from(at).unwrap_or(0), last.span.end));
            }
        }
        walk::walk_class(self, it);
    }

    fn visit_ts_class_implements(&mut self, _: &TSClassImplements<'a>) {}

    fn visit_ts_index_signature(&mut self, it: &TSIndexSignature<'a>) {
        self.blank_whole(it.span);
    }

    fn visit_method_definition(&mut self, it: &MethodDefinition<'a>) {
        if it.value.body.is_none() {
            self.blank_whole(it.span);
            return;
        }
        if let Some(decorator) = it.decorators.first() {
            self.refuse("a decorator", decorator.span.start);
        }
        self.blank_modifiers(it.span.start, it.key.span().start, true);
        if it.optional {
            self.blank_mark(it.key.span().end, it.value.span.start + 1, '?');
        }
        if let (MethodDefinitionKind::Constructor, Some(body)) = (it.kind, &it.value.body) {
            self.assign_properties(&it.value.params, body);
        }
        walk::walk_method_definition(self, it);
    }

    fn visit_property_definition(&mut self, it: &PropertyDefinition<'a>) {
        if it.declare || it.r#type == PropertyDefinitionType::TSAbstractPropertyDefinition {
            self.blank_whole(it.span);
            return;
        }
        if let Some(decorator) = it.decorators.first() {
            self.refuse("a decorator", decorator.span.start);
        }
        self.blank_modifiers(it.span.start, it.key.span().start, true);
        let name_end = it.key.span().end;
        let value = it.value.as_ref().map_or(it.span.end, |value| value.span().start);
        let to = it.type_annotation.as_ref().map_or(value, |one| one.span.start);
        if it.optional {
            self.blank_mark(name_end, to, '?');
        }
        if it.definite {
            self.blank_mark(name_end, to, '!');
        }
        walk::walk_property_definition(self, it);
    }

    fn visit_accessor_property(&mut self, it: &AccessorProperty<'a>) {
        if it.r#type == AccessorPropertyType::TSAbstractAccessorProperty {
            self.blank_whole(it.span);
            return;
        }
        self.blank_modifiers(it.span.start, it.key.span().start, true);
        walk::walk_accessor_property(self, it);
    }

    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        self.exports |= !it.import_kind.is_type();
        if it.import_kind.is_type() {
            self.blank_whole(it.span);
            return;
        }
        let (mut default, mut namespace, mut named) = (None, None, Vec::new());
        let mut types_only = it.specifiers.as_ref().is_some_and(|specifiers| !specifiers.is_empty());
        for specifier in it.specifiers.iter().flatten() {
            match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(one) if one.import_kind.is_type() => continue,
                ImportDeclarationSpecifier::ImportSpecifier(one) => {
                    named.push((exported(&one.imported), one.local.name.to_string()));
                }
                ImportDeclarationSpecifier::ImportDefaultSpecifier(one) => default = Some(one.local.name.to_string()),
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(one) => {
                    namespace = Some(one.local.name.to_string());
                }
            }
            types_only = false;
        }
        if types_only {
            self.blank_whole(it.span);
        } else {
            self.import(&it.source, it.span, ImportNames::Static { default, namespace, named });
        }
    }

    fn visit_export_from_declaration(&mut self, it: &ExportFromDeclaration<'a>) {
        self.exports = true;
        let values = it.specifiers.iter().filter(|one| !one.export_kind.is_type());
        let names: Vec<_> = values.map(|one| (exported(&one.local), exported(&one.exported))).collect();
        if it.export_kind.is_type() || names.is_empty() && !it.specifiers.is_empty() {
            self.blank_whole(it.span);
        } else {
            self.import(&it.source, it.span, ImportNames::ExportFrom(names));
        }
    }

    fn visit_export_all_declaration(&mut self, it: &ExportAllDeclaration<'a>) {
        self.exports = true;
        if it.export_kind.is_type() {
            self.blank_whole(it.span);
        } else {
            self.import(&it.source, it.span, ImportNames::ExportAll(it.exported.as_ref().map(exported)));
        }
    }

    fn visit_export_named_declaration(&mut self, it: &ExportNamedDeclaration<'a>) {
        self.exports = true;
        if it.export_kind.is_type() {
            self.blank_whole(it.span);
            return;
        }
        let values: Vec<_> = it.specifiers.iter().filter(|one| !one.export_kind.is_type()).collect();
        if values.len() < it.specifiers.len() {
            let kept: Vec<_> = values.iter().map(|one| text_of(self.source, one.span)).collect();
            self.edits.rewrite(self.source, it.span, &format!("export {{ {} }};", kept.join(", ")));
        }
        for one in values {
            self.values.insert(exported(&one.local));
        }
    }

    fn visit_export_declaration(&mut self, it: &ExportDeclaration<'a>) {
        self.exports = true;
        let is_type = match &it.declaration {
            Declaration::TSTypeAliasDeclaration(_) | Declaration::TSInterfaceDeclaration(_) => true,
            Declaration::VariableDeclaration(one) => one.declare,
            Declaration::FunctionDeclaration(one) => one.declare || one.body.is_none(),
            Declaration::ClassDeclaration(one) => one.declare,
            Declaration::TSEnumDeclaration(one) => one.declare,
            Declaration::TSNamespaceDeclaration(one) => one.declare || !has_values(&one.body),
            Declaration::TSExternalModuleDeclaration(_) | Declaration::TSGlobalDeclaration(_) => true,
            Declaration::TSImportEqualsDeclaration(_) => false,
        };
        if is_type {
            self.blank_whole(it.span);
        } else {
            walk::walk_export_declaration(self, it);
        }
    }

    fn visit_export_default_declaration(&mut self, it: &ExportDefaultDeclaration<'a>) {
        self.exports = true;
        match &it.declaration {
            ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => self.blank_whole(it.span),
            ExportDefaultDeclarationKind::FunctionDeclaration(one) if one.body.is_none() => self.blank_whole(it.span),
            _ => walk::walk_export_default_declaration(self, it),
        }
    }

    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        match &it.source {
            Expression::StringLiteral(literal) => self.import(literal, it.span, ImportNames::Dynamic),
            other => {
                self.computed_imports.push(Span::new(it.span.start, it.span.start + 6));
                self.visit_expression(other);
            }
        }
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        if let (Expression::Identifier(callee), Some(literal)) =
            (&it.callee, Self::string_argument(it.arguments.first()))
            && callee.name == "require"
        {
            self.import(literal, it.span, ImportNames::Require);
            return;
        }
        walk::walk_call_expression(self, it);
    }

    fn visit_import_meta(&mut self, it: &ImportMeta) {
        self.metas.push(it.span);
    }

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        match it.name.as_str() {
            "module" | "exports" => self.common_js = true,
            name => self.paths_used.extend(path_name(name)),
        }
        self.values.insert(it.name.to_string());
    }

    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        self.paths_made.extend(path_name(it.name.as_str()));
    }
}

/// Returns what a file of older modules knows of its own place.
fn path_name(name: &str) -> Option<&'static str> {
    ["__dirname", "__filename"].into_iter().find(|one| *one == name)
}
