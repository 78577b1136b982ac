//! A PCE on a bench: its neighbours are the tests.

mod aead;
mod oracle;

use super::*;
use crate::{
    gcm::{iv::Nonce, spec::GcmSpec},
    gpu::{
        release::Release,
        spec::{TagFetch, TagPlacement},
        work::{Job, LaunchKind, Share},
    },
    pcie::packet::Kind,
    sim::Netlist,
    units::{Bytes, Cycles, Femtos},
};
use std::sync::Arc;

const KEY: [u8; 32] = [7; 32];
/// Of nonces longer than 12 bytes.
const TAIL: [u8; 20] = [8; 20];
const NONCE: Nonce = Nonce([9; 12]);
const TAG_ADDRESS: u64 = 0x2_0000_0000;
const SOURCE: u64 = 0x1_0000_0000;
const DEVICE: u64 = 1 << 55;

fn spec() -> PceSpec {
    PceSpec {
        copy_engine: CopyEngineSpec::bench(),
        engine: Some(EngineSpec::Gcm(GcmSpec::four_lanes())),
        shared: None,
        own_aes: false,
        engine_clock: None,
        aside: None,
        max_read_request: MaxSize::new(512).unwrap(),
        max_payload: MaxSize::new(256).unwrap(),
        first_tag: 0x100,
        tags: 16,
        tag_queue: TagQueueSpec::bench(),
        staging: None,
        stored: None,
    }
}

fn job(kind: LaunchKind, bytes: u64) -> Job {
    let (source, destination) = if kind.reads_host() { (SOURCE, DEVICE) } else { (DEVICE, SOURCE) };
    Job {
        id: 1,
        kind,
        source,
        destination,
        bytes,
        tag: TAG_ADDRESS,
        iv: TAG_ADDRESS + 4096,
        iv_bytes: [3; 12],
        nonce: NONCE.0,
        share: Share::whole(1, bytes),
    }
}

/// A PCE with its queues and wires. What it sends is collected with the cycle in which it was sent.
struct Bench {
    pce: Pce,
    ports: Ports,
    clock: Clock,
    cycle: u64,
    work: Out<PceWork>,
    completions: Out<Tlp>,
    requests: In<Tlp>,
    reads: In<MemoryRead>,
    data: Tx<MemoryData>,
    writes: Rx<MemoryWrite>,
    reports: Rx<TagReport>,
    released: Out<Verdict>,
    done: In<Done>,
    sent: Vec<(u64, Tlp)>,
    landed: Vec<MemoryWrite>,
    /// Cycles in which they come to device memory.
    dates: Vec<u64>,
    reported: Vec<TagReport>,
    ended: Vec<(u64, Done)>,
}

impl Bench {
    fn ended(&self) -> Vec<Done> {
        self.ended.iter().map(|(_, done)| *done).collect()
    }

    fn new(spec: PceSpec) -> Self {
        let format = spec.engine.as_ref().map_or(WireFormat::GCM, EngineSpec::format);
        let key = || PathKey::new(format, &KEY, TAIL).unwrap();
        let clock = Clock::new(spec.copy_engine.clock).unwrap();
        let mut netlist = Netlist::new();
        let (work, work_in) = netlist.queue("work", 64);
        let (completions, completions_in) = netlist.queue("completions", 1 << 16);
        let (requests_out, requests) = netlist.queue("requests", 1 << 16);
        let (reads_out, reads) = netlist.queue("reads", 16);
        let (data, data_in) = netlist.wire("data", Femtos(1));
        let (writes_out, writes) = netlist.wire("writes", Femtos(1));
        let (reports_out, reports) = netlist.wire("reports", Femtos(1));
        let (released, released_in) = netlist.queue("released", 16);
        let (done_out, done) = netlist.queue("done", 16);
        let ports = Ports {
            work: work_in,
            completions: Some(completions_in),
            requests: requests_out,
            reads: reads_out,
            data: data_in,
            writes: writes_out,
            reports: Some(reports_out),
            released: Some(released_in),
            sm: None,
            engine: None,
            done: done_out,
            signals: netlist.signals("pce"),
        };
        Self {
            pce: Pce::new(
                spec,
                Some(Arc::new(Keys { h2d: key(), d2h: key() })),
                Rc::new(Worker::new()),
                Rc::default(),
                clock,
            )
            .unwrap(),
            ports,
            clock,
            cycle: 0,
            work,
            completions,
            requests,
            reads,
            data,
            writes,
            reports,
            released,
            done,
            sent: Vec::new(),
            landed: Vec::new(),
            dates: Vec::new(),
            reported: Vec::new(),
            ended: Vec::new(),
        }
    }

    /// As [`spec`] says, but for a change.
    fn with(change: impl FnOnce(&mut PceSpec)) -> Self {
        let mut spec = spec();
        change(&mut spec);
        Self::new(spec)
    }

    fn give(&mut self, work: PceWork) {
        self.work.push(self.clock.edge(self.cycle), work);
        self.step();
    }

    fn complete(&mut self, tlp: Tlp) {
        self.completions.push(self.clock.edge(self.cycle), tlp);
    }

    /// One edge of the PCE, then one of its neighbours.
    fn step(&mut self) -> Wake {
        let time = self.clock.edge(self.cycle);
        let wake = self.pce.tick(Now { cycle: self.cycle, time }, &mut self.ports);
        let next = self.clock.edge(self.cycle + 1);
        while let Some(tlp) = self.requests.pop(next) {
            self.sent.push((self.cycle, tlp));
        }
        while let Some((date, write)) = self.writes.arrive_dated(Femtos::MAX) {
            self.dates.push(self.clock.first_from(date));
            self.landed.push(write);
        }
        while let Some(report) = self.reports.arrive(Femtos::MAX) {
            self.reported.push(report);
        }
        while let Some(done) = self.done.pop(next) {
            self.ended.push((self.cycle, done));
        }
        self.cycle += 1;
        wake
    }

    fn run_to(&mut self, cycle: u64) {
        while self.cycle < cycle {
            self.step();
        }
    }

    fn reads_sent(&self) -> Vec<(u64, Tlp)> {
        self.sent.iter().filter(|(_, tlp)| tlp.kind == Kind::Read).cloned().collect()
    }
}

fn answer(read: &Tlp, payload: Payload) -> Tlp {
    Tlp { kind: Kind::Completion, byte_count: read.bytes, payload, ..Tlp::read(read.tag, read.address, read.bytes) }
}

fn zeros(read: &Tlp) -> Tlp {
    answer(read, Payload::of(vec![0; read.bytes as usize]))
}

#[test]
fn the_first_request_goes_out_launch_cycles_after_the_transfer_came_in() {
    let mut bench = Bench::new(spec());
    bench.give(PceWork::Transfer(job(LaunchKind::Fetch, 512)));
    // Given in cycle 0, taken in cycle 1.
    bench.run_to(11);
    assert!(bench.sent.is_empty());
    bench.step();
    assert_eq!(bench.sent.len(), 1);
    assert_eq!(bench.sent[0].0, 11);
}

#[test]
fn requests_keep_their_interval_and_no_more_are_outstanding_than_may_be() {
    let mut spec = spec();
    spec.copy_engine.request_interval = Cycles(5);
    spec.copy_engine.outstanding_reads = 3;
    let mut bench = Bench::new(spec);
    bench.give(PceWork::Transfer(job(LaunchKind::Fetch, 4096)));
    bench.run_to(100);
    let cycles: Vec<_> = bench.reads_sent().iter().map(|read| read.0).collect();
    assert_eq!(cycles, [11, 16, 21]);
    // One comes back in cycle 101; its tag is free for a request in that cycle.
    let first = bench.sent[0].1.clone();
    bench.complete(zeros(&first));
    bench.step();
    assert_eq!(bench.sent.len(), 3);
    bench.step();
    assert_eq!(bench.sent.last().map(|s| s.0), Some(101));
    bench.run_to(200);
    assert_eq!(bench.sent.len(), 4);
}

#[test]
fn a_completion_out_of_turn_frees_nothing_and_the_one_before_it_frees_both() {
    let mut bench = Bench::with(|spec| spec.copy_engine.outstanding_reads = 2);
    bench.give(PceWork::Transfer(job(LaunchKind::Fetch, 4096)));
    bench.run_to(50);
    let reads = bench.reads_sent();
    assert_eq!(reads.len(), 2);
    bench.complete(zeros(&reads[1].1));
    bench.run_to(100);
    assert_eq!(bench.reads_sent().len(), 2);
    bench.complete(zeros(&reads[0].1));
    bench.run_to(150);
    assert_eq!(bench.reads_sent().len(), 4);
}

#[test]
fn a_read_passes_on_when_all_of_it_has_come() {
    let mut bench = Bench::with(|spec| spec.copy_engine.burst = Bytes(256));
    bench.give(PceWork::Transfer(job(LaunchKind::Fetch, 1024)));
    bench.run_to(50);
    let whole = zeros(&bench.sent[0].1.clone());
    bench.complete(Tlp { bytes: 256, payload: whole.payload.part(0, 256), ..whole.clone() });
    bench.run_to(100);
    assert!(bench.landed.is_empty());
    let (address, payload) = (whole.address + 256, whole.payload.part(256, 256));
    bench.complete(Tlp { address, bytes: 256, byte_count: 256, payload, ..whole });
    bench.run_to(150);
    assert_eq!(bench.landed.iter().map(|write| write.bytes).sum::<u32>(), 512);
}

#[test]
fn a_read_that_fails_gives_back_its_room_in_the_read_buffer() {
    let mut bench = Bench::with(|spec| spec.copy_engine.read_buffer = Bytes(1024));
    bench.give(PceWork::Transfer(job(LaunchKind::Fetch, 1024)));
    bench.give(PceWork::Transfer(job(LaunchKind::Fetch, 1024)));
    bench.run_to(50);
    let reads = bench.reads_sent();
    assert_eq!(reads.len(), 2);
    for (_, read) in reads {
        bench.complete(Tlp { kind: Kind::Unsupported, payload: Payload::none(), bytes: 0, ..zeros(&read) });
    }
    bench.run_to(100);
    assert_eq!(bench.reads_sent().len(), 4);
}

#[test]
fn the_read_buffer_bounds_what_is_asked_for() {
    let mut bench = Bench::with(|spec| spec.copy_engine.read_buffer = Bytes(2 * 512 + 511));
    bench.give(PceWork::Transfer(job(LaunchKind::Fetch, 4096)));
    bench.run_to(100);
    assert_eq!(bench.reads_sent().len(), 2);
    let first = bench.sent[0].1.clone();
    bench.complete(zeros(&first));
    bench.run_to(200);
    assert_eq!(bench.reads_sent().len(), 3);
}

#[test]
fn a_read_times_out_in_its_cycle_and_not_before() {
    for (kind, reports) in [(LaunchKind::Fetch, 0), (LaunchKind::Open, 2)] {
        let mut bench = Bench::new(spec());
        bench.give(PceWork::Transfer(job(kind, 512)));
        // Asked for in cycle 11, given up 500 cycles later.
        bench.run_to(511);
        assert!(bench.pce.incidents().is_empty());
        bench.step();
        assert!(bench.pce.incidents()[0].contains("timed out"), "{:?}", bench.pce.incidents());
        bench.step();
        assert_eq!(bench.reported.len(), reports);
        assert!(bench.reported.iter().all(|report| report.tag.is_none()));
        let failed = Done::Transfer { job: 1, ok: false };
        assert_eq!(bench.ended(), if kind == LaunchKind::Fetch { vec![failed] } else { vec![] });
    }
}

/// Answers the reads of a message as they come, data with zeros; gives the cycle in which the PCE has taken the last data.
fn answer_all(bench: &mut Bench, bytes: u64) -> u64 {
    let (mut answered, mut last) = (0, 0);
    while bench.reported.len() < 2 {
        assert!(bench.cycle < 10_000, "{} reads answered", answered);
        let reads = bench.reads_sent();
        if let Some((_, read)) = reads.get(answered) {
            bench.complete(zeros(read));
            answered += 1;
            if read.address + u64::from(read.bytes) == SOURCE + bytes {
                last = bench.cycle + 1;
            }
        }
        bench.step();
    }
    last
}

#[test]
fn a_message_that_is_opened_when_it_has_arrived_needs_no_room_and_leaves_a_burst_after_the_other() {
    let mut spec = spec();
    spec.copy_engine.read_buffer = Bytes(1024);
    let mut arriving = Bench::new(spec.clone());
    arriving.give(PceWork::Transfer(job(LaunchKind::Open, 4096)));
    let last = answer_all(&mut arriving, 4096);
    assert!(arriving.dates[0] < last);

    spec.stored = Some(100);
    let mut bench = Bench::new(spec);
    bench.give(PceWork::Transfer(job(LaunchKind::Open, 4096)));
    let last = answer_all(&mut bench, 4096);
    // Four lanes take 512 B in eight cycles; the last row is at the output a cycle later and goes out in the next.
    let dates: Vec<_> = (1..=8).map(|burst| last + 100 + 8 * burst + 1).collect();
    assert_eq!(bench.dates, dates);
    let deposits = |bench: &Bench| -> Vec<u8> {
        let deposit = bench.landed.last().and_then(|write| write.deposit.clone());
        deposit.and_then(|(_, payload)| payload.bytes().map(<[u8]>::to_vec)).unwrap_or_default()
    };
    assert_eq!(deposits(&bench), deposits(&arriving));
    assert_eq!(deposits(&bench).len(), 4096);
    let tags =
        |bench: &Bench| bench.reported.iter().find(|report| report.computed).and_then(|report| report.tag.clone());
    assert!(tags(&bench).is_some() && tags(&bench) == tags(&arriving));
}

#[test]
fn a_stored_message_that_is_given_up_leaves_the_engine_to_the_next() {
    let mut bench = Bench::with(|spec| spec.stored = Some(50));
    bench.give(PceWork::Transfer(job(LaunchKind::Open, 2048)));
    let next = Job { id: 2, source: SOURCE + (1 << 20), ..job(LaunchKind::Open, 1024) };
    bench.give(PceWork::Transfer(next));
    bench.run_to(40);
    let reads = bench.reads_sent();
    bench.complete(zeros(&reads[0].1));
    bench.step();
    bench.complete(Tlp { kind: Kind::Unsupported, byte_count: 4, ..reads[1].1.clone() });
    bench.step();
    for (_, read) in &reads[2..] {
        bench.complete(zeros(read));
        bench.step();
    }
    bench.run_to(400);
    assert!(bench.landed.iter().all(|write| write.job == 2));
    assert_eq!(bench.landed.iter().map(|write| write.bytes).sum::<u32>(), 1024);
}

#[test]
fn a_read_that_is_not_supported_fails_the_transfer() {
    let mut bench = Bench::new(spec());
    bench.give(PceWork::Transfer(job(LaunchKind::Fetch, 512)));
    bench.run_to(20);
    let refused = Tlp { kind: Kind::Unsupported, byte_count: 4, ..bench.sent[0].1.clone() };
    bench.complete(refused);
    bench.run_to(23);
    assert_eq!(bench.ended(), [Done::Transfer { job: 1, ok: false }]);
}

#[test]
fn a_semaphore_goes_out_after_all_earlier_writes() {
    let mut bench = Bench::new(spec());
    bench.give(PceWork::Transfer(job(LaunchKind::Seal, 1024)));
    bench.run_to(20);
    serve_device(&mut bench, &[0; 1024]);
    bench.give(PceWork::Release { address: TAG_ADDRESS, bytes: 4, value: 5, push: None });
    bench.run_to(bench.cycle + 100);
    let writes: Vec<_> = bench.sent.iter().map(|(_, tlp)| (tlp.address, tlp.bytes)).collect();
    let last = writes.last().copied();
    assert_eq!(last, Some((TAG_ADDRESS, 4)));
    // Four of data, the tag, the IV, the semaphore.
    assert_eq!(writes.len(), 7);
    assert_eq!(bench.ended(), [Done::Transfer { job: 1, ok: true }]);
}

#[test]
fn the_end_of_a_push_is_told_when_the_link_has_taken_its_semaphore() {
    for (push, ended) in [(None, vec![]), (Some(7), vec![Done::Release { push: 7 }])] {
        let mut bench = Bench::new(spec());
        bench.give(PceWork::Release { address: TAG_ADDRESS, bytes: 4, value: 5, push });
        bench.run_to(20);
        assert_eq!(bench.sent.len(), 1);
        assert_eq!(bench.ended(), ended);
    }
}

#[test]
fn an_engine_whose_message_was_given_up_goes_on_with_the_next() {
    let mut bench = Bench::new(spec());
    bench.give(PceWork::Transfer(job(LaunchKind::Seal, 4096)));
    let next = Job { id: 2, source: DEVICE + 4096, destination: SOURCE + 4096, ..job(LaunchKind::Seal, 4096) };
    bench.give(PceWork::Transfer(next));
    bench.run_to(40);
    // Two bursts of the first message have changed places.
    let bursts = [0, 1, 2, 3, 4, 6, 5, 7].into_iter().chain(8..16);
    for burst in bursts {
        let address = DEVICE + 512 * burst;
        let data = MemoryData { address, bytes: 512, payload: Payload::of(vec![0; 512]) };
        bench.data.send(bench.clock.edge(bench.cycle + 1), data);
        bench.step();
    }
    bench.run_to(500);
    assert_eq!(bench.ended(), [Done::Transfer { job: 1, ok: false }, Done::Transfer { job: 2, ok: true }]);
    bench.give(PceWork::Release { address: TAG_ADDRESS, bytes: 4, value: 5, push: None });
    bench.run_to(510);
    assert_eq!(bench.sent.last().map(|(_, tlp)| tlp.bytes), Some(4));
}

#[test]
fn under_hold_nothing_leaves_before_the_verdict_and_all_of_it_after_a_good_one() {
    for ok in [true, false] {
        let mut bench =
            Bench::with(|spec| (spec.tag_queue.release, spec.tag_queue.quarantine) = (Release::Hold, Bytes(2048)));
        bench.give(PceWork::Transfer(job(LaunchKind::Open, 2048)));
        serve_host(&mut bench, &[5; 2048], &[0; 16], |_| 0, 512);
        assert!(bench.landed.is_empty());
        assert_eq!(bench.pce.peak_quarantine(), 2048);
        bench.released.push(bench.clock.edge(bench.cycle), Verdict { job: 1, ok });
        bench.run_to(bench.cycle + 20);
        assert_eq!(bench.landed.iter().map(|w| w.bytes).sum::<u32>(), if ok { 2048 } else { 0 });
    }
}

#[test]
fn under_hold_a_message_waits_for_room_in_quarantine() {
    let mut bench =
        Bench::with(|spec| (spec.tag_queue.release, spec.tag_queue.quarantine) = (Release::Hold, Bytes(1024 + 511)));
    bench.give(PceWork::Transfer(job(LaunchKind::Open, 1024)));
    bench.give(PceWork::Transfer(Job { id: 2, ..job(LaunchKind::Open, 512) }));
    bench.run_to(100);
    // Two of data and a tag of the first message, none of the second.
    assert_eq!(bench.reads_sent().len(), 3);
    assert_eq!(bench.step().activity, Activity::Stall(Stall::Quarantine));
}

#[test]
fn what_goes_ahead_needs_no_room_and_is_cut_to_the_byte() {
    let mut spec = spec();
    (spec.tag_queue.release, spec.tag_queue.quarantine) = (Release::Skid, Bytes(512));
    spec.tag_queue.skid = Some(Bytes(700));
    let mut bench = Bench::new(spec);
    bench.give(PceWork::Transfer(job(LaunchKind::Open, 1024)));
    bench.give(PceWork::Transfer(Job { id: 2, ..job(LaunchKind::Open, 512) }));
    bench.run_to(100);
    // Of the first message 324 B wait; for those of the second there is no room.
    assert_eq!(bench.reads_sent().len(), 3);
    assert_eq!(bench.step().activity, Activity::Stall(Stall::Quarantine));
    serve_host(&mut bench, &[5; 1024], &[0; 16], |_| 0, 512);
    let landed = |bench: &Bench| bench.landed.iter().map(|write| (write.offset, write.bytes)).collect::<Vec<_>>();
    assert_eq!(landed(&bench), [(0, 512), (512, 188)]);
    assert!(bench.landed.iter().all(|write| !write.last && write.deposit.is_none()));
    assert_eq!(bench.pce.peak_quarantine(), 324);
    bench.released.push(bench.clock.edge(bench.cycle), Verdict { job: 1, ok: true });
    bench.run_to(bench.cycle + 20);
    assert_eq!(landed(&bench)[2..], [(700, 324)]);
    assert!(bench.landed[2].last && bench.landed[2].deposit.is_some());
    // The second message may go ahead as a whole.
    assert_eq!((bench.reads_sent().len(), bench.pce.quarantine.reserved()), (5, 0));
}

/// Answers the reads of device memory as they come, until nothing more is asked.
fn serve_device(bench: &mut Bench, memory: &[u8]) {
    for _ in 0..2000 + memory.len() / 16 {
        let time = bench.clock.edge(bench.cycle);
        while let Some(read) = bench.reads.pop(time) {
            let start = (read.address - DEVICE) as usize;
            let payload = Payload::of(memory[start..start + read.bytes as usize].to_vec());
            let date = bench.clock.edge(bench.cycle + 3);
            let data = MemoryData { address: read.address, bytes: read.bytes, payload };
            bench.data.send(date, data);
        }
        bench.step();
    }
}

/// Answers reads of the host's message and tag, each after its own `delay`, in completions of at most `piece` bytes.
fn serve_host(bench: &mut Bench, message: &[u8], tag: &[u8], delay: impl Fn(u64) -> u64, piece: u32) {
    let mut answered = 0;
    let mut due: Vec<(u64, Tlp)> = Vec::new();
    for _ in 0..20_000 + message.len() {
        for (_, read) in bench.sent.iter().skip(answered).filter(|(_, tlp)| tlp.kind == Kind::Read) {
            let date = bench.cycle + delay(read.address);
            let mut at = read.address;
            let end = read.address + u64::from(read.bytes);
            while at < end {
                let bytes = u64::from(piece).min(end - at);
                let from = if read.address >= TAG_ADDRESS { (at - TAG_ADDRESS, tag) } else { (at - SOURCE, message) };
                let payload = Payload::of(from.1[from.0 as usize..(from.0 + bytes) as usize].to_vec());
                let whole = Tlp { address: at, bytes: bytes as u32, ..answer(read, payload) };
                due.push((date, Tlp { byte_count: (end - at) as u32, ..whole }));
                at += bytes;
            }
        }
        answered = bench.sent.len();
        let now = bench.cycle;
        let (ready, later) = due.into_iter().partition(|(date, _)| *date <= now);
        due = later;
        for (_, tlp) in ready {
            bench.complete(tlp);
        }
        bench.step();
        if due.is_empty() && bench.reported.len() == 2 {
            break;
        }
    }
    bench.run_to(bench.cycle + 50);
}
