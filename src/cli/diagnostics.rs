//! The errors of the library as miette draws them: the lines that are wrong, a label under them, a remedy.

use crate::{
    config::ConfigError,
    files::{Explained, Misread, Snippet},
    validate::measured::MeasuredError,
    workload::{WorkloadFileError, trace::TraceError},
};
use miette::{Diagnostic, LabeledSpan, MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};
use std::{fmt, iter};

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

/// Makes diagnostics of errors that are [`Explained`].
macro_rules! diagnostics {
    ($($error:ty),*) => {$(
        impl Diagnostic for $error {
            fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
                Some(Box::new(Explained::code(self)))
            }

            fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
                Explained::help(self).map(|help| Box::new(help) as Box<dyn fmt::Display>)
            }

            fn source_code(&self) -> Option<&dyn SourceCode> {
                self.marked().map(|(snippet, _)| snippet as &dyn SourceCode)
            }

            fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
                let (snippet, word) = self.marked()?;
                Some(Box::new(iter::once(LabeledSpan::new_with_span(Some(word.to_owned()), snippet.marked()))))
            }

            fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
                let others = self.others();
                let one_by_one = others.iter().map(|other| other as &dyn Diagnostic);
                (!others.is_empty()).then(|| Box::new(one_by_one) as Box<dyn Iterator<Item = _>>)
            }
        }
    )*};
}

diagnostics!(ConfigError, MeasuredError, Misread, TraceError, WorkloadFileError);

#[cfg(test)]
mod tests {
    use super::*;
    use miette::Report;
    use proptest::prelude::*;
    use std::{borrow::Cow, ops::Range};
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
        let drawn = drawn("a\u{1b}[2Jb\rc", 0..1);
        assert!(drawn.contains("a?[2Jb?c"), "{drawn:?}");
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
