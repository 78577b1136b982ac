//! Text as a terminal may show it: what would move its cursor, change its state or reorder letters is written out instead.

use std::borrow::Cow;

/// Whether a character acts on a terminal or on its neighbours instead of being seen: controls (C0 but line feed and tab, DEL, C1), bidirectional
/// controls, and what Unicode calls format characters or ignorable by default.
pub fn is_hidden(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        _ if character.is_control() => true,
        '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}' => {
            true
        }
        '\u{8e2}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' => true,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' => true,
        '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' => true,
        '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' => true,
        '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

/// The text with each hidden character as the escape that JSON has for it (`\u001b`). So a JSON text stays one, of the same value: outside of strings
/// it has no such characters but carriage returns, which [`serde_json`] does not write.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut seen = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_hidden(character) {
            let mut units = [0; 2];
            character.encode_utf16(&mut units).iter().for_each(|unit| seen += &format!("\\u{unit:04x}"));
        } else {
            seen.push(character);
        }
    }
    Cow::Owned(seen)
}

/// Texts that come as pieces of bytes, which may part a character.
#[derive(Debug, Default)]
pub struct Visible {
    /// The begin of a character whose end is to come: three bytes at most.
    begun: Vec<u8>,
}

impl Visible {
    pub const fn new() -> Self {
        Self { begun: Vec::new() }
    }

    /// What may be shown now that this has come. Bytes that are no text are shown as U+FFFD.
    pub fn piece(&mut self, bytes: &[u8]) -> String {
        let mut all = std::mem::take(&mut self.begun);
        all.extend_from_slice(bytes);
        let mut chunks = all.utf8_chunks().peekable();
        let mut text = String::with_capacity(all.len());
        while let Some(chunk) = chunks.next() {
            text += chunk.valid();
            let invalid = chunk.invalid();
            // What is cut short at the end may go on.
            let cut =
                chunks.peek().is_none() && str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
            if cut {
                self.begun = invalid.to_vec();
            } else if !invalid.is_empty() {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        match visible(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(seen) => seen,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Any text, with many characters that are hidden.
    fn hostile() -> impl Strategy<Value = String> {
        let hidden = prop::char::ranges(Cow::Borrowed(&[
            '\0'..='\u{1f}',
            '\u{7f}'..='\u{9f}',
            '\u{200b}'..='\u{202e}',
            '\u{2066}'..='\u{2069}',
            '\u{e0001}'..='\u{e007f}',
        ]));
        prop::collection::vec(prop_oneof![any::<char>(), hidden], 0..60).prop_map(String::from_iter)
    }

    #[test]
    fn what_acts_on_a_terminal_is_written_out() {
        assert_eq!(visible("x\u{1b}]0;pwn\u{7}"), "x\\u001b]0;pwn\\u0007");
        assert_eq!(visible("a\u{202e}b\u{9b}2J\rc\u{e0041}"), "a\\u202eb\\u009b2J\\u000dc\\udb40\\udc41");
        assert!(matches!(visible("µs, … │ größe 64 KiB\tend\n"), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn nothing_hidden_is_left_and_json_means_the_same(text in hostile()) {
            prop_assert!(!visible(&text).contains(is_hidden));
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(serde_json::from_str::<String>(&visible(&json)).unwrap(), text);
        }

        #[test]
        fn pieces_are_shown_as_the_whole(text in hostile(), at in any::<prop::sample::Index>()) {
            let (first, second) = text.as_bytes().split_at(at.index(text.len() + 1));
            let mut pieces = Visible::new();
            let shown = pieces.piece(first) + &pieces.piece(second);
            prop_assert_eq!(shown, visible(&text));
        }

        #[test]
        fn bytes_that_are_no_text_show_nothing_hidden_either(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            prop_assert!(!Visible::new().piece(&bytes).contains(is_hidden));
        }
    }
}
