//! What a trace lacks as a whole, in sentences.

use super::model::{DeviceKind, DeviceOp, Memory, Trace};

#[derive(Debug, Default)]
pub(super) struct Notes {
    pub rounded: u64,
    pub off_by: u64,
    pub by_bandwidth: u64,
    pub failed: u64,
    pub cut: u64,
}

impl Notes {
    pub fn sentences(&self) -> Vec<String> {
        let Self { rounded, off_by, by_bandwidth, failed, cut } = *self;
        let all = [
            (
                rounded,
                format!(
                    "The sizes of {rounded} operations are printed rounded: of those that print alike the roundest is taken, at most {off_by} B off."
                ),
            ),
            (
                by_bandwidth,
                format!("The sizes of {by_bandwidth} copies are missing: bandwidth times duration is taken."),
            ),
            (failed, format!("{failed} calls returned an error; they are taken like the others.")),
            (
                cut,
                format!(
                    "{cut} names are longer than what is kept of a name: each ends with … and a number that tells it apart."
                ),
            ),
        ];
        all.into_iter().filter(|(count, _)| *count > 0).map(|(_, sentence)| sentence).collect()
    }
}

/// What [`Trace::assumed`] says of the operations together.
pub(super) fn sentences(trace: &Trace) -> Vec<String> {
    let copies = trace.device.iter().filter(|op| matches!(op.kind, DeviceKind::Copy { .. })).count();
    let mut all = Vec::new();
    if copies == 0 {
        all.push("There is no copy in the trace.".to_owned());
    }
    let unknown = trace.device.iter().filter(is_of_unknown_memory).count();
    if unknown > 0 {
        all.push(format!("{unknown} of {copies} copies do not say what kind of host memory they use."));
    }
    all.extend(joined(trace));
    all
}

fn is_of_unknown_memory(op: &&DeviceOp) -> bool {
    matches!(op.kind, DeviceKind::Copy { source, target, .. } if source == Memory::Unknown || target == Memory::Unknown)
}

/// What joining operations and calls shows.
fn joined(trace: &Trace) -> Vec<String> {
    if trace.calls.is_empty() {
        return vec!["There are no calls in the trace: when the program asked for an operation is not known.".into()];
    }
    if !trace.dependencies.is_empty() {
        return Vec::new();
    }
    let launches = trace.launches();
    let alone = launches.iter().filter(|call| call.is_none()).count();
    let mut all = Vec::new();
    if alone > 0 {
        all.push(format!("{alone} of {} operations have no call that asked for them.", launches.len()));
    }
    let early = launches.iter().zip(&trace.device).filter_map(|(call, op)| {
        let call = trace.calls.get((*call)? as usize)?;
        call.start_ns.checked_sub(op.start_ns).filter(|ns| *ns > 0)
    });
    let (count, most) = early.fold((0_u64, 0), |(count, most), ns| (count + 1, most.max(ns)));
    if count > 0 {
        all.push(format!(
            "{count} operations start before the call that asked for them, by up to {most} ns: the clocks of host and GPU differ."
        ));
    }
    all
}
