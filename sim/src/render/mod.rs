//! Shows what was found: one file per output.
//!
//! A trace is drawn as a picture ([`text`] for a terminal, [`svg`] elsewhere), a list ([`short`]), a document ([`json`]) or
//! a sequence diagram ([`mermaid`]). A state is a page ([`state`]); the results of `check` ([`verdicts`]) and of `frontier`
//! ([`frontier`]) are tables; a replay is a picture with the answers of the servers ([`replayed`]), an exhibit of the museum a list ([`museum`]).
//!
//! Everything depends in one direction: `units` (numbers, times, lists), `prose` (lines), `table` and `paint` on nothing else here; the phrases (`replies`,
//! `actions`, `clients`, `signs`, `holds`, `requests`, `claims`, `reasons`, `lasso`, `world`) on those; [`rows`], which tells what each step of
//! a trace does, on the phrases; the pictures on rows and phrases.

mod actions;
mod assumptions;
mod claims;
mod clients;
pub mod frontier;
mod holds;
pub mod json;
#[cfg(test)]
pub mod json_page;
mod lasso;
pub mod mermaid;
pub mod museum;
mod paint;
mod prose;
mod reasons;
pub mod replayed;
mod replies;
mod requests;
pub mod rows;
mod sentinel;
pub mod short;
mod signs;
pub mod state;
pub mod svg;
mod table;
pub mod text;
mod tick_length;
mod units;
pub mod verdicts;
pub mod words;
mod world;

pub use paint::Paint;
