//! The replay buffer: every TLP sent and not yet acknowledged.
//!
//! | contract | |
//! | --- | --- |
//! | holds | `replay_tlps` TLPs, at most half the sequence numbers; full, it stalls the transmitter (`replay_full`) |
//! | gives again | all it holds, in order: after a Nak, after `replay_timer` cycles without progress, after Recovery |
//! | retraining | asked for at the fourth replay in a row without progress (REPLAY_NUM has two bits) |

use super::SEQUENCES;
use crate::{
    pcie::packet::Tlp,
    sim::{Ring, Room, Wake},
};

/// Replays in a row after which the next one retrains the link.
pub(super) const REPLAYS: u32 = 3;

/// The replay buffer of a transmitter.
#[derive(Debug)]
pub(super) struct ReplayBuffer {
    tlps: Ring<Tlp>,
    /// Room for TLPs that are not acknowledged.
    pub(super) room: Room,
    next_sequence: u16,
    /// Place of the next TLP to send again.
    again: Option<usize>,
    in_a_row: u32,
    timer: u64,
    deadline: u64,
}

impl ReplayBuffer {
    pub fn new(capacity: u32, timer: u64) -> Self {
        let capacity = capacity.clamp(1, u32::from(SEQUENCES) / 2);
        Self {
            tlps: Ring::default(),
            room: Room::new(capacity.into()),
            next_sequence: 0,
            again: None,
            in_a_row: 0,
            timer: timer.max(1),
            deadline: Wake::NEVER,
        }
    }

    pub const fn len(&self) -> usize {
        self.tlps.len()
    }

    #[inline]
    pub fn is_full(&self) -> bool {
        !self.room.holds(self.tlps.len() as u64 + 1)
    }

    /// Whether TLPs are to be sent again.
    #[inline]
    pub const fn replaying(&self) -> bool {
        self.again.is_some()
    }

    /// The cycle at which a replay is due because nothing was acknowledged.
    #[inline]
    pub const fn deadline(&self) -> u64 {
        self.deadline
    }

    /// Keeps a TLP that is sent for the first time; gives its sequence number.
    #[inline(always)]
    pub fn push(&mut self, tlp: &Tlp, cycle: u64) -> u16 {
        let sequence = self.next_sequence;
        self.next_sequence = (sequence + 1) % SEQUENCES;
        self.tlps.push(tlp.clone());
        if self.deadline == Wake::NEVER {
            self.deadline = cycle + self.timer;
        }
        sequence
    }

    fn oldest(&self) -> u16 {
        self.next_sequence.wrapping_sub(self.tlps.len() as u16) % SEQUENCES
    }

    pub fn next_again(&mut self) -> Option<(u16, Tlp)> {
        let place = self.again?;
        let sequence = self.oldest().wrapping_add(place as u16) % SEQUENCES;
        self.again = Some(place + 1).filter(|&next| next < self.tlps.len());
        self.tlps.get(place).map(|tlp| (sequence, tlp.clone()))
    }

    /// Forgets all TLPs up to `sequence`.
    pub fn acknowledge(&mut self, sequence: u16, cycle: u64) {
        let count = usize::from(sequence.wrapping_sub(self.oldest()).wrapping_add(1) % SEQUENCES);
        if count == 0 || count > self.tlps.len() {
            return;
        }
        (0..count).for_each(|_| self.tlps.remove());
        self.again = self.again.map(|place| place.saturating_sub(count)).filter(|&place| place < self.tlps.len());
        self.in_a_row = 0;
        self.deadline = if self.tlps.is_empty() { Wake::NEVER } else { cycle + self.timer };
    }

    /// Starts to send everything again; true if the link must be retrained first.
    pub fn restart(&mut self, cycle: u64) -> bool {
        if self.tlps.is_empty() {
            return false;
        }
        self.again_from(cycle);
        self.in_a_row += 1;
        let retrain = self.in_a_row > REPLAYS;
        if retrain {
            self.in_a_row = 0;
        }
        retrain
    }

    /// Everything is sent again once the link is up, at `cycle`.
    pub fn again_from(&mut self, cycle: u64) {
        if !self.tlps.is_empty() {
            self.again = Some(0);
            self.deadline = cycle + self.timer;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(count: u64) -> ReplayBuffer {
        let mut buffer = ReplayBuffer::new(4096, 100);
        for n in 0..count {
            buffer.push(&Tlp::read(0, n * 4096, 4), n);
        }
        buffer
    }

    fn again(buffer: &mut ReplayBuffer) -> Vec<(u16, u64)> {
        std::iter::from_fn(|| buffer.next_again()).map(|(sequence, tlp)| (sequence, tlp.address / 4096)).collect()
    }

    #[test]
    fn it_never_holds_more_than_half_the_sequence_numbers() {
        assert!(!buffer(2047).is_full());
        assert!(buffer(2048).is_full());
    }

    #[test]
    fn what_is_not_acknowledged_is_sent_again_in_order_across_the_wrap() {
        let mut buffer = buffer(2048);
        buffer.acknowledge(2047, 0);
        for n in 2048..4098 {
            buffer.push(&Tlp::read(0, n * 4096, 4), 0);
            if n == 4000 {
                buffer.acknowledge(4000, 0);
            }
        }
        buffer.acknowledge(4093, 0);
        buffer.restart(0);
        assert_eq!(again(&mut buffer), [(4094, 4094), (4095, 4095), (0, 4096), (1, 4097)]);
        buffer.acknowledge(0, 0);
        buffer.restart(0);
        assert_eq!(again(&mut buffer), [(1, 4097)]);
    }

    #[test]
    fn an_ack_during_a_replay_spares_what_it_covers() {
        let mut buffer = buffer(5);
        buffer.restart(0);
        assert_eq!(buffer.next_again().map(|(sequence, _)| sequence), Some(0));
        buffer.acknowledge(2, 0);
        assert_eq!(again(&mut buffer), [(3, 3), (4, 4)]);
        assert!(!buffer.replaying());
    }

    #[test]
    fn acks_of_what_is_not_outstanding_change_nothing() {
        let mut buffer = buffer(5);
        for sequence in [4095, 5, 2000] {
            buffer.acknowledge(sequence, 50);
            assert_eq!((buffer.oldest(), buffer.deadline()), (0, 100));
        }
    }

    #[test]
    fn the_fourth_replay_in_a_row_retrains_and_progress_starts_the_count_again() {
        let mut buffer = buffer(5);
        assert_eq!([0; 4].map(|_| buffer.restart(0)), [false, false, false, true]);
        assert_eq!([0; 3].map(|_| buffer.restart(0)), [false; 3]);
        buffer.acknowledge(0, 0);
        assert!(!buffer.restart(0));
    }

    #[test]
    fn the_timer_runs_from_the_first_tlp_or_the_last_progress() {
        let mut buffer = buffer(3);
        assert_eq!(buffer.deadline(), 100);
        buffer.acknowledge(0, 40);
        assert_eq!(buffer.deadline(), 140);
        buffer.acknowledge(2, 50);
        assert_eq!(buffer.deadline(), Wake::NEVER);
    }
}
