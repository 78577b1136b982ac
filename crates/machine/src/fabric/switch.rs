//! The crossbar of a switch, between the ports of its bundles.
//!
//! ```text
//!                 +----------+
//!  bundle n In   >| crossbar |> to each other bundle's Out
//!                 +----------+
//! ```
//!
//! | contract | |
//! | --- | --- |
//! | accepts per cycle | as many packets of a bundle as it has links |
//! | latency | from a packet being received, all of it, to the egress port seeing it: `switch_latency`, one cycle at the least |
//! | host | what passes through the host leaves its bundle an interval after the last packet that did so (`fabric.host`) |
//! | room | `buffer` packets of each bundle wait for that time to pass, or for their egress port, in addition to those in the port's own buffer |
//! | routing | by the packet's target |
//! | order | what comes from one bundle stays in order: a packet whose egress is full holds up those after it |
//! | arbitration | the egress port takes packets from its queues, one per ingress bundle, round robin |
//! | stalls | `link_busy`: the oldest packet of a bundle finds its queue to the egress port full |

use super::packet::Packet;
use crate::{
    ports,
    sim::{Activity, Clock, In, Now, Out, Signals, Stall, Unit, Wake},
    units::Femtos,
};

ports! {
    /// The crossbar's side of a bundle.
    pub struct Ingress {
        pub received: In<Packet>,
        /// To each bundle; none to itself.
        pub to: Vec<Option<Out<Packet>>>,
    }
}

ports! {
    pub struct Ports {
        /// By GPU.
        pub ingress: Vec<Ingress>,
        /// For packets that nobody takes.
        pub signals: Signals,
    }
}

#[derive(Debug)]
pub struct Crossbar {
    clock: Clock,
    latency: Femtos,
    links: u64,
    /// Cycles between two packets through the host, by source and target; empty where none pass.
    intervals: Vec<Vec<u64>>,
    /// By source: the cycle from which on the host takes its next packet.
    free: Vec<u64>,
}

/// What the oldest packet of a bundle waits for.
enum Head {
    Nothing,
    Time(u64),
    Room,
}

impl Crossbar {
    /// A crossbar between bundles of so many links, with the cycles between packets through the host, by source and target.
    pub fn new(latency: Femtos, links: u32, clock: Clock, intervals: Vec<Vec<u64>>) -> Self {
        Self { clock, latency, links: links.into(), free: vec![0; intervals.len()], intervals }
    }

    fn interval(&self, source: usize, target: u8) -> Option<u64> {
        self.intervals.get(source)?.get(usize::from(target)).copied().filter(|cycles| *cycles > 0)
    }

    fn forward(&mut self, now: Now, (source, ingress): (usize, &mut Ingress), signals: &Signals) -> Head {
        for _ in 0..self.links {
            let Some(date) = ingress.received.front_date(now.time) else { return Head::Nothing };
            let Some(packet) = ingress.received.peek(now.time) else { return Head::Nothing };
            let interval = self.interval(source, packet.target);
            let due = self.clock.first_from(Femtos(date.0.saturating_add(self.latency.0)));
            let due = if interval.is_some() { due.max(self.free[source]) } else { due };
            if due > now.cycle {
                return Head::Time(due);
            }
            let Some(egress) = ingress.to.get_mut(usize::from(packet.target)).and_then(Option::as_mut) else {
                signals.fail(&format!("a packet of GPU {} for GPU {}: nobody is there", packet.source, packet.target));
                return Head::Nothing;
            };
            if !egress.has_room(now.time) {
                return Head::Room;
            }
            if let Some(packet) = ingress.received.pop(now.time) {
                if let Some(cycles) = interval {
                    self.free[source] = now.cycle.saturating_add(cycles);
                }
                egress.push(now.time, packet);
            }
        }
        if ingress.received.is_empty(now.time) { Head::Nothing } else { Head::Time(now.cycle + 1) }
    }
}

impl Unit for Crossbar {
    type Ports = Ports;

    fn tick(&mut self, now: Now, ports: &mut Ports) -> Wake {
        let (mut at, mut blocked) = (Wake::NEVER, false);
        for ingress in ports.ingress.iter_mut().enumerate() {
            match self.forward(now, ingress, &ports.signals) {
                Head::Nothing => {}
                Head::Time(due) => at = at.min(due),
                Head::Room => blocked = true,
            }
        }
        let activity = match (blocked, at) {
            (true, _) => Activity::Stall(Stall::LinkBusy),
            (false, Wake::NEVER) => Activity::Idle,
            (false, _) => Activity::Busy,
        };
        Wake::at_or_port(at, activity)
    }
}
