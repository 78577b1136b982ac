//! A link port: MAC and data-link layer of one end of the link.
//!
//! ```text
//!                 +-------------------------------+
//!  send[0..] In  >| arbiter  credits  replay  MAC |~ wire out
//!  completions   ~|                               |
//!                 |                               |
//!  receive[] Out <| routing  credits  LCRC  token |~ wire in
//!  reads         ~|                               |
//!                 +-------------------------------+
//! ```
//!
//! | contract | |
//! | --- | --- |
//! | accepts per cycle | as many TLPs as begin in the cycle's bytes, 4 of each lane; one STP and one SDP at most per symbol time |
//! | latency | last DW sent to TLP checked at the partner: `flight` cycles |
//! | order | Nak and Ack, credit updates, replays, then new TLPs, round robin over the inputs; each input stays in order |
//! | stalls | `credit`, `replay_full`, `recovery`; with IDE `aggregate`, `aes_busy`, `ghash_busy` |
//! | Ack | at most `ack_latency` cycles after the first TLP that waits for one |
//! | completions | two of a read go one right behind the other where they cost the partner no credits and neither ECRC nor IDE protects them: nothing comes between |
//! | deferred | what wakes the partner only `ack_latency` after it has arrived, or with the next that is urgent: Acks and updates of credits, for which it does not wait; completions that leave more of their read to come |
//! | credits | returned when half a pool has drained, or `credit_update` cycles after the last return; repeated after 30 us and after Recovery, for a second if no TLP of the pool comes |
//!
//! A bad LCRC is answered by a Nak and a replay; a bad token by Recovery, in which all that is in progress is lost and later
//! replayed; a lost TLP by a Nak when the next one comes, a lost Ack by the replay timer, a lost UpdateFC by its repetition. Four replays
//! in a row without progress also lead to Recovery. Credits are initialised before time zero.
//!
//! In flit mode (generation 6) TLPs have no token and no LCRC, and arrive when their last flit can be checked; a DLLP goes next to the TLPs of a flit
//! (`flits`). A lost flit shows as TLPs whose CRC is wrong.
//!
//! With IDE ([`IdeSpec`](super::spec::IdeSpec)) each TLP carries a prefix and some a MAC, and what arrives is checked only when its
//! MAC has come.
//!
//! A transmitter that is full sleeps until there is room again and does not sense its inputs; one that has sent all there is senses them at once.

mod errors;
mod flits;
mod frame;
mod ide;
mod pool;
mod receive;
mod replay;
mod stream;
mod transmit;

use super::{
    credit::CreditClass,
    packet::{Kind, Tlp},
    rate::SYMBOLS_PER_CYCLE,
    spec::{CreditSpec, LinkSpec},
};
use crate::growth::outcome;
use crate::units::{Fixed, fixed};
use crate::{
    ports,
    sim::{Clock, ErrorLog, In, Now, Out, Rx, Sensitivity, Signalled, Signals, Tx, Unit, Wake},
    units::Femtos,
};
use ide::{Incoming, Outgoing};
use pool::Promises;
use receive::Receiver;
use transmit::{Sending, Transmitter};

pub use frame::{DllpFrame, Frame, PacketBytes, TlpFrame};
pub use pool::initialisation;

/// Sequence numbers are counted modulo this.
const SEQUENCES: u16 = 4096;
/// Longest time between two UpdateFC of a finite pool (PCI Express base specification: 30 us).
const LONGEST_UPDATE_INTERVAL: Femtos = Femtos(30_000_000_000);

/// What of a port no configuration changes.
pub const FIXED: &[Fixed] = fixed! {
    "link.symbols_per_cycle" SYMBOLS_PER_CYCLE, "symbol times",
        "a MAC takes 32 bits from each lane, at 250 MHz to 2 GHz by generation";
    "link.cycles_per_bubble" stream::DATA_CYCLES, "cycles", "data cycles between two empty ones: 128b/130b";
    "link.block" stream::SYMBOLS_PER_BLOCK, "symbol times", "a block of 128b/130b, as ordered sets replace";
    "link.sequences" SEQUENCES, "TLPs", "12-bit sequence numbers";
    "link.replays" replay::REPLAYS, "replays",
        "replays without progress before the next one retrains the link: REPLAY_NUM of two bits";
    "link.credit_repetition" LONGEST_UPDATE_INTERVAL.0 / 1_000_000, "ns",
        "an unchanged UpdateFC is repeated at least so often";
    "link.credit_rest" pool::REST, "repetitions",
        "repetitions after which an idle link sends no more; it would be in L1";
};

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
    /// At a switch, towards the host: all comes out of `receive[0]`.
    SwitchUp,
    /// At a switch, towards a GPU: all comes out of `receive[0]`.
    SwitchDown,
}

impl Side {
    /// Whether it is the end of its link that is nearer to the host.
    const fn is_upper(self) -> bool {
        matches!(self, Self::Host | Self::SwitchDown)
    }
}

/// Output of a host port for writes and completions.
pub const HOST_WRITES: usize = 0;
/// Output of a host port for reads, where there is no root complex that takes them as they come.
pub const HOST_READS: usize = 1;

ports! {
    /// Wires to a root complex.
    pub struct RootPorts {
        pub reads: Tx<Tlp>,
        /// Completions, from it: one more input of the transmitter, behind all queues.
        pub completions: Rx<Tlp>,
    }
}

ports! {
    pub struct Ports {
        /// TLPs to send, a queue per source.
        pub send: Vec<In<Tlp>>,
        /// TLPs received, a queue per destination.
        pub receive: Vec<Out<Tlp>>,
        /// At the host, to a root complex.
        pub root: Option<RootPorts>,
        pub wire_out: Tx<Frame>,
        pub wire_in: Rx<Frame>,
        /// For what ends the run.
        pub signals: Signals,
    }
}

impl Ports {
    #[inline]
    fn inputs(&self) -> usize {
        self.send.len() + self.root.is_some() as usize
    }

    /// The TLP `place` behind the head of an input.
    #[inline(always)]
    fn visible(&mut self, input: usize, now: Femtos, place: usize) -> Option<&Tlp> {
        match self.send.get_mut(input) {
            Some(queue) => queue.peek_at(now, place),
            None => self.root.as_mut().and_then(|root| root.completions.peek_at(now, place)),
        }
    }
}

outcome! {
    /// Traffic sent by a port.
    pub struct Traffic {
        tlps: u64 = Count,
        dllps: u64 = Sum,
        /// Payload bytes of TLPs, replays included.
        payload_bytes: u64 = Count,
        /// Bytes of tokens, headers, payloads and CRCs.
        wire_bytes: u64 = Sum,
        replays: u64 = Sum,
        /// Times that this port has entered Recovery because of what it received or failed to have acknowledged.
        recoveries: u64 = Sum,
        /// TLP frames refused for their LCRC.
        bad_lcrc: u64 = Sum,
        /// Frames refused for their token.
        bad_tokens: u64 = Sum,
        /// TLPs refused because one before them is missing.
        out_of_sequence: u64 = Sum,
        /// DLLPs dropped for their CRC.
        bad_dllps: u64 = Sum,
        /// TLPs that came a second time and were dropped.
        duplicates: u64 = Sum,
        /// Bytes of prefixes, PCRCs and MACs of IDE, replays included.
        ide_bytes: u64 = Count,
        /// MACs of IDE that were wrong. The first makes the stream insecure.
        bad_macs: u64 = Sum,
        /// TLPs discarded because their stream is insecure.
        discarded: u64 = Sum,
    }
}

impl Traffic {
    /// What went wrong, and how often.
    fn incidents(&self) -> impl Iterator<Item = (u64, &'static str)> {
        let all = [
            (self.bad_lcrc, "TLP refused for a wrong LCRC"),
            (self.bad_tokens, "TLP refused for a broken framing token"),
            (self.out_of_sequence, "TLP refused because one before was lost or refused"),
            (self.duplicates, "TLP dropped because it had come before"),
            (self.bad_dllps, "DLLP dropped for a wrong CRC"),
            (self.replays, "TLP sent again from the replay buffer"),
            (self.recoveries, "entry into Recovery"),
            (self.discarded, "TLP discarded because its IDE stream is insecure"),
        ];
        all.into_iter().filter(|(count, _)| *count > 0)
    }
}

/// One end of the link.
#[derive(Debug)]
pub struct Port {
    side: Side,
    clock: Clock,
    ecrc: bool,
    flight: u64,
    ack_latency: u64,
    recovery_cycles: u64,
    /// What requests of a GPU carry.
    requester: u8,
    transmitter: Transmitter,
    receiver: Receiver,
    /// The link is down before this cycle.
    recovery_until: u64,
    /// The partner has yet to be notified of it.
    training_due: bool,
    traffic: Traffic,
    errors: ErrorLog,
    fault: Option<String>,
}

impl Port {
    /// A port whose MAC runs on `clock`, the same for both ends. A flight time of zero is one of a cycle.
    pub fn new(spec: &LinkSpec, side: Side, clock: Clock) -> Self {
        let (upper, lower) = (&spec.host_credits, &spec.gpu_credits);
        let (own, partner) = if side.is_upper() { (upper, lower) } else { (lower, upper) };
        let repeat = clock.cycles_in(LONGEST_UPDATE_INTERVAL);
        let from_host = !side.is_upper();
        let (outgoing, incoming) = match &spec.ide {
            None => (None, None),
            Some(ide) => {
                let engine = if from_host { &ide.gpu } else { &ide.host };
                let latency = ide.host.latency.0 + ide.gpu.latency.0;
                let incoming = Incoming::new(engine, latency, from_host);
                (Some(Box::new(Outgoing::new(ide, engine))), Some(Box::new(incoming)))
            }
        };
        Self {
            side,
            clock,
            ecrc: spec.ecrc,
            flight: spec.flight.0.max(1),
            ack_latency: spec.ack_latency.0,
            recovery_cycles: clock.cycles_in(spec.recovery),
            requester: 0,
            transmitter: Transmitter::new(spec, partner, outgoing, side),
            receiver: Receiver::new(Promises::new(spec, own, side, repeat), incoming),
            recovery_until: 0,
            training_due: false,
            traffic: Traffic::default(),
            errors: ErrorLog::default(),
            fault: None,
        }
    }

    /// The same of a GPU that is not the first below its root complex: its requests say which it is.
    pub const fn of_requester(mut self, requester: u8) -> Self {
        self.requester = requester;
        self
    }

    /// Whether no source has a TLP, now or at the next edge.
    #[inline]
    fn no_source_has_any(now: Femtos, ports: &Ports) -> bool {
        let sent = match &ports.root {
            Some(root) => root.completions.front_date().is_some_and(|date| date <= now),
            None => false,
        };
        !sent && ports.send.iter().all(In::is_vacant)
    }

    /// What it has sent so far.
    pub const fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// Whether IDE has found a wrong MAC in what it received, and takes nothing any more.
    pub fn insecure(&self) -> bool {
        self.receiver.ide.as_ref().is_some_and(|ide| !ide.secure)
    }

    #[inline]
    fn advance(&mut self, now: Now, ports: &mut Ports) -> Wake {
        self.receive(now, ports);
        if self.receiver.ide.is_some() {
            self.release(now, ports);
        }
        let sending = self.transmit(now, ports);
        let (busy_until, activity) = (sending.busy_until, sending.activity);
        Self::sense(&sending, ports);
        let due = self.transmit_due(&sending, ports);
        let arrival = ports.wire_in.next_arrival().map_or(Wake::NEVER, |date| self.clock.first_from(date));
        let release = self.receiver.ide.as_ref().map_or(Wake::NEVER, |ide| ide.next_release());
        let at = arrival.min(release).min(due);
        if sending.full {
            // Nothing but arrivals, which wake by their date, matters until there is room again.
            return Wake { at, listens: false, background: false, busy_until, activity };
        }
        let (timer, urgent) = self.receiver.promises.timer();
        let background = at == Wake::NEVER && !urgent;
        Wake { at: at.min(timer.max(sending.room_from)), listens: true, background, busy_until, activity }
    }

    /// The edge at which the transmitter runs again if nothing more comes and no credits are to be given back.
    #[inline]
    fn transmit_due(&self, sending: &Sending, ports: &Ports) -> u64 {
        let deadline = self.transmitter.buffer.deadline();
        if sending.full {
            return deadline.min(sending.room_from);
        }
        // What waits for its date goes out at that date, if there is room.
        let waiting = self.transmitter.ide.as_ref().map_or(Wake::NEVER, |ide| ide.deadline);
        let completions = ports.root.as_ref().and_then(|root| root.completions.front_date());
        let completions = completions.map_or(Wake::NEVER, |date| self.clock.first_from(date));
        deadline.min(self.receiver.ack_due.min(waiting).min(completions).max(sending.room_from))
    }

    /// Says what wakes it from now on: Acks and credits only if it waits for them, completions only if there is room.
    #[inline]
    fn sense(sending: &Sending, ports: &mut Ports) {
        let waits = !sending.full && sending.activity.stall().is_some();
        let defers = !waits && !ports.signals.defers_nothing();
        ports.wire_in.sense(if defers { Sensitivity::Deferring } else { Sensitivity::Every });
        if let Some(root) = &mut ports.root {
            root.completions.sense(if sending.full { Sensitivity::None } else { Sensitivity::Every });
        }
    }

    /// How long after its date a wire to a port may defer what can be: an Ack of it is due a little later.
    pub fn window(spec: &LinkSpec, clock: Clock) -> Femtos {
        Femtos(clock.edge(spec.ack_latency.0).0.saturating_sub(1))
    }

    const fn recovering(&self, cycle: u64) -> bool {
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

impl Unit for Port {
    type Ports = Ports;

    #[inline]
    fn tick(&mut self, now: Now, ports: &mut Ports) -> Wake {
        let wake = self.advance(now, ports);
        if let Some(fault) = &self.fault {
            ports.signals.fail(fault);
        }
        if self.insecure() {
            ports.signals.stop();
        }
        wake
    }

    fn catch_up(&mut self, now: Now, ports: &mut Ports) {
        self.receive(now, ports);
    }

    fn gauges(&self, show: &mut dyn FnMut(&'static str, u64)) {
        let names = [
            ["posted_headers", "posted_data"],
            ["non_posted_headers", "non_posted_data"],
            ["completion_headers", "completion_data"],
        ];
        for (pool, names) in self.transmitter.partner.iter().zip(names) {
            let left = names.into_iter().zip(pool.left());
            left.filter_map(|(name, left)| Some((name, left?))).for_each(|(name, left)| show(name, left.into()));
        }
        show("replay_buffer", self.transmitter.buffer.len() as u64);
    }

    fn bounded(&self, show: &mut dyn FnMut(&'static str, u64)) {
        show("link.replay_tlps", self.transmitter.buffer.room.asked());
    }

    fn incidents(&self) -> Vec<String> {
        let port = match self.side {
            Side::Host => "host",
            Side::Gpu { .. } => "GPU",
            Side::SwitchUp | Side::SwitchDown => "switch",
        };
        self.traffic.incidents().map(|(count, what)| format!("{port} port: {count} {what}")).collect()
    }

    fn errors(&self) -> &[Signalled] {
        self.errors.all()
    }
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
            (Self::SwitchUp | Self::SwitchDown, _) => 0,
            (Self::Host, Kind::Read) => HOST_READS,
            (Self::Host, _) => HOST_WRITES,
            (Self::Gpu { pces, .. }, Kind::Read | Kind::Write) => usize::from(pces),
            (Self::Gpu { pces: 1, .. }, _) => 0,
            (Self::Gpu { first_tag, tags_per_pce, pces }, _) => {
                let place = tlp.tag.saturating_sub(first_tag) / tags_per_pce.max(1);
                usize::from(place.min(pces.saturating_sub(1)))
            }
        }
    }
}
