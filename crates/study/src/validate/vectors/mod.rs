//! Published vectors of AES-GCM and other AEADs: readers, and the check of one case.

pub mod acvp;
mod algorithm;
pub mod cavp;
pub mod generate;
mod judgement;
mod plain;
mod select;
mod stage_values;
mod subject;
pub mod written;
pub mod wycheproof;

pub use algorithm::Algorithm;
pub use judgement::{EngineParts, Judgement, JudgementError, Said, VectorParts, judge};
pub use select::{SelectError, select};
pub use subject::{Bulk, Other, Processed, Refusal, Structural, Subject, subject};

use crate::files::excerpt;
use crate::gcm::message::SealOpen;
use std::fmt;
use thiserror::Error;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// Its name in the file, for example `tcId 7` or `line 1234, Count = 3`.
    pub id: String,
    pub algorithm: Algorithm,
    pub key: Vec<u8>,
    /// IV, of any length; empty only where it must be refused.
    pub iv: Vec<u8>,
    pub aad: Vec<u8>,
    /// Plaintext, where the file gives it.
    pub plaintext: Option<Vec<u8>>,
    pub ciphertext: Vec<u8>,
    /// Tag, maybe cut short.
    pub tag: Vec<u8>,
    /// Whether the message must open. One that is not valid must be refused.
    pub valid: bool,
    /// Whether one that is valid may be refused for its lengths all the same, as where a standard came to discourage them.
    pub may_refuse: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{place}: {problem}: {text:?}")]
pub struct VectorError {
    /// Where: a line or a case.
    pub place: Place,
    pub problem: Problem,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A line, from 1.
    Line(usize),
    /// A case of a Wycheproof or ACVP file.
    Case(u64),
    File,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Case(id) => write!(f, "tcId {id}"),
            Self::File => write!(f, "the file"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Problem {
    #[error("expected `Name = value`, `[Name = value]`, `FAIL`, a comment or nothing")]
    Syntax,
    /// A name that response files of this kind do not have.
    #[error("unknown name")]
    UnknownName,
    #[error("given twice in one case")]
    Twice,
    #[error("expected a whole number")]
    Number,
    #[error("{0} is not hexadecimal")]
    Hex(&'static str),
    #[error("{name} has {got} bits where {announced} are announced")]
    Length { name: &'static str, got: u64, announced: u64 },
    #[error("the case has no {0}")]
    Missing(&'static str),
    /// A file that holds no case, or not as many as it says.
    #[error("expected {expected} cases, found {found}")]
    Count {
        /// Announced, or at least one.
        expected: u64,
        found: u64,
    },
    #[error("{0}")]
    Json(String),
    #[error("{0}")]
    Csv(String),
    #[error("unknown {0}")]
    Unknown(&'static str),
    /// An algorithm that is not modelled, or not in a file of this schema.
    #[error("no algorithm that vectors are read for; these are {}", Algorithm::names())]
    Algorithm,
    #[error("a case has a plaintext or must fail, not both")]
    Contradiction,
    /// An ACVP prompt alone.
    #[error(
        "a prompt says nothing without its answers: give its expectedResults as well, or its internalProjection instead"
    )]
    NoAnswers,
    /// ACVP's expected results alone.
    #[error("answers say nothing without their tests: give their prompt as well")]
    NoPrompt,
}

#[derive(Debug, Clone)]
pub enum Sheet {
    Cases(Vec<Case>),
    /// ACVP vector sets, some of which may need those of another file.
    Acvp(Vec<acvp::Set>),
}

/// Reads a file of any kind by itself: JSON is ACVP's or Wycheproof's, CSV and words for `$readmemh` are known by their first line, and all others are taken for CAVP
/// response files, or files of that form whose algorithm is `unnamed`.
pub fn parse(text: &str, unnamed: Algorithm) -> Result<Sheet, VectorError> {
    let text = text.trim_start();
    let array = text.strip_prefix('[').is_some_and(|rest| rest.trim_start().starts_with(['{', '[', ']']));
    match text.starts_with('{') || array {
        true if acvp::looks_so(text) => acvp::read(text).map(Sheet::Acvp),
        true => wycheproof::read(text).map(Sheet::Cases),
        false if plain::is_csv(text) => plain::csv(text).map(Sheet::Cases),
        false if plain::is_memh(text) => plain::memh(text).map(Sheet::Cases),
        false => cavp::read(text, unnamed).map(Sheet::Cases),
    }
}

/// The cases of each file. An ACVP prompt takes its answers from whichever file has them, in their order; a file with nothing but answers
/// has no cases.
pub fn join(sheets: Vec<Sheet>) -> Result<Vec<Vec<Case>>, (usize, VectorError)> {
    let mut answers = Vec::new();
    for (file, sheet) in sheets.iter().enumerate() {
        if let Sheet::Acvp(sets) = sheet {
            answers.extend(sets.iter().filter(|set| set.answers()).map(|set| Some((file, set.clone()))));
        }
    }
    let mut files = Vec::new();
    for (file, sheet) in sheets.into_iter().enumerate() {
        files.push(match sheet {
            Sheet::Cases(cases) => cases,
            Sheet::Acvp(sets) => sets_cases(sets, &mut answers).map_err(|error| (file, error))?,
        });
    }
    match answers.into_iter().flatten().next() {
        None => Ok(files),
        Some((file, left)) => Err((file, left.alone())),
    }
}

fn sets_cases(sets: Vec<acvp::Set>, answers: &mut [Option<(usize, acvp::Set)>]) -> Result<Vec<Case>, VectorError> {
    let mut cases = Vec::new();
    for set in sets.into_iter().filter(|set| !set.answers()) {
        let belongs = |answer: &&mut Option<_>| matches!(answer, Some((_, answer)) if set.is_answered_by(answer));
        let set = match set.asks() {
            false => set,
            true => match answers.iter_mut().find(belongs).and_then(Option::take) {
                Some((_, answer)) => set.answered(&answer)?,
                None => return Err(set.alone()),
            },
        };
        cases.extend(set.cases()?);
    }
    Ok(cases)
}

/// Reads a file that needs no other; one that does not name its algorithm is one of AES-GCM.
pub fn read(text: &str) -> Result<Vec<Case>, VectorError> {
    let files = join(vec![parse(text, Algorithm::AES_GCM)?]).map_err(|(_, error)| error)?;
    Ok(files.into_iter().flatten().collect())
}

fn hex_bytes(name: &'static str, text: &str, place: &Place) -> Result<Vec<u8>, VectorError> {
    let error = |_| VectorError { place: place.clone(), problem: Problem::Hex(name), text: excerpt(text, 80).into() };
    hex::decode(text).map_err(error)
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Mismatch {
    #[error("refused: {0}")]
    Refused(Refusal),
    #[error("{what} is {got} instead of {expected}")]
    Differs {
        /// Which value, in which direction.
        what: &'static str,
        expected: String,
        got: String,
    },
    #[error("an invalid message was accepted with tag {0}")]
    Accepted(String),
    /// The case says nothing about the subject: whatever it does, nothing could be compared.
    #[error("malformed: {0}")]
    Malformed(String),
}

fn same(what: &'static str, expected: &[u8], got: &[u8]) -> Result<(), Mismatch> {
    if expected == got {
        return Ok(());
    }
    Err(Mismatch::Differs { what, expected: hex::encode(expected), got: hex::encode(got) })
}

impl Case {
    /// Seals and opens a valid case, or sees that an invalid one is refused.
    pub fn check(&self, subject: &mut dyn Subject) -> Result<(), Mismatch> {
        if let Err(error) = self.algorithm.scheme().check_tag(self.tag.len()) {
            return if self.may_refuse { Ok(()) } else { Err(Mismatch::Malformed(error.to_string())) };
        }
        let opened = subject.process(self, &self.ciphertext, SealOpen::Open);
        if self.may_refuse && matches!(opened, Err(Refusal::Key(_) | Refusal::Iv(_))) {
            return Ok(());
        }
        if !self.valid {
            return match opened {
                Ok((_, tag)) if tag.starts_with(&self.tag) => Err(Mismatch::Accepted(hex::encode(tag))),
                // An IV that the algorithm does not have must be refused; Wycheproof has such cases.
                Ok(_) | Err(Refusal::Forged | Refusal::Iv(_)) => Ok(()),
                Err(Refusal::Key(reason)) => Err(Mismatch::Malformed(reason)),
                Err(refusal @ Refusal::Engine(_)) => Err(Mismatch::Refused(refusal)),
            };
        }
        let (text, tag) = opened.map_err(Mismatch::Refused)?;
        same("the tag on open", &self.tag, &tag[..self.tag.len()])?;
        let Some(plaintext) = &self.plaintext else { return Ok(()) };
        same("the plaintext", plaintext, &text)?;
        let (text, tag) = subject.process(self, plaintext, SealOpen::Seal).map_err(Mismatch::Refused)?;
        same("the ciphertext", &self.ciphertext, &text)?;
        same("the tag on seal", &self.tag, &tag[..self.tag.len()])
    }
}
