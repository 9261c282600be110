//! The list of skills that a model receives before it loads one.

use super::{Skill, Skills};
use ona_api::text::head;

/// About a hundredth of a context of 200 000 tokens.
pub const LISTING_CHARACTERS: usize = 8_000;
/// A description shorter than this is omitted.
const SHORTEST: usize = 20;

impl Skills {
    /// The skills a model may load, except those that wait for a file, a line each, in the order of their names. Names are always
    /// there; descriptions share what is left of the room, so that every one is cut alike.
    pub fn listing(&self, characters: usize) -> String {
        let listed: Vec<&Skill> = self.iter().filter(|skill| skill.by_model && skill.paths.is_empty()).collect();
        let whole: Vec<String> = listed.iter().map(|skill| line(skill, usize::MAX)).collect();
        if whole.iter().map(|line| line.chars().count() + 1).sum::<usize>() <= characters {
            return whole.join("\n");
        }
        let names: usize = listed.iter().map(|skill| skill.name.chars().count() + 6).sum();
        let each = characters.saturating_sub(names) / listed.len().max(1);
        let most = if each < SHORTEST { 0 } else { each };
        listed.iter().map(|skill| line(skill, most)).collect::<Vec<_>>().join("\n")
    }
}

fn line(skill: &Skill, most: usize) -> String {
    let (shown, cut) = head(&skill.description, most);
    match (shown.is_empty(), cut) {
        (true, _) => format!("- {}", skill.name),
        (false, false) => format!("- {}: {shown}", skill.name),
        (false, true) => format!("- {}: {shown}…", skill.name),
    }
}

#[cfg(test)]
mod tests {
    use crate::skills::{SkillFolders, SkillScope};

    #[test]
    fn every_name_is_listed_whatever_the_room() {
        let dir = tempfile::tempdir().unwrap();
        for number in 0..50 {
            let folder = dir.path().join(format!(".ona/skills/s{number:02}"));
            std::fs::create_dir_all(&folder).unwrap();
            let hidden = if number == 7 { "disable-model-invocation: true\n" } else { "" };
            let text = format!("---\ndescription: {}\n{hidden}---\nbody", "word ".repeat(100));
            std::fs::write(folder.join("SKILL.md"), text).unwrap();
        }
        let mut shelves = SkillFolders::default();
        shelves.add(dir.path(), SkillScope::User, None, true);
        let skills = shelves.read();
        for room in [100, 2_000, 8_000] {
            let listing = skills.listing(room);
            assert_eq!(listing.lines().count(), 49, "{room}");
            assert!(listing.contains("- s49") && !listing.contains("s07"), "{listing}");
            assert!(listing.chars().count() <= room.max(49 * 6), "{} in {room}", listing.chars().count());
            assert_eq!(listing, skills.listing(room));
        }
        assert!(skills.listing(usize::MAX).contains("- s00: word word"));
    }
}
