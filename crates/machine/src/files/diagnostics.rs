//! Errors about a text as miette draws them: the lines that are wrong, a label under them, a remedy.

use super::Snippet;
use miette::{Diagnostic, MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};
use std::{borrow::Cow, error::Error};

/// An error with a place in a text and a remedy. [`diagnostics!`](crate::diagnostics) makes it one that miette draws.
pub trait Explained: Error + Sized {
    /// Its kind, a name that programs may rely on: `config::range`.
    fn code(&self) -> Cow<'_, str>;

    fn help(&self) -> Option<&str> {
        None
    }

    /// The lines that are wrong, and a short word to put under them. `None`: nowhere in particular.
    fn marked(&self) -> Option<(&Snippet, &'static str)>;

    /// Further errors that were found in the same go.
    fn others(&self) -> &[Self] {
        &[]
    }
}

impl SourceCode for Snippet {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        lines_before: usize,
        lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let read = self.shown().read_span(span, lines_before, lines_after)?;
        // Without lines before it, it is asked where the error is.
        let column = if lines_before == 0 { self.line_and_column().1 - 1 } else { read.column() };
        let (name, line) = (self.name().to_owned(), read.line() + self.first_line() - 1);
        Ok(Box::new(MietteSpanContents::new_named(name, read.data(), *read.span(), line, column, read.line_count())))
    }
}

/// Implements [`Diagnostic`](miette::Diagnostic) for errors that are [`Explained`].
#[macro_export]
macro_rules! diagnostics {
    ($($error:ty),*) => {$(
        impl $crate::miette::Diagnostic for $error {
            fn code<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
                Some(Box::new($crate::files::Explained::code(self)))
            }

            fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
                $crate::files::Explained::help(self).map(|help| Box::new(help) as Box<dyn std::fmt::Display>)
            }

            fn source_code(&self) -> Option<&dyn $crate::miette::SourceCode> {
                $crate::files::Explained::marked(self).map(|(snippet, _)| snippet as &dyn $crate::miette::SourceCode)
            }

            fn labels(&self) -> Option<Box<dyn Iterator<Item = $crate::miette::LabeledSpan> + '_>> {
                let (snippet, word) = $crate::files::Explained::marked(self)?;
                let label = $crate::miette::LabeledSpan::new_with_span(Some(word.to_owned()), snippet.marked());
                Some(Box::new(std::iter::once(label)))
            }

            fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn $crate::miette::Diagnostic> + 'a>> {
                let others = $crate::files::Explained::others(self);
                let one_by_one = others.iter().map(|other| other as &dyn $crate::miette::Diagnostic);
                (!others.is_empty()).then(|| Box::new(one_by_one) as Box<dyn Iterator<Item = _>>)
            }
        }
    )*};
}

/// What went wrong, where, and what to do about it, in plain lines: for programs that show errors in a way of their own.
pub fn told(diagnostic: &dyn Diagnostic) -> String {
    let (mut text, mut cause) = (diagnostic.to_string(), diagnostic.source());
    while let Some(error) = cause {
        text += &format!(": {error}");
        cause = error.source();
    }
    let mut lines = vec![text];
    lines.extend(place(diagnostic).map(|place| format!("  at {place}")));
    lines.extend(diagnostic.help().map(|help| format!("  help: {help}")));
    lines.extend(diagnostic.related().into_iter().flatten().map(told));
    lines.join("\n")
}

/// File, line and column, if it is anywhere in particular.
fn place(diagnostic: &dyn Diagnostic) -> Option<String> {
    let label = diagnostic.labels()?.next()?;
    let read = diagnostic.source_code()?.read_span(label.inner(), 0, 0).ok()?;
    Some(format!("{}:{}:{}", read.name()?, read.line() + 1, read.column() + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use miette::Report;
    use proptest::prelude::*;
    use std::ops::Range;
    use thiserror::Error;

    #[derive(Debug, Error)]
    #[error("wrong")]
    struct Wrong(Snippet);

    impl Explained for Wrong {
        fn code(&self) -> Cow<'_, str> {
            "wrong".into()
        }

        fn marked(&self) -> Option<(&Snippet, &'static str)> {
            Some((&self.0, "here"))
        }
    }

    diagnostics!(Wrong);

    fn drawn(text: &str, span: Range<usize>) -> String {
        format!("{:?}", Report::new(Wrong(Snippet::new("it", text, span))))
    }

    #[test]
    fn a_short_line_is_shown_whole_with_its_neighbours() {
        let drawn = drawn("one\ntwo wrong\nthree\nfour", 8..13);
        for part in ["[it:2:5]", "1 │ one", "2 │ two wrong", "3 │ three"] {
            assert!(drawn.contains(part), "{part} in {drawn}");
        }
        assert!(!drawn.contains("four") && !drawn.contains('…'), "{drawn}");
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
        let message = drawn("a\u{1b}[2Jb\rc", 0..1);
        assert!(message.contains("a?[2Jb?c"), "{message:?}");
        // This one is longer than what stands for it.
        assert!(!drawn("\u{e0100}", 0..4).contains("Failed"));
    }

    proptest! {
        #[test]
        fn whatever_the_text_and_span_it_is_drawn_with_its_line(text in "(\\PC{0,3}|\n|\r\n|\t|a{90}|ü{90}){0,9}", start in 0_usize..400, length in 0_usize..300) {
            let drawn = drawn(&text, start..start + length);
            let start_of_character = (0..=start.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap();
            let before = &text[..start_of_character];
            prop_assert!(!drawn.contains("Failed"), "{}", drawn);
            let (line, column) = (before.matches('\n').count() + 1, before.rsplit('\n').next().unwrap().chars().count() + 1);
            prop_assert_eq!(Snippet::new("it", &text, start..start + length).line_and_column(), (line, column));
            let place = format!("[it:{}:{}]", line, column);
            prop_assert!(drawn.contains(&place), "{} in {}", place, drawn);
        }
    }
}
