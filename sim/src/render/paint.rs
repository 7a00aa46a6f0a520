//! Colour, or none.

use anstyle::{AnsiColor, Style};

/// Whether to colour. Everything is legible without: colour repeats what a word or a sign says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Paint {
    /// No escape sequences.
    #[default]
    Plain,
    /// ANSI escape sequences.
    Ansi,
}

/// What a piece of text is, for its colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    /// As it is.
    #[default]
    Plain,
    /// Steps back: arrows, lanes at rest.
    Faint,
    /// A heading.
    Strong,
    /// Somebody got what it asked for.
    Good,
    /// A fault, a refusal.
    Odd,
    /// A property breaks.
    Bad,
}

impl Tone {
    const fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Faint => Style::new().dimmed(),
            Self::Strong => Style::new().bold(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Odd => AnsiColor::Yellow.on_default(),
            Self::Bad => AnsiColor::Red.on_default().bold(),
        }
    }
}

impl Paint {
    /// The text in that tone.
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        match self {
            Self::Ansi if tone != Tone::Plain && !text.is_empty() => {
                let style = tone.style();
                format!("{style}{text}{style:#}")
            }
            Self::Ansi | Self::Plain => text.to_owned(),
        }
    }
}
