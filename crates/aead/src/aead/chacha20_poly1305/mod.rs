//! ChaCha20-Poly1305 (RFC 8439) in hardware.
//!
//! ```text
//!                  +-------------------------------------------------------+
//!   key, nonce --->| counters --> ChaCha20 lanes --+--> keystream FIFO     |
//!                  |                     block 0   v            |          |
//!                  |                 r, s, powers of r          |          |
//!   text --------->|------------------------------------------>(+)--> [reg]|----> text, one cycle later
//!                  |                    | open                     | seal  |
//!                  |                    +--> Poly1305 <------------+       |
//!                  |                            |--> carry, + s -----------|----> tag, verdict
//!                  +-------------------------------------------------------+
//! ```
//!
//! | | |
//! | --- | --- |
//! | accepts | up to 4 text blocks of 16 B per lane and cycle: a ChaCha20 block is 64 B |
//! | per message | block 0 gives r and s; the powers of r follow, per message, not per key as those of H |
//! | keystream ahead | yes: blocks 1, 2, ... follow block 0 into the lanes, up to `keystream_blocks` of 64 B ahead |
//! | Poly1305 | `ways` accumulators take blocks j, j + ways, ... times r^ways, as the interleaved GHASH unit with multipliers modulo 2^130 - 5: min(multipliers, ways / latency) blocks per cycle |
//! | tag | Poly1305 known, then `finish` cycles: the last carries, and s |
//! | next message | after text and tag of the one before |

mod stream;

use super::bytes::{Scheme, Wire, open_in, seal_in};
use super::flow::{Dates, Extent, Flow, Hashing, Lanes, Passing, absorb};
use super::model::{AfterSuccess, Hardware, Model};
use super::scheme_timing::{Burst, SchemeTiming};
use crate::gcm::ghash::{GhashTiming, TimingModel};
use crate::gcm::message::{SealOpen, Shape};
use crate::gcm::spec::{AesSpec, Closing, GhashSpec, LONGEST, MultiplierSpec, SpecError, within};
use crate::gcm::structure::Structure;
use crate::units::Cycles;
use chacha20poly1305::ChaCha20Poly1305;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const ROUNDS: u32 = 20;
/// Text blocks of 16 bytes that a ChaCha20 block covers.
const UNIT: u64 = 4;

/// A ChaCha20-Poly1305 engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChaCha20Poly1305Spec {
    /// The stream cipher's lanes.
    #[schemars(title = "ChaCha20")]
    pub chacha: ChaChaSpec,
    /// The authenticator.
    #[schemars(title = "Poly1305")]
    pub poly1305: Poly1305Spec,
    /// From the tag to the verdict.
    #[schemars(title = "tag comparison", extend("relaxes" = "down"))]
    pub compare: Cycles,
}

/// ChaCha20 lanes, each of which makes 64 bytes of keystream at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChaChaSpec {
    /// Independent lanes.
    #[schemars(title = "lanes", extend("relaxes" = "up"))]
    pub lanes: u32,
    /// Rounds in hardware per lane, of 20; a block passes through them `ceil(20 / rounds_in_hardware)` times.
    #[schemars(title = "rounds in hardware per lane", extend("relaxes" = "up"))]
    pub rounds_in_hardware: u32,
    /// Pipeline registers per round (0: all rounds in hardware settle within one cycle). A round has four additions behind each other.
    #[schemars(title = "registers per round", extend("relaxes" = "down"))]
    pub registers_per_round: u32,
    /// Least cycles between two blocks that enter one lane, beyond what the passes already impose.
    #[schemars(title = "start interval of a lane", extend("relaxes" = "down"))]
    pub start_interval: Cycles,
    /// Keystream blocks of 64 bytes that may be made ahead of the data.
    #[schemars(title = "keystream blocks ahead", extend("relaxes" = "up"))]
    pub keystream_blocks: u32,
}

/// Poly1305 in the structure of an interleaved GHASH unit, over integers modulo 2^130 - 5.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Poly1305Spec {
    /// Accumulators, and powers of r that are made for each message.
    #[schemars(title = "accumulators", extend("relaxes" = "up"))]
    pub ways: u32,
    /// Multipliers that the accumulators share; each takes a pair per cycle.
    #[schemars(title = "multipliers", extend("relaxes" = "up"))]
    pub multipliers: u32,
    /// How the accumulators are brought together.
    #[schemars(title = "way of closing")]
    pub closing: Closing,
    /// Latency of a product of 130-bit integers.
    #[schemars(title = "product latency", extend("relaxes" = "down"))]
    pub product: Cycles,
    /// Latency of its partial reduction modulo 2^130 - 5.
    #[schemars(title = "reduction latency", extend("relaxes" = "down"))]
    pub reduction: Cycles,
    /// From the sum to the tag: the last carries, and the addition of s.
    #[schemars(title = "latency from sum to tag", extend("relaxes" = "down"))]
    pub finish: Cycles,
}

impl ChaChaSpec {
    /// In the terms of block cipher lanes.
    fn lanes(&self) -> AesSpec {
        AesSpec {
            lanes: self.lanes,
            rounds_in_hardware: self.rounds_in_hardware,
            registers_per_round: self.registers_per_round,
            start_interval: self.start_interval,
            keystream_blocks: self.keystream_blocks,
        }
    }
}

impl Poly1305Spec {
    /// In the terms of GHASH units.
    fn unit(&self) -> GhashSpec {
        let multiplier = MultiplierSpec {
            product: self.product,
            reduction: self.reduction,
            digit_bits: 128,
            structure: Structure::Schoolbook,
        };
        let &Self { ways, multipliers, closing, .. } = self;
        GhashSpec::Interleaved { ways, multipliers, closing, multiplier }
    }
}

impl ChaCha20Poly1305Spec {
    /// Says whether such an engine can be built.
    pub fn check(&self) -> Result<(), SpecError> {
        let (chacha, poly1305) = (&self.chacha, &self.poly1305);
        within("chacha.lanes", chacha.lanes.into(), 1, 256)?;
        within("chacha.rounds_in_hardware", chacha.rounds_in_hardware.into(), 1, ROUNDS.into())?;
        within("chacha.registers_per_round", chacha.registers_per_round.into(), 0, 64)?;
        within("chacha.start_interval", chacha.start_interval.0, 0, LONGEST)?;
        within("chacha.keystream_blocks", chacha.keystream_blocks.into(), 1, 1 << 20)?;
        within("poly1305.ways", poly1305.ways.into(), 1, 1024)?;
        within("poly1305.multipliers", poly1305.multipliers.into(), 1, 256)?;
        within("poly1305.product", poly1305.product.0, 0, LONGEST)?;
        within("poly1305.reduction", poly1305.reduction.0, 0, LONGEST)?;
        within("poly1305.product + reduction", poly1305.product.0 + poly1305.reduction.0, 1, 2 * LONGEST)?;
        within("poly1305.finish", poly1305.finish.0, 0, LONGEST)?;
        within("compare", self.compare.0, 0, LONGEST)
    }
}

impl Model for &ChaCha20Poly1305Spec {
    fn check(&self) -> Result<(), SpecError> {
        ChaCha20Poly1305Spec::check(self)
    }

    fn compare(&self) -> Cycles {
        self.compare
    }

    fn key_bits(&self) -> u32 {
        256
    }

    fn scheme(&self) -> Option<Scheme> {
        Some(Scheme::ChaCha20Poly1305)
    }

    fn hardware(&self) -> Hardware {
        Hardware::Unknown("no published figure for ChaCha20 rounds or Poly1305 multipliers in gates")
    }

    /// At most 8 ceil(bytes / 16) / 2^106 (Bernstein, "The Poly1305-AES message-authentication code", 2005), with a block of lengths.
    fn attempt_log2(&self, message_bytes: u64) -> f64 {
        let blocks = message_bytes.div_ceil(16) + 1;
        (8.0 * blocks as f64).log2() - 106.0
    }

    /// The key of Poly1305 is one-time (RFC 8439).
    fn after_success(&self) -> AfterSuccess {
        AfterSuccess::AsBefore
    }
}

/// The bytes, by the crate `chacha20poly1305`.
pub const WIRE: Wire = Wire {
    listed: "CHACHA20-POLY1305",
    engine: "chacha20-poly1305",
    key_bytes: &[32],
    nonce_bytes: 12,
    tag_bytes: &[16],
    seal: seal_in::<ChaCha20Poly1305>,
    open: open_in::<ChaCha20Poly1305>,
    message: |key, nonce, _, direction| Some(Box::new(stream::ChaChaMessage::new(key.raw(), nonce, direction)?)),
};

#[derive(Debug, Clone)]
pub struct ChaChaTiming {
    compare: u64,
    finish: u64,
    ports: u64,
    depth: u64,
    lanes: Lanes,
    poly1305: TimingModel,
    start: u64,
    text: Passing,
    aad: Extent,
}

impl ChaChaTiming {
    pub fn new(spec: &ChaCha20Poly1305Spec) -> Result<Self, SpecError> {
        spec.check()?;
        let (ports, depth) = (UNIT * u64::from(spec.chacha.lanes), spec.chacha.keystream_blocks.into());
        let flow = Flow { ports, unit: UNIT, depth, hashing: Hashing::Nowhere };
        Ok(Self {
            compare: spec.compare.0,
            finish: spec.poly1305.finish.0,
            ports,
            depth,
            lanes: Lanes::new(&spec.chacha.lanes(), ROUNDS),
            poly1305: TimingModel::of_family(&spec.poly1305.unit()),
            start: 0,
            text: Passing::new(flow, 0),
            aad: Extent::default(),
        })
    }
}

impl SchemeTiming for ChaChaTiming {
    /// The key needs no set-up.
    fn load_key(&self, at: u64) -> u64 {
        at
    }

    fn begin(&mut self, at: u64, shape: &Shape) -> u64 {
        self.lanes.restart();
        let one_time_key = self.lanes.result(at);
        let powers = one_time_key + self.poly1305.power_setup();
        self.poly1305.begin(powers, shape.ghash_blocks());
        self.aad = absorb(&mut self.poly1305, shape.aad_blocks());
        let hashing = if shape.direction == SealOpen::Seal { Hashing::Output } else { Hashing::Input };
        self.text = Passing::new(Flow { ports: self.ports, unit: UNIT, depth: self.depth, hashing }, at);
        self.start = at;
        powers
    }

    fn take(&mut self, visible: u64, blocks: u64) -> Burst {
        let Self { lanes, poly1305, start, text, .. } = self;
        Burst::of(blocks, || text.take(visible, Some((&mut *lanes, *start)), poly1305))
    }

    fn end(&mut self) -> Dates {
        absorb(&mut self.poly1305, 1);
        let tag = self.poly1305.known() + self.finish;
        Dates::of(self.aad, self.text.extent(), tag, self.compare)
    }
}
