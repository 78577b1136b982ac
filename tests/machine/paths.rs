//! Why runs take as long as they take: paths and messages.

use super::threads::{asked, blind, cases, trees};
use crate::common::{QUICK, copy, machine, request};
use proptest::{prelude::*, test_runner::TestRunner};
use sealsim::{
    config::MachineSpec,
    explore::explain::{Observed, Which, observe},
    observe::{
        messages::{Stage, Way},
        path::Path,
    },
    sim::{Control, Kernel, Order},
    system::{DataMode, Direction, Memory, Request},
    units::Femtos,
};

fn look(machine: &MachineSpec, request: Request) -> Observed {
    observe(machine, request, &mut |_| Control::Continue).unwrap()
}

/// The stages of a message that follow each other. A verdict comes before the release or after it, and so does the last write from the GPU.
fn ways(way: Way) -> &'static [Stage] {
    use Stage::{Cipher, Engine, Link, Release, Staging, Submission};
    match way {
        Way::H2d => &[Cipher, Staging, Submission, Link, Engine, Release],
        Way::D2h => &[Submission, Engine, Link, Staging, Cipher],
        Way::D2d => &[Submission, Release],
    }
}

/// Whether the parts of a path adjoin from one time to another.
fn adjoins(path: &Path, from: Femtos, to: Femtos) -> Result<(), TestCaseError> {
    let mut at = from;
    for part in &path.parts {
        prop_assert!(part.from == at && part.to > part.from, "{:?} after {:?}", part, at);
        at = part.to;
    }
    prop_assert_eq!(at, to);
    let shares: u64 = path.shares().iter().map(|share| share.time.0).sum();
    prop_assert_eq!(shares, to.0 - from.0);
    Ok(())
}

#[test]
fn paths_add_up_and_messages_go_all_their_way() {
    let mut runner = TestRunner::new(cases());
    let machines = (prop::sample::select(trees()), any::<bool>(), any::<bool>());
    let copies = prop::collection::vec(asked(), 1..6);
    let tested = runner.run(&(machines, copies), |((tree, secure, quick), copies)| {
        let settings: Vec<&str> = tree.iter().map(String::as_str).collect();
        let name = if secure { "h100-nvl-tdx" } else { "h100-sxm5-off" };
        let machine = machine(name, &[if quick { QUICK } else { &[] }, &settings].concat());
        let observed = look(&machine, blind(&machine, &copies, Kernel::Skip, Order::Ascending));
        let outcome = &observed.outcome;
        adjoins(&observed.path, Femtos(0), outcome.end)?;
        let messages = outcome.copies.iter().map(|copy| copy.messages).sum::<u64>();
        prop_assert_eq!(observed.messages.iter().filter(|message| message.sealed).count() as u64, messages);
        for message in &observed.messages {
            prop_assert!(message.whole, "{:?}", message);
            prop_assert!(message.cells().all(|(step, start)| start <= step.end));
            let ends: Vec<_> = ways(message.way)
                .iter()
                .filter_map(|stage| message.stages.iter().find(|step| step.stage == *stage))
                .collect();
            prop_assert!(ends.windows(2).all(|pair| pair[0].end <= pair[1].end), "{:?}", message);
            let (_, path) = observed.message(Which::Number(message.id + 1)).unwrap();
            adjoins(&path, message.start, message.end())?;
        }
        let bytes: u64 =
            outcome.copies.iter().filter(|copy| copy.direction != Direction::D2d).map(|copy| copy.bytes).sum();
        let sealed: u64 = observed.messages.iter().filter(|message| message.sealed).map(|message| message.bytes).sum();
        prop_assert!(messages == 0 || sealed == bytes, "{} of {}", sealed, bytes);
        Ok(())
    });
    tested.unwrap();
}

/// The place and state with the longest share of the path of a copy, and its part of the time.
fn first(name: &str, sets: &[&str], direction: Direction, bytes: u64) -> (String, f64) {
    let machine = machine(name, sets);
    let copies = vec![copy(direction, bytes, Memory::Pinned)];
    let observed = look(&machine, request(copies, DataMode::None, Kernel::Skip, Order::Ascending));
    let shares = observed.path.shares();
    (format!("{} {}", shares[0].place, shares[0].state), shares[0].time.0 as f64 / observed.outcome.end.0 as f64)
}

#[test]
fn what_is_slow_beyond_all_else_is_first_on_the_path() {
    let cases: [(&str, &[&str], Direction, &str); 6] = [
        ("h100-nvl-tdx", &["cipher.seal_rate=\"0.05 B/cycle\""], Direction::H2d, "host.cipher busy"),
        ("h100-nvl-tdx", &["cipher.open_rate=\"0.05 B/cycle\""], Direction::D2h, "host.cipher busy"),
        ("h100-nvl-tdx", &["driver.secure_push=\"10000000 cycles\""], Direction::H2d, "host.driver busy"),
        ("h100-sxm5-off", &["driver.call=\"10000000 cycles\""], Direction::D2h, "host.driver busy"),
        ("h100-sxm5-off", &["root_complex.read_latency=\"100000 cycles\""], Direction::H2d, "host.root_complex "),
        ("h100-nvl-tdx", &["engine.compare=\"1000000 cycles\""], Direction::H2d, "gpu.tag_queue "),
    ];
    for (name, sets, direction, expected) in cases {
        let (found, part) = first(name, sets, direction, 1 << 20);
        assert!(found.starts_with(expected) && part > 0.5, "{name} {sets:?} {direction:?}: {found} {part}");
    }
}
