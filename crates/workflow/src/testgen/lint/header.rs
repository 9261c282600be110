//! The two lines a test case starts with: which criterion it traces to, and its title (DEC-121).

use super::rule::{LintFinding, LintRule};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub traces: String,
    pub title: String,
}

/// Returns the header of a script: `# traces:` and `# title:` among the comments before its
/// first command, each exactly once. `None` if one is missing, empty or given twice.
pub fn header(script: &str) -> Option<Header> {
    read(script).ok()
}

pub(super) fn check(script: &str) -> Option<LintFinding> {
    let (line, why) = read(script).err()?;
    Some(LintFinding::new(LintRule::L01, line, why))
}

fn read(script: &str) -> Result<Header, (u32, &'static str)> {
    let (mut traces, mut title) = (None, None);
    for (number, line) in (1..).zip(script.lines()) {
        let Some(comment) = line.trim().strip_prefix('#') else {
            if line.trim().is_empty() {
                continue;
            }
            break;
        };
        let take = |key: &str, location: &mut Option<String>, twice: &'static str| {
            let value = comment.trim_start().strip_prefix(key).map(|value| value.trim().to_owned());
            match value.map(|value| location.replace(value)) {
                Some(Some(_)) => Err((number, twice)),
                Some(None) | None => Ok(()),
            }
        };
        take("traces:", &mut traces, "It names its criterion twice")?;
        take("title:", &mut title, "It has two titles")?;
    }
    let traces = traces.ok_or((1, "Its first comments have no `# traces:` line"))?;
    let title = title.ok_or((1, "Its first comments have no `# title:` line"))?;
    // The grammar of ids is DEC-120's; what is checked here is that there is exactly one.
    if traces.is_empty() || traces.contains(char::is_whitespace) || traces.contains(',') {
        return Err((1, "Its `# traces:` line has to name exactly one criterion"));
    }
    if title.is_empty() {
        return Err((1, "Its `# title:` line is empty"));
    }
    Ok(Header { traces, title })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(script: &str) -> Option<(String, String)> {
        header(script).map(|header| (header.traces, header.title))
    }

    #[test]
    fn a_header_stands_before_the_first_command() {
        let is = |traces: &str, title: &str| Some((traces.to_owned(), title.to_owned()));
        assert_eq!(
            found("#!/usr/bin/env bash\n# traces: SC-1\n# title: Reads a file\nona\n"),
            is("SC-1", "Reads a file")
        );
        assert_eq!(found("#title: t\n\n  # note\n#   traces:  AC1.2  \nona"), is("AC1.2", "t"));
        for none in [
            "",
            "ona\n# traces: SC-1\n# title: t\n",
            "# traces: SC-1\nona\n",
            "# title: t\nona\n",
            "# traces:\n# title: t\n",
            "# traces: SC-1\n# title: \n",
            "# traces: SC-1 SC-2\n# title: t\n",
            "# traces: SC-1,SC-2\n# title: t\n",
            "# traces: SC-1\n# traces: SC-2\n# title: t\n",
            "# Traces: SC-1\n# title: t\n",
        ] {
            assert_eq!(found(none), None, "{none}");
        }
    }
}
