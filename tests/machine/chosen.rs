//! Faults chosen by time, message, sort, field and bit.

use crate::common::{QUICK, copy, machine, request};
use proptest::prelude::*;
use sealsim::{
    config::MachineSpec,
    sim::{Control, Effect, Injection, Kernel, Order},
    system::{self, DataMode, Direction, Memory, Outcome, RunError},
    workload::InjectionArgument,
};

/// Short messages, so that a few dozen KiB are many.
const SMALL: &[&str] = &[
    "driver.pinned={message=\"4 KiB\",push=\"8 KiB\"}",
    "copy_engine.completion_timeout=20 us",
    "link.credit_update=3000 cycles",
];

fn small(sets: &[&str]) -> MachineSpec {
    machine("h100-nvl-tdx", &QUICK.iter().chain(SMALL).chain(sets).copied().collect::<Vec<_>>())
}

fn fault(text: &str) -> Injection {
    text.parse::<InjectionArgument>().unwrap().0
}

fn struck_by(machine: &MachineSpec, kernel: Kernel, faults: Vec<Injection>) -> Result<Outcome, RunError> {
    let copies = [Direction::H2d, Direction::D2h].map(|direction| copy(direction, 30_000, Memory::Pinned));
    let mut request = request(copies.into(), DataMode::Exact, kernel, Order::Ascending);
    request.injections = faults;
    let mut looks = 0;
    system::run(machine, request, &mut |_| {
        looks += 1;
        if looks > 400 { Control::Stop } else { Control::Continue }
    })
}

/// All that is simulated.
fn figures(result: &Result<Outcome, RunError>) -> String {
    match result {
        Err(error) => error.to_string(),
        Ok(outcome) => {
            let Outcome { end, event_digest, channels, copies, units, gpus, incidents, faults, .. } = outcome;
            format!("{end:?} {event_digest} {channels:?} {copies:?} {units:?} {gpus:?} {incidents:?} {faults:?}")
        }
    }
}

/// Where a fault that was chosen in some way can strike, with how it is chosen.
fn any_fault() -> impl Strategy<Value = String> {
    let place = prop::sample::select(vec![
        "link.h2d.flip",
        "link.d2h.drop",
        "gpu.pce0.tags.flip",
        "gpu.pce0.completions.flip",
        "host.writes.duplicate",
        "staging.tag.flip",
        "staging.ciphertext.flip",
        "host.iv.skip",
        "gpu.front_end_read.iv.skip",
        "gpu.pce0.work.drop",
        "link.h2d.flip_token",
        "gpu.pce0.writes.reorder",
        "link.d2h.flip",
    ]);
    (place, 0_u64..60_000).prop_map(|(place, nanoseconds)| format!("{place}@{nanoseconds}ns"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn a_fault_by_time_is_the_one_at_the_transfer_that_it_strikes(text in any_fault()) {
        let machine = small(&[]);
        let by_time = fault(&text);
        let skip = struck_by(&machine, Kernel::Skip, vec![by_time.clone()]);
        let every = struck_by(&machine, Kernel::EveryCycle, vec![by_time.clone()]);
        prop_assert_eq!(figures(&skip), figures(&every));
        let Ok(outcome) = &skip else { return Ok(()) };
        let Effect::Struck { time, transfer, .. } = outcome.faults[0] else { return Ok(()) };
        let sealsim::sim::When::At(from) = by_time.when else { panic!("no time") };
        prop_assert!(time >= from);
        let by_transfer = Injection::nth(by_time.place.clone(), by_time.kind, transfer);
        prop_assert_eq!(figures(&skip), figures(&struck_by(&machine, Kernel::Skip, vec![by_transfer])));
        // The transfer before came too early.
        if transfer > 1 {
            let before = Injection::nth(by_time.place, by_time.kind, transfer - 1);
            let earlier = struck_by(&machine, Kernel::Skip, vec![before]);
            if let Ok(Outcome { faults, .. }) = &earlier {
                let is_late = matches!(faults[0], Effect::Struck { time, .. } if time >= from);
                prop_assert!(!is_late);
            }
        }
    }
}

/// Runs with one fault on both kernels.
fn one(text: &str) -> Outcome {
    let machine = small(&[]);
    let [skip, every] = [Kernel::Skip, Kernel::EveryCycle].map(|kernel| struck_by(&machine, kernel, vec![fault(text)]));
    assert_eq!(figures(&skip), figures(&every), "{text}");
    skip.unwrap()
}

#[test]
fn a_message_is_struck_by_its_number() {
    for message in [1, 2, 5, 8] {
        for (point, failed) in [("gpu.pce0.tags.flip", 1), ("gpu.pce0.writes.drop", 0)] {
            let outcome = one(&format!("{point}:message={message}"));
            assert!(matches!(outcome.faults[0], Effect::Struck { .. }), "{point} {message}");
            assert_eq!((outcome.copies[0].delivered, outcome.copies[0].tags_failed), (false, failed), "{point}");
        }
        let outcome = one(&format!("gpu.pce0.tags.flip:message={message}"));
        let reason = outcome.copies[0].reason.clone().unwrap();
        assert!(reason.contains(&format!("message {message} ")), "{message}: {reason}");
    }
    let never = one("gpu.pce0.tags.flip:message=99");
    assert!(matches!(never.faults[0], Effect::Waiting { passed } if passed > 0) && never.copies[0].delivered);
}

#[test]
fn tlps_and_dllps_are_counted_apart() {
    let transfer = |text: &str| match one(text).faults[0] {
        Effect::Struck { transfer, .. } => transfer,
        other => panic!("{text}: {other:?}"),
    };
    for number in [1, 2, 9] {
        let (tlp, dllp) =
            (transfer(&format!("link.h2d.flip:tlp={number}")), transfer(&format!("link.h2d.flip:dllp={number}")));
        assert!(tlp >= number && dllp >= number && tlp != dllp);
        let mut all: Vec<u64> = (1..=number).map(|n| transfer(&format!("link.h2d.flip:tlp={n}"))).collect();
        all.dedup();
        assert_eq!(all.len() as u64, number);
    }
}

#[test]
fn any_bit_of_any_field_of_a_packet_on_the_link_is_caught_and_sent_again() {
    for (field, bits) in [
        ("length", 10),
        ("type", 5),
        ("fmt", 3),
        ("tag", 10),
        ("address", 62),
        ("payload", 64),
        ("lcrc", 32),
        ("tc", 3),
        ("td", 1),
        ("first_be", 4),
        ("requester_id", 16),
        ("sequence", 12),
    ] {
        for bit in [0, bits / 2, bits - 1] {
            // The seventh TLP to the GPU is a completion, the seventh from it a request.
            for way in ["h2d", "d2h"] {
                let outcome = one(&format!("link.{way}.flip:tlp=7,field={field},bit={bit}"));
                match outcome.faults[0] {
                    Effect::Struck { .. } => {
                        let link = &outcome.gpus[0].link;
                        assert!(link.h2d.replays + link.d2h.replays > 0, "{way} {field} {bit}");
                    }
                    effect => assert_eq!(effect, Effect::Missed, "{way} {field} {bit}"),
                }
                assert!(outcome.copies.iter().all(|copy| copy.delivered), "{way} {field} {bit}");
            }
        }
    }
}

#[test]
fn what_an_item_lacks_is_not_struck_and_what_no_item_has_is_refused() {
    for text in
        ["link.h2d.flip:dllp=1,field=length", "gpu.pce0.tags.flip:bit=128", "link.h2d.flip:tlp=1,field=tag,bit=10"]
    {
        let outcome = one(text);
        assert_eq!(outcome.faults, [Effect::Missed], "{text}");
        assert!(outcome.copies.iter().all(|copy| copy.delivered));
    }
    let machine = small(&[]);
    for (text, words) in [
        ("link.h2d.flip:field=colour", "use one of sequence, fmt, type, length"),
        ("link.h2d.flip:message=1", "gpu.pce0.tags"),
        ("gpu.pce0.tags.flip:tlp=1", "link.d2h, link.h2d"),
        ("link.h2d.drop:bit=1", "leave out bit and field"),
        ("staging.tag.flip:field=tag", "leave out field"),
        ("gpu1.pce0.tags.flip", "the nearest is"),
    ] {
        let error = struck_by(&machine, Kernel::Skip, vec![fault(text)]).unwrap_err().to_string();
        assert!(error.contains(words), "{text}: {error}");
    }
}

#[test]
fn a_bit_is_the_bit_that_is_named() {
    // A bit of a tag once more undoes it; another does not.
    let machine = small(&[]);
    let twice = |a: u64, b: u64| {
        let faults = [a, b].map(|bit| fault(&format!("gpu.pce0.tags.flip:message=2,field=tag,bit={bit}")));
        struck_by(&machine, Kernel::Skip, faults.into()).unwrap()
    };
    let (same, other) = (twice(77, 77), twice(77, 78));
    assert!(same.copies[0].delivered && same.cancelled == [(0, 1)]);
    assert!(!other.copies[0].delivered && other.cancelled.is_empty());
    // The bit of the tag in memory, and of the tag that was fetched from there.
    let faults = ["staging.tag.flip:2,bit=77", "gpu.pce0.tags.flip:message=2,bit=77"].map(fault);
    assert!(!struck_by(&machine, Kernel::Skip, vec![faults[0].clone()]).unwrap().copies[0].delivered);
    assert!(struck_by(&machine, Kernel::Skip, faults.into()).unwrap().copies[0].delivered);
}

#[test]
fn the_only_gpu_and_link_may_have_a_number() {
    for (numbered, plain) in [
        ("gpu0.pce0.tags.flip@12us", "gpu.pce0.tags.flip@12us"),
        ("link0.h2d.flip:tlp=7,field=length,bit=3", "link.h2d.flip:tlp=7,field=length,bit=3"),
    ] {
        assert_eq!(figures(&Ok(one(numbered))), figures(&Ok(one(plain))));
    }
}
