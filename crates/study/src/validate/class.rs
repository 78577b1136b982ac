//! What the shipped parameters owe to a measured point, and so what its error says.

use super::selector::Selector;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::units::named! {
    /// The class of a point. Each point has one; where several could be said, it is the first of them here.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Class {
        /// Parameters were fitted to it, or may be.
        Fitted = "fitted",
        /// It was seen while a parameter, or the form of a mechanism, was chosen.
        Informed = "informed",
        HeldOut = "held out",
    }
}

/// An entry of the index: points that were seen while parameters were chosen.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct Informed {
    pub points: Vec<Selector>,
    /// Paths of the parameters: what was chosen, or what switches and sizes the mechanism that was.
    pub parameters: Vec<String>,
    /// What was read off the points.
    pub why: String,
}

/// The same with its points counted, as results state it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Seen {
    pub parameters: Vec<String>,
    /// What was read off the points.
    pub why: String,
    /// How many informed points.
    pub points: usize,
}
