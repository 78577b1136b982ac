//! Readers of sets as `sealsim vectors generate` writes them for programs without JSON: CSV, and words for `$readmemh`.

use super::written::COLUMNS;
use super::{Algorithm, Case, Place, Problem, VectorError, hex_bytes};
use crate::files::excerpt;

fn wrong(place: Place, problem: Problem, text: &str) -> VectorError {
    VectorError { place, problem, text: excerpt(text, 80).into() }
}

/// Whether a text begins as such a CSV file does.
pub(super) fn is_csv(text: &str) -> bool {
    text.starts_with("tc_id,algorithm,")
}

/// Whether a text begins as such words do.
pub(super) fn is_memh(text: &str) -> bool {
    text.starts_with("// sealsim ")
}

/// Reads a CSV file; columns behind the known ones are not read.
pub(super) fn csv(text: &str) -> Result<Vec<Case>, VectorError> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    let mut cases = Vec::new();
    for (index, row) in reader.records().enumerate() {
        let place = Place::Line(index + 1);
        let row = row.map_err(|error| wrong(place.clone(), Problem::Csv(error.to_string()), ""))?;
        if index == 0 {
            let known = row.iter().zip(COLUMNS).take_while(|(got, known)| got == known).count();
            match COLUMNS.get(known) {
                None => continue,
                Some(missing) => {
                    return Err(wrong(place, Problem::Missing(missing), row.get(known).unwrap_or_default()));
                }
            }
        }
        cases.push(csv_case(&row, &place)?);
    }
    counted(cases, 1, text)
}

fn csv_case(row: &csv::StringRecord, place: &Place) -> Result<Case, VectorError> {
    let cell = |column: usize| row.get(column).unwrap_or_default();
    let bytes = |column: usize| hex_bytes(COLUMNS[column], cell(column), place);
    let algorithm = Algorithm::named(cell(1)).ok_or_else(|| wrong(place.clone(), Problem::Algorithm, cell(1)))?;
    let valid = match cell(8) {
        "valid" => true,
        "invalid" => false,
        other => return Err(wrong(place.clone(), Problem::Unknown("result"), other)),
    };
    let id = format!("tcId {}", excerpt(cell(0), 20));
    let (plaintext, ciphertext) = (Some(bytes(5)?), bytes(6)?);
    Ok(Case {
        id,
        algorithm,
        key: bytes(2)?,
        iv: bytes(3)?,
        aad: bytes(4)?,
        plaintext,
        ciphertext,
        tag: bytes(7)?,
        valid,
        may_refuse: false,
    })
}

fn counted(cases: Vec<Case>, expected: u64, text: &str) -> Result<Vec<Case>, VectorError> {
    let found = cases.len() as u64;
    if found == 0 || (expected > 1 && found != expected) {
        let problem = Problem::Count { expected: expected.max(1), found };
        return Err(wrong(Place::File, problem, text.lines().next().unwrap_or_default()));
    }
    Ok(cases)
}

/// Words of 128 bits, each with its line.
struct Words<'a> {
    lines: std::iter::Enumerate<std::str::Lines<'a>>,
    line: usize,
}

impl Words<'_> {
    fn next(&mut self) -> Result<Option<[u8; 16]>, VectorError> {
        for (index, line) in &mut self.lines {
            let word = line.split("//").next().unwrap_or_default().trim();
            if word.is_empty() {
                continue;
            }
            self.line = index + 1;
            let bytes = hex_bytes("word", word, &Place::Line(self.line))?;
            let length = Problem::Length { name: "word", got: 8 * bytes.len() as u64, announced: 128 };
            return bytes.try_into().map(Some).map_err(|_| wrong(Place::Line(index + 1), length, word));
        }
        Ok(None)
    }

    fn word(&mut self, name: &'static str) -> Result<[u8; 16], VectorError> {
        let last = self.line;
        self.next()?.ok_or_else(|| wrong(Place::Line(last), Problem::Missing(name), "the file ends"))
    }

    fn bytes(&mut self, name: &'static str, length: usize) -> Result<Vec<u8>, VectorError> {
        let mut bytes = Vec::new();
        while bytes.len() < length {
            bytes.extend(self.word(name)?);
        }
        bytes.truncate(length);
        Ok(bytes)
    }
}

pub(super) fn memh(text: &str) -> Result<Vec<Case>, VectorError> {
    let head = text.lines().next().unwrap_or_default();
    let name = head.split_once(". ").and_then(|(_, rest)| rest.split_once(':')).map_or("", |(name, _)| name);
    let algorithm = Algorithm::named(name).ok_or_else(|| wrong(Place::Line(1), Problem::Algorithm, head))?;
    let with_stages = head.ends_with("with stages");
    let mut words = Words { lines: text.lines().enumerate(), line: 1 };
    let expected = u128::from_be_bytes(words.word("number of messages")?) as u64;
    let mut cases = Vec::new();
    while let Some(head) = words.next()? {
        let case = memh_case(&mut words, head, algorithm, cases.len() + 1)?;
        if with_stages {
            let (aad, text) = (case.aad.len().div_ceil(16), case.ciphertext.len().div_ceil(16));
            let stages = (case.key.len() / 4 + 7) + 8 + 1 + 1 + text + (aad + text + 1);
            words.bytes("stages", 16 * stages)?;
        }
        cases.push(case);
    }
    counted(cases, expected, text)
}

fn memh_case(words: &mut Words<'_>, head: [u8; 16], algorithm: Algorithm, id: usize) -> Result<Case, VectorError> {
    let length = |from: usize| head[from..from + 4].iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
    let mut key = words.bytes("key", 32)?;
    key.truncate(usize::from(head[0]));
    let iv = words.bytes("IV", length(4))?;
    let aad = words.bytes("AAD", length(8))?;
    let plaintext = Some(words.bytes("plaintext", length(12))?);
    let ciphertext = words.bytes("ciphertext", length(12))?;
    let mut tag = words.bytes("tag", 16)?;
    tag.truncate(usize::from(head[1]));
    let (id, valid) = (format!("tcId {id}"), head[2] == 1);
    Ok(Case { id, algorithm, key, iv, aad, plaintext, ciphertext, tag, valid, may_refuse: false })
}
