//! Which engine searches, and how.

use lockstep_model::Property;

use super::native;

/// The search engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Engine {
    /// Our own breadth-first search.
    #[default]
    Native,
    /// stateright, the second opinion on safety; liveness is always checked by the native engine.
    Stateright,
    /// Both on safety; a difference between them is an internal error.
    Both,
}

impl Engine {
    /// The name in a trace of the engine that found it; of two engines, the first.
    pub const fn finder(self) -> &'static str {
        match self {
            Self::Native | Self::Both => "native",
            Self::Stateright => "stateright",
        }
    }
}

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct How {
    /// The search engine.
    pub engine: Engine,
    /// Options of the native engine.
    pub native: native::Options,
    /// How wide its fingerprints are.
    pub fingerprint: Width,
    /// The only property that is looked at, and held to its claim, or to hold; `None`: all that apply.
    pub only: Option<Property>,
    /// Whether the judge also looks for a shorter witness of each violation. Otherwise it executes what was found, and nothing is said to
    /// be shortest; so where idle time is passed through.
    pub seeks_shorter: bool,
    /// Of both engines, the second searches only worlds of at most so many states. The command line always asks it.
    pub second_opinion_up_to: u64,
}

/// How wide a fingerprint is, bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Width {
    /// 8 bytes per state.
    #[default]
    #[value(name = "64")]
    Bits64,
    /// 16 bytes per state, for a lower collision probability.
    #[value(name = "128")]
    Bits128,
}

impl Width {
    /// The width as a number.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Bits64 => u64::BITS,
            Self::Bits128 => u128::BITS,
        }
    }
}

impl How {
    /// One thread, no reduction, and a second opinion wherever both engines are asked for.
    pub const fn by(engine: Engine) -> Self {
        Self {
            engine,
            native: native::Options::DEFAULT,
            fingerprint: Width::Bits64,
            only: None,
            seeks_shorter: true,
            second_opinion_up_to: u64::MAX,
        }
    }
}
