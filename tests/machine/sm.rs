//! Machines whose SMs seal and open.

use crate::common::{Delivered, QUICK, copy, request, run, sent};
use sealsim::{
    config::{Layers, MachineSpec},
    gcm::message::SealOpen as Way,
    gpu::sm::timing::KernelTiming,
    sim::{Control, FaultKind, Injection, Kernel, Order},
    system::{self, DataMode, Direction, Memory, Outcome},
};

fn machine(designs: &[&str], sets: &[&str]) -> MachineSpec {
    let layers = designs.iter().fold(Layers::new("h100-nvl-tdx"), |layers, design| layers.overlay(*design));
    let layers = sets.iter().fold(layers, |layers, set| layers.set(*set));
    layers.resolve().unwrap_or_else(|error| panic!("{designs:?} {sets:?}: {error}")).machine
}

/// A CPU that seals and opens as fast as nobody's, so that the GPU's side shows. Messages of one push are on the device together.
const FAST_HOST: &[&str] = &[
    "cipher.on_caller=false",
    "cipher.threads=16",
    "driver.in_flight={h2d=8,d2h=8}",
    "copy_engine.outstanding_reads=256",
    "copy_engine.read_buffer=256 KiB",
    "copy_engine.messages_in_flight=4",
    "driver.pinned={message=\"1 MiB\",push=\"16 MiB\"}",
    "driver.push_d2h={pinned=\"16 MiB\"}",
];

fn fast(designs: &[&str], sets: &[&str]) -> MachineSpec {
    machine(designs, &QUICK.iter().chain(FAST_HOST).chain(sets).copied().collect::<Vec<_>>())
}

fn moved(machine: &MachineSpec, direction: Direction, bytes: u64) -> Outcome {
    let copies = vec![copy(direction, bytes, Memory::Pinned)];
    let outcome = run(machine, request(copies, DataMode::None, Kernel::Skip, Order::Ascending)).unwrap();
    assert!(outcome.copies[0].delivered, "{:?}", outcome.copies[0].reason);
    outcome
}

/// Cycles in which the SMs were busy.
fn busy(outcome: &Outcome) -> u64 {
    outcome.units.iter().find(|unit| unit.name == "gpu.sm").unwrap().busy
}

#[test]
fn copies_arrive_as_they_were_sent_through_sms_whatever_their_size() {
    let sizes = [0, 1, 15, 16, 17, 33, 511, 513, 4097, (1 << 20) + 1, 3 << 20];
    for design in ["sm", "sm-tensor"] {
        let machine = machine(&[design], &[]);
        for direction in [Direction::H2d, Direction::D2h] {
            for memory in [Memory::Pinned, Memory::Pageable] {
                let (outcome, whole) = sent(&machine, direction, memory, &sizes);
                for ((copy, whole), &bytes) in outcome.copies.iter().zip(whole).zip(&sizes) {
                    let what = format!("{design} {direction:?} {memory:?} {bytes}: {:?}", copy.reason);
                    assert!(copy.delivered && whole, "{what}");
                    let message = if memory == Memory::Pinned { 1 << 20 } else { 1020 << 10 };
                    assert_eq!((copy.tags_verified, copy.tags_failed), (bytes.div_ceil(message), 0), "{what}");
                }
                assert!(busy(&outcome) > 0);
                assert!(outcome.units.iter().all(|unit| !unit.name.ends_with(".engine")));
            }
        }
    }
}

#[test]
fn a_wrong_tag_or_text_is_not_delivered() {
    let machine = machine(&["sm"], QUICK);
    for (direction, place) in [
        (Direction::H2d, "gpu.sm.tags"),
        (Direction::H2d, "gpu.pce0.tags"),
        (Direction::H2d, "staging.ciphertext"),
        (Direction::D2h, "host.writes"),
    ] {
        for data in [DataMode::Exact, DataMode::None] {
            let sink = Delivered::default();
            let mut asked = copy(direction, 100_000, Memory::Pinned);
            asked.sink = Some(Box::new(sink.clone()));
            let mut request = request(vec![asked], data, Kernel::Skip, Order::Ascending);
            request.injections = vec![Injection::nth(place, FaultKind::Flip, 1)];
            let outcome = system::run(&machine, request, &mut |_| Control::Continue).unwrap();
            let copy = &outcome.copies[0];
            assert_eq!((copy.delivered, copy.tags_failed, sink.bytes()), (false, 1, 0), "{place} {data:?}: {copy:?}");
            assert_eq!(outcome.gpus[0].tag_queue.scrubbed, u64::from(direction == Direction::H2d), "{place}");
        }
    }
}

#[test]
fn each_message_takes_the_sms_for_the_time_that_the_timing_model_shows() {
    for (direction, way) in [(Direction::H2d, Way::Open), (Direction::D2h, Way::Seal)] {
        for bytes in [4096, 100_000, 1 << 20] {
            let machine = machine(&["sm"], &[]);
            let mut timing = KernelTiming::new(machine.sm.as_ref().unwrap(), 256).unwrap();
            let outcome = moved(&machine, direction, bytes);
            assert_eq!(busy(&outcome), timing.span(bytes, way).total, "{direction:?} {bytes}");
        }
    }
}

#[test]
fn the_next_message_arrives_while_the_sms_open_the_one_before() {
    let messages = 16;
    let time = |machine: &MachineSpec, count: u64| {
        let outcome = moved(machine, Direction::H2d, count << 20);
        let (begin, end) = outcome.copies[0].device.unwrap();
        (end.0 - begin.0) as f64 / 1e9
    };
    let slope = |machine: &MachineSpec| (time(machine, messages) - time(machine, 1)) / (messages - 1) as f64;
    let sms = fast(&["sm"], &["sm.used=42"]);
    let kernel = busy(&moved(&sms, Direction::H2d, 1 << 20)) as f64 / 1755.0;
    let (through_sms, through_engine) = (slope(&sms), slope(&fast(&[], &[])));
    println!(
        "us per message of 1 MiB: {through_sms:.2} through SMs, {through_engine:.2} through the engine, kernel {kernel:.2}"
    );
    assert!(through_sms >= kernel.max(through_engine) - 0.01, "no faster than its slowest part");
    assert!(through_sms < 0.75 * (through_engine + kernel), "moving and opening overlap");
}

#[test]
fn more_sms_open_faster() {
    let rate = |used: u32, direction| {
        let machine = fast(&["sm"], &[&format!("sm.used={used}")]);
        let outcome = moved(&machine, direction, 32 << 20);
        let (begin, end) = outcome.copies[0].device.unwrap();
        (32 << 20) as f64 * 1e6 / (end.0 - begin.0) as f64
    };
    for direction in [Direction::H2d, Direction::D2h] {
        let rates = [4, 16, 42, 132].map(|used| rate(used, direction));
        println!("{direction:?}: {rates:.2?} GB/s on 4, 16, 42, 132 SMs");
        assert!(rates.is_sorted(), "{direction:?} {rates:?}");
        let near = |(rate, expected): (&f64, f64)| (rate / expected - 1.0).abs() < 0.02;
        assert!(rates.iter().zip([5.9, 20.0, 40.0, 55.0]).all(near), "what docs/model.md says: {rates:?}");
    }
}

#[test]
fn copy_engines_that_seal_and_open_are_the_machine_without_a_choice() {
    let digest = |machine: &MachineSpec| moved(machine, Direction::H2d, 3 << 20).event_digest;
    let plain = digest(&machine(&[], &[]));
    assert_eq!(plain, digest(&machine(&["sm"], &["gpu_crypto.place=copy_engine"])));
    assert_ne!(plain, digest(&machine(&["sm"], &[])));
}

#[test]
fn both_kernels_and_data_modes_give_the_same_events() {
    for sets in [&["tag_queue.release=eager"][..], &["sm.clock=333 MHz", "hbm.read_rate=5 B/cycle"], &["sm.used=1"]] {
        let sets: Vec<_> = QUICK.iter().chain(sets).copied().collect();
        let machine = machine(&["sm"], &sets);
        let digests = [
            (DataMode::Exact, Kernel::EveryCycle, Order::Ascending),
            (DataMode::Exact, Kernel::Skip, Order::Shuffled(5)),
            (DataMode::None, Kernel::Skip, Order::Ascending),
            (DataMode::None, Kernel::EveryCycle, Order::Shuffled(9)),
        ]
        .map(|(data, kernel, order)| {
            let copies =
                [Direction::H2d, Direction::D2h].map(|direction| copy(direction, 150_001, Memory::Pinned)).into();
            let outcome = run(&machine, request(copies, data, kernel, order)).unwrap();
            assert!(outcome.copies.iter().all(|copy| copy.delivered), "{:?}", outcome.copies);
            (outcome.event_digest, outcome.end)
        });
        assert!(digests.iter().all(|digest| *digest == digests[0]), "{sets:?} {digests:?}");
    }
}
