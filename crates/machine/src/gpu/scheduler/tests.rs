//! A scheduler on a bench: what it hands out, in which order, and what holds what up.

use super::*;
use crate::{
    sim::{Clock, Netlist},
    stream::Computation,
    units::{Femtos, Frequency},
};

const SCHEDULE: u64 = 10;

#[derive(Default)]
struct Shelf(BTreeMap<u32, Submission>);

impl PushMemory for Shelf {
    fn take(&mut self, number: u32) -> Option<Submission> {
        self.0.remove(&number)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Given {
    /// To a front end: whether the writing one.
    Copy(bool, u32),
    Compute(u32),
    Semaphore(u64, u32),
}

struct Bench {
    scheduler: Scheduler,
    ports: Ports,
    clock: Clock,
    cycle: u64,
    shelf: Rc<RefCell<Shelf>>,
    doorbells: Out<Tlp>,
    copies: [In<CopyPush>; 2],
    compute: In<ComputePush>,
    retired: [Out<Retired>; 3],
    requests: In<Tlp>,
    given: Vec<(u64, Given)>,
    /// Whether the link takes semaphores, and the front ends take pushes.
    link: bool,
    engines: bool,
    wake: Wake,
}

impl Bench {
    fn new() -> Self {
        let mut netlist = Netlist::new();
        let (doorbells, doorbells_in) = netlist.queue("doorbells", 64);
        let [(reading_out, reading), (writing_out, writing)] = ["reading", "writing"].map(|to| netlist.queue(to, 2));
        let (compute_out, compute) = netlist.queue("compute", 2);
        let [(r, r_in), (w, w_in), (c, c_in)] = ["r", "w", "c"].map(|from| netlist.queue(from, 8));
        let (requests_out, requests) = netlist.queue("requests", 4);
        let shelf = Rc::new(RefCell::new(Shelf::default()));
        let ports = Ports {
            doorbells: doorbells_in,
            pushes: shelf.clone(),
            copies: [reading_out, writing_out],
            compute: compute_out,
            retired: [r_in, w_in, c_in],
            requests: requests_out,
        };
        Self {
            scheduler: Scheduler::new(Cycles(SCHEDULE)),
            ports,
            clock: Clock::new(Frequency(1_000_000_000)).unwrap(),
            cycle: 0,
            shelf,
            doorbells,
            copies: [reading, writing],
            compute,
            retired: [r, w, c],
            requests,
            given: Vec::new(),
            link: true,
            engines: true,
            wake: Wake::on_port(Activity::Idle),
        }
    }

    fn ring(&mut self, number: u32) {
        let payload = Payload::of(number.to_le_bytes().to_vec());
        self.doorbells.push(self.clock.edge(self.cycle), Tlp::write(4 << 40, 4, payload));
    }

    fn submit(&mut self, number: u32, stream: u32, work: Work) {
        let semaphore = 0x1000 * u64::from(stream);
        let submission = Submission { number, stream, copy: None, work, semaphore };
        self.shelf.borrow_mut().0.insert(number, submission);
        self.ring(number);
    }

    fn retire(&mut self, engine: usize, push: u32) {
        self.retired[engine].push(self.clock.edge(self.cycle), Retired { push });
    }

    fn run(&mut self, cycles: u64) {
        for _ in 0..cycles {
            self.cycle += 1;
            let time = self.clock.edge(self.cycle);
            self.wake = self.scheduler.tick(Now { cycle: self.cycle, time }, &mut self.ports);
            self.collect();
        }
    }

    fn collect(&mut self) {
        let next = self.clock.edge(self.cycle + 1);
        let mut given = Vec::new();
        for (place, queue) in self.copies.iter_mut().enumerate().filter(|_| self.engines) {
            while let Some(push) = queue.pop(next) {
                given.push(Given::Copy(place == 1, push.number));
            }
        }
        while let Some(push) = self.compute.pop(next) {
            given.push(Given::Compute(push.number));
        }
        while let Some(tlp) = self.link.then(|| self.requests.pop(next)).flatten() {
            let value = u32::from_le_bytes(tlp.payload.bytes().unwrap().try_into().unwrap());
            given.push(Given::Semaphore(tlp.address, value));
        }
        self.given.extend(given.into_iter().map(|given| (self.cycle, given)));
    }

    fn given(&self) -> Vec<Given> {
        self.given.iter().map(|(_, given)| *given).collect()
    }
}

const fn up() -> Work {
    Work::Copies { writes_host: false, methods: Vec::new() }
}

const fn down() -> Work {
    Work::Copies { writes_host: true, methods: Vec::new() }
}

const fn kernel() -> Work {
    Work::Task(StreamTask::Compute(Computation::Kernel { duration: Femtos(1) }))
}

#[test]
fn a_push_goes_to_its_engine_after_the_latency_of_the_scheduler() {
    let mut bench = Bench::new();
    bench.submit(1, 0, up());
    bench.run(SCHEDULE);
    assert_eq!(bench.given, []);
    assert_eq!(bench.wake, Wake::at_or_port(1 + SCHEDULE, Activity::Busy));
    bench.run(1);
    assert_eq!(bench.given, [(1 + SCHEDULE, Given::Copy(false, 1))]);
}

#[test]
fn pushes_for_one_copy_engine_follow_each_other_and_one_for_another_waits_until_they_are_done() {
    let mut bench = Bench::new();
    for (number, work) in [(1, up()), (2, up()), (3, down()), (4, up())] {
        bench.submit(number, 0, work);
    }
    bench.run(100);
    assert_eq!(bench.given(), [Given::Copy(false, 1), Given::Copy(false, 2)]);
    assert_eq!(bench.wake, Wake::on_port(Activity::Stall(Stall::Order)));
    bench.retire(0, 1);
    bench.run(100);
    assert_eq!(bench.given().len(), 2);
    bench.retire(0, 2);
    bench.run(100);
    assert_eq!(bench.given()[2..], [Given::Copy(true, 3)]);
    bench.retire(1, 3);
    bench.run(100);
    assert_eq!(bench.given()[3..], [Given::Copy(false, 4)]);
    bench.retire(0, 4);
    bench.run(2);
    assert_eq!(bench.wake, Wake::on_port(Activity::Idle));
    assert!(bench.scheduler.streams.is_empty());
}

#[test]
fn kernels_of_a_stream_run_one_after_the_other_and_those_of_several_at_once() {
    let mut bench = Bench::new();
    for (number, stream) in [(1, 0), (2, 0), (3, 1)] {
        bench.submit(number, stream, kernel());
    }
    bench.run(100);
    assert_eq!(bench.given(), [Given::Compute(1), Given::Compute(3)]);
    bench.retire(2, 1);
    bench.run(100);
    assert_eq!(bench.given()[2..], [Given::Semaphore(0, 1), Given::Compute(2)]);
}

#[test]
fn a_push_is_done_when_the_link_has_taken_its_semaphore() {
    let mut bench = Bench::new();
    bench.link = false;
    bench.submit(1, 0, kernel());
    bench.submit(2, 0, up());
    bench.run(50);
    bench.retire(2, 1);
    bench.run(100);
    assert_eq!(bench.given(), [Given::Compute(1)]);
    bench.link = true;
    bench.run(100);
    assert_eq!(bench.given()[1..], [Given::Semaphore(0, 1), Given::Copy(false, 2)]);
}

#[test]
fn a_stream_that_waits_holds_up_no_other_and_the_oldest_goes_first() {
    let mut bench = Bench::new();
    bench.submit(1, 0, kernel());
    bench.submit(2, 0, up());
    for number in 3..6 {
        bench.submit(number, number, up());
    }
    bench.run(100);
    // One in each cycle; the engine's queue takes what its front end takes.
    let first = 1 + SCHEDULE;
    let copy = |number| Given::Copy(false, number);
    assert_eq!(
        bench.given,
        [(first, Given::Compute(1)), (first + 1, copy(3)), (first + 2, copy(4)), (first + 3, copy(5))]
    );
}

#[test]
fn a_full_engine_keeps_no_other_waiting() {
    let mut bench = Bench::new();
    bench.engines = false;
    for number in 1..5 {
        bench.submit(number, number, up());
    }
    bench.submit(5, 5, kernel());
    bench.run(100);
    assert_eq!(bench.given(), [Given::Compute(5)]);
    assert_eq!(bench.wake, Wake::on_port(Activity::Stall(Stall::Order)));
    bench.engines = true;
    bench.run(100);
    assert_eq!(bench.given()[1..], [1, 2, 3, 4].map(|number| Given::Copy(false, number)));
}

#[test]
fn a_wait_holds_its_stream_until_the_record_before_it_has_come() {
    let mut bench = Bench::new();
    bench.submit(1, 1, up());
    bench.submit(2, 1, Work::Task(StreamTask::Record { event: 7 }));
    bench.submit(3, 2, Work::Task(StreamTask::Wait { event: 7 }));
    bench.submit(4, 2, down());
    bench.run(100);
    assert_eq!(bench.given(), [Given::Copy(false, 1)]);
    assert_eq!(bench.wake, Wake::on_port(Activity::Stall(Stall::Order)));
    bench.retire(0, 1);
    bench.run(100);
    assert_eq!(bench.given()[1..], [Given::Semaphore(0x1000, 2), Given::Semaphore(0x2000, 3), Given::Copy(true, 4)]);
}

#[test]
fn a_wait_for_what_is_recorded_only_later_or_never_holds_nothing() {
    let mut bench = Bench::new();
    bench.submit(1, 1, Work::Task(StreamTask::Wait { event: 7 }));
    bench.submit(2, 2, up());
    bench.submit(3, 2, Work::Task(StreamTask::Record { event: 7 }));
    bench.submit(4, 1, down());
    bench.run(100);
    assert_eq!(bench.given(), [Given::Semaphore(0x1000, 1), Given::Copy(false, 2), Given::Copy(true, 4)]);
}

#[test]
fn a_wait_is_for_the_last_record_before_it() {
    let mut bench = Bench::new();
    bench.submit(1, 1, Work::Task(StreamTask::Record { event: 7 }));
    bench.submit(2, 2, up());
    bench.submit(3, 2, Work::Task(StreamTask::Record { event: 7 }));
    bench.submit(4, 3, Work::Task(StreamTask::Wait { event: 7 }));
    bench.submit(5, 3, down());
    bench.run(100);
    assert_eq!(bench.given(), [Given::Semaphore(0x1000, 1), Given::Copy(false, 2)]);
    bench.retire(0, 2);
    bench.run(100);
    assert_eq!(bench.given()[2..], [Given::Semaphore(0x2000, 3), Given::Semaphore(0x3000, 4), Given::Copy(true, 5)]);
}

#[test]
fn a_doorbell_that_names_no_push_is_told_to_the_reading_front_end() {
    let mut bench = Bench::new();
    bench.ring(9);
    bench.run(3);
    assert_eq!(bench.given(), [Given::Copy(false, 0)]);
}
