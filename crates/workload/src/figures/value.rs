//! Values of figures.

use crate::units::Femtos;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A count, or a time in whole units.
    Integer(i64),
    Number(f64),
    Text(String),
    /// It does not apply.
    #[default]
    None,
}

impl Value {
    pub const fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(number) => Some(*number as f64),
            Self::Number(number) => Some(*number),
            Self::Text(_) | Self::None => None,
        }
    }

    /// As text; nothing where it does not apply.
    pub fn shown(&self) -> String {
        match self {
            Self::Integer(number) => number.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
            Self::None => String::new(),
        }
    }
}

impl From<u64> for Value {
    fn from(count: u64) -> Self {
        Self::Integer(i64::try_from(count).unwrap_or(i64::MAX))
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// In ps.
impl From<Femtos> for Value {
    fn from(time: Femtos) -> Self {
        Self::from(time.picos())
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, Into::into)
    }
}
