//! What can be wrong with a configuration, where, and what to do about it.

use super::place::Place;
use crate::{
    cost::clock::DOES_NOT_CLOSE,
    files::{Explained, ReadError, Snippet, excerpt},
    units::QuantityError,
};
use std::{borrow::Cow, sync::OnceLock};
use thiserror::Error;

/// The most errors that are reported at once; the rest are counted.
pub(super) const MOST_ERRORS: usize = 20;

/// Why a configuration was refused.
#[derive(Debug, Error)]
#[error("{kind}")]
pub struct ConfigError {
    pub kind: Box<Wrong>,
    /// Where it is written. `None`: nowhere in particular, or outside of any text.
    pub place: Option<Place>,
    /// What to do about it.
    pub remedy: Option<String>,
    /// Further errors that were found in the same go.
    pub others: Vec<ConfigError>,
    /// The place as it is shown, once it is.
    shown: OnceLock<Box<Snippet>>,
}

/// What users wrote, as messages quote it.
fn short(text: &str) -> Cow<'_, str> {
    excerpt(text, 100)
}

/// A sentence that may hold what users wrote.
fn sentence(text: &impl ToString) -> String {
    excerpt(&text.to_string(), 500).into_owned()
}

/// The ways in which a configuration can be wrong.
#[derive(Debug, Error)]
pub enum Wrong {
    /// There is no such file, nor such a name among the shipped ones.
    #[error("no configuration `{}`: it is neither a file nor the name of a shipped one", short(name))]
    NotFound {
        /// What was asked for.
        name: String,
    },
    /// Designs joined by `+`, with none on one side of it.
    #[error("`{}`: a design is missing beside `+`", short(text))]
    Joined {
        /// As written.
        text: String,
    },
    /// A file that cannot be read, or is no text of a fit length.
    #[error("{0}")]
    Unreadable(ReadError),
    /// A file with nothing in it.
    #[error("{} is empty, not a configuration", short(path))]
    Empty {
        /// The path.
        path: String,
    },
    /// Not TOML.
    #[error("not TOML: {}", sentence(message))]
    Syntax {
        /// What the TOML parser says.
        message: String,
    },
    /// Files that extend each other in a circle.
    #[error("`extends` runs in a circle: {}", sentence(chain))]
    Cycle {
        /// The files, first to last.
        chain: String,
    },
    /// Files that extend each other without an end.
    #[error("`extends` leads through more than {most} files")]
    Deep {
        /// The limit.
        most: usize,
    },
    /// A field that does not exist.
    #[error("there is no field `{}`", short(path))]
    UnknownField {
        /// Its path.
        path: String,
    },
    /// A value of another type.
    #[error("`{}` is {found}, but must be {expected}", short(path))]
    WrongType {
        /// The field.
        path: String,
        /// What is there.
        found: String,
        /// What must stand there.
        expected: String,
    },
    /// A quantity that cannot be read.
    #[error("`{}`: {}", short(path), sentence(error))]
    Quantity {
        /// The field.
        path: String,
        /// Why.
        error: QuantityError,
    },
    /// A text that is none of the possible ones.
    #[error("`{}` cannot be \"{}\"", short(path), short(text))]
    Choice {
        /// The field.
        path: String,
        /// What is there.
        text: String,
    },
    /// A number that does not fit the field.
    #[error("`{}` is {}, which is outside of {low} to {high}", short(path), short(text))]
    Range {
        /// The field.
        path: String,
        /// What is there.
        text: String,
        /// Least value.
        low: String,
        /// Greatest value.
        high: String,
    },
    /// A field that no layer gives.
    #[error("no value for `{path}` in {}", sentence(chain))]
    Missing {
        /// The field, or several with "`, `" between them.
        path: String,
        /// The layers, the uppermost first.
        chain: String,
    },
    /// A value that is invalid, alone or with others.
    #[error("`{}`: {}", short(path), sentence(reason))]
    Senseless {
        /// The field.
        path: String,
        /// Why.
        reason: String,
    },
    /// Something wrong in a `[provenance]` table.
    #[error("provenance of `{}`: {}", short(path), sentence(reason))]
    Provenance {
        /// The field.
        path: String,
        /// Why.
        reason: String,
    },
    /// A `--set` that is not `path=value`.
    #[error("`--set {}` is not `path=value`", short(text))]
    Set {
        /// The argument.
        text: String,
    },
    /// A manifest that does not hold what it says.
    #[error("manifest: {}", sentence(reason))]
    Manifest {
        /// Why.
        reason: String,
    },
    /// Errors that are not reported one by one.
    #[error("and {count} more")]
    More {
        /// How many.
        count: usize,
    },
}

impl ConfigError {
    /// Whether it is about a field by itself: one that does not exist, or that takes no such value.
    pub fn is_about_the_field(&self) -> bool {
        let kinds = [&self.kind].into_iter().chain(self.others.iter().map(|other| &other.kind));
        kinds.into_iter().any(|kind| {
            matches!(
                **kind,
                Wrong::UnknownField { .. } | Wrong::WrongType { .. } | Wrong::Quantity { .. } | Wrong::Choice { .. }
            )
        })
    }

    /// Why the engines do not close at their clock, with the cycles that do, if that is what is wrong.
    pub fn does_not_close(&self) -> Option<&str> {
        let kinds = [&self.kind].into_iter().chain(self.others.iter().map(|other| &other.kind));
        kinds.into_iter().find_map(|kind| match &**kind {
            Wrong::Senseless { reason, .. } => {
                Some(reason.as_str()).filter(|reason| reason.starts_with(DOES_NOT_CLOSE))
            }
            _ => None,
        })
    }

    pub(super) fn new(kind: Wrong) -> Self {
        Self { kind: Box::new(kind), place: None, remedy: None, others: Vec::new(), shown: OnceLock::new() }
    }

    pub(super) fn at(mut self, place: Option<&Place>) -> Self {
        self.place = place.cloned();
        self
    }

    pub(super) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// One error out of many, of which the first few are kept and the others counted; `Ok` out of none.
    pub(super) fn all(mut errors: Vec<Self>) -> Result<(), Self> {
        let counted = errors.pop_if(|last| matches!(*last.kind, Wrong::More { .. }));
        let counted = counted.map_or(0, |last| if let Wrong::More { count } = *last.kind { count } else { 0 });
        let count = counted + errors.len().saturating_sub(MOST_ERRORS);
        errors.truncate(MOST_ERRORS);
        if count > 0 {
            errors.push(Self::new(Wrong::More { count }));
        }
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
            Wrong::NotFound { .. } | Wrong::Unreadable(_) | Wrong::Empty { .. } | Wrong::Deep { .. } => "named here",
            Wrong::Cycle { .. } => "closes the circle",
            Wrong::UnknownField { .. } => "unknown",
            Wrong::Missing { .. } => "belongs in this table",
            Wrong::Range { .. } => "out of range",
            _ => "here",
        }
    }

    /// The place as it is shown.
    fn snippet(&self) -> Option<&Snippet> {
        let place = self.place.as_ref()?;
        Some(
            self.shown
                .get_or_init(|| Box::new(Snippet::new(&place.source.name, &place.source.text, place.span.clone()))),
        )
    }

    const fn identifier(&self) -> &'static str {
        match *self.kind {
            Wrong::NotFound { .. } => "not_found",
            Wrong::Joined { .. } => "joined",
            Wrong::Unreadable(_) => "unreadable",
            Wrong::Empty { .. } => "empty",
            Wrong::Syntax { .. } => "syntax",
            Wrong::Cycle { .. } => "cycle",
            Wrong::Deep { .. } => "deep",
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
            Wrong::More { .. } => "more",
        }
    }
}

crate::diagnostics!(ConfigError);

impl Explained for ConfigError {
    fn code(&self) -> Cow<'_, str> {
        format!("config::{}", self.identifier()).into()
    }

    fn help(&self) -> Option<&str> {
        self.remedy.as_deref()
    }

    fn marked(&self) -> Option<(&Snippet, &'static str)> {
        Some((self.snippet()?, self.mark()))
    }

    fn others(&self) -> &[Self] {
        &self.others
    }
}
