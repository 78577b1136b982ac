//! Values that are in the code.

use serde::Serialize;

/// A value that no configuration changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Fixed {
    /// Its name, as that of a parameter.
    pub name: &'static str,
    /// How much, in `unit`.
    pub value: u64,
    /// `B`, `cycles`, or what is counted.
    pub unit: &'static str,
    /// What it is, and why it is no parameter.
    pub why: &'static str,
}

/// Rows of [`Fixed`]: name, value, unit, why.
#[macro_export]
macro_rules! fixed {
    ($($name:literal $value:expr, $unit:literal, $why:literal;)*) => {
        &[$($crate::Fixed { name: $name, value: $value as u64, unit: $unit, why: $why }),*]
    };
}
