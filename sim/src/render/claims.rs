//! What a trace shows, and what a verdict is worth against what was declared.

use lockstep_model::Verdict;
use lockstep_model::trace::About;

/// What a trace shows: `one-believer violated`, `a covering history`, `a drawn history`.
pub fn about(about: &About) -> String {
    match about {
        About::Counterexample { property, verdict, .. } => format!("{property} {verdict}"),
        About::Covering => "a covering history".to_owned(),
        About::Drawn => "a drawn history".to_owned(),
    }
}

/// A verdict beside what the scenario declares: `violated, as declared`. `is_required`: without a declaration, the property
/// is expected to hold.
pub fn as_declared(verdict: Verdict, declared: Option<Verdict>, is_required: bool) -> String {
    match declared {
        Some(declared) if declared == verdict => format!("{verdict}, as declared"),
        Some(Verdict::HoldsWithinBounds) if verdict == Verdict::Holds => {
            "holds outright, as declared: no bound was touched".to_owned()
        }
        Some(declared) => format!("{verdict}, but declared {declared}"),
        None if matches!(verdict, Verdict::Holds | Verdict::Vacuous) => verdict.to_string(),
        None if is_required => format!("{verdict}, but not declared"),
        None => format!("{verdict}, not claimed"),
    }
}
