//! AES-GCM-SIV (RFC 8452) in hardware: POLYVAL over the plaintext, then AES in counter mode from the tag.
//!
//! ```text
//!                    +---------------------------------------------------------+
//!   key, nonce ----->| derivation: 4 or 6 blocks through the lanes             |
//!                    |    |-> H, powers          |-> key expansion             |
//!   seal  text ----->|--+--> POLYVAL --> (+) nonce --> AES --> tag ------------|----> tag
//!                    |  |                                       | counter      |
//!                    |  +--> [buffer: whole message] --(+)<-- AES lanes        |----> text, one cycle later
//!   open  tag ------>|----------> counter --> AES lanes --> keystream FIFO     |
//!   open  text ----->|----------------------------------------->(+)--> [reg] --|----> text, one cycle later
//!                    |                       POLYVAL <--------------------+    |----> tag to compare
//!                    +---------------------------------------------------------+
//! ```
//!
//! | | |
//! | --- | --- |
//! | per message | 2 + key bits / 64 AES blocks give H and the message's key; then its expansion (`key_setup`) and the powers of H, both per message, not per key as in AES-GCM |
//! | to seal | two passes. First text goes to POLYVAL, up to a block per lane and cycle as POLYVAL takes it, and into the buffer; the tag is one AES block behind it; then the buffer is read, up to a block per lane and cycle as keystream is valid. The tag is valid before the first output |
//! | keystream ahead | to seal none; to open it needs the tag first, and starts when the message's key is expanded |
//! | to open | one pass: text is deciphered as it comes, POLYVAL takes the plaintext from the output register as AES-GCM takes the ciphertext on seal |
//! | tag | POLYVAL known, a cycle for the XOR with the nonce, one AES block; the lane's output is the tag. The verdict `compare` cycles later |
//! | buffer | holds the whole message to seal. One that is longer has to come twice: a copy engine reads it again from device memory, where nothing may change it meanwhile; on a bench it is refused |
//! | next message | after text and tag of the one before: lanes have one key at a time |
//!
//! POLYVAL is a GHASH unit: RFC 8452, appendix A, maps one to the other by mirrored bits and a wired multiplication by x.

mod stream;

use super::bytes::{Scheme, Wire, open_in, seal_in};
use super::flow::{Dates, Extent, Flow, Hashing, Lanes, Passing, absorb};
use super::model::{AfterSuccess, Hardware, Model};
use super::scheme_timing::{Burst, SchemeTiming};
use crate::gcm::ghash::{GhashTiming, TimingModel};
use crate::gcm::message::{SealOpen, Shape};
use crate::gcm::spec::{AesSpec, GcmSpec, GhashSpec, LONGEST, SpecError, aes_rounds, within};
use crate::units::{Bytes, Cycles};
use aes_gcm_siv::{Aes128GcmSiv, Aes256GcmSiv};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An AES-GCM-SIV engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GcmSivSpec {
    /// Key size in bits: 128 or 256.
    #[schemars(title = "key length (bits)")]
    pub key_bits: u32,
    /// The block cipher lanes.
    #[schemars(title = "AES")]
    pub aes: AesSpec,
    /// The authenticator: POLYVAL, in the structure of a GHASH unit that hashes one message at a time to one value.
    #[schemars(title = "POLYVAL")]
    pub polyval: GhashSpec,
    /// Key expansion, from a key to the round keys that the lanes use: once per key, and once per message for the key derived.
    #[schemars(title = "key setup", extend("relaxes" = "down"))]
    pub key_setup: Cycles,
    /// Room for the text of a message to be sealed, between its two passes. A copy engine reads a longer one twice.
    #[schemars(title = "buffer between passes", extend("relaxes" = "up"))]
    pub buffer: Bytes,
    /// From the tag to the verdict.
    #[schemars(title = "tag comparison", extend("relaxes" = "down"))]
    pub compare: Cycles,
}

impl GcmSivSpec {
    /// Says whether such an engine can be built.
    pub fn check(&self) -> Result<(), SpecError> {
        if ![128, 256].contains(&self.key_bits) {
            return Err(SpecError::SchemeKeyBits { bits: self.key_bits, takes: "AES-GCM-SIV takes 128 or 256" });
        }
        self.aes.check()?;
        within("key_setup", self.key_setup.0, 0, LONGEST)?;
        within("buffer", self.buffer.0, 16, 1 << 40)?;
        within("compare", self.compare.0, 0, LONGEST)?;
        self.polyval.check_polyval("AES-GCM-SIV")
    }

    /// An engine for tests and benchmarks: lanes and multipliers of [`GcmSpec::four_lanes`], with so much room between the passes.
    pub fn four_lanes(buffer: Bytes) -> Self {
        let GcmSpec { key_bits, aes, ghash: polyval, compare, .. } = GcmSpec::four_lanes();
        Self { key_bits, aes, polyval, key_setup: Cycles(20), buffer, compare }
    }

    /// AES blocks that derive a message's keys: 4 or 6.
    pub const fn derivation_blocks(&self) -> u64 {
        2 + self.key_bits as u64 / 64
    }
}

impl Model for &GcmSivSpec {
    fn check(&self) -> Result<(), SpecError> {
        GcmSivSpec::check(self)
    }

    fn compare(&self) -> Cycles {
        self.compare
    }

    fn key_bits(&self) -> u32 {
        self.key_bits
    }

    fn scheme(&self) -> Option<Scheme> {
        Some(Scheme::GcmSiv)
    }

    fn buffer(&self) -> Option<Bytes> {
        Some(self.buffer)
    }

    fn opens_by_tag(&self) -> bool {
        true
    }

    fn hardware(&self) -> Hardware {
        let (aes, ghash) = (self.aes.clone(), self.polyval.clone());
        let (rounds, expansion) = (aes_rounds(self.key_bits), self.key_setup.0);
        Hardware::Lanes { aes, rounds, ghash, buffer: Some(self.buffer), expansion, narrow: None, control: None }
    }

    /// Twice GCM's bound: one bit of POLYVAL's value is cleared before it is enciphered into the tag (RFC 8452, section 4), so values that
    /// differ by 0 or by that bit have the same tag, and m + 1 roots of either difference pass, for m blocks of AAD and text.
    fn attempt_log2(&self, message_bytes: u64) -> f64 {
        let blocks = message_bytes.div_ceil(16) + 1;
        (2.0 * (blocks as f64 + 1.0)).log2() - 128.0
    }

    /// POLYVAL's key is derived from the nonce.
    fn after_success(&self) -> AfterSuccess {
        AfterSuccess::AsBefore
    }
}

/// The bytes, by the crate `aes-gcm-siv`.
pub const WIRE: Wire = Wire {
    listed: "AES-GCM-SIV",
    engine: "gcm-siv",
    key_bytes: &[16, 32],
    nonce_bytes: 12,
    tag_bytes: &[16],
    seal: |key, nonce, aad, text| match key.raw().len() {
        16 => seal_in::<Aes128GcmSiv>(key, nonce, aad, text),
        _ => seal_in::<Aes256GcmSiv>(key, nonce, aad, text),
    },
    open: |key, nonce, aad, text, tag| match key.raw().len() {
        16 => open_in::<Aes128GcmSiv>(key, nonce, aad, text, tag),
        _ => open_in::<Aes256GcmSiv>(key, nonce, aad, text, tag),
    },
    message: |key, nonce, _, direction| Some(Box::new(stream::GcmSivMessage::new(key.raw(), nonce, direction)?)),
};

#[derive(Debug, Clone)]
pub struct GcmSivTiming {
    key_setup: u64,
    compare: u64,
    derivation: u64,
    /// How text passes where nothing sees it.
    flow: Flow,
    lanes: Lanes,
    polyval: TimingModel,
    /// When the message's key is expanded and, to open, its tag is there as well.
    keyed: u64,
    direction: SealOpen,
    aad: Extent,
    /// Of a message to be sealed: the pass before the tag, and the tag.
    sealed: Option<(Extent, u64)>,
    text: Passing,
}

impl GcmSivTiming {
    pub fn new(spec: &GcmSivSpec) -> Result<Self, SpecError> {
        spec.check()?;
        let flow = Flow {
            ports: spec.aes.lanes.into(),
            unit: 1,
            depth: spec.aes.keystream_blocks.into(),
            hashing: Hashing::Nowhere,
        };
        Ok(Self {
            key_setup: spec.key_setup.0,
            compare: spec.compare.0,
            derivation: spec.derivation_blocks(),
            flow,
            lanes: Lanes::new(&spec.aes, aes_rounds(spec.key_bits)),
            polyval: TimingModel::of_family(&spec.polyval),
            keyed: 0,
            direction: SealOpen::Open,
            aad: Extent::default(),
            sealed: None,
            text: Passing::new(flow, 0),
        })
    }

    /// The length block, the XOR with the nonce, and one AES block.
    fn tag(&mut self) -> u64 {
        absorb(&mut self.polyval, 1);
        let known = self.polyval.known();
        self.lanes.result(self.keyed.max(known + 1))
    }
}

impl SchemeTiming for GcmSivTiming {
    fn load_key(&self, at: u64) -> u64 {
        at + self.key_setup
    }

    fn passes_twice(&self, direction: SealOpen) -> bool {
        direction == SealOpen::Seal
    }

    fn begin(&mut self, at: u64, shape: &Shape) -> u64 {
        self.lanes.restart();
        let derived: Vec<u64> = (0..self.derivation).map(|_| self.lanes.result(at)).collect();
        let (h, key) = (derived[1], derived[derived.len() - 1]);
        self.keyed = key + self.key_setup;
        self.polyval.begin(h + self.polyval.power_setup(), shape.ghash_blocks());
        self.aad = absorb(&mut self.polyval, shape.aad_blocks());
        self.lanes.restart();
        (self.direction, self.sealed) = (shape.direction, None);
        let hashing = if shape.direction == SealOpen::Seal { Hashing::Input } else { Hashing::Output };
        self.text = Passing::new(Flow { hashing, ..self.flow }, at);
        self.keyed
    }

    fn seed(&mut self, at: u64) {
        if self.direction == SealOpen::Open {
            self.keyed = self.keyed.max(at);
        }
    }

    fn take(&mut self, visible: u64, blocks: u64) -> Burst {
        let Self { lanes, polyval, keyed, direction, sealed, text, .. } = self;
        let from = match (sealed, *direction) {
            (Some((_, tag)), _) => Some(*tag),
            (None, SealOpen::Open) => Some(*keyed),
            (None, SealOpen::Seal) => None,
        };
        Burst::of(blocks, || text.take(visible, from.map(|from| (&mut *lanes, from)), polyval))
    }

    fn turn(&mut self) {
        let tag = self.tag();
        self.sealed = Some((self.text.extent(), tag));
        self.lanes.restart();
        self.text = Passing::new(self.flow, tag);
    }

    fn end(&mut self) -> Dates {
        let text = self.text.extent();
        match self.sealed {
            Some((first, tag)) => {
                let first_input = self.aad.first.or(first.first);
                Dates { first_input, ..Dates::of(self.aad, text, tag, self.compare) }
            }
            None => {
                let tag = self.tag();
                Dates::of(self.aad, text, tag, self.compare)
            }
        }
    }
}
