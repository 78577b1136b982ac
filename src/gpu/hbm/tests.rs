//! What device memory shows, when, and what it never shows.

use super::*;
use crate::{
    sim::UnitId,
    units::{BytesPerCycle, Cycles, Frequency},
};

#[derive(Default)]
struct Store(Vec<(u64, u64, Vec<u8>, JobId)>);

impl DeviceMemory for Store {
    fn store(&mut self, address: u64, bytes: u64, payload: &Payload, by: JobId) {
        self.0.push((address, bytes, payload.bytes().unwrap_or_default().to_vec(), by));
    }
    fn load(&mut self, _address: u64, bytes: u32) -> Payload {
        Payload::of(vec![4; bytes as usize])
    }
}

struct Bench {
    hbm: Hbm,
    clock: Clock,
    wakes: Wakes,
    cycle: u64,
    writes: Vec<Wire<MemoryWrite>>,
    reads: Vec<Queue<MemoryRead>>,
    data: Vec<Wire<MemoryData>>,
    verdicts: Queue<Verdict>,
    landed: Wire<Landed>,
    store: Store,
}

impl Bench {
    /// 64 bytes per cycle, 10 cycles to be visible, 20 to be read.
    fn new() -> Self {
        let clock = Clock::new(Frequency(1_000_000_000)).unwrap();
        let rate: BytesPerCycle = "64 B/cycle".parse().unwrap();
        let spec = HbmSpec {
            clock: Frequency(1_000_000_000),
            write_rate: rate,
            write_latency: Cycles(10),
            read_rate: rate,
            read_latency: Cycles(20),
        };
        let (here, there) = (UnitId(0), UnitId(1));
        Self {
            hbm: Hbm::new(&spec, clock),
            clock,
            wakes: Wakes::default(),
            cycle: 0,
            writes: vec![Wire::new("writes", there, here)],
            reads: vec![Queue::new("reads", there, here, 8)],
            data: vec![Wire::new("data", here, there)],
            verdicts: Queue::new("verdicts", there, here, 8),
            landed: Wire::new("landed", here, there),
            store: Store::default(),
        }
    }

    fn write(&mut self, cycle: u64, write: MemoryWrite) {
        self.writes[0].send(self.clock.edge(cycle), write, &self.wakes);
    }

    /// Pushes a verdict in `cycle`, to be seen in the next.
    fn judge(&mut self, cycle: u64, job: JobId, ok: bool) {
        self.run_to(cycle);
        self.verdicts.output(self.clock.edge(cycle), &self.wakes).push(Verdict { job, ok });
    }

    fn run_to(&mut self, cycle: u64) {
        while self.cycle < cycle {
            self.cycle += 1;
            let time = self.clock.edge(self.cycle);
            let mut ports = Ports {
                writes: &mut self.writes,
                reads: &mut self.reads,
                data: &mut self.data,
                verdicts: &mut self.verdicts,
                landed: &mut self.landed,
                staged: None,
                memory: &mut self.store,
                wakes: &self.wakes,
            };
            self.hbm.tick(Now { cycle: self.cycle, time }, &mut ports);
        }
    }
}

fn burst(job: JobId, unverified: bool, last: bool, deposit: Option<(u64, Payload)>) -> MemoryWrite {
    let offset = if last { 640 } else { 0 };
    MemoryWrite { job, message: (job, 1), unverified, staged: None, offset, bytes: 640, last, deposit }
}

fn whole() -> Option<(u64, Payload)> {
    Some((4096, Payload::of(vec![8; 1280])))
}

#[test]
fn writes_are_served_one_after_the_other_and_visible_after_their_latency() {
    let mut bench = Bench::new();
    bench.write(5, burst(1, false, true, Some((0, Payload::of(vec![1; 640])))));
    bench.write(5, burst(2, false, true, Some((640, Payload::of(vec![2; 640])))));
    bench.run_to(60);
    // 640 bytes are 10 cycles of service.
    for (job, cycle) in [(1, 5 + 10 + 10), (2, 5 + 20 + 10)] {
        assert_eq!(bench.landed.next_arrival(), Some(bench.clock.edge(cycle)));
        assert_eq!(bench.landed.arrive(Femtos::MAX), Some(Landed { job }));
    }
    assert_eq!(bench.store.0.len(), 2);
    assert_eq!(bench.hbm.exposure(), Exposure::default());
}

#[test]
fn a_read_is_there_after_service_and_latency() {
    let mut bench = Bench::new();
    bench.reads[0].output(bench.clock.edge(0), &bench.wakes).push(MemoryRead { address: 64, bytes: 640 });
    bench.run_to(1);
    assert_eq!(bench.data[0].next_arrival(), Some(bench.clock.edge(1 + 10 + 20)));
}

#[test]
fn a_message_counts_once_it_is_verified_and_was_exposed_until_then() {
    let mut bench = Bench::new();
    bench.write(5, burst(1, true, false, None));
    bench.write(5, burst(1, true, true, whole()));
    bench.judge(99, 1, true);
    assert!(bench.store.0.is_empty());
    bench.run_to(100);
    assert_eq!(bench.store.0, [(4096, 1280, vec![8; 1280], 1)]);
    // Visible from cycle 25 on, judged in cycle 100.
    let exposed = Femtos(75 * 1_000_000);
    assert_eq!(bench.hbm.exposure(), Exposure { longest: exposed, total: exposed, scrubbed: 0 });
}

#[test]
fn a_message_that_fails_is_scrubbed_whether_its_verdict_comes_before_or_after_its_bytes() {
    for verdict in [2, 50] {
        let mut bench = Bench::new();
        bench.write(5, burst(1, true, false, None));
        bench.write(10, burst(1, true, true, whole()));
        bench.judge(verdict, 1, false);
        bench.run_to(100);
        assert!(bench.store.0.is_empty());
        assert_eq!(bench.hbm.exposure().scrubbed, 1);
        assert!(bench.hbm.unverified.is_empty(), "{:?}", bench.hbm.unverified);
    }
}

#[test]
fn a_message_verified_before_its_bytes_came_is_never_exposed() {
    let mut bench = Bench::new();
    bench.judge(1, 1, true);
    bench.write(5, burst(1, true, false, None));
    bench.write(6, burst(1, true, true, whole()));
    bench.run_to(100);
    assert_eq!(bench.store.0.len(), 1);
    assert_eq!(bench.hbm.exposure(), Exposure::default());
}

#[test]
fn of_a_message_those_bytes_are_stored_whose_burst_has_come() {
    for twice in [false, true] {
        let mut bench = Bench::new();
        bench.write(5, burst(1, true, true, whole()));
        if twice {
            // As many bytes as the message has, but not all of them.
            bench.write(6, burst(1, true, true, whole()));
        }
        bench.judge(50, 1, true);
        bench.run_to(60);
        assert_eq!(bench.store.0, [(4096 + 640, 640, vec![8; 640], 1)], "{twice}");
    }
}
