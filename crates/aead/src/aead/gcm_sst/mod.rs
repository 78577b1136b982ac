//! GCM-SST (draft-mattsson-cfrg-aes-gcm-sst) in hardware: AES in counter mode, and POLYVAL with keys of the message's own.
//!
//! ```text
//!                  +---------------------------------------------------------------------+
//!   key, nonce --->| counters --> AES lanes --+--> keystream FIFO                        |
//!                  |     blocks 0, 1, 2       v         |                                |
//!                  |   H and its powers, H2, M          |                                |
//!   text --------->|---------------------------------->(+)--> [reg]----------------------|----> text, one cycle later
//!                  |            | open                         | seal                    |
//!                  |            +--> POLYVAL by H <------------+                         |
//!                  |                     |--(+) lengths --> [x H2] --(+) M --> [reg] ----|----> tag, verdict
//!                  +---------------------------------------------------------------------+
//! ```
//!
//! | | |
//! | --- | --- |
//! | accepts | up to a text block per lane and cycle, as its keystream is valid and POLYVAL takes it |
//! | per message | blocks 0, 1 and 2 give H, H2 and the mask M; the powers of H follow, per message, not per key as in AES-GCM |
//! | keystream ahead | yes: blocks 3, 4, ... follow the subkeys into the lanes, up to `keystream_blocks` ahead |
//! | POLYVAL | ciphertext, from the ports to open, from the output register to seal; the lengths are no block of it |
//! | tag | POLYVAL known, one product by H2, a cycle for the XOR with M; its first `tag` bytes |
//! | product by H2 | on a multiplier of POLYVAL's unit, all of which are free once its value is known |
//! | lanes | a block may start in a lane at the latest a cycle after the one before has left it, so that each message finds all lanes at rest |
//! | next message | after text and tag of the one before |
//!
//! On pipelined lanes of latency D and one multiplier of latency L, a message of a AAD and n > 0 text blocks that starts in cycle 0 takes its first text in
//! s = D + floor(3 / lanes) to seal and max(s, D + a L) to open; POLYVAL takes it in p, which is max(s + 1, D + a L) to seal, the same cycle to
//! open; its tag is valid in p + (n + 1) L + 1. [`datapath`] is the same with its registers.

pub mod datapath;
mod stream;

use super::bytes::{Scheme, Wire};
use super::flow::{Dates, Extent, Flow, Hashing, Lanes, Passing, absorb};
use super::model::{AfterSuccess, Hardware, Model, Registers};
use super::scheme_timing::{Burst, SchemeTiming};
use super::stream::Pieces;
use crate::gcm::counter::advanced;
use crate::gcm::ghash::{GhashTiming, TimingModel};
use crate::gcm::message::{SealOpen, Shape};
use crate::gcm::spec::{AesSpec, GcmSpec, GhashSpec, LONGEST, SpecError, aes_rounds, within};
use crate::units::{Bytes, Cycles};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Keystream blocks before those of the text: H, H2 and the mask.
pub const SUBKEYS: u64 = 3;
/// Bytes that 2^32 counters leave to a text.
const LONGEST_TEXT: u64 = (1 << 36) - 48;

/// The counter block of keystream block `number`.
pub fn counter(nonce: [u8; 12], number: u32) -> [u8; 16] {
    let mut block = [0; 16];
    block[..12].copy_from_slice(&nonce);
    advanced(block, number)
}

/// A GCM-SST engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GcmSstSpec {
    /// Key size in bits: 128 or 256.
    #[schemars(title = "key length (bits)")]
    pub key_bits: u32,
    /// The block cipher lanes.
    #[schemars(title = "AES")]
    pub aes: AesSpec,
    /// The authenticator: POLYVAL, in the structure of a GHASH unit that hashes one message at a time to one value.
    #[schemars(title = "POLYVAL")]
    pub polyval: GhashSpec,
    /// Key expansion, from a key to the round keys that the lanes use, once per key.
    #[schemars(title = "key setup", extend("relaxes" = "down"))]
    pub key_setup: Cycles,
    /// Bytes of a tag, 4 to 16: the draft registers 6, 12 and 14. A shorter tag is the beginning of a longer one.
    #[schemars(title = "tag length")]
    pub tag: Bytes,
    /// From the tag to the verdict.
    #[schemars(title = "tag comparison", extend("relaxes" = "down"))]
    pub compare: Cycles,
}

impl GcmSstSpec {
    /// Says whether such an engine can be built.
    pub fn check(&self) -> Result<(), SpecError> {
        if ![128, 256].contains(&self.key_bits) {
            return Err(SpecError::SchemeKeyBits { bits: self.key_bits, takes: "GCM-SST takes 128 or 256" });
        }
        self.aes.check()?;
        within("aes.start_interval", self.aes.start_interval.0, 0, self.aes.latency(aes_rounds(self.key_bits)) + 1)?;
        within("key_setup", self.key_setup.0, 0, LONGEST)?;
        Scheme::GcmSst.check_spec_tag("GCM-SST", self.tag)?;
        within("compare", self.compare.0, 0, LONGEST)?;
        self.polyval.check_polyval("GCM-SST")
    }

    /// An engine for tests and benchmarks: lanes and multipliers of [`GcmSpec::four_lanes`], with tags of 12 bytes.
    pub fn four_lanes() -> Self {
        let GcmSpec { key_bits, aes, ghash: polyval, key_setup, compare, .. } = GcmSpec::four_lanes();
        Self { key_bits, aes, polyval, key_setup, tag: Bytes(12), compare }
    }
}

impl Model for &GcmSstSpec {
    fn check(&self) -> Result<(), SpecError> {
        GcmSstSpec::check(self)
    }

    fn compare(&self) -> Cycles {
        self.compare
    }

    fn key_bits(&self) -> u32 {
        self.key_bits
    }

    fn scheme(&self) -> Option<Scheme> {
        Some(Scheme::GcmSst)
    }

    fn tag_bytes(&self) -> u64 {
        self.tag.0
    }

    fn registers(&self) -> Option<Box<dyn Registers>> {
        Some(Box::new(datapath::Datapath::new(self).ok()?))
    }

    fn hardware(&self) -> Hardware {
        let (aes, ghash) = (self.aes.clone(), self.polyval.clone());
        let (rounds, expansion) = (aes_rounds(self.key_bits), self.key_setup.0);
        Hardware::Lanes { aes, rounds, ghash, buffer: None, expansion, narrow: None, control: None }
    }

    /// A forgery under a nonce that sealed m blocks passes if the difference of both hashes, of degree m in H, is zero, and otherwise if its product by H2,
    /// which may be any, begins with the t bits of the tags' difference: m / 2^128 + 1 / 2^t at most (Nyberg, Gilbert and Robshaw, "Galois MAC with forgery
    /// probability close to ideal", 2005). Under another nonce it passes with 1 / 2^t.
    fn attempt_log2(&self, message_bytes: u64) -> f64 {
        let root = message_bytes.div_ceil(16) as f64 * (-128_f64).exp2();
        (root + (-8.0 * self.tag.0 as f64).exp2()).log2()
    }

    /// H and H2 are keystream of the nonce.
    fn after_success(&self) -> AfterSuccess {
        AfterSuccess::AsBefore
    }
}

/// The bytes: no crate offers them whole, so that both ends of a path have the same.
pub const WIRE: Wire = Wire {
    listed: "AES-GCM-SST",
    engine: "gcm-sst",
    key_bytes: &[16, 32],
    nonce_bytes: 12,
    tag_bytes: &[16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4],
    seal: |key, nonce, aad, text| {
        let mut message = stream::GcmSstMessage::new(key, nonce, aad, SealOpen::Seal)?;
        (text.len() as u64 <= LONGEST_TEXT).then(|| message.update(text))?;
        Some(message.tag())
    },
    open: |key, nonce, aad, text, tag| {
        let mut message = stream::GcmSstMessage::new(key, nonce, aad, SealOpen::Open)?;
        message.update(text);
        (message.tag() == tag).then_some(())
    },
    message: |key, nonce, _, direction| Some(Box::new(stream::GcmSstMessage::new(key, nonce, &[], direction)?)),
};

#[derive(Debug, Clone)]
pub struct GcmSstTiming {
    key_setup: u64,
    compare: u64,
    /// Latency of the product by H2.
    product: u64,
    flow: Flow,
    lanes: Lanes,
    polyval: TimingModel,
    /// When the message started, and when its H2 and its mask are valid.
    start: u64,
    h2: u64,
    mask: u64,
    /// When POLYVAL's value is known where it takes no block: with the powers of H.
    empty: Option<u64>,
    aad: Extent,
    text: Passing,
}

impl GcmSstTiming {
    pub fn new(spec: &GcmSstSpec) -> Result<Self, SpecError> {
        spec.check()?;
        let (ports, depth) = (spec.aes.lanes.into(), spec.aes.keystream_blocks.into());
        let flow = Flow { ports, unit: 1, depth, hashing: Hashing::Nowhere };
        Ok(Self {
            key_setup: spec.key_setup.0,
            compare: spec.compare.0,
            product: spec.polyval.multiplier().latency(),
            flow,
            lanes: Lanes::new(&spec.aes, aes_rounds(spec.key_bits)),
            polyval: TimingModel::of_family(&spec.polyval),
            start: 0,
            h2: 0,
            mask: 0,
            empty: None,
            aad: Extent::default(),
            text: Passing::new(flow, 0),
        })
    }
}

impl SchemeTiming for GcmSstTiming {
    fn load_key(&self, at: u64) -> u64 {
        at + self.key_setup
    }

    fn begin(&mut self, at: u64, shape: &Shape) -> u64 {
        self.lanes.restart();
        let [h, h2, mask] = [(); SUBKEYS as usize].map(|()| self.lanes.result(at));
        (self.start, self.h2, self.mask) = (at, h2, mask);
        let powers = h + self.polyval.power_setup();
        let blocks = shape.aad_blocks() + shape.text_blocks();
        self.empty = (blocks == 0).then_some(powers);
        if blocks > 0 {
            self.polyval.begin(powers, blocks);
        }
        self.aad = absorb(&mut self.polyval, shape.aad_blocks());
        let hashing = if shape.direction == SealOpen::Seal { Hashing::Output } else { Hashing::Input };
        self.text = Passing::new(Flow { hashing, ..self.flow }, at);
        powers
    }

    fn take(&mut self, visible: u64, blocks: u64) -> Burst {
        let Self { lanes, polyval, start, text, .. } = self;
        Burst::of(blocks, || text.take(visible, Some((&mut *lanes, *start)), polyval))
    }

    fn end(&mut self) -> Dates {
        let known = self.empty.unwrap_or_else(|| self.polyval.known());
        let tag = (known.max(self.h2) + self.product).max(self.mask) + 1;
        Dates::of(self.aad, self.text.extent(), tag, self.compare)
    }
}
