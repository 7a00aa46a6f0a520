//! Every output of a trace against its golden file, and what must be so of any picture.

use lockstep_model::config::{Clients, Config};
use lockstep_model::{LockKind, Verdict};
use lockstep_sim::render::text::{Declared, Options, picture};
use lockstep_sim::render::{Paint, json, mermaid, short, svg};

use crate::traces::{EVERYTHING, FAILOVER, SMALL, failover, stale_effect, wakeup, walk};

fn as_declared() -> Options {
    Options { declared: Declared::As(Some(Verdict::Violated)), ..Options::default() }
}

#[test]
fn the_picture_of_a_failover() {
    insta::assert_snapshot!(picture(&failover(), &as_declared()));
}

#[test]
fn the_picture_of_a_wakeup() {
    insta::assert_snapshot!(picture(&wakeup(), &Options::default()));
}

#[test]
fn the_picture_of_a_stale_effect() {
    insta::assert_snapshot!(picture(&stale_effect(), &Options::default()));
}

/// Two threads a client, three nodes, a resource: lanes are cut, and say so.
#[test]
fn the_picture_of_everything_at_once() {
    insta::assert_snapshot!(picture(&walk(&EVERYTHING, 40, 3), &Options::default()));
}

#[test]
fn the_list_of_a_failover() {
    insta::assert_snapshot!(short::list(&failover()));
}

#[test]
fn the_diagram_of_a_failover() {
    insta::assert_snapshot!(mermaid::diagram(&failover()));
}

#[test]
fn the_space_time_picture_of_a_failover() {
    let trace = failover();
    insta::assert_snapshot!(svg::picture(&trace, &svg::Options::of(&trace)));
}

#[test]
fn zz_tmp() {
    let crowd = Config { clients: Clients { count: 4, ..EVERYTHING.clients }, ..EVERYTHING };
    for (name, trace) in [
        ("everything", walk(&EVERYTHING, 40, 3)),
        ("crowd", walk(&crowd, 40, 5)),
        ("wakeup", wakeup()),
        ("stale", stale_effect()),
        ("failover", failover()),
        ("fo", walk(&FAILOVER, 30, 4)),
    ] {
        std::fs::write(format!("/tmp/v-{name}.svg"), svg::picture(&trace, &svg::Options::of(&trace))).unwrap();
    }
}

/// Two clients and two nodes are what most traces have: nothing of them is cut at 120 columns, and no line is longer.
#[test]
fn two_clients_and_two_nodes_fit_in_120_columns() {
    for seed in 0..20 {
        let drawn = picture(&walk(&FAILOVER, 30, seed), &Options::default());
        assert!(!drawn.contains('…'), "{drawn}");
        let longest = drawn.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(120), "{longest:?}\n{drawn}");
    }
}

/// Colour repeats what a word or a sign says, so that a page without it says all.
#[test]
fn colour_adds_nothing_but_colour() {
    let plain = picture(&failover(), &as_declared());
    let coloured = picture(&failover(), &Options { paint: Paint::Ansi, ..as_declared() });
    assert!(coloured.contains('\u{1b}'));
    assert!(!plain.contains('\u{1b}'));
    assert_eq!(strip(&coloured), plain);
}

/// Whatever can happen can be drawn, in every output: no lane too many, no arrow to nowhere.
#[test]
fn every_history_can_be_drawn() {
    let crowd = Config { clients: Clients { count: 4, ..EVERYTHING.clients }, ..EVERYTHING };
    let plain = Config { lock: LockKind::Plain, ..EVERYTHING };
    for (config, seeds) in [(SMALL, 5), (FAILOVER, 20), (EVERYTHING, 60), (crowd, 20), (plain, 20)] {
        for seed in 0..seeds {
            let trace = walk(&config, 60, seed);
            let list = short::list(&trace);
            assert_eq!(list.lines().count(), trace.steps.len());
            for width in [0, 80, 120, 200] {
                let drawn = picture(&trace, &Options { width, ..Options::default() });
                assert!(drawn.lines().count() > 3, "{drawn}");
            }
            assert!(mermaid::diagram(&trace).starts_with("sequenceDiagram\n"));
            assert!(json::document(&trace).ends_with("}\n"));
        }
    }
}

fn strip(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('\u{1b}') {
        plain.push_str(&rest[..start]);
        let end = rest[start..].find('m').expect("a colour ends with m");
        rest = &rest[start + end + 1..];
    }
    plain + rest
}
