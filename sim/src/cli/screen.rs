//! Output of results and messages. Nothing here panics: a reader who closes the pipe has read enough.

use std::io::{self, ErrorKind, IsTerminal as _, Write as _};

use anstream::{AutoStream, ColorChoice};
use clap::ValueEnum;

use super::common::Ended;
use crate::exit::Exit;
use crate::plain_text::shown;
use crate::render::Paint;
use crate::render::text::WIDTH;

/// When to use colours.
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

/// The variable that says how wide a page is, also where there is no terminal, as with other programs.
const COLUMNS: &str = "COLUMNS";

/// The bounds of what a terminal may say: sentences in fewer columns, or in longer lines, are hard to read.
const LEAST_WIDTH: usize = 60;
const MOST_WIDTH: usize = 200;

/// The output of a command.
pub(super) struct Screen {
    color: Color,
    pub(super) is_quiet: bool,
}

impl Screen {
    pub(super) const fn new(color: Color, is_quiet: bool) -> Self {
        Self { color, is_quiet }
    }

    /// Colours for results.
    pub(super) fn paint(&self) -> Paint {
        paint(self.is_coloured(&io::stdout()))
    }

    /// Whether messages are coloured.
    pub(super) fn colours_messages(&self) -> bool {
        self.is_coloured(&io::stderr())
    }

    /// Columns of a page: what the variable says; otherwise those of the terminal, or of a page if there is none.
    pub(super) fn width() -> usize {
        let asked =
            std::env::var(COLUMNS).ok().and_then(|columns| columns.trim().parse().ok()).filter(|most| *most > 0);
        if let Some(asked) = asked {
            return usize::clamp(asked, LEAST_WIDTH, MOST_WIDTH);
        }
        let stdout = io::stdout();
        let size = stdout.is_terminal().then(|| rustix::termios::tcgetwinsize(&stdout).ok()).flatten();
        size.filter(|size| size.ws_col > 0)
            .map_or(WIDTH, |size| usize::from(size.ws_col).clamp(LEAST_WIDTH, MOST_WIDTH))
    }

    /// Prints a result as it is.
    ///
    /// # Errors
    /// Stdout cannot be written, for example because the disk is full. A closed pipe is not an error.
    pub(super) fn print(&self, text: &str) -> Ended<()> {
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(self.fail(Exit::Environment, &format!("cannot write the result to stdout: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// Prints a result for programs.
    pub(super) fn print_json(&self, value: &serde_json::Value) -> Ended<()> {
        self.print(&format!("{value:#}\n"))
    }

    /// Prints an error, with hidden characters written out: names of files may contain any. Returns the exit code that it leads to.
    #[must_use]
    pub(super) fn fail(&self, exit: Exit, text: &str) -> Exit {
        let label = if self.colours_messages() {
            let style = anstyle::AnsiColor::Red.on_default().bold();
            format!("{style}error{style:#}")
        } else {
            "error".to_owned()
        };
        let _ = writeln!(io::stderr(), "{label}: {}", shown(text, &['\n']));
        exit
    }

    /// Prints what is wrong but does not end the command, unless only results are requested.
    pub(super) fn warn(&self, text: &str) {
        if !self.is_quiet {
            self.say("warning", anstyle::AnsiColor::Yellow, text);
        }
    }

    fn say(&self, label: &str, color: anstyle::AnsiColor, text: &str) {
        let style = if self.colours_messages() { color.on_default().bold() } else { anstyle::Style::new() };
        let _ = writeln!(io::stderr(), "{style}{label}{style:#}: {}", shown(text, &['\n']));
    }

    /// Prints a message, unless only results are requested.
    pub(super) fn tell(&self, text: &str) {
        if !self.is_quiet {
            let _ = writeln!(io::stderr(), "{text}");
        }
    }

    /// Prints a message that is already formatted.
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

fn paint(is_coloured: bool) -> Paint {
    if is_coloured { Paint::Ansi } else { Paint::Plain }
}
