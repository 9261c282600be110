//! The painter in a terminal that wraps its rows anew when it is resized: tmux, if it is installed.
//!
//! The pane copies what the painter wrote; every state is waited for before the next resize.

use ona_terminal::screen::{Bottom, Painter, PainterOptions, Reflow, Size, line_width};
use proptest::test_runner::{Config, RngSeed, TestRunner};
use proptest::{collection, prop_assert_eq, strategy::Strategy};
use ratatui_core::text::Line;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

struct Tmux {
    socket: PathBuf,
    fifo: File,
    marks: usize,
    folder: PathBuf,
}

impl Tmux {
    /// `None` if tmux is not installed.
    fn start(name: &str, size: Size) -> Option<Self> {
        let folder = std::env::temp_dir().join(format!("ona-tmux-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let (socket, fifo) = (folder.join("socket"), folder.join("fifo"));
        run("mkfifo", &[fifo.to_str()?])?;
        let (width, height) = (size.width.to_string(), size.height.to_string());
        let pane = format!("stty raw -echo; exec cat {}", fifo.display());
        let arguments =
            ["-S", socket.to_str()?, "-f", "/dev/null", "new-session", "-d", "-x", &width, "-y", &height, &pane];
        run("tmux", &arguments)?;
        let fifo = File::options().write(true).open(&fifo).expect("the pane opens the other end");
        let tmux = Self { socket, fifo, marks: 0, folder };
        tmux.tell(&["set", "-g", "status", "off"]);
        tmux.tell(&["set", "-g", "history-limit", "100000"]);
        tmux.tell(&["set", "-g", "window-size", "manual"]);
        Some(tmux)
    }

    fn tell(&self, arguments: &[&str]) -> String {
        let socket = self.socket.to_str().expect("a plain path");
        run("tmux", &[&["-S", socket], arguments].concat()).expect("tmux runs")
    }

    /// Writes bytes and waits until tmux has processed them: a title set behind them says so.
    fn write(&mut self, bytes: &[u8]) {
        self.marks += 1;
        let mark = format!("mark-{}", self.marks);
        self.fifo.write_all(bytes).expect("the pane reads");
        self.fifo.write_all(format!("\x1b]2;{mark}\x07").as_bytes()).expect("the pane reads");
        let deadline = Instant::now() + Duration::from_secs(20);
        while self.tell(&["display", "-p", "#{pane_title}"]).trim() != mark {
            assert!(Instant::now() < deadline, "tmux did not process a frame");
        }
    }

    fn resize(&self, size: Size) {
        self.tell(&["resize-window", "-x", &size.width.to_string(), "-y", &size.height.to_string()]);
    }

    /// Scrollback and screen; rows that tmux wrapped are joined again.
    fn everything(&self) -> Vec<String> {
        let text = self.tell(&["capture-pane", "-p", "-J", "-S", "-"]);
        text.trim_end().lines().map(|line| line.trim_end().to_owned()).collect()
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.tell(&["kill-server"]);
        std::fs::remove_dir_all(&self.folder).ok();
    }
}

fn run(program: &str, arguments: &[&str]) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "a test starts the terminal itself")]
    let mut command = std::process::Command::new(program);
    let output = command.args(arguments).env_remove("TMUX").output().ok()?;
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What one step of a session shows.
#[derive(Clone, Debug)]
struct Step {
    finished: usize,
    bottom: Vec<usize>,
    cursor: (usize, usize),
    resize: Option<(u16, u16)>,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let size = proptest::option::weighted(0.5, (40_u16..130, 24_u16..45));
    let step = (0_usize..6, collection::vec(0_usize..140, 1..6), (0_usize..140, 0_usize..6), size);
    let step = step.prop_map(|(finished, bottom, cursor, resize)| Step { finished, bottom, cursor, resize });
    collection::vec(step, 2..12)
}

/// The shell's lines and the finished ones stand there once each, whatever the bottom looked like,
/// wherever the cursor was, and however often the terminal was resized.
#[test]
fn resizes_lose_nothing_and_double_nothing() {
    let first = Size { width: 80, height: 24 };
    let Some(mut tmux) = Tmux::start("resizes", first) else {
        return;
    };
    let config = Config { cases: 20, failure_persistence: None, rng_seed: RngSeed::Fixed(16), ..Config::default() };
    let mut runner = TestRunner::new(config);
    let tmux = std::cell::RefCell::new(&mut tmux);
    let outcome = runner.run(&steps(), |steps| {
        let mut tmux = tmux.borrow_mut();
        tmux.resize(first);
        tmux.write(b"\x1b[m\x1b[H\x1b[2J");
        tmux.tell(&["clear-history"]);
        let mut expected: Vec<String> = (0..60).map(|number| format!("shell {number}")).collect();
        tmux.write(expected.iter().map(|line| format!("{line}\r\n")).collect::<String>().as_bytes());
        let mut size = first;
        let options = PainterOptions { size, colours: false, reflow: Reflow::All };
        let mut painter = Painter::new(Vec::new(), options);
        let mut seen = 0;
        for step in &steps {
            if let Some((width, height)) = step.resize {
                size = Size { width, height };
                tmux.resize(size);
            }
            let finished: Vec<String> =
                (0..step.finished).map(|number| format!("finished {}", expected.len() + number)).collect();
            expected.extend(finished.iter().cloned());
            let finished: Vec<Line<'static>> = finished.into_iter().map(Line::from).collect();
            let text = |length: &usize| {
                let words = if length.is_multiple_of(3) { "wide 漢字 " } else { "bottom " }.repeat(20);
                words.chars().take(*length).collect::<String>()
            };
            let lines: Vec<Line<'static>> = step.bottom.iter().map(text).map(Line::from).collect();
            let row = step.cursor.1.min(lines.len() - 1);
            let column = step.cursor.0.min(line_width(&lines[row])).min(usize::from(size.width) - 1);
            let cursor = (step.finished != 5).then_some((column as u16, row as u16));
            let bottom = Bottom { lines, cursor };
            painter.paint(size, &finished, &bottom).expect("a vector takes everything");
            tmux.write(&painter.output()[seen..]);
            seen = painter.output().len();
        }
        painter.leave(size).expect("a vector takes everything");
        tmux.write(&painter.output()[seen..]);
        prop_assert_eq!(tmux.everything(), expected);
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}
