//! What is invalid although its type allows it: limits by unit, and rules between fields.

use super::{
    error::{Wrong, refusal},
    gpu::MOST_GPUS,
    machine::MachineSpec,
    parameter::Parameter,
    tree::Node,
};
use crate::files::{Refusal, Refusals};
use limits::beyond_limits;
pub(super) use limits::within_limits;

mod aead;
mod ahead;
mod clock;
mod engine;
mod fabric;
mod host;
mod limits;
mod link;
mod sm;
mod topology;

/// A label of several lines could pass for other lines of a report.
fn lines(label: &str) -> Option<String> {
    label.contains(['\n', '\r']).then(|| "it has several lines".to_owned())
}

/// A condition between fields.
struct Rule {
    /// The field that the message points at.
    path: &'static str,
    /// Why the machine is refused, if it is.
    broken: fn(&MachineSpec) -> Option<String>,
    remedy: &'static str,
}

const fn rule(path: &'static str, remedy: &'static str, broken: fn(&MachineSpec) -> Option<String>) -> Rule {
    Rule { path, broken, remedy }
}

/// Rules of the machine as a whole.
const WHOLE: &[Rule] = &[
    rule("name", "write it in one line", |m| lines(&m.name)),
    rule("summary", "write it in one line", |m| lines(&m.summary)),
    rule("cpu.core", "write it in one line", |m| lines(m.cpu.core.as_ref()?)),
    rule("cipher.library", "write it in one line", |m| lines(m.cipher.library.as_ref()?)),
    rule("gpu", "write at most 64", |m| {
        (m.gpus() > MOST_GPUS).then(|| format!("{} GPUs are more than any machine has", m.gpus()))
    }),
    rule(
        "gpu",
        "add numa = { latency = \"70 cycles\", rate = \"40 B/cycle\" }, or leave out session_node and buffer_node",
        |m| {
            let crosses = |gpu: usize| {
                let nodes = m.nodes(gpu);
                nodes.port != nodes.session || nodes.session != nodes.buffers
            };
            let gpu = (0..m.gpus()).find(|gpu| m.numa.is_none() && crosses(*gpu))?;
            Some(format!("GPU {gpu} reaches memory of another socket, and nothing says what that costs"))
        },
    ),
];

/// All rules, in the order in which they are reported.
const RULES: &[&[Rule]] = &[
    WHOLE,
    link::RULES,
    engine::RULES,
    host::RULES,
    sm::RULES,
    ahead::RULES,
    clock::RULES,
    topology::RULES,
    fabric::RULES,
];

fn fault(values: &Node, path: &str, reason: String, remedy: String) -> Refusal {
    let place = values.at(path).and_then(|node| node.place.as_ref());
    refusal(&Wrong::Senseless { path: path.to_owned(), reason }).at(place).remedy(remedy)
}

/// Refuses a machine that cannot be, with every reason.
pub(super) fn check(machine: &MachineSpec, parameters: &[Parameter], values: &Node) -> Result<(), Refusal> {
    let limits = parameters.iter().filter_map(|parameter| {
        let (reason, remedy) = beyond_limits(parameter)?;
        Some(fault(values, &parameter.path, reason, remedy))
    });
    // The rules compute with the values, so they come second.
    limits.collect::<Refusals>().result()?;
    rules(machine, values)
}

/// Refuses a machine, each of whose values is within its limits, that cannot be.
pub(super) fn rules(machine: &MachineSpec, values: &Node) -> Result<(), Refusal> {
    let broken = broken(machine).into_iter();
    broken.map(|(path, reason, remedy)| fault(values, &path, reason, remedy.to_owned())).collect::<Refusals>().result()
}

/// The rules that a machine breaks: where, why, and what to do. Those that each GPU breaks are reported once.
fn broken(machine: &MachineSpec) -> Vec<(String, String, &'static str)> {
    let of = |machine: &MachineSpec, prefix: &str| -> Vec<_> {
        let broken = RULES.iter().copied().flatten().filter_map(|rule| Some((rule, (rule.broken)(machine)?)));
        broken.map(|(rule, reason)| (format!("{prefix}{}", rule.path), reason, rule.remedy)).collect()
    };
    let mut all = of(machine, "");
    if all.is_empty() {
        let mut first = 0;
        for (place, alike) in machine.gpu.iter().enumerate() {
            all.extend(of(&machine.of_gpu(first), &format!("gpu[{place}].")));
            first += alike.count as usize;
        }
        for (place, switch) in machine.switch.iter().enumerate() {
            let link = switch.link.as_ref().unwrap_or(&machine.link).clone();
            let below = of(&MachineSpec { link, ..machine.of_gpu(0) }, &format!("switch[{place}]."));
            all.extend(below.into_iter().filter(|(path, ..)| path.contains("].link.")));
        }
    }
    all
}

/// Whether a machine, each of whose values is within its limits, can be.
pub(super) fn can_be(machine: &MachineSpec) -> bool {
    broken(machine).is_empty()
}

#[cfg(test)]
mod tests;
