//! A flit as plain values.

use super::{BYTES, DLP_BYTES, FlitView, TLP_BYTES, crc, ecc, field};
use crate::wire::table::{
    Code, Field, FieldsError,
    Form::{Decimal, Names},
    Given, Kind, Words, always, common, family, union,
};
use serde::{Deserialize, Serialize};

/// The fields of the DLP, a row each. [`super::super::table`] says what follows from a row.
pub static DLP: [Kind; 1] = [Kind { name: "DLP", first: 0, mask: 0, fields: &[FIELDS] }];

const FIELDS: &[Field] = &[
    always("usage", &[(0, 6, 2)]).text("usage", Decimal),
    common("prior_payload", &[(0, 5, 1)]).text("prior flit", Names(&["no payload", "payload"])),
    common("dllp_type", &[(0, 4, 1)]).silent(),
    common("replay_command", &[(0, 2, 2)]).text("replay command", Decimal),
    always("seq", &[(1, 0, 8), (0, 0, 2)]).silent(),
    common("dllp", &[(5, 0, 8), (4, 0, 8), (3, 0, 8), (2, 0, 8)]).code(Code::Hex).silent(),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usage {
    /// 0: an IDLE flit, if its sequence number is 0, or a NOP flit. It has no TLPs.
    Nop,
    /// 1: it has TLPs.
    Payload,
    /// 2 or 3: a receiver takes such a flit for invalid.
    Reserved(u8),
}

impl Usage {
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::Nop,
            1 => Self::Payload,
            bits => Self::Reserved(bits),
        }
    }

    pub const fn bits(self) -> u8 {
        match self {
            Self::Nop => 0,
            Self::Payload => 1,
            Self::Reserved(bits) => bits & 3,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayCommand {
    /// 0: it is that of this flit, or of the last payload flit before.
    Explicit,
    /// 1: all flits up to it have arrived.
    Ack,
    /// 2: all flits up to it have arrived, the rest must be sent again.
    StandardNak,
    /// 3: all flits up to it have arrived, the next alone must be sent again.
    SelectiveNak,
}

impl ReplayCommand {
    const ALL: [Self; 4] = [Self::Explicit, Self::Ack, Self::StandardNak, Self::SelectiveNak];

    pub const fn from_bits(bits: u8) -> Self {
        Self::ALL[(bits & 3) as usize]
    }

    pub const fn bits(self) -> u8 {
        self as u8
    }
}

/// The data link layer's part of a flit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Given<Dlp>", into = "Given<Dlp>")]
pub struct Dlp {
    pub usage: Usage,
    /// The flit before had TLPs, so that a receiver that lost it needs it again.
    pub prior_payload: bool,
    /// `dllp` is no DLLP but an optimised credit update or a marker.
    pub dllp_optimised: bool,
    pub replay: ReplayCommand,
    /// Sequence number, 10 bits.
    pub sequence: u16,
    /// A DLLP without its CRC. Its coding in flit mode is not read: all zeros is nothing there, but an Ack on other links.
    pub dllp: [u8; 4],
}

impl Dlp {
    /// The values; every six bytes are a DLP.
    pub fn parse(bytes: [u8; DLP_BYTES]) -> Self {
        let get = |name| DLP[0].get(&bytes, name).unwrap_or_default();
        Self {
            usage: Usage::from_bits(get("usage") as u8),
            prior_payload: get("prior_payload") == 1,
            dllp_optimised: get("dllp_type") == 1,
            replay: ReplayCommand::from_bits(get("replay_command") as u8),
            sequence: get("seq") as u16,
            dllp: (get("dllp") as u32).to_be_bytes(),
        }
    }

    /// The six bytes. Values are cut to their width.
    pub fn emit(&self) -> [u8; DLP_BYTES] {
        let mut bytes = [0; DLP_BYTES];
        for (name, value) in [
            ("usage", self.usage.bits().into()),
            ("prior_payload", self.prior_payload.into()),
            ("dllp_type", self.dllp_optimised.into()),
            ("replay_command", self.replay.bits().into()),
            ("seq", self.sequence.into()),
            ("dllp", u32::from_be_bytes(self.dllp).into()),
        ] {
            DLP[0].put(&mut bytes, name, value);
        }
        bytes
    }

    /// Labels and values, as text has them: all but the DLLP and what the sequence number means.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        DLP[0].rows(&self.emit())
    }
}

family!(Dlp, union(&DLP));

impl From<Dlp> for Given<Dlp> {
    fn from(dlp: Dlp) -> Self {
        Self::of(&DLP[0], &dlp.emit())
    }
}

impl TryFrom<Given<Self>> for Dlp {
    type Error = FieldsError;

    fn try_from(given: Given<Self>) -> Result<Self, FieldsError> {
        let (mut bytes, name) = ([0; DLP_BYTES], "a flit".to_owned());
        given.fill(&DLP[0], Words { who: name.clone(), name, beside: "those of every flit" }, &mut bytes)?;
        Ok(Self::parse(bytes))
    }
}

/// A flit as plain values: everything but CRC and ECC, which follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlitRepr {
    pub dlp: Dlp,
    pub tlp: [u8; TLP_BYTES],
}

impl FlitRepr {
    /// The values of a flit. CRC and ECC are not looked at: see [`super::receive`].
    pub fn parse(view: &FlitView<'_>) -> Self {
        Self { dlp: Dlp::parse(view.dlp()), tlp: view.tlp() }
    }

    /// The bytes of the flit, with CRC and ECC.
    pub fn emit(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[field::TLP].copy_from_slice(&self.tlp);
        bytes[field::DLP].copy_from_slice(&self.dlp.emit());
        let crc = crc::of(&bytes[..field::CRC.start]);
        bytes[field::CRC].copy_from_slice(&crc);
        ecc::emit(&mut bytes);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_field_has_its_bits() {
        let dlp = Dlp::parse([0x6d, 0x02, 0x80, 1, 2, 3]);
        let expected = Dlp {
            usage: Usage::Payload,
            prior_payload: true,
            dllp_optimised: false,
            replay: ReplayCommand::SelectiveNak,
            sequence: 0x102,
            dllp: [0x80, 1, 2, 3],
        };
        assert_eq!(dlp, expected);
        assert_eq!(Dlp::parse([0x90, 0, 0, 0, 0, 0]).usage, Usage::Reserved(2));
        assert!(Dlp::parse([0x10, 0, 0, 0, 0, 0]).dllp_optimised);
    }

    #[test]
    fn wrong_fields_are_refused_by_name() {
        let refused = |json: &str| serde_json::from_str::<Dlp>(json).unwrap_err().to_string();
        assert_eq!(refused(r#"{"usage":4,"seq":0}"#), "`usage` is 4, but must lie in 0..=3");
        assert_eq!(refused(r#"{"usage":1,"seq":1024}"#), "`seq` is 1024, but must lie in 0..=1023");
        assert_eq!(refused(r#"{"usage":1,"seq":1,"dllp":"00"}"#), "`dllp` must be 8 hexadecimal digits");
    }

    proptest! {
        #[test]
        fn any_dlp_round_trips_and_so_does_its_json(bytes in any::<[u8; DLP_BYTES]>()) {
            let dlp = Dlp::parse(bytes);
            prop_assert_eq!(dlp.emit(), bytes);
            let json = serde_json::to_string(&dlp).unwrap();
            prop_assert_eq!(serde_json::from_str::<Dlp>(&json).unwrap(), dlp);
        }
    }
}
