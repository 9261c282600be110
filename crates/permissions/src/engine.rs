//! The engine: rules, mode, directories and guarded files of a session.
//!
//! `decide` is section 5.12 as one page. It does nothing but decide: no dialog,
//! no hook, no row.

use crate::allow::{AllowRules, UncoveredPart};
use crate::call::{CallPart, ParsedCall};
use crate::confinement::Confinement;
use crate::dirs::{SessionDirs, WorkingDirs};
use crate::domain;
use crate::floor;
use crate::guarded::{GuardedFiles, Touch};
use crate::overlap::Overlap;
use crate::resolve::Forms;
use crate::rules::{CompiledRule, CompiledRules, Rules};
use crate::safety::{self, Risk};
use crate::text::brief;
use crate::worktree::{Loss, WorktreeReader};
use ona_api::{Access, Authority, Mode, Ordinal, Ruling, Verdict};
use ona_settings::Planning;
use serde_json::Value;
use std::path::Path;

#[derive(Clone, Debug)]
pub struct PermissionEngine {
    pub(crate) rules: Rules,
    pub(crate) compiled: CompiledRules,
    pub(crate) mode: Mode,
    /// The mode to go back to when planning ends (DEC-115); set while plan mode is the planning phase's.
    pub(crate) before_planning: Option<Mode>,
    pub(crate) session_dirs: SessionDirs,
    pub(crate) working_dirs: WorkingDirs,
    pub(crate) guarded: GuardedFiles,
    pub(crate) servers: Option<Vec<String>>,
    pub(crate) worktree: Option<WorktreeReader>,
    /// Set while the session works in a git worktree of its project.
    pub(crate) confinement: Option<Confinement>,
    planning: Planning,
}

impl PermissionEngine {
    pub fn new(rules: Rules, mode: Mode, session_dirs: SessionDirs, guarded: GuardedFiles) -> Self {
        let (compiled, working_dirs) = (CompiledRules::new(&rules, &session_dirs), WorkingDirs::of(&session_dirs));
        Self {
            rules,
            compiled,
            mode,
            before_planning: None,
            session_dirs,
            working_dirs,
            guarded,
            servers: None,
            worktree: None,
            confinement: None,
            planning: Planning::default(),
        }
    }

    pub fn with_planning(self, planning: Planning) -> Self {
        Self { planning, ..self }
    }

    pub fn planning(&self) -> Planning {
        self.planning
    }

    /// Sets the names of the MCP servers, so that `mcp__a__b__c` belongs to one of them (K-2).
    pub fn with_servers(mut self, servers: impl IntoIterator<Item = String>) -> Self {
        self.set_servers(servers);
        self
    }

    /// Registers a tool of a hook module. Returns the texts of the rules that apply because of it.
    pub fn register_tool(&mut self, tool: &str) -> Vec<String> {
        let counting = self.rules.register_tool(tool);
        if !counting.is_empty() {
            self.compiled = self.compiled_rules();
        }
        counting
    }

    /// Sets the names of the MCP servers. An empty list means that they are not known.
    pub fn set_servers(&mut self, servers: impl IntoIterator<Item = String>) {
        let servers: Vec<_> = servers.into_iter().collect();
        self.servers = (!servers.is_empty()).then_some(servers);
    }

    /// Adds the name of a server that came in later.
    pub fn add_server(&mut self, server: String) {
        let known = self.servers.get_or_insert_default();
        if !known.contains(&server) {
            known.push(server);
        }
    }

    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Begins planning: the mode is `plan` until planning ends.
    pub fn begin_planning(&mut self) {
        if self.before_planning.is_none() {
            self.before_planning = Some(std::mem::replace(&mut self.mode, Mode::Plan));
        }
    }

    /// Ends planning: restores the mode from before, unless another one was chosen in the meantime.
    pub fn end_planning(&mut self) {
        if let Some(mode) = self.before_planning.take() {
            self.mode = mode;
        }
    }

    /// Returns the mode planning took the place of.
    pub fn before_planning(&self) -> Option<Mode> {
        self.before_planning
    }

    pub fn session_dirs(&self) -> &SessionDirs {
        &self.session_dirs
    }

    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Decides one call. `hook` is the merged opinion of the PreToolUse hooks:
    /// its allow stands in for step (4) only, its ask is a question unless a rule
    /// denies (DEC-052).
    pub fn decide(
        &self,
        tool: &str,
        input: &Value,
        access: &[Access],
        hook: Option<(Ruling, Ordinal, String)>,
    ) -> Verdict {
        self.decide_with_paths(tool, input, access, hook).0
    }

    /// Decides a call of an MCP tool that may change things, while planning: what the settings say of
    /// that counts as an entry of the deny or the ask list (DEC-186).
    pub fn decide_while_planning(
        &self,
        tool: &str,
        input: &Value,
        access: &[Access],
        hook: Option<(Ruling, Ordinal, String)>,
    ) -> Verdict {
        self.decide_call(&ParsedCall::new(tool, input, access, &self.session_dirs), hook, self.planning.mcp)
    }

    /// As `decide`, and the paths of the call as they were resolved for the decision. It
    /// holds for these paths and no others (DEC-184).
    pub fn decide_with_paths(
        &self,
        tool: &str,
        input: &Value,
        access: &[Access],
        hook: Option<(Ruling, Ordinal, String)>,
    ) -> (Verdict, Vec<Forms>) {
        let call = ParsedCall::new(tool, input, access, &self.session_dirs);
        let verdict = self.decide_call(&call, hook, None);
        let paths = call.parts.into_iter().filter_map(|part| match part {
            CallPart::Read(path) | CallPart::Search(path) | CallPart::Edit(path) => Some(path),
            CallPart::Shell(_) | CallPart::Fetch(_) | CallPart::Plain => None,
        });
        (verdict, paths.collect())
    }

    /// `listed`: as if the list of this ruling had an entry for the call.
    fn decide_call(
        &self,
        call: &ParsedCall<'_>,
        hook: Option<(Ruling, Ordinal, String)>,
        listed: Option<Ruling>,
    ) -> Verdict {
        let tool = call.tool;
        // (0)
        if let Some(verdict) = floor::verdict(call, &self.guarded, &self.session_dirs) {
            return verdict;
        }
        if let Some(verdict) = self.leaves_worktree(call) {
            return verdict;
        }
        let losses = self.losses(call);
        if let Some(path) = losses.iter().find_map(|loss| match loss {
            Loss::Guard(path) => Some(path),
            Loss::Work(_) => None,
        }) {
            return floor::protected(path);
        }
        let mut hook_allow = None;
        let mut hook_ask = None;
        match hook {
            Some((Ruling::Deny, by, message)) => return Verdict::new(Ruling::Deny, Authority::Hook(by), message),
            Some((Ruling::Ask, by, message)) => hook_ask = Some((by, message)),
            Some((Ruling::Allow, by, message)) => hook_allow = Some((by, message)),
            None => {}
        }
        // (1)
        let deny = strongest_match(&self.compiled.deny, call);
        let denied = |rule: &str| {
            let message = format!("Denied by permission rule {rule}");
            Verdict::new(Ruling::Deny, Authority::Rule(rule.to_owned()), message)
        };
        match deny {
            Some((Overlap::Yes, rule)) => return denied(rule),
            Some((Overlap::Maybe | Overlap::No, _)) | None if listed == Some(Ruling::Deny) => {
                return denied(&Planning::rule(Ruling::Deny));
            }
            Some((Overlap::Maybe | Overlap::No, _)) | None => {}
        }
        // (2)
        let by_planning = (listed == Some(Ruling::Ask)).then(|| Planning::rule(Ruling::Ask));
        let asking = strongest_match(&self.compiled.ask, call).map(|(_, rule)| rule).or(by_planning.as_deref());
        if let Some(rule) = asking {
            let message = format!("{}, which rule {} asks about", describe(call), brief(rule));
            let question = Verdict::new(Ruling::Ask, Authority::Rule(rule.to_owned()), message);
            return self.with_floor_question(call, deny, &losses, question);
        }
        if let Some((by, message)) = hook_ask {
            return self.with_floor_question(
                call,
                deny,
                &losses,
                Verdict::new(Ruling::Ask, Authority::Hook(by), message),
            );
        }
        // (3), else the hook, else (4)
        let granted = self.allow_rules().rule(call);
        let verdict = match (&granted, hook_allow) {
            (Ok(rule), _) => Verdict::new(Ruling::Allow, Authority::Rule((*rule).to_owned()), ""),
            (Err(_), Some((by, message))) if !self.plan_denies(tool) => {
                Verdict::new(Ruling::Allow, Authority::Hook(by), message)
            }
            (Err(gap), _) => self.by_mode(call, gap),
        };
        // What no allow satisfies. A denial stays one.
        if verdict.ruling != Ruling::Deny
            && let Some(what) = self.safety(call, deny, &losses)
        {
            if matches!(self.mode, Mode::DontAsk) || self.plan_denies(tool) && granted.is_err() {
                return self.denied_by_mode();
            }
            return floor_question(what);
        }
        verdict
    }

    /// Adds the floor's question to one of a rule or a hook. Where the floor asks as well, the question is the
    /// floor's, because a hook may answer the other one (DEC-183).
    fn with_floor_question(
        &self,
        call: &ParsedCall<'_>,
        deny: Option<(Overlap, &str)>,
        losses: &[Loss],
        question: Verdict,
    ) -> Verdict {
        let Some(what) = self.safety(call, deny, losses) else { return question };
        let floor = floor_question(what);
        Verdict { message: format!("{}\n{}", floor.message, question.message), ..floor }
    }

    /// The same rules for behavioural tests, whose `AGENT_SDLC_DB` names a database
    /// of their own.
    pub fn for_tests(mut self) -> Self {
        self.guarded.for_tests();
        self
    }

    /// For search tools: whether a found file may be shown.
    pub fn may_show(&self, path: &Path) -> bool {
        let mut rules = self.compiled.deny.iter().filter(|compiled| compiled.is_read_rule()).peekable();
        if rules.peek().is_none() {
            return true;
        }
        let path = Forms::of(path);
        !rules.any(|compiled| compiled.matches_read(&path))
    }

    /// Decides about a web address that a running call comes to: the target of a redirect.
    pub fn judge_address(&self, url: &str) -> Verdict {
        let access = [Access::Fetch { url: url.to_owned() }];
        self.decide("WebFetch", &serde_json::json!({ "url": url }), &access, None)
    }

    /// Returns whether an allow rule names the host of an address. One for WebFetch as a whole does not.
    pub fn names_host(&self, url: &str) -> bool {
        domain::address(url).is_some_and(|url| self.allow_rules().names_host(&url))
    }

    /// Refuses addresses that lead to this machine or the network it is in, unless a rule names the host.
    /// No mode and no hook lifts that. What a name stands for is known only when it is looked up, so
    /// the tool asks again then.
    pub fn refuse_address(&self, access: &[Access]) -> Option<Verdict> {
        access.iter().find_map(|access| {
            let Access::Fetch { url } = access else { return None };
            let url = domain::address(url)?;
            let class = domain::class(&url).filter(|_| !self.allow_rules().names_host(&url))?;
            let host = domain::host(&url);
            let message = format!(
                "Denied: {host} is {class}, which is fetched only if an allow rule names it, such as WebFetch(domain:{host})"
            );
            Some(Verdict::new(Ruling::Deny, Authority::Protected(host), message))
        })
    }

    /// Returns the guarded file that an open file is another name of (a hard link).
    pub fn guarded_file(&self, dev: u64, ino: u64) -> Option<&str> {
        self.guarded.same_file(dev, ino)
    }

    /// Returns the guarded file that putting something in the place of this path would change.
    pub fn guards(&self, path: &Forms) -> Option<&str> {
        self.guarded.reached(path, Touch::Replace)
    }

    /// Returns whether a path lies in the working directories, as written and as resolved.
    pub fn is_in_working_dirs(&self, path: &Forms) -> bool {
        self.working_dirs.contains(path)
    }

    /// Returns whether a deny rule removes the tool from what a model is offered.
    pub fn hides_tool(&self, tool: &str) -> bool {
        self.compiled.deny.iter().any(|compiled| compiled.hides_tool(tool))
    }

    pub(crate) fn allow_rules(&self) -> AllowRules<'_> {
        AllowRules {
            allow: &self.compiled.allow,
            working_dirs: &self.working_dirs,
            home: &self.session_dirs.home,
            servers: self.servers.as_deref(),
            edits: self.mode == Mode::AcceptEdits,
        }
    }

    fn safety(&self, call: &ParsedCall<'_>, deny: Option<(Overlap, &str)>, losses: &[Loss]) -> Option<String> {
        let risk = safety::risk(call, &self.guarded, &self.session_dirs, &self.working_dirs);
        if let Some(Risk::Critical(what)) = risk {
            return Some(what);
        }
        if let Some(what) = losses.iter().find_map(|loss| match loss {
            Loss::Work(what) => Some(what.clone()),
            Loss::Guard(_) => None,
        }) {
            return Some(what);
        }
        if let Some((Overlap::Maybe, rule)) = deny {
            return Some(format!("{}, and it cannot be determined whether {} denies it", describe(call), brief(rule)));
        }
        match risk {
            Some(Risk::Sensitive(what)) if self.mode != Mode::BypassPermissions => Some(what),
            _ => None,
        }
    }

    /// plan denies four tools, also against a hook's allow.
    fn plan_denies(&self, tool: &str) -> bool {
        self.mode == Mode::Plan && matches!(tool, "Write" | "Edit" | "Bash" | "NotebookEdit")
    }

    fn by_mode(&self, call: &ParsedCall<'_>, gap: &UncoveredPart) -> Verdict {
        let allowed = || Verdict::new(Ruling::Allow, Authority::Mode(self.mode), "");
        match self.mode {
            Mode::BypassPermissions => allowed(),
            Mode::DontAsk => self.denied_by_mode(),
            Mode::Plan if self.plan_denies(call.tool) => self.denied_by_mode(),
            Mode::AcceptEdits if self.accepts(call) => allowed(),
            Mode::Default | Mode::AcceptEdits | Mode::Plan => {
                let message = format!("{}; {}", describe(call), gap.sentence(call));
                Verdict::new(Ruling::Ask, Authority::Mode(self.mode), message)
            }
        }
    }

    fn denied_by_mode(&self) -> Verdict {
        let message = format!("Denied by permission mode {}", self.mode);
        Verdict::new(Ruling::Deny, Authority::Mode(self.mode), message)
    }

    /// acceptEdits: three tools, inside the working directories.
    fn accepts(&self, call: &ParsedCall<'_>) -> bool {
        matches!(call.tool, "Read" | "Write" | "Edit")
            && call.parts.iter().all(|part| match part {
                CallPart::Read(path) | CallPart::Search(path) | CallPart::Edit(path) => {
                    self.working_dirs.contains(path)
                }
                CallPart::Shell(_) | CallPart::Fetch(_) | CallPart::Plain => false,
            })
    }
}

/// Returns the floor's question.
fn floor_question(what: String) -> Verdict {
    let message = format!("{what}; only a person can allow this, whatever rules and hooks say");
    Verdict::new(Ruling::Ask, Authority::Safety(what), message)
}

/// Returns the strongest hit of a list and the rule it comes from.
fn strongest_match<'r>(rules: &'r [CompiledRule], call: &ParsedCall<'_>) -> Option<(Overlap, &'r str)> {
    let mut best = None;
    for compiled in rules {
        let overlap = compiled.matches(call);
        if overlap == Overlap::Yes {
            return Some((overlap, &compiled.rule.text));
        }
        if overlap == Overlap::Maybe {
            best = best.or(Some((overlap, compiled.rule.text.as_str())));
        }
    }
    best
}

/// Returns what a call is about to do, as the start of a sentence.
fn describe(call: &ParsedCall<'_>) -> String {
    let tool = call.tool;
    match call.parts.first() {
        Some(CallPart::Read(path)) => format!("{tool} wants to read {}", brief(&path.given.to_string_lossy())),
        Some(CallPart::Search(path)) => format!("{tool} wants to search {}", brief(&path.given.to_string_lossy())),
        Some(CallPart::Edit(path)) => format!("{tool} wants to change {}", brief(&path.given.to_string_lossy())),
        Some(CallPart::Shell(shell)) => format!("{tool} wants to run {}", brief(&shell.text)),
        Some(CallPart::Fetch(Some(url))) => format!("{tool} wants to fetch {}", brief(url.as_str())),
        Some(CallPart::Fetch(None) | CallPart::Plain) | None => format!("{tool} wants to run"),
    }
}
