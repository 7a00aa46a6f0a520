//! What the commands share.

use clap::ValueEnum;

use crate::exit::Exit;

/// Who reads the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people
    #[default]
    Human,
    /// For programs: one JSON object
    Json,
}

/// The option of every command but `show`.
#[derive(clap::Args)]
pub(super) struct Output {
    /// Who reads the result
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Format,
}

/// The result of a command, or of a part of it. An error ends the command; its message is already printed.
pub(super) type Ended<T> = Result<T, Exit>;
