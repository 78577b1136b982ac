//! TLPs as bytes and as JSON: decoding and encoding are inverse.

use super::text;
use sealsim::cli::{tlp_from_json, tlp_to_json};

/// The longest stream that is decoded.
const LONGEST: usize = 1 << 14;

/// Frames without any problem come back as they were.
pub fn bytes(input: &[u8]) {
    let input = &input[..input.len().min(LONGEST)];
    for framed in [false, true] {
        let lines = tlp_to_json(input, framed);
        let good =
            lines.iter().all(|line| line.contains("\"problems\":[]") && !line.contains("\"kind\":\"unreadable\""));
        if good && !lines.is_empty() {
            assert_eq!(tlp_from_json(&lines.join("\n"), framed).unwrap().concat(), input, "{lines:#?}");
        }
    }
}

/// What was encoded decodes, without an error, to what is encoded as the same bytes.
pub fn json(input: &[u8]) {
    let Some(text) = text(input) else { return };
    for framed in [false, true] {
        let Ok(all) = tlp_from_json(text, framed) else { continue };
        for bytes in all.iter().filter(|bytes| bytes.len() <= LONGEST) {
            let lines = tlp_to_json(bytes, framed);
            if lines.iter().all(|line| line.contains("\"problems\":[]")) {
                assert_eq!(&tlp_from_json(&lines.join("\n"), framed).unwrap().concat(), bytes, "{lines:#?}");
            }
        }
    }
}
