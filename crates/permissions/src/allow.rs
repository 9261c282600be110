//! Decides whether allow rules cover a call: every part has to be covered.
//!
//! The counterpart of `deny`. Only what is known to be harmless is looked
//! through, and what is not understood is not covered, except by a rule for
//! the tool as a whole.

use crate::bash::files::{FileRole, looks_like_path};
use crate::bash::words::{HOLE, ShellWord};
use crate::bash::{ShellCommand, danger, pipes, read_only};
use crate::call::{CallPart, CandidatePath, ParsedCall, ResolvedUse, ShellPart};
use crate::deny::{agent, skill};
use crate::dirs::WorkingDirs;
use crate::git_config;
use crate::grammar::{CommandPattern, PathKind, RuleTarget};
use crate::resolve::{Forms, SearchBelow, is_link, search_below};
use crate::rules::CompiledRule;
use crate::text::brief;
use std::path::{Path, PathBuf};

/// The first part no rule covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UncoveredPart {
    /// As written.
    pub part: String,
    pub why: String,
    /// The rule that would cover it, if one could.
    pub rule: Option<String>,
}

impl UncoveredPart {
    fn new(part: impl Into<String>, why: impl Into<String>) -> Self {
        // Reasons quote the command, and are shown.
        Self { part: part.into(), why: brief(&why.into()), rule: None }
    }

    fn rule(self, rule: impl Into<String>) -> Self {
        Self { rule: Some(rule.into()), ..self }
    }

    /// Returns why the call is not covered, naming the part if it is one of several.
    pub(crate) fn sentence(&self, call: &ParsedCall<'_>) -> String {
        let is_part = call.shells().any(|shell| shell.text.trim() != self.part);
        match (is_part, self.why == NO_RULE) {
            (true, true) => format!("no rule covers {}", brief(&self.part)),
            (true, false) => format!("in {}: {}", brief(&self.part), self.why),
            (false, _) => self.why.clone(),
        }
    }
}

const NO_RULE: &str = "no rule covers it";

pub(crate) struct AllowRules<'a> {
    pub allow: &'a [CompiledRule],
    pub working_dirs: &'a WorkingDirs,
    /// The operator's home directory, where git finds its own settings.
    pub home: &'a Path,
    /// Names of the MCP servers, if they are known.
    pub servers: Option<&'a [String]>,
    /// acceptEdits: edits inside the working directories need no rule.
    pub edits: bool,
}

impl<'a> AllowRules<'a> {
    /// Returns the rule that covers the call; of several, the first.
    pub(crate) fn rule(&self, call: &ParsedCall<'_>) -> Result<&'a str, UncoveredPart> {
        let mut first = None;
        for part in &call.parts {
            let rule = self.part(call, part)?;
            first = first.or(Some(rule));
        }
        first.ok_or_else(|| UncoveredPart::new(call.tool, NO_RULE).rule(call.tool))
    }

    fn part(&self, call: &ParsedCall<'_>, part: &CallPart) -> Result<&'a str, UncoveredPart> {
        let whole = self.whole_tool(call.tool);
        let uncovered = |path: &Forms, rule: &str| {
            let pattern = crate::path::literally(&path.given);
            UncoveredPart::new(path.given.display().to_string(), NO_RULE).rule(format!("{rule}({pattern})"))
        };
        match part {
            CallPart::Read(path) => {
                whole.or_else(|| self.path(PathKind::Read, path)).ok_or_else(|| uncovered(path, "Read"))
            }
            CallPart::Edit(path) => {
                whole.or_else(|| self.path(PathKind::Edit, path)).ok_or_else(|| uncovered(path, "Edit"))
            }
            // The tool as a whole means the working directories: a search shows what is in files,
            // and elsewhere that takes a rule for reading them.
            CallPart::Search(path) => whole
                .filter(|_| self.working_dirs.contains(path) || self.whole_tool("Read").is_some())
                .or_else(|| self.path(PathKind::Read, path))
                .or_else(|| self.content(path))
                .ok_or_else(|| uncovered(path, "Read")),
            CallPart::Shell(shell) => self.shell(shell),
            CallPart::Fetch(url) => {
                let domain = url.as_ref().and_then(|url| {
                    self.find(|target| matches!(target, RuleTarget::Domain(domain) if domain.matches(url)))
                });
                self.whole_tool("WebFetch").or(domain).ok_or_else(|| match url {
                    Some(url) => UncoveredPart::new(url.as_str(), NO_RULE)
                        .rule(format!("WebFetch(domain:{})", crate::domain::host(url))),
                    None => UncoveredPart::new(call.tool, "it names no web address"),
                })
            }
            CallPart::Plain => whole.or_else(|| self.named(call)).ok_or_else(|| {
                UncoveredPart::new(call.tool, NO_RULE).rule(match call.tool {
                    "Skill" => format!("Skill({})", skill(call.input).unwrap_or_default()),
                    tool => tool.to_owned(),
                })
            }),
        }
    }

    /// Returns whether a rule names the host of this address.
    pub(crate) fn names_host(&self, url: &url::Url) -> bool {
        self.find(|target| matches!(target, RuleTarget::Domain(domain) if domain.matches(url))).is_some()
    }

    fn find(&self, meant: impl Fn(&RuleTarget) -> bool) -> Option<&'a str> {
        self.allow.iter().find(|compiled| meant(&compiled.rule.target)).map(|compiled| compiled.rule.text.as_str())
    }

    /// Returns a rule for every call of a tool.
    fn whole_tool(&self, tool: &str) -> Option<&'a str> {
        let exact = self.find(|target| matches!(target, RuleTarget::Tool(name) if name == tool));
        exact.or_else(|| self.mcp(tool))
    }

    /// `mcp__a__b__c` is tool `b__c` of server `a`, or `c` of `a__b`: a rule for a
    /// server covers the call only if every server it can belong to is covered.
    fn mcp(&self, tool: &str) -> Option<&'a str> {
        let rest = tool.strip_prefix("mcp__")?;
        let possible = rest.match_indices("__").map(|(at, _)| &rest[..at]).filter(|server| !server.is_empty());
        let known = |server: &&str| self.servers.is_none_or(|servers| servers.iter().any(|name| name == server));
        let mut rule = None;
        for server in possible.filter(known) {
            let prefix = format!("mcp__{server}__");
            let covering = self.find(|target| {
                matches!(target, RuleTarget::Mcp { names, literal } if literal.starts_with(&prefix) && names.fits(tool))
            });
            rule = Some(covering?);
        }
        rule
    }

    fn named(&self, call: &ParsedCall<'_>) -> Option<&'a str> {
        let has_arguments =
            call.input.get("args").is_some_and(|args| args.as_str().is_none_or(|text| !text.trim().is_empty()));
        self.find(|target| match target {
            RuleTarget::Agent(name) => call.tool == "Agent" && agent(call.input) == name,
            RuleTarget::Skill { name, arguments } => {
                call.tool == "Skill" && skill(call.input) == Some(name) && (*arguments || !has_arguments)
            }
            _ => false,
        })
    }

    /// Returns a path rule for reading or editing. Who may edit a file may read it.
    fn path(&self, kind: PathKind, path: &Forms) -> Option<&'a str> {
        self.path_rule(kind, |rule| rule.covers(path))
    }

    fn content(&self, dir: &Forms) -> Option<&'a str> {
        self.path_rule(PathKind::Read, |rule| rule.covers_content(dir))
    }

    fn path_rule(&self, wanted: PathKind, covers: impl Fn(&crate::path::PathRule) -> bool) -> Option<&'a str> {
        let rule = self.allow.iter().find(|compiled| {
            let RuleTarget::Path { kind, .. } = &compiled.rule.target else { return false };
            (*kind == wanted || *kind == PathKind::Edit) && compiled.path.as_ref().is_some_and(&covers)
        });
        rule.map(|compiled| compiled.rule.text.as_str())
    }

    fn shell(&self, shell: &ShellPart) -> Result<&'a str, UncoveredPart> {
        if let Some(rule) = self.whole_tool("Bash") {
            return Ok(rule);
        }
        if let Some(why) = shell.script.unclear {
            return Err(UncoveredPart::new(&shell.text, why));
        }
        let mut first = None;
        for (at, command) in shell.script.commands.iter().enumerate().filter(|(_, command)| command.own) {
            let rule = self.command(shell, at, command)?;
            first = first.or(Some(rule));
        }
        first.ok_or_else(|| UncoveredPart::new(&shell.text, "it has no command"))
    }

    fn command(&self, shell: &ShellPart, at: usize, command: &ShellCommand) -> Result<&'a str, UncoveredPart> {
        let by_pattern = self.patterns(shell, at, command);
        let read_only = || self.find(|target| *target == RuleTarget::ReadOnly);
        match read_only().filter(|_| by_pattern.is_err() && self.only_reads(shell, at, command)) {
            Some(rule) => Ok(rule),
            None => by_pattern,
        }
    }

    /// Rules that spell commands out come first: they say more.
    fn patterns(&self, shell: &ShellPart, at: usize, command: &ShellCommand) -> Result<&'a str, UncoveredPart> {
        let exactly = || format!("Bash({})", crate::wildcard::Wildcard::literally(&command.source));
        let gap = |why: String| UncoveredPart::new(&command.source, why).rule(exactly());
        let texts = command.allowable();
        // A wildcard for the program does not stand for variables in front of it (C-15).
        let mentions_env = |pattern: &CommandPattern| command.env_is_harmless() || pattern.assigns;
        let fitting = self.allow.iter().filter_map(|compiled| match &compiled.rule.target {
            RuleTarget::Command(pattern) if mentions_env(pattern) && texts.iter().any(|text| pattern.fits(text)) => {
                Some((compiled, pattern.is_exact()))
            }
            _ => None,
        });
        // A rule that spells out the command says more than one with a wildcard.
        let Some((compiled, exact)) = fitting.max_by_key(|(_, exact)| *exact) else {
            return Err(gap(NO_RULE.to_owned()));
        };
        if let Some(why) = command.unclear {
            return Err(UncoveredPart::new(&command.source, why));
        }
        let dirs = &shell.dirs[at];
        if dirs.unknown {
            return Err(UncoveredPart::new(&command.source, "it runs in a directory that cannot be determined"));
        }
        let family = || shell.script.commands.iter().filter(|other| other.of == at);
        if !exact {
            if let Some(why) = family().find_map(danger::reason) {
                return Err(gap(why));
            }
            if let Some(source) = pipes::uncertain_source(&shell.script.commands, at) {
                return Err(gap(format!("its arguments come from {}", source.name().unwrap_or("a command"))));
            }
            if !dirs.possible.iter().all(|dir| self.working_dirs.contains(&Forms::of(dir))) {
                return Err(gap("it runs outside the working directories".to_owned()));
            }
            // A repository can bring programs of its own.
            if dirs.possible != shell.dirs[0].possible && family().any(|command| command.name() == Some("git")) {
                return Err(gap("it runs git in another directory".to_owned()));
            }
        }
        let uses = shell.uses.iter().filter(|used| shell.script.commands[used.command].of == at);
        // What only a run can tell is answered by `pipes` and `danger`.
        for used in uses.filter(|used| used.file.word.text != HOLE.to_string()) {
            if used.redirected {
                self.redirection(used)?;
            } else if !self.is_within_reach(used, exact) {
                return Err(gap(format!("{} is outside the working directories", used.file.word.raw)));
            }
        }
        Ok(&compiled.rule.text)
    }

    /// Whether a command is proven to only read, below the working directories.
    fn only_reads(&self, shell: &ShellPart, at: usize, command: &ShellCommand) -> bool {
        let Some(proof) = read_only::proof(command).filter(|_| command.unclear.is_none()) else { return false };
        let dirs = &shell.dirs[at];
        let inside = |path: &Forms| self.working_dirs.contains(path);
        if dirs.unknown || !dirs.possible.iter().all(|dir| inside(&Forms::of(dir))) {
            return false;
        }
        let alone = !shell.script.commands.iter().enumerate().any(|(other, command)| other != at && command.of == at);
        if !alone || pipes::uncertain_source(&shell.script.commands, at).is_some() {
            return false;
        }
        let uses: Vec<_> = shell.uses.iter().filter(|used| used.command == at).collect();
        let holds = |candidate: &CandidatePath| match candidate.wild {
            true => self.holds_pattern(&candidate.path.given),
            false => inside(&candidate.path),
        };
        let all_inside = uses.iter().all(|used| !used.candidates.is_empty() && used.candidates.iter().all(holds));
        // Every operand was judged, and not only what looks like a path.
        let judged = |word: &ShellWord| word.text == "-" || uses.iter().any(|used| used.file.word.raw == word.raw);
        let git_is_safe = || dirs.possible.iter().all(|dir| git_config::names_no_program(dir, self.home));
        all_inside && proof.files.iter().all(|word| judged(word)) && (!proof.git || git_is_safe())
    }

    /// A file named as an argument: inside the working directories, or a path rule names it.
    fn is_within_reach(&self, used: &ResolvedUse, exact: bool) -> bool {
        let word = &used.file.word;
        if used.file.role == FileRole::Any && !looks_like_path(word) {
            return true;
        }
        // The rule names an absolute path itself; a relative one depends on where it runs.
        if exact && (word.home || word.text.starts_with('/')) {
            return true;
        }
        let kind = match used.file.role {
            FileRole::Read | FileRole::Any => PathKind::Read,
            FileRole::Write | FileRole::Remove | FileRole::Alias => PathKind::Edit,
        };
        let anywhere = kind == PathKind::Read && self.whole_tool("Read").is_some();
        used.candidates.iter().all(|candidate| match candidate.wild {
            true => anywhere || self.holds_pattern(&candidate.path.given),
            false => {
                anywhere || self.working_dirs.contains(&candidate.path) || self.path(kind, &candidate.path).is_some()
            }
        })
    }

    /// Returns whether all a file name pattern can reach lies inside. Links that lead out may fit it.
    fn holds_pattern(&self, pattern: &Path) -> bool {
        let fixed = before_pattern(pattern);
        let levels = pattern.components().count() - fixed.components().count();
        let root = Forms::of(&fixed);
        let leads_out = |path: &Path| is_link(path) && !self.working_dirs.contains(&Forms::of(path));
        self.working_dirs.contains(&root) && search_below(&fixed, levels, leads_out) == SearchBelow::Nothing
    }

    fn redirection(&self, used: &ResolvedUse) -> Result<(), UncoveredPart> {
        let word = &used.file.word;
        let gap = |why: &str| UncoveredPart::new(format!("> {}", word.raw), why);
        if used.file.role == FileRole::Read {
            return match self.is_within_reach(used, false) {
                true => Ok(()),
                false => Err(UncoveredPart::new(format!("< {}", word.raw), "it is outside the working directories")),
            };
        }
        if !word.fixed || word.glob || word.home {
            return Err(gap("its target cannot be determined"));
        }
        let covered = |candidate: &CandidatePath| {
            self.path(PathKind::Edit, &candidate.path).is_some()
                || (self.edits && self.working_dirs.contains(&candidate.path))
        };
        match used.candidates.iter().find(|candidate| !covered(candidate)) {
            None => Ok(()),
            Some(candidate) => Err(gap("writing to a file takes an Edit rule")
                .rule(format!("Edit({})", crate::path::literally(&candidate.path.given)))),
        }
    }
}

/// Returns the directory in front of the first name with a pattern in it.
fn before_pattern(path: &Path) -> PathBuf {
    let plain = |part: &std::path::Component<'_>| {
        !part.as_os_str().to_string_lossy().contains(['*', '?', '[', crate::bash::words::HOLE])
    };
    path.components().take_while(plain).collect()
}
