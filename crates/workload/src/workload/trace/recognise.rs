//! Which format a content is of. Names of files say nothing.

use super::{
    chakra,
    error::{Kind, TraceError},
    model::Format,
    nsight_csv,
};
use crate::files::excerpt;

const READ: &str = "traces are read as JSON of the PyTorch profiler, `nsys stats --report cuda_gpu_trace --format csv`, \
                    `nsys export --type sqlite`, or Chakra execution traces, packed with gzip or not";

/// Beginnings of what people give by mistake, and what to do about each.
const KNOWN: &[(&[u8], &str, &str)] = &[
    (b"\xff\xfe", "UTF-16 text", "save it as UTF-8; in PowerShell, pipe through `Out-File -Encoding utf8`"),
    (b"\xfe\xff", "UTF-16 text", "save it as UTF-8"),
    (b"PK\x03\x04", "a ZIP archive", "unpack it first"),
    (b"\x28\xb5\x2f\xfd", "Zstandard data", "unpack it first, with `unzstd`"),
    (b"\xfd7zXZ", "XZ data", "unpack it first, with `unxz`"),
    (b"BZh", "bzip2 data", "unpack it first, with `bunzip2`"),
    (b"\x1f\x8b", "gzip data within gzip data", "unpack it once, with `gunzip`"),
    (b"\x7fELF", "a program", READ),
    (b"%PDF", "a PDF document", READ),
    (b"<", "HTML or XML", READ),
];

pub(super) fn format(file: &str, head: &[u8]) -> Result<Format, TraceError> {
    let refused = |what: &str, remedy: &str| TraceError::new(Kind::Unrecognised, file, what).remedy(remedy);
    if head.is_empty() {
        return Err(refused("is empty", READ));
    }
    if head.starts_with(b"SQLite format 3\0") {
        return Ok(Format::NsightSqlite);
    }
    if let Some((_, what, remedy)) = KNOWN.iter().find(|(magic, ..)| head.starts_with(magic)) {
        return Err(refused(&format!("looks like {what}"), remedy));
    }
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    if text.starts_with(b"{") || text.starts_with(b"[") {
        return Ok(Format::Kineto);
    }
    if nsight_csv::is_one(text) {
        return Ok(Format::NsightCsv);
    }
    if chakra::is_one(head) {
        return Ok(Format::Chakra);
    }
    Err(refused(&looks(head), &remedy(head)))
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
    if is_text(head) {
        READ.to_owned()
    } else {
        format!("a report of nsys (.nsys-rep) has to be exported first; {READ}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_content() {
        let read = |head: &[u8]| format("f", head).map_err(|error| error.to_string());
        assert_eq!(read(b"\xef\xbb\xbf\n {"), Ok(Format::Kineto));
        assert_eq!(read(b"[]"), Ok(Format::Kineto));
        assert_eq!(read(b"SQLite format 3\0..."), Ok(Format::NsightSqlite));
        assert_eq!(read(b"Processing x\nStart (ns),Duration (ns),Name\n"), Ok(Format::NsightCsv));
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
