//! The names of all kinds of lock, in the words in which a key says what it takes.

use lockstep_model::LockKind;

/// `"plain", "reentrant" or "fair"`.
pub(super) const KINDS: &str = match core::str::from_utf8(&TEXT) {
    Ok(text) => text,
    Err(_) => panic!("names are joined by ASCII"),
};

const TEXT: [u8; length()] = text();

/// What stands before the name with this number.
const fn before(number: usize) -> &'static str {
    match number {
        0 => "\"",
        last if last + 1 == LockKind::ALL.len() => "\" or \"",
        _ => "\", \"",
    }
}

const fn length() -> usize {
    let (mut length, mut number) = (1, 0);
    while number < LockKind::ALL.len() {
        length += before(number).len() + LockKind::ALL[number].name().len();
        number += 1;
    }
    length
}

const fn text() -> [u8; length()] {
    let mut text = [b'"'; length()];
    let (mut at, mut number) = (0, 0);
    while number < LockKind::ALL.len() {
        at = written(&mut text, at, before(number));
        at = written(&mut text, at, LockKind::ALL[number].name());
        number += 1;
    }
    text
}

/// Writes a part, and says where the next one begins.
const fn written(text: &mut [u8], at: usize, part: &str) -> usize {
    let mut next = 0;
    while next < part.len() {
        text[at + next] = part.as_bytes()[next];
        next += 1;
    }
    at + next
}
