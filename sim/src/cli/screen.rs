//! Where results and messages go. Nothing here can panic: a reader who closes the pipe has read enough.

use std::io::{self, ErrorKind, IsTerminal as _, Write as _};

use anstream::{AutoStream, ColorChoice};
use clap::ValueEnum;

use super::Ended;
use crate::exit::Exit;
use crate::render::Paint;

/// Whether to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    /// On a terminal that can, and unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Columns where there is no terminal to ask, and the bounds of what is believed of one: below the least the lanes of
/// a picture are cut beyond recognition, and a wrapped line is the lesser evil.
const WIDTH: usize = 120;
const LEAST_WIDTH: usize = 100;
const MOST_WIDTH: usize = 200;

/// Where results and messages go.
pub(super) struct Screen {
    color: Color,
    pub(super) is_quiet: bool,
}

impl Screen {
    pub(super) const fn new(color: Color, is_quiet: bool) -> Self {
        Self { color, is_quiet }
    }

    /// Colour for results.
    pub(super) fn paint(&self) -> Paint {
        paint(self.is_coloured(&io::stdout()))
    }

    /// Whether messages are coloured.
    pub(super) fn colours_messages(&self) -> bool {
        self.is_coloured(&io::stderr())
    }

    /// Columns of the terminal.
    pub(super) fn width() -> usize {
        let stdout = io::stdout();
        let size = stdout.is_terminal().then(|| rustix::termios::tcgetwinsize(&stdout).ok()).flatten();
        size.filter(|size| size.ws_col > 0)
            .map_or(WIDTH, |size| usize::from(size.ws_col).clamp(LEAST_WIDTH, MOST_WIDTH))
    }

    /// A result, as it is.
    ///
    /// # Errors
    /// That the disk is full or the like; a closed pipe is none.
    pub(super) fn print(&self, text: &str) -> Ended<()> {
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(self.fail(Exit::Environment, &format!("cannot write the result to stdout: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// A result for programs.
    pub(super) fn print_json(&self, value: &serde_json::Value) -> Ended<()> {
        self.print(&format!("{value:#}\n"))
    }

    /// Says what is wrong, and how the command ends by it.
    #[must_use]
    pub(super) fn fail(&self, exit: Exit, text: &str) -> Exit {
        let label = if self.colours_messages() {
            let style = anstyle::AnsiColor::Red.on_default().bold();
            format!("{style}error{style:#}")
        } else {
            "error".to_owned()
        };
        let _ = writeln!(io::stderr(), "{label}: {}", printable(text));
        exit
    }

    /// A message, unless only results are wanted.
    pub(super) fn tell(&self, text: &str) {
        if !self.is_quiet {
            let _ = writeln!(io::stderr(), "{text}");
        }
    }

    /// A report that somebody else has laid out.
    pub(super) fn report(text: &str) {
        let _ = writeln!(io::stderr(), "{}", text.trim_end());
    }

    fn is_coloured(&self, stream: &impl anstream::stream::RawStream) -> bool {
        match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => AutoStream::choice(stream) != ColorChoice::Never,
        }
    }
}

/// The text, with whatever a terminal would take for an order written out: names of files may have anything in them.
fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() && letter != '\n' {
            safe.extend(letter.escape_default());
        } else {
            safe.push(letter);
        }
    }
    safe
}

fn paint(is_coloured: bool) -> Paint {
    if is_coloured { Paint::Ansi } else { Paint::Plain }
}
