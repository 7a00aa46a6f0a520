//! A trace as itself. The same trace is the same bytes.

use lockstep_model::trace::Trace;

/// The JSON Schema of a trace, draft 2020-12.
pub const TRACE_SCHEMA: &str = include_str!("../../schema/trace.schema.json");

/// The trace, pretty, with a newline at its end.
pub fn document(trace: &Trace) -> String {
    let mut text = serde_json::to_string_pretty(trace).expect("a trace has only strings for keys");
    text.push('\n');
    text
}
