//! The transmitter: which token comes next, and where in the stream it lies.

use super::{
    Frame, Port, Ports, Side, errors,
    flits::Flits,
    ide::{Outgoing, Verdict},
    pool::TransmitPool,
    pool_of, pools,
    replay::ReplayBuffer,
    stream::Stream,
};
use crate::{
    pcie::{
        credit::Credits,
        packet::Tlp,
        rate::FLIT_MODE,
        spec::{CreditSpec, LinkSpec},
        wire::dllp::DllpRepr,
    },
    sim::{Activity, Item, Now, Signals, Stall, Tx, Wake},
    units::Femtos,
};

/// DW of a DLLP on the wire: token, content, CRC.
const DLLP_DW: u64 = 2;
/// DW of token and LCRC around a TLP.
const FRAME_DW: u64 = 2;

#[derive(Debug)]
pub(super) struct Transmitter {
    pub stream: Stream,
    /// What flits carry in addition to TLPs, and lose, in flit mode.
    pub flits: Option<Flits>,
    /// Where in the stream the next token lies at the earliest.
    pub position: u64,
    /// The cycle that `position` lies in; before it there is no room.
    pub room_from: u64,
    /// The cycle behind the last one in which anything begins, if it did not fill that cycle.
    pub busy_until: u64,
    /// Symbol time of the last SDP.
    last_sdp: u64,
    /// The input whose turn it is.
    pub turn: usize,
    pub buffer: ReplayBuffer,
    pub partner: [TransmitPool; 3],
    /// Whether completions cost nothing at the partner and carry nothing that it is to check: it need not see each at once, and two of a read
    /// go together.
    plain_completions: bool,
    /// Whether the first of two such completions has gone and the second is next.
    joined: bool,
    pub ide: Option<Box<Outgoing>>,
}

impl Transmitter {
    pub fn new(spec: &LinkSpec, partner: &CreditSpec, ide: Option<Box<Outgoing>>, side: Side) -> Self {
        Self {
            stream: Stream::new(spec.skp_interval_blocks, spec.lanes, spec.generation),
            flits: (spec.generation == FLIT_MODE).then(|| Flits::new(spec.flit_errors, side)),
            position: 0,
            room_from: 0,
            busy_until: 0,
            last_sdp: u64::MAX,
            turn: 0,
            buffer: ReplayBuffer::new(spec.replay_tlps, spec.replay_timer.0),
            partner: pools(partner).map(|(headers, data)| TransmitPool::new(headers, data)),
            plain_completions: side == Side::Host && pools(partner)[2] == (0, 0) && !spec.ecrc && ide.is_none(),
            joined: false,
            ide,
        }
    }

    /// Whether a token may start in `cycle`; the position is then the first place for it.
    #[inline]
    pub fn has_room(&mut self, cycle: u64) -> bool {
        if self.room_from < cycle {
            // Idle went by.
            self.stream.advance(cycle);
            self.position = self.position.max(self.stream.first(cycle));
            self.room_from = self.stream.cycle(self.position);
        }
        self.room_from <= cycle
    }

    /// Moves the position to where a DLLP may start: one SDP at most in a symbol time, and idle until the next one.
    fn align_dllp(&mut self) {
        if self.stream.symbol(self.position) == self.last_sdp {
            self.position = self.stream.next_symbol(self.position);
        }
        self.last_sdp = self.stream.symbol(self.position);
    }

    /// The cycle in which a token of `length` DW ends that starts at the position, which moves behind it.
    #[inline]
    fn take(&mut self, length: u64) -> u64 {
        self.stream.follow(self.position);
        self.position += length;
        self.stream.checked(self.position - 1)
    }

    /// DW that a TLP of so many with its frame takes of the stream: flits have no token and no LCRC.
    #[inline]
    const fn length(&self, framed: u64) -> u64 {
        framed - if self.flits.is_some() { FRAME_DW } else { 0 }
    }

    /// Whether a flit is lost that has a part of the last `length` DW.
    fn loses_flit(&self, length: u64) -> bool {
        let Some(flits) = &self.flits else { return false };
        let flit = |position: u64| self.stream.flit(position).unwrap_or(0);
        (flit(self.position - length)..=flit(self.position - 1)).any(|flit| flits.loses(flit))
    }

    /// The cycle in which a DLLP has been sent. In flit mode it lies next to the TLPs of a flit, each in one of its own.
    fn take_dllp(&mut self) -> u64 {
        match &mut self.flits {
            None => {
                self.align_dllp();
                self.take(DLLP_DW)
            }
            Some(flits) => {
                self.stream.follow(self.position);
                let flit = flits.next_dllp(self.stream.flit(self.position).unwrap_or(0));
                self.stream.checked_flit(flit)
            }
        }
    }
}

/// The sending end of a link, with the signals that its frames set.
struct Line<'p> {
    wire: &'p mut Tx<Frame>,
    signals: &'p Signals,
}

#[derive(Clone, Copy)]
enum Next {
    /// A Nak or an Ack.
    Answer,
    /// The credits of a class.
    Credits(usize),
    /// A TLP sent before.
    Replay,
    /// The head of an input.
    Input(usize),
    /// The second of two completions, whatever else is due.
    Second,
}

pub(super) struct Sending {
    /// The cycle from which on it has room again; 0 if it has.
    pub room_from: u64,
    /// Whether something waits for that room, so that nothing else matters until then.
    pub full: bool,
    /// The cycle before which it works.
    pub busy_until: u64,
    /// What it is from then on.
    pub activity: Activity,
}

impl Sending {
    /// Something waits for room.
    pub const fn full(room_from: u64) -> Self {
        Self { room_from, full: true, busy_until: 0, activity: Activity::Busy }
    }

    /// It works until `busy_until`, and nothing waits.
    pub const fn last(busy_until: u64, room_from: u64) -> Self {
        Self { room_from, full: false, busy_until, activity: Activity::Idle }
    }

    /// It waits for its ports and timers.
    pub const fn waits(busy_until: u64, activity: Activity) -> Self {
        Self { room_from: 0, full: false, busy_until, activity }
    }
}

impl Port {
    #[inline]
    pub(super) fn transmit(&mut self, now: Now, ports: &mut Ports) -> Sending {
        if now.cycle >= self.transmitter.buffer.deadline() && !self.recovering(now.cycle) {
            self.replay(now.cycle);
        }
        if self.training_due {
            self.training_due = false;
            let date = self.clock.edge(now.cycle + 1 + self.flight);
            ports.wire_out.send(date, Frame::Training { until: self.recovery_until });
        }
        if self.recovering(now.cycle) {
            return Sending { activity: Activity::Stall(Stall::Recovery), ..Sending::full(self.recovery_until) };
        }
        if now.cycle < self.transmitter.room_from {
            return Sending::full(self.transmitter.room_from);
        }
        if self.finds_nothing(now, ports) {
            return Sending::waits(self.transmitter.busy_until, Activity::Idle);
        }
        self.fill(now, ports)
    }

    /// Whether there is no TLP to send, now or at the next edge.
    #[inline]
    pub(super) fn nothing_waits(&self, now: Femtos, ports: &Ports) -> bool {
        let Transmitter { ide, buffer, .. } = &self.transmitter;
        Self::no_source_has_any(now, ports) && ide.is_none() && !buffer.replaying()
    }

    /// Whether it is plain that there is nothing to send.
    #[inline]
    pub(super) fn finds_nothing(&self, now: Now, ports: &mut Ports) -> bool {
        self.receiver.ack_due > now.cycle
            && self.nothing_waits(now.time, ports)
            && self.receiver.promises.settled(now, &ports.receive)
    }

    #[inline]
    pub(super) fn fill(&mut self, now: Now, ports: &mut Ports) -> Sending {
        let mut next = match self.next(now, ports) {
            Ok(next) => next,
            Err(activity) => return Sending::waits(self.transmitter.busy_until, activity),
        };
        // In a gearbox bubble and an ordered set there is no room at all.
        while self.transmitter.has_room(now.cycle) {
            self.put(next, now, ports);
            self.transmitter.room_from = self.transmitter.stream.cycle(self.transmitter.position);
            if self.transmitter.room_from > now.cycle {
                // A TLP goes where neither an Ack nor credits are due; what becomes due after this edge is heard of.
                let last = match next {
                    Next::Input(_) => self.nothing_waits(now.time, ports),
                    Next::Second => self.finds_nothing(now, ports),
                    _ => false,
                };
                return match last {
                    true => Sending::last(
                        self.transmitter.room_from.max(self.transmitter.busy_until),
                        self.transmitter.room_from,
                    ),
                    false => Sending::full(self.transmitter.room_from),
                };
            }
            let none = self.finds_nothing(now, ports).then_some(Activity::Idle);
            next = match none.map_or_else(|| self.next(now, ports), Err) {
                Ok(next) => next,
                Err(activity) => {
                    self.transmitter.busy_until = now.cycle + 1;
                    return Sending::waits(now.cycle + 1, activity);
                }
            };
        }
        Sending::full(self.transmitter.room_from)
    }

    /// What comes next, or what the transmitter is while nothing does.
    #[inline]
    fn next(&mut self, now: Now, ports: &mut Ports) -> Result<Next, Activity> {
        if self.transmitter.joined && self.second_can_go(now, ports) {
            return Ok(Next::Second);
        }
        if self.receiver.ack_due <= now.cycle {
            return Ok(Next::Answer);
        }
        if let Some(class) = self.receiver.promises.due(now, &mut ports.receive) {
            return Ok(Next::Credits(class));
        }
        if self.transmitter.buffer.replaying() {
            return Ok(Next::Replay);
        }
        if Self::no_source_has_any(now.time, ports) {
            if let Some(ide) = &mut self.transmitter.ide {
                ide.deadline = Wake::NEVER;
            }
            return Err(Activity::Idle);
        }
        self.transmitter.choose(now, ports)
    }

    /// Whether the second of two completions can go right behind the first.
    fn second_can_go(&mut self, now: Now, ports: &mut Ports) -> bool {
        // What is not there has been lost in front of the port.
        self.transmitter.joined = ports.visible(ports.send.len(), now.time, 0).is_some();
        self.transmitter.joined && !self.transmitter.buffer.replaying() && !self.transmitter.buffer.is_full()
    }

    #[inline]
    fn put(&mut self, next: Next, now: Now, ports: &mut Ports) {
        match next {
            Next::Answer => {
                let sequence = self.receiver.answer();
                let nak = std::mem::take(&mut self.receiver.nak_due);
                self.put_dllp(if nak { DllpRepr::Nak { sequence } } else { DllpRepr::Ack { sequence } }, ports);
            }
            Next::Credits(class) => {
                let update = self.receiver.promises.give_back(class, now.cycle);
                self.put_dllp(update, ports);
            }
            Next::Replay => {
                if let Some((sequence, tlp)) = self.transmitter.buffer.next_again() {
                    self.traffic.replays += 1;
                    self.errors.note(errors::REPLAY, now.time);
                    let Ports { wire_out: wire, signals, .. } = ports;
                    self.put_tlp(tlp, sequence, false, Line { wire, signals });
                }
            }
            Next::Input(place) => {
                self.transmitter.turn = place + 1;
                self.put_head(place, now, ports);
                if self.transmitter.joined {
                    self.put_second(now, ports);
                }
            }
            Next::Second => self.put_head(ports.send.len(), now, ports),
        }
    }

    /// Sends the head of an input.
    #[inline]
    fn put_head(&mut self, place: usize, now: Now, ports: &mut Ports) {
        let Ports { send, root, wire_out: wire, signals, .. } = ports;
        let line = Line { wire, signals };
        if let Some(queue) = send.get_mut(place) {
            if let Some(head) = queue.front_mut(now.time) {
                self.put_new(head, now, line);
                queue.remove(now.time);
            }
        } else if let Some(root) = root
            && let Some((_, head)) = root.completions.arrived(now.time)
        {
            self.put_new(head, now, line);
            root.completions.remove();
        }
    }

    /// Sends the second of two completions at once if nothing can be sent again before it has gone.
    #[inline]
    fn put_second(&mut self, now: Now, ports: &mut Ports) {
        let place = ports.send.len();
        if !self.second_can_go(now, ports) {
            return;
        }
        let Transmitter { stream, position, buffer, busy_until, .. } = &mut self.transmitter;
        let length = ports.visible(place, now.time, 0).map_or(0, Tlp::wire_dw);
        if buffer.deadline() > stream.checked(*position + u64::from(length)) {
            *busy_until = stream.cycle(*position) + 1;
            self.put_head(place, now, ports);
        }
    }

    /// Sends a TLP for the first time, which it takes from its place.
    #[inline(always)]
    fn put_new(&mut self, tlp: &mut Tlp, now: Now, line: Line<'_>) {
        if matches!(self.side, Side::Gpu { .. }) {
            tlp.requester = self.requester;
        }
        if self.ecrc || self.transmitter.ide.is_some() {
            self.protect(tlp, now.cycle);
        }
        let need = tlp.credits();
        self.transmitter.partner[pool_of(need.class)].consume(need);
        let sequence = self.transmitter.buffer.push(tlp, now.cycle);
        let deferrable = self.transmitter.plain_completions && tlp.leaves_more();
        self.transmitter.joined = deferrable && !self.transmitter.joined;
        self.put_tlp(tlp.take(), sequence, deferrable, line);
    }

    #[cold]
    fn protect(&mut self, tlp: &mut Tlp, cycle: u64) {
        if self.ecrc && tlp.ecrc.is_none() {
            tlp.add_end_to_end_crc();
        }
        if let Some(ide) = &mut self.transmitter.ide {
            ide.mark(tlp, cycle);
        }
    }

    #[inline]
    fn put_tlp(&mut self, tlp: Tlp, sequence: u16, deferrable: bool, Line { wire, signals }: Line<'_>) {
        let framed = u64::from(tlp.wire_dw());
        let length = self.transmitter.length(framed);
        self.traffic.tlps += 1;
        self.traffic.wire_bytes += length * 4;
        self.traffic.ide_bytes += u64::from(tlp.ide.dw()) * 4;
        if tlp.payload_dw() > 0 {
            self.traffic.payload_bytes += u64::from(tlp.bytes);
        }
        let date = self.clock.edge(self.transmitter.take(length) + self.flight);
        let mut frame = Frame::tlp(tlp, Frame::token(framed, sequence));
        if self.transmitter.loses_flit(length) {
            frame.flip(0);
            signals.defer_nothing();
        }
        if deferrable { wire.send_deferrable(date, frame) } else { wire.send(date, frame) }
    }

    #[inline(always)]
    fn put_dllp(&mut self, repr: DllpRepr, ports: &mut Ports) {
        self.traffic.dllps += 1;
        if self.transmitter.flits.is_none() {
            self.traffic.wire_bytes += DLLP_DW * 4;
        }
        let date = self.clock.edge(self.transmitter.take_dllp() + self.flight);
        let wire_out = &mut ports.wire_out;
        match repr {
            DllpRepr::Nak { .. } => wire_out.send(date, Frame::dllp(repr)),
            // What only gives more room wakes a partner that waits for it.
            _ => wire_out.send_deferrable(date, Frame::dllp(repr)),
        }
    }
}

impl Transmitter {
    /// The input whose turn it is among those whose head can go.
    #[inline]
    fn choose(&mut self, now: Now, ports: &mut Ports) -> Result<Next, Activity> {
        if let Some(ide) = &mut self.ide {
            ide.deadline = Wake::NEVER;
        }
        if self.joined {
            return Err(Activity::Stall(Stall::ReplayFull));
        }
        let count = ports.inputs();
        let mut waiting = Activity::Idle;
        for step in 0..count {
            let place = self.turn + step;
            let place = if place >= count { place - count } else { place };
            let Some(head) = ports.visible(place, now.time, 0) else { continue };
            if self.buffer.is_full() {
                return Err(Activity::Stall(Stall::ReplayFull));
            }
            let need = head.credits();
            if !self.partner[pool_of(need.class)].allows(need) {
                waiting = Activity::Stall(Stall::Credit);
                continue;
            }
            if self.ide.is_none() {
                return Ok(Next::Input(place));
            }
            match self.admit(place, need, now, ports) {
                Verdict::Go => return Ok(Next::Input(place)),
                Verdict::Wait(activity) => waiting = activity,
                Verdict::Busy(activity) => return Err(activity),
            }
        }
        Err(waiting)
    }

    /// Whether IDE lets the head of input `place` go.
    #[cold]
    fn admit(&mut self, place: usize, need: Credits, now: Now, ports: &mut Ports) -> Verdict {
        let Some(ide) = &mut self.ide else { return Verdict::Go };
        let pool = &self.partner[pool_of(need.class)];
        let inputs = 0..ports.inputs();
        let next =
            inputs.filter_map(|input| Some(ports.visible(input, now.time, usize::from(input == place))?.credits()));
        ide.admit(now.cycle, need, pool, next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pcie::rate::WIDTHS;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn at_most_one_sdp_and_one_stp_start_in_a_symbol_time(
            interval in 1u32..40,
            lanes in prop::sample::select(&WIDTHS[..]),
            tokens in prop::collection::vec((any::<bool>(), 5u64..80, 0u64..3), 1..300),
        ) {
            let mut transmitter = Transmitter { stream: Stream::new(interval, lanes, 5), ..Transmitter::bare() };
            let (mut symbols, mut cycle) = ([Vec::new(), Vec::new()], 0);
            for (is_dllp, length, idle) in tokens {
                if idle == 0 {
                    // Idle until the next cycle: what comes then starts on lane 0.
                    cycle = transmitter.stream.cycle(transmitter.position) + 1;
                    transmitter.stream.advance(cycle);
                    transmitter.position = transmitter.position.max(transmitter.stream.first(cycle));
                }
                if is_dllp {
                    transmitter.align_dllp();
                }
                symbols[usize::from(is_dllp)].push(transmitter.stream.symbol(transmitter.position));
                let end = transmitter.take(if is_dllp { DLLP_DW } else { length });
                prop_assert!(end >= cycle);
            }
            for symbols in symbols {
                prop_assert!(symbols.windows(2).all(|pair| pair[0] < pair[1]));
            }
        }
    }

    impl Transmitter {
        fn bare() -> Self {
            Self {
                stream: Stream::new(373, 16, 5),
                flits: None,
                position: 0,
                room_from: 0,
                busy_until: 0,
                last_sdp: u64::MAX,
                turn: 0,
                buffer: ReplayBuffer::new(1, 1),
                partner: [(0, 0); 3].map(|(headers, data)| TransmitPool::new(headers, data)),
                plain_completions: false,
                joined: false,
                ide: None,
            }
        }
    }
}
