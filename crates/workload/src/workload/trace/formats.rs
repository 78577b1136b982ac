//! The formats of traces, and which of them a content is of. Names of files say nothing.

use super::{
    FORMATS, Trace,
    error::refused,
    input::{Input, Tape},
};
use crate::files::{Refusal, excerpt};

/// A format, and how it is read.
pub(super) struct Importer {
    /// How reports call it.
    pub name: &'static str,
    /// How it is made, for who gives something else.
    pub make: &'static str,
    /// What to do about one in which no GPU does anything.
    pub idle: &'static str,
    /// Whether a content that begins like this is one.
    pub is_one: fn(&[u8]) -> bool,
    /// Reads it, and, if its calls may be in a second file, that one.
    pub read: for<'a> fn(&mut Tape<'a>, Option<Input<'a>>) -> Result<Trace, Refusal>,
    pub takes_calls: bool,
}

/// What is read, for who gives something else.
fn all() -> String {
    let [most @ .., last] = FORMATS else { return String::new() };
    let most: Vec<_> = most.iter().map(|format| format.make).collect();
    format!("traces are read as {}, or {}, packed with gzip or not", most.join(", "), last.make)
}

/// Beginnings of what people give by mistake, and what to do about each, where that is not to give a trace.
const KNOWN: &[(&[u8], &str, Option<&str>)] = &[
    (b"\xff\xfe", "UTF-16 text", Some("save it as UTF-8; in PowerShell, pipe through `Out-File -Encoding utf8`")),
    (b"\xfe\xff", "UTF-16 text", Some("save it as UTF-8")),
    (b"PK\x03\x04", "a ZIP archive", Some("unpack it first")),
    (b"\x28\xb5\x2f\xfd", "Zstandard data", Some("unpack it first, with `unzstd`")),
    (b"\xfd7zXZ", "XZ data", Some("unpack it first, with `unxz`")),
    (b"BZh", "bzip2 data", Some("unpack it first, with `bunzip2`")),
    (b"\x1f\x8b", "gzip data within gzip data", Some("unpack it once, with `gunzip`")),
    (b"\x7fELF", "a program", None),
    (b"%PDF", "a PDF document", None),
    (b"<", "HTML or XML", None),
];

/// The format of a tape, which then is behind its byte-order mark.
pub(super) fn of(tape: &mut Tape<'_>) -> Result<&'static Importer, Refusal> {
    let name = tape.name().to_owned();
    let format = told(&name, tape.head()?)?;
    tape.skip_mark();
    Ok(format)
}

fn told(file: &str, head: &[u8]) -> Result<&'static Importer, Refusal> {
    let refused = |what: &str, remedy: &str| refused("unrecognised", file, what).remedy(remedy);
    if head.is_empty() {
        return Err(refused("is empty", &all()));
    }
    if let Some((_, what, remedy)) = KNOWN.iter().find(|(magic, ..)| head.starts_with(magic)) {
        return Err(refused(&format!("looks like {what}"), remedy.unwrap_or(&all())));
    }
    let content = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let format = FORMATS.iter().find(|format| (format.is_one)(content));
    format.copied().ok_or_else(|| refused(&looks(head), &remedy(head)))
}

fn is_text(head: &[u8]) -> bool {
    let valid = match std::str::from_utf8(head) {
        Ok(_) => true,
        // A character may be cut at the end of what is looked at.
        Err(error) => error.error_len().is_none(),
    };
    valid && !head.iter().any(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace())
}

fn looks(head: &[u8]) -> String {
    if is_text(head) {
        let text = String::from_utf8_lossy(head);
        let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("").trim();
        return format!("looks like text that is no trace, and begins `{}`", excerpt(line, 60));
    }
    let bytes: Vec<_> = head.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("looks like binary data that is no trace, and begins {}", bytes.join(" "))
}

fn remedy(head: &[u8]) -> String {
    if is_text(head) { all() } else { format!("a report of nsys (.nsys-rep) has to be exported first; {}", all()) }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{kineto, nsight_csv, nsight_sqlite},
        *,
    };

    #[test]
    fn formats_are_told_by_content() {
        let read = |head: &[u8]| told("f", head).map(|format| format.name).map_err(|error| error.to_string());
        assert_eq!(read(b"\xef\xbb\xbf\n {"), Ok(kineto::FORMAT.name));
        assert_eq!(read(b"[]"), Ok(kineto::FORMAT.name));
        assert_eq!(read(b"SQLite format 3\0..."), Ok(nsight_sqlite::FORMAT.name));
        assert_eq!(read(b"Processing x\nStart (ns),Duration (ns),Name\n"), Ok(nsight_csv::FORMAT.name));
        for (head, what) in [
            (&b""[..], "is empty"),
            (b"PK\x03\x04", "ZIP"),
            (b"a,b\n1,2", "begins `a,b`"),
            (b"\xff\xfeS\0", "UTF-16"),
            (b"\x99\x01\x02", "begins 99 01 02"),
        ] {
            assert!(read(head).unwrap_err().contains(what), "{what}");
        }
    }
}
