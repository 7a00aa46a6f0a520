//! Reads a scenario from a file or a text.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use super::code::Code;
use super::definition::Scenario;
use super::error::{Problem, ScenarioError};
use super::{reader, spelling};

/// The maximum size of a file in bytes; a typical scenario has a few hundred.
pub const MAX_BYTES: usize = 64 * 1024;
/// The maximum length of a scenario's name: the name becomes part of file names.
pub const MAX_NAME: usize = 120;

impl Scenario {
    /// The scenario in a file.
    ///
    /// # Errors
    /// All problems of the file.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ScenarioError> {
        let path = path.as_ref();
        let shown = path.display().to_string();
        let fail = |problem| ScenarioError::of_file(&shown, problem);
        if path.is_dir() {
            let problem = Problem::of_file(Code::IsAFolder, "this is a folder, but a scenario is one file");
            return Err(fail(problem.help("name a file in this folder")));
        }
        // Checked before the file is opened, because opening a pipe would block until there is a writer.
        if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            let problem = Problem::of_file(Code::Unreadable, "this is a pipe or a device, but a scenario is a file");
            return Err(fail(problem.help("write the content to a file, and name that file")));
        }
        let bytes = start_of(path).map_err(|error| fail(unreadable(&error)))?;
        if bytes.len() > MAX_BYTES {
            return Err(fail(too_big()));
        }
        if bytes.trim_ascii_start().starts_with(b"{") {
            let problem = Problem::of_file(Code::Syntax, "this is JSON, as a trace is, and a scenario is a TOML file");
            return Err(fail(
                problem.help(format!("for a trace use lockstep show {shown}, or lockstep replay {shown}")),
            ));
        }
        let text = String::from_utf8(bytes).map_err(|error| fail(not_utf8(&error)))?;
        let name = path.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
        check_name(&name).map_err(fail)?;
        Self::parse_shown(&name, &shown, &text)
    }

    /// The scenario in a text, with the given name.
    ///
    /// # Errors
    /// All problems of the name or the text.
    pub fn parse(name: &str, text: &str) -> Result<Self, ScenarioError> {
        check_name(name).map_err(|problem| ScenarioError::of_file(name, problem))?;
        Self::parse_shown(name, name, text)
    }

    fn parse_shown(name: &str, shown: &str, text: &str) -> Result<Self, ScenarioError> {
        if text.len() > MAX_BYTES {
            return Err(ScenarioError::of_file(shown, too_big()));
        }
        reader::read(name, text).map_err(|problems| ScenarioError::in_text(shown, text, problems))
    }
}

/// The content of the file; if it is too large, only enough of it to show that.
fn start_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether a scenario can have this name.
pub fn is_name(name: &str) -> bool {
    let is_first = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let is_plain = |letter: char| is_first(letter) || letter == '-' || letter == '_';
    name.len() <= MAX_NAME && name.starts_with(is_first) && name.chars().all(is_plain)
}

fn check_name(name: &str) -> Result<(), Problem> {
    if is_name(name) {
        return Ok(());
    }
    let title = format!("`{}` is not a valid name for a scenario", spelling::short(name));
    let problem = Problem::of_file(Code::BadName, title);
    Err(problem.help(format!(
        "the name of the file becomes part of commands and traces: use at most {MAX_NAME} of the \
         characters a-z, 0-9, - and _, and begin with a letter or digit"
    )))
}

pub(super) fn unreadable(error: &io::Error) -> Problem {
    if error.kind() == io::ErrorKind::NotFound {
        return Problem::of_file(Code::Unreadable, "there is no such file or folder".to_owned());
    }
    // Omits the operating system's error number: "permission denied".
    let reason = error.to_string();
    let reason = reason.split(" (os error").next().unwrap_or_default().to_lowercase();
    Problem::of_file(Code::Unreadable, format!("this cannot be read: {reason}"))
}

fn too_big() -> Problem {
    let title = format!("the file has more than {} KiB, which is too large for a scenario", MAX_BYTES / 1024);
    Problem::of_file(Code::TooBig, title)
        .help("a scenario has a few hundred bytes; check that this is the file you mean")
}

fn not_utf8(error: &std::string::FromUtf8Error) -> Problem {
    let offset = error.utf8_error().valid_up_to();
    let line = error.as_bytes()[..offset].split(|&byte| byte == b'\n').count();
    let title =
        format!("the file is not UTF-8: the byte at offset {offset}, in line {line}, does not begin a character");
    Problem::of_file(Code::NotUtf8, title).help("save the file as UTF-8")
}
