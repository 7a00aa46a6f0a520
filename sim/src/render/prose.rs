//! Sentences in lines: broken between words only.

use textwrap::{Options, WordSeparator, WordSplitter};

/// A blank at which no line is broken.
const FIXED_BLANK: char = '\u{a0}';

/// The text in lines of at most so many columns; a longer word stands alone on its line. A number is not broken, nor is it
/// parted from its unit.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let options = Options::new(width.max(1))
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation);
    textwrap::wrap(&with_whole_numbers(text), options).into_iter().map(|line| line.replace(FIXED_BLANK, " ")).collect()
}

/// The text with fixed blanks inside of numbers and before units: `12 345 states`, `30 s`.
fn with_whole_numbers(text: &str) -> String {
    let belongs_to_number = |rest: &str| {
        let word = rest.split([' ', '\n']).next().unwrap_or_default();
        let word = word.trim_end_matches(|last: char| last.is_ascii_punctuation());
        ["s", "ms"].contains(&word) || word.len() == 3 && word.bytes().all(|letter| letter.is_ascii_digit())
    };
    let mut whole = String::with_capacity(text.len());
    for (at, letter) in text.char_indices() {
        let is_inside = letter == ' '
            && whole.ends_with(|before: char| before.is_ascii_digit())
            && belongs_to_number(&text[at + 1..]);
        whole.push(if is_inside { FIXED_BLANK } else { letter });
    }
    whole
}

/// Commands to copy, below one another: a terminal would break a longer line inside of one.
pub fn next<S: AsRef<str>>(commands: &[S]) -> String {
    let lines = commands.iter().enumerate().map(|(number, command)| {
        let label = if number == 0 { "next" } else { "" };
        format!("{label:<6}{}\n", command.as_ref())
    });
    lines.collect()
}

/// The text without a place where a line may be broken.
pub fn unbroken(text: &str) -> String {
    text.replace(' ', &FIXED_BLANK.to_string())
}

/// The text after a label of `margin` columns: further lines are indented by as much.
pub fn hanging(text: &str, margin: usize, width: usize) -> String {
    wrapped(text, width.saturating_sub(margin).max(LEAST)).join(&format!("\n{:margin$}", ""))
}

/// Columns of a text with a margin, however narrow the terminal is.
const LEAST: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_break_between_words_only() {
        assert_eq!(wrapped("n1 refuses: A has it", 11), ["n1 refuses:", "A has it"]);
        assert_eq!(wrapped("plain-failover-loses-the-grant holds", 10), ["plain-failover-loses-the-grant", "holds"]);
        assert_eq!(wrapped(&format!("one {}", unbroken("two three")), 10), ["one", "two three"]);
    }

    #[test]
    fn a_number_stays_whole_and_beside_its_unit() {
        assert_eq!(wrapped("after 12 345 states", 10), ["after", "12 345", "states"]);
        assert_eq!(wrapped("a tick is 10 s, now", 13), ["a tick is", "10 s, now"]);
        assert_eq!(wrapped("in 2 steps", 4), ["in 2", "steps"]);
    }

    #[test]
    fn every_command_stands_on_a_line_of_its_own() {
        assert_eq!(next(&["lockstep check X", "lockstep show X"]), "next  lockstep check X\n      lockstep show X\n");
    }

    #[test]
    fn further_lines_stand_below_the_first() {
        let text = hanging(&"word ".repeat(12), 4, 44);
        assert_eq!(text, format!("{}\n    {}", ["word"; 8].join(" "), ["word"; 4].join(" ")));
    }
}
