//! Units of figures, and how people see them.

/// What a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Text,
    /// A count, a part, a logarithm.
    Plain,
    Picos,
    Bytes,
    ByteNanos,
    GbPerS,
    Kge,
    PjPerByte,
    PicoJoules,
}

impl Unit {
    /// The unit in which people see it, and what it is multiplied by for that.
    pub const fn shown(self) -> Option<(&'static str, f64)> {
        match self {
            Self::Text | Self::Plain => None,
            Self::Picos => Some(("µs", 1e-6)),
            Self::Bytes => Some(("bytes", 1.0)),
            Self::ByteNanos => Some(("byte ns", 1.0)),
            Self::GbPerS => Some(("GB/s", 1.0)),
            Self::Kge => Some(("kGE", 1.0)),
            Self::PjPerByte => Some(("pJ/byte", 1.0)),
            Self::PicoJoules => Some(("µJ", 1e-6)),
        }
    }
}
