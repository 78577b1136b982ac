//! Swaps that are sealed before they are asked for (`pipellm`). Their tables, and those of tensors, are in `campaigns`.

use crate::shared::written;
use sealsim::{
    config::Layers,
    sim::Control,
    system::{self, Outcome},
    units::Femtos,
    workload::{Arrival, Workload, collective::CollectiveTimes},
};

const MACHINE: &str = "h100-nvl-tdx";

/// Bytes of a swap, and how many there are.
const SWAP: u64 = 8 << 20;
/// See [`SWAP`].
pub const SWAPS: u64 = 20;

pub fn with(workload: &Workload, design: &str, settings: &[&str]) -> Outcome {
    let layers = settings.iter().fold(Layers::new(MACHINE).overlay(design), |layers, setting| layers.set(*setting));
    let machine = layers.resolve().unwrap_or_else(|error| panic!("{design}: {error}")).machine;
    let arrivals: Vec<_> = workload.copies.iter().map(|_| Arrival::new(false, None)).collect();
    let outcome = system::run(&machine, workload.request(&arrivals, &CollectiveTimes::default()).unwrap(), &mut |_| {
        Control::Continue
    })
    .unwrap();
    assert!(outcome.copies.iter().all(|copy| copy.delivered), "{design}");
    outcome
}

pub fn guessed(workload: &Workload, permille: u32) -> Outcome {
    with(workload, "pipellm", &[&format!("cipher.ahead.hit_permille={permille}")])
}

/// Swaps to the GPU, a kernel on each while the next one comes.
pub fn swaps(kernel: Femtos) -> Workload {
    written(&format!(
        "{{ op = \"record\", event = \"free0\", stream = \"compute\" }},
        {{ op = \"record\", event = \"free1\", stream = \"compute\" }},
        {{ op = \"repeat\", count = {SWAPS}, operations = [
            {{ op = \"wait\", event = \"free{{i%2}}\", stream = \"load\" }},
            {{ op = \"copy\", direction = \"h2d\", size = \"{SWAP} B\", stream = \"load\", buffer = \"swap{{i}}\" }},
            {{ op = \"record\", event = \"loaded{{i%2}}\", stream = \"load\" }},
            {{ op = \"wait\", event = \"loaded{{i%2}}\", stream = \"compute\" }},
            {{ op = \"kernel\", duration = \"{} ps\", stream = \"compute\" }},
            {{ op = \"record\", event = \"free{{i%2}}\", stream = \"compute\" }},
        ] }},
        {{ op = \"sync\" }},",
        kernel.picos()
    ))
}

#[test]
fn with_right_guesses_the_cipher_is_not_on_the_path() {
    let swaps = swaps(Femtos(1_000_000_000));
    let times = |rate| {
        let outcome = with(&swaps, "pipellm", &["cipher.ahead.hit_permille=1000", rate]);
        outcome.copies.iter().map(system::CopyOutcome::time).collect::<Vec<_>>()
    };
    let (fast, slow) = (times("cipher.seal_rate=1.6 B/cycle"), times("cipher.seal_rate=0.8 B/cycle"));
    assert!(fast[0] < slow[0]);
    // But for the phases at which clocks meet.
    for (fast, slow) in fast.iter().zip(&slow).skip(1) {
        assert!((fast.seconds() / slow.seconds() - 1.0).abs() < 1e-4, "{fast} {slow}");
    }
    // A core that copies ciphertext, as for data that the user has sealed.
    let forwarded = with(&swaps, "direct", &[]).copies[10].time().seconds();
    assert!((fast[10].seconds() / forwarded - 1.0).abs() < 0.01, "{} {forwarded}", fast[10]);
}

#[test]
fn with_wrong_guesses_alone_all_costs_more_than_without_guessing() {
    for kernel in [1_000_000, 300_000_000_000] {
        let swaps = swaps(Femtos(kernel));
        let (native, wrong) = (with(&swaps, "h100-cc", &[]), guessed(&swaps, 0));
        assert!(wrong.end > native.end, "{} {}", wrong.end, native.end);
        for (native, wrong) in native.copies.iter().zip(&wrong.copies).skip(1) {
            assert!(wrong.time() > native.time() && wrong.messages == native.messages + 1);
        }
    }
}
