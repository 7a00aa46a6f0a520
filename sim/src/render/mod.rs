//! Shows what was found: one file per output.
//!
//! A trace is a picture ([`text`] in a terminal, [`svg`] elsewhere), a list ([`short`]), itself ([`json`]) or a sequence
//! diagram ([`mermaid`]); a state is a page ([`state`]); what `check` found is a table ([`verdicts`]), as is
//! what breaks what ([`frontier`]). Reading order: [`words`] has the phrases, [`beats`] makes of every step what is seen of
//! it, the pictures lay that out.

pub mod beats;
pub mod frontier;
pub mod in_flight;
pub mod json;
pub mod mermaid;
mod paint;
pub mod short;
pub mod state;
pub mod svg;
pub mod text;
pub mod verdicts;
pub mod words;

pub use paint::Paint;
