//! The JSON form of a flit's DLP: flat, with stable names.

use super::{Dlp, LAST_SEQUENCE, ReplayCommand, Usage};
use serde::{Deserialize, Serialize};

/// The fields of a DLP as they are in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlitFields {
    /// 0 NOP or IDLE, 1 payload, 2 and 3 reserved.
    pub usage: u8,
    /// 1 if the flit before was a payload flit.
    #[serde(default)]
    pub prior_payload: u8,
    /// 1 if `dllp` is an optimised credit update or a marker.
    #[serde(default)]
    pub dllp_type: u8,
    /// 0 explicit sequence number, 1 Ack, 2 standard Nak, 3 selective Nak.
    #[serde(default)]
    pub replay_command: u8,
    /// Sequence number.
    pub seq: u16,
    /// DLLP without CRC, as 8 hexadecimal digits; zeros if absent.
    #[serde(default = "zeros")]
    pub dllp: String,
}

fn zeros() -> String {
    "00000000".to_owned()
}

/// Why fields are no DLP.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FlitFieldsError {
    /// A value is out of its range.
    #[error("`{field}` is {value}, but must lie in 0..={high}")]
    Range {
        /// The field.
        field: &'static str,
        /// Its value.
        value: u16,
        /// Greatest value.
        high: u16,
    },
    /// The DLLP is no hex of four bytes.
    #[error("`dllp` must be 8 hexadecimal digits")]
    Dllp,
}

impl FlitFields {
    /// The names of all fields.
    pub const NAMES: [&'static str; 6] = ["usage", "prior_payload", "dllp_type", "replay_command", "seq", "dllp"];
}

impl From<Dlp> for FlitFields {
    fn from(dlp: Dlp) -> Self {
        Self {
            usage: dlp.usage.bits(),
            prior_payload: dlp.prior_payload.into(),
            dllp_type: dlp.dllp_optimised.into(),
            replay_command: dlp.replay.bits(),
            seq: dlp.sequence,
            dllp: hex::encode(dlp.dllp),
        }
    }
}

impl TryFrom<FlitFields> for Dlp {
    type Error = FlitFieldsError;

    fn try_from(fields: FlitFields) -> Result<Self, FlitFieldsError> {
        for (field, value, high) in [
            ("usage", fields.usage.into(), 3),
            ("prior_payload", fields.prior_payload.into(), 1),
            ("dllp_type", fields.dllp_type.into(), 1),
            ("replay_command", fields.replay_command.into(), 3),
            ("seq", fields.seq, LAST_SEQUENCE),
        ] {
            if value > high {
                return Err(FlitFieldsError::Range { field, value, high });
            }
        }
        let mut dllp = [0; 4];
        hex::decode_to_slice(&fields.dllp, &mut dllp).map_err(|_| FlitFieldsError::Dllp)?;
        Ok(Self {
            usage: Usage::from_bits(fields.usage),
            prior_payload: fields.prior_payload == 1,
            dllp_optimised: fields.dllp_type == 1,
            replay: ReplayCommand::from_bits(fields.replay_command),
            sequence: fields.seq,
            dllp,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn wrong_fields_are_refused_by_name() {
        let refused =
            |json: &str| Dlp::try_from(serde_json::from_str::<FlitFields>(json).unwrap()).unwrap_err().to_string();
        assert_eq!(refused(r#"{"usage":4,"seq":0}"#), "`usage` is 4, but must lie in 0..=3");
        assert_eq!(refused(r#"{"usage":1,"seq":1024}"#), "`seq` is 1024, but must lie in 0..=1023");
        assert_eq!(refused(r#"{"usage":1,"seq":1,"dllp":"00"}"#), "`dllp` must be 8 hexadecimal digits");
    }

    proptest! {
        #[test]
        fn any_dlp_round_trips_through_json(bytes in any::<[u8; 6]>()) {
            let dlp = Dlp::parse(bytes);
            let json = serde_json::to_value(FlitFields::from(dlp)).unwrap();
            let mut names = FlitFields::NAMES;
            names.sort_unstable();
            prop_assert!(json.as_object().unwrap().keys().eq(names));
            prop_assert_eq!(Dlp::try_from(serde_json::from_value::<FlitFields>(json).unwrap()), Ok(dlp));
        }
    }
}
