//! `POINT[:N]`: one fault as the command line writes it, POINT being `place.kind`.

use crate::sim::{FaultKind, Injection};
use std::{fmt, str::FromStr};
use thiserror::Error;

/// Every kind of fault.
const KINDS: [FaultKind; 7] = [
    FaultKind::Flip,
    FaultKind::FlipToken,
    FaultKind::IdeFlip,
    FaultKind::Drop,
    FaultKind::Duplicate,
    FaultKind::Reorder,
    FaultKind::Skip,
];

/// A fault, as `--inject` and manifests write it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InjectionArgument(pub Injection);

/// Why a text is not a fault.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InjectionError {
    /// There is no kind, or no place.
    #[error("`{text}` names no fault point: write PLACE.KIND, for example link.h2d.flip (`sealsim list --faults`)")]
    NoKind {
        /// What stands there.
        text: String,
    },
    /// The last word is no kind.
    #[error("`{kind}` in `{text}` is no kind of fault: use one of {}", kinds())]
    Kind {
        /// The fault point.
        text: String,
        /// Its last word.
        kind: String,
    },
    /// What follows the colon is no count.
    #[error("`{passage}` after `:` is no count of passages: write a number from 1 on, for example {point}:3")]
    Passage {
        /// What stands there.
        passage: String,
        /// What stands before.
        point: String,
    },
}

fn kinds() -> String {
    KINDS.map(FaultKind::name).join(", ")
}

impl FromStr for InjectionArgument {
    type Err = InjectionError;

    fn from_str(text: &str) -> Result<Self, InjectionError> {
        let (point, passage) = match text.split_once(':') {
            None => (text, 1),
            Some((point, passage)) => (point, read_passage(point, passage)?),
        };
        let (place, kind) = point.rsplit_once('.').unwrap_or_default();
        if place.is_empty() || kind.is_empty() {
            return Err(InjectionError::NoKind { text: point.to_owned() });
        }
        let kind = KINDS
            .into_iter()
            .find(|one| one.name() == kind)
            .ok_or_else(|| InjectionError::Kind { text: point.to_owned(), kind: kind.to_owned() })?;
        Ok(Self(Injection { place: place.to_owned(), kind, passage }))
    }
}

fn read_passage(point: &str, passage: &str) -> Result<u64, InjectionError> {
    let count = passage.parse().ok().filter(|&count| count > 0);
    count.ok_or_else(|| InjectionError::Passage { passage: passage.to_owned(), point: point.to_owned() })
}

impl fmt::Display for InjectionArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}:{}", self.0.place, self.0.kind.name(), self.0.passage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_without_count_strikes_the_first_time() {
        let read = |text: &str| text.parse::<InjectionArgument>().unwrap().0;
        let wire = |passage| Injection { place: "link.h2d.wire".into(), kind: FaultKind::FlipToken, passage };
        assert_eq!(read("link.h2d.wire.flip_token"), wire(1));
        assert_eq!(read("link.h2d.wire.flip_token:12"), wire(12));
    }

    #[test]
    fn every_kind_is_read_and_printed() {
        for kind in KINDS {
            let text = format!("a.{}:7", kind.name());
            assert_eq!(text.parse::<InjectionArgument>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, phrase) in [
            ("", "names no fault point"),
            ("flip", "PLACE.KIND"),
            (".flip", "names no fault point"),
            ("wire.", "names no fault point"),
            ("wire.flop", "flip, flip_token, ide_flip, drop, duplicate, reorder, skip"),
            ("wire.flip:0", "from 1 on"),
            ("wire.flip:", "`` after `:`"),
            ("wire.flip:-1", "`-1` after `:`"),
            ("wire.flip:1:2", "`1:2` after `:`"),
            ("wire.flip:99999999999999999999", "is no count"),
        ] {
            let error = text.parse::<InjectionArgument>().unwrap_err().to_string();
            assert!(error.contains(phrase), "{text}: {error}");
        }
    }
}
