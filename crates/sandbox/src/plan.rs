//! Which mounts make a policy true: a decision about paths, without a system call.

use crate::policy::WallPolicy;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What becomes of one path. Order matters: where two apply the later one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mount {
    /// Mounted over itself, so that it can be neither renamed nor removed.
    Pinned,
    ReadOnly,
    Hidden,
}

/// Returns the mounts with those of outer folders first, as they have to be made.
///
/// A file that cannot be written can still be replaced by renaming a folder above it, so all
/// folders above are pinned. `can_be_renamed` says which of them need it: those in a folder
/// that the user may write.
pub(crate) fn mounts(policy: &WallPolicy, can_be_renamed: impl Fn(&Path) -> bool) -> Vec<(PathBuf, Mount)> {
    let mut mounts = BTreeMap::new();
    let mut add = |path: &Path, mount: Mount| {
        let known = mounts.entry(path.to_owned()).or_insert(mount);
        *known = mount.max(*known);
    };
    let asked_for = [
        (&policy.read_only, Mount::ReadOnly),
        (&policy.writable_inside, Mount::Pinned),
        (&policy.hidden, Mount::Hidden),
    ];
    for (paths, mount) in asked_for {
        for path in paths.iter().filter(|path| path.parent().is_some()) {
            add(path, mount);
            for above in path.ancestors().skip(1).filter(|above| above.parent().is_some()) {
                if can_be_renamed(above) {
                    add(above, Mount::Pinned);
                }
            }
        }
    }
    // Paths sort before what lies below them.
    let mut mounts: Vec<_> = mounts.into_iter().collect();
    // Nothing is mounted below a folder that is not to be seen.
    let hidden: Vec<PathBuf> =
        mounts.iter().filter(|(_, mount)| *mount == Mount::Hidden).map(|(path, _)| path.clone()).collect();
    mounts.retain(|(path, _)| !hidden.iter().any(|hidden| path != hidden && path.starts_with(hidden)));
    mounts
}

/// Returns what may be granted as a whole so that none of `except` is granted, where a grant of a
/// folder holds for all below it: the folder itself, or else those of its entries that are free.
/// What is made later in a folder that had to be split is not granted.
pub(crate) fn grants(roots: &[PathBuf], except: &[PathBuf], entries: &dyn Fn(&Path) -> Vec<PathBuf>) -> Vec<PathBuf> {
    let mut granted = Vec::new();
    let mut open: Vec<PathBuf> = roots.to_vec();
    while let Some(path) = open.pop() {
        if except.iter().any(|except| path.starts_with(except)) {
            continue;
        }
        if except.iter().any(|except| except.starts_with(&path)) {
            open.extend(entries(&path));
        } else {
            granted.push(path);
        }
    }
    granted.sort();
    granted.dedup();
    granted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(paths: &[&str]) -> Vec<PathBuf> {
        paths.iter().map(PathBuf::from).collect()
    }

    fn shown(policy: &WallPolicy, root_owned: &[&str]) -> String {
        let mounts = mounts(policy, |path| !root_owned.iter().any(|name| path == Path::new(name)));
        let words: Vec<String> = mounts.iter().map(|(path, mount)| format!("{} {mount:?}", path.display())).collect();
        words.join(", ")
    }

    #[test]
    fn folders_above_a_guarded_file_are_pinned_from_the_outside_in() {
        let policy = WallPolicy { read_only: paths(&["/home/u/p/.ona/settings.json"]), ..WallPolicy::default() };
        assert_eq!(
            shown(&policy, &["/home", "/home/u"]),
            "/home/u/p Pinned, /home/u/p/.ona Pinned, /home/u/p/.ona/settings.json ReadOnly"
        );
    }

    #[test]
    fn the_stricter_one_wins_and_nothing_is_mounted_below_what_is_hidden() {
        let policy = WallPolicy {
            read_only: paths(&["/u/.ona", "/u/.ona/ona.db", "/u/secret/key"]),
            writable_inside: paths(&["/u/.ona/out"]),
            hidden: paths(&["/u/secret", "/u/.ona/ona.db"]),
            ..WallPolicy::default()
        };
        assert_eq!(
            shown(&policy, &["/u"]),
            "/u/.ona ReadOnly, /u/.ona/ona.db Hidden, /u/.ona/out Pinned, /u/secret Hidden"
        );
    }

    #[test]
    fn the_root_itself_is_never_mounted() {
        let policy = WallPolicy { read_only: paths(&["/", "/etc"]), ..WallPolicy::default() };
        assert_eq!(shown(&policy, &[]), "/etc ReadOnly");
    }

    #[test]
    fn a_grant_goes_around_what_is_left_out() {
        let entries = |path: &Path| {
            paths(match path.to_str().unwrap() {
                "/" => &["/etc", "/home", "/tmp"],
                "/home" => &["/home/u"],
                "/home/u" => &["/home/u/.ona", "/home/u/p"],
                "/home/u/p" => &["/home/u/p/.claude", "/home/u/p/src"],
                _ => panic!("{path:?} did not have to be listed"),
            })
        };
        let except = paths(&["/home/u/.ona", "/home/u/p/.claude"]);
        assert_eq!(grants(&paths(&["/"]), &except, &entries), paths(&["/etc", "/home/u/p/src", "/tmp"]));
        assert_eq!(grants(&paths(&["/tmp", "/tmp"]), &except, &entries), paths(&["/tmp"]));
        assert_eq!(grants(&paths(&["/home/u/.ona/x"]), &except, &entries), paths(&[]));
    }
}
