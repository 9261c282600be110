//! The TypeScript forms that mean something at run time, as plain JavaScript.
//!
//! Edits are made around the expressions inside, never over them, so that types within
//! them are erased as everywhere else.

use super::erase::Eraser;
use oxc_ast::ast::Expression;
use oxc_ast::ast::{
    BindingPattern, Declaration, FormalParameters, FunctionBody, Statement, TSEnumDeclaration, TSEnumMemberName,
    TSModuleBlock, TSNamespaceDeclaration, TSNamespaceDeclarationBody,
};
use oxc_ast_visit::Visit;
use oxc_span::{GetSpan, Span};

impl<'a> Eraser<'a> {
    /// `enum E { A, B = 2 }` becomes a function that fills an object. Values may refer to
    /// members before them by their bare names.
    pub(super) fn lower_enum(&mut self, it: &TSEnumDeclaration<'a>) {
        let name = it.id.name.as_str();
        let body = it.body.span;
        self.edits.replace(Span::new(it.span.start, body.start + 1), format!("var {name} = (({name}) => {{"));
        let mut at = body.start + 1;
        let mut previous: Option<usize> = None;
        for (index, member) in it.body.members.iter().enumerate() {
            let key = match &member.id {
                TSEnumMemberName::Identifier(id) => id.name.to_string(),
                TSEnumMemberName::String(text) | TSEnumMemberName::ComputedString(text) => text.value.to_string(),
                TSEnumMemberName::ComputedTemplateString(_) => {
                    self.refuse("an enum member named by a template", member.span.start);
                    return;
                }
            };
            self.edits.blank(self.source, Span::new(at, member.span.start));
            let quoted = quoted(&key);
            let head = format!("const ${index} = {name}[{quoted}] = ");
            let alias = if is_identifier(&key) { format!(", {key} = ${index}") } else { String::new() };
            let tail = format!("{alias}; if (typeof ${index} !== \"string\") {name}[${index}] = {quoted};");
            match &member.initializer {
                Some(value) => {
                    self.edits.replace(Span::new(member.span.start, value.span().start), head);
                    self.edits.insert(value.span().end, tail);
                    self.visit_expression(value);
                }
                None => {
                    let value = previous.map_or("0".to_owned(), |last| format!("${last} + 1"));
                    self.edits.rewrite(self.source, member.span, &format!("{head}{value}{tail}"));
                }
            }
            previous = Some(index);
            at = member.span.end;
        }
        self.edits.blank(self.source, Span::new(at, body.end - 1));
        self.edits.replace(Span::new(body.end - 1, body.end), format!("return {name}; }})({name} || {{}});"));
    }

    /// `namespace N { export … }` becomes an object with a getter for every export.
    pub(super) fn lower_namespace(&mut self, it: &TSNamespaceDeclaration<'a>) {
        let name = it.id.name.as_str();
        let head = format!("var {name} = (($outer) => {{");
        match &it.body {
            TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => {
                self.edits.replace(Span::new(it.span.start, inner.span.start), head);
                self.lower_namespace(inner);
                self.edits.insert(it.span.end, closing(name, &[inner.id.name.to_string()]));
            }
            TSNamespaceDeclarationBody::TSModuleBlock(block) => {
                self.edits.replace(Span::new(it.span.start, block.span.start + 1), head);
                let names = self.lower_block(block);
                self.edits.replace(Span::new(block.span.end - 1, block.span.end), closing(name, &names));
            }
        }
    }

    /// Takes the exports of a namespace's statements off; returns their names.
    fn lower_block(&mut self, block: &TSModuleBlock<'a>) -> Vec<String> {
        let mut names = Vec::new();
        for statement in &block.body {
            match statement {
                Statement::ExportDeclaration(export) => {
                    let declaration = &export.declaration;
                    self.edits.blank(self.source, Span::new(export.span.start, declaration.span().start));
                    names_of(declaration, &mut names);
                    self.visit_declaration(declaration);
                }
                other => self.visit_statement(other),
            }
        }
        names
    }

    /// `constructor(private x: T)` assigns its parameters, after `super(…)` where there is one.
    pub(super) fn assign_properties(&mut self, params: &FormalParameters<'a>, body: &FunctionBody<'a>) {
        let mut assignments = String::new();
        for param in &params.items {
            let is_property = param.accessibility.is_some() || param.readonly || param.r#override;
            if let (true, BindingPattern::BindingIdentifier(id)) = (is_property, &param.pattern) {
                assignments.push_str(&format!(" this.{name} = {name};", name = id.name));
            }
        }
        if assignments.is_empty() {
            return;
        }
        let after_super = body.statements.iter().find_map(|statement| {
            let Statement::ExpressionStatement(one) = statement else { return None };
            let Expression::CallExpression(call) = &one.expression else { return None };
            matches!(call.callee, Expression::Super(_)).then_some(one.span.end)
        });
        match after_super {
            Some(end) => self.edits.insert(end, format!(";{assignments}")),
            None => {
                let after_directives = body.directives.last().map_or(body.span.start + 1, |one| one.span.end);
                self.edits.insert(after_directives, assignments);
            }
        }
    }
}

fn closing(name: &str, exports: &[String]) -> String {
    let getters: Vec<_> = exports.iter().map(|one| format!("get {one}() {{ return {one}; }}")).collect();
    format!(
        "return Object.defineProperties($outer ?? {{}}, Object.getOwnPropertyDescriptors({{ {} }})); }})({name});",
        getters.join(", ")
    )
}

/// The names a declaration brings into being; types bring none.
fn names_of(declaration: &Declaration<'_>, names: &mut Vec<String>) {
    match declaration {
        Declaration::VariableDeclaration(variables) if !variables.declare => {
            for one in &variables.declarations {
                for id in one.id.get_binding_identifiers() {
                    names.push(id.name.to_string());
                }
            }
        }
        Declaration::FunctionDeclaration(function) if function.body.is_some() => {
            names.extend(function.id.as_ref().map(|id| id.name.to_string()));
        }
        Declaration::ClassDeclaration(class) if !class.declare => {
            names.extend(class.id.as_ref().map(|id| id.name.to_string()));
        }
        Declaration::TSEnumDeclaration(one) if !one.declare => names.push(one.id.name.to_string()),
        Declaration::TSNamespaceDeclaration(one) if !one.declare && has_values(&one.body) => {
            names.push(one.id.name.to_string());
        }
        _ => {}
    }
}

/// Returns whether a namespace is there at run time; one of types alone is not.
pub(super) fn has_values(body: &TSNamespaceDeclarationBody<'_>) -> bool {
    match body {
        TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => has_values(&inner.body),
        TSNamespaceDeclarationBody::TSModuleBlock(block) => block.body.iter().any(|statement| match statement {
            Statement::TSTypeAliasDeclaration(_) | Statement::TSInterfaceDeclaration(_) => false,
            Statement::TSNamespaceDeclaration(one) => has_values(&one.body),
            Statement::ExportDeclaration(export) => match &export.declaration {
                Declaration::TSTypeAliasDeclaration(_) | Declaration::TSInterfaceDeclaration(_) => false,
                Declaration::TSNamespaceDeclaration(one) => has_values(&one.body),
                _ => true,
            },
            _ => true,
        }),
    }
}

pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns whether a member's name can be a constant of its own.
fn is_identifier(text: &str) -> bool {
    const RESERVED: &[&str] = &[
        "arguments",
        "await",
        "break",
        "case",
        "catch",
        "class",
        "const",
        "continue",
        "debugger",
        "default",
        "delete",
        "do",
        "else",
        "enum",
        "eval",
        "export",
        "extends",
        "false",
        "finally",
        "for",
        "function",
        "if",
        "implements",
        "import",
        "in",
        "instanceof",
        "interface",
        "let",
        "new",
        "null",
        "package",
        "private",
        "protected",
        "public",
        "return",
        "static",
        "super",
        "switch",
        "this",
        "throw",
        "true",
        "try",
        "typeof",
        "var",
        "void",
        "while",
        "with",
        "yield",
    ];
    let mut letters = text.chars();
    letters.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && letters.all(|c| c.is_alphanumeric() || c == '_' || c == '$')
        && !RESERVED.contains(&text)
}
