//! The quantities themselves.

use super::quantity::{Kind, QuantityError, Scale};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::{fmt, str::FromStr};

const fn scale(unit: &'static str, factor: u128) -> Scale {
    Scale { unit, factor }
}

macro_rules! also {
    () => {
        &[]
    };
    ($also:expr) => {
        &$also
    };
}

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $what:literal, $base:literal, $example:literal, [$($scale:expr),* $(,)?]
        $(, also $also:expr)?) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub u64);

        impl $name {
            /// How it is called, read and written.
            pub const KIND: Kind = Kind { what: $what, base: $base, example: $example, scales: &[$($scale),*], also: also!($($also)?) };
        }

        impl FromStr for $name {
            type Err = QuantityError;
            fn from_str(text: &str) -> Result<Self, QuantityError> {
                Self::KIND.parse(text).map($name)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&Self::KIND.print(self.0))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl de::Visitor<'_> for Text {
                    type Value = $name;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        write!(f, "{} with its unit, for example {:?}", $what, $example)
                    }
                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$name, E> {
                        text.parse().map_err(E::custom)
                    }
                    fn visit_i64<E: de::Error>(self, bare: i64) -> Result<$name, E> {
                        Err(E::custom(QuantityError::NoUnit { text: bare.to_string(), example: $example }))
                    }
                    fn visit_u64<E: de::Error>(self, bare: u64) -> Result<$name, E> {
                        Err(E::custom(QuantityError::NoUnit { text: bare.to_string(), example: $example }))
                    }
                    fn visit_f64<E: de::Error>(self, bare: f64) -> Result<$name, E> {
                        Err(E::custom(QuantityError::NoUnit { text: bare.to_string(), example: $example }))
                    }
                }
                deserializer.deserialize_any(Text)
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let units: Vec<_> = Self::KIND.units().map(|unit| unit.replace('/', "\\/")).collect();
                schemars::json_schema!({
                    "type": "string",
                    "description": concat!($what, ": a number and its unit"),
                    "pattern": format!("^[0-9][0-9_]*(\\.[0-9_]+)? *({})$", units.join("|")),
                    "examples": [$example],
                })
            }
        }
    };
}

quantity!(
    /// A date or a duration in femtoseconds. A `u64` holds five hours.
    Femtos, "a time", "femtoseconds", "42 ns",
    [scale("fs", 1), scale("ps", 1_000), scale("ns", 1_000_000), scale("us", 1_000_000_000),
     scale("ms", 1_000_000_000_000), scale("s", 1_000_000_000_000_000)]
);

quantity!(
    /// A number of cycles of one clock.
    Cycles, "a number of cycles", "cycles", "14 cycles",
    [scale("cycles", 1), scale("cycle", 1)]
);

quantity!(
    /// A clock frequency in hertz.
    Frequency, "a frequency", "hertz", "1.755 GHz",
    [scale("Hz", 1), scale("kHz", 1_000), scale("MHz", 1_000_000), scale("GHz", 1_000_000_000)]
);

quantity!(
    /// A number of bytes.
    Bytes, "a size", "bytes", "2 MiB",
    [scale("B", 1), scale("KiB", 1 << 10), scale("MiB", 1 << 20), scale("GiB", 1 << 30), scale("TiB", 1 << 40),
     scale("kB", 1_000), scale("MB", 1_000_000), scale("GB", 1_000_000_000)]
);

quantity!(
    /// A rate in thousandths of a byte per cycle of the unit's own clock. A configuration may write it per second as well.
    BytesPerCycle, "a rate per cycle", "thousandths of a byte per cycle", "1.6 B/cycle",
    [scale("B/cycle", 1_000)], also ["B/s", "kB/s", "MB/s", "GB/s", "TB/s"]
);

quantity!(
    /// A rate in bytes per second: of what has no clock in the model, as a network.
    ByteRate, "a rate", "bytes per second", "100 MB/s",
    [scale("B/s", 1), scale("kB/s", 1_000), scale("MB/s", 1_000_000), scale("GB/s", 1_000_000_000),
     scale("TB/s", 1_000_000_000_000),
     scale("kbit/s", 125), scale("Mbit/s", 125_000), scale("Gbit/s", 125_000_000)]
);

quantity!(
    /// A rate of arithmetic in operations per second.
    FlopRate, "a rate of arithmetic", "operations per second", "400 TFLOP/s",
    [scale("FLOP/s", 1), scale("GFLOP/s", 1_000_000_000), scale("TFLOP/s", 1_000_000_000_000)]
);

/// Every kind of quantity of a configuration, by the name of its type.
pub const KINDS: [(&str, &Kind); 5] = [
    ("Femtos", &Femtos::KIND),
    ("Cycles", &Cycles::KIND),
    ("Frequency", &Frequency::KIND),
    ("Bytes", &Bytes::KIND),
    ("BytesPerCycle", &BytesPerCycle::KIND),
];

impl Femtos {
    /// The end of simulated time.
    pub const MAX: Self = Self(u64::MAX);

    /// Whole picoseconds, rounded down.
    #[must_use]
    pub const fn picos(self) -> u64 {
        self.0 / 1_000
    }

    /// As a floating-point number of seconds, for printing only.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.0 as f64 * 1e-15
    }
}

/// How long so much takes at a rate per second; for ever at a rate of zero.
const fn takes(amount: u128, per_second: u64) -> Femtos {
    let femtos = amount.saturating_mul(1_000_000_000_000_000);
    match per_second {
        0 => Femtos::MAX,
        rate if femtos.div_ceil(rate as u128) > u64::MAX as u128 => Femtos::MAX,
        rate => Femtos(femtos.div_ceil(rate as u128) as u64),
    }
}

impl ByteRate {
    /// How long `bytes` take, rounded up.
    #[must_use]
    #[inline]
    pub const fn time_for(self, bytes: u64) -> Femtos {
        takes(bytes as u128, self.0)
    }
}

impl FlopRate {
    /// How long so many operations take, rounded up.
    #[must_use]
    #[inline]
    pub const fn time_for(self, operations: u128) -> Femtos {
        takes(operations, self.0)
    }
}

impl BytesPerCycle {
    /// Cycles that `bytes` take at this rate, rounded up. A rate of zero takes for ever.
    #[must_use]
    #[inline]
    pub const fn cycles_for(self, bytes: u64) -> u64 {
        if self.0 == 0 { u64::MAX } else { (bytes as u128 * 1_000).div_ceil(self.0 as u128) as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_exactly() {
        assert_eq!("1.755 GHz".parse(), Ok(Frequency(1_755_000_000)));
        assert_eq!("2MiB".parse(), Ok(Bytes(2 << 20)));
        assert_eq!("1.6 B/cycle".parse(), Ok(BytesPerCycle(1600)));
        assert_eq!("0.5 ns".parse(), Ok(Femtos(500_000)));
    }

    #[test]
    fn rates_give_times_rounded_up() {
        let wire: ByteRate = "1 Gbit/s".parse().unwrap();
        assert_eq!((wire, wire.time_for(125)), (ByteRate(125_000_000), Femtos(1_000_000_000)));
        assert_eq!("3 TFLOP/s".parse::<FlopRate>().unwrap().time_for(1), Femtos(334));
        assert_eq!([ByteRate(0).time_for(1), FlopRate(1).time_for(u128::MAX)], [Femtos::MAX; 2]);
    }

    #[test]
    fn a_bare_number_is_refused_with_an_example() {
        let error = "4".parse::<Bytes>().unwrap_err();
        assert!(matches!(error, QuantityError::NoUnit { .. }), "{error}");
        assert!(error.to_string().contains("2 MiB"));
    }

    #[test]
    fn a_fraction_of_the_base_unit_is_refused() {
        assert!(matches!("0.3 B".parse::<Bytes>(), Err(QuantityError::NotWhole { .. })));
        assert!(matches!("99999999 TiB".parse::<Bytes>(), Err(QuantityError::TooLarge { .. })));
        assert!(matches!("1..2 B".parse::<Bytes>(), Err(QuantityError::NotANumber { .. })));
        assert!(matches!("1._ B".parse::<Bytes>(), Err(QuantityError::NotANumber { .. })));
        assert!(matches!(format!("{} B", "9".repeat(60)).parse::<Bytes>(), Err(QuantityError::TooLarge { .. })));
        assert!(matches!("1 MB/s".parse::<Bytes>(), Err(QuantityError::UnknownUnit { .. })));
    }

    #[test]
    fn one_cycle_is_singular() {
        assert_eq!([Cycles(0), Cycles(1), Cycles(2)].map(|n| n.to_string()), ["0 cycles", "1 cycle", "2 cycles"]);
    }

    #[test]
    fn what_is_printed_reads_back() {
        for value in [0, 1, 999, 1_000, 1_500_000, 1 << 20, 3 << 29, 1_755_000_000, u64::MAX] {
            assert_eq!(Bytes(value).to_string().parse(), Ok(Bytes(value)));
            assert_eq!(Frequency(value).to_string().parse(), Ok(Frequency(value)));
            assert_eq!(Femtos(value).to_string().parse(), Ok(Femtos(value)));
        }
    }
}
