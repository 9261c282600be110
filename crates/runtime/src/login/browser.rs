//! Opens the page of a login: with BROWSER, else with the system's opener.
//!
//! The address is printed in any case, so nothing depends on a browser. It goes on by itself:
//! it gets no pipe of this program and none of its credentials, and is not waited for longer
//! than the login lasts.

use crate::launch::Launch;
use ona_api::{Env, credentials, environment};
use ona_process::{ChildCommand, ChildExit, OnDeath, find_in_path};
use std::fmt::Display;
use std::time::Duration;

pub(super) fn open(launch: &Launch, url: &impl Display) {
    let Some(words) = command(&launch.env, cfg!(target_os = "macos"), &url.to_string()) else { return };
    let program = words[0].clone();
    let mut env = launch.env.clone();
    credentials::remove_from(&mut env);
    let script = "exec \"$@\" >/dev/null 2>&1 </dev/null";
    let mut args = vec!["-c".into(), script.into(), "browser".into()];
    args.extend(words.into_iter().map(Into::into));
    let command = ChildCommand {
        program: "/bin/sh".into(),
        args,
        cwd: launch.cwd.clone(),
        env,
        stdin: Vec::new(),
        cap: 0,
        deadline: None,
        grace: Duration::ZERO,
        on_death: OnDeath::Leave,
        wall: None,
    };
    let notices = launch.notices.clone();
    let failed = move |why: &dyn Display| {
        notices.note(format_args!("ona: the browser was not opened ({program}: {why}); open the address yourself"));
    };
    match ona_process::start(command) {
        Err(error) => failed(&error),
        Ok(running) => {
            tokio::spawn(async move {
                match running.wait().await {
                    ChildExit::Exited(0) | ChildExit::Cancelled => {}
                    ChildExit::Exited(code) => failed(&format_args!("exit code {code}")),
                    ChildExit::Signalled(signal) => failed(&format_args!("signal {signal}")),
                    ChildExit::TimedOut => failed(&"it did not end"),
                }
            });
        }
    }
}

/// Returns the words of the command that opens the address, if there is one.
fn command(env: &Env, is_macos: bool, url: &str) -> Option<Vec<String>> {
    // A list of browsers is separated by colons; the first counts.
    let chosen =
        env.non_empty(environment::BROWSER).and_then(|list| list.split(':').find(|one| !one.trim().is_empty()));
    if let Some(chosen) = chosen {
        let mut words: Vec<String> = chosen.split_whitespace().map(str::to_owned).collect();
        match words.iter().any(|word| word.contains("%s")) {
            true => words.iter_mut().for_each(|word| *word = word.replace("%s", url)),
            false => words.push(url.to_owned()),
        }
        return Some(words);
    }
    // Without a screen the opener may start a browser in this very terminal.
    let has_screen = is_macos
        || [environment::DISPLAY, environment::WAYLAND_DISPLAY].iter().any(|name| env.non_empty(*name).is_some());
    let opener = if is_macos { "open" } else { "xdg-open" };
    let is_there = || find_in_path(env.get(environment::PATH).unwrap_or_default(), opener).is_some();
    (has_screen && is_there()).then(|| vec![opener.to_owned(), url.to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operators_browser_comes_first_and_a_screen_is_needed_for_the_systems() {
        let words = |env: &Env| command(env, false, "http://x/?a=1&b=2").map(|words| words.join(" "));
        let env = Env::default().with("PATH", "/nonexistent");
        assert_eq!(words(&env), None);
        assert_eq!(words(&env.clone().with("DISPLAY", ":0")), None, "no opener is installed");
        for (browser, expected) in [
            ("firefox", "firefox http://x/?a=1&b=2"),
            ("firefox --new-tab:lynx", "firefox --new-tab http://x/?a=1&b=2"),
            ("open %s now", "open http://x/?a=1&b=2 now"),
        ] {
            assert_eq!(words(&env.clone().with("BROWSER", browser)).as_deref(), Some(expected), "{browser}");
        }
    }
}
