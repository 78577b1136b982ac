//! A link port: MAC and data-link layer of one end of the link.
//!
//! ```text
//!                 +-------------------------------+
//!  send[0..] In  >| arbiter  credits  replay  MAC |> wire out
//!                 |                               |
//!  receive[] Out <| routing  credits  LCRC  token |< wire in
//!                 +-------------------------------+
//! ```
//!
//! | contract | |
//! | --- | --- |
//! | accepts per cycle | as many TLPs as begin in the cycle's 64 bytes; one STP and one SDP at most per symbol time |
//! | latency | last DW sent to TLP standing checked at the partner: `flight` cycles |
//! | order | Nak and Ack, credit updates, replays, then new TLPs, round robin over the inputs; each input stays in order |
//! | stalls | `credit`, `replay_full`, `recovery` |
//! | Ack | at most `ack_latency` cycles after the first TLP that waits for one |
//! | credits | returned when half a pool has drained, or `credit_update` cycles after the last return |
//!
//! A bad LCRC is answered by a Nak and a replay; a bad token by Recovery, in which all that is under way is lost and later
//! replayed; a lost TLP by a Nak when the next one comes, a lost Ack by the replay timer. Four replays in a row without progress
//! also lead to Recovery. Credits are initialised before time zero.

mod frame;
mod pool;
mod receive;
mod stream;
mod transmit;

use super::{
    credit::CreditClass,
    packet::{Kind, Tlp},
    spec::{CreditSpec, LinkSpec},
};
use crate::sim::{Clock, Now, Queue, Wake, Wakes, Wire};
use pool::{ReceivePool, TransmitPool};
use std::collections::VecDeque;
use stream::Stream;

pub use frame::{Frame, TlpFrame};

/// Sequence numbers are counted modulo this.
const SEQUENCES: u16 = 4096;

/// Which end of the link a port is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// At the root complex: takes reads and writes of host memory.
    Host,
    /// At the GPU: takes completions, by the PCE that asked, and writes to the GPU.
    Gpu {
        /// First tag of the first PCE.
        first_tag: u16,
        /// Tags that each PCE owns.
        tags_per_pce: u16,
        /// PCEs; their completions come out of `receive[0..pces]`, writes out of `receive[pces]`.
        pces: u16,
    },
}

/// Outputs of a host port: reads, then writes, then completions.
pub const HOST_READS: usize = 0;
/// See [`HOST_READS`].
pub const HOST_WRITES: usize = 1;

/// Ports of a link port.
#[derive(Debug)]
pub struct Ports<'a> {
    /// TLPs to send, a queue per source.
    pub send: &'a mut [Queue<Tlp>],
    /// TLPs received, a queue per destination.
    pub receive: &'a mut [Queue<Tlp>],
    /// To the partner.
    pub wire_out: &'a mut Wire<Frame>,
    /// From the partner.
    pub wire_in: &'a mut Wire<Frame>,
    /// Where wakes are noted.
    pub wakes: &'a Wakes,
}

/// Traffic sent by a port.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// TLPs, replays included.
    pub tlps: u64,
    /// DLLPs.
    pub dllps: u64,
    /// Payload bytes of TLPs, replays included.
    pub payload_bytes: u64,
    /// Bytes of tokens, headers, payloads and CRCs.
    pub wire_bytes: u64,
    /// TLPs sent again.
    pub replays: u64,
    /// Times that this port has entered Recovery because of what it received or failed to have acknowledged.
    pub recoveries: u64,
    /// TLP frames refused for their LCRC.
    pub bad_lcrc: u64,
    /// Frames refused for their token.
    pub bad_tokens: u64,
    /// TLPs that came a second time and were dropped.
    pub duplicates: u64,
}

/// One end of the link.
#[derive(Debug)]
pub struct Port {
    spec: LinkSpec,
    side: Side,
    clock: Clock,
    exact: bool,
    stream: Stream,
    recovery_cycles: u64,
    // Transmitter.
    position: u64,
    last_sdp: u64,
    turn: usize,
    next_sequence: u16,
    unacknowledged: VecDeque<(u16, Tlp)>,
    /// Place in `unacknowledged` of the next TLP to send again.
    replaying: Option<usize>,
    replays_in_a_row: u32,
    replay_deadline: u64,
    partner: [TransmitPool; 3],
    // Receiver.
    expected: u16,
    nak_scheduled: bool,
    nak_due: bool,
    ack_due: u64,
    own: [ReceivePool; 3],
    recovery_until: u64,
    training_due: bool,
    traffic: Traffic,
    fault: Option<String>,
}

impl Port {
    /// A port whose MAC runs on `clock`. With `exact`, every LCRC is computed and checked over the bytes.
    #[must_use]
    pub fn new(spec: &LinkSpec, side: Side, clock: Clock, exact: bool) -> Self {
        let (own, partner) = match side {
            Side::Host => (spec.host_credits, spec.gpu_credits),
            Side::Gpu { .. } => (spec.gpu_credits, spec.host_credits),
        };
        Self {
            side,
            clock,
            exact,
            stream: Stream::new(spec.skp_interval_blocks),
            recovery_cycles: clock.cycles_in(spec.recovery),
            position: 0,
            last_sdp: u64::MAX,
            turn: 0,
            next_sequence: 0,
            unacknowledged: VecDeque::with_capacity(spec.replay_tlps as usize),
            replaying: None,
            replays_in_a_row: 0,
            replay_deadline: Wake::NEVER,
            partner: pools(&partner).map(|(headers, data)| TransmitPool::new(headers, data)),
            expected: 0,
            nak_scheduled: false,
            nak_due: false,
            ack_due: Wake::NEVER,
            own: pools(&own).map(|(headers, data)| ReceivePool::new(headers, data, spec.max_payload.0 as u32 / 16)),
            recovery_until: 0,
            training_due: false,
            traffic: Traffic::default(),
            fault: None,
            spec: spec.clone(),
        }
    }

    /// What it has sent so far.
    #[must_use]
    pub const fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// What cannot be, if it has happened.
    #[must_use]
    pub const fn fault(&self) -> Option<&String> {
        self.fault.as_ref()
    }

    /// Advances by one edge.
    pub fn tick(&mut self, now: Now, ports: &mut Ports<'_>) -> Wake {
        self.receive(now, ports);
        let (activity, room_from) = self.transmit(now, ports);
        let arrival = ports.wire_in.next_arrival().map_or(Wake::NEVER, |date| self.clock.first_from(date));
        // What waits for its date goes out where there is room: at the date if there is room now, else when there is room again.
        let ack = if room_from == Wake::NEVER { self.ack_due } else { room_from };
        let at = arrival.min(room_from).min(self.replay_deadline).min(ack);
        let timer = self.credit_timer(now.cycle);
        Wake { at: at.min(timer), listens: room_from == Wake::NEVER, background: at == Wake::NEVER, activity }
    }

    fn recovering(&self, cycle: u64) -> bool {
        cycle < self.recovery_until
    }
}

/// Header and data credits in the order of [`pool_of`].
fn pools(spec: &CreditSpec) -> [(u32, u32); 3] {
    [
        (spec.posted_headers, spec.posted_data),
        (spec.non_posted_headers, spec.non_posted_data),
        (spec.completion_headers, spec.completion_data),
    ]
}

const CLASSES: [CreditClass; 3] = [CreditClass::Posted, CreditClass::NonPosted, CreditClass::Completion];

/// Place of a class among the pools.
#[inline]
const fn pool_of(class: CreditClass) -> usize {
    match class {
        CreditClass::Posted => 0,
        CreditClass::NonPosted => 1,
        CreditClass::Completion => 2,
    }
}

impl Side {
    /// The output that a TLP leaves by.
    #[inline]
    fn route(self, tlp: &Tlp) -> usize {
        match (self, tlp.kind) {
            (Self::Host, Kind::Read) => HOST_READS,
            (Self::Host, _) => HOST_WRITES,
            (Self::Gpu { pces, .. }, Kind::Read | Kind::Write) => usize::from(pces),
            (Self::Gpu { first_tag, tags_per_pce, pces }, _) => {
                usize::from((tlp.tag.saturating_sub(first_tag) / tags_per_pce).min(pces - 1))
            }
        }
    }
}
