//! Rules of what is below which switch and which root complex.

use super::{Rule, link::too_few_credits, rule};
use crate::config::machine::MachineSpec;
use crate::pcie::spec::SwitchSpec;

pub(super) const RULES: &[Rule] = &[
    rule("gpu", "add a [[switch]], or write the number of one that is there, counted from 0", |m| {
        let missing = (0..m.gpus()).find_map(|gpu| Some((gpu, m.switch_of(gpu).filter(|at| *at >= m.switch.len())?)));
        missing.map(|(gpu, at)| format!("GPU {gpu} is below switch {at}, and there are {}", m.switch.len()))
    }),
    rule("switch", "write switch = NUMBER in a [[gpu]], or leave the switch out", |m| {
        let unused = |at: &usize| (0..m.gpus()).all(|gpu| m.switch_of(gpu) != Some(*at));
        (0..m.switch.len()).find(unused).map(|at| format!("no GPU is below switch {at}"))
    }),
    rule("gpu", "write root in the [[switch]]", |m| {
        let both = |gpu: &usize| m.switch_of(*gpu).is_some() && m.root_of(*gpu).is_some();
        (0..m.gpus()).find(both).map(|gpu| format!("GPU {gpu} is below a switch and names a root complex"))
    }),
    rule("switch", "leave out link.ide: selective IDE, from end to end, is not modelled", |m| {
        let plain = |gpu: &usize| m.switch_of(*gpu).is_none() || m.of_gpu(*gpu).link.ide.is_none();
        let ide = m.switch.iter().flat_map(|switch| &switch.link).any(|link| link.ide.is_some());
        (ide || !(0..m.gpus()).all(|gpu| plain(&gpu)))
            .then(|| "link IDE ends at a switch, which would see all data".into())
    }),
    rule(
        "switch",
        "give a switch the maximum payload of its GPUs' links, completions that fit it, and credits for one at least (a data credit is 16 B)",
        |m| (0..m.switch.len()).find_map(|at| of_switch(m, at, &m.switch[at])),
    ),
    rule("gpu", "GPUs below one root complex have root_complex, node, session_node and buffer_node in common", |m| {
        (0..m.gpus()).find_map(|gpu| unlike_before(m, gpu))
    }),
];

/// What is wrong with payloads or credits of a switch.
fn of_switch(machine: &MachineSpec, at: usize, switch: &SwitchSpec) -> Option<String> {
    let upstream = switch.link.as_ref().unwrap_or(&machine.link).max_payload;
    if let Some(why) = too_few_credits(&switch.credits, upstream) {
        return Some(format!("switch {at}: {why}"));
    }
    let below = (0..machine.gpus()).filter(|gpu| machine.switch_of(*gpu) == Some(at));
    below.map(|gpu| (gpu, machine.of_gpu(gpu))).find_map(|(gpu, own)| {
        let (payload, completion) = (own.link.max_payload, own.root_complex.completion_payload);
        if payload != upstream {
            return Some(format!(
                "switch {at} has a link with a maximum payload of {upstream}, GPU {gpu} one of {payload}"
            ));
        }
        (completion > upstream).then(|| format!("completions of {completion} do not fit the {upstream} of switch {at}"))
    })
}

/// The root complex that a GPU is below, if it shares it with others: a number, or a switch.
fn shared_root(machine: &MachineSpec, gpu: usize) -> Option<(Option<u32>, Option<usize>)> {
    match machine.switch_of(gpu) {
        None => machine.root_of(gpu).map(|root| (Some(root), None)),
        Some(at) => Some(match machine.switch.get(at)?.root {
            Some(root) => (Some(root), None),
            None => (None, Some(at)),
        }),
    }
}

/// What a GPU has otherwise than the first below the same root complex.
fn unlike_before(machine: &MachineSpec, gpu: usize) -> Option<String> {
    let root = shared_root(machine, gpu)?;
    let first = (0..gpu).find(|first| shared_root(machine, *first) == Some(root))?;
    let (one, other) = (machine.of_gpu(first), machine.of_gpu(gpu));
    let unlike = one.root_complex != other.root_complex
        || one.sealed_path() != other.sealed_path()
        || machine.nodes(first) != machine.nodes(gpu);
    unlike.then(|| format!("GPU {first} and GPU {gpu} are below one root complex and do not agree on it"))
}
