//! A port that takes its time.
//!
//! What a transmitter sends is at the partner a flight later, and what a root complex is asked for is not ready before its latency has passed. So
//! nobody notices if a port does now what was to be done at edges before this one, as at those edges, in their order: it then runs once for
//! many TLPs.
//!
//! | what | how late |
//! | --- | --- |
//! | what is to be sent: TLPs of [queues that can wait](crate::sim::Queue::can_wait) and of a root complex, Acks, credits, replays | so many cycles that it has been sent before it arrives |
//! | reads to be taken for a root complex | as many, which the root complex must know of |
//! | completions for PCEs that take their time as well | as many; port and PCEs are then run [in turns](Port::work_off) |
//! | all else that arrives | at its edge |
//!
//! A port is prompt while it is stalled or sends again, from its first Recovery on, and always with IDE; at a root complex also while it holds what
//! others are to drain.

use super::{Frame, Port, Ports, Sending, Side, Tlp};
use crate::{
    pcie::{
        spec::{LinkSpec, RootComplexSpec},
        wire::dllp::DllpRepr,
    },
    sim::{Activity, Clock, Item, Now, Queue, Spells, Wake},
    units::Femtos,
};
use std::collections::VecDeque;

/// How late what nobody notices may be, in cycles of who is late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lateness {
    /// Of [ports](Port::take_time).
    pub port: u64,
    /// Of what a root complex is [told](crate::pcie::root_complex::RootComplex::told_late).
    pub root: u64,
}

impl Lateness {
    /// As late as a link allows whose ports run on `mac`, and a root complex on a clock of its own: less than a flight, so that all has been
    /// sent before it arrives, and less than the latency of a read, so that its completions are known before they are ready.
    #[must_use]
    pub fn most(link: &LinkSpec, mac: Clock, root: &RootComplexSpec, clock: Clock) -> Self {
        let ready = clock.edge(root.read_latency.0.saturating_sub(5));
        let port = link.flight.0.saturating_sub(2).min(mac.first_after(ready) - 1);
        Self { port, root: if port > 0 { clock.first_from(mac.edge(port)) + 2 } else { 0 } }
    }
}

/// How late a port may be, and how late it is.
#[derive(Debug, Default)]
pub(super) struct Late {
    /// Cycles that it may be late; 0 for one that is prompt.
    cycles: u64,
    /// The same as a duration, rounded down.
    patience: Femtos,
    /// Whether what arrives and can wait may be taken late.
    pub takes: bool,
    /// Whether the partner takes it so.
    pub partner: bool,
    /// Whether something has been handed on since this was last asked.
    pub handed_on: bool,
    /// Whether there may be edges before this one with something to do.
    behind: bool,
    /// Where there are: the edge at which the transmitter is to run if nothing arrives and no queue has anything before.
    due: u64,
    /// The edge before which the transmitter, as it ran last, looks at nothing.
    room_from: u64,
    /// Whether it was stalled when it ran last.
    stalled: bool,
    /// What is yet to be charged.
    spells: Spells,
    /// DLLPs that were passed by what was [taken ahead](Port::take_pairs), with the dates at which they come.
    passed: VecDeque<(Femtos, DllpRepr)>,
}

impl Port {
    /// From now on what this port sends may be so many cycles late: at most two less than the flight time. So may be what it `takes` of what
    /// arrives: reads for a root complex, or completions that [can wait](crate::sim::Item::can_wait). `partner` says that the partner takes what
    /// can wait as late.
    pub fn take_time(&mut self, cycles: u64, takes: bool, partner: bool) {
        if cycles > 0 && self.transmitter.ide.is_none() {
            let patience = self.clock.edge(cycles.saturating_sub(1));
            self.late = Late { cycles, patience, takes, partner, ..Late::default() };
        }
    }

    /// How late that is.
    #[must_use]
    pub const fn patience(&self) -> Femtos {
        self.late.patience
    }

    /// Whether all that it hands completions to hear of them late.
    fn hands_on_late(&self, ports: &Ports<'_>) -> bool {
        match self.side {
            Side::Gpu { pces, .. } => ports.receive.iter().take(usize::from(pces)).all(Queue::receiver_is_late),
            Side::Host => false,
        }
    }

    /// Whether nobody will notice if this port runs late.
    #[inline]
    pub(super) fn can_be_late(&self, sending: &Sending, ports: &Ports<'_>) -> bool {
        self.late.cycles > 0
            && !matches!(sending.activity, Activity::Stall(_))
            && self.recovery_until == 0
            && self.transmitter.second.is_none()
            && !self.transmitter.buffer.replaying()
            && (self.receiver.promises.all_drained() || (ports.root.is_none() && sending.room_from == 0))
            && (self.all_vacant(ports.send) || ports.send.iter().all(Queue::can_wait))
    }

    /// Gives the edge at which this port, whose transmitter has just run, is to run again, and whether only a timer that finishes no work asks
    /// for it.
    #[inline]
    pub(super) fn be_late(&mut self, now: Now, sending: &Sending, ports: &mut Ports<'_>) -> (u64, bool) {
        self.late.behind = true;
        self.set_due(now, sending, self.source_shows(ports));
        let due = self.late.due;
        let Late { cycles, patience, .. } = self.late;
        if let Some(root) = &mut ports.root {
            ports.wire_in.attend(Some(patience));
            root.completions.attend(Some(patience));
        } else {
            let late = self.hands_on_late(ports);
            ports.wire_in.attend(self.late.takes.then_some(if late { patience } else { Femtos(0) }));
        }
        let arrival = ports.wire_in.next_arrival().unwrap_or(Femtos::MAX);
        let arrival = if arrival == Femtos::MAX { Wake::NEVER } else { self.clock.first_from(arrival) };
        let mut at = arrival.min(due.saturating_add(cycles));
        if !self.receiver.promises.all_drained() {
            // Looks at what has drained when it is time to.
            at = at.min(self.receiver.promises.timer().0).max(now.cycle + 1);
        }
        let next = self.clock.edge(at);
        ports.send.iter_mut().for_each(|queue| queue.wait(Some((patience, next)), ports.wakes));
        let background = arrival == Wake::NEVER
            && !self.receiver.promises.timer().1
            && self.transmit_due(sending, ports) == Wake::NEVER
            && self.source_shows(ports) == Femtos::MAX;
        (at, background)
    }

    /// Hears of everything at once. Gives the edge at which this port must run again to see what was pushed at this very instant, while it
    /// was late.
    #[inline]
    pub(super) fn be_prompt(&mut self, now: Now, sending: &Sending, ports: &mut Ports<'_>) -> u64 {
        let was_late = std::mem::take(&mut self.late.behind);
        // Acks and credits matter at once where they are waited for.
        let waits = !sending.full && matches!(sending.activity, Activity::Stall(_));
        ports.wire_in.attend((waits || self.late.takes).then_some(Femtos(0)));
        if let Some(root) = &mut ports.root {
            root.completions.attend((!sending.full).then_some(Femtos(0)));
        }
        if self.late.cycles > 0 {
            ports.send.iter_mut().for_each(|queue| queue.wait(None, ports.wakes));
        }
        let unseen = was_late && !sending.full && !self.all_vacant(ports.send);
        if unseen { now.cycle + 1 } else { Wake::NEVER }
    }

    /// Does what was to be done at the edges before this one.
    #[inline]
    pub(super) fn catch_up(&mut self, now: Now, ports: &mut Ports<'_>) {
        if self.late.behind {
            self.receiver.promises.blind = true;
            self.do_what_was_due(now, false, ports);
            self.receiver.promises.blind = false;
        }
    }

    /// Does what was to be done before a date, but only up to the first edge at which it has handed something on or taken what somebody
    /// waits for; gives the date of that edge.
    pub fn work_off(&mut self, until: Femtos, ports: &mut Ports<'_>) -> Option<Femtos> {
        if !self.late.behind {
            return None;
        }
        self.receiver.promises.blind = true;
        let now = Now { cycle: self.clock.first_from(until), time: until };
        let paused = self.do_what_was_due(now, true, ports);
        self.receiver.promises.blind = false;
        paused
    }

    /// Does what was to be done before now; if it `pauses`, up to the first edge of which somebody else is to know. Gives the date of that.
    fn do_what_was_due(&mut self, now: Now, pauses: bool, ports: &mut Ports<'_>) -> Option<Femtos> {
        self.late.handed_on = false;
        let mut due = self.late.due.min(self.due_of(self.source_shows(ports)));
        let mut date = self.date_before(due, now);
        let mut paused = None;
        while paused.is_none() {
            let passed = self.late.passed.front().map(|&(date, _)| date);
            let front = passed.or(ports.wire_in.front_date()).unwrap_or(Femtos::MAX);
            if front <= date && front < now.time {
                let then = Now { cycle: self.clock.first_from(front), time: front };
                match self.late.passed.pop_front() {
                    Some((_, said)) => self.receive_dllp(Some(said), then.cycle),
                    None => self.take_front(then, ports),
                }
                let after = self.due_after_arrival(then.cycle);
                if after < due {
                    due = after;
                    date = self.date_before(due, now);
                }
                if pauses && self.late.handed_on {
                    self.take_pairs(now.time, ports);
                    paused = Some(front);
                }
                continue;
            }
            if due >= now.cycle {
                break;
            }
            let then = Now { cycle: due, time: date };
            if self.receiver.ack_due <= due {
                self.receive_first(then, ports);
            }
            if !self.send_front(then, ports) {
                let sending = self.transmit(then, ports);
                self.note(then, &sending, self.source_shows(ports), ports);
            }
            due = self.late.due;
            date = self.date_before(due, now);
            paused = (pauses && (self.late.handed_on || ports.wakes.any_touched())).then_some(then.time);
        }
        self.late.due = due;
        self.charge_spells(ports);
        paused
    }

    /// Takes the pairs that come next up to a date, before the transmitter has done what is due before them. It does not depend on them, but for what its
    /// Acks say, as long as it does not send again because none come; and they do not depend on Acks and credits, which are passed.
    fn take_pairs(&mut self, until: Femtos, ports: &mut Ports<'_>) {
        loop {
            match ports.wire_in.front() {
                Some((date, Frame::Tlp(frame))) if date < until && frame.tlp.is_pair() && self.expects(frame) => {
                    let cycle = self.clock.first_from(date);
                    if cycle >= self.transmitter.buffer.deadline() {
                        return;
                    }
                    let first = cycle - u64::from(frame.lead);
                    self.take_front(Now { cycle, time: date }, ports);
                    if cycle > self.receiver.ack_due {
                        self.receiver.ahead.push((first, cycle));
                    }
                }
                Some((date, Frame::Dllp(frame))) if date < until => {
                    let Some(said) = frame.check().filter(|said| !matches!(said, DllpRepr::Nak { .. })) else { return };
                    self.late.passed.push_back((date, said));
                    ports.wire_in.pass();
                }
                _ => return,
            }
        }
    }

    /// The date of an edge, or now if that comes first.
    #[inline(always)]
    const fn date_before(&self, cycle: u64, now: Now) -> Femtos {
        if cycle < now.cycle { self.clock.edge(cycle) } else { now.time }
    }

    /// Does what [`Self::transmit`] does, and notes it, where it is plain that it sends the oldest TLP of the only source that has any. Otherwise it
    /// does nothing and says so.
    #[inline(always)]
    fn send_front(&mut self, then: Now, ports: &mut Ports<'_>) -> bool {
        let plain = self.receiver.ack_due > then.cycle
            && self.transmitter.can_send_new(then.cycle)
            && self.receiver.promises.settled(then, ports.receive, ports.wakes);
        plain && if ports.root.is_some() { self.send_pair(then, ports) } else { self.send_read(then, ports) }
    }

    /// The same of a pair from a root complex.
    #[inline(always)]
    fn send_pair(&mut self, then: Now, ports: &mut Ports<'_>) -> bool {
        let vacant = self.all_vacant(ports.send);
        let Some(root) = &mut ports.root else { return false };
        let pair = root.completions.arrived(then.time).filter(|tlp| tlp.is_pair() && vacant);
        let Some(pair) = pair.filter(|_| self.transmitter.has_room(then.cycle)) else { return false };
        self.put_pair(pair, then, ports.wire_out, ports.wakes);
        root.completions.pass();
        let shows = root.completions.front_date().unwrap_or(Femtos::MAX);
        self.transmitter.turn = ports.send.len() + 1;
        let waits = shows <= then.time || self.transmitter.second.is_some();
        self.go_on(then, shows, waits, ports);
        true
    }

    /// The same of a TLP that can wait from the queue that it sent from last.
    #[inline(always)]
    fn send_read(&mut self, then: Now, ports: &mut Ports<'_>) -> bool {
        let last = self.transmitter.turn.wrapping_sub(1);
        let Some(queue) = ports.send.get_mut(last) else { return false };
        let only = self.waiting.as_ref().is_some_and(|waiting| waiting.get() == queue.held());
        let mut input = queue.input(then.time, ports.wakes);
        let read = input.head().filter(|tlp| tlp.can_wait() && only && !self.ecrc && self.transmitter.allows(tlp));
        let Some(read) = read.filter(|_| self.transmitter.has_room(then.cycle)) else { return false };
        self.put_new(read, then, ports.wire_out, ports.wakes);
        input.pass();
        let pushed = queue.front_date();
        let shows = pushed.map_or(Femtos::MAX, |pushed| Femtos(pushed.0 + 1));
        self.go_on(then, shows, pushed.is_some_and(|pushed| pushed <= then.time), ports);
        true
    }

    /// Notes what the transmitter is that has just sent the head of an input, where the next TLP `shows` from a date on: whether it `waits` for no
    /// more than room.
    #[inline(always)]
    fn go_on(&mut self, then: Now, shows: Femtos, waits: bool, ports: &mut Ports<'_>) {
        let room_from = self.transmitter.stream.cycle(self.transmitter.position);
        self.transmitter.room_from = room_from;
        let full = room_from > then.cycle;
        if !full {
            self.transmitter.busy_until = then.cycle + 1;
            let answers = self.receiver.ack_due <= then.cycle;
            if waits || answers || !self.receiver.promises.settled(then, ports.receive, ports.wakes) {
                let sending = self.fill(then, ports);
                return self.note(then, &sending, self.source_shows(ports), ports);
            }
        }
        let sending = match (full, waits) {
            (true, true) => Sending::full(room_from),
            (true, false) => Sending::last(room_from.max(self.transmitter.busy_until), room_from),
            (false, _) => Sending::waits(then.cycle + 1, Activity::Idle),
        };
        self.note(then, &sending, shows, ports);
    }

    /// Notes what the transmitter is that has just run late, and when it runs again.
    #[inline(always)]
    fn note(&mut self, then: Now, sending: &Sending, shows: Femtos, ports: &Ports<'_>) {
        if sending.activity == Activity::Idle {
            self.late.spells.add(then.cycle, sending.busy_until);
        } else {
            self.charge_spells(ports);
            ports.wakes.charge(ports.wire_in.receiver(), then.cycle, sending.busy_until, sending.activity);
        }
        self.set_due(then, sending, shows);
    }

    #[inline]
    fn charge_spells(&mut self, ports: &Ports<'_>) {
        if let Some(spells) = self.late.spells.take() {
            ports.wakes.charge_spells(ports.wire_in.receiver(), &spells);
        }
    }

    /// Notes when the transmitter, which has just run, runs again.
    #[inline(always)]
    fn set_due(&mut self, now: Now, sending: &Sending, shows: Femtos) {
        self.late.stalled = matches!(sending.activity, Activity::Stall(_));
        self.late.room_from = sending.room_from.max(now.cycle + 1);
        let deadline = self.transmitter.buffer.deadline();
        let due = if self.late.stalled {
            // Whatever comes may end it.
            0
        } else if sending.full {
            deadline.min(sending.room_from)
        } else {
            let reply = self.receiver.ack_due.min(self.receiver.promises.timer().0);
            // Something may have been pushed at this very instant.
            deadline.min(reply.max(sending.room_from)).min(self.due_of(shows))
        };
        self.late.due = due.max(now.cycle + 1);
    }

    /// From when on a TLP shows to the transmitter.
    #[inline(always)]
    fn source_shows(&self, ports: &Ports<'_>) -> Femtos {
        let completion = ports.root.as_ref().and_then(|root| root.completions.front_date()).unwrap_or(Femtos::MAX);
        if self.all_vacant(ports.send) { completion } else { completion.min(pushed_first(ports.send)) }
    }

    /// The edge at which the transmitter finds what shows from a date on, and room for it.
    #[inline(always)]
    fn due_of(&self, shows: Femtos) -> u64 {
        if shows == Femtos::MAX { Wake::NEVER } else { self.clock.first_from(shows).max(self.late.room_from) }
    }

    /// The edge at which the transmitter has something to do because of what has arrived in `cycle`.
    #[inline]
    fn due_after_arrival(&self, cycle: u64) -> u64 {
        let at_once = self.late.stalled || self.training_due || self.transmitter.buffer.replaying();
        let due = if at_once { cycle } else { self.receiver.ack_due.min(self.receiver.promises.timer().0) };
        due.max(self.late.room_from).max(cycle)
    }
}

/// From when on the first TLP in a queue shows: after the instant at which it was pushed.
fn pushed_first(queues: &[Queue<Tlp>]) -> Femtos {
    let first = queues.iter().filter_map(Queue::front_date).min();
    first.map_or(Femtos::MAX, |pushed| Femtos(pushed.0 + 1))
}
