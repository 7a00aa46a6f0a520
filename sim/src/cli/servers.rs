//! The server that a command asks, and what it leads to that servers fail.

use std::path::Path;

use super::common::Ended;
use super::input::typed;
use super::screen::Screen;
use crate::exit::Exit;
use crate::replay::{ReplayError, ServerProgram};

/// The server to use.
pub(super) fn server(named: Option<&Path>, screen: &Screen) -> Ended<ServerProgram> {
    ServerProgram::find(named).map_err(|error| server_failed(&error, screen))
}

/// Reports the failure of a server. Returns the exit code that it leads to.
pub(super) fn server_failed(error: &ReplayError, screen: &Screen) -> Exit {
    let exit = match error {
        ReplayError::NotForSentinel { .. } | ReplayError::NotForRedisson { .. } => Exit::Usage,
        ReplayError::Stopped => Exit::Interrupted,
        _ if error.is_internal() => Exit::Internal,
        _ => Exit::Environment,
    };
    screen.fail(exit, &error.to_string())
}

/// The option that chooses this server, as it can be typed again.
pub(super) fn again(server: Option<&Path>) -> String {
    server.map_or_else(String::new, |path| format!(" --server {}", typed(&path.to_string_lossy())))
}
