//! `skip`, `every-cycle`, any order of ticks, bytes or none: the same run.

use super::machine::*;
use proptest::prelude::*;
use sealsim::{
    pcie::{
        packet::Tlp,
        rate::WIDTHS,
        spec::{CreditSpec, IdeEngineSpec, IdeSpec, LinkSpec, RootComplexSpec},
    },
    sim::{FaultKind, Injection, Kernel, Order},
    units::{Bytes, Cycles, Femtos, Frequency},
};

const KINDS: [FaultKind; 5] =
    [FaultKind::Flip, FaultKind::FlipToken, FaultKind::Drop, FaultKind::Duplicate, FaultKind::Reorder];

prop_compose! {
    fn credits()(
        headers in prop::collection::vec(prop::sample::select(vec![0u32, 1, 2, 3, 8, 127, 300]), 3),
        data in prop::collection::vec(prop::sample::select(vec![0u32, 16, 17, 40, 200, 2047, 9000]), 3),
    ) -> CreditSpec {
        CreditSpec {
            posted_headers: headers[0],
            posted_data: data[0],
            non_posted_headers: headers[1],
            non_posted_data: data[1],
            completion_headers: headers[2],
            completion_data: data[2],
        }
    }
}

prop_compose! {
    fn engines()(lanes in 1u32..6, multipliers in 1u32..7, latency in 0u64..20) -> IdeEngineSpec {
        IdeEngineSpec { lanes, multipliers, latency: Cycles(latency) }
    }
}

prop_compose! {
    fn ides()(
        aggregation in prop::sample::select(vec![1u32, 2, 4, 8]),
        pcrc in any::<bool>(),
        flush in prop::sample::select(vec![0u64, 1, 8, 90]),
        host in engines(),
        gpu in engines(),
    ) -> IdeSpec {
        IdeSpec { aggregation, pcrc, flush: Cycles(flush), host, gpu }
    }
}

prop_compose! {
    fn links()(
        flight in prop::sample::select(vec![0u64, 1, 2, 3, 5, 20, 150]),
        ack_latency in 0u64..60,
        replay_tlps in prop::sample::select(vec![1u32, 2, 5, 64, 256]),
        replay_timer in prop::sample::select(vec![400u64, 700, 1500]),
        lanes in prop::sample::select(&WIDTHS[..]),
        skp_interval_blocks in prop::sample::select(vec![1u32, 2, 7, 37, 373]),
        recovery in prop::sample::select(vec![0u64, 1, 3_000_000, 40_500_000, 300_000_000]),
        credit_update in prop::sample::select(vec![1u64, 10, 100, 30_000]),
        host_credits in credits(),
        gpu_credits in credits(),
        ecrc in any::<bool>(),
        ide in prop::option::of(ides()),
        flits in prop::option::weighted(0.3, prop::sample::select(vec![None, Some(3_000_000), Some(10_000_000)])),
    ) -> LinkSpec {
        let (generation, ide) = if flits.is_some() { (6, None) } else { (5, ide) };
        LinkSpec {
            flight: Cycles(flight),
            ack_latency: Cycles(ack_latency),
            replay_tlps,
            replay_timer: Cycles(replay_timer),
            generation,
            flit_errors: flits.flatten(),
            lanes,
            skp_interval_blocks,
            recovery: Femtos(recovery),
            credit_update: Cycles(credit_update),
            host_credits,
            gpu_credits,
            ecrc: ecrc && ide.is_none(),
            ide,
            ..link()
        }
    }
}

prop_compose! {
    fn roots()(
        mhz in prop::sample::select(vec![700u64, 1000, 1370, 2000]),
        latency in 0u64..80,
        spread in prop::sample::select(vec![0u64, 1, 90]),
        interval in 0u64..4,
        in_service in 1u32..20,
        payload in prop::sample::select(vec![64u64, 128, 256]),
    ) -> RootComplexSpec {
        RootComplexSpec {
            clock: Frequency(mhz * 1_000_000),
            read_latency: Cycles(latency),
            read_spread: Cycles(spread),
            read_interval: Cycles(interval),
            reads_in_service: in_service,
            completion_payload: Bytes(payload),
            write_latency: Cycles(latency / 2),
            writes_in_service: 256,
            secure_read_latency: Cycles(0),
        }
    }
}

/// Every feed draws its sizes from a seed.
fn feed(count: u64, gap: u64, seed: u64, exact: bool, what: u8) -> Feed {
    let make = move |n: u64| {
        let random = (n ^ seed).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let address = BASE + random % (MEMORY / 256) * 256;
        let bytes = (random >> 40) as u32 % 256 + 1;
        let tag = (random >> 50) as u16 % 768;
        match what {
            0 => write(address, bytes, exact),
            1 => Tlp::read(tag, address, bytes),
            _ => completion(tag, address, bytes, exact),
        }
    };
    Feed { gap, ..Feed::new(count, make) }
}

/// A machine and its traffic.
#[derive(Debug, Clone)]
struct Case {
    link: LinkSpec,
    root: Option<RootComplexSpec>,
    counts: Vec<u64>,
    gaps: Vec<u64>,
    pces: u16,
    tags: u16,
    pace: u64,
    room: usize,
    reads: u64,
    seed: u64,
}

impl Case {
    fn plan(&self, exact: bool) -> Plan {
        let make = |n: usize, what| feed(self.counts[n], self.gaps[n], self.seed, exact, what);
        let tags_per_pce = if self.root.is_some() { self.tags.div_ceil(self.pces) } else { 768 / self.pces };
        let mut plan = Plan {
            exact,
            pces: self.pces,
            pace: self.pace,
            tags: self.tags,
            tags_per_pce,
            up: vec![make(0, 0)],
            down: vec![make(1, 0)],
            source_room: self.room,
            root: self.root.clone(),
            ..Plan::new(self.link.clone())
        };
        if self.root.is_some() {
            plan.reads = feed(self.reads, 0, self.seed, exact, 1);
        } else {
            plan.up.push(make(2, 1));
            plan.down.push(make(3, 2));
        }
        plan
    }
}

prop_compose! {
    fn cases()(
        link in links(),
        root in prop::option::of(roots()),
        counts in prop::collection::vec(0u64..40, 4),
        gaps in prop::collection::vec(prop::sample::select(vec![0u64, 0, 1, 9, 300]), 4),
        (pces, tags, pace) in (1u16..4, 1u16..12, prop::sample::select(vec![0u64, 0, 1, 4, 40])),
        (room, reads, seed, deferred) in (1usize..9, 0u64..30, any::<u64>(), any::<bool>()),
    ) -> Case {
        let mut link = link;
        // Completions that leave more to come are deferred where they cost no credits and nothing protects each by itself.
        if deferred {
            (link.ecrc, link.ide) = (false, None);
            (link.gpu_credits.completion_headers, link.gpu_credits.completion_data) = (0, 0);
        }
        Case { link, root, counts, gaps, pces, tags, pace, room, reads, seed }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn both_kernels_any_order_and_any_data_mode_give_the_same_run(
        case in cases(),
        faults in prop::collection::vec((any::<bool>(), 0usize..5, 1u64..60, any::<u64>()), 0..4),
        seed in any::<u64>(),
    ) {
        let faults: Vec<_> = faults
            .into_iter()
            .map(|(up, kind, transfer, seed)| {
                let place = if up { "up" } else { "down" };
                (Injection::nth(place, KINDS[kind], transfer), seed)
            })
            .collect();
        let reference = go(&case.plan(true), Kernel::EveryCycle, Order::Ascending, &faults).map(|(_, outcome)| outcome);
        let Ok(reference) = reference else { panic!("{}", reference.unwrap_err()) };
        // What a fault does depends on bytes.
        let exact = !faults.is_empty();
        for (kernel, order, exact) in [
            (Kernel::Skip, Order::Ascending, true),
            (Kernel::Skip, Order::Shuffled(seed), exact),
            (Kernel::EveryCycle, Order::Shuffled(seed), exact),
        ] {
            let outcome = go(&case.plan(exact), kernel, order, &faults).map(|(_, outcome)| outcome);
            let Ok(outcome) = outcome else { panic!("{kernel:?} {}", outcome.unwrap_err()) };
            prop_assert_eq!(&outcome, &reference, "{:?} {:?} {}", kernel, order, exact);
        }
    }
}
