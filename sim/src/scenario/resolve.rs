//! Resolves the arguments of a command line: built-in scenarios, files, folders.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::builtin::{BuiltIn, builtin, builtin_files};
use super::code::Code;
use super::definition::Scenario;
use super::error::{Problem, ScenarioError};
use super::file::unreadable;
use super::spelling::{meant, short};

/// The maximum number of entries below a folder: a folder of scenarios has fewer, and a whole disk must not be scanned.
const MAX_ENTRIES: usize = 10_000;

/// The scenarios that the arguments name, in their order; all built-in scenarios if there is no argument.
///
/// An argument is a built-in scenario's name, otherwise a file, otherwise a folder: every `*.toml` below, sorted by
/// path.
///
/// # Errors
/// All problems with the arguments and the files.
pub fn resolve(args: &[String]) -> Result<Vec<Scenario>, ScenarioError> {
    if args.is_empty() {
        return Ok(builtin());
    }
    Ok(located(args)?.into_iter().map(|(_, scenario)| scenario).collect())
}

/// The same for at least one argument. Each scenario has its source: a path, if it is a file.
///
/// # Errors
/// As [`resolve`].
pub fn located(args: &[String]) -> Result<Vec<(String, Scenario)>, ScenarioError> {
    let mut found = Vec::new();
    let mut wrong: Option<ScenarioError> = None;
    // Where each name was first found.
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    let read = args.iter().flat_map(|arg| read(arg));
    for (shown, scenario) in read {
        let error = match scenario {
            Ok(scenario) => match names.insert(scenario.name.clone(), shown.clone()) {
                None => {
                    found.push((shown, scenario));
                    continue;
                }
                Some(first) => same_name(&shown, &scenario.name, &first),
            },
            Err(error) => error,
        };
        wrong = Some(match wrong {
            Some(wrong) => wrong.and(error),
            None => error,
        });
    }
    wrong.map_or(Ok(found), Err)
}

/// The scenarios of one argument, each with its source.
fn read(arg: &str) -> Vec<(String, Result<Scenario, ScenarioError>)> {
    if let Some(file) = BuiltIn::named(arg) {
        return vec![(format!("the built-in {arg}"), Ok(file.scenario()))];
    }
    let path = Path::new(arg);
    if !path.is_dir() {
        let is_name = !path.exists() && !arg.contains(['/', '\\', '.']);
        let scenario = match (path.exists(), is_name) {
            (true, _) => Scenario::read(path),
            (false, true) => Err(unknown(arg)),
            (false, false) => Err(missing(arg, path)),
        };
        return vec![(arg.into(), scenario)];
    }
    match files_below(path) {
        Ok(files) => files.iter().map(|file| (file.display().to_string(), Scenario::read(file))).collect(),
        Err(problem) => vec![(arg.into(), Err(ScenarioError::of_file(arg, problem)))],
    }
}

/// Sorted by path. Symbolic links to folders are not followed: they may form a cycle.
fn files_below(folder: &Path) -> Result<Vec<PathBuf>, Problem> {
    let (mut files, mut folders, mut entries) = (Vec::new(), vec![folder.to_path_buf()], 0);
    while let Some(folder) = folders.pop() {
        let unread =
            |error: io::Error| unreadable(&error).help(format!("this happened in the folder {}", folder.display()));
        for entry in fs::read_dir(&folder).map_err(unread)? {
            let entry = entry.map_err(unread)?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(unread)?);
            entries += 1;
            if entries > MAX_ENTRIES {
                let title = format!("there are more than {MAX_ENTRIES} files and folders below this folder");
                return Err(Problem::of_file(Code::NoScenarios, title).help("name a smaller folder, or a file"));
            }
            if kind.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "toml") && path.is_file() {
                files.push(path);
            }
        }
    }
    if files.is_empty() {
        return Err(Problem::of_file(Code::NoScenarios, "no file below this folder has a name that ends in .toml"));
    }
    files.sort();
    Ok(files)
}

/// A file that does not exist. A name that is near may be that of a file in the same folder, or a built-in one.
fn missing(arg: &str, path: &Path) -> ScenarioError {
    let mut problem = unreadable(&io::Error::from(io::ErrorKind::NotFound));
    if let Some(near) = near_file(path) {
        problem = problem.help(format!("did you mean `{}`?", near.display()));
    }
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    if let Some(near) = meant(&stem, &builtin_files().iter().map(|file| file.name).collect::<Vec<_>>()) {
        problem = problem.help(format!("there is a built-in scenario `{near}`, which is named without an ending"));
    }
    ScenarioError::of_file(arg, problem)
}

/// The scenario file in the same folder whose name is nearest.
fn near_file(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?.take(MAX_ENTRIES);
    let files = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let stems = files.filter_map(|name| name.strip_suffix(".toml").map(str::to_owned));
    let mut stems: Vec<_> = stems.collect();
    // The same suggestion on any file system.
    stems.sort_unstable();
    let wanted = path.file_stem()?.to_str()?;
    let near = meant(wanted, &stems.iter().map(String::as_str).collect::<Vec<_>>())?;
    let name = format!("{near}.toml");
    Some(folder.map_or_else(|| PathBuf::from(&name), |folder| folder.join(&name)))
}

fn unknown(name: &str) -> ScenarioError {
    let known: Vec<_> = builtin_files().iter().map(|file| file.name).collect();
    let title = format!("there is no scenario, file or folder `{}`", short(name));
    let mut problem = Problem::of_file(Code::UnknownScenario, title);
    if let Some(near) = meant(name, &known) {
        problem = problem.help(format!("did you mean `{near}`?"));
    }
    if let Some(near) = near_file(Path::new(name)) {
        problem = problem.help(format!("did you mean the file `{}`?", near.display()));
    }
    ScenarioError::of_file(name, problem.help("`lockstep scenarios` lists the built-in scenarios"))
}

fn same_name(shown: &str, name: &str, first: &str) -> ScenarioError {
    let problem = Problem::of_file(Code::SameName, format!("two scenarios are called `{name}`"));
    ScenarioError::of_file(
        shown,
        problem.help(format!("the other one is {first}; rename one, or name only one of them")),
    )
}
