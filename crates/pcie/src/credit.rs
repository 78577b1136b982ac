//! Flow-control credits: classes, what a TLP costs, and the counters of both ends of a link.
//!
//! ```text
//!   transmitter                          receiver
//!   limit ◄──────── UpdateFC ─────────── allocated
//!   consumed                             (grows as buffers drain)
//! ```
//!
//! A header credit is one header with its digest, a data credit 16 bytes. Counters run modulo 2^8 (headers) and 2^12
//! (data), times the scale; a TLP may go while (limit - (consumed + need)) mod 2^n is at most half the range, so at
//! most 127 headers and 2047 data credits per unit of scale are of use. An advertised 0 at initialisation is infinite.

use serde::{Deserialize, Serialize};

pub const DATA_CREDIT_BYTES: u32 = 16;
pub const HEADER_BITS: u32 = 8;
pub const DATA_BITS: u32 = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum CreditClass {
    /// Memory writes and messages.
    #[serde(rename = "P")]
    Posted,
    /// Reads, atomics, configuration, I/O and deferrable writes.
    #[serde(rename = "NP")]
    NonPosted,
    #[serde(rename = "CPL")]
    Completion,
}

/// What a TLP consumes at the receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credits {
    #[serde(rename = "type")]
    pub class: CreditClass,
    /// Header credits: always 1.
    #[serde(rename = "hdr")]
    pub headers: u32,
    /// Data credits, units of 16 bytes.
    pub data: u32,
}

impl Credits {
    /// Credits of a TLP with `payload_dw` DW of data.
    #[inline]
    pub const fn of(class: CreditClass, payload_dw: u32) -> Self {
        Self { class, headers: 1, data: payload_dw.div_ceil(DATA_CREDIT_BYTES / 4) }
    }
}

/// Scale of a credit field, agreed by the Data Link Feature exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Scale {
    /// Scaled flow control is not in use.
    #[default]
    #[serde(rename = "SF0")]
    Off,
    #[serde(rename = "SF1")]
    One,
    #[serde(rename = "SF4")]
    Four,
    #[serde(rename = "SF16")]
    Sixteen,
}

impl Scale {
    /// From the two bits of the DLLP; further bits are ignored.
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::Off,
            1 => Self::One,
            2 => Self::Four,
            _ => Self::Sixteen,
        }
    }

    /// The two bits in the DLLP.
    pub const fn bits(self) -> u8 {
        self as u8
    }

    /// Low bits of a counter that the field does not carry.
    #[inline]
    pub const fn shift(self) -> u32 {
        match self {
            Self::Off | Self::One => 0,
            Self::Four => 2,
            Self::Sixteen => 4,
        }
    }

    /// The smallest scale with which `credits` can be advertised in a field of `field_bits`, if there is one.
    pub fn smallest(credits: u32, field_bits: u32) -> Option<Self> {
        let usable = (1 << (field_bits - 1)) - 1;
        [Self::One, Self::Four, Self::Sixteen].into_iter().find(|scale| credits >> scale.shift() <= usable)
    }
}

/// The transmitter's side of one pool, headers or data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransmitCredits {
    limit: u32,
    consumed: u32,
    bits: u32,
    shift: u32,
    infinite: bool,
}

impl TransmitCredits {
    /// From the field of an InitFC DLLP: 0 is infinite. `field_bits` is [`HEADER_BITS`] or [`DATA_BITS`].
    pub const fn new(advertised: u32, field_bits: u32, scale: Scale) -> Self {
        let shift = scale.shift();
        Self { limit: advertised << shift, consumed: 0, bits: field_bits + shift, shift, infinite: advertised == 0 }
    }

    const fn mask(&self) -> u32 {
        (1 << self.bits) - 1
    }

    #[inline]
    pub const fn allows(&self, need: u32) -> bool {
        let left = self.limit.wrapping_sub(self.consumed.wrapping_add(need)) & self.mask();
        self.infinite || left <= 1 << (self.bits - 1)
    }

    /// Spends `need` credits; ask [`Self::allows`] first.
    #[inline]
    pub const fn consume(&mut self, need: u32) {
        self.consumed = self.consumed.wrapping_add(need) & self.mask();
    }

    /// Takes the field of an UpdateFC DLLP. Infinite pools stay infinite.
    #[inline]
    pub const fn update(&mut self, field: u32) {
        self.limit = field << self.shift & self.mask();
    }

    /// Credits left, or none if infinite.
    #[inline]
    pub const fn left(&self) -> Option<u32> {
        if self.infinite { None } else { Some(self.limit.wrapping_sub(self.consumed) & self.mask()) }
    }
}

/// The receiver's side of one pool, headers or data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceiveCredits {
    allocated: u32,
    received: u32,
    bits: u32,
    shift: u32,
    infinite: bool,
}

impl ReceiveCredits {
    /// A buffer of `credits`; 0 is infinite.
    pub const fn new(credits: u32, field_bits: u32, scale: Scale) -> Self {
        let shift = scale.shift();
        // What the field cannot express is not promised.
        let allocated = credits >> shift << shift;
        Self { allocated, received: 0, bits: field_bits + shift, shift, infinite: credits == 0 }
    }

    const fn mask(&self) -> u32 {
        (1 << self.bits) - 1
    }

    /// Counts what a TLP took and says whether it was promised; if not, the transmitter broke the protocol.
    #[inline]
    pub const fn receive(&mut self, need: u32) -> bool {
        self.received = self.received.wrapping_add(need) & self.mask();
        self.infinite || self.allocated.wrapping_sub(self.received) & self.mask() <= 1 << (self.bits - 1)
    }

    /// Buffer space of `credits` has drained.
    #[inline]
    pub const fn free(&mut self, credits: u32) {
        self.allocated = self.allocated.wrapping_add(credits) & self.mask();
    }

    /// The field of the next InitFC or UpdateFC DLLP; 0 for an infinite pool.
    #[inline]
    pub const fn field(&self) -> u32 {
        if self.infinite { 0 } else { (self.allocated & self.mask()) >> self.shift }
    }

    /// Whether the pool is infinite, so that it needs no updates.
    #[inline]
    pub const fn infinite(&self) -> bool {
        self.infinite
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_last_credit_may_go_and_one_more_may_not() {
        let mut pool = TransmitCredits::new(2, HEADER_BITS, Scale::One);
        pool.consume(1);
        assert!(pool.allows(1));
        assert!(!pool.allows(2));
        pool.consume(1);
        assert!(!pool.allows(1));
        pool.update(3);
        assert!(pool.allows(1));
        assert!(!pool.allows(2));
    }

    #[test]
    fn an_advertised_zero_is_infinite_and_stays_so() {
        let mut pool = TransmitCredits::new(0, DATA_BITS, Scale::Off);
        for _ in 0..10_000 {
            assert!(pool.allows(256));
            pool.consume(256);
        }
        assert_eq!(pool.left(), None);
    }

    #[test]
    fn a_scale_is_the_smallest_that_can_advertise() {
        assert_eq!(Scale::smallest(127, HEADER_BITS), Some(Scale::One));
        assert_eq!(Scale::smallest(128, HEADER_BITS), Some(Scale::Four));
        assert_eq!(Scale::smallest(2047 * 4 + 3, DATA_BITS), Some(Scale::Four));
        assert_eq!(Scale::smallest(2048 * 4, DATA_BITS), Some(Scale::Sixteen));
        assert_eq!(Scale::smallest(2048 * 16, DATA_BITS), None);
    }

    #[test]
    fn a_receiver_notices_a_tlp_that_was_not_promised() {
        let mut buffer = ReceiveCredits::new(4, HEADER_BITS, Scale::One);
        assert!((0..4).all(|_| buffer.receive(1)));
        assert!(!buffer.receive(1));
    }

    proptest! {
        /// A plain count without wrapping is the oracle, over several turns of the counters.
        #[test]
        fn counters_agree_with_plain_counting(
            size in 16u32..=127,
            scale in prop::sample::select(vec![Scale::Off, Scale::One, Scale::Four, Scale::Sixteen]),
            steps in prop::collection::vec((1u32..=16, any::<bool>()), 1..600),
        ) {
            let size = size << scale.shift();
            let mut receiver = ReceiveCredits::new(size, HEADER_BITS, scale);
            let mut sender = TransmitCredits::new(receiver.field(), HEADER_BITS, scale);
            let (mut promised, mut sent, mut freed) = (size as u64, 0u64, 0u64);
            for (need, drain) in steps {
                let may = sent + u64::from(need) <= promised;
                prop_assert_eq!(sender.allows(need), may);
                if may {
                    sender.consume(need);
                    prop_assert!(receiver.receive(need));
                    sent += u64::from(need);
                }
                if drain {
                    receiver.free((sent - freed) as u32);
                    freed = sent;
                    sender.update(receiver.field());
                    promised = (u64::from(size) + freed) >> scale.shift() << scale.shift();
                }
            }
        }
    }
}
