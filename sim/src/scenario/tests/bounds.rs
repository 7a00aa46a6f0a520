//! The table `[bounds]`, and the claim that rests on it.

use lockstep_model::config::Bounds;

use super::*;

#[test]
fn a_bound_that_is_left_out_is_not_set_and_each_is_read_as_itself() {
    assert_eq!(read(SMALLEST).config.bounds, Bounds::NONE);
    let text = smallest_and(
        "[cluster]\nreplicas = 1\n[network]\nmode = \"split\"\n\
         [bounds]\neffects_under_way = 12\nmessages = 8\nreceipts = 7\nlate_requests = 1\nregistrations = 16",
    );
    let (effects_under_way, messages, receipts) = (Some(12), Some(8), Some(7));
    let (late_requests, registrations) = (Some(1), Some(16));
    let expected = Bounds { effects_under_way, messages, receipts, late_requests, registrations, ..Bounds::NONE };
    assert_eq!(read(&text).config.bounds, expected);
    let timers = format!("{MULTIPLYING}[bounds]\nrenewal_timers = 2");
    assert_eq!(read(&timers).config.bounds, Bounds { renewal_timers: Some(2), ..Bounds::NONE });
}

/// A world whose renewal timers multiply.
const MULTIPLYING: &str = "story = \"Timers multiply.\"\nlock = \"reentrant\"\n[time]\nlease = 3\nrenew_every = 1\n\
                           [clients]\ncount = 1\n[protocol]\nrenewal_timer = \"multiplying\"\n";

#[test]
fn timers_that_multiply_have_a_bound_and_are_modelled_in_one_network_only() {
    for (room, expected) in [(0, vec![Code::OutOfBounds]), (1, vec![]), (3, vec![]), (4, vec![Code::OutOfBounds])] {
        assert_eq!(codes(&format!("{MULTIPLYING}[bounds]\nrenewal_timers = {room}")), expected, "{room}");
    }
    for other in ["shared", "per-lock"] {
        let text = format!("{MULTIPLYING}[bounds]\nrenewal_timers = 2").replace("multiplying", other);
        assert_eq!(codes(&text), [Code::Impossible], "{other}");
    }
    let split = format!("{MULTIPLYING}[network]\nmode = \"split\"\n");
    assert_eq!(codes(&split), [Code::NotModelled]);
    let period =
        |ticks: u8| MULTIPLYING.replace("lease = 3\nrenew_every = 1", &format!("lease = 60\nrenew_every = {ticks}"));
    assert_eq!(codes(&period(29)), []);
    assert_eq!(codes(&period(30)), [Code::NotModelled]);
    let own = "[[client]]\nrenewal_timer = \"multiplying\"\n[[client]]\n";
    let one_of_two = MULTIPLYING.replace("renewal_timer = \"multiplying\"", "").replace("count = 1", "count = 2") + own;
    assert_eq!(codes(&one_of_two), []);
    assert_eq!(codes(&format!("{one_of_two}[network]\nmode = \"split\"\n")), [Code::NotModelled]);
}

#[test]
fn a_bound_says_how_far_it_goes() {
    let world = "[cluster]\nreplicas = 1\n[network]\nmode = \"split\"\n[bounds]\n";
    for (key, least, most) in [
        ("effects_under_way", 1, 12),
        ("messages", 3, 8),
        ("receipts", 1, 8),
        ("late_requests", 1, 4),
        ("registrations", 1, 16),
        ("holds", 1, 60),
    ] {
        for right in [least, most] {
            assert_eq!(codes(&smallest_and(&format!("{world}{key} = {right}"))), [], "{key} = {right}");
        }
        for wrong in [least - 1, most + 1] {
            let text = smallest_and(&format!("{world}{key} = {wrong}"));
            assert_eq!(codes(&text), [Code::OutOfBounds], "{key} = {wrong}");
            let says = picture(&text);
            assert!(says.contains(&format!("`{key}` must be a whole number from {least} to {most}")), "{says}");
        }
    }
}

#[test]
fn a_bound_on_what_cannot_be_is_refused() {
    assert_eq!(codes(&smallest_and("[bounds]\neffects_under_way = 3")), [Code::Impossible], "no replica");
    for key in ["receipts", "late_requests", "registrations"] {
        assert_eq!(codes(&smallest_and(&format!("[bounds]\n{key} = 2"))), [Code::Impossible], "{key}");
    }
    let plain = smallest_and("[bounds]\nholds = 2").replace("reentrant", "plain");
    assert_eq!(codes(&plain), [Code::Impossible], "a plain lock counts no holds");
}

#[test]
fn what_holds_within_bounds_can_be_claimed_only_beside_a_bound() {
    let claim = "[expect]\none-believer = \"holds-within-bounds\"";
    let read = read(&smallest_and(&format!("[bounds]\nmessages = 3\n{claim}")));
    assert_eq!(read.expect[&Property::OneBeliever], Verdict::HoldsWithinBounds);
    for bounds in ["", "[bounds]\n"] {
        assert_eq!(codes(&smallest_and(&format!("{bounds}{claim}"))), [Code::NotAClaim], "{bounds:?}");
    }
    let others = smallest_and("[bounds]\nmessages = 3\n[expect]\nothers = \"holds-within-bounds\"");
    assert_eq!(codes(&others), [Code::NotAClaim]);
}
