//! Everything that is said in words, under one name. What stands behind it does not read it back.

pub use super::actions::{actor, deed, does, does_where};
pub use super::assumptions::assumptions;
pub use super::claims::{about, as_declared};
pub use super::clients::{sending, switches};
pub use super::holds::stored;
pub use super::lasso::{fairness, goes_on};
pub use super::prose::{hanging, next, wrapped};
pub use super::reasons::why;
pub use super::replies::reply;
pub use super::tick_length::tick_length;
pub use super::units::{count, duration, list, time};
pub use super::world::world;
pub use crate::plain_text::thousands;
