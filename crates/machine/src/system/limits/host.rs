//! What the driver, the CPU's cipher and private memory may limit.

use super::{
    Direction, Finder, Memory, Pages, Subject,
    finder::{Evidence, time},
};
use crate::{
    config::MachineSpec,
    host::{
        Stride,
        spec::{AheadSpec, CipherWork},
    },
    sim::Stall,
    units::{Bytes, BytesPerCycle, Cycles},
};

/// Threads that work for more than this part of the time are what others wait for.
const SATURATED: f64 = 0.9;

/// A part of the time that is worth to be saved.
const GOOD_PART: f64 = 0.1;

/// A page, as first touches are counted.
const PAGE: u64 = 4096;

pub(super) fn find(finder: &mut Finder<'_>) {
    let (machine, subject) = (finder.machine, finder.subject);
    let (spec, secure) = (&machine.driver, machine.sealed_path());
    let driver = finder.busy("host.driver");
    let mut each = |name: &str, cost: Cycles, times: u64| {
        let part = finder.part(time(cost, machine.cpu.clock), times);
        finder.cost(&format!("driver.{name}"), driver, part);
    };
    if subject.direction == Direction::D2d {
        each("launch", spec.launch, 1);
        return;
    }
    each("call", spec.call, 1);
    match subject.direction {
        _ if !subject.flushed => {}
        Direction::D2h => each("cold_call.d2h", spec.cold_call.d2h, 1),
        _ => each("cold_call.h2d", spec.cold_call.h2d, 1),
    }
    let pushes = pushes(machine, subject);
    each("push", spec.push, pushes);
    each("completion", spec.completion, pushes);
    if secure {
        each("cold_call.secure", spec.cold_call.secure, u64::from(subject.flushed));
        each("secure_push", spec.secure_push, pushes);
        each("secure_completion", spec.secure_completion, pushes);
    }
    if secure || subject.memory == Memory::Pageable {
        depths(finder, secure);
        cipher(finder, secure);
        memory(finder);
    }
}

/// Pushes that hand a copy over, of one message or of several.
fn pushes(machine: &MachineSpec, subject: Subject) -> u64 {
    let way = (subject.direction, subject.memory);
    let stride = Stride::of((&machine.driver, &machine.staging), machine.sealed_path(), way);
    let messages = subject.messages.max(1);
    let staged = stride.turn.map(|_| subject.bytes.div_ceil(stride.step.0.max(1)));
    staged.unwrap_or(messages).clamp(1, messages)
}

/// What the driver may have in flight.
fn depths(finder: &mut Finder<'_>, secure: bool) {
    let window = match finder.subject.memory {
        Memory::Pinned => "in_flight",
        Memory::Pageable if secure => "in_flight_pageable",
        Memory::Pageable => "in_flight_plain",
    };
    let way = if finder.subject.direction == Direction::D2h { "d2h" } else { "h2d" };
    let unused = finder.unused();
    for (path, stall) in
        [(&*format!("driver.{window}.{way}"), Stall::PushesInFlight), ("staging.buffers", Stall::StagingFull)]
    {
        let full = finder.stalled("host.driver", stall);
        let part = full.fraction.min(unused);
        // Twice a depth saves all of that, twice a rate half of what it accounts for.
        let likely = if part > GOOD_PART { full.fraction.max(2.0 * part) } else { 2.0 * part };
        finder.likely_depth(path, full, likely);
    }
    if !finder.machine.cipher.on_caller {
        let all_work = finder.stalled("host.driver", Stall::HostCipher);
        let busy = finder.busy("host.cipher").fraction;
        let likely = threads(finder, finder.machine.cipher.threads.into(), busy, all_work.fraction);
        finder.likely_depth("cipher.threads", all_work, likely);
    }
}

/// How likely more threads help that are at work for a part of the time and are waited for. Where they always are and have messages to share, they bear
/// all of their work: more of them spare more of it than any of their rates where there are several, as in sealing, and as much where they only copy.
fn threads(finder: &Finder<'_>, threads: u64, busy: f64, waited: f64) -> f64 {
    let shared = finder.subject.messages >= 2 * threads.max(1);
    match shared && busy > SATURATED {
        true if finder.seals() => 1.01 * busy,
        true => 0.99 * busy,
        false => 0.1 * waited,
    }
}

/// The work of the cipher's threads.
fn cipher(finder: &mut Finder<'_>, secure: bool) {
    let (machine, subject) = (finder.machine, finder.subject);
    let (spec, driver) = (&machine.cipher, &machine.driver);
    let work = Work::of(finder);
    let outward = subject.direction == Direction::D2h;
    let ahead = spec.ahead.filter(|ahead| secure && subject.bytes >= ahead.least.0);
    if let Some(ahead) = ahead {
        helpers(finder, &ahead);
    }
    let (seals, opens) = match (secure, spec.work) {
        (true, CipherWork::Seal) => match ahead {
            Some(ahead) if outward => (false, ahead.open_workers == 0),
            Some(_) => (work.has_time_for(finder, spec.seal_rate), false),
            None => (!outward, outward),
        },
        (true, CipherWork::Reseal) => (true, true),
        _ => (false, false),
    };
    if seals {
        work.rate(finder, "cipher.seal_rate", spec.seal_rate, subject.bytes);
    }
    if opens {
        work.rate(finder, "cipher.open_rate", spec.open_rate, subject.bytes);
    }
    if seals || opens {
        work.cost(finder, "cipher.per_message", spec.per_message, subject.messages);
    } else if spec.work != CipherWork::InPlace || !secure {
        work.rate(finder, "driver.pageable_copy_rate", driver.pageable_copy_rate, subject.bytes);
    }
    let small = driver.small.covers(Bytes(subject.bytes), outward);
    if small {
        work.rate(finder, "driver.small.rate", driver.small.rate, subject.bytes);
    }
    if small && (subject.flushed || subject.pages != Pages::Warm) {
        work.cost(finder, "driver.small.secure_cold_line", driver.small.secure_cold_line, PAGE / 64);
        work.rate(finder, "driver.small.secure_cold_rate", driver.small.secure_cold_rate, subject.bytes);
    }
}

/// The work of threads in addition to the caller.
fn helpers(finder: &mut Finder<'_>, ahead: &AheadSpec) {
    let (cipher, subject) = (&finder.machine.cipher, finder.subject);
    let waited = finder.stalled("host.driver", Stall::HostCipher);
    if subject.direction != Direction::D2h {
        // Whoever seals within the call waits for itself.
        if waited.fraction > 0.0 && !Work::of(finder).has_time_for(finder, cipher.seal_rate) {
            finder.likely_depth("cipher.ahead.workers", waited, waited.fraction * 0.1);
        }
    } else if ahead.open_workers > 0 {
        let work = Work { busy: finder.busy("host.openers"), threads: ahead.open_workers.into() };
        work.rate(finder, "cipher.open_rate", cipher.open_rate, subject.bytes);
        let likely = threads(finder, work.threads, work.busy.fraction, work.busy.fraction);
        finder.likely_depth("cipher.ahead.open_workers", work.busy, likely);
    }
}

/// What private memory adds to that work.
fn memory(finder: &mut Finder<'_>) {
    let (spec, bytes) = (&finder.machine.memory, finder.subject.bytes);
    let (work, pages) = (Work::of(finder), bytes.div_ceil(PAGE));
    work.rate(finder, "memory.llc_rate", spec.llc_rate, bytes);
    work.rate(finder, "memory.dram_rate", spec.dram_rate, bytes);
    match finder.subject.memory {
        _ if finder.subject.pages != Pages::Fresh => {}
        Memory::Pageable => work.cost(finder, "memory.first_touch", spec.first_touch, pages),
        Memory::Pinned => work.cost(finder, "memory.first_touch_pinned", spec.first_touch_pinned, pages),
    }
}

/// Work on the cipher's threads.
struct Work {
    busy: Evidence,
    threads: u64,
}

impl Work {
    fn of(finder: &Finder<'_>) -> Self {
        let on_caller = finder.machine.cipher.on_caller;
        let threads = if on_caller { 1 } else { u64::from(finder.machine.cipher.threads).max(1) };
        Self { busy: finder.busy("host.cipher"), threads }
    }

    /// Whether the threads were busy for so long that they have done all of the copy at a rate.
    fn has_time_for(&self, finder: &Finder<'_>, rate: BytesPerCycle) -> bool {
        let cycles = Cycles(rate.cycles_for(finder.subject.bytes));
        self.busy.fraction >= 0.9 * finder.part(time(cycles, finder.machine.cpu.clock), 1)
    }

    fn rate(&self, finder: &mut Finder<'_>, path: &str, rate: BytesPerCycle, bytes: u64) {
        self.cost(finder, path, Cycles(rate.cycles_for(bytes)), 1);
    }

    /// Each thread bears its part; but as long as the window is not full of messages, one thread's work may be all that is waited for.
    fn cost(&self, finder: &mut Finder<'_>, path: &str, cost: Cycles, times: u64) {
        let part = finder.part(time(cost, finder.machine.cpu.clock), times).min(self.busy.fraction);
        let threads = self.threads.min(finder.subject.messages).max(1);
        finder.may(path, self.busy, part, part / threads as f64);
    }
}
