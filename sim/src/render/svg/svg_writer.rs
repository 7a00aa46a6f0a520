//! What is drawn with. Every text goes through [`SvgWriter::text`], which escapes it: a name is anybody's text.

use std::fmt::Write as _;

/// An SVG under way.
#[derive(Default)]
pub(super) struct SvgWriter(String);

/// A point, in pixels from the upper left corner.
#[derive(Clone, Copy)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// Length of an arrow's head, and half of its width.
const HEAD: (f64, f64) = (8.0, 3.6);

/// Half the width of a cross.
const CROSS: f64 = 5.5;

/// All selectors begin with the class of the picture: inside a page a style sheet is everybody's.
const STYLE: &str = "\
.lockstep text{font:12px 'Helvetica Neue',Arial,'Liberation Sans','DejaVu Sans',sans-serif;fill:#1d2733}\
.lockstep .m{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:11px}\
.lockstep .halo{paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-linejoin:round}\
.lockstep .title{font-size:17px;font-weight:bold}\
.lockstep .strong{font-weight:bold}\
.lockstep .faint{fill:#6b7785}\
.lockstep .good{fill:#0a6b4f}\
.lockstep .odd{fill:#9a5b00}\
.lockstep .bad{fill:#b3261e;font-weight:bold}\
.lockstep .white{fill:#fff;font-weight:bold}\
.lockstep .end{text-anchor:end}\
.lockstep .middle{text-anchor:middle}\
.lockstep .card{fill:#fff}\
.lockstep .head{fill:#f4f6f9;stroke:#8894a3;stroke-width:1.5}\
.lockstep .life{stroke:#b4bdc8;stroke-width:1.5}\
.lockstep .asleep{stroke:#8894a3;stroke-width:1.5;stroke-dasharray:2 5}\
.lockstep .within{stroke:#fff;stroke-width:2.5;stroke-dasharray:2 5}\
.lockstep .time{fill:#eef2f7}\
.lockstep .clash{fill:#fde7e4}\
.lockstep .why{fill:#fde7e4;stroke:#b3261e}\
.lockstep .sent{stroke:#3c4856;stroke-width:1.4;fill:none}\
.lockstep .answer{stroke:#3c4856;stroke-width:1.4;stroke-dasharray:5 3;fill:none}\
.lockstep .effect{stroke:#0b8f8f;stroke-width:1.4;fill:none}\
.lockstep .message{stroke:#8a4fd0;stroke-width:1.4;fill:none}\
.lockstep .tip{stroke:none;fill:#3c4856}\
.lockstep .tip.effect{stroke:none;fill:#0b8f8f}\
.lockstep .tip.message{stroke:none;fill:#8a4fd0}\
.lockstep .cross{stroke:#b3261e;stroke-width:2.6;stroke-linecap:round}\
.lockstep .pill{fill:#1d2733}\
.lockstep .stored{fill-opacity:.5}\
.lockstep .waits{fill:#fff;stroke-width:1.6;stroke-dasharray:3 2}\
.lockstep .f0{fill:#0b6bb8}.lockstep .f1{fill:#e07b00}.lockstep .f2{fill:#0a9272}.lockstep .f3{fill:#a8489a}\
.lockstep .s0{stroke:#0b6bb8}.lockstep .s1{stroke:#e07b00}.lockstep .s2{stroke:#0a9272}.lockstep .s3{stroke:#a8489a}";

impl SvgWriter {
    /// The whole picture, in a card of that size.
    pub(super) fn finish(self, width: f64, height: f64, title: &str) -> String {
        let (width, height, title) = (number(width), number(height), escaped(title));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"lockstep\" role=\"img\" aria-label=\"{title}\" \
             width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n<style>{STYLE}</style>\n\
             <rect class=\"card\" width=\"{width}\" height=\"{height}\" rx=\"10\"/>\n{}</svg>\n",
            self.0
        )
    }

    pub(super) fn text(&mut self, at: Point, class: &str, text: &str) {
        let _ = writeln!(
            self.0,
            "<text x=\"{}\" y=\"{}\" class=\"{class}\">{}</text>",
            number(at.x),
            number(at.y),
            escaped(text)
        );
    }

    pub(super) fn line(&mut self, from: Point, to: Point, class: &str) {
        let _ = writeln!(
            self.0,
            "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"{class}\"/>",
            number(from.x),
            number(from.y),
            number(to.x),
            number(to.y)
        );
    }

    /// A box by its upper left and lower right corners.
    pub(super) fn rect(&mut self, from: Point, to: Point, round: f64, class: &str) {
        let _ = writeln!(
            self.0,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\" class=\"{class}\"/>",
            number(from.x),
            number(from.y),
            number(to.x - from.x),
            number(to.y - from.y),
            number(round)
        );
    }

    pub(super) fn arrow(&mut self, from: Point, to: Point, class: &str) {
        let length = (to.x - from.x).hypot(to.y - from.y).max(1.0);
        let (along_x, along_y) = ((to.x - from.x) / length, (to.y - from.y) / length);
        let neck = Point { x: to.x - along_x * HEAD.0, y: to.y - along_y * HEAD.0 };
        self.line(from, neck, class);
        let (aside_x, aside_y) = (-along_y * HEAD.1, along_x * HEAD.1);
        let corners = [
            to,
            Point { x: neck.x + aside_x, y: neck.y + aside_y },
            Point { x: neck.x - aside_x, y: neck.y - aside_y },
        ];
        let corners = corners.map(|corner| format!("{},{}", number(corner.x), number(corner.y)));
        let _ = writeln!(self.0, "<polygon points=\"{}\" class=\"tip {class}\"/>", corners.join(" "));
    }

    pub(super) fn cross(&mut self, at: Point) {
        let (x, y) = (at.x, at.y);
        self.line(Point { x: x - CROSS, y: y - CROSS }, Point { x: x + CROSS, y: y + CROSS }, "cross");
        self.line(Point { x: x - CROSS, y: y + CROSS }, Point { x: x + CROSS, y: y - CROSS }, "cross");
    }
}

/// A tenth of a pixel is enough, and the same on every machine.
fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map(ToOwned::to_owned).unwrap_or(text)
}

/// Text that XML takes as text, in an element as in an attribute. What XML has no way to say becomes a blank.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => safe.push(' '),
            _ if character.is_control() => safe.push(' '),
            _ => safe.push(character),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        let name = "a<b> & \"c\" 'd' ]]>\u{0}\u{1b}\n\u{ffff}</text><script>";
        let document = format!("<x y=\"{0}\">{0}</x>", escaped(name));
        let document = roxmltree::Document::parse(&document).expect("well-formed");
        let says = "a<b> & \"c\" 'd' ]]>    </text><script>";
        assert_eq!(document.root_element().text(), Some(says));
        assert_eq!(document.root_element().attribute("y"), Some(says));
        assert_eq!(document.root_element().children().count(), 1);
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([number(12.0), number(0.25), number(-3.96)], ["12", "0.2", "-4"]);
    }
}
