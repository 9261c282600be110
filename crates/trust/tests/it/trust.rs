use crate::World;
use ona_trust::{Trust, TrustFlag, TrustState, project_root, trust_key, trust_state};
use std::fs;
use std::path::Path;

/// Asks for a folder with the given folders recorded as trusted.
fn in_repl(world: &World, start: &Path, trusted: &[&Path]) -> TrustState {
    let keys: Vec<_> = trusted.iter().map(|root| trust_key(root)).collect();
    trust_state(TrustFlag::Unsaid, &world.env, &project_root(start), |key| {
        keys.iter().any(|known| known == key).then(|| "trusted".to_owned())
    })
}

const ASK: TrustState = TrustState::Ask { lasting: true };

#[test]
fn only_a_yes_is_a_yes() {
    let world = World::new();
    let ask = |wish, row: Option<&str>| trust_state(wish, &world.env, &world.repo, |_| row.map(str::to_owned));
    let trusted = |recorded| TrustState::Trusted { recorded };
    let cases = [
        (TrustFlag::Unsaid, None, ASK),
        (TrustFlag::Unsaid, Some("trusted"), trusted(true)),
        (TrustFlag::Unsaid, Some("maybe"), ASK),
        (TrustFlag::Trust, None, trusted(false)),
        (TrustFlag::Trust, Some("trusted"), trusted(true)),
        (TrustFlag::Withhold, Some("trusted"), TrustState::Withheld),
    ];
    for (wish, row, expected) in cases {
        assert_eq!(ask(wish, row), expected, "{wish:?} {row:?}");
    }
    let never = world.env.clone().with("ONA_TRUST", "never");
    for wish in [TrustFlag::Unsaid, TrustFlag::Trust] {
        let trust_state = trust_state(wish, &never, &world.repo, |_| Some("trusted".into()));
        assert_eq!(trust_state, TrustState::Withheld, "ONA_TRUST=never holds");
    }
    let always = world.env.clone().with("ONA_TRUST", "always");
    assert_eq!(trust_state(TrustFlag::Unsaid, &always, &world.repo, |_| None), trusted(true));
    assert_eq!(trust_state(TrustFlag::Withhold, &always, &world.repo, |_| None), TrustState::Withheld);
    assert_eq!((ASK.trust(), trusted(false).trust()), (Trust::Withheld, Trust::Trusted));
}

#[test]
fn a9_a_nested_repository_asks_for_its_own_trust() {
    let world = World::new();
    let inner = world.repo.join("vendor/evil");
    fs::create_dir_all(inner.join(".git")).unwrap();
    assert_eq!(in_repl(&world, &world.repo, &[&world.repo]), TrustState::Trusted { recorded: true });
    assert_eq!(in_repl(&world, &inner, &[&world.repo]), ASK);
}

#[test]
fn b1_a_git_pointer_to_a_trusted_folder_borrows_nothing() {
    let world = World::new();
    let trusted = world.home.join("trusted");
    fs::create_dir_all(trusted.join(".git/worktrees/x")).unwrap();

    fs::write(world.repo.join(".git/commondir"), trusted.join(".git").to_str().unwrap()).unwrap();
    assert_eq!(in_repl(&world, &world.repo, &[&trusted]), ASK, "commondir");

    let evil = world.home.join("evil");
    fs::create_dir_all(&evil).unwrap();
    fs::write(evil.join(".git"), format!("gitdir: {}/.git/worktrees/x", trusted.display())).unwrap();
    assert_eq!(in_repl(&world, &evil, &[&trusted]), ASK, "a worktree's pointer file");
}

#[test]
fn b2_a_trusted_path_that_became_a_link_asks_again() {
    let world = World::new();
    let (path, evil) = (world.home.join("p"), world.home.join("evil"));
    fs::create_dir_all(&path).unwrap();
    fs::create_dir_all(&evil).unwrap();
    assert_eq!(in_repl(&world, &path, &[&path]), TrustState::Trusted { recorded: true });
    fs::remove_dir(&path).unwrap();
    std::os::unix::fs::symlink(&evil, &path).unwrap();
    assert_eq!(in_repl(&world, &path, &[&path]), ASK);
}

#[test]
fn b3_trusting_home_or_the_root_covers_nothing_below() {
    let world = World::new();
    let clone = world.home.join("Downloads/clone");
    fs::create_dir_all(clone.join(".git")).unwrap();
    let all: [&Path; 3] = [&world.home, Path::new("/"), world.home.parent().unwrap()];
    assert_eq!(in_repl(&world, &clone, &all), ASK);

    // With a repository in the home directory every plain folder has home for its root.
    fs::create_dir_all(world.home.join(".git")).unwrap();
    let plain = world.home.join("Downloads");
    assert_eq!(in_repl(&world, &plain, &all), TrustState::Ask { lasting: false });
}

#[test]
fn different_roots_have_different_keys() {
    use std::os::unix::ffi::OsStrExt;
    let raw = |bytes: &'static [u8]| trust_key(Path::new(std::ffi::OsStr::from_bytes(bytes)));
    assert_eq!(raw(b"/a/b"), "trust:/a/b");
    assert_eq!(raw(b"/\xff"), "trust:bytes:2fff");
    assert_ne!(raw(b"/\xff"), raw(b"/\xfe"), "paths that are not UTF-8 do not fall together");
}
