//! The crossbar of a PCIe switch, between its ports: each port is one end of a link, with its own flow control and replay.
//!
//! ```text
//!                 +----------+
//!  upstream In   >|          |> to upstream Out, one per GPU
//!                 | crossbar |
//!  GPU n In      >|          |> to GPU n Out, one from upstream, with peer to peer one from each other GPU
//!                 +----------+
//! ```
//!
//! | contract | |
//! | --- | --- |
//! | accepts | one TLP per cycle from each port |
//! | latency | from the last DW of a TLP being received to the egress port seeing it: `latency`; with `cut_through` that time runs from its first DW, but nothing leaves before its last has come |
//! | routing | completions by requester; requests by address: to the GPU whose registers lie there, else upstream |
//! | peer to peer | a request of a GPU for another goes straight to it if that is on; if not (ACS), upstream, where no root complex takes it |
//! | order | what comes from one port for one port stays in order: nothing overtakes |
//! | arbitration | an egress port takes TLPs from its queues, one per ingress port, round robin |
//! | buffers | a TLP holds the credits of its ingress port until it leaves |
//! | stalls | `link_busy`: the oldest TLP of a port finds its queue to the egress port full |
//!
//! A TLP with a wrong LCRC never comes here: the ingress port refuses it, and it is sent again.

use super::{
    packet::{Kind, Tlp},
    root_complex::UNSUPPORTED_REQUEST,
};
use crate::{
    ports,
    sim::{Activity, Clock, ErrorLog, In, Now, Out, Signalled, Stall, Unit, Wake},
    units::{Femtos, Fixed, fixed},
};
use std::ops::Range;

/// TLPs that wait in front of an egress port, from each ingress port.
pub const EGRESS_DEPTH: usize = 4;

/// What of a switch no configuration changes.
pub const FIXED: &[Fixed] = fixed! {
    "switch.egress_depth" EGRESS_DEPTH, "TLPs",
        "queue from each ingress port in front of an egress port; the others wait in the receive buffer; assumed";
};

/// The port towards the host. That of the n-th GPU has number n, from 1 on.
pub const UPSTREAM: usize = 0;

ports! {
    /// The crossbar's side of a port.
    pub struct Ingress {
        pub received: In<Tlp>,
        /// To each port; none where nothing goes.
        pub to: Vec<Option<Out<Tlp>>>,
    }
}

/// How fast TLPs come in at a port, for how long one takes.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    pub lanes: u32,
    /// Clock of its MAC, which moves four bytes of each lane in a cycle.
    pub mac: Clock,
}

impl Pace {
    /// How long a TLP takes on the wire.
    fn time_of(self, tlp: &Tlp) -> Femtos {
        let cycle = self.mac.edge(1).0;
        Femtos(u64::from(tlp.wire_dw()) * cycle / u64::from(self.lanes.max(1)))
    }
}

#[derive(Debug, Clone)]
pub struct Below {
    /// What its requests carry.
    pub requester: u8,
    /// Where its registers lie.
    pub registers: Range<u64>,
}

/// What a port's oldest TLP waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Head {
    Nothing,
    Time(u64),
    /// Room in front of its egress port.
    Room,
}

#[derive(Debug)]
pub struct Crossbar {
    clock: Clock,
    latency: Femtos,
    cut_through: bool,
    /// By port, upstream first.
    paces: Vec<Pace>,
    below: Vec<Below>,
    /// By port: the cycle from which on it may give the next TLP.
    next: Vec<u64>,
    incidents: Vec<String>,
    errors: ErrorLog,
}

impl Crossbar {
    /// A crossbar between the port towards the host, first in `paces`, and those towards the GPUs `below`, in their order.
    pub fn new(latency: Femtos, cut_through: bool, clock: Clock, paces: Vec<Pace>, below: Vec<Below>) -> Self {
        let next = vec![0; paces.len()];
        Self { clock, latency, cut_through, paces, below, next, incidents: Vec::new(), errors: ErrorLog::default() }
    }

    /// The port by which a TLP leaves; none if nothing is there.
    fn route(&self, from: usize, tlp: &Tlp) -> Option<usize> {
        let place = match tlp.kind {
            Kind::Completion | Kind::Unsupported => self.below.iter().position(|gpu| gpu.requester == tlp.requester),
            Kind::Read | Kind::Write => self.below.iter().position(|gpu| gpu.registers.contains(&tlp.address)),
        };
        match (place, from) {
            (Some(place), _) => Some(place + 1),
            (None, UPSTREAM) => None,
            (None, _) => Some(UPSTREAM),
        }
    }

    /// The cycle in which a TLP that came at `date` may leave, at the earliest.
    fn leaves(&self, from: usize, date: Femtos, tlp: &Tlp) -> u64 {
        let under_way = if self.cut_through { self.paces[from].time_of(tlp) } else { Femtos(0) };
        let left = self.latency.0.saturating_sub(under_way.0);
        self.clock.first_from(Femtos(date.0.saturating_add(left))).max(self.next[from])
    }

    /// Forwards the oldest TLP of a port if its time has come and there is room.
    fn forward(&mut self, from: usize, now: Now, Ingress { received, to }: &mut Ingress) -> Head {
        let Some(date) = received.front_date(now.time) else { return Head::Nothing };
        let Some(tlp) = received.peek(now.time) else { return Head::Nothing };
        let due = self.leaves(from, date, tlp);
        if due > now.cycle {
            return Head::Time(due);
        }
        let straight = self.route(from, tlp);
        // Without peer to peer there is no way to another GPU but upstream.
        let place = straight.map(|place| if to.get(place).is_some_and(Option::is_some) { place } else { UPSTREAM });
        match place.and_then(|place| to.get_mut(place)?.as_mut()) {
            Some(egress) => {
                if !egress.has_room(now.time) {
                    return Head::Room;
                }
                if let Some(tlp) = received.pop(now.time) {
                    egress.push(now.time, tlp);
                }
            }
            None => self.drop_head(received, now),
        }
        self.next[from] = now.cycle + 1;
        if received.is_empty(now.time) { Head::Nothing } else { Head::Time(now.cycle + 1) }
    }

    #[cold]
    fn drop_head(&mut self, received: &mut In<Tlp>, now: Now) {
        if let Some(Tlp { kind, address, requester, .. }) = received.pop(now.time) {
            let what = format!("the switch dropped a {kind:?} TLP of requester {requester} for {address:#x}");
            self.incidents.push(format!("{what}: nobody is there"));
            self.errors.note(UNSUPPORTED_REQUEST, now.time);
        }
    }
}

impl Unit for Crossbar {
    type Ports = Vec<Ingress>;

    fn tick(&mut self, now: Now, ports: &mut Vec<Ingress>) -> Wake {
        let (mut at, mut blocked, mut held) = (Wake::NEVER, false, false);
        for (from, ingress) in ports.iter_mut().enumerate() {
            match self.forward(from, now, ingress) {
                Head::Nothing if ingress.received.sense_head(now.time) => at = now.cycle + 1,
                Head::Nothing => {}
                Head::Time(due) => (at, held) = (at.min(due), true),
                Head::Room => blocked = true,
            }
        }
        let activity = match (blocked, held) {
            (true, _) => Activity::Stall(Stall::LinkBusy),
            (false, true) => Activity::Busy,
            (false, false) => Activity::Idle,
        };
        let forwarded = self.next.contains(&(now.cycle + 1));
        Wake::at_or_port(at, activity).busy_until(if forwarded { now.cycle + 1 } else { 0 })
    }

    fn incidents(&self) -> Vec<String> {
        self.incidents.clone()
    }

    fn errors(&self) -> &[Signalled] {
        self.errors.all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        pcie::packet::Payload,
        sim::{Control, Kernel, Key, Netlist, Order, run},
        units::Frequency,
    };

    /// Registers of the n-th GPU.
    fn registers(gpu: u64) -> Range<u64> {
        (gpu + 1) << 24..(gpu + 2) << 24
    }

    /// Sends a TLP at time zero.
    struct Source(Option<Tlp>);

    impl Unit for Source {
        type Ports = Out<Tlp>;
        fn tick(&mut self, now: Now, out: &mut Out<Tlp>) -> Wake {
            if let Some(tlp) = self.0.take() {
                out.push(now.time, tlp);
            }
            Wake::on_port(Activity::Idle)
        }
    }

    /// Where TLPs come out: egress port, ingress port, cycle.
    struct Sink {
        ways: Vec<(usize, usize)>,
        seen: Vec<(usize, usize, u64)>,
    }

    impl Unit for Sink {
        type Ports = Vec<In<Tlp>>;
        fn tick(&mut self, now: Now, inputs: &mut Vec<In<Tlp>>) -> Wake {
            for (input, (egress, ingress)) in inputs.iter_mut().zip(&self.ways) {
                while input.pop(now.time).is_some() {
                    self.seen.push((*egress, *ingress, now.cycle));
                }
            }
            Wake::on_port(Activity::Idle)
        }
    }

    const PORTS: usize = 3;

    struct Toy {
        net: Netlist,
        crossbar: Key<Crossbar>,
        sink: Key<Sink>,
    }

    /// A crossbar with two GPUs, 50 ns at 1 GHz, and a TLP at time zero at one of its ports.
    fn toy(cut_through: bool, peers: bool, from: usize, tlp: &Tlp) -> Toy {
        let mut net = Netlist::new();
        let clock = Clock::new(Frequency(1_000_000_000)).unwrap();
        let (mut ports, mut sinks, mut ways, mut far) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for place in 0..PORTS {
            let (sent, received) = net.queue(format!("received{place}"), 8);
            let to = (0..PORTS).map(|other| {
                let goes = other != place && (peers || place * other == 0);
                goes.then(|| {
                    let (out, input) = net.queue(format!("{place}to{other}"), 8);
                    sinks.push(input);
                    ways.push((other, place));
                    out
                })
            });
            ports.push(Ingress { received, to: to.collect() });
            far.push(sent);
        }
        let pace = Pace { lanes: 1, mac: clock };
        let below = (0..2).map(|gpu| Below { requester: gpu, registers: registers(gpu.into()) }).collect();
        let crossbar = Crossbar::new(Femtos(50_000_000), cut_through, clock, vec![pace; PORTS], below);
        let crossbar = net.add("crossbar", clock, crossbar, ports);
        let sink = net.add("sink", clock, Sink { ways, seen: Vec::new() }, sinks);
        for (place, sent) in far.into_iter().enumerate() {
            let tlp = (place == from).then(|| tlp.clone());
            net.add(format!("source{place}"), clock, Source(tlp), sent);
        }
        Toy { net, crossbar, sink }
    }

    /// Where and when the TLP comes out, if it does; else what the crossbar says.
    fn passed(cut_through: bool, peers: bool, from: usize, tlp: Tlp) -> Result<(usize, u64), Vec<String>> {
        let mut toy = toy(cut_through, peers, from, &tlp);
        // Nobody ends the run: it stands still when all is done.
        let _ = run(&mut toy.net, Kernel::Skip, Order::Ascending, &mut |_| Control::Continue);
        match toy.net.unit(&toy.sink).seen[..] {
            [(egress, ingress, cycle)] => {
                assert_eq!(ingress, from);
                Ok((egress, cycle))
            }
            _ => Err(toy.net.unit(&toy.crossbar).incidents()),
        }
    }

    fn write(address: u64, bytes: u32) -> Tlp {
        Tlp::write(address, bytes, Payload::none())
    }

    #[test]
    fn requests_go_by_address_and_completions_by_requester() {
        let completion = Tlp { kind: Kind::Completion, requester: 1, ..Tlp::read(0, 0, 64) };
        for (from, tlp, to) in [
            (0, write(registers(0).start, 4), 1),
            (0, write(registers(1).end - 4, 4), 2),
            (0, completion, 2),
            (1, write(1 << 40, 64), 0),
            (2, Tlp::read(7, 1 << 40, 64), 0),
        ] {
            assert_eq!(passed(false, false, from, tlp).map(|(to, _)| to), Ok(to), "from {from}");
        }
    }

    #[test]
    fn a_request_for_another_gpu_goes_straight_or_upstream() {
        let peer = || write(registers(1).start, 64);
        assert_eq!(passed(false, true, 1, peer()).map(|(to, _)| to), Ok(2));
        assert_eq!(passed(false, false, 1, peer()).map(|(to, _)| to), Ok(0));
    }

    #[test]
    fn what_nobody_takes_is_dropped_and_named() {
        let said = passed(false, true, 0, write(0x1234, 4)).unwrap_err();
        assert!(said[0].contains("dropped a Write TLP of requester 0 for 0x1234"), "{said:?}");
    }

    #[test]
    fn latency_runs_from_the_last_dw_or_from_the_first() {
        // A write of 64 B with a header of 3 DW: 21 DW, 21 cycles on one lane.
        let tlp = || write(1 << 30, 64);
        assert_eq!(tlp().wire_dw(), 21);
        // It comes out an edge after it was forwarded.
        assert_eq!(passed(false, false, 1, tlp()), Ok((0, 51)));
        assert_eq!(passed(true, false, 1, tlp()), Ok((0, 51 - 21)));
        // Longer than the latency: it leaves when it is there, which shows at the next edge.
        assert_eq!(passed(true, false, 1, write(1 << 30, 256)), Ok((0, 2)));
    }
}
