//! Folders that `--out` names: whole files only, and never in the place of a file that another program or person left
//! there.

use std::fs;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use lockstep_model::{Property, Verdict};

use super::common::Ended;
use super::screen::Screen;
use super::trace_file;
use crate::check::CheckOutcome;
use crate::check::fingerprint::Fingerprint as _;
use crate::exit::Exit;
use crate::frontier::settings::REPAIRS;
use crate::render::json;
use crate::scenario::MAX_NAME;

/// Makes a folder and its parents, and checks that a file can be written there.
pub(super) fn make_folder(folder: &Path, screen: &Screen) -> Ended<()> {
    let fail = |what: &str, error: std::io::Error| {
        screen.fail(Exit::Environment, &format!("cannot {what} the folder {}: {error}", folder.display()))
    };
    fs::create_dir_all(folder).map_err(|error| fail("make", error))?;
    tempfile::tempfile_in(folder).map(drop).map_err(|error| fail("write into", error))
}

/// A folder for what may be found. Where nothing is written into one that was made for it, it goes again.
pub(super) struct OutFolder<'a>(Option<&'a Path>);

impl<'a> OutFolder<'a> {
    /// Makes it and its parents, and checks that a file can be written there.
    pub(super) fn make(folder: &'a Path, screen: &Screen) -> Ended<Self> {
        let is_new = !exists(folder);
        make_folder(folder, screen)?;
        Ok(Self(is_new.then_some(folder)))
    }
}

impl Drop for OutFolder<'_> {
    fn drop(&mut self) {
        // It fails where there is anything in it.
        let _ = self.0.map(fs::remove_dir);
    }
}

/// Writes a file atomically: a reader finds the old one or the new one, never a part.
pub(super) fn write_whole(file: &Path, text: &str, screen: &Screen) -> Ended<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let write = || -> std::io::Result<()> {
        let mut draft = tempfile::Builder::new().permissions(readable()).tempfile_in(folder)?;
        draft.write_all(text.as_bytes())?;
        draft.as_file().sync_all()?;
        draft.persist(file)?;
        Ok(())
    };
    write().map_err(|error| screen.fail(Exit::Environment, &format!("cannot write {}: {error}", file.display())))
}

/// The permissions of any new file: those of temporary files are for their owner only. The umask still applies.
fn readable() -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt as _;
    fs::Permissions::from_mode(0o666)
}

/// Whether anything is there, be it a folder or a link to nothing.
fn exists(file: &Path) -> bool {
    fs::symlink_metadata(file).is_ok()
}

fn foreign(file: &Path, what: &str, screen: &Screen) -> Exit {
    let text = format!(
        "{} is there already, and is not {what}: it is not overwritten\n  help: move it away, or name another folder \
         with --out",
        file.display()
    );
    screen.fail(Exit::Usage, &text)
}

/// The folder of `check --out`: the counterexamples of each scenario, as the last run found them.
pub(super) struct TraceFolder<'a>(pub(super) &'a Path);

impl TraceFolder<'_> {
    fn file(&self, scenario: &str, property: Property) -> PathBuf {
        self.0.join(format!("{scenario}.{property}.json"))
    }

    /// Refuses a file that no run of this scenario wrote, under a name that this run may need.
    pub(super) fn refuse_foreign(&self, scenario: &str, screen: &Screen) -> Ended<()> {
        Property::ALL.into_iter().try_for_each(|property| self.refuse(scenario, property, screen))
    }

    fn refuse(&self, scenario: &str, property: Property, screen: &Screen) -> Ended<()> {
        let file = self.file(scenario, property);
        if exists(&file) && !trace_file::is_counterexample(&file, scenario, property) {
            return Err(foreign(&file, &format!("a counterexample of {scenario} to {property}"), screen));
        }
        Ok(())
    }

    /// Writes the counterexamples, and removes those to properties that are not violated any more. What is not known
    /// stays as it is.
    pub(super) fn keep(&self, outcome: &CheckOutcome, screen: &Screen) -> Ended<()> {
        let scenario = &outcome.scenario;
        for property in Property::ALL {
            let found = outcome.properties.iter().find(|found| found.property == property);
            if let Some(trace) = found.and_then(|found| found.trace.as_ref()) {
                // A long search lies between the first look and this one.
                self.refuse(scenario, property, screen)?;
                write_whole(&self.file(scenario, property), &json::document(trace), screen)?;
                continue;
            }
            let is_mended = match found.map(|found| found.verdict) {
                Some(Verdict::Holds | Verdict::Vacuous) => true,
                // It may be violated beyond the bounds.
                Some(Verdict::HoldsWithinBounds | Verdict::Inconclusive | Verdict::Violated) => false,
                // What does not apply cannot be violated; what was not asked for is not known.
                None => property.applies(&outcome.config).is_err(),
            };
            if is_mended {
                self.remove(scenario, property, screen)?;
            }
        }
        Ok(())
    }

    fn remove(&self, scenario: &str, property: Property, screen: &Screen) -> Ended<()> {
        let file = self.file(scenario, property);
        if !exists(&file) || !trace_file::is_counterexample(&file, scenario, property) {
            return Ok(());
        }
        match fs::remove_file(&file) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(screen.fail(Exit::Environment, &format!("cannot remove {}: {error}", file.display())))
            }
            _ => {
                screen.tell(&format!("removed {}: {property} is not violated any more", file.display()));
                Ok(())
            }
        }
    }
}

/// The folder of `frontier --out`: the anomalies of worlds, as scenarios.
pub(super) struct AnomalyFolder<'a> {
    pub(super) folder: &'a Path,
    /// The name of the world.
    pub(super) world: &'a str,
}

/// How every file of a frontier begins.
const MARK: &str = "# Written by `lockstep frontier --out` for the world ";

impl AnomalyFolder<'_> {
    /// The first line of every file. To keep an edited file, rename it or change this line.
    fn first_line(&self) -> String {
        format!("{MARK}{}; the next run replaces it.\n", self.world)
    }

    /// The name of a scenario of this world.
    fn name(&self, property: Property, faults: &str, variant: &str) -> String {
        shortened(format!("{}--{}--{faults}--{variant}", self.world, property.id()))
    }

    /// Whether this run may want to write a scenario of this name.
    fn may_write(&self, name: &str) -> bool {
        let is_variant = |variant: &str| variant == "bare" || REPAIRS.iter().any(|repair| repair.name == variant);
        let start = format!("{}--", self.world);
        match name.strip_prefix(&start).map(|rest| rest.split("--").collect::<Vec<_>>()).as_deref() {
            Some([property, _, variant]) if is_variant(variant) => Property::from_id(property).is_some(),
            // A long name may be shortened, and then it shows only how it begins.
            _ => name.len() == MAX_NAME && name.starts_with(&start[..start.len().min(KEPT)]),
        }
    }

    fn is_own(&self, file: &Path) -> bool {
        let first_line = self.first_line();
        // Checked before the file is opened: opening a pipe waits for a writer.
        let is_file = fs::metadata(file).is_ok_and(|found| found.is_file());
        let mut start = Vec::new();
        let read = |start: &mut Vec<u8>| fs::File::open(file)?.take(first_line.len() as u64).read_to_end(start);
        is_file && read(&mut start).is_ok() && start == first_line.as_bytes()
    }

    fn refuse(&self, file: &Path, screen: &Screen) -> Ended<()> {
        if exists(file) && !self.is_own(file) {
            return Err(foreign(file, &format!("from a frontier of {}", self.world), screen));
        }
        Ok(())
    }

    /// Refuses a file that no frontier of this world wrote, under a name that this run may need.
    pub(super) fn refuse_foreign(&self, screen: &Screen) -> Ended<()> {
        let cannot_read = |error: std::io::Error| {
            screen.fail(Exit::Environment, &format!("cannot read the folder {}: {error}", self.folder.display()))
        };
        for entry in fs::read_dir(self.folder).map_err(cannot_read)? {
            let file = entry.map_err(cannot_read)?.path();
            let is_toml = file.extension().is_some_and(|ending| ending == "toml");
            if is_toml && file.file_stem().and_then(|stem| stem.to_str()).is_some_and(|name| self.may_write(name)) {
                self.refuse(&file, screen)?;
            }
        }
        Ok(())
    }

    /// Writes one scenario.
    pub(super) fn keep(
        &self,
        (property, faults, variant): (Property, &str, &str),
        text: &str,
        screen: &Screen,
    ) -> Ended<()> {
        let file = self.folder.join(format!("{}.toml", self.name(property, faults, variant)));
        self.refuse(&file, screen)?;
        // The world itself may come from a frontier.
        let text = text.split_once('\n').filter(|(line, _)| line.starts_with(MARK)).map_or(text, |(_, rest)| rest);
        write_whole(&file, &format!("{}{text}", self.first_line()), screen)
    }
}

/// Bytes of a long name that are kept: the rest is a number that tells it from others that begin in the same way.
const KEPT: usize = MAX_NAME - 17;

/// A name that a scenario can have.
fn shortened(name: String) -> String {
    if name.len() <= MAX_NAME { name } else { format!("{}-{:016x}", &name[..KEPT], u64::of(&name)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::is_name;

    fn folder(world: &str) -> AnomalyFolder<'_> {
        AnomalyFolder { folder: Path::new("x"), world }
    }

    #[test]
    fn the_names_that_a_run_may_write_are_known_before_it() {
        let long = "w".repeat(MAX_NAME);
        for world in ["a", "a--b", &long] {
            let folder = folder(world);
            for faults in ["no-fault", "crash-node-2-cut-link", &"crash-node-".repeat(8)] {
                let name = folder.name(Property::OneBeliever, faults.trim_end_matches('-'), "bare");
                assert!(is_name(&name), "{name}");
                assert!(folder.may_write(&name), "{name}");
            }
        }
        for other in ["a", "a--mine", "a--one-believer--crash-node--mine", "a--b--one-believer--crash-node--bare"] {
            assert!(!folder("a").may_write(other), "{other}");
        }
    }

    #[test]
    fn long_names_that_begin_in_the_same_way_stay_different() {
        let long = "w".repeat(MAX_NAME);
        let names = ["cut-link", "crash-node"].map(|faults| folder(&long).name(Property::OneBeliever, faults, "bare"));
        assert_ne!(names[0], names[1]);
    }
}
