//! What a point is known by.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::fmt;

/// The first 16 bytes of SHA-256 over all that a point's figures depend on; as text, in hexadecimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PointId(pub [u8; 16]);

impl fmt::Display for PointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl Serialize for PointId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex::encode(self.0))
    }
}

impl<'de> Deserialize<'de> for PointId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        let mut bytes = [0; 16];
        let wrong = |error| D::Error::custom(format!("`{text}` is no identity of a point: {error}"));
        hex::decode_to_slice(text.as_bytes(), &mut bytes).map_err(wrong)?;
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_written_and_read_and_nothing_else_is_one() {
        let id = PointId(std::array::from_fn(|place| place as u8 * 16));
        let text = serde_json::to_string(&id).unwrap();
        assert_eq!(text, "\"00102030405060708090a0b0c0d0e0f0\"");
        assert_eq!(serde_json::from_str::<PointId>(&text).unwrap(), id);
        for wrong in ["\"\"", "\"00\"", "\"zz102030405060708090a0b0c0d0e0f0\"", "7"] {
            assert!(serde_json::from_str::<PointId>(wrong).is_err(), "{wrong}");
        }
    }
}
