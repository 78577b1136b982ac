//! The figures, and which of them a verb shows.

use super::{
    Figure,
    Of::{Beside, Between, Busiest, Cost, Estimate, Limit, Name, Part, Run, Way},
    Other, Ratio, Seen, Unit, Value,
};
use crate::{
    system::Direction::{D2d, D2h, H2d},
    units::Femtos,
    workload::direction_name,
};

/// Rows: a name in the code, name, unit, label, where it comes from; what it means.
macro_rules! figures {
    ($($row:ident: $name:literal, $unit:ident, $words:literal, $of:expr; $says:literal)*) => {
        $(pub static $row: Figure = Figure { name: $name, unit: Unit::$unit, words: $words, of: $of, says: $says };)*
    };
}

/// Which rows a verb shows, in its order.
macro_rules! lists {
    ($($list:ident: $($row:ident)*;)*) => { $(pub static $list: &[&Figure] = &[$(&$row),*];)* };
}

const COPIES_OF: fn(&Seen<'_>) -> Value = |seen| (seen.copies.len() as u64).into();
const BYTES_OF: fn(&Seen<'_>) -> Value = |seen| seen.bytes.into();
const DEVICE_OF: fn(&Seen<'_>) -> Value = |seen| seen.moved().unwrap_or_default().into();
const CALLS_OF: fn(&Seen<'_>) -> Value =
    |seen| seen.copies.iter().map(|copy| copy.time()).fold(Femtos::ZERO, Femtos::saturating_add).into();

figures! {
    // What a row is of.
    WORKLOAD: "workload", Text, "workload", Name; "the workload: its file, or its name"
    DESIGN: "design", Text, "design", Name; "as asked for: a design, or several joined by `+`"
    BASELINE: "baseline", Text, "baseline", Name;
        "the design that `speedup_over_baseline` refers to: `h100-cc-resealed` if the user seals for the GPU, else `h100-cc`"
    DIRECTION: "direction", Text, "direction", Run(|seen| seen.copies.first().map(|copy| direction_name(copy.direction)).into());
        "`h2d`, `d2h` or `d2d`"

    // What was copied, and how fast.
    BYTES: "bytes", Bytes, "length of the copy", Run(BYTES_OF); "bytes of the copy"
    RATE: "gb_per_s", GbPerS, "rate", Estimate(|seen| seen.gb_per_s().into()); "10^9 bytes per second from the call to the copy's end"
    TIME: "time_ps", Picos, "time of the copy", Estimate(|seen| seen.time.into()); "time from the call to the copy's end, in ps"
    DEVICE: "device_ps", Picos, "time on the device", Estimate(|seen| seen.moved().into());
        "time from the first byte that a copy engine moves to the last, in ps"
    FIRST_VERIFIED: "first_verified_ps", Picos, "time to the first verdict",
        Run(|seen| seen.copies.iter().filter_map(|copy| Some(copy.first_verified?.saturating_sub(copy.start))).min().into());
        "time from the call to the verdict of the first message, in ps"
    H2D_COPIES: "h2d_copies", Plain, "h2d copies", Way(H2d, COPIES_OF); "copies h2d"
    H2D_BYTES: "h2d_bytes", Bytes, "length of all h2d", Way(H2d, BYTES_OF); "their bytes"
    H2D_DEVICE: "h2d_device_ps", Picos, "h2d on the device", Way(H2d, DEVICE_OF); "time in which a copy engine moved at least one of them, summed over GPUs, in ps"
    H2D_CALLS: "h2d_calls_ps", Picos, "h2d calls", Way(H2d, CALLS_OF); "time from call to end, summed over them, in ps"
    D2H_COPIES: "d2h_copies", Plain, "d2h copies", Way(D2h, COPIES_OF); "copies d2h"
    D2H_BYTES: "d2h_bytes", Bytes, "length of all d2h", Way(D2h, BYTES_OF); "their bytes"
    D2H_DEVICE: "d2h_device_ps", Picos, "d2h on the device", Way(D2h, DEVICE_OF); "time in which a copy engine moved at least one of them, summed over GPUs, in ps"
    D2H_CALLS: "d2h_calls_ps", Picos, "d2h calls", Way(D2h, CALLS_OF); "time from call to end, summed over them, in ps"
    D2D_COPIES: "d2d_copies", Plain, "d2d copies", Way(D2d, COPIES_OF); "copies d2d"
    D2D_BYTES: "d2d_bytes", Bytes, "length of all d2d", Way(D2d, BYTES_OF); "their bytes"
    D2D_DEVICE: "d2d_device_ps", Picos, "d2d on the device", Way(D2d, DEVICE_OF); "time in which a copy engine moved at least one of them, summed over GPUs, in ps"
    D2D_CALLS: "d2d_calls_ps", Picos, "d2d calls", Way(D2d, CALLS_OF); "time from call to end, summed over them, in ps"
    COPY_COUNT: "copies", Plain, "copies", Run(COPIES_OF); "how many copies"
    IDLE: "gpu_idle", Plain, "part that the GPU was idle", Run(|seen| seen.idle().into());
        "part of the time without a kernel or a copy within the GPU, 0 to 1; mean over the GPUs that had work"

    // How it compares.
    OVER_BASELINE: "speedup_over_baseline", Plain, "speed-up over its baseline", Beside(Other::Own, Ratio::Faster);
        "the rate over that of `baseline`, or the time of that over this; empty without it, as below"
    OVER_CC: "speedup_over_h100_cc", Plain, "speed-up over h100-cc", Beside(Other::Cc, Ratio::Faster); "the same over `h100-cc`"
    OF_OFF: "fraction_of_off", Plain, "part of the rate of off", Beside(Other::Off, Ratio::Faster); "the rate over that of `off`"
    OVER_OFF: "slowdown_over_off", Plain, "times as long as off", Beside(Other::Off, Ratio::Longer); "the time over that of `off`"

    // Collectives, where a workload calls any.
    COLLECTIVES: "collectives", Plain, "collectives", Run(|seen| seen.collectives(|_, one| one.calls)); "calls of collectives"
    COLLECTIVES_SIMULATED: "collectives_simulated", Plain, "simulated collectives", Run(|seen| seen.collectives(|_, _| 1));
        "those that were simulated; the others are equal to one of these"
    COLLECTIVES_BYTES: "collectives_bytes", Bytes, "buffers of collectives",
        Run(|seen| seen.collectives(|call, one| call.bytes.saturating_mul(one.calls))); "bytes of a GPU's buffers, summed over calls"
    COLLECTIVES_TIME: "collectives_ps", Picos, "time of collectives",
        Run(|seen| seen.collectives(|_, one| one.time.picos().saturating_mul(one.calls))); "what collectives take, summed over calls, in ps"
    COLLECTIVES_EXPOSED: "collectives_exposed_ps", Picos, "exposed time of collectives", Run(|seen| seen.exposed_collectives().into());
        "how much earlier the run would end if they took no time, in ps: measured by such a run"

    // What `collective` says of one.
    OP: "op", Text, "collective", Run(|seen| seen.of_call(|request, _| request.kind.name())); "what the GPUs did"
    RANKS: "ranks", Plain, "GPUs", Run(|seen| seen.of_call(|request, _| request.ranks as u64)); "how many GPUs they were"
    MODE: "mode", Text, "protection", Run(|seen| seen.of_call(|_, outcome| outcome.mode.name())); "how hops were protected"
    PROTOCOL: "protocol", Text, "protocol", Run(|seen| seen.of_call(|_, outcome| outcome.protocol.name())); "how text was passed on"
    LAUNCH_COST: "launch_cost_ps", Picos, "cost of the launch", Name; "what of the time over `off` is the launch, in ps"
    PATH_COST: "path_cost_ps", Picos, "cost of the path", Name; "what of it is the path"
    CRYPTOGRAPHY_COST: "cryptography_cost_ps", Picos, "cost of cryptography", Name; "what of it is cryptography"
    LAUNCH: "launch_ps", Picos, "time before the first transfer", Run(|seen| seen.of_call(|_, outcome| outcome.launch));
        "what of the time lies before the first transfer, in ps"
    BUS_RATE: "bus_gb_per_s", GbPerS, "bus rate",
        Run(|seen| seen.call.zip(seen.gb_per_s()).map(|((call, _), rate)| rate * call.kind.bus_factor(call.ranks)).into());
        "the rate times the share of a buffer that each GPU must send: 2 (N - 1) / N for an all-reduce"
    TRANSFERS_SIMULATED: "transfers_simulated", Plain, "simulated transfers", Run(|seen| seen.of_call(|_, outcome| outcome.simulated));
        "transfers between two GPUs that were simulated"
    TRANSFERS_SHARED: "transfers_shared", Plain, "other transfers", Run(|seen| seen.of_call(|_, outcome| outcome.shared));
        "transfers that share the simulation of another"
    FINISHED: "finished", Plain, "GPUs that finished", Run(|seen| seen.of_call(|_, outcome| outcome.finished as u64)); "GPUs that finished"
    WRONG: "wrong", Plain, "GPUs with a wrong buffer", Run(|seen| seen.of_call(|_, outcome| outcome.wrong.map(|wrong| wrong as u64)));
        "GPUs that finished with a wrong buffer; empty where no bytes are carried"
    REFUSED: "refused", Text, "why it was refused", Run(|seen| seen.of_call(|_, outcome| outcome.refused.as_deref().map(Value::from)));
        "why it did not end, if it did not"

    // Messages, and what waits for their verdicts.
    MESSAGES: "messages", Plain, "messages", Run(|seen| seen.sum(|copy| copy.messages)); "GCM messages"
    TAGS: "tags_verified", Plain, "verified tags", Run(|seen| seen.sum(|copy| copy.tags_verified)); "tags that were checked and right"
    PEAK_TAG_QUEUE: "peak_tag_queue", Plain, "most messages in the tag queue", Run(|seen| seen.most(|queue| queue.peak_entries));
        "most messages in the tag queue at once"
    QUARANTINE: "quarantine_bytes", Bytes, "most plaintext in quarantine", Run(|seen| seen.most(|queue| queue.peak_quarantine_bytes));
        "most plaintext that waited for its verdict in quarantine, in bytes"
    QUARANTINE_LEAST: "quarantine_least_bytes", Bytes, "room of a quarantine that is enough", Run(|seen| seen.most(|queue| queue.least_quarantine_bytes));
        "least tag_queue.quarantine with which all of the run would be the same, in bytes; less may keep the rate"
    EXPOSURE: "exposure_ps", Picos, "longest exposure of a message", Estimate(|seen| seen.most(|queue| queue.longest_exposure));
        "longest time that unverified plaintext of a message was visible, in ps"
    EXPOSURE_TOTAL: "exposure_total_ps", Picos, "exposure, sum over messages",
        Estimate(|seen| seen.queues().map(|queue| queue.total_exposure.picos()).sum::<u64>().into()); "that time, summed over messages, in ps"
    EXPOSED: "exposed_bytes", Bytes, "most unverified plaintext visible", Run(|seen| seen.most(|queue| queue.most_exposed_bytes));
        "most unverified plaintext that was visible at once, in bytes"
    EXPOSED_BYTE_NS: "exposed_byte_ns", ByteNanos, "exposure, sum over bytes",
        Run(|seen| seen.queues().map(|queue| queue.exposed_byte_ns).fold(0, u64::saturating_add).into());
        "time that each byte was visible before the verdict of its message, summed over bytes, in B ns"
    SCRUBBED: "scrubbed_messages", Plain, "scrubbed messages", Run(|seen| seen.queues().map(|queue| queue.scrubbed).sum::<u64>().into());
        "messages whose plaintext was scrubbed after a bad verdict"

    // What a link carries one way, replays included.
    TLPS: "tlps", Plain, "TLPs", Run(|seen| seen.traffic(|way| way.tlps)); "TLPs sent"
    DLLPS: "dllps", Plain, "DLLPs", Run(|seen| seen.traffic(|way| way.dllps)); "DLLPs sent"
    PAYLOAD: "payload_bytes", Bytes, "payload on the link", Run(|seen| seen.traffic(|way| way.payload_bytes)); "payload of TLPs, in bytes"
    WIRE: "wire_bytes", Bytes, "bytes on the link", Run(|seen| seen.traffic(|way| way.wire_bytes));
        "bytes of tokens, headers, payloads and CRCs, and what IDE adds"
    REPLAYS: "replays", Plain, "replays", Run(|seen| seen.traffic(|way| way.replays)); "TLPs sent again"
    RECOVERIES: "recoveries", Plain, "recoveries", Run(|seen| seen.traffic(|way| way.recoveries));
        "times that the sending port entered Recovery"

    // Who was busiest, and what limited it.
    BUSIEST: "busiest", Text, "busiest unit", Busiest(|busiest| Value::Text(busiest.to_string()));
        "the unit that was busy longest and the one that waited longest, in words; of a workload in one word"
    BUSIEST_UNIT: "busiest_unit", Text, "busiest unit", Busiest(|busiest| busiest.unit.as_str().into());
        "the unit on the copy's path that was busy longest"
    BUSIEST_STATE: "busiest_state", Text, "state of the busiest unit", Busiest(|busiest| busiest.state.as_str().into());
        "`busy`, `copying`, `queued`, `kernels`, `network`, or `idle` if none was"
    BUSIEST_FRACTION: "busiest_fraction", Plain, "part of the time of the busiest unit", Busiest(|busiest| busiest.fraction.into());
        "part of the time that it was so, 0 to 1"
    WAITED_UNIT: "waited_unit", Text, "unit that waited longest", Busiest(|busiest| busiest.waited.as_ref().map(|waited| &*waited.unit).into());
        "the unit on the copy's path that stood longest in one stall"
    WAITED_FOR: "waited_for", Text, "what it waited for", Busiest(|busiest| busiest.waited.as_ref().map(|waited| &*waited.stall).into());
        "that stall"
    WAITED_FRACTION: "waited_fraction", Plain, "part of the time that it waited", Busiest(|busiest| busiest.waited.as_ref().map(|waited| waited.fraction).into());
        "part of the time that it stood so, 0 to 1"
    LIMITED_BY: "limited_by", Text, "what limited it", Limit(|limit| Value::Text(limit.text())); "what limited it, in words; empty if it was not measured"
    LIMIT_PARAMETER: "limited_by_parameter", Text, "limiting parameter", Limit(|limit| limit.best.first().map(|one| &*one.parameter).into());
        "the parameter that gains most when it is relaxed; empty if none gains enough, or none was"
    LIMIT_VALUE: "limited_by_value", Text, "value of the limiting parameter", Limit(|limit| limit.best.first().map(|one| &*one.value).into()); "its value"
    RELAXED_TO: "relaxed_to", Text, "relaxed value", Limit(|limit| limit.best.first().map(|one| &*one.relaxed_to).into());
        "the value that it was relaxed to"
    GAIN: "gain_percent", Plain, "gain in percent", Limit(|limit| limit.best.first().map(|one| one.gain_percent).into()); "how much faster the copy then was, in percent"
    NEXT: "next", Text, "next limiting parameter", Limit(|limit| limit.next.as_deref().into());
        "the parameter that limits then; empty if nothing alone does"

    // What the machine costs.
    ENGINES: "engines", Plain, "engines", Cost(|price| u64::from(price.engines).into()); "engines that open, and engines that seal"
    AREA: "area_kge", Kge, "area of engines", Between(|price, _| price.area);
        "area of all engines in kGE (thousand gate equivalents), middle; from rows of rtl/results.toml in ASAP7"
    AREA_TOTAL: "area_total_kge", Kge, "area of engines and storage", Between(|price, _| price.area_total());
        "area of all engines, and of quarantine and tag queue as SRAM, in kGE, middle"
    ENERGY: "pj_per_byte", PjPerByte, "energy", Between(|price, way| price.energy(way?));
        "energy of sealing or opening a byte on the GPU, in pJ, middle"
    H2D_ENERGY: "h2d_pj_per_byte", PjPerByte, "energy, h2d", Between(|price, _| price.energy(H2d));
        "energy of opening a byte on the GPU, in pJ, middle"
    D2H_ENERGY: "d2h_pj_per_byte", PjPerByte, "energy, d2h", Between(|price, _| price.energy(D2h));
        "energy of sealing a byte on the GPU, in pJ, middle"
    ENGINES_SPENT: "engines_pj", PicoJoules, "energy of AES and GHASH", Run(|seen| seen.energy(|energy| energy.engines));
        "energy of sealing and opening on the GPU in the run, in pJ, middle; empty where no figure is known"
    BUFFERS_SPENT: "buffers_pj", PicoJoules, "energy of buffers", Run(|seen| seen.energy(|energy| Some(energy.buffers)));
        "energy of quarantine, buffer between passes and tag queue, in pJ, middle"
    LINK_SPENT: "link_pj", PicoJoules, "energy of the link", Run(|seen| seen.energy(|energy| Some(energy.link))); "energy of all bits on the GPUs' links, in pJ, middle"
    MEMORY_SPENT: "memory_pj", PicoJoules, "energy of device memory", Run(|seen| seen.energy(|energy| Some(energy.memory)));
        "energy of what copies and sealing kernels read and write in device memory, in pJ, middle"
    ALL_SPENT: "energy_pj", PicoJoules, "energy in all", Run(|seen| seen.energy(|energy| energy.whole())); "the sum of these"
    SMS_USED: "sms_used", Plain, "SMs that seal", Cost(|price| price.sms_used.map(u64::from).into()); "SMs that seal and open instead of engines"
    QUARANTINE_ROOM: "quarantine_capacity_bytes", Bytes, "room of the quarantine", Cost(|price| price.quarantine_capacity_bytes.into());
        "room for plaintext that waits for its verdict, over all PCEs, as far as the configuration can use it, in bytes"
    TAG_QUEUE_ROOM: "tag_queue_capacity_bytes", Bytes, "room of the tag queue", Cost(|price| price.tag_queue_capacity_bytes.into());
        "room for computed and fetched tags, in bytes"
    STORAGE: "storage_sram_kge", Kge, "storage as SRAM", Between(|price, _| Some(price.storage_sram));
        "both as SRAM in kGE, over the assumed range of a bit's area, middle"
    STORAGE_FLIP_FLOPS: "storage_flip_flop_kge", Kge, "storage as flip-flops", Cost(|price| price.storage_flip_flop_kge.into());
        "both in flip-flops, in kGE: the upper bound"
    COST_MISSING: "cost_missing", Text, "why costs are missing", Cost(|price| price.missing.as_deref().into()); "why there is no area or energy"
    QUARANTINE_AREA: "quarantine_sram_kge", Kge, "area of the quarantine", Cost(|price| price.quarantine_sram_kge.into());
        "area of the quarantine of all PCEs (copy engines) as SRAM in kGE, middle of the assumed range; 0 unless plaintext is held"
    DOES_NOT_CLOSE: "does_not_close", Text, "why its clock does not close", Cost(|price| price.does_not_close.as_deref().into());
        "what the engines need and the cycles that close, if they do not close at their clock; it holds for every figure of the row"
    COST_NOTES: "cost_notes", Text, "notes on costs", Cost(|price| price.cost_notes().as_deref().into());
        "which figures of area and energy are used outside of the range that they were made for, or why there is none"

    // What tags and keys leave open.
    FORGERY: "forgery_log2", Plain, "bound on a first forgery, log2", Run(|seen| seen.risk().forgery_log2.into());
        "bound on a first forgery of any tag of the copy with one attempt at each, log2"
    AFTER_SUCCESS: "after_first_success", Text, "bound after a first forgery",
        Run(|seen| seen.risk().after_first_success.map(|after| after.name()).into());
        "what one forgery leaves of that bound under the same key: certain, as_before, as_claimed"
    TAG_BITS: "tag_bits", Plain, "bits of a tag", Run(|seen| seen.risk().tag_bits.map(u64::from).into());
        "bits of a tag, or of a MAC of IDE; empty if nothing is sealed"
    KEY_MESSAGES: "key_budget_messages", Plain, "key budget in messages", Run(|seen| seen.risk().key_budget_messages.into());
        "messages of this size under one key until the open driver rotates it, at its default attacker advantage of 2^-60"
    IV_MESSAGES: "iv_budget_messages", Plain, "IV budget in messages", Run(|seen| seen.risk().iv_budget_messages.into());
        "messages under one IV until its counter ends"
    IV_BUDGET: "iv_budget_bytes", Bytes, "IV budget", Run(|seen| seen.risk().iv_budget_bytes.into()); "their bytes"
    KEY_BUDGET: "key_budget_bytes", Bytes, "key budget", Run(|seen| seen.risk().key_budget_bytes.into());
        "bytes under one key until it must be rotated"

    // What all of it rests on.
    ASSUMED: "assumed_parameters", Plain, "assumed parameters", Run(|seen| seen.about.map(|about| about.assumed as u64).into());
        "parameters that nobody has published"
    SIMULATED_PART: "simulated_part", Plain, "part that was simulated", Part; "part of the work that was simulated, where it was to be sampled"
}

lists! {
    // Behind the axes of a sweep.
    SWEEP: BYTES RATE TIME DEVICE FIRST_VERIFIED MESSAGES TAGS PEAK_TAG_QUEUE QUARANTINE QUARANTINE_LEAST EXPOSURE EXPOSURE_TOTAL
        EXPOSED EXPOSED_BYTE_NS BUSIEST_UNIT BUSIEST_STATE BUSIEST_FRACTION WAITED_UNIT WAITED_FOR WAITED_FRACTION
        AREA AREA_TOTAL ENERGY
        ENGINES_SPENT BUFFERS_SPENT LINK_SPENT MEMORY_SPENT ALL_SPENT QUARANTINE_AREA FORGERY AFTER_SUCCESS KEY_BUDGET
        ASSUMED COST_NOTES DOES_NOT_CLOSE SIMULATED_PART;
    // Copies one by one: a row for each design, direction and size.
    COPIES: DESIGN DIRECTION BYTES RATE TIME BASELINE OVER_BASELINE OVER_CC OF_OFF FIRST_VERIFIED MESSAGES TAGS
        QUARANTINE QUARANTINE_LEAST EXPOSURE BUSIEST_UNIT BUSIEST_STATE BUSIEST_FRACTION WAITED_UNIT WAITED_FOR WAITED_FRACTION
        LIMITED_BY LIMIT_PARAMETER LIMIT_VALUE RELAXED_TO GAIN NEXT
        EXPOSURE_TOTAL EXPOSED EXPOSED_BYTE_NS TAG_BITS FORGERY AFTER_SUCCESS KEY_MESSAGES KEY_BUDGET IV_MESSAGES
        IV_BUDGET ENGINES AREA ENERGY ENGINES_SPENT BUFFERS_SPENT LINK_SPENT MEMORY_SPENT ALL_SPENT SMS_USED QUARANTINE_ROOM TAG_QUEUE_ROOM STORAGE
        STORAGE_FLIP_FLOPS QUARANTINE_AREA AREA_TOTAL COST_MISSING COST_NOTES DOES_NOT_CLOSE SIMULATED_PART;
    // A workload: a row for each design.
    WORKLOADS: WORKLOAD DESIGN TIME OVER_OFF OVER_CC H2D_COPIES H2D_BYTES H2D_DEVICE H2D_CALLS D2H_COPIES D2H_BYTES
        D2H_DEVICE D2H_CALLS D2D_COPIES D2D_BYTES D2D_DEVICE D2D_CALLS IDLE COLLECTIVES COLLECTIVES_SIMULATED
        COLLECTIVES_BYTES COLLECTIVES_TIME COLLECTIVES_EXPOSED MESSAGES TAGS QUARANTINE QUARANTINE_LEAST EXPOSURE EXPOSURE_TOTAL
        EXPOSED EXPOSED_BYTE_NS AREA_TOTAL BUSIEST_UNIT BUSIEST_STATE BUSIEST_FRACTION
        DOES_NOT_CLOSE SIMULATED_PART;
    // What a design costs, as JSON has it.
    COST: ENGINES AREA H2D_ENERGY D2H_ENERGY SMS_USED QUARANTINE_ROOM TAG_QUEUE_ROOM STORAGE STORAGE_FLIP_FLOPS
        QUARANTINE_AREA AREA_TOTAL DOES_NOT_CLOSE;
    // Copies of a GPU, or of all, in a run.
    TRANSFERS: COPY_COUNT BYTES TIME RATE;
    // Tag queues of a run.
    TAG_QUEUE: PEAK_TAG_QUEUE QUARANTINE QUARANTINE_LEAST SCRUBBED EXPOSURE EXPOSURE_TOTAL EXPOSED EXPOSED_BYTE_NS;
    // Each way on the links of a run.
    LINK: TLPS DLLPS PAYLOAD WIRE REPLAYS RECOVERIES;
    // A collective: a row for each design, size and number of GPUs.
    COLLECTIVE: OP BYTES RANKS DESIGN MODE PROTOCOL TIME LAUNCH OVER_OFF LAUNCH_COST PATH_COST CRYPTOGRAPHY_COST RATE
        BUS_RATE TRANSFERS_SIMULATED TRANSFERS_SHARED FINISHED WRONG REFUSED DOES_NOT_CLOSE SIMULATED_PART;
}

/// The lists by who shows them.
pub static SHOWN: [(&str, &[&Figure]); 8] = [
    ("sweep", SWEEP),
    ("compare", COPIES),
    ("compare --workload", WORKLOADS),
    ("cost", COST),
    ("run: transfers", TRANSFERS),
    ("run: link", LINK),
    ("run: tag queue", TAG_QUEUE),
    ("collective", COLLECTIVE),
];
