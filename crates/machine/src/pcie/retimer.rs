//! A retimer between the two ports of a link: it receives, recovers clock and data, and sends anew.
//!
//! ```text
//!              +---------+
//!  h2d.0 wire ~|         |~ h2d.1 wire
//!              | retimer |
//!  d2h.1 wire ~|         |~ d2h.0 wire
//!              +---------+
//! ```
//!
//! | contract | |
//! | --- | --- |
//! | accepts | everything, in both directions at once |
//! | latency | `latency` cycles of the MAC in each direction, the same for TLPs, DLLPs and training |
//! | order | as it comes |
//! | stalls | none: it is busy while something is in it |
//!
//! It is no data-link layer: it checks nothing, and what is damaged goes on damaged.

use super::port::Frame;
use crate::{
    ports,
    sim::{Activity, Clock, Now, Rx, Tx, Unit, Wake},
    units::Cycles,
};

ports! {
    /// Ports of a retimer: each direction's two wires.
    pub struct Ports {
        /// To the GPU.
        pub h2d: (Rx<Frame>, Tx<Frame>),
        /// To the host.
        pub d2h: (Rx<Frame>, Tx<Frame>),
    }
}

#[derive(Debug)]
pub struct Retimer {
    clock: Clock,
    latency: u64,
    busy_until: u64,
}

impl Retimer {
    /// A retimer on the MAC's clock.
    pub const fn new(latency: Cycles, clock: Clock) -> Self {
        Self { clock, latency: latency.0, busy_until: 0 }
    }
}

impl Unit for Retimer {
    type Ports = Ports;

    fn tick(&mut self, now: Now, ports: &mut Ports) -> Wake {
        let mut next = Wake::NEVER;
        for (input, output) in [&mut ports.h2d, &mut ports.d2h] {
            while let Some((date, frame)) = input.arrive_dated(now.time) {
                let leaves = self.clock.first_from(date) + self.latency;
                self.busy_until = self.busy_until.max(leaves);
                output.send(self.clock.edge(leaves), frame);
            }
            next = next.min(input.next_arrival().map_or(Wake::NEVER, |date| self.clock.first_from(date)));
        }
        Wake::at_or_port(next, Activity::Idle).busy_until(self.busy_until)
    }
}
