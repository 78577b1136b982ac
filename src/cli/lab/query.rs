//! A query of the page: names and values, as forms encode them, and what they may name.

use super::Dropped;
use crate::{
    cli::Switch,
    config::{Role, Shipped},
    replay::CHANGES,
    units::Femtos,
    workload::{CopyError, ShippedWorkload},
};
use clap::ValueEnum;
use std::sync::Arc;
use thiserror::Error;

/// Parts of a state.
pub const MOST: usize = 64;
/// Bytes of one of them.
pub const LONGEST: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StateError {
    /// A byte that is not written as a query writes it.
    #[error("the query is not text in UTF-8")]
    Encoding,
    #[error("`{0}` is no part of this state")]
    Unknown(String),
    #[error("the state has no {0}")]
    Missing(&'static str),
    #[error("more than {MOST} parts, or one of more than {LONGEST} bytes")]
    TooMany,
    #[error("`{0}` is not shipped, and `sealsim lab` was not started with it")]
    NotOffered(String),
    #[error("`{0}` is not here: drop or choose the file again, or start `sealsim lab` with it")]
    NoProgram(String),
    #[error("ranks: give a number, as 8")]
    Expand,
    #[error("time of a step: give a time, as 11.2ms")]
    StepTime,
    #[error("cc is on or off")]
    Switch,
    #[error("copy: {0}")]
    Copy(#[from] CopyError),
    /// What has no place on the page.
    #[error("copy: give a direction h2d or d2h and a size, of GPU 0")]
    OtherCopy,
}

/// What a query may name besides what is shipped.
pub struct Offered {
    /// Machine files and designs that the command line names.
    pub files: Vec<String>,
    pub programs: Vec<String>,
    pub dropped: Arc<Dropped>,
}

impl Offered {
    /// The value of a part as the command line takes it.
    pub fn value(&self, part: &str, value: String) -> Result<String, StateError> {
        match part {
            "machine" | "hw" => self.known(Role::Machine, value),
            "design" => self.known(Role::Design, value),
            "program" | "api" => self.program(value),
            "workload" if ShippedWorkload::find(&value).is_none() => Err(StateError::NotOffered(value)),
            "change" if CHANGES.iter().all(|(name, ..)| *name != value) => Err(StateError::NotOffered(value)),
            "cc" if Switch::from_str(&value, false).is_err() => Err(StateError::Switch),
            "expand" if value.parse::<u16>().is_err() => Err(StateError::Expand),
            "step_time" if value.parse::<Femtos>().is_err() => Err(StateError::StepTime),
            _ => Ok(value),
        }
    }

    /// A name, or several joined by `+`, if each is of something that is shipped or offered.
    fn known(&self, role: Role, name: String) -> Result<String, StateError> {
        let is_known = |name: &str| {
            Shipped::names(role).any(|shipped| shipped == name) || self.files.iter().any(|one| one == name)
        };
        let is = is_known(&name) || (role == Role::Design && name.split('+').all(is_known));
        if is { Ok(name) } else { Err(StateError::NotOffered(name)) }
    }

    fn program(&self, name: String) -> Result<String, StateError> {
        match self.dropped.path(&name) {
            Some(path) => Ok(path),
            None if self.programs.contains(&name) || ShippedWorkload::find(&name).is_some() => Ok(name),
            None => Err(StateError::NoProgram(name)),
        }
    }
}

/// Names and values of a query, as forms encode them.
pub fn pairs(query: &str) -> Result<Vec<(String, String)>, StateError> {
    let parts = query.split('&').filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            Ok((decoded(name)?, decoded(value)?))
        })
        .collect()
}

/// A value as a query holds it.
pub fn encoded(text: &str) -> String {
    let letter = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b':' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(letter).collect()
}

fn decoded(text: &str) -> Result<String, StateError> {
    let (mut bytes, mut rest) = (Vec::new(), text.bytes());
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit =
                    || rest.next().and_then(|digit| char::from(digit).to_digit(16)).ok_or(StateError::Encoding);
                let (high, low) = (digit()?, digit()?);
                u8::try_from(high << 4 | low).map_err(|_| StateError::Encoding)?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).map_err(|_| StateError::Encoding)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded() {
        let text = "a+b c%/=&ü.toml";
        assert_eq!(pairs(&format!("set={}", encoded(text))), Ok(vec![("set".to_owned(), text.to_owned())]));
    }
}
