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
    #[error("no configuration `{}`: it is neither a file nor the name of a shipped one", short(name))]
    NotFound { name: String },
    #[error("`{}`: a design is missing beside `+`", short(text))]
    Joined { text: String },
    #[error("{0}")]
    Unreadable(ReadError),
    #[error("{} is empty, not a configuration", short(path))]
    Empty { path: String },
    #[error("not TOML: {}", sentence(message))]
    Syntax { message: String },
    #[error("`extends` runs in a circle: {}", sentence(chain))]
    Cycle { chain: String },
    #[error("`extends` leads through more than {most} files")]
    Deep { most: usize },
    #[error("there is no field `{}`", short(path))]
    UnknownField { path: String },
    #[error("`{}` is {found}, but must be {expected}", short(path))]
    Type { path: String, found: String, expected: String },
    #[error("`{}`: {}", short(path), sentence(error))]
    Quantity { path: String, error: QuantityError },
    #[error("`{}` cannot be \"{}\"", short(path), short(text))]
    Choice { path: String, text: String },
    #[error("`{}` is {}, which is outside of {low} to {high}", short(path), short(text))]
    Range { path: String, text: String, low: String, high: String },
    #[error("no value for `{path}` in {}", sentence(chain))]
    Missing { path: String, chain: String },
    #[error("`{}`: {}", short(path), sentence(reason))]
    Senseless { path: String, reason: String },
    #[error("provenance of `{}`: {}", short(path), sentence(reason))]
    Provenance { path: String, reason: String },
    #[error("`--set {}` is not `path=value`", short(text))]
    Set { text: String },
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
