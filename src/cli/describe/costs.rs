//! What a machine's crypto units cost and the forgery bound of its tags, below its parameters.

use crate::{
    config::MachineSpec,
    cost::{
        library::{Block, Delay},
        technology::SYNTHESIS,
    },
    explore::{message_risk, price},
    units::Bytes,
};
use serde_json::{Value, json};

pub fn lines(machine: &MachineSpec) -> Vec<String> {
    let price = price(machine);
    let mut lines = vec!["cost, as compare has it".to_owned()];
    match price.area.zip(price.area_total()) {
        Some((engines, all)) => {
            lines.push(format!("  {} engines: {:.0} to {:.0} kGE", price.engines, engines.low, engines.high));
            lines.push(format!("  with quarantine and tag queue as SRAM: {:.0} to {:.0} kGE", all.low, all.high));
            lines.extend(price.notes.iter().map(|note| format!("  {note}")));
            lines.push(format!("  rows: {}", named(&price.rows)));
            lines.push(format!("  {SYNTHESIS}"));
        }
        None => lines.push(format!("  no area: {}", price.missing.as_deref().unwrap_or("no figures"))),
    }
    lines.extend(clock_lines(machine));
    let risk = message_risk(machine);
    if let Some((log2, after)) = risk.forgery_log2.zip(risk.after_first_success) {
        let what = match machine.link.ide {
            Some(_) => "the MAC of one TLP as long as it may be".to_owned(),
            None => format!("a tag of one message of {}", Bytes(machine.driver.pinned.message.0)),
        };
        lines.push(format!("a first forgery of {what}: at most 2^{log2:.1} per attempt"));
        lines.push(format!("  {}", after.text()));
    }
    lines
}

fn named(rows: &[Block]) -> String {
    let names: Vec<String> = rows.iter().map(ToString::to_string).collect();
    names.join(", ")
}

/// Each stage of the engines, and whether the clock holds it.
fn clock_lines(machine: &MachineSpec) -> Vec<String> {
    let Some(timing) = machine.timing() else { return Vec::new() };
    let mut lines = vec![format!("clock of the engines: {timing}")];
    for stage in &timing.stages {
        let (Delay { ps, ps_wired }, verdict) = (stage.delay, stage.delay.within(timing.period_of(stage)).text());
        let (name, cut, rows) = (stage.name, &stage.cut, named(&stage.rows));
        lines.push(format!("  {name} with {cut}: {verdict}, {ps:.0} ps, {ps_wired:.0} with wires; rows: {rows}"));
    }
    lines.extend(timing.refusal().map(|refusal| format!("  {refusal}")));
    lines
}

/// The same as JSON: `cost` and `message_risk`, with the fields of `compare`.
pub fn json(machine: &MachineSpec) -> [(&'static str, Value); 4] {
    let stages = machine.timing().map(|timing| timing.stages);
    [
        ("clock_stages", json!(stages)),
        ("cost", json!(price(machine))),
        ("cost_source", json!(SYNTHESIS)),
        ("message_risk", json!(message_risk(machine))),
    ]
}
