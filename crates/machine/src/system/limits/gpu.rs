//! What the GPU's copy path may limit.

use super::{Direction, Finder, finder::time};
use crate::{gpu::spec::Common, sim::Stall, units::Cycles};
use std::rc::Rc;

/// A depth that is used up for more than this part of the time is waited for.
const USED_UP: f64 = 0.5;

/// A part of the time that is worth to be saved.
const GOOD_PART: f64 = 0.1;

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
    // What SMs have not sealed yet no buffer brings sooner.
    if !(outward && finder.machine.sealing_sms().is_some()) {
        finder.depth("copy_engine.read_buffer", buffer);
    }
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
    let (unused, starved) = (finder.unused(), finder.starved());
    // More messages help as far as what is there does not keep the copy engines at work. Whatever has room for more and waits for the depth most of
    // the time is limited by it.
    let waited_for = messages.fraction > USED_UP && starved > GOOD_PART;
    let likely = if waited_for { messages.fraction } else { messages.fraction.min(2.0 * starved) };
    finder.likely_depth("copy_engine.messages_in_flight", messages, likely);
    let stripes = finder.stalled(front_end, Stall::StripesInFlight);
    // What has come of a stripe is bound by the copy engines first.
    finder.likely_depth("copy_engine.stripes_in_flight", stripes, stripes.fraction * 0.7);
    let order = finder.stalled(front_end, Stall::Order);
    for (path, cycles) in
        [("fetch", spec.fetch), ("launch", spec.launch), ("flush", spec.flush), ("turnaround", spec.turnaround)]
    {
        let waits = order.fraction.min(unused);
        finder.likely_latency(&format!("copy_engine.{path}"), order, time(cycles, spec.clock), waits);
    }
    let busy = finder.busy(front_end);
    let words = Cycles(spec.method_word.0.saturating_mul(METHOD_WORDS));
    let part = finder.part(time(words, spec.clock), finder.subject.messages);
    finder.may("copy_engine.method_word", busy, part, part * 0.3);
    let schedule = time(machine.compute.schedule, spec.clock);
    finder.likely_latency("compute.schedule", order, schedule, order.fraction.min(unused));
    let pces = if machine.sealed_path() { "copy_engine.pces_secure" } else { "copy_engine.pces_plain" };
    let own = [Stall::OutstandingReads, Stall::ReadBuffer, Stall::AesBusy, Stall::GhashBusy, Stall::ReadData];
    let all = finder.most(own.map(|stall| finder.pce(stall)));
    // One message is the work of one engine.
    let shared = !machine.sealed_path() || finder.subject.messages > 1;
    finder.remedy(pces, all, all.fraction.max(busy.fraction), if shared { all.fraction * 0.2 } else { 0.0 });
}

/// The engines that seal and open.
fn engines(finder: &mut Finder<'_>) {
    if !finder.machine.sealed_path() {
        return;
    }
    let [aes, ghash, shared] = [Stall::AesBusy, Stall::GhashBusy, Stall::EngineBusy].map(|stall| finder.pce(stall));
    let busy = finder.engines();
    let seen = finder.most([aes, ghash, shared]);
    let bound = busy.fraction.max(seen.fraction);
    let waits = (aes.fraction + ghash.fraction + shared.fraction).min(bound);
    let outward = finder.subject.direction == Direction::D2h;
    let opens_apart = !outward && finder.machine.copy_engine.open_ghash.is_some();
    let tables = ["engine.", "aead.", "copy_engine.open_ghash."];
    let mut paths: Vec<_> = tables.iter().flat_map(|table| finder.numbers(table)).collect();
    paths.retain(|path| match path.split_once('.') {
        _ if path.ends_with(".compare") => false,
        Some(("engine", rest)) => finder.machine.aead.is_none() && !(opens_apart && rest.starts_with("ghash")),
        Some(("copy_engine", _)) => opens_apart,
        _ => true,
    });
    let saved = if waits > 0.0 { finder.saved(&paths) } else { Rc::default() };
    for path in paths {
        let own = if path.contains("ghash") { ghash } else { aes };
        let evidence = [own, seen, busy].into_iter().find(|one| one.fraction > 0.0).unwrap_or(busy);
        // What halves the time of the text that waits accounts for all of the wait.
        let likely = 2.0 * saved.get(path).copied().unwrap_or_default().max(0.0) * waits;
        finder.may(path, evidence, bound, likely);
    }
    for path in ["copy_engine.engine_wire", "copy_engine.engine_turn"] {
        if finder.machine.common() != Common::Nothing {
            finder.may(path, seen, bound, shared.fraction * 0.3);
        }
    }
}

fn tags(finder: &mut Finder<'_>) {
    if !finder.machine.sealed_path() {
        return;
    }
    let full = finder.stalled("gpu.front_end_read", Stall::TagQueueFull);
    finder.depth("tag_queue.depth", full);
    let common = finder.stalled("gpu.front_end_read", Stall::Quarantine);
    let quarantine = finder.most([finder.pce(Stall::Quarantine), common]);
    finder.depth("tag_queue.quarantine", quarantine);
    let busy = finder.busy("gpu.tag_queue");
    finder.may("tag_queue.comparators", busy, busy.fraction, busy.fraction * 0.5);
    for path in ["engine.compare", "aead.compare"] {
        if !finder.numbers(path).is_empty() {
            finder.may(path, busy, busy.fraction, busy.fraction);
        }
    }
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
        // More SMs share the blocks of a message; where they rest in between, its latency counts, which they do not shorten.
        let all = path == "sm.used" && busy.fraction > 0.9;
        finder.may(path, busy, busy.fraction, if all { busy.fraction } else { busy.fraction * 0.5 });
    }
    finder.may("compute.launch", submission, submission.fraction, submission.fraction);
}
