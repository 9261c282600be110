//! What the composer needs from the machine: the files of the project, what lies in a folder, whether a pasted
//! image is there, the user's own keys.
//!
//! The composer asks for these as values and never waits for them. Nothing here runs anything of the project.

use crate::composer::{Image, ImageSource, PathEntry};
use crate::input::Wake;
use crate::keys::{Keybindings, parse_keybindings};
use crate::menus::{FileIndexer, IndexOptions};
use crate::outside;
use ona_api::{Env, environment};
use ona_runtime::Launch;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::time::Duration;

/// An index older than this is made anew when files are asked for.
const FRESH: Duration = Duration::from_secs(20);
/// More than this in one folder is not offered.
const LISTED: usize = 5_000;

/// Programs that keep a clipboard, with what they are told.
const CLIPBOARDS: [(&str, &[&str]); 5] = [
    ("pbcopy", &[]),
    ("wl-copy", &[]),
    ("xclip", &["-selection", "clipboard"]),
    ("xsel", &["--clipboard", "--input"]),
    ("clip.exe", &[]),
];

/// Where ona runs, as far as the composer is concerned.
#[derive(Debug)]
pub(crate) struct Surroundings {
    env: Env,
    cwd: PathBuf,
    wakes: Sender<Wake>,
    walk: Option<(FileIndexer, Duration)>,
}

impl Surroundings {
    pub(crate) fn new(launch: &Launch, wakes: Sender<Wake>) -> Surroundings {
        Surroundings { env: launch.env.clone(), cwd: launch.cwd.clone(), wakes, walk: None }
    }

    /// Opens a file in the user's editor, which has the terminal meanwhile.
    pub(crate) fn edit_file(&self, file: &Path) -> Result<(), String> {
        outside::edit_file(file, &self.env, &self.cwd)
    }

    /// Gives a text to the clipboard program of this machine, if there is one. The terminal was asked as well.
    pub(crate) fn copy_to_clipboard(&self, text: &str) {
        let path = self.env.get(environment::PATH).unwrap_or_default().to_owned();
        let (env, text) = (self.env.clone(), text.as_bytes().to_vec());
        let copy = move || {
            for (program, args) in CLIPBOARDS {
                let Some(program) = ona_process::find_in_path(&path, program) else { continue };
                if ona_process::hand_over(&program, args, &env, &text).is_ok_and(|status| status.success()) {
                    return;
                }
            }
        };
        // Without a thread the terminal's own clipboard has it.
        std::thread::Builder::new().name("clipboard".into()).spawn(copy).ok();
    }

    pub(crate) fn keybindings(&self) -> Option<Result<Keybindings, String>> {
        keybindings(&self.env)
    }

    pub(crate) fn missing_images(&self, images: &[Image]) -> Vec<Image> {
        missing_images(&self.cwd, images)
    }

    pub(crate) fn list_folder(&self, folder: &Path) -> Vec<PathEntry> {
        list_folder(&self.cwd, &self.env.home(), folder)
    }

    /// Opens a text in the user's editor, which has the terminal meanwhile.
    pub(crate) fn edit(&self, text: &str) -> Result<String, String> {
        outside::edit(text, &self.env, &self.cwd)
    }

    /// Looks for an image in the clipboard; it arrives in the channel of the loop.
    pub(crate) fn paste_image(&self) {
        outside::paste_image(&self.env, &self.cwd, self.wakes.clone());
    }

    /// Makes an index of the files, unless the last one is recent. It arrives in the channel of the loop.
    pub(crate) fn want_files(&mut self, now: Duration) -> Result<(), String> {
        let (root, wakes) = (&self.cwd, self.wakes.clone());
        // The loop is gone only while the program ends.
        let deliver = move |files| drop(wakes.send(Wake::Files(files)));
        if self.walk.as_ref().is_some_and(|(_, began)| now.saturating_sub(*began) < FRESH) {
            return Ok(());
        }
        // A pipe in the place of an ignore file would hold the walk for ever.
        if let Err((path, why)) = ona_files::check_ignore_files(root) {
            return Err(format!("files cannot be completed: {why}: {}", path.display()));
        }
        let options = IndexOptions { root: root.clone(), respect_gitignore: true };
        let indexer =
            FileIndexer::start(options, deliver).map_err(|why| format!("files cannot be completed: {why}"))?;
        self.walk = Some((indexer, now));
        Ok(())
    }
}

/// Returns what lies in a folder that the user's shell line names. A folder that cannot be read has nothing to offer.
fn list_folder(cwd: &Path, home: &Path, folder: &Path) -> Vec<PathEntry> {
    let folder = folder.strip_prefix("~").map_or_else(|_| cwd.join(folder), |rest| home.join(rest));
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let entry = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().ok().filter(|name| !name.contains(char::is_control))?;
        // Links count as what they lead to.
        Some(PathEntry { folder: entry.path().is_dir(), name })
    };
    entries.flatten().take(LISTED).filter_map(entry).collect()
}

/// Returns the pasted images that cannot be read as files.
fn missing_images(cwd: &Path, images: &[Image]) -> Vec<Image> {
    let missing = |image: &&Image| match &image.source {
        ImageSource::File(path) => ona_files::open_regular(&cwd.join(path)).is_err(),
        ImageSource::Data { .. } => false,
    };
    images.iter().filter(missing).cloned().collect()
}

/// Reads the user's keybindings file. `None`: it does not exist.
fn keybindings(env: &Env) -> Option<Result<Keybindings, String>> {
    let path = keybindings_file(env);
    let said = |why: String| format!("{why}; the keys stay as they come: {}", path.display());
    match ona_files::read_text(&path) {
        Err(why) if why.is_absent() => None,
        Err(why) => Some(Err(said(why.to_string()))),
        Ok(text) => Some(parse_keybindings(&text).map_err(|why| said(why.to_string()))),
    }
}

/// Returns where the user's keybindings file is.
fn keybindings_file(env: &Env) -> PathBuf {
    let config = env.non_empty(environment::CLAUDE_CONFIG_DIR).map(PathBuf::from).filter(|dir| dir.is_absolute());
    config.unwrap_or_else(|| env.home().join(".claude")).join("keybindings.json")
}

#[cfg(test)]
mod tests {
    use super::{list_folder, missing_images};
    use crate::composer::{Image, ImageSource};

    #[test]
    fn a_folder_is_listed_from_where_the_line_runs() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("src/inner")).unwrap();
        std::fs::write(root.path().join("src/a.rs"), "").unwrap();
        let list = |folder: &str| {
            let home = root.path().join("src");
            let mut found = list_folder(root.path(), &home, folder.as_ref());
            found.sort_by(|a, b| a.name.cmp(&b.name));
            found
                .into_iter()
                .map(|entry| format!("{}{}", entry.name, if entry.folder { "/" } else { "" }))
                .collect::<Vec<_>>()
        };
        assert_eq!(list("src/"), ["a.rs", "inner/"]);
        assert_eq!(list("~/"), ["a.rs", "inner/"]);
        assert_eq!(list(""), ["src/"]);
        assert_eq!(list("missing/"), Vec::<String>::new());
    }

    #[test]
    fn an_image_is_a_file_that_can_be_read() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("a.png"), "x").unwrap();
        let image = |number, path: &str| Image { number, source: ImageSource::File(path.into()) };
        let all = [image(1, "a.png"), image(2, "b.png"), image(3, ".")];
        assert_eq!(missing_images(root.path(), &all), all[1..]);
    }
}
