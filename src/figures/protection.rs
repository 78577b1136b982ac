//! What the protections of a machine against its own faults take, in words: bits that are kept, and the logic that the cells of the library give for them.

use crate::{config::MachineSpec, cost, system, units::Femtos};

/// A note for each protection that the machine has.
pub(super) fn notes(machine: &MachineSpec) -> Vec<String> {
    let timeout = machine.copy_engine.handover_timeout.and_then(|timeout| timers(machine, timeout));
    timeout.into_iter().collect()
}

/// A counter that can be cleared at the receiving end of each channel inside the first GPU. None of a machine that cannot be built.
fn timers(machine: &MachineSpec, timeout: Femtos) -> Option<String> {
    let library = cost::Library::shipped();
    let timers = hand_overs(machine)?;
    let cycles = (timeout.0 as f64 * 1e-15 * machine.copy_engine.clock.0 as f64).ceil();
    let bits = cycles.max(2.0).log2().ceil();
    let count = timers as f64 * bits;
    let logic = count * (2.0 * library.and_ge + library.xor_ge) / 1000.0;
    let kge = logic + library.flip_flops(count);
    Some(format!("{timers} timers of hand-overs, {bits} bits each for {cycles} cycles, take {kge:.1} kGE more"))
}

/// Channels into the units of the first GPU, but for those of the link, which has timers of its own.
fn hand_overs(machine: &MachineSpec) -> Option<usize> {
    let outline = system::outline(machine).ok()?;
    let own = |path: &str| path.starts_with("gpu.") || path.starts_with("gpu0.");
    Some(outline.channels.iter().filter(|channel| own(&channel.to) && own(&channel.from)).count())
}
