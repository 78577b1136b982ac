//! What the protections of a machine against its own faults take, in words: bits that are kept, and the logic that the cells of the library give for them.

use super::price::tag_bits;
use crate::{
    config::MachineSpec,
    cost::{self, Library},
    gpu::tag_queue::JOB_BITS,
    system,
    units::Femtos,
};

/// Bits of a CRC of the text.
const CRC_BITS: f64 = 32.0;

/// A note for each protection that the machine has.
pub(super) fn notes(machine: &MachineSpec) -> Vec<String> {
    let library = cost::Library::shipped();
    let queue = &machine.tag_queue;
    let timeout = machine.copy_engine.handover_timeout.and_then(|timeout| timers(machine, timeout, library));
    let parity = (queue.parity == Some(true)).then(|| parity(machine, library));
    let twins = (queue.twin_comparators == Some(true)).then(|| twins(machine, library));
    let crc = machine.cipher.text_crc.map(|_| text_crc(machine, library));
    [timeout, parity, twins, crc].into_iter().flatten().collect()
}

/// A counter that can be cleared at the receiving end of each channel inside the first GPU. None of a machine that cannot be built.
fn timers(machine: &MachineSpec, timeout: Femtos, library: &Library) -> Option<String> {
    let timers = hand_overs(machine)?;
    let cycles = (timeout.0 as f64 * 1e-15 * machine.copy_engine.clock.0 as f64).ceil();
    let bits = cycles.max(2.0).log2().ceil();
    let count = timers as f64 * bits;
    let kge = kge(count * 2.0, count, library) + library.flip_flops(count);
    Some(format!("{timers} timers of hand-overs, {bits} bits each for {cycles} cycles, take {kge:.1} kGE more"))
}

/// Channels between the units of the first GPU; those of the link have timers of their own.
fn hand_overs(machine: &MachineSpec) -> Option<usize> {
    let outline = system::outline(machine).ok()?;
    let own = |path: &str| path.starts_with("gpu.") || path.starts_with("gpu0.");
    Some(outline.channels.iter().filter(|channel| own(&channel.to) && own(&channel.from)).count())
}

/// Three bits for each entry. A tree for each tag where it is written and where it is read, one where the rest of an entry is written, and one for each
/// entry, since the rest is read in every cycle.
fn parity(machine: &MachineSpec, library: &Library) -> String {
    let (depth, tag) = (f64::from(machine.tag_queue.depth), f64::from(tag_bits(machine)));
    let bits = 3.0 * depth;
    let kge = kge(0.0, 4.0 * tag + (depth + 1.0) * JOB_BITS as f64, library) + library.flip_flops(bits);
    format!("parity of the tag queue's entries, {bits} bits, takes {kge:.1} kGE more")
}

/// A second comparator next to each, with its verdict.
fn twins(machine: &MachineSpec, library: &Library) -> String {
    let (comparators, tag) = (f64::from(machine.tag_queue.comparators), f64::from(tag_bits(machine)));
    let kge = kge(comparators * tag, comparators * (tag + 1.0), library) + library.flip_flops(comparators);
    format!("twins of {comparators} comparators, {comparators} bits, take {kge:.1} kGE more")
}

/// A CRC in each engine over as many blocks as its lanes give in a cycle. Each bit of it is the sum of half of those that come in and of its own, with nothing
/// shared between bits: more than is needed.
fn text_crc(machine: &MachineSpec, library: &Library) -> String {
    let engines = if machine.shared_engine() { 1.0 } else { 2.0 * f64::from(machine.copy_engine.pces_secure) };
    let text = 128.0 * f64::from(machine.engine.aes.lanes);
    let bits = engines * CRC_BITS;
    let kge = kge(0.0, bits * (text + CRC_BITS) / 2.0, library) + library.flip_flops(bits);
    format!("a CRC of the text in {engines} engines, {bits} bits, takes at most {kge:.1} kGE more")
}

/// So many ANDs and XORs of a bit.
fn kge(ands: f64, xors: f64, library: &Library) -> f64 {
    (ands * library.and_ge + xors * library.xor_ge) / 1000.0
}
