//! What device memory shows, when, and what it never shows.

use super::*;
use crate::{
    sim::{Netlist, Out},
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
    ports: Ports,
    clock: Clock,
    cycle: u64,
    writes: Tx<MemoryWrite>,
    reads: Out<MemoryRead>,
    data: Rx<MemoryData>,
    verdicts: Out<Verdict>,
    landed: Rx<Landed>,
    store: Rc<RefCell<Store>>,
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
        let mut netlist = Netlist::new();
        let (writes, writes_in) = netlist.wire("writes", Femtos(1));
        let (reads, reads_in) = netlist.queue("reads", 8);
        let (data_out, data) = netlist.wire("data", Femtos(1));
        let (verdicts, verdicts_in) = netlist.queue("verdicts", 8);
        let (landed_out, landed) = netlist.wire("landed", Femtos(1));
        let store = Rc::new(RefCell::new(Store::default()));
        let ports = Ports {
            writes: vec![writes_in],
            reads: vec![reads_in],
            data: vec![data_out],
            verdicts: verdicts_in,
            landed: landed_out,
            staged: None,
            memory: store.clone(),
        };
        let hbm = Hbm::new(&spec, clock);
        Self { hbm, ports, clock, cycle: 0, writes, reads, data, verdicts, landed, store }
    }

    fn write(&mut self, cycle: u64, write: MemoryWrite) {
        self.writes.send(self.clock.edge(cycle), write);
    }

    /// Pushes a verdict in `cycle`, to be seen in the next.
    fn judge(&mut self, cycle: u64, job: JobId, ok: bool) {
        self.run_to(cycle);
        self.verdicts.push(self.clock.edge(cycle), Verdict { job, ok });
    }

    fn run_to(&mut self, cycle: u64) {
        while self.cycle < cycle {
            self.cycle += 1;
            let time = self.clock.edge(self.cycle);
            self.hbm.tick(Now { cycle: self.cycle, time }, &mut self.ports);
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
    assert_eq!(bench.store.borrow().0.len(), 2);
    assert_eq!(bench.hbm.exposure(Femtos::MAX), Exposure::default());
}

#[test]
fn a_read_is_there_after_service_and_latency() {
    let mut bench = Bench::new();
    bench.reads.push(bench.clock.edge(0), MemoryRead { address: 64, bytes: 640 });
    bench.run_to(1);
    assert_eq!(bench.data.next_arrival(), Some(bench.clock.edge(1 + 10 + 20)));
}

#[test]
fn a_message_counts_once_it_is_verified_and_was_exposed_until_then() {
    let mut bench = Bench::new();
    bench.write(5, burst(1, true, false, None));
    bench.write(5, burst(1, true, true, whole()));
    bench.judge(99, 1, true);
    assert!(bench.store.borrow().0.is_empty());
    bench.run_to(100);
    assert_eq!(bench.store.borrow().0, [(4096, 1280, vec![8; 1280], 1)]);
    // Visible from cycle 25 on, judged in cycle 100.
    let exposed = Femtos(75 * 1_000_000);
    assert_eq!(
        bench.hbm.exposure(Femtos::MAX),
        Exposure {
            longest: exposed,
            total: exposed,
            most_bytes: 1280,
            // The second burst, of 640 B and ten cycles, is visible ten cycles later.
            byte_time: 640 * (75 + 65) * 1_000_000,
            scrubbed: 0,
        }
    );
}

#[test]
fn a_message_that_fails_is_scrubbed_whether_its_verdict_comes_before_or_after_its_bytes() {
    for verdict in [2, 50] {
        let mut bench = Bench::new();
        bench.write(5, burst(1, true, false, None));
        bench.write(10, burst(1, true, true, whole()));
        bench.judge(verdict, 1, false);
        bench.run_to(100);
        assert!(bench.store.borrow().0.is_empty());
        assert_eq!(bench.hbm.exposure(Femtos::MAX).scrubbed, 1);
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
    assert_eq!(bench.store.borrow().0.len(), 1);
    assert_eq!(bench.hbm.exposure(Femtos::MAX), Exposure::default());
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
        assert_eq!(bench.store.borrow().0, [(4096 + 640, 640, vec![8; 640], 1)], "{twice}");
    }
}
