//! Counts of what was done, by name.

use std::collections::BTreeMap;

#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    sums: BTreeMap<String, u64>,
    highest: BTreeMap<String, u64>,
}

impl Tally {
    pub(crate) fn add(&mut self, name: &str, count: u64) {
        *self.sums.entry(name.to_owned()).or_default() += count;
    }

    /// A measurement, of which the highest counts.
    pub(crate) fn set_max(&mut self, name: &str, value: u64) {
        let held = self.highest.entry(name.to_owned()).or_default();
        *held = value.max(*held);
    }

    pub(crate) fn merge(&mut self, other: Self) {
        other.sums.into_iter().for_each(|(name, count)| self.add(&name, count));
        other.highest.into_iter().for_each(|(name, value)| self.set_max(&name, value));
    }

    pub(crate) fn text(&self) -> String {
        self.sums
            .iter()
            .chain(&self.highest)
            .map(|(name, count)| format!("{name} {count}"))
            .collect::<Vec<_>>()
            .join(", ")
    }
}
