//! `/insights`: one page about how ona was used in this project, from the rows of the database.

use super::SessionRunner;
use super::answers::Said;
use ona_orchestration::session_usage;
use ona_store::SessionLine;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Sessions that are counted, the newest.
const SESSIONS: usize = 500;

impl SessionRunner<'_> {
    /// Writes the page into `file`, or into the folder for temporary files.
    pub(super) fn insights(&self, rest: &str) -> Said {
        let reader = self.parts.open.store.reader()?;
        let project = self.parts.launch.project.to_string_lossy();
        let sessions: Vec<SessionLine> = reader
            .sessions(None)?
            .into_iter()
            .filter(|line| line.project_dir == project && line.entries > 0)
            .take(SESSIONS)
            .collect();
        let prices = self.parts.runtime.prices();
        let mut days: BTreeMap<String, usize> = BTreeMap::new();
        let mut rows = String::new();
        let (mut cost, mut unknown) = (0.0, 0);
        for line in sessions.iter().filter(|line| line.parent.is_none()) {
            let day: String = line.started_at.chars().take(10).collect();
            *days.entry(day).or_default() += 1;
            let usage = session_usage(reader, &line.id)?;
            let spent = match usage.spent.cost(&prices) {
                Some(spent) => {
                    cost += spent;
                    format!("${spent:.2}")
                }
                None => {
                    unknown += 1;
                    "–".to_owned()
                }
            };
            let words = line.title.as_deref().or(line.first_user_text.as_deref()).unwrap_or("–");
            let words: String = words.lines().next().unwrap_or_default().chars().take(120).collect();
            let at = &line.started_at;
            writeln!(
                rows,
                "<tr><td>{}</td><td>{}</td><td class=n>{}</td><td class=n>{spent}</td></tr>",
                escaped(at),
                escaped(&words),
                line.entries
            )
            .unwrap_or_default();
        }
        let mut tools: BTreeMap<String, usize> = BTreeMap::new();
        let mut refused = 0;
        for line in sessions.iter().take(50) {
            let mut calls = reader.calls(&line.id)?;
            loop {
                let part = calls.next_part()?;
                if part.is_empty() {
                    break;
                }
                for call in part {
                    *tools.entry(call.name).or_default() += 1;
                    refused += usize::from(call.decisions.iter().any(|one| one.decision == "deny"));
                }
            }
        }
        let mut tools: Vec<_> = tools.into_iter().collect();
        tools.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        let most = tools.first().map_or(1, |(_, count)| *count).max(1);
        let tool_rows: String = tools
            .iter()
            .map(|(name, count)| {
                format!(
                    "<tr><td>{}</td><td class=n>{count}</td><td><div style=\"width:{}%\"></div></td></tr>\n",
                    escaped(name),
                    count * 100 / most
                )
            })
            .collect();
        let hooks: String = reader
            .hook_times()?
            .iter()
            .map(|one| {
                let middle = one.milliseconds.get(one.milliseconds.len() / 2).copied().unwrap_or_default();
                let command: String = one.command.chars().take(100).collect();
                format!(
                    "<tr><td>{}</td><td><code>{}</code></td><td class=n>{middle:.0} ms</td></tr>\n",
                    escaped(&one.event),
                    escaped(&command)
                )
            })
            .collect();
        let without_price = if unknown > 0 { format!(", {unknown} sessions without a price") } else { String::new() };
        let page = format!(
            "<!doctype html>\n<meta charset=utf-8>\n<title>ona: {project}</title>\n<style>{STYLE}</style>\n\
             <h1>ona in {project}</h1>\n<p>{} sessions on {} days, ${cost:.2}{without_price}; {refused} calls refused in \
             the newest 50 sessions.</p>\n<h2>Tools of the newest 50 sessions</h2>\n<table>{tool_rows}</table>\n\
             <h2>Hooks</h2>\n<table>{hooks}</table>\n<h2>Sessions</h2>\n<table><tr><th>begun<th>about<th>rows<th>cost</tr>\n\
             {rows}</table>\n",
            sessions.iter().filter(|line| line.parent.is_none()).count(),
            days.len(),
            project = escaped(&project),
        );
        let page = self.parts.open.redactor.apply(&page).into_owned();
        let tmp = self.parts.launch.env.non_empty(ona_api::environment::TMPDIR).unwrap_or("/tmp");
        let path = match rest {
            "" => std::path::Path::new(tmp).join(format!("ona-insights-{}.html", &ona_api::CallId::random().0[..8])),
            file => self.session.cx.cwd.join(file),
        };
        Ok(match std::fs::write(&path, page) {
            Ok(()) => Ok(format!("The page is in {}", path.display())),
            Err(error) => Err(format!("{} could not be written: {error}", path.display())),
        })
    }
}

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222;\
                     background:#fff}table{border-collapse:collapse;width:100%}td,th{padding:.2em .6em;text-align:left;\
                     border-bottom:1px solid #ddd;vertical-align:top}.n{text-align:right;white-space:nowrap}\
                     td div{background:#7a9cc6;height:.8em}@media(prefers-color-scheme:dark){body{background:#161616;\
                     color:#ddd}td,th{border-color:#333}}";

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn nothing_of_a_session_is_markup() {
        assert_eq!(escaped("<script>\"&"), "&lt;script&gt;&quot;&amp;");
    }
}
