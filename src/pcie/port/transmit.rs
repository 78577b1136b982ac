//! The transmitter: which token comes next, and where in the stream it lies.

use super::{Frame, Port, Ports, pool::TransmitPool, pool_of, pools, replay::ReplayBuffer, stream::Stream};
use crate::{
    pcie::{
        packet::Tlp,
        spec::{CreditSpec, LinkSpec},
        wire::dllp::DllpRepr,
    },
    sim::{Activity, Now, Stall, Wake},
};

/// DW of a DLLP on the wire: token, content, CRC.
const DLLP_DW: u64 = 2;

/// State of the transmitting half.
#[derive(Debug)]
pub(super) struct Transmitter {
    stream: Stream,
    /// Where in the stream the next token lies at the earliest.
    position: u64,
    /// The cycle that `position` lies in; before it there is no room.
    room_from: u64,
    /// Symbol time of the last SDP.
    last_sdp: u64,
    /// The input whose turn it is.
    turn: usize,
    pub buffer: ReplayBuffer,
    pub partner: [TransmitPool; 3],
}

impl Transmitter {
    pub fn new(spec: &LinkSpec, partner: &CreditSpec) -> Self {
        Self {
            stream: Stream::new(spec.skp_interval_blocks),
            position: 0,
            room_from: 0,
            last_sdp: u64::MAX,
            turn: 0,
            buffer: ReplayBuffer::new(spec.replay_tlps, spec.replay_timer.0),
            partner: pools(partner).map(|(headers, data)| TransmitPool::new(headers, data)),
        }
    }

    /// The cycle in which a token of `length` DW ends that starts at the position, which moves behind it.
    #[inline]
    fn take(&mut self, length: u64) -> u64 {
        self.position += length;
        self.stream.cycle(self.position - 1)
    }
}

/// What the transmitter does next.
enum Next {
    Nak,
    Ack,
    /// The credits of a class.
    Credits(usize),
    Replay,
    /// The head of an input.
    Input(usize),
    /// Nothing wants to be sent.
    Nothing,
    /// Something does and cannot.
    Blocked(Stall),
}

impl Port {
    /// Fills this cycle; gives what the transmitter is and the cycle from which it has room again, or [`Wake::NEVER`] if it waits for
    /// its ports and timers.
    #[inline]
    pub(super) fn transmit(&mut self, now: Now, ports: &mut Ports<'_>) -> (Activity, u64) {
        if now.cycle >= self.transmitter.buffer.deadline() && !self.recovering(now.cycle) {
            self.replay(now.cycle);
        }
        if self.training_due {
            self.training_due = false;
            self.send(now.cycle + 1, Frame::Training { until: self.recovery_until }, ports);
        }
        if self.recovering(now.cycle) {
            return (Activity::Stall(Stall::Recovery), self.recovery_until);
        }
        if now.cycle < self.transmitter.room_from {
            return (Activity::Busy, self.transmitter.room_from);
        }
        self.fill(now, ports)
    }

    #[inline]
    fn fill(&mut self, now: Now, ports: &mut Ports<'_>) -> (Activity, u64) {
        let transmitter = &mut self.transmitter;
        transmitter.stream.advance(now.cycle);
        let (start, end) = (transmitter.stream.first(now.cycle), transmitter.stream.first(now.cycle + 1));
        transmitter.position = transmitter.position.max(start);
        if start == end {
            // A gearbox bubble or an ordered set: no room, but whatever wants to be sent keeps the transmitter busy.
            return match self.next(now, ports) {
                Next::Nothing => (Activity::Idle, Wake::NEVER),
                Next::Blocked(stall) => (Activity::Stall(stall), Wake::NEVER),
                _ => self.full(),
            };
        }
        let mut sent = false;
        while self.transmitter.position < end {
            match self.next(now, ports) {
                Next::Nothing | Next::Blocked(_) if sent => return (Activity::Busy, now.cycle + 1),
                Next::Nothing => return (Activity::Idle, Wake::NEVER),
                Next::Blocked(stall) => return (Activity::Stall(stall), Wake::NEVER),
                next => self.put(next, now, ports),
            }
            sent = true;
        }
        self.full()
    }

    /// Busy until the cycle that the position lies in.
    #[inline]
    fn full(&mut self) -> (Activity, u64) {
        let transmitter = &mut self.transmitter;
        transmitter.room_from = transmitter.stream.cycle(transmitter.position);
        (Activity::Busy, transmitter.room_from)
    }

    #[inline]
    fn next(&mut self, now: Now, ports: &mut Ports<'_>) -> Next {
        if self.receiver.nak_due {
            return Next::Nak;
        }
        if self.receiver.ack_due <= now.cycle {
            return Next::Ack;
        }
        if let Some(class) = self.receiver.promises.due(now, ports.receive, ports.wakes) {
            return Next::Credits(class);
        }
        if self.transmitter.buffer.replaying() {
            return Next::Replay;
        }
        self.transmitter.choose(now, ports)
    }

    #[inline]
    fn put(&mut self, next: Next, now: Now, ports: &mut Ports<'_>) {
        match next {
            Next::Nak | Next::Ack => {
                let sequence = self.receiver.last_good();
                let nak = std::mem::take(&mut self.receiver.nak_due);
                self.receiver.ack_due = Wake::NEVER;
                self.put_dllp(if nak { DllpRepr::Nak { sequence } } else { DllpRepr::Ack { sequence } }, ports);
            }
            Next::Credits(class) => {
                let update = self.receiver.promises.give_back(class, now.cycle);
                self.put_dllp(update, ports);
            }
            Next::Replay => {
                if let Some((sequence, tlp)) = self.transmitter.buffer.next_again() {
                    self.traffic.replays += 1;
                    self.put_tlp(tlp, sequence, ports);
                }
            }
            Next::Input(place) => {
                self.transmitter.turn = place + 1;
                if let Some(tlp) = ports.send[place].input(now.time, ports.wakes).pop() {
                    self.put_new(tlp, now, ports);
                }
            }
            Next::Nothing | Next::Blocked(_) => {}
        }
    }

    #[inline]
    fn put_new(&mut self, mut tlp: Tlp, now: Now, ports: &mut Ports<'_>) {
        if self.ecrc && tlp.ecrc.is_none() {
            tlp.add_end_to_end_crc(self.exact);
        }
        let need = tlp.credits();
        self.transmitter.partner[pool_of(need.class)].consume(need);
        let sequence = self.transmitter.buffer.push(tlp.clone(), now.cycle);
        self.put_tlp(tlp, sequence, ports);
    }

    #[inline]
    fn put_tlp(&mut self, tlp: Tlp, sequence: u16, ports: &mut Ports<'_>) {
        let length = u64::from(tlp.wire_dw());
        self.traffic.tlps += 1;
        self.traffic.wire_bytes += length * 4;
        if tlp.payload_dw() > 0 {
            self.traffic.payload_bytes += u64::from(tlp.bytes);
        }
        let end = self.transmitter.take(length);
        let frame = Frame::tlp(tlp, sequence, self.exact);
        self.send(end, frame, ports);
    }

    fn put_dllp(&mut self, repr: DllpRepr, ports: &mut Ports<'_>) {
        let Transmitter { stream, position, last_sdp, .. } = &mut self.transmitter;
        if stream.symbol(*position) == *last_sdp {
            *position = stream.next_symbol(*position);
        }
        *last_sdp = stream.symbol(*position);
        self.traffic.dllps += 1;
        self.traffic.wire_bytes += DLLP_DW * 4;
        let end = self.transmitter.take(DLLP_DW);
        self.send(end, Frame::dllp(repr), ports);
    }

    /// Sends what ends in `cycle`.
    #[inline]
    fn send(&mut self, cycle: u64, frame: Frame, ports: &mut Ports<'_>) {
        ports.wire_out.send(self.clock.edge(cycle + self.flight), frame, ports.wakes);
    }
}

impl Transmitter {
    /// The input whose turn it is among those whose head can go.
    #[inline]
    fn choose(&self, now: Now, ports: &mut Ports<'_>) -> Next {
        let count = ports.send.len();
        let mut next = Next::Nothing;
        for step in 0..count {
            let place = self.turn + step;
            let place = if place >= count { place - count } else { place };
            let input = ports.send[place].input(now.time, ports.wakes);
            let Some(head) = input.peek() else { continue };
            if self.buffer.is_full() {
                return Next::Blocked(Stall::ReplayFull);
            }
            let need = head.credits();
            if self.partner[pool_of(need.class)].allows(need) {
                return Next::Input(place);
            }
            next = Next::Blocked(Stall::Credit);
        }
        next
    }
}
