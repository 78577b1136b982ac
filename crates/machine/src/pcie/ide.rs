//! What a TLP weighs on a link with IDE: DW on the wire, blocks in the engine, and what a flipped bit does to its MAC.
//!
//! The bytes themselves, and what is not confirmed about them, are in [`wire::ide`](super::wire::ide). A running machine writes them
//! out where a fault touches a protected TLP; those that nothing touches pass by construction.

use super::{
    packet::{Kind, Tlp},
    wire::ide::{IdeError, Opener, PCRC_BYTES, PREFIX_BYTES, Protection, Sealer, SubStream},
};
use crate::gcm::bulk::Key;

/// Bytes of a block.
const BLOCK: u32 = 16;

/// The sub-stream that a TLP belongs to.
pub const fn sub_stream(kind: Kind) -> SubStream {
    match kind {
        Kind::Write => SubStream::Posted,
        Kind::Read => SubStream::NonPosted,
        Kind::Completion | Kind::Unsupported => SubStream::Completion,
    }
}

/// Blocks that a TLP costs the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    /// AES: keystream for the text, and the mask of the MAC.
    pub aes: u32,
    /// GHASH: products over AAD, text and the length block.
    pub ghash: u32,
}

/// The GCM message that has no MAC yet.
#[derive(Debug, Clone, Copy, Default)]
pub struct Aggregate {
    pub tlps: u32,
    aad_bytes: u32,
    text_bytes: u32,
}

impl Aggregate {
    /// Whether anything in it, or `tlp` as its next, carries data: what a PCRC can be over.
    pub const fn has_data_with(&self, tlp: &Tlp) -> bool {
        self.text_bytes > 0 || tlp.payload_dw() > 0
    }

    /// Adds a TLP with its mark; gives what it costs. A MAC ends the message.
    pub fn add(&mut self, tlp: &Tlp) -> Work {
        let (aad, text) = (self.aad_bytes.div_ceil(BLOCK), self.text_bytes.div_ceil(BLOCK));
        self.tlps += 1;
        self.aad_bytes += PREFIX_BYTES as u32 + tlp.header_dw() * 4;
        self.text_bytes += tlp.payload_dw() * 4 + if tlp.ide.pcrc() { PCRC_BYTES as u32 } else { 0 };
        let (aad, text) = (self.aad_bytes.div_ceil(BLOCK) - aad, self.text_bytes.div_ceil(BLOCK) - text);
        let close = u32::from(tlp.ide.mac());
        if tlp.ide.mac() {
            *self = Self::default();
        }
        Work { aes: text + close, ghash: aad + text + close }
    }
}

/// A part of the engine that takes `width` blocks per cycle.
#[derive(Debug, Clone, Copy)]
pub struct Lanes {
    width: u64,
    /// When it is free, in parts of `1 / width` of a cycle.
    free: u64,
}

impl Lanes {
    /// Free from the start.
    pub fn new(width: u32) -> Self {
        Self { width: u64::from(width.max(1)), free: 0 }
    }

    /// The cycle in which it is free.
    pub const fn free_in(&self) -> u64 {
        self.free / self.width
    }

    pub fn start(&mut self, cycle: u64, blocks: u32) {
        self.free = self.free.max(cycle * self.width) + u64::from(blocks);
    }

    /// Works on `blocks` while they arrive; the last of them has come at `cycle`. Gives the cycle in which the
    /// last is taken.
    pub fn follow(&mut self, cycle: u64, blocks: u32) -> u64 {
        self.free = (self.free + u64::from(blocks)).max(cycle * self.width);
        self.free / self.width
    }
}

/// Whether the MAC over `tlps`, the `counter`-th of their sub-stream, is still right after their bits were flipped: they are sealed as
/// they were sent, flipped, and opened. The key is one of its own for each sub-stream and direction.
pub fn authentic(tlps: &[&Tlp], from_host: bool, counter: u64) -> bool {
    let Some(first) = tlps.first() else { return true };
    let sub_stream = sub_stream(first.kind);
    let mut raw = [0x49; 32];
    raw[0] = sub_stream.number();
    raw[1] = from_host as u8;
    let Ok(key) = Key::new(&raw) else { return false };
    let pcrc = tlps.iter().any(|tlp| tlp.ide.pcrc());
    let protection = Protection { key, stream: 0, sub_stream, pcrc };
    let (mut sealer, mut opener) = (Sealer::new(protection.clone(), counter), Opener::new(protection, counter));
    let opened = tlps.iter().try_fold(Vec::new(), |_, tlp| -> Result<_, IdeError> {
        let (header, length) = tlp.header();
        let mut sealed = tlp.with_whole_payload(|payload| sealer.seal(&header[..length], payload, 0, tlp.ide.mac()));
        if let Some(bit) = tlp.ide.flipped.checked_sub(1).map(usize::from)
            && let Some(byte) = sealed.get_mut(bit / 8)
        {
            *byte ^= 1 << (bit % 8);
        }
        opener.open(&sealed)
    });
    opened.is_ok_and(|plain| plain.len() == tlps.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pcie::{mark::Mark, packet::Payload};
    use proptest::prelude::*;

    fn tlp(kind: Kind, bytes: u32, mark: Mark) -> Tlp {
        let payload = Payload::of(vec![0x3c; bytes as usize]);
        Tlp { kind, payload, byte_count: bytes, ide: mark, ..Tlp::read(300, 1 << 40, bytes) }
    }

    fn aggregate(kind: Kind, bytes: u32, count: u32, pcrc: bool) -> Vec<Tlp> {
        (1..=count).map(|n| tlp(kind, bytes, Mark::new(n == count, pcrc && kind != Kind::Read))).collect()
    }

    const KINDS: [Kind; 4] = [Kind::Read, Kind::Write, Kind::Completion, Kind::Unsupported];

    fn any_aggregate() -> impl Strategy<Value = (Vec<Tlp>, bool)> {
        (prop::sample::select(KINDS.to_vec()), 1u32..=64, 1u32..=8, any::<bool>()).prop_map(
            |(kind, dw, count, pcrc)| {
                let pcrc = pcrc && matches!(kind, Kind::Write | Kind::Completion);
                let tlps = (1..=count).map(|n| tlp(kind, dw * 4, Mark::new(n == count, pcrc)));
                (tlps.collect(), pcrc)
            },
        )
    }

    proptest! {
        #[test]
        fn the_dw_are_those_of_the_bytes((tlps, pcrc) in any_aggregate()) {
            let key = Key::new(&[0; 32]).unwrap();
            let protection = Protection { key, stream: 0, sub_stream: sub_stream(tlps[0].kind), pcrc };
            let mut sealer = Sealer::new(protection, 1);
            for tlp in &tlps {
                let (header, length) = tlp.header();
                let sealed = tlp.with_whole_payload(|data| sealer.seal(&header[..length], data, 0, tlp.ide.mac()));
                prop_assert_eq!(sealed.len() as u32 + 8, tlp.wire_dw() * 4);
            }
        }

        #[test]
        fn a_flipped_bit_makes_the_mac_wrong_and_none_makes_it_right(
            (mut tlps, _) in any_aggregate(), which: prop::sample::Index, seed: u64, from_host: bool, counter in 1u64..,
        ) {
            let refer = |tlps: &[Tlp]| authentic(&tlps.iter().collect::<Vec<_>>(), from_host, counter);
            prop_assert!(refer(&tlps));
            let place = which.index(tlps.len());
            let bytes = (tlps[place].wire_dw() - 2) * 4;
            tlps[place].ide.flip(bytes, seed);
            prop_assert!(!refer(&tlps));
        }
    }

    #[test]
    fn a_write_of_256_bytes_with_its_own_mac_costs_17_blocks_and_19_products() {
        let work = |kind, bytes, count, pcrc| {
            let mut message = Aggregate::default();
            aggregate(kind, bytes, count, pcrc).iter().fold((0, 0), |(aes, ghash), tlp| {
                let work = message.add(tlp);
                (aes + work.aes, ghash + work.ghash)
            })
        };
        assert_eq!(work(Kind::Write, 256, 1, false), (17, 19));
        assert_eq!(work(Kind::Write, 256, 1, true), (18, 20));
        assert_eq!(work(Kind::Completion, 256, 1, false), (17, 18));
        assert_eq!(work(Kind::Read, 512, 1, false), (1, 3));
        // Eight headers with prefixes are 160 bytes, ten blocks.
        assert_eq!(work(Kind::Write, 256, 8, false), (129, 139));
    }

    #[test]
    fn lanes_take_their_width_in_every_cycle_and_no_more() {
        let mut lanes = Lanes::new(4);
        let mut starts = Vec::new();
        for _ in 0..4 {
            let cycle = lanes.free_in().max(10);
            starts.push(cycle);
            lanes.start(cycle, 17);
        }
        assert_eq!(starts, [10, 14, 18, 22]);
        assert_eq!(lanes.free_in(), 27);
        let mut lanes = Lanes::new(4);
        assert_eq!([10, 14, 18].map(|cycle| lanes.follow(cycle, 16)), [10, 14, 18]);
        assert_eq!([20, 22].map(|cycle| lanes.follow(cycle, 17)), [22, 26]);
    }

    #[test]
    fn marks_count_prefix_mac_and_pcrc() {
        assert_eq!(Mark::NONE.dw(), 0);
        for (mac, pcrc, dw) in [(false, false, 1), (false, true, 1), (true, false, 4), (true, true, 5)] {
            let mark = Mark::new(mac, pcrc);
            assert_eq!((mark.dw(), mark.mac(), mark.pcrc()), (dw, mac, mac && pcrc));
        }
        let mut mark = Mark::NONE;
        mark.flip(100, 7);
        assert!(!mark.flipped());
    }
}
