//! What can be wrong with a configuration, where, and what to do about it.

use super::place::Place;
use crate::units::QuantityError;
use miette::{Diagnostic, LabeledSpan, SourceCode};
use std::{fmt, io};
use thiserror::Error;

/// Why a configuration was refused.
#[derive(Debug, Error)]
#[error("{kind}")]
pub struct ConfigError {
    /// What is wrong.
    pub kind: Box<Wrong>,
    /// Where it is written. `None`: nowhere in particular, or outside of any text.
    pub place: Option<Place>,
    /// What to do about it.
    pub remedy: Option<String>,
    /// Further errors that were found in the same go.
    pub others: Vec<ConfigError>,
}

/// The ways in which a configuration can be wrong.
#[derive(Debug, Error)]
pub enum Wrong {
    /// There is no such file, nor such a name among the shipped ones.
    #[error("no configuration `{name}`: it is neither a file nor the name of a shipped one")]
    NotFound {
        /// What was asked for.
        name: String,
    },
    /// A file that cannot be read.
    #[error("{path}: {error}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// Something that is not a configuration file at all: a directory, an empty file, not text.
    #[error("{path} is {what}, not a configuration")]
    NotAFile {
        /// The path.
        path: String,
        /// What it is.
        what: String,
    },
    /// Not TOML.
    #[error("not TOML: {message}")]
    Syntax {
        /// What the TOML parser says.
        message: String,
    },
    /// Files that extend each other in a circle.
    #[error("`extends` runs in a circle: {chain}")]
    Cycle {
        /// The files, first to last.
        chain: String,
    },
    /// A field that does not exist.
    #[error("there is no field `{path}`")]
    UnknownField {
        /// Its path.
        path: String,
    },
    /// A value of another type.
    #[error("`{path}` is {found}, but must be {expected}")]
    WrongType {
        /// The field.
        path: String,
        /// What stands there.
        found: String,
        /// What must stand there.
        expected: String,
    },
    /// A quantity that cannot be read.
    #[error("`{path}`: {error}")]
    Quantity {
        /// The field.
        path: String,
        /// Why.
        error: QuantityError,
    },
    /// A text that is none of the possible ones.
    #[error("`{path}` cannot be \"{text}\"")]
    Choice {
        /// The field.
        path: String,
        /// What stands there.
        text: String,
    },
    /// A number that does not fit the field.
    #[error("`{path}` is {text}, which is outside of {low} to {high}")]
    Range {
        /// The field.
        path: String,
        /// What stands there.
        text: String,
        /// Least value.
        low: String,
        /// Greatest value.
        high: String,
    },
    /// A field that no layer gives.
    #[error("no value for `{path}` in {chain}")]
    Missing {
        /// The field, or several with "`, `" between them.
        path: String,
        /// The layers, the uppermost first.
        chain: String,
    },
    /// A value that makes no sense, alone or with others.
    #[error("`{path}`: {reason}")]
    Senseless {
        /// The field.
        path: String,
        /// Why.
        reason: String,
    },
    /// Something wrong in a `[provenance]` table.
    #[error("provenance of `{path}`: {reason}")]
    Provenance {
        /// The field.
        path: String,
        /// Why.
        reason: String,
    },
    /// A `--set` that is not `path=value`.
    #[error("`--set {text}` is not `path=value`")]
    Set {
        /// The argument.
        text: String,
    },
    /// A manifest that does not hold what it says.
    #[error("manifest: {reason}")]
    Manifest {
        /// Why.
        reason: String,
    },
}

impl ConfigError {
    /// Whether it is about a field by itself: one that does not exist, or that takes no such value.
    #[must_use]
    pub fn is_about_the_field(&self) -> bool {
        let kinds = [&self.kind].into_iter().chain(self.others.iter().map(|other| &other.kind));
        kinds.into_iter().any(|kind| {
            matches!(
                **kind,
                Wrong::UnknownField { .. } | Wrong::WrongType { .. } | Wrong::Quantity { .. } | Wrong::Choice { .. }
            )
        })
    }

    pub(super) fn new(kind: Wrong) -> Self {
        Self { kind: Box::new(kind), place: None, remedy: None, others: Vec::new() }
    }

    pub(super) fn at(mut self, place: Option<&Place>) -> Self {
        self.place = place.cloned();
        self
    }

    pub(super) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// One error out of many; `None` out of none.
    pub(super) fn all(errors: Vec<Self>) -> Result<(), Self> {
        let mut errors = errors.into_iter();
        match errors.next() {
            None => Ok(()),
            Some(mut first) => {
                first.others.extend(errors);
                Err(first)
            }
        }
    }

    /// The short word under the offending text.
    fn mark(&self) -> &'static str {
        match *self.kind {
            Wrong::NotFound { .. } | Wrong::Unreadable { .. } | Wrong::NotAFile { .. } => "named here",
            Wrong::Cycle { .. } => "closes the circle",
            Wrong::UnknownField { .. } => "unknown",
            Wrong::Missing { .. } => "belongs in this table",
            Wrong::Range { .. } => "out of range",
            _ => "here",
        }
    }

    const fn identifier(&self) -> &'static str {
        match *self.kind {
            Wrong::NotFound { .. } => "not_found",
            Wrong::Unreadable { .. } => "unreadable",
            Wrong::NotAFile { .. } => "not_a_file",
            Wrong::Syntax { .. } => "syntax",
            Wrong::Cycle { .. } => "cycle",
            Wrong::UnknownField { .. } => "unknown_field",
            Wrong::WrongType { .. } => "wrong_type",
            Wrong::Quantity { .. } => "quantity",
            Wrong::Choice { .. } => "choice",
            Wrong::Range { .. } => "range",
            Wrong::Missing { .. } => "missing",
            Wrong::Senseless { .. } => "senseless",
            Wrong::Provenance { .. } => "provenance",
            Wrong::Set { .. } => "set",
            Wrong::Manifest { .. } => "manifest",
        }
    }
}

impl Diagnostic for ConfigError {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(format!("config::{}", self.identifier())))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.remedy.as_ref().map(|remedy| Box::new(remedy) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.place.as_ref().map(|place| place as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let place = self.place.as_ref()?;
        let label = LabeledSpan::new_with_span(Some(self.mark().to_owned()), place.span.clone());
        Some(Box::new(std::iter::once(label)))
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        (!self.others.is_empty())
            .then(|| Box::new(self.others.iter().map(|other| other as &dyn Diagnostic)) as Box<dyn Iterator<Item = _>>)
    }
}
