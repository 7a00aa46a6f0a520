//! Every output of a trace against its golden file, and properties that every picture must have.

use lockstep_model::Verdict;
use lockstep_model::config::{Clients, Config};
use lockstep_model::trace::Trace;
use lockstep_sim::render::text::{Declared, TextOptions, WIDTH, picture};
use lockstep_sim::render::{Paint, json, mermaid, short, svg};
use roxmltree::Document;

use crate::traces::{EVERYTHING, FAILOVER, IN_FLIGHT, NAMED, SMALL, failover, kind, stale_effect, wakeup, walk};

fn as_declared() -> TextOptions {
    TextOptions { declared: Declared::As(Some(Verdict::Violated)), ..TextOptions::default() }
}

#[test]
fn the_picture_of_a_failover() {
    insta::assert_snapshot!(picture(&failover(), &as_declared()));
}

#[test]
fn the_picture_of_a_wakeup() {
    insta::assert_snapshot!(picture(&wakeup(), &TextOptions::default()));
}

#[test]
fn the_picture_of_a_stale_effect() {
    insta::assert_snapshot!(picture(&stale_effect(), &TextOptions::default()));
}

/// Two threads per client, three nodes, a resource: lanes are cut, and the picture marks this.
#[test]
fn the_picture_of_everything_at_once() {
    let options = TextOptions { width: 120, ..TextOptions::default() };
    let mut pictures = (0..50).map(|seed| picture(&walk(&EVERYTHING, 40, seed), &options));
    let drawn = pictures.find(|drawn| drawn.contains('…')).expect("some walk has a cell that is too long");
    insta::assert_snapshot!(drawn);
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
    insta::assert_snapshot!(svg::picture(&trace, &svg::SvgOptions::of(&trace)));
}

/// A scenario's name and story are arbitrary text: on a page they must not become markup.
#[test]
fn names_cannot_break_out_of_the_space_time_picture() {
    let name = "<&\">' ]]></text><script>";
    let trace = Trace { scenario: name.to_owned(), story: name.to_owned(), ..failover() };
    let options = svg::SvgOptions { caption: name.to_owned(), broken: vec![name.to_owned()], is_story_claimed: false };
    let drawn = svg::picture(&trace, &options);
    let document = Document::parse(&drawn).expect("well-formed XML");
    let is_name = |node: &roxmltree::Node| node.text() == Some(name);
    assert_eq!(document.descendants().filter(|node| node.is_text() && is_name(node)).count(), 4);
    assert!(!document.descendants().any(|node| node.has_tag_name("script")));
    assert!(svg::note(name).contains("&lt;&amp;&quot;&gt;&#39;"));
}

/// Most traces have two clients and two nodes: nothing in them is cut on a page, and no line is longer.
#[test]
fn two_clients_and_two_nodes_fit_on_a_page() {
    for seed in 0..20 {
        let drawn = picture(&walk(&FAILOVER, 30, seed), &TextOptions::default());
        assert!(!drawn.contains('…'), "{drawn}");
        assert!(longest(&drawn) <= WIDTH, "{drawn}");
    }
}

/// With many lanes the sentences stand below them, where a terminal would break the lines at any place.
#[test]
fn sentences_stand_below_the_lanes_where_there_is_no_room_beside() {
    let crowd = Config { clients: Clients { count: 4, ..FAILOVER.clients }, ..FAILOVER };
    for (config, width) in [(crowd, 100), (FAILOVER, 80), (SMALL, 80), (SMALL, 60)] {
        for seed in 0..20 {
            let drawn = picture(&walk(&config, 30, seed), &TextOptions { width, ..TextOptions::default() });
            let (picture, _) = drawn.split_once("\nnext").expect("a command");
            assert!(longest(picture) <= width, "{width}\n{drawn}");
        }
    }
    assert!(!picture(&walk(&crowd, 30, 1), &TextOptions::default()).contains("what happens"));
    assert!(picture(&walk(&SMALL, 30, 1), &TextOptions::default()).contains("what happens"));
}

#[test]
fn the_key_explains_the_signs_that_occur_and_no_other() {
    let key = |trace: &Trace| {
        let drawn = picture(trace, &as_declared());
        let (_, below) = drawn.split_once("\nkey ").expect("a key");
        below.split("\nwhy ").next().expect("it ends").split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let with_faults = key(&failover());
    for says in ["# believes it holds", ". no event", "x fault", "n1, n2 Redis nodes", "A:1 client A, thread 1"] {
        assert!(with_faults.contains(says), "{says}: {with_faults}");
    }
    assert!(!with_faults.contains("waits") && !with_faults.contains("paused"), "{with_faults}");
    assert!(!key(&wakeup()).contains("x fault"));
}

fn longest(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or_default()
}

/// Colour only repeats what a word or a sign says, so the page without colour is complete.
#[test]
fn colour_adds_nothing_but_colour() {
    let plain = picture(&failover(), &as_declared());
    let coloured = picture(&failover(), &TextOptions { paint: Paint::Ansi, ..as_declared() });
    assert!(coloured.contains('\u{1b}'));
    assert!(!plain.contains('\u{1b}'));
    assert_eq!(strip(&coloured), plain);
}

/// Everything that can happen can be drawn, in every output: no superfluous lane, no arrow without a target.
#[test]
fn every_history_can_be_drawn() {
    let crowd = Config { clients: Clients { count: 4, ..EVERYTHING.clients }, ..EVERYTHING };
    let plain = Config { lock: kind(false), ..EVERYTHING };
    let worlds = [(SMALL, 5), (FAILOVER, 20), (EVERYTHING, 60), (crowd, 20), (plain, 20), (IN_FLIGHT, 60), (NAMED, 20)];
    for (config, seeds) in worlds {
        for seed in 0..seeds {
            let trace = walk(&config, 60, seed);
            let list = short::list(&trace);
            assert_eq!(list.lines().count(), trace.steps.len());
            for width in [0, 80, 120, 200] {
                let drawn = picture(&trace, &TextOptions { width, ..TextOptions::default() });
                assert!(drawn.lines().count() > 3, "{drawn}");
            }
            assert!(mermaid::diagram(&trace).starts_with("sequenceDiagram\n"));
            let drawn = svg::picture(&trace, &svg::SvgOptions::of(&trace));
            let document = Document::parse(&drawn).expect("well-formed XML");
            let numbers = ["x", "y", "x1", "x2", "y1", "y2", "width", "height"];
            for (place, number) in
                document.descendants().flat_map(|node| numbers.map(|name| (node, node.attribute(name))))
            {
                let is_on_the_sheet = number.is_none_or(|number| number.parse().is_ok_and(|number: f64| number >= 0.0));
                assert!(is_on_the_sheet, "{place:?}");
            }
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
