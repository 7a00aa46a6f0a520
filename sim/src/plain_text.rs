//! Characters that do not stand for themselves on a screen: a text from another person could use them to control a
//! terminal, or to look like another text. And long numbers, as every text writes them.

/// A long number in groups of three digits: `12 345`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(" ")
}

/// What is wrong with the character, in words; `None` if it stands for itself.
///
/// The second kind changes the direction in which its neighbours are shown (Unicode Standard Annex 9, "Directional
/// Formatting Characters"). The third is not shown at all: two texts with and without it look alike.
pub fn hidden(letter: char) -> Option<&'static str> {
    match letter {
        _ if letter.is_control() => Some("a control character"),
        '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            Some("a character that changes the direction of text")
        }
        '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' => Some("a character without width"),
        _ => None,
    }
}

/// The first hidden character of a text, other than the `allowed` ones, in words.
pub fn first_hidden(text: &str, allowed: &[char]) -> Option<String> {
    text.chars().filter(|letter| !allowed.contains(letter)).find_map(|letter| {
        let what = hidden(letter)?;
        Some(format!("{what} in it (U+{:04X})", u32::from(letter)))
    })
}

/// The text with its hidden characters written out, other than the `allowed` ones.
pub fn shown(text: &str, allowed: &[char]) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        if hidden(letter).is_some() && !allowed.contains(&letter) {
            safe.extend(letter.escape_default());
        } else {
            safe.push(letter);
        }
    }
    safe
}

/// The text with another character in the place of each that changes the direction or has no width, of the same length in
/// bytes: places in the text stay what they are.
pub fn all_visible(text: &str) -> String {
    let replaced = |letter: char| match hidden(letter) {
        Some(_) if !letter.is_control() => {
            if letter.len_utf8() == 2 {
                '\u{a4}'
            } else {
                char::REPLACEMENT_CHARACTER
            }
        }
        _ => letter,
    };
    text.chars().map(replaced).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_that_changes_the_direction_or_has_no_width_is_hidden_and_no_letter_is() {
        let all = "\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}";
        for letter in all.chars() {
            assert!(hidden(letter).is_some_and(|what| what.contains("direction")), "{letter:?}");
        }
        for letter in "\u{200b}\u{200c}\u{200d}\u{2060}\u{feff}".chars() {
            assert_eq!(hidden(letter), Some("a character without width"), "{letter:?}");
        }
        assert!("\u{1b}\u{7}\u{9b}\n".chars().all(|letter| hidden(letter) == Some("a control character")));
        // Letters that are written from right to left need no such character.
        assert_eq!(first_hidden("Schlüssel, 鍵, مفتاح, מפתח — “x”", &[]), None);
    }

    #[test]
    fn long_numbers_are_grouped_from_the_right() {
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1 000", "1 234 567"]);
    }

    #[test]
    fn what_is_hidden_is_named_and_written_out() {
        assert_eq!(first_hidden("a\nb", &['\n']), None);
        let found = first_hidden("a\n\u{202e}b", &['\n']);
        assert_eq!(found.as_deref(), Some("a character that changes the direction of text in it (U+202E)"));
        let text = "a\u{202e}b\u{61c}c\u{200b}\n";
        assert_eq!(all_visible(text), "a\u{fffd}b\u{a4}c\u{fffd}\n");
        assert_eq!(all_visible(text).len(), text.len());
        assert_eq!(shown("a\n\u{202e}\u{1b}b", &['\n']), "a\n\\u{202e}\\u{1b}b");
    }
}
