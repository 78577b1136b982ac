//! A compute side on a bench: when kernels end, how many run at once, and what copies move.

use super::*;
use crate::{
    pcie::packet::Payload,
    sim::{Netlist, Now, Stall},
    units::{Bytes, BytesPerCycle, Cycles, Frequency},
};

fn spec() -> ComputeSpec {
    ComputeSpec {
        clock: Frequency(1_000_000_000),
        schedule: Cycles(0),
        slots: 2,
        launch: Cycles(10),
        stretch: 1500,
        copy_launch: Cycles(20),
        l2: Bytes(4 << 20),
        copy_rate_l2: BytesPerCycle(64_000),
        copy_rate_hbm: BytesPerCycle(16_000),
    }
}

/// Loads the address as bytes; keeps what is stored.
#[derive(Default)]
struct Memory(Vec<(u64, u64, Option<u8>)>);

impl DeviceMemory for Memory {
    fn store(&mut self, address: u64, bytes: u64, payload: &Payload, _by: u64) {
        self.0.push((address, bytes, payload.bytes().and_then(|bytes| bytes.first().copied())));
    }

    fn load(&mut self, address: u64, bytes: u32) -> Payload {
        Payload::of(vec![(address >> 20) as u8; bytes as usize])
    }
}

struct Bench {
    compute: Compute,
    ports: Ports,
    clock: Clock,
    cycle: u64,
    pushes: Out<ComputePush>,
    retired: In<Retired>,
    memory: Rc<RefCell<Memory>>,
    ended: Vec<(u64, u32)>,
    wake: Wake,
}

impl Bench {
    fn new(spec: &ComputeSpec) -> Self {
        let clock = Clock::new(spec.clock).unwrap();
        let mut netlist = Netlist::new();
        let (pushes, pushes_in) = netlist.queue("pushes", 64);
        let (retired_out, retired) = netlist.queue("retired", 1);
        let memory = Rc::new(RefCell::new(Memory::default()));
        Self {
            compute: Compute::new(spec, clock),
            ports: Ports { pushes: pushes_in, retired: retired_out, memory: memory.clone() },
            clock,
            cycle: 0,
            pushes,
            retired,
            memory,
            ended: Vec::new(),
            wake: Wake::on_port(Activity::Idle),
        }
    }

    fn give(&mut self, number: u32, work: Computation) {
        let push = ComputePush { number, copy: Some(number as usize), work };
        self.pushes.push(self.clock.edge(self.cycle), push);
    }

    fn run(&mut self, cycles: u64) {
        for _ in 0..cycles {
            self.cycle += 1;
            let time = self.clock.edge(self.cycle);
            self.wake = self.compute.tick(Now { cycle: self.cycle, time }, &mut self.ports);
            while let Some(Retired { push }) = self.retired.pop(self.clock.edge(self.cycle + 1)) {
                self.ended.push((self.cycle, push));
            }
        }
    }
}

const fn kernel(cycles: u64) -> Computation {
    Computation::Kernel { duration: Femtos(cycles * 1_000_000) }
}

const fn copy(bytes: u64) -> Computation {
    Computation::Copy { source: 5 << 20, destination: 90 << 20, bytes }
}

#[test]
fn a_kernel_lasts_its_time_stretched_from_its_launch_on() {
    let mut bench = Bench::new(&spec());
    bench.give(1, kernel(100));
    bench.run(1);
    assert_eq!(bench.wake, Wake::at_or_port(1 + 10 + 150, Activity::Busy));
    bench.run(200);
    assert_eq!(bench.ended, [(161, 1)]);
    assert_eq!(bench.wake, Wake::on_port(Activity::Idle));
}

#[test]
fn as_many_kernels_run_at_once_as_there_are_slots_and_the_next_starts_when_one_ends() {
    let mut bench = Bench::new(&spec());
    for (number, cycles) in [(1, 100), (2, 40), (3, 20), (4, 20)] {
        bench.give(number, kernel(cycles));
    }
    bench.run(400);
    // The second ends at 71; the third and the fourth follow it, the launch being over by then.
    assert_eq!(bench.ended, [(71, 2), (101, 3), (131, 4), (161, 1)]);
}

#[test]
fn a_copy_is_faster_within_the_cache_and_its_span_is_from_start_to_end() {
    for (bytes, rate) in [(2 << 20, 64), ((2 << 20) + 16, 16)] {
        let mut bench = Bench::new(&spec());
        bench.give(1, copy(bytes));
        let end = 1 + 10 + 20 + bytes / rate;
        bench.run(end);
        assert_eq!(bench.ended, [(end, 1)]);
        let span = (bench.clock.edge(11), bench.clock.edge(end));
        let spans = Spans { moved: BTreeMap::from([(1, span)]), ..Spans::default() };
        assert_eq!(*bench.compute.spans(), spans);
    }
}

#[test]
fn copies_share_the_memory() {
    let mut bench = Bench::new(&spec());
    bench.give(1, copy(6400));
    bench.give(2, copy(640));
    bench.run(400);
    assert_eq!(bench.ended, [(131, 1), (141, 2)]);
}

#[test]
fn the_bytes_of_a_copy_move_in_pieces_at_its_end() {
    let mut bench = Bench::new(&ComputeSpec { copy_rate_hbm: BytesPerCycle(1 << 30), ..spec() });
    bench.give(1, copy((2 << 20) + 1));
    bench.run(32);
    assert_eq!(bench.memory.borrow().0, []);
    bench.run(1);
    let pieces = [(90 << 20, 1 << 20, Some(5)), (91 << 20, 1 << 20, Some(6)), (92 << 20, 1, Some(7))];
    assert_eq!(bench.memory.borrow().0, pieces);
}

#[test]
fn an_end_that_cannot_be_told_waits() {
    let mut bench = Bench::new(&spec());
    bench.give(1, kernel(10));
    bench.give(2, kernel(10));
    bench.run(100);
    // The queue has room for one, and what is taken from it in cycle 27 frees that.
    assert_eq!(bench.ended, [(26, 1), (28, 2)]);
}

#[test]
fn a_collective_takes_its_own_time_and_a_slot_and_waits_where_nothing_else_runs() {
    let mut bench = Bench::new(&spec());
    bench.give(1, Computation::Collective { duration: Femtos(100_000_000) });
    bench.give(2, kernel(20));
    bench.give(3, kernel(20));
    bench.run(11);
    assert_eq!(bench.wake, Wake::at_or_port(1 + 10 + 30, Activity::Busy));
    bench.run(72);
    assert_eq!(bench.ended, [(41, 2), (71, 3)]);
    assert_eq!(bench.wake, Wake::at_or_port(1 + 10 + 100, Activity::Stall(Stall::Collective)));
    bench.run(200);
    assert_eq!(bench.ended.last(), Some(&(111, 1)));
}

#[test]
fn a_network_takes_no_slot_and_nothing_runs_meanwhile() {
    let mut bench = Bench::new(&spec());
    let network = Computation::Network { duration: Femtos(500_000_000) };
    (1..4).for_each(|number| bench.give(number, network));
    bench.give(4, kernel(20));
    bench.run(60);
    assert_eq!(bench.ended, [(41, 4)]);
    assert_eq!(bench.wake, Wake::at_or_port(501, Activity::Idle));
}
