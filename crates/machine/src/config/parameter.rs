//! One value of a machine, and where it comes from.

use super::provenance::Provenance;

/// One value of a machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its path, for example `link.max_payload`.
    pub path: String,
    /// The value as `--set` takes it.
    pub value: String,
    /// What it is: `size`, `time`, `frequency`, ... for a quantity; else `count`, `choice` or `text`.
    pub unit: &'static str,
    /// For numbers: the value in base units.
    pub amount: Option<i128>,
    pub provenance: Provenance,
}
