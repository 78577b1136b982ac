//! What a message shows of a text: the line that is wrong, cut to what fits a screen.
//!
//! ```text
//!  text                                  Snippet
//!  line of 100,000 characters ---------> ...an ellipsis, some characters, the error, some more, an ellipsis...
//!  line and column of the error -------> the same: those of the whole text
//! ```

use miette::{Diagnostic, LabeledSpan, MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};
use std::{fmt, ops::Range};
use thiserror::Error;

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
    /// Length of what stands before them.
    lead: usize,
}

impl Snippet {
    /// The bytes `span` of `text`, which messages call `name`. What lies outside of the text or within a character is moved to the next place
    /// before that does not.
    #[must_use]
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
                marked.start = shown.len() + one.place(start - begin);
            }
            if place < wanted {
                marked.end = shown.len() + one.place(end - at);
            }
            at += whole.len() + 1;
            shown += &one.text;
            shown.push('\n');
        }
        Self { name: name.to_owned(), shown, span: marked, first, line, column }
    }

    /// Line and column of the error in the whole text, from 1. The column counts characters.
    #[must_use]
    pub const fn line_and_column(&self) -> (usize, usize) {
        (self.line + 1, self.column + 1)
    }

    /// What miette puts under the error.
    #[must_use]
    pub fn label(&self, word: &str) -> LabeledSpan {
        LabeledSpan::new_with_span(Some(word.to_owned()), self.span.clone())
    }
}

impl Cut {
    /// Where a byte of the line is in what is shown, or what comes nearest.
    fn place(&self, byte: usize) -> usize {
        self.lead + byte.clamp(self.kept.start, self.kept.end) - self.kept.start
    }
}

/// A line, cut around one of its bytes. Control characters would move a terminal's cursor: they are shown as `?`.
fn cut(line: &str, around: usize) -> Cut {
    let line = line.strip_suffix('\r').unwrap_or(line);
    let around = boundary(line, around);
    let length = line.chars().take(WIDTH + 1).count();
    let back = || line[..around].char_indices().rev().nth(BEFORE - 1).map_or(0, |(at, _)| at);
    let start = if length <= WIDTH { 0 } else { back() };
    let end = line[start..].char_indices().nth(WIDTH).map_or(line.len(), |(at, _)| start + at);
    let mut text = if start > 0 { ELLIPSIS.to_owned() } else { String::new() };
    let lead = text.len();
    text.extend(line[start..end].chars().map(|c| if c.is_ascii_control() && c != '\t' { '?' } else { c }));
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

impl SourceCode for Snippet {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        lines_before: usize,
        lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let read = self.shown.read_span(span, lines_before, lines_after)?;
        // Without lines before it, it is asked where the error is.
        let column = if lines_before == 0 { self.column } else { read.column() };
        let (data, line) = (read.data(), read.line() + self.first);
        let named =
            MietteSpanContents::new_named(self.name.clone(), data, *read.span(), line, column, read.line_count());
        Ok(Box::new(named))
    }
}

/// A text that is not of the form that it should be of, with the place where it is not.
#[derive(Debug, Clone, Error)]
#[error("{what}")]
pub struct Misread {
    what: String,
    snippet: Box<Snippet>,
}

impl Misread {
    /// What a TOML parser refuses in `text`.
    #[must_use]
    pub fn toml(text: &str, error: &toml::de::Error) -> Self {
        let span = error.span().unwrap_or(0..0);
        // The end of a text is no place to point at.
        let last = text.char_indices().next_back().map_or(0, |(at, _)| at);
        let start = span.start.min(last);
        let snippet = Box::new(Snippet::new("", text, start..span.end.max(start + 1)));
        Self { what: super::excerpt(error.message(), 300).into_owned(), snippet }
    }

    /// With the name that messages call the text.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.snippet.name = name.to_owned();
        self
    }

    /// Line and column, from 1.
    #[must_use]
    pub const fn line_and_column(&self) -> (usize, usize) {
        self.snippet.line_and_column()
    }
}

impl Diagnostic for Misread {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new("syntax"))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&*self.snippet)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(std::iter::once(self.snippet.label("here"))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, Error)]
    #[error("wrong")]
    struct Wrong(Snippet);

    impl Diagnostic for Wrong {
        fn source_code(&self) -> Option<&dyn SourceCode> {
            Some(&self.0)
        }

        fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
            Some(Box::new(std::iter::once(self.0.label("here"))))
        }
    }

    fn drawn(text: &str, span: Range<usize>) -> String {
        format!("{:?}", miette::Report::new(Wrong(Snippet::new("it", text, span))))
    }

    #[test]
    fn a_short_line_is_shown_whole_with_its_neighbours() {
        let drawn = drawn("one\ntwo wrong\nthree\nfour", 8..13);
        for part in ["[it:2:5]", "1 │ one", "2 │ two wrong", "3 │ three"] {
            assert!(drawn.contains(part), "{part} in {drawn}");
        }
        assert!(!drawn.contains("four") && !drawn.contains(ELLIPSIS), "{drawn}");
    }

    #[test]
    fn of_a_long_line_a_window_is_shown_and_the_column_is_that_of_the_line() {
        let text = format!("first\n{}WRONG{}\n", "a".repeat(70_000), "b".repeat(70_000));
        let drawn = drawn(&text, 70_006..70_011);
        assert!(drawn.contains("[it:2:70001]"), "{drawn}");
        assert!(drawn.contains(&format!("…{}WRONG{}…\n", "a".repeat(40), "b".repeat(55))), "{drawn}");
        assert!(drawn.len() < 1000, "{}", drawn.len());
    }

    #[test]
    fn an_error_over_many_lines_is_shown_to_the_end_of_the_first() {
        let text = "x = [\n".to_owned() + &"1,\n".repeat(1000) + "]";
        let drawn = drawn(&text, 4..text.len());
        assert!(drawn.contains("x = [") && drawn.lines().count() < 10, "{drawn}");
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let drawn = drawn("a\u{1b}[2Jb\rc", 0..1);
        assert!(drawn.contains("a?[2Jb?c"), "{drawn:?}");
    }

    proptest! {
        #[test]
        fn whatever_the_text_and_span_it_is_drawn_with_its_line(text in "(\\PC{0,3}|\n|\r\n|\t|a{90}|ü{90}){0,9}", start in 0_usize..400, length in 0_usize..300) {
            let drawn = drawn(&text, start..start + length);
            let before = &text[..boundary(&text, start)];
            prop_assert!(!drawn.contains("Failed"), "{}", drawn);
            let (line, column) = (before.matches('\n').count() + 1, before.rsplit('\n').next().unwrap().chars().count() + 1);
            prop_assert_eq!(Snippet::new("it", &text, start..start + length).line_and_column(), (line, column));
            let place = format!("[it:{}:{}]", line, column);
            prop_assert!(drawn.contains(&place), "{} in {}", place, drawn);
        }
    }
}
