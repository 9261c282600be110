//! Where skills and commands are stored, and which of two with the same name counts.
//!
//! The user's come before the project's, so that a cloned folder cannot put its own
//! text under a name the user knows; nearer folders before those above, ona's before those of
//! `.claude`, skills before commands. A project's file must lie in the project: a link that
//! leads out of it would send a private file to a model.

use super::meta::SkillPage;
use super::{Family, Plugin, Skill, SkillFork, SkillKind, SkillScope, Skills};
use ona_files::{Follow, TOO_MANY_ENTRIES};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The description of one skill, in characters.
const DESCRIPTION: usize = 1_536;
/// Keys without an effect, each with the value that asks for nothing else.
const UNUSED: [(&str, &str); 2] = [("effort", "inherit"), ("shell", "bash")];
/// How deep folders of commands are looked through.
const DEEPEST: usize = 8;

/// One folder that may hold `skills` and `commands`: `.ona` or `.claude` of some place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillFolder {
    pub folder: PathBuf,
    pub scope: SkillScope,
    pub family: Family,
    /// What a file may not lead out of; `None` for the user's own.
    pub within: Option<PathBuf>,
    /// The plugin whose folder it is; its name precedes those of its skills.
    pub plugin: Option<Plugin>,
}

/// The folders of one run.
#[derive(Clone, Debug, Default)]
pub struct SkillFolders(pub Vec<SkillFolder>);

impl SkillFolders {
    /// Both folders of one place, ona's first.
    pub fn add(&mut self, place: &Path, scope: SkillScope, within: Option<&Path>, compatible: bool) {
        let families = [(".ona", Family::Ona), (".claude", Family::Claude)];
        for (name, family) in families.into_iter().filter(|(_, family)| compatible || *family == Family::Ona) {
            let folder = place.join(name);
            if !self.0.iter().any(|shelf| shelf.folder == folder) {
                self.0.push(SkillFolder { folder, scope, family, within: within.map(Path::to_owned), plugin: None });
            }
        }
    }

    /// The user's, whose `.claude` may have another name.
    pub fn add_user(&mut self, home: &Path, claude: Option<&Path>, compatible: bool) {
        self.add(home, SkillScope::User, None, compatible && claude.is_none());
        if let Some(folder) = claude.filter(|_| compatible) {
            let folder = folder.to_owned();
            self.0.push(SkillFolder {
                folder,
                scope: SkillScope::User,
                family: Family::Claude,
                within: None,
                plugin: None,
            });
        }
    }

    /// The folder of a plugin.
    pub fn add_plugin(&mut self, plugin: Plugin) {
        let folder = plugin.root.clone();
        let (scope, family, within) = (SkillScope::User, Family::Claude, Some(folder.clone()));
        self.0.push(SkillFolder { folder, scope, family, within, plugin: Some(plugin) });
    }

    /// Reads everything that is there, from the strongest folder to the weakest.
    pub fn read(&self) -> Skills {
        let mut skills = Skills::default();
        let mut seen = HashSet::new();
        for scope in [SkillScope::User, SkillScope::Project] {
            for kind in [SkillKind::Skill, SkillKind::Command] {
                for shelf in self.0.iter().filter(|shelf| shelf.scope == scope) {
                    for (name, file) in files(shelf, kind, &mut skills.left_out) {
                        // The same file by another way is the same skill.
                        if !seen.insert(fs::canonicalize(&file).unwrap_or_else(|_| file.clone())) {
                            continue;
                        }
                        match skill(shelf, kind, name, &file) {
                            Ok((skill, wrong)) => {
                                skills.add(skill);
                                skills.left_out.extend(wrong.map(|why| (file, why)));
                            }
                            Err(why) => skills.left_out.push((file, why)),
                        }
                    }
                }
            }
        }
        skills
    }
}

fn files(shelf: &SkillFolder, kind: SkillKind, left_out: &mut Vec<(PathBuf, String)>) -> Vec<(String, PathBuf)> {
    let (folder, depth) = match kind {
        SkillKind::Skill => (shelf.folder.join("skills"), 0),
        SkillKind::Command => (shelf.folder.join("commands"), DEEPEST),
    };
    let found = ona_files::list_below(&folder, depth, Follow::Links);
    if found.truncated {
        left_out.push((folder.clone(), format!("it {TOO_MANY_ENTRIES}")));
    }
    let named = |path: PathBuf| match kind {
        SkillKind::Skill => {
            let name = path.file_name()?.to_str()?.to_owned();
            Some((name, path.join("SKILL.md"))).filter(|(_, file)| file.exists())
        }
        // `a/b.md` is the command `a:b`.
        SkillKind::Command => {
            let name = path.strip_prefix(&folder).ok()?.to_str()?.strip_suffix(".md")?.replace('/', ":");
            Some((name, path))
        }
    };
    let mut files: Vec<_> = found.paths.into_iter().filter_map(named).collect();
    files.retain(|(name, _)| is_name(name));
    if let Some(plugin) = &shelf.plugin {
        files.iter_mut().for_each(|(name, _)| *name = format!("{}:{name}", plugin.name));
    }
    files.sort();
    files
}

/// Names are typed and used in rules, so they must be plain.
fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    name != "synced" && !name.is_empty() && !name.starts_with(['.', '-', ':']) && name.chars().all(plain)
}

/// Returns the skill of a file and what is wrong with its front matter, or why it has no skill.
fn skill(shelf: &SkillFolder, kind: SkillKind, name: String, file: &Path) -> Result<(Skill, Option<String>), String> {
    let real = fs::canonicalize(file).map_err(|error| format!("it cannot be read: {error}"))?;
    if let Some(within) = &shelf.within {
        let within = fs::canonicalize(within).unwrap_or_else(|_| within.clone());
        if !real.starts_with(&within) {
            return Err(format!("it leads out of {}", within.display()));
        }
    }
    let text = ona_files::read_text(&real).map_err(|why| format!("it {why}"))?;
    let page = SkillPage::read(&text);
    let said = [page.text("description"), page.text("when_to_use")];
    let described = said.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let description = if described.is_empty() { first_paragraph(page.body) } else { described };
    let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
    let dir = file.parent().unwrap_or(file).to_owned();
    let skill = Skill {
        kind,
        scope: shelf.scope,
        family: shelf.family,
        plugin: shelf.plugin.clone(),
        description: ona_api::text::head(&description, DESCRIPTION).0.to_owned(),
        argument_hint: page.text("argument-hint"),
        arguments: page.words("arguments"),
        by_model: page.flag("disable-model-invocation") != Some(true),
        by_user: page.flag("user-invocable") != Some(false),
        allowed_tools: page.rules("allowed-tools"),
        disallowed_tools: page.rules("disallowed-tools"),
        hooks: page.value("hooks"),
        fork: (page.text("context").as_deref() == Some("fork"))
            .then(|| SkillFork { agent: page.text("agent"), background: page.flag("background") == Some(true) }),
        model: page.text("model").filter(|name| name != "inherit"),
        paths: page.paths("paths"),
        unused: UNUSED
            .into_iter()
            .filter(|(key, usual)| page.text(key).is_some_and(|text| text != *usual))
            .map(|(key, _)| key)
            .collect(),
        has_files: kind == SkillKind::Skill && fs::read_dir(&dir).is_ok_and(|entries| entries.take(2).count() > 1),
        body: page.body.trim().to_owned(),
        file: file.to_owned(),
        dir,
        name,
    };
    Ok((skill, page.wrong.map(|why| format!("its front matter cannot be read whole: {why}"))))
}

/// The first words that are neither a heading nor empty.
fn first_paragraph(body: &str) -> String {
    let lines = body.lines().map(str::trim).skip_while(|line| line.is_empty() || line.starts_with('#'));
    lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn put(path: PathBuf, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn the_users_win_and_skills_come_before_commands() {
        let dir = tempfile::tempdir().unwrap();
        let (home, project) = (dir.path().join("home"), dir.path().join("project"));
        put(home.join(".claude/skills/a/SKILL.md"), "mine");
        put(home.join(".ona/skills/b/SKILL.md"), "ona's");
        put(home.join(".claude/skills/b/SKILL.md"), "claude's");
        put(project.join(".ona/skills/a/SKILL.md"), "theirs");
        put(project.join(".claude/skills/c/SKILL.md"), "# Title\n\nWhat it\nis for.\n\nMore.");
        put(project.join(".claude/commands/c.md"), "a command");
        put(project.join(".claude/commands/git/tidy.md"), "---\ndescription: tidies\n---\nTidy.");
        let mut shelves = SkillFolders::default();
        shelves.add(&home, SkillScope::User, None, true);
        shelves.add(&project, SkillScope::Project, Some(&project), true);
        let skills = shelves.read();
        let told: Vec<_> = skills.iter().map(|one| (one.name.as_str(), one.body.as_str())).collect();
        assert_eq!(
            told,
            [("a", "mine"), ("b", "ona's"), ("c", "# Title\n\nWhat it\nis for.\n\nMore."), ("git:tidy", "Tidy.")]
        );
        assert_eq!(skills.get(" /c ").unwrap().description, "What it is for.");
        assert_eq!(skills.get("tidy").unwrap().name, "git:tidy");
        assert_eq!(skills.get("a").unwrap().scope, SkillScope::User);
        assert!(skills.get("../a").is_none() && skills.get("").is_none());

        let mut own = SkillFolders::default();
        own.add(&project, SkillScope::Project, Some(&project), false);
        assert_eq!(own.read().iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn a_projects_file_does_not_lead_out_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("project");
        put(dir.path().join("secret"), "private");
        put(dir.path().join("elsewhere/SKILL.md"), "outside");
        put(project.join("kept/SKILL.md"), "inside");
        fs::create_dir_all(project.join(".ona/skills/file")).unwrap();
        symlink(dir.path().join("secret"), project.join(".ona/skills/file/SKILL.md")).unwrap();
        symlink(dir.path().join("elsewhere"), project.join(".ona/skills/folder")).unwrap();
        symlink(project.join("kept"), project.join(".ona/skills/linked")).unwrap();
        fs::create_dir_all(project.join(".ona/skills/dir/SKILL.md")).unwrap();
        let mut shelves = SkillFolders::default();
        shelves.add(&project, SkillScope::Project, Some(&project), true);
        let skills = shelves.read();
        assert_eq!(skills.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["linked"]);
        assert_eq!(skills.left_out.len(), 3, "{:?}", skills.left_out);
        let mut own = SkillFolders::default();
        own.add(&project, SkillScope::User, None, true);
        assert_eq!(own.read().get("folder").unwrap().body, "outside", "a person may link anywhere");
    }
}
