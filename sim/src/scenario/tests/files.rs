//! Files and folders: how scenarios are found, and files that are none.

use std::path::Path;

use tempfile::TempDir;

use super::*;

/// A folder that contains these files.
pub(super) fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    for (name, content) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("it is below the folder")).expect("a folder");
        std::fs::write(path, content).expect("a file");
    }
    folder
}

fn code_of_file(name: &str, content: &[u8]) -> Code {
    let folder = folder(&[(name, content)]);
    let error = Scenario::read(folder.path().join(name)).expect_err("it is wrong");
    let code = error.problems().next().expect("an error has a problem").code();
    assert!(error.to_string().contains(&folder.path().join(name).display().to_string()), "{error}");
    code
}

#[test]
fn a_file_that_is_no_scenario_is_refused_with_a_reason_of_its_own() {
    let folder = folder(&[("a/one.toml", b"")]);
    let code = |path: &Path| Scenario::read(path).expect_err("it is wrong").problems().next().map(Problem::code);
    assert_eq!(code(folder.path()), Some(Code::IsAFolder));
    assert_eq!(code(&folder.path().join("none.toml")), Some(Code::Unreadable));
    assert_eq!(code_of_file("a.toml", b""), Code::Empty);
    assert_eq!(code_of_file("a.toml", b"# only a comment\n\n"), Code::Empty);
    assert_eq!(code_of_file("a.toml", b"story = \"\xff\""), Code::NotUtf8);
    for name in ["A b.toml", "_a.toml", "-a.toml", "a.b.toml", "ä.toml"] {
        assert_eq!(code_of_file(name, SMALLEST.as_bytes()), Code::BadName, "{name}");
    }
    assert_eq!(code_of_file("a.toml", &vec![b'\n'; 10 << 20]), Code::TooBig);
    assert_eq!(code_of_file("a.one-believer.json", b"{ \"schema\": 2 }"), Code::Syntax, "not that its name has a dot");
}

/// Many folders of services name their files so.
#[test]
fn a_name_may_have_underscores() {
    let folder = folder(&[("my_lock.toml", SMALLEST.as_bytes())]);
    let scenario = Scenario::read(folder.path().join("my_lock.toml")).expect("it is a name");
    assert_eq!(scenario.name, "my_lock");
}

/// Ten thousand tables are rejected by their size; the largest number that fits gives a report as short as any other.
#[test]
fn a_file_of_thousands_of_tables_fails_with_a_short_report() {
    let tables = |count: usize| (0..count).fold(String::new(), |text, number| text + &format!("[{number:x}]\n"));
    assert_eq!(codes(&tables(10_000)), [Code::TooBig]);
    let error = Scenario::parse("example", &tables(9_000)).expect_err("it is wrong");
    assert_eq!(error.problems().count(), MAX_PROBLEMS);
    let report = error.to_string();
    assert!(report.contains("8984 more problems are not shown"), "{report}");
    assert!(report.lines().count() < 10 * MAX_PROBLEMS, "{report}");
}

#[test]
fn deep_nesting_is_an_error() {
    assert!(!codes(&"[".repeat(60_000)).is_empty());
    assert!(!codes(&format!("story = {}", "[".repeat(60_000))).is_empty());
    assert!(!codes(&format!("x = {}1{}", "{a=".repeat(10_000), "}".repeat(10_000))).is_empty());
    assert!(!codes(&format!("{}a = 1", "a.".repeat(30_000))).is_empty());
    assert!(!codes(&format!("[{}a]", "a.".repeat(30_000))).is_empty());
}

#[test]
fn a_folder_stands_for_every_scenario_below_sorted_by_path() {
    let folder =
        folder(&[("b.toml", SMALLEST.as_bytes()), ("a/z.toml", SMALLEST.as_bytes()), ("notes.md", b"not a scenario")]);
    let found = resolve(&[folder.path().display().to_string()]).expect("both are right");
    assert_eq!(found.iter().map(|scenario| scenario.name.as_str()).collect::<Vec<_>>(), ["z", "b"]);
}

#[test]
fn every_wrong_file_of_a_folder_is_reported() {
    let folder = folder(&[("a.toml", b"x = "), ("b.toml", b"y = "), ("c.toml", SMALLEST.as_bytes())]);
    let error = resolve(&[folder.path().display().to_string()]).expect_err("two are wrong");
    let report = error.to_string();
    assert!(report.contains("a.toml:1:"), "{report}");
    assert!(report.contains("b.toml:1:"), "{report}");
}

#[test]
fn a_built_in_scenario_is_found_by_name_and_all_without_a_name() {
    assert_eq!(resolve(&[]).expect("they are right"), builtin());
    let found = resolve(&["two-clients-one-node".into()]).expect("it is built in");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].name, "two-clients-one-node");
}

#[test]
fn two_scenarios_of_one_name_are_refused() {
    let folder = folder(&[("two-clients-one-node.toml", SMALLEST.as_bytes())]);
    let args = ["two-clients-one-node".into(), folder.path().display().to_string()];
    let error = resolve(&args).expect_err("they have one name");
    assert_eq!(error.problems().map(Problem::code).collect::<Vec<_>>(), [Code::SameName]);
    assert!(error.to_string().contains("the built-in two-clients-one-node"), "{error}");
}

#[test]
fn an_empty_folder_is_an_error() {
    let folder = folder(&[]);
    let error = resolve(&[folder.path().display().to_string()]).expect_err("there is nothing");
    assert_eq!(error.problems().map(Problem::code).collect::<Vec<_>>(), [Code::NoScenarios]);
}
