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
    let expected = Bounds { effects_under_way, messages, receipts, late_requests, registrations };
    assert_eq!(read(&text).config.bounds, expected);
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
