//! TLPs as bytes and as JSON: decoding and encoding are inverse.

use super::text;
use sealsim::items::{self, Form, Item};

/// What the bytes may be of which each has one form as JSON.
const FORMS: [Form; 2] = [Form::Tlps, Form::Wire];
/// The longest stream that is decoded.
const LONGEST: usize = 1 << 14;

fn lines_of(bytes: &[u8], form: Form) -> Vec<String> {
    items::read(bytes, form).iter().map(Item::to_json).collect()
}

/// Frames without any problem come back as they were.
pub fn bytes(input: &[u8]) {
    let input = &input[..input.len().min(LONGEST)];
    for form in FORMS {
        let lines = lines_of(input, form);
        let good =
            lines.iter().all(|line| line.contains("\"problems\":[]") && !line.contains("\"kind\":\"unreadable\""));
        if good && !lines.is_empty() {
            assert_eq!(items::write(&lines.join("\n"), form).unwrap().concat(), input, "{lines:#?}");
        }
    }
}

/// What was encoded decodes, without an error, to what is encoded as the same bytes.
pub fn json(input: &[u8]) {
    let Some(text) = text(input) else { return };
    for form in FORMS {
        let Ok(all) = items::write(text, form) else { continue };
        for bytes in all.iter().filter(|bytes| bytes.len() <= LONGEST) {
            let lines = lines_of(bytes, form);
            if lines.iter().all(|line| line.contains("\"problems\":[]")) {
                assert_eq!(&items::write(&lines.join("\n"), form).unwrap().concat(), bytes, "{lines:#?}");
            }
        }
    }
}
