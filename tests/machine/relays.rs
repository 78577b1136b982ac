//! A unit that only passes items on need not run for each: both kernels, any order and a machine that defers nothing give the same run, over random
//! scripts. Who gets the items is fed by a queue, or by a wire to which it is deaf while it is busy.
//!
//! `SEALSIM_CASES` sets the number of random machines.

use proptest::prelude::*;
use sealsim::{
    ports,
    sim::{
        Activity, Clock, Control, In, Kernel, Netlist, Now, Order, Out, Run, Rx, Sensitivity, Signals, Tx, Unit,
        Urgency, Wake, run,
    },
    units::{Femtos, Frequency},
};

const FLIGHT: u64 = 20;
/// Cycles after which the relay answers the first item that it has not answered.
const ANSWER: u64 = 9;
const ALL: [Urgency; 3] = [Urgency::Pressing, Urgency::Passing, Urgency::Deferrable];

/// Items, each so many cycles behind the one before.
type Script = Vec<(u64, Urgency)>;

struct Source {
    clock: Clock,
    script: Script,
    next: usize,
    due: u64,
}

impl Unit for Source {
    type Ports = Tx<u64>;

    fn tick(&mut self, now: Now, link: &mut Tx<u64>) -> Wake {
        while let Some(&(gap, urgency)) = self.script.get(self.next) {
            if self.due + gap > now.cycle {
                return Wake::at_or_port(self.due + gap, Activity::Idle);
            }
            let word = (self.next as u64) << 2 | urgency as u64;
            link.send_as(urgency, self.clock.edge(now.cycle + FLIGHT), word);
            (self.next, self.due) = (self.next + 1, now.cycle);
        }
        Wake::on_port(Activity::Idle)
    }
}

ports! {
    struct RelayPorts {
        link: Rx<u64>,
        queue: Option<Out<u64>>,
        wire: Option<Tx<u64>>,
        back: Tx<u64>,
    }
}

/// Passes on, answers, and gives back what it has passed on: after so many, or so many cycles after the last time.
struct Relay {
    clock: Clock,
    most: u32,
    interval: u64,
    passed: u32,
    last: u64,
    answer_due: u64,
    seen: u64,
}

impl Relay {
    fn receive(&mut self, now: Now, ports: &mut RelayPorts) {
        while let Some((date, word)) = ports.link.arrive_dated(now.time) {
            self.seen += 1;
            self.answer_due = self.answer_due.min(self.clock.first_from(date) + ANSWER);
            if word & 3 == Urgency::Passing as u64 {
                self.passed += 1;
                ports.queue.iter_mut().for_each(|queue| queue.push(date, word));
                ports.wire.iter_mut().for_each(|wire| wire.send(Femtos(date.0 + 1), word));
            }
        }
    }
}

impl Unit for Relay {
    type Ports = RelayPorts;

    fn tick(&mut self, now: Now, ports: &mut RelayPorts) -> Wake {
        self.receive(now, ports);
        let date = self.clock.edge(now.cycle + FLIGHT);
        if self.answer_due <= now.cycle {
            ports.back.send(date, self.seen << 2);
            self.answer_due = Wake::NEVER;
        }
        let timer = self.last + self.interval;
        if self.passed >= self.most || (self.passed > 0 && now.cycle >= timer) {
            ports.back.send(date, u64::from(self.passed) << 2 | 3);
            (self.passed, self.last) = (0, now.cycle);
        }
        let timer = self.last + self.interval;
        ports.link.sense(Sensitivity::Deferring);
        match now.cycle < timer {
            true => ports.link.lag(self.most - self.passed - 1, self.clock.edge(timer)),
            false => ports.link.lag(0, Femtos(0)),
        }
        let arrival = ports.link.next_arrival().map_or(Wake::NEVER, |date| self.clock.first_from(date));
        let timer = if self.passed > 0 { timer } else { Wake::NEVER };
        Wake::at_or_port(arrival.min(self.answer_due).min(timer), Activity::Idle)
    }

    fn catch_up(&mut self, now: Now, ports: &mut RelayPorts) {
        self.receive(now, ports);
    }
}

ports! {
    struct ReaderPorts {
        queue: Option<In<u64>>,
        wire: Option<Rx<u64>>,
        done: Tx<u64>,
    }
}

/// Serves what it gets: one after the other from a queue; all at once from a wire, which it looks at late while it is busy.
struct Reader {
    clock: Clock,
    service: u64,
    busy_until: u64,
}

impl Unit for Reader {
    type Ports = ReaderPorts;

    fn tick(&mut self, now: Now, ports: &mut ReaderPorts) -> Wake {
        if let Some(queue) = &mut ports.queue {
            if now.cycle >= self.busy_until {
                let Some(word) = queue.pop(now.time) else { return Wake::on_port(Activity::Idle) };
                self.busy_until = now.cycle + self.service;
                ports.done.send(self.clock.edge(self.busy_until), word);
            }
            return Wake::at(self.busy_until, Activity::Busy);
        }
        let Some(wire) = &mut ports.wire else { return Wake::on_port(Activity::Idle) };
        while let Some((date, word)) = wire.arrive_dated(now.time) {
            let ready = self.clock.first_from(date) + self.service;
            self.busy_until = ready;
            ports.done.send(self.clock.edge(ready), word);
        }
        let busy = now.cycle < self.busy_until;
        wire.sense(if busy { Sensitivity::None } else { Sensitivity::Every });
        let arrival = wire.next_arrival().map_or(Wake::NEVER, |date| self.clock.first_from(date));
        match busy {
            true => Wake::at_or_port(self.busy_until.min(now.cycle + self.service), Activity::Busy),
            false => Wake::at_or_port(arrival, Activity::Idle),
        }
    }
}

ports! {
    struct SinkPorts {
        done: Rx<u64>,
        back: Rx<u64>,
        signals: Signals,
    }
}

/// Ends the run with the last item that is served.
struct Sink {
    clock: Clock,
    left: usize,
}

impl Unit for Sink {
    type Ports = SinkPorts;

    fn tick(&mut self, now: Now, ports: &mut SinkPorts) -> Wake {
        while ports.back.arrive(now.time).is_some() {}
        while ports.done.arrive(now.time).is_some() {
            self.left = self.left.saturating_sub(1);
        }
        if self.left == 0 {
            ports.signals.stop();
        }
        let next = [ports.done.next_arrival(), ports.back.next_arrival()].into_iter().flatten().min();
        Wake::at_or_port(next.map_or(Wake::NEVER, |date| self.clock.first_from(date)), Activity::Idle)
    }
}

#[derive(Debug, Clone)]
struct Toy {
    script: Script,
    most: u32,
    interval: u64,
    service: u64,
    mhz: u64,
    by_wire: bool,
    relays: bool,
}

impl Toy {
    fn netlist(&self) -> Netlist {
        let mut net = Netlist::new();
        let mac = Clock::new(Frequency(1_000_000_000)).unwrap();
        let clock = Clock::new(Frequency(self.mhz * 1_000_000)).unwrap();
        let window = Femtos(mac.edge(ANSWER).0 - 1);
        let (tx, link) = net.deferring_wire("link", mac.edge(FLIGHT), window);
        let (onward, wire) = net.wire("onward", Femtos(1));
        let (out, queue) = net.deferring_queue("queue", 1 << 20);
        let (done_tx, done) = net.wire("done", clock.edge(1));
        let (back_tx, back) = net.wire("back", mac.edge(FLIGHT));
        if self.relays && self.by_wire {
            net.relay(&link, &onward);
        } else if self.relays {
            net.relay(&link, &out);
        }
        let (most, interval) = (self.most, self.interval);
        let relay = Relay { clock: mac, most, interval, passed: 0, last: 0, answer_due: Wake::NEVER, seen: 0 };
        let left = self.script.iter().filter(|(_, urgency)| *urgency == Urgency::Passing).count();
        let source = Source { clock: mac, script: self.script.clone(), next: 0, due: 0 };
        net.add("source", mac, source, tx);
        let (mut feeds, mut ends) = (RelayPorts { link, queue: None, wire: None, back: back_tx }, (None, None));
        match self.by_wire {
            true => {
                (feeds.wire, ends.1) = (Some(onward), Some(wire));
                net.tie_off("unused", mac, (out, queue));
            }
            false => {
                (feeds.queue, ends.0) = (Some(out), Some(queue));
                net.tie_off("unused", mac, (onward, wire));
            }
        }
        let reader = Reader { clock, service: self.service, busy_until: 0 };
        // Who is fed may come before who feeds it.
        net.add("reader", clock, reader, ReaderPorts { queue: ends.0, wire: ends.1, done: done_tx });
        net.add("relay", mac, relay, feeds);
        let signals = net.signals("sink");
        net.add("sink", mac, Sink { clock: mac, left }, SinkPorts { done, back, signals });
        net
    }

    /// What the run gives: its end, digests and accounts; and its ticks.
    fn run(&self, kernel: Kernel, order: Order) -> (String, u64) {
        let mut net = self.netlist();
        let Run { end, ticks, accounts } = run(&mut net, kernel, order, &mut |_| Control::Continue).unwrap();
        let digests: Vec<_> = net.channels().map(|channel| (channel.path().to_owned(), channel.digest())).collect();
        (format!("{end:?} {digests:?} {accounts:?}"), ticks)
    }
}

fn toys() -> impl Strategy<Value = Toy> {
    let item = (prop_oneof![0u64..4, 0u64..60], prop::sample::select(&ALL[..]));
    (prop::collection::vec(item, 1..80), 1u32..20, 1u64..90, 1u64..120, 100u64..3000, any::<bool>()).prop_map(
        |(script, most, interval, service, mhz, by_wire)| Toy {
            script,
            most,
            interval,
            service,
            mhz,
            by_wire,
            relays: true,
        },
    )
}

#[test]
fn what_is_passed_on_late_is_as_if_it_had_been_passed_on_at_its_date() {
    let cases = std::env::var("SEALSIM_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(400);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(toy in toys(), seed in any::<u64>())| {
        let plain = Toy { relays: false, ..toy.clone() };
        let expected = plain.run(Kernel::EveryCycle, Order::Ascending).0;
        for toy in [&plain, &toy] {
            for order in [Order::Ascending, Order::Shuffled(seed)] {
                prop_assert_eq!(&toy.run(Kernel::Skip, order).0, &expected);
            }
        }
        prop_assert_eq!(&toy.run(Kernel::EveryCycle, Order::Shuffled(seed)).0, &expected);
    });
}

#[test]
fn a_relay_runs_for_an_answer_and_not_for_each_item() {
    let script = vec![(3, Urgency::Passing); 600];
    for by_wire in [true, false] {
        let toy =
            Toy { script: script.clone(), most: 1000, interval: 1 << 40, service: 2, mhz: 1000, by_wire, relays: true };
        let [lazy, eager] =
            [true, false].map(|relays| Toy { relays, ..toy.clone() }.run(Kernel::Skip, Order::Ascending));
        assert_eq!(lazy.0, eager.0);
        // It answers every third item, and would run for each.
        assert!(eager.1 - lazy.1 > 350, "{} {}", lazy.1, eager.1);
    }
}
