//! AEGIS in hardware: a state of AES blocks per lane that is cipher and authenticator at once.
//!
//! ```text
//!             lane 0 ... D - 1:   S0    S1    S2    S3    S4    S5    (AEGIS-128L: S6, S7)
//!                                  |     |     |     |     |     |
//!    +-----------------------------|-----|-----|-----|-----|-----|---+
//!    |   M --(+)                   v     v     v     v     v     v   |
//!    |        +--> [AES round x 6, each of its left neighbour's block, r cycles] --+
//!    |                  (S5 to S0) ^                                 |             |
//!    +-------------------------------------------------------------- | <-----------+
//!   text ---->(+) S1 ^ S4 ^ S5 ^ (S2 & S3) ---> [register] ----> text, one cycle later
//! ```
//!
//! | | AEGIS-256, -256X | AEGIS-128L, -128X |
//! | --- | --- | --- |
//! | state of a lane | 6 blocks | 8 blocks |
//! | key, nonce | 32, 32 bytes | 16, 16 bytes |
//! | an update takes | 16 x `lanes` bytes, into S0 | 32 x `lanes` bytes, into S0 and S4 |
//! | first updates | 16 | 10 |
//!
//! | | |
//! | --- | --- |
//! | accepts | what an update takes, per `round` cycles: an update must end before the next begins, and needs the text |
//! | start | a cycle to load key, nonce and constants; the first updates |
//! | output | one cycle after a block is taken |
//! | tail | 7 updates after the last one of the text, the XOR of all blocks into a register: 8 x `round` cycles from the last output to the tag |
//! | keystream ahead | none: each update takes the text before |
//! | key set-up | none |
//! | next message | when the tag is valid: a lane has one state |
//!
//! With a AAD and t text updates and f first ones, from the start of a message: first input 1 + f r, first output 2 + (f + a) r,
//! last output 2 + (f - 1 + a + t) r, tag 2 + (f + 7 + a + t) r, if the text is there. Nothing else makes it wait: there is no FIFO and no credit.
//! [`datapath`] is the same with its registers.

pub mod datapath;
mod stream;

use super::bytes::{Scheme, Wire};
use super::flow::Dates;
use super::model::{AfterSuccess, Hardware, Model, Registers};
use super::scheme_timing::{Burst, SchemeTiming};
use crate::gcm::message::Shape;
use crate::gcm::spec::{AesSpec, LONGEST, SpecError, within};
use crate::gcm::timing::{Limit, Waits};
use crate::units::{Bytes, Cycles};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stream::AegisMessage;

/// Updates that mix the lengths in.
pub const LAST_UPDATES: u64 = 7;

/// The two sizes of the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// AEGIS-128L and AEGIS-128X.
    Long128,
    /// AEGIS-256 and AEGIS-256X.
    Wide256,
}

impl Form {
    /// Blocks of the state of a lane.
    pub const fn blocks(self) -> usize {
        match self {
            Self::Long128 => 8,
            Self::Wide256 => 6,
        }
    }

    /// Blocks of text that an update takes in a lane.
    pub const fn words(self) -> usize {
        match self {
            Self::Long128 => 2,
            Self::Wide256 => 1,
        }
    }

    /// Bytes of a key, and of a nonce.
    pub const fn key_bytes(self) -> u32 {
        match self {
            Self::Long128 => 16,
            Self::Wide256 => 32,
        }
    }

    /// Updates that mix key and nonce into the state.
    pub const fn first_updates(self) -> u64 {
        match self {
            Self::Long128 => 10,
            Self::Wide256 => 16,
        }
    }
}

/// An AEGIS engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AegisSpec {
    /// States side by side: 1, or 2 and 4 of the wider forms, such as AEGIS-256X2 and AEGIS-256X4.
    #[schemars(title = "AEGIS states side by side", extend("relaxes" = "up"))]
    pub lanes: u32,
    /// Latency of an AES round, and so of an update: all rounds of a lane are side by side.
    #[schemars(title = "AEGIS round latency", extend("relaxes" = "down"))]
    pub round: Cycles,
    /// Bytes of a tag: 16, if absent, or 32. The longer one is the same state in two sums, in the same cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "tag length")]
    pub tag: Option<Bytes>,
    /// From the tag to the verdict.
    #[schemars(title = "tag comparison", extend("relaxes" = "down"))]
    pub compare: Cycles,
}

impl AegisSpec {
    pub fn tag_bytes(&self) -> u64 {
        self.tag.map_or(16, |tag| tag.0)
    }

    /// Says whether such an engine can be built.
    pub fn check(&self) -> Result<(), SpecError> {
        if ![1, 2, 4].contains(&self.lanes) {
            return Err(SpecError::Lanes(self.lanes));
        }
        Scheme::Aegis256.check_spec_tag("AEGIS", Bytes(self.tag_bytes()))?;
        within("round", self.round.0, 1, LONGEST)?;
        within("compare", self.compare.0, 0, LONGEST)
    }
}

/// An AEGIS engine of one of the forms.
#[derive(Debug, Clone, Copy)]
pub struct Aegis<'a> {
    pub form: Form,
    pub spec: &'a AegisSpec,
}

impl Aegis<'_> {
    /// Bytes of text that an update takes.
    pub const fn width(self) -> u64 {
        16 * self.form.words() as u64 * self.spec.lanes as u64
    }
}

impl Model for Aegis<'_> {
    fn check(&self) -> Result<(), SpecError> {
        self.spec.check()
    }

    fn compare(&self) -> Cycles {
        self.spec.compare
    }

    fn key_bits(&self) -> u32 {
        8 * self.form.key_bytes()
    }

    fn scheme(&self) -> Option<Scheme> {
        let [one, two, four] = match self.form {
            Form::Wide256 => [Scheme::Aegis256, Scheme::Aegis256X2, Scheme::Aegis256X4],
            Form::Long128 => [Scheme::Aegis128L, Scheme::Aegis128X2, Scheme::Aegis128X4],
        };
        match self.spec.lanes {
            1 => Some(one),
            2 => Some(two),
            4 => Some(four),
            _ => None,
        }
    }

    fn tag_bytes(&self) -> u64 {
        self.spec.tag_bytes()
    }

    fn block_bytes(&self) -> u64 {
        self.width()
    }

    fn registers(&self) -> Option<Box<dyn Registers>> {
        Some(Box::new(datapath::Datapath::new(*self).ok()?))
    }

    fn hardware(&self) -> Hardware {
        let (form, &AegisSpec { lanes, round, .. }) = (self.form, self.spec);
        let blocks = form.blocks() as u32;
        let rounds = AesSpec {
            lanes: blocks * lanes,
            rounds_in_hardware: 1,
            registers_per_round: round.0.clamp(1, 64) as u32,
            start_interval: Cycles(1),
            keystream_blocks: 1,
        };
        Hardware::State { rounds, lanes, blocks, words: form.words() as u32, round, held_bits: 16 * form.key_bytes() }
    }

    /// Nothing is proved: 2^-t for a tag of t bits is the designers' claim.
    fn attempt_log2(&self, _: u64) -> f64 {
        -8.0 * self.spec.tag_bytes() as f64
    }

    /// The whole state is made anew from key and nonce; a difference that cancelled in one is not known to cancel in another.
    fn after_success(&self) -> AfterSuccess {
        AfterSuccess::AsClaimed
    }
}

/// The bytes of one of the forms with so many lanes, by the crate `aegis`.
macro_rules! wire {
    ($row:ident, $cipher:path, $form:expr, $lanes:literal, $listed:literal, $engine:literal) => {
        #[doc = $listed]
        pub const $row: Wire = Wire {
            listed: $listed,
            engine: $engine,
            key_bytes: &[$form.key_bytes() as usize],
            nonce_bytes: $form.key_bytes() as usize,
            tag_bytes: &[16, 32],
            seal: |key, nonce, aad, text| {
                use $cipher as Cipher;
                let (tag_bytes, key, nonce) =
                    (key.format().tag_bytes(), key.raw().try_into().ok()?, nonce.try_into().ok()?);
                Some(match tag_bytes {
                    32 => Cipher::<32>::new(key, nonce).encrypt_in_place(text, aad).to_vec(),
                    _ => Cipher::<16>::new(key, nonce).encrypt_in_place(text, aad).to_vec(),
                })
            },
            open: |key, nonce, aad, text, tag| {
                use $cipher as Cipher;
                let (key, nonce) = (key.raw().try_into().ok()?, nonce.try_into().ok()?);
                match <&[u8; 32]>::try_from(tag) {
                    Ok(tag) => Cipher::<32>::new(key, nonce).decrypt_in_place(text, tag, aad).ok(),
                    Err(_) => Cipher::<16>::new(key, nonce).decrypt_in_place(text, tag.try_into().ok()?, aad).ok(),
                }
            },
            message: |key, nonce, _, direction| Some(Box::new(AegisMessage::new($form, $lanes, key, nonce, direction))),
        };
    };
}

wire!(AEGIS_256, aegis::aegis256::Aegis256, Form::Wide256, 1, "AEGIS256", "aegis-256");
wire!(AEGIS_256X2, aegis::aegis256x2::Aegis256X2, Form::Wide256, 2, "AEGIS256X2", "aegis-256x2");
wire!(AEGIS_256X4, aegis::aegis256x4::Aegis256X4, Form::Wide256, 4, "AEGIS256X4", "aegis-256x4");

wire!(AEGIS_128L, aegis::aegis128l::Aegis128L, Form::Long128, 1, "AEGIS128L", "aegis-128l");
wire!(AEGIS_128X2, aegis::aegis128x2::Aegis128X2, Form::Long128, 2, "AEGIS128X2", "aegis-128x2");
wire!(AEGIS_128X4, aegis::aegis128x4::Aegis128X4, Form::Long128, 4, "AEGIS128X4", "aegis-128x4");

#[derive(Debug, Clone)]
pub struct AegisTiming {
    form: Form,
    width: u64,
    round: u64,
    compare: u64,
    /// The cycle in which the next update may begin.
    next: u64,
    /// The last cycle in which text was taken.
    last: Option<u64>,
    dates: Dates,
}

impl AegisTiming {
    pub fn new(engine: Aegis<'_>) -> Result<Self, SpecError> {
        let Aegis { form, spec } = engine;
        spec.check()?;
        let (width, round, compare) = (engine.width(), spec.round.0, spec.compare.0);
        Ok(Self { form, width, round, compare, next: 0, last: None, dates: Dates::default() })
    }
}

impl SchemeTiming for AegisTiming {
    fn load_key(&self, at: u64) -> u64 {
        at
    }

    fn block_bytes(&self) -> u64 {
        self.width
    }

    fn begin(&mut self, at: u64, shape: &Shape) -> u64 {
        let mixed = at + 1 + self.form.first_updates() * self.round;
        let aad = shape.aad_bytes.div_ceil(self.width);
        let first_input = (aad > 0).then_some(mixed);
        (self.next, self.last) = (mixed + aad * self.round, None);
        self.dates = Dates { first_input, ..Dates::default() };
        self.next
    }

    fn take(&mut self, visible: u64, blocks: u64) -> Burst {
        let free = self.last.map_or(visible, |last| visible.max(last + 1));
        let first = free.max(self.next);
        let last = first + (blocks - 1) * self.round;
        (self.next, self.last) = (last + self.round, Some(last));
        self.dates.first_input.get_or_insert(first);
        self.dates.first_text.get_or_insert(first + 1);
        self.dates.last_text = Some(last + 1);
        // A state takes a block per cycle at best.
        let waited = first - free + (blocks - 1) * (self.round - 1);
        // Text that finds the block before it still in the state waits for nothing else.
        let limit = if waited > 0 || first > visible { Limit::Aes } else { Limit::Data };
        Burst { last, waits: Waits { aes: waited, ghash: 0 }, limit }
    }

    fn end(&mut self) -> Dates {
        self.dates.tag = self.next + LAST_UPDATES * self.round + 1;
        self.dates.verdict = self.dates.tag + self.compare;
        self.dates
    }
}
