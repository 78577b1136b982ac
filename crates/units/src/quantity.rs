//! Exact reading and writing of `number unit` texts.

use thiserror::Error;

/// One unit that a quantity may be written in.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    /// The unit as written, for example `MiB`.
    pub unit: &'static str,
    /// How many base units one of it is.
    pub factor: u128,
}

/// Why a text is not a quantity.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum QuantityError {
    /// A number stands alone.
    #[error("`{text}` has no unit; write for example `{example}`")]
    NoUnit {
        /// What was read.
        text: String,
        /// A text that would be accepted.
        example: &'static str,
    },
    /// The unit is not one of this quantity.
    #[error("`{unit}` is not a unit of {what}; use one of {known}")]
    UnknownUnit {
        /// The unit that was read.
        unit: String,
        /// The quantity, for example `a frequency`.
        what: &'static str,
        /// The units that are known, comma separated.
        known: String,
    },
    /// The number cannot be read.
    #[error("`{text}` is not a number followed by a unit; write for example `{example}`")]
    NotANumber {
        /// What was read.
        text: String,
        /// A text that would be accepted.
        example: &'static str,
    },
    /// The value is not a whole number of base units.
    #[error("`{text}` is not a whole number of {base}")]
    NotWhole {
        /// What was read.
        text: String,
        /// The base unit.
        base: &'static str,
    },
    /// The value does not fit.
    #[error("`{text}` is too large for {what}")]
    TooLarge {
        /// What was read.
        text: String,
        /// The quantity.
        what: &'static str,
    },
}

/// What a kind of quantity is called and how it is written.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// The quantity with its article, for example `a frequency`.
    pub what: &'static str,
    /// The base unit, spelled out.
    pub base: &'static str,
    /// A text that is accepted.
    pub example: &'static str,
    /// The units that it may be written in.
    pub scales: &'static [Scale],
    /// Units of another quantity that a configuration may write, and turns into these.
    pub also: &'static [&'static str],
}

impl Kind {
    /// The units that a configuration may write.
    pub fn units(&self) -> impl Iterator<Item = &'static str> {
        self.scales.iter().map(|scale| scale.unit).chain(self.also.iter().copied())
    }

    /// Whether what is written as `text` has a unit of this quantity.
    pub fn has_unit_of(&self, text: &str) -> bool {
        let unit = split(text).1;
        self.scales.iter().any(|scale| scale.unit == unit)
    }

    /// Reads `text` into base units, exactly.
    ///
    /// # Errors
    ///
    /// The text is not a whole number of base units with a known unit behind it, or does not fit.
    pub fn parse(&self, text: &str) -> Result<u64, QuantityError> {
        let (number, unit) = split(text);
        let malformed = || QuantityError::NotANumber { text: text.to_owned(), example: self.example };
        let too_large = || QuantityError::TooLarge { text: text.to_owned(), what: self.what };
        let (digits, decimals) = split_decimal(number).ok_or_else(malformed)?;
        if unit.is_empty() {
            return Err(QuantityError::NoUnit { text: text.to_owned(), example: self.example });
        }
        let scale = self.scales.iter().find(|s| s.unit == unit).ok_or_else(|| QuantityError::UnknownUnit {
            unit: unit.to_owned(),
            what: self.what,
            known: self.units().collect::<Vec<_>>().join(", "),
        })?;
        let digits: u128 = digits.parse().map_err(|_| too_large())?;
        let scaled = digits.checked_mul(scale.factor).ok_or_else(too_large)?;
        let divisor = 10u128.checked_pow(decimals).ok_or_else(too_large)?;
        if scaled % divisor != 0 {
            return Err(QuantityError::NotWhole { text: text.to_owned(), base: self.base });
        }
        u64::try_from(scaled / divisor).map_err(|_| too_large())
    }

    /// Writes `value` (in base units) in the largest unit that needs at most three decimals.
    #[must_use]
    pub fn print(&self, value: u64) -> String {
        let mut best = None;
        for scale in self.scales {
            let (value, factor) = (u128::from(value), scale.factor);
            let fits = value * 1000 % factor == 0 && (value >= factor || factor == 1);
            // Of two names for one unit, the second is for a single one: `1 cycle`.
            let single = value == 1;
            if fits && best.is_none_or(|b: &Scale| b.factor < factor || (single && b.factor == factor)) {
                best = Some(scale);
            }
        }
        let scale = best.or_else(|| self.scales.iter().min_by_key(|s| s.factor));
        let Some(scale) = scale else { return value.to_string() };
        let thousandths = u128::from(value) * 1000 / scale.factor;
        let (whole, rest) = (thousandths / 1000, thousandths % 1000);
        let mut text = whole.to_string();
        if rest != 0 {
            text.push_str(format!(".{rest:03}").trim_end_matches('0'));
        }
        format!("{text} {}", scale.unit)
    }
}

/// A number, and the unit behind it.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let (number, unit) =
        text.split_at(text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len()));
    (number, unit.trim())
}

/// Reads `12.5` as ("125", 1): digits without the point, and how many stood behind it.
fn split_decimal(text: &str) -> Option<(String, u32)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits_first = |s: &str| s.starts_with(|c: char| c.is_ascii_digit());
    if !digits_first(whole) || !digits_first(fraction) || fraction.contains('.') {
        return None;
    }
    let fraction = if text.contains('.') { fraction.replace('_', "") } else { String::new() };
    let decimals = u32::try_from(fraction.len()).ok()?;
    Some((format!("{}{fraction}", whole.replace('_', "")), decimals))
}
