//! Both kernels, any order of ticks, with and without data: the same run.

use super::{super::*, data, machine::Setup};
use crate::{
    sim::{Kernel, Order as Ticks},
    units::{Bytes, BytesPerCycle, Cycles},
};
use Direction::{D2d, D2h, H2d};
use Memory::{Pageable, Pinned};
use proptest::prelude::*;

fn plans() -> impl Strategy<Value = Vec<(Direction, u64, Memory)>> {
    let direction = prop_oneof![Just(H2d), Just(D2h), Just(D2d)];
    let memory = prop_oneof![Just(Pinned), Just(Pageable)];
    prop::collection::vec((direction, prop_oneof![0u64..200, 0u64..60_000], memory), 1..6)
}

prop_compose! {
    fn setups()(
        plans in plans(),
        (secure, eager, pipelined) in any::<(bool, bool, bool)>(),
        (threads, seal, open, per_message) in (1u32..5, 500u64..60_000, 500u64..60_000, 0u64..900),
        costs in prop::array::uniform5(0u64..700),
        messages in prop::array::uniform2((1u64..20_000, 1u64..40_000)),
        (buffer, buffers) in (5u64..20, 1u32..4),
        depths in prop::array::uniform3(1usize..6),
        (on_caller, small, windows, work) in (any::<bool>(), 0u64..40_000, prop::array::uniform4(1u32..6), 0usize..4),
        (ahead, hit_permille, least) in (prop::option::of(prop::array::uniform3(0u32..4)), 0u32..=1000, 1u64..30_000),
        (room, shared) in (20_000u64..90_000, any::<bool>()),
        (gpu_clock, launch, rate, flight, verdict) in (300u64..3_000, 0u64..300, 1u64..64, 1u64..500, 1u64..2_000),
    ) -> Setup {
        let mut setup = Setup::secure(&plans);
        (setup.options.secure, setup.options.pipelined_pushes) = (secure, pipelined);
        setup.options.waits_for_verified = eager;
        setup.verdict = eager.then_some(verdict);
        setup.options.on_caller = on_caller;
        setup.cipher.threads = if on_caller { 1 } else { threads };
        use crate::host::spec::CipherWork;
        setup.cipher.work = [CipherWork::Seal, CipherWork::Reseal, CipherWork::Forward, CipherWork::InPlace][work];
        if let Some([workers, open_workers, nops]) = ahead.filter(|_| work == 0) {
            let (workers, least, buffer) = (workers + 1, Bytes(least), Bytes(room));
            setup.cipher.ahead = Some(crate::host::spec::AheadSpec { workers, open_workers, least, hit_permille, nops, buffer });
        }
        for (number, plan) in (0..).zip(&mut setup.plans) {
            plan.buffer = if shared { number / 2 } else { number };
        }
        setup.memory.l2 = Bytes(20_000);
        (setup.memory.llc_rate, setup.memory.dram_rate) = (BytesPerCycle(seal), BytesPerCycle(open));
        let [h2d, d2h, h2d_plain, d2h_plain] = windows;
        setup.driver.in_flight = crate::host::spec::InFlightSpec { h2d, d2h };
        setup.driver.in_flight_pageable = crate::host::spec::InFlightSpec { h2d: d2h, d2h: h2d };
        setup.driver.in_flight_plain = crate::host::spec::InFlightSpec { h2d: h2d_plain, d2h: d2h_plain };
        setup.driver.small.limit = Bytes(small);
        (setup.cipher.seal_rate, setup.cipher.open_rate) = (BytesPerCycle(seal), BytesPerCycle(open));
        setup.cipher.per_message = Cycles(per_message);
        let driver = &mut setup.driver;
        [driver.call, driver.push, driver.secure_push, driver.completion, driver.secure_completion] = costs.map(Cycles);
        for (path, (message, push)) in [&mut driver.pinned, &mut driver.pageable].into_iter().zip(messages) {
            (path.message, path.push) = (Bytes(message), Bytes(push));
        }
        driver.pageable_plain = driver.pageable.clone();
        (driver.push_d2h.pinned, driver.push_d2h.pageable) = (driver.pinned.push, driver.pageable.push);
        (setup.staging.buffer, setup.staging.buffers) = (Bytes(buffer * 4096), buffers);
        setup.depths = depths;
        setup.gpu_clock = gpu_clock * 1_000_000;
        setup.gpu = [launch, rate, flight];
        setup
    }
}

fn arrived(setup: &Setup, mini: &super::machine::Mini) -> Result<(), TestCaseError> {
    for (copy, plan) in setup.plans.iter().enumerate().filter(|(_, plan)| plan.bytes.0 > 0) {
        let expected = data::bytes(copy, plan.bytes.0);
        let window = |address: u64| mini.gpu().device.get(&(address >> 40));
        match plan.direction {
            H2d => prop_assert_eq!(window(map::device(copy, 0)), Some(&expected)),
            D2d => prop_assert_eq!(window(map::device_copy(copy, 0)), Some(&expected)),
            D2h => prop_assert_eq!(&mini.stored.borrow()[copy], &expected),
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn every_run_of_one_setup_is_the_same_and_delivers_the_bytes(setup in setups(), seed in any::<u64>()) {
        let (reference, expected) = setup.go();
        prop_assert!(reference.driver().outcomes().iter().all(|outcome| outcome.delivered));
        arrived(&setup, &reference)?;
        let (total, free) = reference.memory.borrow().staging_fill();
        prop_assert_eq!(total, free);
        for (kernel, order, exact) in [
            (Kernel::EveryCycle, Ticks::Ascending, true),
            (Kernel::EveryCycle, Ticks::Shuffled(seed), false),
            (Kernel::Skip, Ticks::Shuffled(seed), true),
        ] {
            let mut mini = Setup { exact, ..setup.clone() }.build();
            let run = mini.run(kernel, order).unwrap();
            prop_assert_eq!(run.end, expected.end);
            prop_assert_eq!(mini.digests(), reference.digests());
            prop_assert_eq!(mini.driver().outcomes(), reference.driver().outcomes());
            for (place, (mine, theirs)) in run.accounts.iter().zip(&expected.accounts).enumerate() {
                prop_assert_eq!(mine, theirs, "{}", mini.units()[place].name);
            }
            if exact {
                arrived(&setup, &mini)?;
            }
        }
    }
}
