use super::*;
use crate::{
    gcm::{message::SealOpen, spec::GcmSpec},
    sim::Netlist,
    units::{Femtos, Frequency},
};

const WIRE: u64 = 3;

/// An engine with its wires, and what it has reported by PCE, with the cycle in which the PCE hears it.
struct Bench {
    engine: SharedEngine,
    ports: Ports,
    clock: Clock,
    cycle: u64,
    requests: Vec<Tx<EngineRequest>>,
    replies: Vec<Rx<EngineReply>>,
    heard: Vec<(usize, u64, EngineReply)>,
}

impl Bench {
    fn new(pces: usize, turns: Turns) -> Self {
        let timing = Timing::new(&GcmSpec::four_lanes()).unwrap();
        let clock = Clock::new(Frequency(1_000_000_000)).unwrap();
        let mut netlist = Netlist::new();
        let (requests, requests_in) = (0..pces).map(|pce| netlist.wire(format!("to{pce}"), Femtos(1))).unzip();
        let (replies_out, replies) = (0..pces).map(|pce| netlist.wire(format!("from{pce}"), Femtos(1))).unzip();
        Self {
            engine: SharedEngine::new((timing, 1), pces, WIRE, turns, clock),
            ports: Ports { requests: requests_in, replies: replies_out },
            clock,
            cycle: 0,
            requests,
            replies,
            heard: Vec::new(),
        }
    }

    fn ask(&mut self, pce: usize, cycle: u64, request: EngineRequest) {
        self.requests[pce].send(self.clock.edge(cycle), request);
    }

    fn announce(&mut self, pce: usize, cycle: u64, job: u64, bytes: u64) {
        self.ask(pce, cycle, EngineRequest::Message { job, bytes, direction: SealOpen::Open });
    }

    /// Announces a message of which a beat of 256 bytes comes every `interval` cycles.
    fn message(&mut self, pce: usize, cycle: u64, job: u64, bytes: u64, interval: u64) {
        self.announce(pce, cycle, job, bytes);
        for (place, offset) in (0..bytes).step_by(256).enumerate() {
            let bytes = (bytes - offset).min(256) as u32;
            self.ask(pce, cycle + place as u64 * interval, EngineRequest::Beat { job, offset, bytes });
        }
    }

    fn step(&mut self) -> Wake {
        let now = Now { cycle: self.cycle, time: self.clock.edge(self.cycle) };
        let wake = self.engine.tick(now, &mut self.ports);
        for (pce, wire) in self.replies.iter_mut().enumerate() {
            while let Some((date, reply)) = wire.arrive_dated(Femtos::MAX) {
                self.heard.push((pce, self.clock.first_from(date), reply));
            }
        }
        self.cycle += 1;
        wake
    }

    fn run_to(&mut self, cycle: u64) {
        while self.cycle < cycle {
            self.step();
        }
    }

    /// PCEs by the order in which the last beats of their messages came back.
    fn ends(&self) -> Vec<(usize, u64)> {
        let mut ends: Vec<_> = self.heard.iter().filter(|(_, _, reply)| reply.tag.is_some()).collect();
        ends.sort_by_key(|end| end.1);
        ends.into_iter().map(|(pce, _, reply)| (*pce, reply.job)).collect()
    }
}

/// The engine alone: cycles of the output of each beat and of the tag.
fn alone(announced: u64, beats: &[(u64, u32)]) -> (Vec<u64>, u64) {
    let mut timing = Timing::new(&GcmSpec::four_lanes()).unwrap();
    timing.load_key(0);
    timing.load_key(0);
    timing.start(announced, 0, beats.iter().map(|beat| u64::from(beat.1)).sum(), SealOpen::Open);
    let outs = beats.iter().map(|&(at, bytes)| timing.accept(at, bytes).out).collect();
    (outs, timing.finish().tag)
}

#[test]
fn a_message_alone_passes_as_through_an_engine_of_its_own_and_comes_back_a_wire_later() {
    for announced in [300, 995, 1000] {
        let mut bench = Bench::new(3, Turns::Message);
        bench.announce(1, announced, 1, 1000);
        let beats = [(1000, 256), (1001, 256), (1030, 256), (1030, 232)];
        for (place, (at, bytes)) in beats.into_iter().enumerate() {
            bench.ask(1, at, EngineRequest::Beat { job: 1, offset: 256 * place as u64, bytes });
        }
        bench.run_to(1200);
        let (outs, tag) = alone(announced, &beats);
        let heard: Vec<_> = bench.heard.iter().map(|heard| heard.1).collect();
        assert_eq!(heard, outs.iter().map(|out| out + WIRE).collect::<Vec<_>>(), "{announced}");
        assert_eq!(bench.heard.last().map(|heard| heard.2.tag), Some(Some(tag)), "{announced}");
    }
}

#[test]
fn a_message_keeps_the_engine_to_its_end_and_then_the_pces_take_turns() {
    let mut bench = Bench::new(3, Turns::Message);
    // PCE 0 is first, and slow; when it is done the others have a message each, and it has one more.
    bench.message(0, 1000, 1, 1024, 100);
    bench.message(0, 1350, 2, 1024, 0);
    bench.message(2, 1001, 1, 4096, 0);
    bench.message(1, 1002, 1, 4096, 0);
    bench.message(1, 1003, 2, 256, 0);
    bench.run_to(2000);
    assert_eq!(bench.ends(), [(0, 1), (1, 1), (2, 1), (0, 2), (1, 2)]);
    let first = bench.heard.iter().filter(|heard| heard.0 != 0).map(|heard| heard.1).min();
    assert!(first > Some(1300 + WIRE), "{first:?}");
}

#[test]
fn a_message_whose_bytes_are_there_goes_before_one_that_is_only_announced() {
    let mut bench = Bench::new(2, Turns::Message);
    bench.announce(0, 1000, 1, 256);
    bench.message(1, 1000, 1, 256, 0);
    bench.ask(0, 1100, EngineRequest::Beat { job: 1, offset: 0, bytes: 256 });
    bench.run_to(1200);
    assert_eq!(bench.ends(), [(1, 1), (0, 1)]);
}

#[test]
fn with_turns_of_bytes_messages_pass_beside_each_other_and_a_slow_one_holds_up_none() {
    let mut bench = Bench::new(3, Turns::Bytes(1024));
    bench.message(0, 1000, 1, 4096, 100);
    bench.message(1, 1000, 1, 16_384, 0);
    bench.message(2, 1000, 1, 16_384, 0);
    bench.run_to(3000);
    assert_eq!(bench.ends(), [(1, 1), (2, 1), (0, 1)]);
    // The fast ones in turn, 4 beats of 256 B each.
    let order: Vec<_> = {
        let mut heard: Vec<_> = bench.heard.iter().filter(|heard| heard.0 != 0).collect();
        heard.sort_by_key(|heard| heard.1);
        heard.iter().map(|heard| heard.0).collect()
    };
    let expected: Vec<_> = (0..128).map(|beat| 1 + beat / 4 % 2).collect();
    assert_eq!(order, expected);
    // 1024 blocks each at four per cycle, and per turn of 64 blocks what GHASH takes from its last block to its value.
    let end = bench.heard.iter().filter(|heard| heard.0 != 0).map(|heard| heard.1).max().unwrap();
    let tail = 2 * GcmSpec::four_lanes().ghash.multiplier().latency() + 2;
    assert!((1000 + 512..=1000 + 512 + 32 * tail + 40).contains(&end), "{end}");
}

#[test]
fn turns_cut_beats_anywhere_and_every_beat_comes_back_once() {
    for turn in [16, 48, 208, 1024].map(Turns::Bytes).into_iter().chain([Turns::Need(u64::MAX), Turns::Need(32)]) {
        let mut bench = Bench::new(2, turn);
        bench.message(0, 1000, 1, 1000, 3);
        bench.message(1, 1000, 1, 777, 5);
        bench.run_to(3000);
        let of = |pce| bench.heard.iter().filter(move |heard| heard.0 == pce).map(|heard| heard.2.offset.unwrap());
        assert_eq!(of(0).collect::<Vec<_>>(), [0, 256, 512, 768], "{turn:?}");
        assert_eq!(of(1).collect::<Vec<_>>(), [0, 256, 512, 768], "{turn:?}");
        assert_eq!(bench.ends().len(), 2, "{turn:?}");
    }
}

#[test]
fn a_message_with_a_gap_is_refused_counted_out_and_holds_up_none() {
    for turn in [Turns::Message, Turns::Bytes(512), Turns::Need(u64::MAX)] {
        let mut bench = Bench::new(2, turn);
        bench.announce(0, 1000, 1, 1024);
        bench.ask(0, 1000, EngineRequest::Beat { job: 1, offset: 0, bytes: 256 });
        bench.ask(0, 1010, EngineRequest::Beat { job: 1, offset: 512, bytes: 256 });
        bench.message(0, 1020, 2, 512, 0);
        // Never announced, come again, and given up.
        bench.ask(0, 1100, EngineRequest::Beat { job: 3, offset: 0, bytes: 256 });
        bench.ask(0, 1100, EngineRequest::Beat { job: 2, offset: 0, bytes: 256 });
        bench.announce(1, 1000, 1, 1024);
        bench.ask(1, 1200, EngineRequest::GivenUp { job: 1 });
        bench.message(1, 1200, 2, 512, 0);
        bench.run_to(2000);
        let lost: Vec<_> = bench.heard.iter().filter(|h| h.2.offset.is_none()).map(|h| (h.0, h.2.job)).collect();
        assert_eq!(lost, [(0, 1), (0, 3)], "{turn:?}");
        assert_eq!(bench.ends(), [(0, 2), (1, 2)], "{turn:?}");
        assert_eq!(bench.engine.incidents().len(), 2, "{turn:?}");
    }
}

#[test]
fn it_is_busy_while_it_works_waits_for_bytes_of_a_message_and_is_idle_without_one() {
    let mut bench = Bench::new(2, Turns::Message);
    bench.message(0, 1000, 1, 512, 50);
    bench.run_to(1000);
    assert_eq!(bench.step().activity, Activity::Stall(Stall::ReadData));
    let wake = {
        bench.run_to(1050);
        bench.step()
    };
    assert_eq!((wake.activity, wake.at), (Activity::Idle, Wake::NEVER));
    assert!(wake.busy_until > 1050 && wake.busy_until < 1100);
}
