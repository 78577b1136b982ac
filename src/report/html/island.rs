//! The file: a shell, and in it a style, the scripts and the data.

use crate::report::names;
use sha2::{Digest, Sha256};

const SHELL: &str = include_str!("page/shell.html");
pub(super) fn style() -> String {
    names::style() + include_str!("page/style.css")
}

/// In the order in which they build on each other.
const SCRIPTS: [&str; 20] = [
    include_str!("page/base.js"),
    include_str!("page/figures.js"),
    include_str!("page/palette.js"),
    include_str!("page/tooltip.js"),
    include_str!("page/scale.js"),
    include_str!("page/chart.js"),
    include_str!("page/bars.js"),
    include_str!("page/table.js"),
    include_str!("page/front.js"),
    include_str!("page/histogram.js"),
    include_str!("page/lanes.js"),
    include_str!("page/timeline.js"),
    include_str!("page/configuration.js"),
    include_str!("page/run.js"),
    include_str!("page/compare.js"),
    include_str!("page/sweep.js"),
    include_str!("page/replay.js"),
    include_str!("page/validate.js"),
    include_str!("page/faults.js"),
    include_str!("page/main.js"),
];

/// So many of them, from the first on, are of use to any page.
const COMMON: usize = 7;

/// The scripts that are of use to any page, then some that build on them, as one.
pub(super) fn script_on_common(own: &[&'static str]) -> String {
    script(&[&SCRIPTS[..COMMON], own].concat())
}

fn script(parts: &[&str]) -> String {
    format!("\"use strict\";\n(() => {{\n{}{}}})();\n", names::script(), parts.join("\n"))
}

/// The whole file. `data` is JSON.
pub fn page(title: &str, data: &str) -> String {
    let script = script(&SCRIPTS);
    let style = style();
    let (style_hash, script_hash) = (hash(&style), hash(&script));
    let parts = [
        ("style-hash", style_hash.as_str()),
        ("script-hash", &script_hash),
        ("title", &text(title)),
        ("style", &style),
        ("data", &harmless(data)),
        ("script", &script),
    ];
    filled(SHELL, &parts)
}

/// A shell with its placeholders filled. They are looked for in the shell alone: what takes their place may hold anything.
pub(super) fn filled(shell: &str, parts: &[(&str, &str)]) -> String {
    let mut file = String::with_capacity(shell.len() + parts.iter().map(|(_, part)| part.len()).sum::<usize>());
    let mut rest = shell;
    while let Some((before, after)) = rest.split_once("{{") {
        file.push_str(before);
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        file.push_str(parts.iter().find(|(known, _)| *known == name).map_or("", |(_, part)| part));
        rest = after;
    }
    file + rest
}

/// JSON in which there is no `<`: in JSON it is found in strings only, which may hold it escaped.
fn harmless(json: &str) -> String {
    json.replace('<', "\\u003c")
}

pub(super) fn text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// As a content security policy names a source: SHA-256 in base 64.
pub(super) fn hash(source: &str) -> String {
    format!("'sha256-{}'", base64(&Sha256::digest(source)))
}

/// Base 64 with padding (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for piece in bytes.chunks(3) {
        let word = piece.iter().fold(0, |word, byte| word << 8 | usize::from(*byte)) << (8 * (3 - piece.len()));
        for place in 0..4 {
            let letter = char::from(LETTERS[word >> (18 - 6 * place) & 63]);
            text.push(if place <= piece.len() { letter } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        let known =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE=")];
        for (bytes, text) in known {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn no_text_ends_the_island_or_the_title() {
        let hostile = "</script><script>alert(1)</script><!-- {{script}} </title>";
        let file = page(hostile, &serde_json::to_string(&[hostile]).unwrap_or_default());
        assert_eq!(file.matches("<script").count(), 2, "one for the data and one for the program");
        assert_eq!((file.matches("</script").count(), file.matches("</title").count()), (2, 1));
        assert!(!file.contains("<!-- ") && file.contains("\\u003c/script>"));
        assert_eq!(file.matches("\"use strict\";").count(), 1, "a placeholder in the data is data");
    }

    #[test]
    fn nothing_in_the_file_is_fetched() {
        let file = page("t", "{}");
        for address in ["http://", "https://", " src=", "@import", "url(h", "fetch(", "XMLHttpRequest"] {
            let named = file.replace("http://www.w3.org/2000/svg", "");
            assert!(!named.contains(address), "{address}");
        }
        assert!(file.contains("default-src 'none'") && !file.contains("unsafe-inline") && !file.contains("{{"));
    }
}
