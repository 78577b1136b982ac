//! What is in a stream, as plain values.

use crate::wire::{
    dllp::DllpRepr,
    flit::{Dlp, TLP_BYTES, tlp::FlitTlpRepr},
    tlp::{Finding, Severity, TlpRepr},
};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    pub severity: Severity,
    pub code: String,
    pub text: String,
}

impl Problem {
    pub(super) fn new(severity: Severity, code: &str, text: impl ToString) -> Self {
        Self { severity, code: code.to_owned(), text: text.to_string() }
    }

    pub(super) fn error(code: &str, text: impl ToString) -> Self {
        Self::new(Severity::Error, code, text)
    }
}

impl From<Finding> for Problem {
    fn from(finding: Finding) -> Self {
        Self::new(finding.severity(), finding.code(), finding)
    }
}

/// What the link puts around a TLP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) sequence: u16,
    /// The STP token; gen1 and gen2 have none.
    pub(super) token: Option<[u8; 4]>,
    pub(super) lcrc: [u8; 4],
    pub(super) nullified: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tlp {
    pub(super) repr: TlpRepr,
    pub(super) prefixes: Vec<[u8; 4]>,
    /// The header as it was given, reserved bits and all.
    pub(super) header: Vec<u8>,
    /// The data; none if only the header was given.
    pub(super) payload: Option<Vec<u8>>,
    pub(super) ecrc: Option<[u8; 4]>,
    /// With IDE: the encrypted PCRC and the MAC, if there are any.
    pub(super) pcrc: Option<[u8; 4]>,
    pub(super) mac: Option<[u8; 12]>,
    pub(super) link: Option<Link>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Flit {
    pub(super) dlp: Dlp,
    pub(super) crc: [u8; 8],
    pub(super) ecc: [u8; 6],
    /// Places and bits that the ECC corrected.
    pub(super) corrected: Vec<(u8, u8)>,
    /// The TLP area, if it has bytes that are not read as TLPs.
    pub(super) area: Option<[u8; TLP_BYTES]>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FlitTlp {
    pub(super) repr: FlitTlpRepr,
    /// The header as it was given, OHC, reserved bits and all.
    pub(super) header: Vec<u8>,
    pub(super) payload: Vec<u8>,
    pub(super) trailer: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    Tlp(Box<Tlp>),
    Dllp { repr: DllpRepr, given: [u8; 4], crc: Option<[u8; 2]> },
    Idle { bytes: usize },
    EndOfDataStream,
    Flit(Box<Flit>),
    FlitTlp(Box<FlitTlp>),
    Nop { count: usize },
    Unreadable { bytes: Vec<u8> },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub(super) content: Content,
    pub(super) problems: Vec<Problem>,
    /// Where it stood, if that is more than its place in the stream.
    pub(super) source: Option<String>,
}

impl Item {
    pub(super) fn good(content: Content) -> Self {
        Self { content, problems: Vec::new(), source: None }
    }

    pub(super) fn unreadable(bytes: &[u8], problem: Problem) -> Self {
        Self { content: Content::Unreadable { bytes: bytes.to_vec() }, problems: vec![problem], source: None }
    }

    pub fn errors(&self) -> impl Iterator<Item = &Problem> {
        self.problems.iter().filter(|problem| problem.severity == Severity::Error)
    }
}
