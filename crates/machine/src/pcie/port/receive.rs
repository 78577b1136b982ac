//! The receiver: frames in, checked TLPs out.

use super::{
    Frame, Port, Ports, RootPorts, SEQUENCES, TlpFrame, errors,
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
    sim::{Now, Out, Wake},
    units::Femtos,
};

/// Where checked TLPs go.
struct Outlets<'p> {
    receive: &'p mut [Out<Tlp>],
    root: &'p mut Option<RootPorts>,
}

impl Ports {
    fn outlets(&mut self) -> Outlets<'_> {
        Outlets { receive: &mut self.receive, root: &mut self.root }
    }
}

#[derive(Debug)]
pub(super) struct Receiver {
    /// Sequence number of the next TLP.
    expected: u16,
    /// A Nak has been sent, and no good TLP has come since.
    nak_scheduled: bool,
    pub nak_due: bool,
    /// The cycle at which an Ack or a Nak is due.
    pub ack_due: u64,
    pub promises: Promises,
    pub ide: Option<Box<Incoming>>,
}

impl Receiver {
    pub fn new(promises: Promises, ide: Option<Box<Incoming>>) -> Self {
        Self { expected: 0, nak_scheduled: false, nak_due: false, ack_due: Wake::NEVER, promises, ide }
    }

    /// Answers; gives the sequence number of the last good TLP that has come.
    #[inline]
    pub const fn answer(&mut self) -> u16 {
        self.ack_due = Wake::NEVER;
        self.expected.wrapping_sub(1) % SEQUENCES
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
    /// Takes everything that has arrived, each as at its date.
    #[inline]
    pub(super) fn receive(&mut self, now: Now, ports: &mut Ports) {
        let Ports { wire_in, receive, root, .. } = ports;
        while let Some((date, frame)) = wire_in.arrived(now.time) {
            let then = Now { cycle: self.clock.first_from(date), time: date };
            self.take(frame, then, Outlets { receive, root });
            wire_in.remove();
        }
    }

    /// Takes what has arrived `then`.
    #[inline]
    fn take(&mut self, frame: &mut Frame, then: Now, outlets: Outlets<'_>) {
        match frame {
            Frame::Training { until } => self.recover(*until),
            // Whatever was in progress when the link went down is lost.
            _ if self.recovering(then.cycle) => {}
            Frame::Dllp(frame) => self.receive_dllp(frame.check(), then.cycle),
            Frame::Tlp(frame) => {
                if self.check(frame, then.cycle) {
                    self.accept(&mut frame.tlp, then, outlets);
                }
            }
        }
    }

    #[cold]
    fn overrun(&mut self, place: usize, kind: Kind, time: Femtos) {
        self.errors.note(errors::FLOW_CONTROL, time);
        self.fault.get_or_insert_with(|| {
            format!("a {kind:?} TLP found no room in receive buffer {place}: the partner ignored its credits")
        });
    }

    /// Whether the TLP of a frame is the one that is expected.
    #[inline(always)]
    fn check(&mut self, frame: &TlpFrame, cycle: u64) -> bool {
        (frame.untouched() && frame.sequence() == self.receiver.expected) || self.look_into(frame, cycle)
    }

    /// The same of one that may not be.
    #[cold]
    fn look_into(&mut self, frame: &TlpFrame, cycle: u64) -> bool {
        let (receiver, time) = (&mut self.receiver, self.clock.edge(cycle));
        match frame.check() {
            Ok(sequence) if sequence == receiver.expected => return true,
            Ok(sequence) if receiver.expected.wrapping_sub(sequence) % SEQUENCES <= SEQUENCES / 2 => {
                self.traffic.duplicates += 1;
                self.errors.note(errors::DUPLICATE, time);
                receiver.ack_due = receiver.ack_due.min(cycle);
            }
            Ok(_) => {
                self.traffic.out_of_sequence += 1;
                self.errors.note(errors::SEQUENCE, time);
                receiver.schedule_nak();
            }
            Err(Refusal::Lcrc) => {
                self.traffic.bad_lcrc += 1;
                self.errors.note(errors::LCRC, time);
                receiver.schedule_nak();
            }
            Err(Refusal::Framing) => {
                self.traffic.bad_tokens += 1;
                self.errors.note(errors::FRAMING, time);
                self.start_recovery(cycle);
            }
        }
        false
    }

    #[inline]
    fn accept(&mut self, tlp: &mut Tlp, now: Now, outlets: Outlets<'_>) {
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
    pub(super) fn release(&mut self, now: Now, ports: &mut Ports) {
        while let Some(left) = self.receiver.ide.as_mut().and_then(|ide| ide.leave(now.cycle)) {
            match left {
                Left::Tlp(mut tlp) => self.deliver(&mut tlp, now, ports.outlets()),
                Left::Discarded(tlps) => {
                    self.traffic.bad_macs += 1;
                    self.errors.note(errors::IDE_MAC, now.time);
                    tlps.iter().for_each(|tlp| self.discard(tlp));
                }
            }
        }
    }

    fn discard(&mut self, tlp: &Tlp) {
        self.traffic.discarded += 1;
        self.receiver.promises.discard(tlp.credits());
    }

    /// Passes on a TLP, which it takes from its place.
    #[inline(always)]
    fn deliver(&mut self, tlp: &mut Tlp, now: Now, outlets: Outlets<'_>) {
        let Outlets { receive, root } = outlets;
        let receiver = &mut self.receiver;
        if let (Kind::Read, Some(root)) = (tlp.kind, root) {
            // Taken at the first edge after this one.
            receiver.promises.pass(tlp.credits(), now.cycle);
            root.reads.send(Femtos(now.time.0 + 1), tlp.take());
            return;
        }
        let place = self.side.route(tlp);
        let counts = receiver.promises.counts(place);
        let deferrable = tlp.leaves_more() && tlp.ecrc.is_none() && !counts;
        let promised = !counts || receiver.promises.receive(tlp.credits(), place);
        let output = &mut receive[place];
        if !promised || !output.has_room(now.time) {
            self.overrun(place, tlp.kind, now.time);
        } else if deferrable {
            output.push_deferrable(now.time, tlp.take());
        } else {
            output.push(now.time, tlp.take());
        }
    }

    fn receive_dllp(&mut self, said: Option<DllpRepr>, cycle: u64) {
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
            None => {
                self.traffic.bad_dllps += 1;
                self.errors.note(errors::DLLP_CRC, self.clock.edge(cycle));
            }
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
        self.errors.note(errors::RECOVERY, self.clock.edge(cycle));
        self.training_due = true;
        self.recover(cycle + self.recovery_cycles);
    }

    /// Whatever is sent or in progress until `until` is lost, so all of it is sent again.
    fn recover(&mut self, until: u64) {
        self.recovery_until = self.recovery_until.max(until);
        self.transmitter.buffer.again_from(self.recovery_until);
        self.receiver.promises.repeat_at(self.recovery_until);
    }
}
