//! Programs of the user that ona starts on their word: an editor in the terminal, and what reads the clipboard.

use crate::input::Wake;
use ona_api::Env;
use ona_api::environment::{self, Variable};
use ona_process::scratch::{self, Purpose};
use ona_process::{ChildCommand, ChildExit, OnDeath, find_in_path, run_blocking, run_in_terminal};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

/// Larger images are not sent to any model.
const IMAGE: usize = 32 * 1024 * 1024;

/// An image that was pasted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PastedImage {
    pub media_type: &'static str,
    pub data: Arc<[u8]>,
}

/// Opens a text in the user's editor, which has the terminal meanwhile, and returns what is left of it.
pub(crate) fn edit(text: &str, env: &Env, cwd: &Path) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("The editor could not be used: {error}");
    let folder =
        scratch::folder(Purpose::Edit, env.non_empty(environment::TMPDIR).unwrap_or("/tmp")).map_err(failed)?;
    let file = folder.path().join("prompt.md");
    std::fs::File::create(&file).and_then(|mut file| file.write_all(text.as_bytes())).map_err(failed)?;
    edit_file(&file, env, cwd).map_err(|why| format!("{why}; the text stays as it was"))?;
    std::fs::read_to_string(&file).map_err(failed)
}

/// The same for a file of the user's.
pub(crate) fn edit_file(file: &Path, env: &Env, cwd: &Path) -> Result<(), String> {
    let editor = [environment::VISUAL, environment::EDITOR].into_iter().find_map(|name| env.non_empty(name));
    let path = env.get(environment::PATH).unwrap_or_default();
    let editor = match editor {
        Some(editor) => editor,
        None if find_in_path(path, "vi").is_some() => "vi",
        None => return Err("No editor is known; set VISUAL or EDITOR".to_owned()),
    };
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    // As git does: the value is shell text, the file is its argument.
    let script = format!("{editor} \"$@\"");
    match run_in_terminal(Path::new("/bin/sh"), &["-c", &script, editor, &file.to_string_lossy()], env, cwd) {
        Ok(ended) if ended.success() => Ok(()),
        Ok(ended) => {
            let how = ended.code().map_or("it was ended by a signal".to_owned(), |code| format!("exit code {code}"));
            Err(format!("The editor {editor} could not be used: {how}"))
        }
        Err(error) => Err(format!("The editor {editor} could not be started: {error}")),
    }
}

/// Looks for an image in the clipboard. The answer arrives in the channel of the loop.
pub(crate) fn paste_image(env: &Env, cwd: &Path, wakes: Sender<Wake>) {
    let (env, cwd) = (env.clone(), cwd.to_path_buf());
    let look = {
        let wakes = wakes.clone();
        move || drop(wakes.send(Wake::Image(clipboard_image(&env, &cwd))))
    };
    if let Err(error) = std::thread::Builder::new().name("clipboard".into()).spawn(look) {
        wakes.send(Wake::Image(Err(error.to_string()))).ok();
    }
}

/// The programs that can read an image from the clipboard, by what has to be set for them.
const READERS: [(Option<Variable>, &str, &[&str]); 3] = [
    (Some(environment::WAYLAND_DISPLAY), "wl-paste", &["--no-newline", "--type", "image/png"]),
    (Some(environment::DISPLAY), "xclip", &["-selection", "clipboard", "-target", "image/png", "-out"]),
    (None, "pngpaste", &["-"]),
];

fn clipboard_image(env: &Env, cwd: &Path) -> Result<PastedImage, String> {
    let path = env.get(environment::PATH).unwrap_or_default();
    let fits = |needs: &Option<Variable>| needs.is_none_or(|name| env.non_empty(name).is_some());
    let mut found = false;
    for (_, program, args) in
        READERS.iter().filter(|(needs, program, _)| fits(needs) && find_in_path(path, program).is_some())
    {
        found = true;
        let child = ChildCommand {
            program: program.into(),
            args: args.iter().map(|arg| (*arg).into()).collect(),
            cwd: cwd.to_path_buf(),
            env: env.clone(),
            stdin: Vec::new(),
            cap: IMAGE,
            deadline: Some(Duration::from_secs(5)),
            grace: Duration::from_millis(100),
            on_death: OnDeath::Kill,
            wall: None,
        };
        let Ok(ran) = run_blocking(child) else { continue };
        if ran.end == ChildExit::Exited(0) && !ran.stdout.truncated && ran.stdout.bytes.starts_with(b"\x89PNG") {
            return Ok(PastedImage { media_type: "image/png", data: ran.stdout.bytes.into() });
        }
    }
    Err(match found {
        true => "No image is in the clipboard; the path of an image file can be pasted, too.".to_owned(),
        false => "The clipboard cannot be read here (wl-paste, xclip or pngpaste is needed); paste the path of an image file.".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::{clipboard_image, edit};
    use ona_api::Env;
    use std::os::unix::fs::PermissionsExt;

    fn program(folder: &std::path::Path, name: &str, text: &str) {
        let file = folder.join(name);
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn an_editor_changes_the_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = format!("{}:/usr/bin:/bin", folder.path().display());
        let env = Env::default().with("PATH", path).with("TMPDIR", folder.path().as_os_str());
        program(folder.path(), "my editor", "#!/bin/sh\n[ \"$1\" = -w ] && tr a-z A-Z <\"$2\" >x && cat x >\"$2\"\n");
        let with = |editor: &str| edit("mice", &env.clone().with("EDITOR", editor), folder.path());
        assert_eq!(with("'my editor' -w").as_deref(), Ok("MICE"));
        assert_eq!(
            with("false").unwrap_err(),
            "The editor false could not be used: exit code 1; the text stays as it was"
        );
        let visual = env.clone().with("EDITOR", "false").with("VISUAL", "true");
        assert_eq!(edit("mice", &visual, folder.path()).as_deref(), Ok("mice"), "VISUAL goes before EDITOR");
    }

    #[test]
    fn an_image_comes_from_the_program_of_the_session() {
        let folder = tempfile::tempdir().unwrap();
        let path = format!("{}:/usr/bin:/bin", folder.path().display());
        let env = Env::default().with("PATH", path).with("WAYLAND_DISPLAY", "wayland-0");
        assert!(clipboard_image(&env, folder.path()).unwrap_err().contains("is needed"));
        program(folder.path(), "wl-paste", "#!/bin/sh\nprintf '\\211PNG data'\n");
        assert_eq!(&*clipboard_image(&env, folder.path()).unwrap().data, b"\x89PNG data");
        program(folder.path(), "wl-paste", "#!/bin/sh\necho text\n");
        assert!(clipboard_image(&env, folder.path()).unwrap_err().starts_with("No image"));
    }
}
