//! A front end on a bench: what it hands out, in which order, and what poisons its channel.

use super::*;
use crate::{
    gcm::iv::{Iv, IvMask},
    gpu::{methods::encode, spec::Sharing},
    sim::{Netlist, Tx},
    units::{Cycles, Femtos},
};
use std::collections::BTreeMap;

const DEVICE: u64 = 1 << 55;
const STAGING: u64 = 1 << 40;
const DONE: u64 = 3 << 40;
const ERROR: u64 = DONE + 64;

fn spec(release: Release) -> FrontEndSpec {
    FrontEndSpec {
        copy_engine: CopyEngineSpec { fetch: Cycles(10), messages_in_flight: 4, ..CopyEngineSpec::bench() },
        writes_host: false,
        pces: 1,
        confidential: true,
        tag_queue_depth: 4,
        tag_every: None,
        common_quarantine: None,
        ahead: 0,
        release,
        device: DEVICE..u64::MAX,
        error_semaphore: ERROR,
        channel_error: 41,
    }
}

struct Bench {
    front_end: FrontEnd,
    ports: Ports,
    clock: Clock,
    cycle: u64,
    pushes: Out<CopyPush>,
    retired: In<Retired>,
    work: Vec<In<PceWork>>,
    done: Vec<Out<Done>>,
    landed: Tx<Landed>,
    verdicts: Out<Verdict>,
    entries: In<TagEntry>,
    given: Vec<(u64, PceWork)>,
    entered: u64,
    activity: Activity,
}

impl Bench {
    fn new(spec: FrontEndSpec, used: u32) -> Self {
        let (clock, pces) = (Clock::new(spec.copy_engine.clock).unwrap(), spec.pces);
        let ivs = IvStream::at(Iv { channel: 1, message: used }, IvMask::default());
        let mut netlist = Netlist::new();
        let (pushes, pushes_in) = netlist.queue("pushes", 8);
        let (retired_out, retired) = netlist.queue("retired", 8);
        let (work_out, work) = (0..pces).map(|pce| netlist.queue(format!("work{pce}"), 64)).unzip();
        let (done, done_in) = (0..pces).map(|pce| netlist.queue(format!("done{pce}"), 64)).unzip();
        let (landed, landed_in) = netlist.wire("landed", Femtos(1));
        let (verdicts, verdicts_in) = netlist.queue("verdicts", 64);
        let (entries_out, entries) = netlist.queue("entries", 64);
        let verification = Verification { landed: landed_in, verdicts: verdicts_in, entries: entries_out };
        Self {
            front_end: FrontEnd::new(spec, ivs, clock),
            ports: Ports {
                pushes: pushes_in,
                work: work_out,
                done: done_in,
                verification: Some(verification),
                retired: retired_out,
            },
            clock,
            cycle: 0,
            pushes,
            retired,
            work,
            done,
            landed,
            verdicts,
            entries,
            given: Vec::new(),
            entered: 0,
            activity: Activity::Idle,
        }
    }

    fn give(&mut self, number: u32, methods: Option<Vec<u32>>) {
        let push = CopyPush { number, copy: Some(3), rung: self.cycle + 1, methods };
        self.pushes.push(self.clock.edge(self.cycle), push);
    }

    /// Launches, and a semaphore that takes the push's number.
    fn push(&mut self, number: u32, launches: &[Launch]) {
        self.give(number, Some(encode(launches, Semaphore { address: DONE, value: number }).unwrap()));
    }

    fn end(&mut self, done: Done) {
        self.done[0].push(self.clock.edge(self.cycle), done);
    }

    fn land(&mut self, job: u64) {
        self.landed.send(self.clock.edge(self.cycle), Landed { job });
    }

    fn judge(&mut self, job: u64, ok: bool) {
        self.verdicts.push(self.clock.edge(self.cycle), Verdict { job, ok });
    }

    fn run(&mut self, cycles: u64) {
        for _ in 0..cycles {
            self.cycle += 1;
            let time = self.clock.edge(self.cycle);
            self.activity = self.front_end.tick(Now { cycle: self.cycle, time }, &mut self.ports).activity;
            let next = self.clock.edge(self.cycle + 1);
            for queue in &mut self.work {
                while let Some(work) = queue.pop(next) {
                    self.given.push((self.cycle, work));
                }
            }
            while self.entries.pop(next).is_some() {
                self.entered += 1;
            }
        }
    }

    fn jobs(&self) -> Vec<&Job> {
        let job = |(_, work): &'_ (u64, PceWork)| matches!(work, PceWork::Transfer(_));
        let jobs = self.given.iter().filter(|given| job(given));
        jobs.filter_map(|(_, work)| if let PceWork::Transfer(job) = work { Some(job) } else { None }).collect()
    }

    fn releases(&self) -> Vec<(u64, u64)> {
        let release = |(_, work): &(u64, PceWork)| match work {
            PceWork::Release { address, value, .. } => Some((*address, *value)),
            PceWork::Transfer(_) | PceWork::Tag { .. } => None,
        };
        self.given.iter().filter_map(release).collect()
    }
}

const NOT_PIPELINED: Launch = Launch {
    kind: LaunchKind::Open,
    source: STAGING,
    destination: DEVICE,
    bytes: 4096,
    tag: STAGING + (1 << 30),
    iv: 0,
    pipelined: false,
    flush: false,
};

const PIPELINED: Launch = Launch { pipelined: true, ..NOT_PIPELINED };

fn plain(bytes: u64) -> Launch {
    let (kind, source, destination) = (LaunchKind::Local, DEVICE, DEVICE + (1 << 30));
    Launch { kind, source, destination, bytes, tag: 0, ..NOT_PIPELINED }
}

fn seal(bytes: u64) -> Launch {
    let (kind, source, destination) = (LaunchKind::Seal, DEVICE, STAGING);
    Launch { kind, source, destination, bytes, iv: STAGING + (1 << 31), ..NOT_PIPELINED }
}

#[test]
fn a_pipelined_launch_overtakes_no_one_and_a_non_pipelined_one_waits_for_all_before_it() {
    for release in [Release::WithholdCompletion, Release::Eager] {
        let mut bench = Bench::new(spec(release), 0);
        bench.push(1, &[NOT_PIPELINED, PIPELINED, NOT_PIPELINED]);
        bench.run(200);
        assert_eq!(bench.jobs().iter().map(|job| job.id).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(bench.activity, Activity::Stall(Stall::Order));
        bench.land(1);
        bench.land(2);
        bench.judge(2, true);
        bench.run(10);
        // Message 1 has landed and is not verified.
        assert_eq!(bench.jobs().len(), if release == Release::Eager { 3 } else { 2 });
        bench.judge(1, true);
        bench.run(10);
        assert_eq!(bench.jobs().len(), 3);
    }
}

#[test]
fn a_semaphore_waits_for_all_transfers_and_under_eager_release_a_second_one_for_the_verdicts() {
    for (release, before, after) in [
        (Release::WithholdCompletion, vec![], vec![(DONE, 7)]),
        (Release::Eager, vec![(DONE, 7)], vec![(DONE, 7), (DONE + VERIFIED_OFFSET, 7)]),
    ] {
        let mut bench = Bench::new(spec(release), 0);
        bench.push(7, &[NOT_PIPELINED]);
        bench.run(200);
        assert_eq!(bench.releases(), []);
        bench.land(1);
        bench.run(20);
        assert_eq!(bench.releases(), before);
        bench.judge(1, true);
        bench.run(20);
        assert_eq!(bench.releases(), after);
    }
}

#[test]
fn a_message_waits_for_an_entry_of_the_tag_queue() {
    let spec = FrontEndSpec { tag_queue_depth: 1, ..spec(Release::WithholdCompletion) };
    let mut bench = Bench::new(spec, 0);
    bench.push(1, &[NOT_PIPELINED, PIPELINED]);
    bench.run(200);
    assert_eq!((bench.jobs().len(), bench.entered), (1, 1));
    assert_eq!(bench.activity, Activity::Stall(Stall::TagQueueFull));
    bench.judge(1, true);
    bench.run(2);
    assert_eq!((bench.jobs().len(), bench.entered), (2, 2));
}

#[test]
fn a_message_waits_for_room_in_a_common_quarantine_until_a_verdict_frees_it() {
    for (messages, at_once) in [(2, 2), (3, 3)] {
        let room = messages * 4096 + 2048;
        let spec = FrontEndSpec { common_quarantine: Some(room), ..spec(Release::Hold) };
        let mut bench = Bench::new(spec, 0);
        bench.push(1, &[PIPELINED; 4]);
        bench.run(200);
        assert_eq!(bench.jobs().len(), at_once, "{messages}");
        assert_eq!(bench.activity, Activity::Stall(Stall::Quarantine));
        // Landed bytes without a verdict free nothing; a verdict frees its message's, whichever it is.
        bench.land(1);
        bench.run(20);
        assert_eq!(bench.jobs().len(), at_once, "{messages}");
        bench.judge(2, true);
        bench.run(20);
        assert_eq!(bench.jobs().len(), at_once + 1, "{messages}");
    }
}

#[test]
fn no_more_messages_are_in_flight_than_may_be() {
    let mut bench = Bench::new(spec(Release::WithholdCompletion), 0);
    bench.front_end.tag_credits = 100;
    bench.push(1, &[PIPELINED; 6]);
    bench.run(300);
    assert_eq!(bench.jobs().len(), 4);
}

#[test]
fn each_message_takes_the_next_iv_and_the_last_one_does_not_wrap() {
    let mut bench = Bench::new(spec(Release::WithholdCompletion), u32::MAX - 2);
    bench.push(1, &[PIPELINED; 3]);
    bench.run(300);
    let ivs: Vec<_> = bench.jobs().iter().map(|job| job.iv_bytes).collect();
    let iv = |message| Iv { channel: 1, message }.to_bytes();
    assert_eq!(ivs, [iv(u32::MAX - 1), iv(u32::MAX)]);
    assert_eq!(bench.entered, 2);
    assert_eq!(bench.releases(), [(ERROR, CHANNEL_ERROR | 41)]);
    assert!(bench.front_end.incidents()[0].contains("exhausted"));
}

#[test]
fn what_poisons_the_channel_is_told_once_and_nothing_is_launched_after_it() {
    let poisons: [fn(&mut Bench); 4] = [
        |bench| bench.give(99, None),
        |bench| bench.give(2, Some(vec![u32::MAX; 3])),
        |bench| bench.judge(1, false),
        |bench| bench.end(Done::Transfer { job: 1, ok: false }),
    ];
    for poison in poisons {
        let mut bench = Bench::new(spec(Release::WithholdCompletion), 0);
        bench.push(1, &[NOT_PIPELINED, NOT_PIPELINED]);
        bench.run(100);
        poison(&mut bench);
        bench.run(3);
        bench.land(1);
        bench.push(3, &[NOT_PIPELINED]);
        bench.run(300);
        assert_eq!(bench.jobs().len(), 1);
        assert_eq!(bench.releases(), [(ERROR, CHANNEL_ERROR | 41)], "{:?}", bench.front_end.incidents());
    }
}

#[test]
fn a_push_is_decoded_fetch_cycles_after_its_doorbell_a_word_per_cycle() {
    let mut bench = Bench::new(spec(Release::WithholdCompletion), 0);
    bench.push(1, &[NOT_PIPELINED]);
    bench.run(300);
    // Rung in cycle 1, fetched by 11; the launch is its 14th word.
    assert_eq!(bench.given[0].0, 1 + 10 + 14);
}

#[test]
fn a_plain_launch_is_cut_into_stripes_and_complete_when_all_have_landed() {
    let mut bench = Bench::new(spec(Release::WithholdCompletion), 0);
    bench.push(1, &[plain(9000)]);
    bench.run(200);
    let stripes: Vec<_> = bench.jobs().iter().map(|job| (job.id, job.source - DEVICE, job.bytes)).collect();
    assert_eq!(stripes, [(1, 0, 4096), (2, 4096, 4096), (3, 8192, 808)]);
    for job in [2, 3] {
        bench.land(job);
    }
    bench.run(20);
    assert_eq!(bench.releases(), []);
    bench.land(1);
    bench.run(20);
    assert_eq!(bench.releases(), [(DONE, 1)]);
}

#[test]
fn no_more_stripes_are_in_flight_than_may_be() {
    let mut bench = Bench::new(spec(Release::WithholdCompletion), 0);
    bench.push(1, &[plain(10 * 4096)]);
    bench.run(200);
    assert_eq!(bench.jobs().len(), 4);
    bench.land(1);
    bench.run(5);
    assert_eq!(bench.jobs().len(), 5);
}

#[test]
fn a_push_is_retired_when_the_link_has_taken_its_semaphore() {
    let mut bench = Bench::new(spec(Release::WithholdCompletion), 0);
    bench.push(5, &[plain(100)]);
    bench.push(6, &[plain(100)]);
    bench.run(200);
    bench.land(1);
    bench.run(10);
    let ends: Vec<_> = bench
        .given
        .iter()
        .filter_map(|(_, work)| if let PceWork::Release { push, .. } = work { Some(*push) } else { None })
        .collect();
    assert_eq!(ends, [Some(5)]);
    assert!(bench.retired.is_vacant());
    bench.end(Done::Release { push: 5 });
    bench.run(2);
    assert_eq!(bench.retired.pop(bench.clock.edge(bench.cycle + 1)), Some(Retired { push: 5 }));
}

#[test]
fn a_copy_spans_from_its_first_launch_to_its_last_semaphore() {
    let mut bench = Bench::new(spec(Release::WithholdCompletion), 0);
    bench.push(1, &[plain(100)]);
    bench.run(200);
    bench.land(1);
    bench.run(200);
    let cycle = |place: usize| bench.clock.edge(bench.given[place].0);
    // The launch is seen a cycle before its first stripe.
    let (begin, end) = (bench.clock.edge(bench.given[0].0 - 1), cycle(1));
    let spans = Spans { moved: BTreeMap::from([(3, (begin, end))]), ..Spans::default() };
    assert_eq!(*bench.front_end.spans(), spans);
}

#[test]
fn a_push_that_comes_twice_and_a_launch_of_the_other_direction_poison_the_channel() {
    let up = |bench: &mut Bench| bench.push(1, &[NOT_PIPELINED]);
    let down = |bench: &mut Bench| bench.push(2, &[seal(64)]);
    // Doubles are seen at once; the first push ends before the other is decoded.
    for (second, words, ended) in [(&up as &dyn Fn(&mut Bench), "twice", 0), (&down, "other direction", 1)] {
        let mut bench = Bench::new(spec(Release::WithholdCompletion), 0);
        up(&mut bench);
        bench.run(100);
        bench.land(1);
        bench.judge(1, true);
        second(&mut bench);
        bench.run(100);
        assert_eq!(bench.jobs().len(), 1);
        assert_eq!(bench.releases(), [(DONE, 1), (ERROR, CHANNEL_ERROR | 41)][1 - ended..]);
        assert!(bench.front_end.incidents()[0].contains(words), "{:?}", bench.front_end.incidents());
    }
}

#[test]
fn a_message_that_is_sealed_in_parts_gets_the_sum_of_their_shares_before_its_semaphore() {
    let mut spec = FrontEndSpec { pces: 3, writes_host: true, ..spec(Release::WithholdCompletion) };
    spec.copy_engine.sharing = Some(Sharing::Split);
    let mut bench = Bench::new(spec, 0);
    bench.push(1, &[seal(4096)]);
    bench.run(100);
    // A third of 4096, in whole bursts of 512.
    let parts: Vec<_> =
        bench.jobs().iter().map(|job| (job.id, job.source - DEVICE, job.bytes, job.share.message)).collect();
    assert_eq!(parts, [(1, 0, 1536, 1), (2, 1536, 1536, 1), (3, 3072, 1024, 1)]);
    for (job, tag) in [(3, [4; 16]), (1, [1; 16]), (3, [4; 16])] {
        bench.end(Done::Share { job, tag });
    }
    (1..=3).for_each(|job| bench.end(Done::Transfer { job, ok: true }));
    bench.run(20);
    // All bytes are sent, but a share is missing.
    assert_eq!((bench.given.len(), bench.releases()), (3, vec![]));
    bench.end(Done::Share { job: 2, tag: [2; 16] });
    bench.run(20);
    let PceWork::Tag { message, tag } = &bench.given[3].1 else { panic!("{:?}", bench.given[3]) };
    assert_eq!((message.id, message.bytes, *tag), (1, 4096, [7; 16]));
    assert_eq!(bench.releases(), [(DONE, 1)]);
}
