//! Landlock: where files may be written, and which processes can be reached.
//!
//! Landlock grants whole trees and cannot leave out one file of them. With a mount namespace
//! it therefore has little to say about guarded files; without one it grants what lies beside
//! them, and nothing new can be made in the folders between.

use crate::plan::grants;
use crate::policy::WallPolicy;
use landlock::{
    ABI, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetError, Scope,
};
use std::path::{Path, PathBuf};

/// The newest version whose rights are asked for, as far as the kernel has them.
const VERSION: ABI = ABI::V6;
/// Where programs write that write no files.
const DEVICES: [&str; 2] = ["/dev", "/proc"];

/// `alone`: without a mount namespace that guards files.
pub(crate) fn new(policy: &WallPolicy, alone: bool) -> Result<RulesetCreated, RulesetError> {
    let changes = AccessFs::from_write(VERSION);
    let root = [PathBuf::from("/")];
    let mut rules: Vec<(Vec<PathBuf>, BitFlags<AccessFs>)> = Vec::new();
    let guarded: Vec<PathBuf> = policy.read_only.iter().chain(&policy.hidden).cloned().collect();
    let writable = policy.workspace.as_deref().unwrap_or(&root);
    if alone {
        let mut granted = grants(writable, &guarded, &entries);
        granted.extend(policy.writable_inside.iter().cloned());
        rules.push((granted, changes));
        if !policy.hidden.is_empty() {
            rules.push((grants(&root, &policy.hidden, &entries), AccessFs::from_read(VERSION)));
        }
    } else if let Some(workspace) = &policy.workspace {
        rules.push((workspace.clone(), changes));
    } else {
        // Who may not make devices is in a domain of their own, and so cannot trace anybody outside.
        rules.push((Vec::new(), AccessFs::MakeChar | AccessFs::MakeBlock));
    }
    let handled = rules.iter().fold(BitFlags::empty(), |all, (_, access)| all | *access);
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(handled)?
        .scope(Scope::Signal | Scope::AbstractUnixSocket)?;
    let mut created = ruleset.create()?;
    for (paths, access) in rules {
        for path in paths {
            created = allow(created, &path, access)?;
        }
        if access == changes {
            for device in DEVICES {
                created = allow(created, Path::new(device), AccessFs::WriteFile | AccessFs::Truncate)?;
            }
        }
    }
    Ok(created)
}

/// A path that is gone in the meantime is not granted.
fn allow(ruleset: RulesetCreated, path: &Path, access: BitFlags<AccessFs>) -> Result<RulesetCreated, RulesetError> {
    let Ok(descriptor) = PathFd::new(path) else { return Ok(ruleset) };
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(VERSION) };
    ruleset.add_rule(PathBeneath::new(descriptor, access))
}

/// A folder that cannot be listed grants nothing.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    // A link is not followed: what it leads to is granted where it lies.
    entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()))
        .map(|entry| entry.path())
        .collect()
}
