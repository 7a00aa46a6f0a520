//! Sentences in lines: broken between words only.

use textwrap::{Options, WordSeparator, WordSplitter};

/// A blank at which no line is broken.
const FIXED_BLANK: char = '\u{a0}';

/// The text in lines of at most so many columns; a longer word stands alone on its line.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let options = Options::new(width.max(1))
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation);
    textwrap::wrap(text, options).into_iter().map(|line| line.replace(FIXED_BLANK, " ")).collect()
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
const LEAST: usize = 40;

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
    fn further_lines_stand_below_the_first() {
        let text = hanging(&"word ".repeat(12), 4, 44);
        assert_eq!(text, format!("{}\n    {}", ["word"; 8].join(" "), ["word"; 4].join(" ")));
    }
}
