//! What can be wrong with a configuration, where, and what to do about it.

use crate::{
    cost::clock::DOES_NOT_CLOSE,
    files::{ReadError, Refusal, excerpt},
    units::QuantityError,
};
use std::borrow::Cow;
use thiserror::Error;

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
pub(super) enum Wrong {
    /// There is no such file, nor such a name among the shipped ones.
    #[error("no configuration `{}`: it is neither a file nor the name of a shipped one", short(name))]
    NotFound { name: String },
    /// Designs joined by `+`, with none on one side of it.
    #[error("`{}`: a design is missing beside `+`", short(text))]
    Joined { text: String },
    /// A file that cannot be read, or is no text of a fit length.
    #[error("{0}")]
    Unreadable(ReadError),
    /// A file with nothing in it.
    #[error("{} is empty, not a configuration", short(path))]
    Empty { path: String },
    /// Not TOML.
    #[error("not TOML: {}", sentence(message))]
    Syntax { message: String },
    /// Files that extend each other in a circle.
    #[error("`extends` runs in a circle: {}", sentence(chain))]
    Cycle { chain: String },
    /// Files that extend each other without an end.
    #[error("`extends` leads through more than {most} files")]
    Deep { most: usize },
    /// A field that does not exist.
    #[error("there is no field `{}`", short(path))]
    UnknownField { path: String },
    /// A value of another type.
    #[error("`{}` is {found}, but must be {expected}", short(path))]
    Type { path: String, found: String, expected: String },
    /// A quantity that cannot be read.
    #[error("`{}`: {}", short(path), sentence(error))]
    Quantity { path: String, error: QuantityError },
    /// A text that is none of the possible ones.
    #[error("`{}` cannot be \"{}\"", short(path), short(text))]
    Choice { path: String, text: String },
    /// A number that does not fit the field.
    #[error("`{}` is {}, which is outside of {low} to {high}", short(path), short(text))]
    Range { path: String, text: String, low: String, high: String },
    /// A field that no layer gives.
    #[error("no value for `{path}` in {}", sentence(chain))]
    Missing { path: String, chain: String },
    /// A value that is invalid, alone or with others.
    #[error("`{}`: {}", short(path), sentence(reason))]
    Senseless { path: String, reason: String },
    /// Something wrong in a `[provenance]` table.
    #[error("provenance of `{}`: {}", short(path), sentence(reason))]
    Provenance { path: String, reason: String },
    /// A `--set` that is not `path=value`.
    #[error("`--set {}` is not `path=value`", short(text))]
    Set { text: String },
    /// A manifest that does not hold what it says.
    #[error("manifest: {}", sentence(reason))]
    Manifest { reason: String },
}

impl Wrong {
    /// The last part of its code, and the short word under the offending text.
    const fn named(&self) -> (&'static str, &'static str) {
        match self {
            Self::NotFound { .. } => ("not_found", "named here"),
            Self::Joined { .. } => ("joined", "here"),
            Self::Unreadable(_) => ("unreadable", "named here"),
            Self::Empty { .. } => ("empty", "named here"),
            Self::Syntax { .. } => ("syntax", "here"),
            Self::Cycle { .. } => ("cycle", "closes the circle"),
            Self::Deep { .. } => ("deep", "named here"),
            Self::UnknownField { .. } => ("unknown_field", "unknown"),
            Self::Type { .. } => ("wrong_type", "here"),
            Self::Quantity { .. } => ("quantity", "here"),
            Self::Choice { .. } => ("choice", "here"),
            Self::Range { .. } => ("range", "out of range"),
            Self::Missing { .. } => ("missing", "belongs in this table"),
            Self::Senseless { .. } => ("senseless", "here"),
            Self::Provenance { .. } => ("provenance", "here"),
            Self::Set { .. } => ("set", "here"),
            Self::Manifest { .. } => ("manifest", "here"),
        }
    }
}

pub(super) fn refusal(wrong: &Wrong) -> Refusal {
    let (kind, word) = wrong.named();
    Refusal::new("config", kind, wrong.to_string()).marked_as(word)
}

impl Refusal {
    /// Whether it is about a field by itself: one that does not exist, or that takes no such value.
    pub fn is_about_the_field(&self) -> bool {
        let kinds = ["config::unknown_field", "config::wrong_type", "config::quantity", "config::choice"];
        self.each().any(|one| kinds.iter().any(|kind| one.is(kind)))
    }

    /// Why the engines do not close at their clock, with the cycles that do, if that is what is wrong.
    pub fn does_not_close(&self) -> Option<String> {
        let reasons = self.each().filter(|one| one.is("config::senseless")).map(ToString::to_string);
        reasons
            .filter_map(|told| Some(told.split_once("`: ")?.1.to_owned()))
            .find(|why| why.starts_with(DOES_NOT_CLOSE))
    }
}
