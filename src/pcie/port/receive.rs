//! The receiver: frames in, checked TLPs out.

use super::{
    Frame, Port, Ports, RootPorts, SEQUENCES, TlpFrame,
    frame::Refusal,
    ide::{Incoming, Left},
    pool::Promises,
    pool_of,
};
use crate::{
    pcie::{
        packet::{Kind, Tlp},
        wire::dllp::{CreditPhase, DllpRepr},
    },
    sim::{Item, Now, Queue, Ring, Wake, Wakes},
    units::Femtos,
};

/// Where checked TLPs go.
struct Outlets<'p, 'a> {
    receive: &'p mut [Queue<Tlp>],
    root: &'p mut Option<RootPorts<'a>>,
    wakes: &'a Wakes,
}

impl<'a> Ports<'a> {
    const fn outlets(&mut self) -> Outlets<'_, 'a> {
        Outlets { receive: self.receive, root: &mut self.root, wakes: self.wakes }
    }
}

/// State of the receiving half.
#[derive(Debug)]
pub(super) struct Receiver {
    /// Sequence number of the next TLP.
    expected: u16,
    /// A Nak has been sent, and no good TLP has come since.
    nak_scheduled: bool,
    pub nak_due: bool,
    /// The cycle at which an Ack or a Nak is due.
    pub ack_due: u64,
    /// When the TLPs of pairs have come that were [taken ahead](Port::take_pairs): an Ack says nothing of those that come behind it.
    pub ahead: Ring<(u64, u64)>,
    pub promises: Promises,
    pub ide: Option<Box<Incoming>>,
}

impl Receiver {
    pub fn new(promises: Promises, ide: Option<Box<Incoming>>) -> Self {
        let ahead = Ring::default();
        Self { expected: 0, nak_scheduled: false, nak_due: false, ack_due: Wake::NEVER, ahead, promises, ide }
    }

    /// Answers in `cycle`: gives the sequence number of the last good TLP that has come by then. What has been taken ahead waits for its own Ack,
    /// `latency` cycles behind it.
    #[inline]
    pub fn answer(&mut self, cycle: u64, latency: u64) -> u16 {
        while self.ahead.front().is_some_and(|&(_, second)| second <= cycle) {
            self.ahead.remove();
        }
        let mut later = 2 * self.ahead.len() as u16;
        self.ack_due = Wake::NEVER;
        if let Some(&(first, second)) = self.ahead.front() {
            let half = first <= cycle;
            later -= u16::from(half);
            self.ack_due = if half { second } else { first } + latency;
        }
        self.expected.wrapping_sub(1 + later) % SEQUENCES
    }

    fn schedule_nak(&mut self) {
        if !self.nak_scheduled {
            self.nak_scheduled = true;
            self.nak_due = true;
            self.ack_due = 0;
        }
    }
}

impl Port {
    /// Takes everything that has arrived.
    #[inline]
    pub(super) fn receive(&mut self, now: Now, ports: &mut Ports<'_>) {
        while let Some(date) = ports.wire_in.front_date().filter(|date| *date <= now.time) {
            self.take_front(Now { cycle: self.clock.first_from(date), time: date }, ports);
        }
        self.receive_first(now, ports);
    }

    /// Takes the oldest of what is under way, as it arrives `then`.
    #[inline]
    pub(super) fn take_front(&mut self, then: Now, ports: &mut Ports<'_>) {
        match ports.wire_in.front() {
            None => return,
            Some((_, Frame::Training { until })) => {
                let until = *until;
                self.recover(until);
            }
            // Whatever was under way when the link went down is lost.
            _ if self.recovering(then.cycle) => {}
            Some((_, Frame::Dllp(frame))) => {
                let said = frame.check();
                self.receive_dllp(said, then.cycle);
            }
            Some((_, Frame::Tlp(frame))) if frame.tlp.is_pair() => {
                let first = then.cycle - u64::from(frame.lead);
                if self.expects(frame) && !self.recovering(first) {
                    let (receive, wakes) = (&mut *ports.receive, ports.wakes);
                    self.accept_pair(&mut frame.tlp, first, then, receive, wakes);
                } else {
                    let frames = frame.split();
                    self.take_frames(frames, (first, then.cycle), ports);
                }
            }
            Some((_, Frame::Tlp(frame))) => {
                if self.check(frame, then.cycle) {
                    let outlets = Outlets { receive: ports.receive, root: &mut ports.root, wakes: ports.wakes };
                    self.accept(&mut frame.tlp, then, outlets);
                }
            }
        }
        ports.wire_in.pass();
    }

    /// Whether both TLPs of a pair are those that come next.
    #[inline]
    pub(super) const fn expects(&self, pair: &TlpFrame) -> bool {
        pair.sequence() == (self.receiver.expected + 1) % SEQUENCES
    }

    /// Takes the first TLP of a pair whose second is still under way, if it has arrived.
    #[inline]
    pub(super) fn receive_first(&mut self, now: Now, ports: &mut Ports<'_>) {
        let Some((date, Frame::Tlp(frame))) = ports.wire_in.front() else { return };
        if !frame.tlp.is_pair() {
            return;
        }
        let cycle = self.clock.first_from(date) - u64::from(frame.lead);
        if cycle <= now.cycle {
            let (first, second) = frame.split();
            *frame = second;
            self.take_frame(first, cycle, ports);
        }
    }

    /// Takes the TLPs of a pair one by one, each in its cycle.
    #[cold]
    fn take_frames(&mut self, frames: (TlpFrame, TlpFrame), cycles: (u64, u64), ports: &mut Ports<'_>) {
        self.take_frame(frames.0, cycles.0, ports);
        self.take_frame(frames.1, cycles.1, ports);
    }

    /// Takes a frame as at a cycle of its own, which may have passed.
    #[cold]
    fn take_frame(&mut self, mut frame: TlpFrame, cycle: u64, ports: &mut Ports<'_>) {
        if self.recovering(cycle) {
            return;
        }
        if self.check(&frame, cycle) {
            let now = Now { cycle, time: self.clock.edge(cycle) };
            self.accept(&mut frame.tlp, now, ports.outlets());
        }
    }

    /// Takes a pair whose first TLP came in cycle `first`.
    #[inline]
    fn accept_pair(&mut self, tlp: &mut Tlp, first: u64, now: Now, receive: &mut [Queue<Tlp>], wakes: &Wakes) {
        let receiver = &mut self.receiver;
        receiver.expected = (receiver.expected + 2) % SEQUENCES;
        receiver.nak_scheduled = false;
        receiver.ack_due = receiver.ack_due.min(first + self.ack_latency);
        let place = self.side.route(tlp);
        let promises = &mut receiver.promises;
        let promised = !promises.counts(place) || {
            let parts = tlp.clone().split_pair();
            promises.receive(parts.0.credits(), place) & promises.receive(parts.1.credits(), place)
        };
        let mut output = receive[place].output(now.time, wakes);
        if promised && output.has_room() {
            output.note(self.clock.edge(first), tlp.first_word());
            output.push(tlp.take());
            self.late.handed_on = true;
        } else {
            self.overrun(place, tlp.kind);
        }
    }

    #[cold]
    fn overrun(&mut self, place: usize, kind: Kind) {
        self.fault.get_or_insert_with(|| {
            format!("a {kind:?} TLP found no room in receive buffer {place}: the partner ignored its credits")
        });
    }

    /// Whether the TLP of a frame is the one that is expected.
    #[inline(always)]
    fn check(&mut self, frame: &TlpFrame, cycle: u64) -> bool {
        (!frame.damaged && frame.sequence() == self.receiver.expected) || self.look_into(frame, cycle)
    }

    /// The same of one that may not be.
    #[cold]
    fn look_into(&mut self, frame: &TlpFrame, cycle: u64) -> bool {
        let receiver = &mut self.receiver;
        match frame.check() {
            Ok(sequence) if sequence == receiver.expected => return true,
            Ok(sequence) if receiver.expected.wrapping_sub(sequence) % SEQUENCES <= SEQUENCES / 2 => {
                self.traffic.duplicates += 1;
                receiver.ack_due = receiver.ack_due.min(cycle);
            }
            Ok(_) => {
                self.traffic.out_of_sequence += 1;
                receiver.schedule_nak();
            }
            Err(Refusal::Lcrc) => {
                self.traffic.bad_lcrc += 1;
                receiver.schedule_nak();
            }
            Err(Refusal::Framing) => {
                self.traffic.bad_tokens += 1;
                self.start_recovery(cycle);
            }
        }
        false
    }

    #[inline]
    fn accept(&mut self, tlp: &mut Tlp, now: Now, outlets: Outlets<'_, '_>) {
        let receiver = &mut self.receiver;
        receiver.expected = (receiver.expected + 1) % SEQUENCES;
        receiver.nak_scheduled = false;
        receiver.ack_due = receiver.ack_due.min(now.cycle + self.ack_latency);
        if receiver.ide.is_none() {
            self.deliver(tlp, now, outlets);
        } else {
            self.hold(tlp.take(), now.cycle);
        }
    }

    /// IDE takes what the link has delivered.
    #[cold]
    fn hold(&mut self, tlp: Tlp, cycle: u64) {
        match &mut self.receiver.ide {
            Some(ide) if ide.secure => ide.take(tlp, cycle),
            _ => self.discard(&tlp),
        }
    }

    /// Lets go what IDE has verified by now.
    #[cold]
    pub(super) fn release(&mut self, now: Now, ports: &mut Ports<'_>) {
        while let Some(left) = self.receiver.ide.as_mut().and_then(|ide| ide.leave(now.cycle)) {
            match left {
                Left::Tlp(mut tlp) => self.deliver(&mut tlp, now, ports.outlets()),
                Left::Discarded(tlps) => {
                    self.traffic.bad_macs += 1;
                    tlps.iter().for_each(|tlp| self.discard(tlp));
                }
            }
        }
    }

    fn discard(&mut self, tlp: &Tlp) {
        self.traffic.discarded += 1;
        self.receiver.promises.discard(tlp.credits());
    }

    #[inline(always)]
    fn deliver(&mut self, tlp: &mut Tlp, now: Now, outlets: Outlets<'_, '_>) {
        let Outlets { receive, root, wakes } = outlets;
        let receiver = &mut self.receiver;
        if let (Kind::Read, Some(root)) = (tlp.kind, root) {
            // Taken at the first edge after this one.
            receiver.promises.pass(tlp.credits(), now.cycle);
            let word = tlp.word();
            root.reads.send_made(Femtos(now.time.0 + 1), || tlp.take(), word, false, wakes);
            return;
        }
        let place = self.side.route(tlp);
        let promised = receiver.promises.receive(tlp.credits(), place);
        let mut output = receive[place].output(now.time, wakes);
        if promised && output.has_room() {
            output.push(tlp.take());
            self.late.handed_on = true;
        } else {
            self.overrun(place, tlp.kind);
        }
    }

    pub(super) fn receive_dllp(&mut self, said: Option<DllpRepr>, cycle: u64) {
        match said {
            Some(DllpRepr::Ack { sequence }) => self.transmitter.buffer.acknowledge(sequence, cycle),
            Some(DllpRepr::Nak { sequence }) => {
                self.transmitter.buffer.acknowledge(sequence, cycle);
                self.replay(cycle);
            }
            Some(DllpRepr::Credit { phase: CreditPhase::Update, class, header, data, .. }) => {
                self.transmitter.partner[pool_of(class)].update(header, data);
            }
            Some(_) => {}
            // A DLLP with a bad CRC or of a reserved type is dropped; the next one makes up for it.
            None => self.traffic.bad_dllps += 1,
        }
    }

    /// Sends everything unacknowledged again; the fourth time in a row the link is retrained first.
    pub(super) fn replay(&mut self, cycle: u64) {
        if self.transmitter.buffer.restart(cycle) {
            self.start_recovery(cycle);
        }
    }

    fn start_recovery(&mut self, cycle: u64) {
        self.traffic.recoveries += 1;
        self.training_due = true;
        self.recover(cycle + self.recovery_cycles);
    }

    /// Whatever is sent or under way until `until` is lost, so all of it is sent again.
    fn recover(&mut self, until: u64) {
        self.recovery_until = self.recovery_until.max(until);
        self.transmitter.buffer.again_from(self.recovery_until);
        self.receiver.promises.repeat_at(self.recovery_until);
    }
}
