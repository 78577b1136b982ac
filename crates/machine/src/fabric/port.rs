//! One end of a bundle of links: it sends packets and receives them.
//!
//! ```text
//!               +------+
//!  send In ..  >|      |~ packets wire (to the other end)
//!               | port |~ credits wire (to the other end)
//!  receive Out <|      |~ packets wire (from the other end)
//!               |      |~ credits wire (from the other end)
//!               +------+
//! ```
//!
//! | contract | |
//! | --- | --- |
//! | accepts | packets of its queues, round robin; each goes to the next link in turn |
//! | a link | moves one flit per cycle; it begins with a packet when it is free and the other end has room for the packet |
//! | latency | a packet is at the other end `flight` after its last flit has left |
//! | order | packets arrive in the order in which they were sent, whichever links they took |
//! | room | the other end has room for `buffer` packets; it gives one credit back, `flight` away, for each that goes on |
//! | responses | each packet that is received takes `response` flits of the link on which it came, the other way |
//! | stalls | `credit`: the other end has no room |
//!
//! Credits travel in headers and take no flits.

use super::{packet::Packet, spec::FabricSpec};
use crate::{
    ports,
    sim::{Activity, Clock, In, Now, Out, Rx, Stall, Tx, Unit, Wake},
    units::Femtos,
};

ports! {
    pub struct Ports {
        pub send: Vec<In<Packet>>,
        pub receive: Out<Packet>,
        pub wire_out: Tx<Packet>,
        pub wire_in: Rx<Packet>,
        /// Room given back to the other end.
        pub credit_out: Tx<u64>,
        /// Room given back by the other end.
        pub credit_in: Rx<u64>,
    }
}

#[derive(Debug)]
pub struct Port {
    clock: Clock,
    flight: Femtos,
    response: u64,
    credits: u64,
    /// By link: the cycle from which on it is free.
    free: Box<[u64]>,
    /// The link that sends the next packet, and the one on which the next comes.
    sends: usize,
    receives: usize,
    /// The queue whose turn it is.
    turn: usize,
    /// Flits of packets that were sent.
    flits: u64,
}

/// What the oldest packet waits for.
enum Head {
    Nothing,
    Link(u64),
    Credit,
}

impl Port {
    /// One end of a bundle on the links' clock; so many flits come back for a packet.
    pub fn new(spec: &FabricSpec, response: u64, clock: Clock) -> Self {
        Self {
            clock,
            flight: Femtos(spec.flight.0.max(1)),
            response,
            credits: spec.buffer.into(),
            free: vec![0; spec.links.max(1) as usize].into(),
            sends: 0,
            receives: 0,
            turn: 0,
            flits: 0,
        }
    }

    /// Flits of packets that it has sent.
    pub const fn flits(&self) -> u64 {
        self.flits
    }

    /// Takes packets that have come, as far as there is room for them to go on.
    fn receive(&mut self, now: Now, ports: &mut Ports) -> u64 {
        while ports.receive.has_room(now.time) {
            let Some(packet) = ports.wire_in.arrive(now.time) else {
                return ports.wire_in.next_arrival().map_or(Wake::NEVER, |date| self.clock.first_from(date));
            };
            let link = &mut self.free[self.receives];
            *link = now.cycle.max(*link) + self.response;
            self.receives = (self.receives + 1) % self.free.len();
            ports.receive.push(now.time, packet);
            ports.credit_out.send(Femtos(now.time.0.saturating_add(self.flight.0)), 1);
        }
        Wake::NEVER
    }

    /// Sends packets as long as links are free and the other end has room.
    fn send(&mut self, now: Now, ports: &mut Ports) -> Head {
        let queues = ports.send.len();
        loop {
            let waiting = (0..queues).map(|n| (self.turn + n) % queues).find(|&n| !ports.send[n].is_empty(now.time));
            let Some(queue) = waiting else { return Head::Nothing };
            if self.free[self.sends] > now.cycle {
                return Head::Link(self.free[self.sends]);
            }
            if self.credits == 0 {
                return Head::Credit;
            }
            let Some(packet) = ports.send[queue].pop(now.time) else { return Head::Nothing };
            let left = now.cycle + u64::from(packet.flits);
            self.free[self.sends] = left;
            self.sends = (self.sends + 1) % self.free.len();
            self.turn = (queue + 1) % queues;
            self.credits -= 1;
            self.flits += u64::from(packet.flits);
            ports.wire_out.send(Femtos(self.clock.edge(left).0.saturating_add(self.flight.0)), packet);
        }
    }
}

impl Unit for Port {
    type Ports = Ports;

    fn tick(&mut self, now: Now, ports: &mut Ports) -> Wake {
        while let Some(credits) = ports.credit_in.arrive(now.time) {
            self.credits += credits;
        }
        let arrival = self.receive(now, ports);
        let credit = ports.credit_in.next_arrival().map_or(Wake::NEVER, |date| self.clock.first_from(date));
        let (at, activity) = match self.send(now, ports) {
            Head::Nothing => (Wake::NEVER, Activity::Idle),
            Head::Link(free) => (free, Activity::Busy),
            Head::Credit => (Wake::NEVER, Activity::Stall(Stall::Credit)),
        };
        let busy_until = self.free.iter().copied().max().unwrap_or(0);
        Wake::at_or_port(at.min(arrival).min(credit), activity).busy_until(busy_until)
    }
}
