//! What a run takes in energy on the GPU and its link, by part: actions that the run's accounts count, times what each takes.
//!
//! | part | action | how many | each takes |
//! | --- | --- | --- | --- |
//! | AES, GHASH | a byte sealed or opened on the GPU | bytes of the copies of each direction; with IDE payload of TLPs | [`Price`](super::Price)'s energies |
//! | buffers | a byte written and read again: held for its verdict, or for a second pass | bytes h2d under `hold` or `skid`; bytes d2h of AES-GCM-SIV, where its messages fit in its buffer | SRAM of that size, twice |
//! | | a tag, computed and fetched, in the tag queue | messages | SRAM, twice |
//! | link | a bit on the wire, both ends | tokens, headers, payload, CRCs, MACs, each time they are sent | [`LINK_BIT_PJ`] |
//! | device memory | a bit read or written | bytes of copies; within the GPU twice; with SMs that seal two more times; d2h a second time where the buffer is too small; h2d three times where it waits there | [`HBM_BIT_PJ`] |
//!
//! Nothing of it is simulated, and units know nothing of it. Left out: clock trees, wires between units, leakage, the host, and what a design changes in kernels. Under `skid` every byte counts as
//! held, which is the most.

use super::{
    Seen,
    price::{price, tag_bits},
};
use crate::{
    config::MachineSpec,
    cost::{
        Interval, sram_access,
        technology::{HBM_BIT_PJ, LINK_BIT_PJ},
    },
    system::{Direction, GpuOutcome},
};

/// Energy of a run in pJ, by part.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Energy {
    /// AES and GHASH, or what stands for them; none where no figure of them is known.
    pub engines: Option<Interval>,
    pub buffers: Interval,
    pub link: Interval,
    pub memory: Interval,
}

impl Energy {
    pub fn whole(&self) -> Option<Interval> {
        Some(self.engines? + self.buffers + self.link + self.memory)
    }
}

pub fn energy(seen: &Seen<'_>, machine: &MachineSpec) -> Energy {
    let bytes = |way: Direction| {
        let copies = seen.copies.iter().filter(|copy| copy.direction == way);
        copies.map(|copy| copy.bytes as f64).sum::<f64>()
    };
    let [h2d, d2h, within] = [Direction::H2d, Direction::D2h, Direction::D2d].map(bytes);
    let links = || seen.gpus.iter().flat_map(|gpu| [gpu.link.h2d, gpu.link.d2h]);
    let wire: f64 = links().map(|way| way.wire_bytes as f64).sum();
    let (cost, sealed) = (price(machine), machine.sealed_path());
    let by_way = |bytes: [f64; 2]| cost.energies.map(|[open, seal]| open * bytes[0] + seal * bytes[1]);
    let engines = if !machine.confidential_computing {
        Some(Interval::default())
    } else if sealed {
        by_way([h2d, d2h])
    } else {
        by_way([0, 1].map(|way| seen.gpus.iter().map(|gpu| payload(gpu, way)).sum()))
    };
    let on_sms = machine.sealing_sms().is_some();
    // A byte is written or read once; kernels that seal read and write it once more.
    let passes = if on_sms { 3.0 } else { 1.0 };
    let (mut moved, mut buffers) = ((h2d + d2h) * passes + 2.0 * within, Interval::default());
    let through = |room: u64, bytes: f64| sram_access(room) * (2.0 * bytes);
    if sealed && !on_sms {
        let messages: u64 = seen.copies.iter().map(|copy| copy.messages).sum();
        let tags = f64::from(2 * tag_bits(machine) / 8) * messages as f64;
        buffers = buffers + through(cost.tag_queue_capacity_bytes, tags);
        if machine.tag_queue.waits_in_memory() {
            moved += 2.0 * h2d;
        } else if machine.tag_queue.release.quarantines() {
            buffers = buffers + through(machine.charged_quarantine(), h2d);
        }
        if let Some(room) = machine.aead.as_ref().and_then(|aead| aead.model().buffer()) {
            let fits = machine.driver.pinned.message <= room;
            if fits { buffers = buffers + through(room.0, d2h) } else { moved += d2h }
        }
    }
    Energy { engines, buffers, link: LINK_BIT_PJ * (8.0 * wire), memory: HBM_BIT_PJ * (8.0 * moved) }
}

/// Payload on a GPU's link, to it or from it.
fn payload(gpu: &GpuOutcome, way: usize) -> f64 {
    [gpu.link.h2d, gpu.link.d2h][way].payload_bytes as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::Layers,
        figures::About,
        system::{Busiest, CopyOutcome, Memory},
        units::Femtos,
    };

    /// What a copy of 1 MiB takes on a machine with a design, by part, in pJ per byte; its link is not looked at.
    fn per_byte(design: &str, direction: Direction) -> Energy {
        of(Layers::new("h100-nvl-tdx").overlay(design), direction)
    }

    fn of(layers: Layers, direction: Direction) -> Energy {
        let machine = layers.resolve().unwrap().machine;
        let bytes = 1 << 20;
        let copy = CopyOutcome {
            gpu: 0,
            direction,
            bytes,
            memory: Memory::Pinned,
            start: Femtos::ZERO,
            end: Femtos(1),
            returned: Femtos(1),
            device: None,
            first_verified: None,
            messages: u64::from(machine.sealed_path()),
            tags_verified: 0,
            tags_failed: 0,
            completed: true,
            delivered: true,
            reason: None,
            busiest: Busiest::default(),
        };
        let about = About { machine: &machine, assumed: 0, alone: true, collectives: None };
        let seen = Seen { about: Some(about), ..Seen::some(&[], std::iter::once(&copy)) };
        let Energy { engines, buffers, link, memory } = energy(&seen, &machine);
        let each = |part: Interval| part * (1.0 / bytes as f64);
        Energy { engines: engines.map(each), buffers: each(buffers), link: each(link), memory: each(memory) }
    }

    #[test]
    fn designs_that_hold_or_store_take_more_than_those_that_pass_on() {
        let [plain, hold] = ["h100-cc", "hold"].map(|design| per_byte(design, Direction::H2d));
        assert_eq!((plain.engines, plain.memory), (hold.engines, hold.memory));
        // Written and read at 15 pJ for eight bytes in 2 MiB, against 32 B of tags in a queue of 256 B.
        let aside = of(
            Layers::new("h100-nvl-tdx").overlay("hold").set("tag_queue.quarantine_in=device_memory"),
            Direction::H2d,
        );
        assert_eq!((aside.memory, aside.buffers), (plain.memory * 3.0, plain.buffers));
        assert!(plain.buffers.high < 0.01 && (3.5..4.0).contains(&hold.buffers.middle()), "{hold:?}");
        // Sealed in two passes, from device memory or from a buffer.
        let siv = |way| per_byte("gcm-siv", way);
        let [up, down] = [siv(Direction::H2d), siv(Direction::D2h)];
        assert_eq!((up.memory, down.memory, down.buffers), (plain.memory, plain.memory * 2.0, plain.buffers));
        let keeps = Layers::new("h100-nvl-tdx").overlay("gcm-siv").set("aead.buffer=1 MiB");
        let kept = of(keeps, Direction::D2h);
        assert!(kept.memory == plain.memory && (3.5..3.6).contains(&kept.buffers.middle()), "{kept:?}");
        let sm = per_byte("sm", Direction::H2d);
        assert_eq!((sm.memory, sm.buffers), (plain.memory * 3.0, Interval::default()));
        let off = per_byte("off", Direction::H2d);
        let none = Interval::default();
        assert_eq!((off.engines, off.memory, off.buffers), (Some(none), plain.memory, none));
        assert_eq!(per_byte("chacha20-poly1305", Direction::H2d).whole(), None);
    }
}
