//! HTML to Markdown, for pages nobody has looked at.
//!
//! The parser takes time that grows with the square of the nesting, and the converter calls itself for
//! each level. So the page is parsed in pieces until a deadline, and a page that is nested deeper than people write
//! becomes plain text, without recursion.

use htmd::HtmlToMarkdown;
use html5ever::tendril::TendrilSink;
use html5ever::{LocalName, ParseOpts, local_name, parse_document};
use markup5ever_rcdom::{Handle, NodeData, RcDom};
use std::time::{Duration, Instant};
use url::Url;

const DEADLINE: Duration = Duration::from_secs(3);
const PIECE: usize = 16 * 1024;
/// Levels of elements that are converted.
const MAX_DEPTH: usize = 200;
/// Levels of lists and quotations: each adds to every line below it.
const MAX_INDENTED: usize = 20;

/// Tags whose content is not for readers.
const SKIPPED: [&str; 9] = ["script", "style", "noscript", "template", "svg", "canvas", "iframe", "object", "head"];

/// Returns the text of a page, and whether it is not all of it. `page` is where it came from: links in the
/// text are absolute.
pub(crate) fn to_markdown(source: &str, page: &Url) -> (String, bool) {
    let (dom, cut) = parse(source);
    let title = title(&dom.document);
    let shape = resolve_links(&dom.document, page);
    let text = if shape.depth > MAX_DEPTH || shape.indented > MAX_INDENTED {
        plain_text(&dom.document)
    } else {
        let converter = HtmlToMarkdown::builder().skip_tags(SKIPPED.to_vec()).build();
        converter.tree_to_markdown(&dom.document)
    };
    let text = text.trim();
    let text = match title {
        // Most pages repeat it as their first heading.
        Some(title) if !text.contains(&title) => format!("{title}\n\n{text}").trim_end().to_owned(),
        _ => text.to_owned(),
    };
    (text, cut)
}

/// Returns the document, and whether there was more of it than could be read in time.
pub(crate) fn parse(source: &str) -> (RcDom, bool) {
    let mut parser = parse_document(RcDom::default(), ParseOpts::default());
    let began = Instant::now();
    let mut rest = source;
    while !rest.is_empty() && began.elapsed() < DEADLINE {
        let (piece, more) = rest.split_at(rest.floor_char_boundary(PIECE));
        parser.process(piece.into());
        rest = more;
    }
    (parser.finish(), !rest.is_empty())
}

/// How deep a document is nested.
#[derive(Default)]
struct Shape {
    depth: usize,
    indented: usize,
}

/// Makes the addresses of links absolute, and returns how deep the document is. Pictures that
/// are written into the page are left out: their text is not for reading.
fn resolve_links(document: &Handle, page: &Url) -> Shape {
    let mut shape = Shape::default();
    let mut base = page.clone();
    let mut open = vec![(document.clone(), 0, 0)];
    while let Some((node, depth, indented)) = open.pop() {
        let mut indents = false;
        if let NodeData::Element { name, attrs, .. } = &node.data {
            let tag = &*name.local;
            indents = matches!(tag, "ul" | "ol" | "blockquote" | "dl");
            if tag == "base"
                && let Some(set) = attribute(&node, &local_name!("href"))
                && let Ok(set) = page.join(&set)
            {
                base = set;
            }
            for attr in attrs.borrow_mut().iter_mut() {
                let name = &*attr.name.local;
                if tag == "img" && name == "src" && attr.value.starts_with("data:") {
                    attr.value = "".into();
                } else if matches!((tag, name), ("a", "href") | ("img", "src"))
                    && !attr.value.starts_with('#')
                    && let Ok(absolute) = base.join(&attr.value)
                {
                    attr.value = absolute.as_str().into();
                }
            }
        }
        let (depth, indented) = (depth + 1, indented + usize::from(indents));
        shape = Shape { depth: shape.depth.max(depth), indented: shape.indented.max(indented) };
        // In the order of the document, because of `base`.
        open.extend(node.children.borrow().iter().rev().map(|child| (child.clone(), depth, indented)));
    }
    shape
}

fn title(document: &Handle) -> Option<String> {
    let found = elements(document).find(|node| tag(node) == Some(&local_name!("title")))?;
    let title = plain_text(&found).split_whitespace().collect::<Vec<_>>().join(" ");
    Some(title).filter(|title| !title.is_empty())
}

/// The elements of a tree in the order of the document.
pub(crate) fn elements(root: &Handle) -> impl Iterator<Item = Handle> + use<> {
    let mut open = vec![root.clone()];
    std::iter::from_fn(move || {
        loop {
            let node = open.pop()?;
            open.extend(node.children.borrow().iter().rev().cloned());
            if matches!(node.data, NodeData::Element { .. }) {
                return Some(node);
            }
        }
    })
}

pub(crate) fn tag(node: &Handle) -> Option<&LocalName> {
    match &node.data {
        NodeData::Element { name, .. } => Some(&name.local),
        _ => None,
    }
}

pub(crate) fn attribute(node: &Handle, wanted: &LocalName) -> Option<String> {
    let NodeData::Element { attrs, .. } = &node.data else { return None };
    attrs.borrow().iter().find(|attr| attr.name.local == *wanted).map(|attr| attr.value.to_string())
}

/// The words of a tree, a line for each block.
pub(crate) fn plain_text(root: &Handle) -> String {
    let mut text = String::new();
    let mut open = vec![root.clone()];
    while let Some(node) = open.pop() {
        match &node.data {
            NodeData::Text { contents } => text.push_str(&contents.borrow()),
            NodeData::Element { name, .. } if SKIPPED.contains(&&*name.local) => continue,
            NodeData::Element { name, .. } if !is_inline(&name.local) => text.push('\n'),
            _ => {}
        }
        open.extend(node.children.borrow().iter().rev().cloned());
    }
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

fn is_inline(tag: &str) -> bool {
    matches!(
        tag,
        "a" | "b" | "i" | "em" | "strong" | "span" | "code" | "u" | "s" | "small" | "sub" | "sup" | "font" | "mark"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn markdown(source: &str) -> String {
        to_markdown(source, &Url::parse("https://a.test/docs/page?q#f").unwrap()).0
    }

    #[test]
    fn a_page_reads_as_markdown() {
        for (source, expected) in [
            ("<title>T</title><h1>Head</h1><p>One <b>two</b>", "T\n\n# Head\n\nOne **two**"),
            ("<title>Head</title><h1>Head</h1>", "# Head"),
            ("<ul><li>a<li>b</ul>", "*   a\n*   b"),
            ("<pre><code>x = 1\n</code></pre>", "```\nx = 1\n```"),
            ("<script>evil()</script><style>p{}</style><p>shown", "shown"),
            ("<a href='../up'>a</a>", "[a](https://a.test/up)"),
            ("<a href='//b.test/x'>a</a> <a href='#here'>b</a>", "[a](https://b.test/x) [b](#here)"),
            ("<base href='https://c.test/'><a href='x'>a</a>", "[a](https://c.test/x)"),
            ("", ""),
        ] {
            assert_eq!(markdown(source), expected, "{source}");
        }
    }

    /// Each would take minutes, all memory or the stack without the limits.
    #[test]
    fn hostile_pages_end() {
        let began = Instant::now();
        for tag in ["div", "b", "ul><li", "blockquote", "table><tr><td", "span", "font"] {
            let deep = format!("<p>first</p>{}last", format!("<{tag}>").repeat(20_000));
            let text = markdown(&deep);
            assert!(text.starts_with("first"), "{tag}: {}", &text[..text.len().min(80)]);
        }
        let wide = "<p>x <a href=y>z</a>".repeat(20_000);
        assert!(markdown(&wide).len() > 20_000);
        assert!(began.elapsed() < Duration::from_secs(60));
    }
}
