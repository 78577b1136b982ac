//! The receiver: frames in, checked TLPs out.

use super::{CLASSES, Frame, Port, Ports, SEQUENCES, TlpFrame, frame::Refusal, pool_of};
use crate::{
    pcie::{
        credit::CreditClass,
        packet::Tlp,
        wire::dllp::{CreditPhase, DllpRepr, DllpView},
    },
    sim::{Now, Wake},
};

impl Port {
    /// Takes everything that has arrived.
    pub(super) fn receive(&mut self, now: Now, ports: &mut Ports<'_>) {
        while let Some(frame) = ports.wire_in.arrive(now.time) {
            if let Frame::Training { until } = frame {
                self.recover(until, now.cycle);
            } else if self.recovering(now.cycle) {
                // Whatever was under way when the link went down is lost.
            } else {
                match frame {
                    Frame::Tlp(frame) => self.receive_tlp(frame, now, ports),
                    Frame::Dllp(bytes) => self.receive_dllp(bytes, now),
                    Frame::Training { .. } => {}
                }
            }
        }
    }

    #[inline]
    fn receive_tlp(&mut self, frame: TlpFrame, now: Now, ports: &mut Ports<'_>) {
        match frame.check(self.exact) {
            Ok(sequence) if sequence == self.expected => self.accept(frame.tlp, now, ports),
            Ok(sequence) if (self.expected.wrapping_sub(sequence) & (SEQUENCES - 1)) <= SEQUENCES / 2 => {
                self.traffic.duplicates += 1;
                self.ack_due = self.ack_due.min(now.cycle);
            }
            Ok(_) => self.schedule_nak(),
            Err(Refusal::Lcrc) => {
                self.traffic.bad_lcrc += 1;
                self.schedule_nak();
            }
            Err(Refusal::Framing) => {
                self.traffic.bad_tokens += 1;
                self.start_recovery(now.cycle);
            }
        }
    }

    #[inline]
    fn accept(&mut self, tlp: Tlp, now: Now, ports: &mut Ports<'_>) {
        self.expected = (self.expected + 1) & (SEQUENCES - 1);
        self.nak_scheduled = false;
        self.ack_due = self.ack_due.min(now.cycle + self.spec.ack_latency.0);
        let need = tlp.credits();
        let promised = self.own[pool_of(need.class)].receive(need);
        let place = self.side.route(&tlp);
        let mut output = ports.receive[place].output(now.time, ports.wakes);
        if promised && output.has_room() {
            output.push(tlp);
        } else {
            self.fault.get_or_insert_with(|| {
                format!("a {:?} TLP found no room in receive buffer {place}: the partner ignored its credits", tlp.kind)
            });
        }
    }

    fn schedule_nak(&mut self) {
        if !self.nak_scheduled {
            self.nak_scheduled = true;
            self.nak_due = true;
        }
    }

    fn receive_dllp(&mut self, bytes: [u8; 6], now: Now) {
        // A DLLP with a bad CRC or of a reserved type is dropped; the next one makes up for it.
        let parsed =
            DllpView::new_checked(&bytes).and_then(|view| view.check_crc().and_then(|()| DllpRepr::parse(&view)));
        match parsed {
            Ok(DllpRepr::Ack { sequence }) => self.acknowledge(sequence, now.cycle),
            Ok(DllpRepr::Nak { sequence }) => {
                self.acknowledge(sequence, now.cycle);
                self.replay(now.cycle);
            }
            Ok(DllpRepr::Credit { phase: CreditPhase::Update, class, header, data, .. }) => {
                self.partner[pool_of(class)].update(header, data);
            }
            _ => {}
        }
    }

    /// Forgets all TLPs up to `sequence`.
    fn acknowledge(&mut self, sequence: u16, cycle: u64) {
        let Some(&(oldest, _)) = self.unacknowledged.front() else { return };
        let count = usize::from(sequence.wrapping_sub(oldest).wrapping_add(1) & (SEQUENCES - 1));
        if count == 0 || count > self.unacknowledged.len() {
            return;
        }
        self.unacknowledged.drain(..count);
        self.replaying =
            self.replaying.map(|place| place.saturating_sub(count)).filter(|&p| p < self.unacknowledged.len());
        self.replays_in_a_row = 0;
        self.replay_deadline =
            if self.unacknowledged.is_empty() { Wake::NEVER } else { cycle + self.spec.replay_timer.0 };
    }

    /// Sends everything unacknowledged again; the fourth time in a row the link is retrained first.
    pub(super) fn replay(&mut self, cycle: u64) {
        if self.unacknowledged.is_empty() {
            return;
        }
        self.replays_in_a_row += 1;
        if self.replays_in_a_row > 3 {
            self.replays_in_a_row = 0;
            self.start_recovery(cycle);
        }
        self.replaying = Some(0);
        self.replay_deadline = cycle.max(self.recovery_until) + self.spec.replay_timer.0;
    }

    fn start_recovery(&mut self, cycle: u64) {
        self.traffic.recoveries += 1;
        self.training_due = true;
        self.recover(cycle + self.recovery_cycles, cycle);
    }

    fn recover(&mut self, until: u64, cycle: u64) {
        self.recovery_until = self.recovery_until.max(until);
        if !self.unacknowledged.is_empty() {
            self.replaying = Some(0);
            self.replay_deadline = cycle.max(self.recovery_until) + self.spec.replay_timer.0;
        }
    }

    /// The next cycle at which a credit return is due that too few pops have brought about. Past it, any pop does.
    pub(super) fn credit_timer(&self, cycle: u64) -> u64 {
        let dates = self.own.iter().filter(|pool| pool.holds()).map(|pool| pool.last + self.spec.credit_update.0);
        dates.filter(|&date| date > cycle).min().unwrap_or(Wake::NEVER)
    }

    /// A credit return that is due, as a DLLP.
    pub(super) fn credit_return(&mut self, now: Now, ports: &mut Ports<'_>) -> Option<DllpRepr> {
        for (pool, class) in self.own.iter_mut().zip(CLASSES) {
            if !pool.holds() {
                continue;
            }
            let mut output = ports.receive[self.side.output_of(class)].output(now.time, ports.wakes);
            let pops = output.pops();
            let expired = now.cycle >= pool.last + self.spec.credit_update.0;
            let threshold = if expired { 1 } else { pool.threshold };
            if pops >= pool.returned + threshold {
                let (header_scale, header, data_scale, data) = pool.give_back(pops, now.cycle);
                return Some(DllpRepr::Credit {
                    phase: CreditPhase::Update,
                    class,
                    virtual_channel: 0,
                    header_scale,
                    header,
                    data_scale,
                    data,
                });
            }
            output.watch_pops(pool.returned + threshold);
        }
        None
    }
}

impl super::Side {
    /// The output that a class of finite credits leaves by.
    const fn output_of(self, class: CreditClass) -> usize {
        match (self, class) {
            (Self::Host, CreditClass::NonPosted) => super::HOST_READS,
            (Self::Host, _) => super::HOST_WRITES,
            (Self::Gpu { pces, .. }, _) => pces as usize,
        }
    }
}
