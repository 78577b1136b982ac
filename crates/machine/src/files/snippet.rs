//! What a message shows of a text: the line that is wrong, cut to what fits a screen.
//!
//! ```text
//!  text                                  Snippet
//!  line of 100,000 characters ---------> ...an ellipsis, some characters, the error, some more, an ellipsis...
//!  line and column of the error -------> the same: those of the whole text
//! ```

use super::is_hidden;
use std::ops::Range;

/// The most characters of a line that are shown.
const WIDTH: usize = 100;
/// How many of them stand before the error.
const BEFORE: usize = 40;
/// The most lines that an error covers. One that covers more is shown to the end of its first line.
const LINES: usize = 8;
const ELLIPSIS: &str = "…";

/// A stretch of a text with the lines around it, each of them cut.
#[derive(Debug, Clone)]
pub struct Snippet {
    name: String,
    shown: String,
    /// Bytes of `shown`.
    span: Range<usize>,
    /// Place of the first line of `shown` in the text, from 0.
    first: usize,
    /// Place of the error in the text, from 0; the column counts characters.
    line: usize,
    column: usize,
}

/// A line as it is shown.
struct Cut {
    text: String,
    /// The bytes of the line that are shown.
    kept: Range<usize>,
    /// Length of what is before them.
    lead: usize,
}

impl Snippet {
    /// The bytes `span` of `text`, which messages call `name`. What lies outside of the text or within a character is moved to the next place
    /// before that does not.
    pub fn new(name: &str, text: &str, span: Range<usize>) -> Self {
        let start = boundary(text, span.start);
        let end = boundary(text, span.end).max(start);
        let begin = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let (line, column) = (text[..begin].matches('\n').count(), text[begin..start].chars().count());
        let lines = text[start..end].matches('\n').count() + 1;
        let (mut shown, mut marked, mut at) = (String::new(), 0..0, begin);
        let before = begin.checked_sub(1).and_then(|end| text[..end].rsplit('\n').next());
        if let Some(before) = before {
            shown = cut(before, 0).text + "\n";
        }
        let first = line - usize::from(before.is_some());
        let wanted = if lines > LINES { 1 } else { lines };
        for (place, whole) in text[begin..].split('\n').take(wanted + 1).enumerate() {
            let one = cut(whole, if place == 0 { start - begin } else { 0 });
            if place == 0 {
                marked.start = shown.len() + one.place(whole, start - begin);
            }
            if place < wanted {
                marked.end = shown.len() + one.place(whole, end - at);
            }
            at += whole.len() + 1;
            shown += &one.text;
            shown.push('\n');
        }
        Self { name: name.to_owned(), shown, span: marked, first, line, column }
    }

    /// The same where `text` was one line of a longer text, at this place in it, from 1.
    pub const fn on_line(mut self, line: usize) -> Self {
        let before = line.saturating_sub(1);
        self.first = self.first.saturating_add(before);
        self.line = self.line.saturating_add(before);
        self
    }

    /// Line and column of the error in the whole text, from 1. The column counts characters.
    pub const fn line_and_column(&self) -> (usize, usize) {
        (self.line + 1, self.column + 1)
    }

    /// How messages call the text.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The lines as they are shown: the one before the error, those of the error, the one after it.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// The bytes of [`Snippet::shown`] that are wrong.
    pub fn marked(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Number of the first line that is shown, from 1.
    pub const fn first_line(&self) -> usize {
        self.first + 1
    }
}

impl Cut {
    /// Where a byte of the line is in what is shown, or what comes nearest.
    fn place(&self, line: &str, byte: usize) -> usize {
        let before = &line[self.kept.start..byte.clamp(self.kept.start, self.kept.end)];
        self.lead + before.chars().map(|c| seen(c).len_utf8()).sum::<usize>()
    }
}

/// A hidden character is shown as `?`.
fn seen(c: char) -> char {
    if is_hidden(c) { '?' } else { c }
}

fn cut(line: &str, around: usize) -> Cut {
    let line = line.strip_suffix('\r').unwrap_or(line);
    let around = boundary(line, around);
    let length = line.chars().take(WIDTH + 1).count();
    let back = || line[..around].char_indices().rev().nth(BEFORE - 1).map_or(0, |(at, _)| at);
    let start = if length <= WIDTH { 0 } else { back() };
    let end = line[start..].char_indices().nth(WIDTH).map_or(line.len(), |(at, _)| start + at);
    let mut text = if start > 0 { ELLIPSIS.to_owned() } else { String::new() };
    let lead = text.len();
    text.extend(line[start..end].chars().map(seen));
    if end < line.len() {
        text += ELLIPSIS;
    }
    Cut { text, kept: start..end, lead }
}

/// The boundary of a character at a byte or before it.
fn boundary(text: &str, byte: usize) -> usize {
    let mut byte = byte.min(text.len());
    while !text.is_char_boundary(byte) {
        byte -= 1;
    }
    byte
}
