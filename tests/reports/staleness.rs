//! A page that does not say what runs say is noticed.

use lockstep_tests::page::stale;

#[test]
fn a_stale_page_is_noticed_and_names_its_command() {
    assert_eq!(stale("reports/a.md", "one\ntwo\n", "one\ntwo\n"), None);
    let told = stale("reports/a.md", "one\ntwo\n", "one\n2\n").expect("it differs");
    assert!(told.contains("line 2\n  committed  two\n  now        2\n"), "{told}");
    assert!(told.contains("make reports"), "{told}");
    for (old, new) in [("", "one\n"), ("one\ntwo\n", "one\n"), ("one", "one\n")] {
        assert!(stale("reports/a.md", old, new).is_some());
    }
}
