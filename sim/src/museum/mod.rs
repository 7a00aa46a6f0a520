//! The museum: defects of real client libraries, each with the world in which the model finds it.
//!
//! An [`Exhibit`] is a file of `museum/`. [`examine`] checks its world, replays the shortest counterexample on Redis and on the
//! real library, and does the same with a control, a world beside it in which the library behaves.

mod examination;
mod exhibit;
mod other_histories;

pub use examination::{
    ControlRun, Doubt, Examination, ExamineError, ExhibitOutcome, InModel, OnLibrary, OnRedis, Servers, examine,
};
pub use exhibit::{Change, Exhibit, Library, Versions};
pub use other_histories::OtherHistory;
