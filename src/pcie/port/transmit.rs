//! The transmitter: which token comes next, and where in the stream it lies.

use super::{Frame, Port, Ports, SEQUENCES, pool_of};
use crate::{
    pcie::{packet::Tlp, wire::dllp::DllpRepr},
    sim::{Activity, Now, Stall, Wake},
};

/// DW of a DLLP on the wire: token, content, CRC.
const DLLP_DW: u64 = 2;

/// What stands in the way of the next TLP.
enum Next {
    /// This one can go; it is the head of that input.
    Input(usize),
    /// Nothing wants to.
    Nothing,
    /// Something does and cannot.
    Blocked(Stall),
}

impl Port {
    /// Fills this cycle; gives what the transmitter is and from which cycle on it has room again, if it is full.
    pub(super) fn transmit(&mut self, now: Now, ports: &mut Ports<'_>) -> (Activity, u64) {
        if self.training_due {
            self.training_due = false;
            let arrival = now.cycle + 1 + self.spec.flight.0;
            let frame = Frame::Training { until: self.recovery_until };
            self.send_at(arrival, frame, ports);
        }
        if self.recovering(now.cycle) {
            return (Activity::Stall(Stall::Recovery), self.recovery_until);
        }
        if now.cycle >= self.replay_deadline {
            self.replay(now.cycle);
            if self.recovering(now.cycle) {
                return (Activity::Stall(Stall::Recovery), now.cycle + 1);
            }
        }
        let (start, end) = (self.stream.first(now.cycle), self.stream.first(now.cycle + 1));
        self.position = self.position.max(start);
        let mut stall = None;
        while self.position < end {
            match self.put_next(now, ports) {
                Next::Input(_) => {}
                Next::Nothing => break,
                Next::Blocked(reason) => {
                    stall = Some(reason);
                    break;
                }
            }
        }
        if self.position >= end {
            return (Activity::Busy, self.stream.cycle(self.position));
        }
        let used = self.position > start;
        let activity = match stall {
            _ if used => Activity::Busy,
            Some(stall) => Activity::Stall(stall),
            None => Activity::Idle,
        };
        (activity, if used { now.cycle + 1 } else { Wake::NEVER })
    }

    fn put_next(&mut self, now: Now, ports: &mut Ports<'_>) -> Next {
        if self.nak_due {
            self.nak_due = false;
            self.ack_due = Wake::NEVER;
            self.put_dllp(&DllpRepr::Nak { sequence: self.last_good() }, now, ports);
            return Next::Input(0);
        }
        if self.ack_due <= now.cycle {
            self.ack_due = Wake::NEVER;
            self.put_dllp(&DllpRepr::Ack { sequence: self.last_good() }, now, ports);
            return Next::Input(0);
        }
        if let Some(update) = self.credit_return(now, ports) {
            self.put_dllp(&update, now, ports);
            return Next::Input(0);
        }
        if let Some(place) = self.replaying {
            self.put_replay(place, now, ports);
            return Next::Input(0);
        }
        let next = self.choose(now, ports);
        if let Next::Input(place) = next {
            self.turn = place + 1;
            if let Some(tlp) = ports.send[place].input(now.time, ports.wakes).pop() {
                self.put_new(tlp, now, ports);
            }
        }
        next
    }

    /// The input whose turn it is among those whose head can go.
    #[inline]
    fn choose(&self, now: Now, ports: &mut Ports<'_>) -> Next {
        let count = ports.send.len();
        let mut blocked = None;
        for step in 0..count {
            let place = (self.turn + step) % count;
            let input = ports.send[place].input(now.time, ports.wakes);
            let Some(head) = input.peek() else { continue };
            if self.unacknowledged.len() >= self.spec.replay_tlps as usize {
                return Next::Blocked(Stall::ReplayFull);
            }
            let need = head.credits();
            if self.partner[pool_of(need.class)].allows(need) {
                return Next::Input(place);
            }
            blocked = Some(Stall::Credit);
        }
        blocked.map_or(Next::Nothing, Next::Blocked)
    }

    const fn last_good(&self) -> u16 {
        self.expected.wrapping_sub(1) & (SEQUENCES - 1)
    }

    fn put_new(&mut self, mut tlp: Tlp, now: Now, ports: &mut Ports<'_>) {
        if self.spec.ecrc && tlp.ecrc.is_none() {
            tlp.ecrc = Some([0; 4]);
            if self.exact {
                tlp.ecrc = Some(tlp.end_to_end_crc());
            }
        }
        let need = tlp.credits();
        self.partner[pool_of(need.class)].consume(need);
        let sequence = self.next_sequence;
        self.next_sequence = (sequence + 1) & (SEQUENCES - 1);
        self.unacknowledged.push_back((sequence, tlp.clone()));
        self.put_tlp(tlp, sequence, now, ports);
    }

    fn put_replay(&mut self, place: usize, now: Now, ports: &mut Ports<'_>) {
        let Some((sequence, tlp)) = self.unacknowledged.get(place).cloned() else {
            self.replaying = None;
            return;
        };
        self.replaying = Some(place + 1).filter(|&next| next < self.unacknowledged.len());
        self.traffic.replays += 1;
        self.put_tlp(tlp, sequence, now, ports);
    }

    #[inline]
    fn put_tlp(&mut self, tlp: Tlp, sequence: u16, now: Now, ports: &mut Ports<'_>) {
        let length = u64::from(tlp.wire_dw());
        self.traffic.tlps += 1;
        self.traffic.wire_bytes += length * 4;
        if tlp.payload_dw() > 0 {
            self.traffic.payload_bytes += u64::from(tlp.bytes);
        }
        let end = self.stream.cycle(self.position + length - 1);
        self.position += length;
        if self.replay_deadline == Wake::NEVER {
            self.replay_deadline = now.cycle + self.spec.replay_timer.0;
        }
        let frame = Frame::tlp(tlp, sequence, self.exact);
        self.send_at(end + self.spec.flight.0, frame, ports);
    }

    fn put_dllp(&mut self, repr: &DllpRepr, _now: Now, ports: &mut Ports<'_>) {
        if self.stream.symbol(self.position) == self.last_sdp {
            self.position = self.stream.next_symbol(self.position);
        }
        self.last_sdp = self.stream.symbol(self.position);
        self.traffic.dllps += 1;
        self.traffic.wire_bytes += DLLP_DW * 4;
        let end = self.stream.cycle(self.position + DLLP_DW - 1);
        self.position += DLLP_DW;
        self.send_at(end + self.spec.flight.0, Frame::dllp(*repr), ports);
    }

    #[inline]
    fn send_at(&mut self, cycle: u64, frame: Frame, ports: &mut Ports<'_>) {
        ports.wire_out.send(self.clock.edge(cycle), frame, ports.wakes);
    }
}
