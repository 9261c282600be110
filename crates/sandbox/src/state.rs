//! What holds here, for people: per mechanism, with the reason where it does not.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::fmt;

/// Which means of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mechanism {
    Namespaces,
    Landlock,
    Seccomp,
}

impl Mechanism {
    pub const ALL: [Self; 3] = [Self::Namespaces, Self::Landlock, Self::Seccomp];

    pub fn name(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces",
            Self::Landlock => "landlock",
            Self::Seccomp => "seccomp",
        }
    }
}

impl fmt::Display for Mechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether something holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state", content = "reason")]
pub enum Enforcement {
    Enforced,
    /// Some of it, and what not.
    Partial(String),
    /// None of it, and why.
    Off(String),
}

impl Enforcement {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Enforced => "enforced",
            Self::Partial(_) => "partial",
            Self::Off(_) => "off",
        }
    }

    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Enforced => None,
            Self::Partial(reason) | Self::Off(reason) => Some(reason),
        }
    }
}

/// What was found by trying.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub mechanisms: Vec<(Mechanism, Enforcement)>,
    /// What was tried and should have failed, but did not.
    pub gaps: Vec<String>,
}

impl fmt::Display for State {
    /// One line for the whole and one for each mechanism.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let overall = ("sandbox", self.overall());
        let each = self.mechanisms.iter().map(|(mechanism, condition)| (mechanism.name(), condition.clone()));
        let lines = std::iter::once(overall).chain(each).map(|(name, condition)| {
            let reason = condition.reason().map(|reason| format!("  {reason}")).unwrap_or_default();
            format!("{name:<12} {}{reason}", condition.name())
        });
        f.write_str(&lines.collect::<Vec<_>>().join("\n"))
    }
}

impl State {
    pub fn to_json(&self) -> Value {
        let condition = |one: &Enforcement| json!({"state": one.name(), "reason": one.reason()});
        let mechanisms = self.mechanisms.iter().map(|(mechanism, one)| (mechanism.name().to_owned(), condition(one)));
        let mechanisms: Map<String, Value> = mechanisms.collect();
        let overall = self.overall();
        json!({"state": overall.name(), "reason": overall.reason(), "mechanisms": mechanisms, "gaps": self.gaps})
    }

    /// Returns what a child behind the wall can rely on: enforced if nothing that was tried got through.
    pub fn overall(&self) -> Enforcement {
        let missing = || {
            let missing = self.mechanisms.iter().filter_map(|(mechanism, condition)| match condition {
                Enforcement::Off(reason) | Enforcement::Partial(reason) => Some(format!("{mechanism}: {reason}")),
                Enforcement::Enforced => None,
            });
            missing.chain(self.gaps.iter().map(|gap| format!("not prevented: {gap}"))).collect::<Vec<_>>().join("; ")
        };
        if self.mechanisms.iter().all(|(_, condition)| matches!(condition, Enforcement::Off(_))) {
            Enforcement::Off(missing())
        } else if self.gaps.is_empty() {
            Enforcement::Enforced
        } else {
            Enforcement::Partial(missing())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_is_enforced_only_if_nothing_got_through() {
        let off = || Enforcement::Off("no user namespaces".into());
        let state = |first, gaps: &[&str]| State {
            mechanisms: vec![(Mechanism::Namespaces, first), (Mechanism::Landlock, Enforcement::Enforced)],
            gaps: gaps.iter().map(ToString::to_string).collect(),
        };
        assert_eq!(state(Enforcement::Enforced, &[]).overall(), Enforcement::Enforced);
        // What one mechanism lacks another may make good.
        assert_eq!(state(off(), &[]).overall(), Enforcement::Enforced);
        let partial = state(off(), &["reading a hidden file"]).overall();
        assert_eq!(partial.name(), "partial");
        assert_eq!(partial.reason(), Some("namespaces: no user namespaces; not prevented: reading a hidden file"));
        let nothing = State { mechanisms: vec![(Mechanism::Namespaces, off())], gaps: Vec::new() };
        assert_eq!(nothing.overall().name(), "off");
    }
}
