//! Which protocol NCCL takes: the one that it expects to be over first.
//!
//! | term | from |
//! | --- | --- |
//! | `BASE`, `HOPS` | NCCL's tables of latencies (`src/graph/tuning.cc`, versions 2.19 to 2.29), by protocol |
//! | rate of a ring | `nccl.expected_rate`; LL has half of it, and `nccl.expected_ll` at the most, LL128 92 in 100 |
//! | rate of NVLS | that of a ring, by the flits that each takes for a buffer; and the copies of its first and last turn |
//!
//! Sends and receives, of which an all-to-all is made, are not weighed: LL takes parts of up to `SENDS_BY_LL`, Simple all others (`src/enqueue.cc`,
//! `NCCL_P2P_LL_THRESHOLD`).
//!
//! NCCL itself goes by a table of efficiencies for NVLS; that flits say the same is assumed.

use super::{kind::Collective, schedule::extent};
use crate::{
    config::MachineSpec,
    fabric::{
        protocol::Protocol,
        spec::{FabricMode, FabricSpec, Topology},
    },
    units::{BytesPerCycle, Femtos},
};

/// Microseconds once: LL, LL128, Simple.
const BASE: [f64; 3] = [6.6, 14.0, 8.4];
/// Microseconds of each step, over NVLink and over PCIe.
const HOPS: [[f64; 3]; 2] = [[0.6, 1.9, 3.4], [1.0, 2.5, 5.7]];
/// Share of the rate of Simple.
const SHARE: [f64; 3] = [0.5, 0.92, 1.0];

/// Most bytes that a GPU sends another by LL.
const SENDS_BY_LL: u64 = 16 << 10;

/// The protocol of a collective. Copy engines and the host know none.
pub fn protocol(machine: &MachineSpec, kind: Collective, ranks: usize, bytes: u64) -> Protocol {
    let Some(spec) = machine.fabric.as_ref().filter(|spec| !by_copies(spec.mode)) else { return Protocol::Copies };
    if kind == Collective::AllToAll {
        return if extent(kind, ranks, bytes).0 <= SENDS_BY_LL { Protocol::Ll } else { Protocol::Simple };
    }
    let rings = Protocol::RINGS.into_iter().enumerate();
    let rings = rings.filter(|(_, protocol)| spec.nccl.nvlink || *protocol != Protocol::Ll128);
    let mut best = (f64::INFINITY, Protocol::Simple);
    for (place, protocol) in rings {
        let time = ring(spec, place, kind, ranks, bytes);
        best = if time < best.0 { (time, protocol) } else { best };
    }
    let adds = spec.nccl.nvls && spec.topology == Topology::Switch && !machine.confidential_computing;
    if adds && kind == Collective::AllReduce && nvls(spec, ranks, bytes) < best.0 { Protocol::Nvls } else { best.1 }
}

/// Whether copies that the host submits pass text on.
fn by_copies(mode: FabricMode) -> bool {
    mode.is_between_engines() || mode == FabricMode::Staged
}

fn rate(spec: &FabricSpec, BytesPerCycle(thousandths): BytesPerCycle) -> f64 {
    thousandths as f64 * 1e-3 * spec.clock.0 as f64 * 1e-6
}

fn steps(kind: Collective, ranks: usize) -> f64 {
    let others = ranks.max(2) as f64 - 1.0;
    match kind {
        Collective::AllReduce => 2.0 * others,
        Collective::ReduceScatter | Collective::AllGather | Collective::Broadcast => others,
        Collective::AllToAll => 1.0,
        Collective::TreeAllReduce => 2.0 * f64::from(ranks.max(2).ilog2()),
    }
}

/// Microseconds that are expected of a ring.
fn ring(spec: &FabricSpec, place: usize, kind: Collective, ranks: usize, bytes: u64) -> f64 {
    let shared = rate(spec, spec.nccl.expected_rate) * SHARE[place];
    let shared = if place == 0 { shared.min(rate(spec, spec.nccl.expected_ll)) } else { shared };
    let hop = HOPS[usize::from(!spec.nccl.nvlink)][place];
    BASE[place] + steps(kind, ranks) * hop + bytes as f64 * kind.bus_factor(ranks) / shared
}

/// Flits of a link for each byte of text, one way, with those that come back.
fn flits_per_byte(spec: &FabricSpec, protocol: Protocol) -> f64 {
    let framing = spec.framing(protocol);
    (framing.flits(framing.payload, 0) + framing.response) as f64 / framing.payload as f64
}

/// Microseconds that are expected of a reduction in switches.
fn nvls(spec: &FabricSpec, ranks: usize, bytes: u64) -> f64 {
    let slower = flits_per_byte(spec, Protocol::Nvls) / flits_per_byte(spec, Protocol::Simple);
    let carried = in_switches(bytes, ranks) as f64 * slower / rate(spec, spec.nccl.expected_rate);
    let copied = 2.0 * bytes.min(turn(spec, ranks)) as f64 / rate(spec, spec.reduce_rate);
    spec.nccl.nvls_start.seconds() * 1e6 + carried + copied
}

/// Text that each link carries one way when switches add: all of the buffer, and the GPU's part of the sum.
pub(super) const fn in_switches(bytes: u64, ranks: usize) -> u64 {
    bytes + bytes.div_ceil(ranks as u64)
}

/// Bytes of a buffer that pass in one turn when switches add.
pub(super) fn turn(spec: &FabricSpec, ranks: usize) -> u64 {
    spec.turn(Protocol::Nvls).saturating_mul(ranks as u64).max(1)
}

/// From the kernel's start to its first transfer. Switches add what has been copied into their buffers before.
pub(super) fn start(spec: &FabricSpec, protocol: Protocol, (kind, ranks, bytes): (Collective, usize, u64)) -> Femtos {
    let begins = spec.start(protocol, kind == Collective::AllToAll);
    if protocol != Protocol::Nvls {
        return begins;
    }
    let copied = bytes.min(turn(spec, ranks)) as f64 / rate(spec, spec.reduce_rate);
    Femtos(begins.0.saturating_add((copied * 1e9) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Layers;

    fn chosen(layers: &Layers, kind: Collective, ranks: usize, kib: u64) -> Protocol {
        protocol(&layers.resolve().unwrap().machine, kind, ranks, kib << 10)
    }

    #[test]
    fn short_calls_take_ll_and_long_ones_simple_or_nvls() {
        use {Collective::*, Protocol::*};
        let off = Layers::new("h100-sxm5-off");
        // By hand, in us: LL 7.8 + S / 141 GB/s, LL128 17.8 + S / 331, Simple 15.2 + S / 360: LL up to 1.7 MB.
        assert_eq!([1 << 10, 2 << 10].map(|kib| chosen(&off, AllReduce, 2, kib)), [Ll, Simple]);
        // LL 7.2 + S / 282, Simple 11.8 + S / 720: LL up to 2.13 MB.
        assert_eq!([2 << 10, 4 << 10].map(|kib| chosen(&off, AllGather, 2, kib)), [Ll, Simple]);
        // LL 10.8 + S / 161, LL128 27.3 + S / 378, Simple 32.2 + S / 411: 4.6 and 23 MB.
        assert_eq!([4, 16, 32].map(|mib| chosen(&off, AllGather, 8, mib << 10)), [Ll, Ll128, Simple]);
        assert_eq!([1, 2, 512].map(|mib| chosen(&off, AllReduce, 8, mib << 10)), [Ll, Nvls, Nvls]);
        assert_eq!(chosen(&off, AllReduce, 4, 64 << 10), Simple);
    }

    #[test]
    fn switches_do_not_add_with_confidential_computing_and_pcie_has_no_ll128() {
        let size = 64 << 10;
        let own = Layers::new("hgx-h100-8gpu");
        assert_eq!(chosen(&own, Collective::AllReduce, 8, size), Protocol::Simple);
        let off = own.clone().set("confidential_computing=false").overlay("plain");
        assert_eq!(chosen(&off, Collective::AllReduce, 8, size), Protocol::Nvls);
        let pcie = own.clone().overlay("pcie-peers");
        assert_eq!(
            [1, 64 << 10].map(|kib| chosen(&pcie, Collective::AllReduce, 8, kib)),
            [Protocol::Ll, Protocol::Simple]
        );
        for design in ["direct", "peer-staging", "staged"] {
            assert_eq!(chosen(&own.clone().overlay(design), Collective::AllReduce, 8, size), Protocol::Copies);
        }
    }
}
