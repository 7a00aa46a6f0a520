//! The third of three: what our scripts do in a history in which a client library does something else than the model. Where they
//! do what the model does, the library is alone.

use lockstep_model::trace::Trace;
use lockstep_redis::Scripts;

use super::compare::Difference;
use super::error::ReplayError;
use super::player::Player;
use super::servers::ServerProgram;

impl Difference {
    /// The same with what our scripts say in this place, on servers of their own.
    #[must_use]
    pub fn beside_scripts(self, server: &ServerProgram, trace: &Trace) -> Self {
        let scripts = says_of_scripts(server, trace, &self).unwrap_or_else(|error| format!("were not asked: {error}"));
        Self { scripts: Some(scripts), ..self }
    }
}

fn says_of_scripts(server: &ServerProgram, trace: &Trace, of_library: &Difference) -> Result<String, ReplayError> {
    let cut = Trace { steps: trace.steps.iter().take(of_library.step).cloned().collect(), ..trace.clone() };
    let played = Player::start(server, &trace.config, Scripts::built_in())?.replay(&cut, true)?;
    Ok(match played.difference {
        Some(found) if (found.step, &found.what) == (of_library.step, &of_library.what) => found.redis,
        Some(found) => format!("differ too, at step {}: {}: {}", found.step, found.what, found.redis),
        None => {
            let asked = played.answers.get(of_library.step - 1).into_iter().flatten();
            [vec!["do what the model does"], asked.map(String::as_str).collect()].concat().join("\n")
        }
    })
}
