//! A written lasso can be replayed, is shown as a lasso in every picture, and is rejected after tampering.

use lockstep_model::Property;
use lockstep_model::trace::{InLoop, Trace};
use lockstep_sim::recorder::{self, TraceError};
use lockstep_sim::render::text::{TextOptions, picture};
use lockstep_sim::render::{json, mermaid, short};

use crate::lasso;

fn starvation() -> Trace {
    lasso("newcomers-starve-a-waiter", Property::WaiterServed)
}

fn last(trace: &Trace) -> usize {
    trace.steps.len()
}

#[test]
fn a_lasso_comes_back_as_it_was_written() {
    let trace = starvation();
    assert_eq!(recorder::retrace(&trace), Ok(()));
    let text = json::document(&trace);
    assert_eq!(serde_json::from_str::<Trace>(&text).expect("a trace"), trace);
}

#[test]
fn a_lasso_is_as_the_schema_says() {
    let schema = serde_json::from_str(json::TRACE_SCHEMA).expect("the schema is JSON");
    let validator = jsonschema::draft202012::new(&schema).expect("the schema is a schema");
    let trace = serde_json::to_value(starvation()).expect("a trace is JSON");
    if let Err(error) = validator.validate(&trace) {
        panic!("at {}: {error}", error.instance_path());
    }
    let mut altered = trace;
    altered["fairness"][0]["in_loop"] = serde_json::json!({ "never_at": 3 });
    assert!(!validator.is_valid(&altered));
}

#[test]
fn a_loop_that_does_not_close_is_untrue() {
    let trace = starvation();
    let elsewhere = Trace { loop_start: Some(1), ..trace.clone() };
    assert_eq!(recorder::retrace(&elsewhere), Err(TraceError::DoesNotClose));
    let beyond = Trace { loop_start: Some(last(&trace) + 1), ..trace };
    assert_eq!(recorder::retrace(&beyond), Err(TraceError::DoesNotClose));
}

#[test]
fn a_loop_that_is_not_fair_is_untrue() {
    let trace = starvation();
    let idle = Trace { loop_start: Some(last(&trace)), ..trace };
    assert!(matches!(recorder::retrace(&idle), Err(TraceError::Unfair { .. })), "{:?}", recorder::retrace(&idle));
}

#[test]
fn what_is_said_of_a_fair_action_must_be_so() {
    let mut trace = starvation();
    let fairness = trace.fairness.as_mut().expect("a lasso");
    fairness[0].in_loop = InLoop::TakenAt(1);
    assert_eq!(recorder::retrace(&trace), Err(TraceError::ClaimDiffers { place: "/fairness/0".to_owned() }));
    trace.fairness = None;
    assert_eq!(recorder::retrace(&trace), Err(TraceError::ClaimDiffers { place: "/fairness".to_owned() }));
}

#[test]
fn the_picture_of_a_starved_waiter() {
    insta::assert_snapshot!(picture(&starvation(), &TextOptions::default()));
}

#[test]
fn the_picture_of_an_orphan() {
    let trace = lasso("thread-dies-and-its-process-renews", Property::NoOrphan);
    insta::assert_snapshot!(picture(&trace, &TextOptions::default()));
}

#[test]
fn the_list_and_the_diagram_of_an_orphan() {
    let trace = lasso("thread-dies-and-its-process-renews", Property::NoOrphan);
    insta::assert_snapshot!(format!("{}\n{}", short::list(&trace), mermaid::diagram(&trace)));
}
