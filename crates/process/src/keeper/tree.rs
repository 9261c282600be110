//! What descends from this process, read from `/proc`.
//!
//! The kernel gives orphans below a subreaper to it, so a process that descends from it once
//! does so until it ends. The list is of one moment: a caller that kills by it looks again.

use std::collections::HashMap;
use std::fs;

/// A process in one line of `/proc/ID/stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stat {
    id: i32,
    parent: i32,
    group: i32,
}

/// Returns the ids of everything that descends from `root`, without it.
pub(super) fn descendants(root: i32) -> Vec<i32> {
    below(root, &processes())
}

/// Returns those of the descendants that are in this process group.
pub(super) fn descendants_in_group(root: i32, group: i32) -> Vec<i32> {
    let processes = processes();
    let mut found = below(root, &processes);
    found.retain(|id| processes.iter().any(|process| process.id == *id && process.group == group));
    found
}

fn processes() -> Vec<Stat> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let ids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter_map(|id| stat(id, &fs::read_to_string(format!("/proc/{id}/stat")).ok()?)).collect()
}

/// The name in the line may contain anything, also parentheses.
fn stat(id: i32, line: &str) -> Option<Stat> {
    let mut fields = line.rsplit_once(')')?.1.split_whitespace().skip(1).map(str::parse);
    Some(Stat { id, parent: fields.next()?.ok()?, group: fields.next()?.ok()? })
}

fn below(root: i32, processes: &[Stat]) -> Vec<i32> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for process in processes {
        children.entry(process.parent).or_default().push(process.id);
    }
    let mut found = children.remove(&root).unwrap_or_default();
    let mut next = 0;
    while let Some(id) = found.get(next) {
        // Each list is taken once, so that numbers that changed owners during the look end the walk.
        found.extend(children.remove(id).unwrap_or_default());
        next += 1;
    }
    found.retain(|id| *id != root);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_walked_to_its_leaves_and_not_beyond() {
        let parents = [(2, 1), (3, 2), (9, 8), (4, 3), (5, 2), (1, 4)];
        let processes = parents.map(|(id, parent)| Stat { id, parent, group: 0 });
        assert_eq!(below(2, &processes), [3, 5, 4, 1]);
        assert_eq!(below(7, &processes), [] as [i32; 0]);
    }

    #[test]
    fn the_name_of_a_process_does_not_hide_its_parent() {
        assert_eq!(stat(12, "12 (a) S 7 (b)) R 4 11 12 0"), Some(Stat { id: 12, parent: 4, group: 11 }));
        assert_eq!(stat(12, "12 (sleep) S 3 12 12"), Some(Stat { id: 12, parent: 3, group: 12 }));
        assert_eq!(stat(12, ""), None);
    }
}
