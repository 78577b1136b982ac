//! What the GPU's copy path may limit.

use super::{Direction, Finder, finder::time};
use crate::{sim::Stall, units::Cycles};

/// Words of methods that start a message, at most.
const METHOD_WORDS: u64 = 64;

pub(super) fn find(finder: &mut Finder<'_>) {
    if finder.subject.direction == Direction::D2d {
        return local(finder);
    }
    reads(finder);
    launches(finder);
    engines(finder);
    tags(finder);
    device_memory(finder);
    sms(finder);
}

/// Copies within the GPU.
fn local(finder: &mut Finder<'_>) {
    let (spec, busy) = (&finder.machine.compute, finder.busy("gpu.compute"));
    let clock = spec.clock;
    for (path, rate) in [("compute.copy_rate_l2", spec.copy_rate_l2), ("compute.copy_rate_hbm", spec.copy_rate_hbm)] {
        let part = finder.part(time(Cycles(rate.cycles_for(finder.subject.bytes)), clock), 1);
        finder.cost(path, busy, part);
    }
    let part = finder.part(time(spec.copy_launch, clock), 1);
    finder.cost("compute.copy_launch", busy, part);
    finder.latency("compute.schedule", busy, time(spec.schedule, finder.machine.copy_engine.clock));
}

/// What a copy engine may ask for.
fn reads(finder: &mut Finder<'_>) {
    let outstanding = finder.pce(Stall::OutstandingReads);
    finder.depth("copy_engine.outstanding_reads", outstanding);
    let tags = finder.pce(Stall::ReadTags);
    finder.depth("link.read_tags", tags);
    // On the way to the host what the buffer holds is read from device memory.
    let outward = finder.subject.direction == Direction::D2h;
    let buffer = finder.pce(if outward { Stall::ReadData } else { Stall::ReadBuffer });
    finder.depth("copy_engine.read_buffer", buffer);
    let spec = &finder.machine.copy_engine;
    let request = if outward { spec.burst.0 } else { finder.machine.link.max_read_request.0 };
    let requests = finder.subject.bytes.div_ceil(request.max(1));
    let busy = finder.pce_busy();
    let part = finder.part(time(spec.request_interval, spec.clock), requests);
    finder.may("copy_engine.request_interval", busy, part, part);
}

/// How messages and stripes reach the copy engines.
fn launches(finder: &mut Finder<'_>) {
    let (machine, spec) = (finder.machine, &finder.machine.copy_engine);
    let front_end =
        if finder.subject.direction == Direction::D2h { "gpu.front_end_write" } else { "gpu.front_end_read" };
    let messages = finder.stalled(front_end, Stall::MessagesInFlight);
    finder.depth("copy_engine.messages_in_flight", messages);
    let stripes = finder.stalled(front_end, Stall::StripesInFlight);
    // What has come of a stripe is bound by the copy engines first.
    finder.likely_depth("copy_engine.stripes_in_flight", stripes, stripes.fraction * 0.7);
    let order = finder.stalled(front_end, Stall::Order);
    for (path, cycles) in
        [("fetch", spec.fetch), ("launch", spec.launch), ("flush", spec.flush), ("turnaround", spec.turnaround)]
    {
        finder.latency(&format!("copy_engine.{path}"), order, time(cycles, spec.clock));
    }
    let busy = finder.busy(front_end);
    let words = Cycles(spec.method_word.0.saturating_mul(METHOD_WORDS));
    let part = finder.part(time(words, spec.clock), finder.subject.messages);
    finder.may("copy_engine.method_word", busy, part, part * 0.3);
    finder.latency("compute.schedule", order, time(machine.compute.schedule, spec.clock));
    let pces = if machine.sealed_path() { "copy_engine.pces_secure" } else { "copy_engine.pces_plain" };
    let own = [Stall::OutstandingReads, Stall::ReadBuffer, Stall::AesBusy, Stall::GhashBusy, Stall::ReadData];
    let all = finder.most(own.map(|stall| finder.pce(stall)));
    finder.remedy(pces, all, all.fraction.max(busy.fraction), all.fraction * 0.4);
}

/// The engines that seal and open.
fn engines(finder: &mut Finder<'_>) {
    if !finder.machine.sealed_path() {
        return;
    }
    let [aes, ghash, shared] = [Stall::AesBusy, Stall::GhashBusy, Stall::EngineBusy].map(|stall| finder.pce(stall));
    let busy = finder.engines();
    let seen = finder.most([aes, ghash, shared]);
    let evidence = if seen.fraction > 0.0 { seen } else { busy };
    let bound = busy.fraction.max(seen.fraction);
    let outward = finder.subject.direction == Direction::D2h;
    for table in ["engine.", "aead.", "copy_engine.open_ghash."] {
        if outward && table.starts_with("copy_engine") {
            continue;
        }
        for path in finder.numbers(table) {
            let own = if path.contains("ghash") {
                ghash
            } else if path.contains("aes") {
                aes
            } else {
                seen
            };
            let likely = own.fraction.max(shared.fraction);
            finder.may(path, evidence, bound, likely.min(bound));
        }
    }
    for path in ["copy_engine.engine_wire", "copy_engine.engine_turn"] {
        if finder.machine.shared_engine() {
            finder.may(path, evidence, bound, shared.fraction * 0.3);
        }
    }
}

/// Verdicts.
fn tags(finder: &mut Finder<'_>) {
    if !finder.machine.sealed_path() {
        return;
    }
    let full = finder.stalled("gpu.front_end_read", Stall::TagQueueFull);
    finder.depth("tag_queue.depth", full);
    let quarantine = finder.pce(Stall::Quarantine);
    finder.depth("tag_queue.quarantine", quarantine);
    let busy = finder.busy("gpu.tag_queue");
    finder.may("tag_queue.comparators", busy, busy.fraction, busy.fraction * 0.5);
}

fn device_memory(finder: &mut Finder<'_>) {
    let spec = &finder.machine.hbm;
    let (writes, reads) = (finder.busy("gpu.hbm.writes"), finder.busy("gpu.hbm.reads"));
    finder.rate("hbm.write_rate", writes);
    finder.rate("hbm.read_rate", reads);
    finder.latency("hbm.write_latency", writes, time(spec.write_latency, spec.clock));
    let data = finder.most([finder.pce(Stall::ReadData), finder.pce(Stall::HbmBusy)]);
    let outward = finder.subject.direction == Direction::D2h;
    let waits = if outward { data } else { reads };
    finder.latency("hbm.read_latency", waits, time(spec.read_latency, spec.clock));
}

/// SMs that seal and open.
fn sms(finder: &mut Finder<'_>) {
    if finder.machine.sealing_sms().is_none() {
        return;
    }
    let busy = finder.busy("gpu.sm");
    let submission = finder.stalled("gpu.sm", Stall::Submission);
    for path in finder.numbers("sm.") {
        finder.may(path, busy, busy.fraction, if path == "sm.used" { busy.fraction } else { busy.fraction * 0.5 });
    }
    finder.may("compute.launch", submission, submission.fraction, submission.fraction);
}
