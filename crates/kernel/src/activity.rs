//! What a unit does with each of its cycles, and the account of them.

use super::probe::Probe;
use std::{any::Any, cell::OnceCell, collections::VecDeque, fmt};

/// What a unit is during a cycle. It is the place of these cycles in an account, in one byte: kernels compare it at every tick.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Activity(u8);

#[expect(non_upper_case_globals, non_snake_case, reason = "they read as what they are: alternatives")]
impl Activity {
    const COUNT: usize = 2 + Self::STALLS;

    /// Causes of stalls that units can tell apart.
    pub const STALLS: usize = 30;

    /// The unit has no work in this cycle.
    pub const Idle: Self = Self(Self::STALLS as u8);
    /// The unit works in this cycle.
    pub const Busy: Self = Self(Self::STALLS as u8 + 1);

    /// The unit has work and waits. What for, its author numbers, below [`Self::STALLS`]; see [`Netlist::name_stalls`](crate::Netlist::name_stalls).
    ///
    /// # Panics
    /// In debug builds, of a number that is too large.
    #[inline(always)]
    pub fn Stall(cause: impl Into<u8>) -> Self {
        let cause = cause.into();
        debug_assert!((cause as usize) < Self::STALLS, "cause {cause} of a stall");
        Self(cause)
    }

    /// What it waits for, if it does.
    #[inline]
    pub const fn stall(self) -> Option<u8> {
        if self.index() < Self::STALLS { Some(self.0) } else { None }
    }

    /// What it is called: busy, idle, or as `stalls` name its cause.
    pub fn name(self, stalls: &[&'static str]) -> &'static str {
        let unnamed = if self == Self::Busy {
            "busy"
        } else if self == Self::Idle {
            "idle"
        } else {
            "stall"
        };
        stalls.get(self.index()).copied().unwrap_or(unnamed)
    }

    #[inline(always)]
    const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.stall() {
            Some(stall) => f.debug_tuple("Stall").field(&stall).finish(),
            None if *self == Self::Busy => f.write_str("Busy"),
            None => f.write_str("Idle"),
        }
    }
}

/// A unit's cycles by what it was during them.
///
/// Two accounts are equal if the cycles charged are: what is known of those to come depends on when the unit was last asked.
#[derive(Debug, Clone)]
pub struct Account {
    cycles: [u64; Activity::COUNT],
    current: Activity,
    since: u64,
    busy_until: u64,
    /// What is known of cycles to come: from which on, as [`Account::charge`] takes it.
    ahead: VecDeque<(u64, u64, Activity)>,
    probe: Heard,
}

/// Who hears what is charged. Nobody hears a copy of an account.
#[derive(Debug, Default)]
struct Heard(OnceCell<Box<Probe>>);

impl Clone for Heard {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for Account {
    fn eq(&self, other: &Self) -> bool {
        self.cycles == other.cycles
    }
}

impl Eq for Account {}

impl Default for Account {
    fn default() -> Self {
        Self {
            cycles: [0; Activity::COUNT],
            current: Activity::Idle,
            since: 0,
            busy_until: 0,
            ahead: VecDeque::new(),
            probe: Heard::default(),
        }
    }
}

impl Account {
    /// Charges all cycles before `cycle` to what the unit was, and notes what it is from now on: busy before `busy_until`, then `next`. Cycles that
    /// have been charged stay so.
    #[inline]
    pub fn charge(&mut self, cycle: u64, busy_until: u64, next: Activity) {
        if next != self.current {
            self.turn(cycle.max(self.since), busy_until);
            self.current = next;
        } else if busy_until | self.busy_until != 0 {
            self.turn(cycle.max(self.since), busy_until);
        }
    }

    #[inline]
    fn turn(&mut self, cycle: u64, busy_until: u64) {
        let busy_end = self.busy_until.min(cycle).max(self.since);
        self.cycles[Activity::Busy.index()] += busy_end - self.since;
        self.cycles[self.current.index()] += cycle - busy_end;
        if self.probe.0.get().is_some() {
            self.tell(busy_end, cycle);
        }
        self.since = cycle;
        self.busy_until = busy_until;
    }

    /// Tells what is being charged. It is apart, so that an account that nobody hears pays one comparison.
    #[cold]
    fn tell(&self, busy_end: u64, cycle: u64) {
        if let Some(probe) = self.probe.0.get() {
            probe.spell(Activity::Busy, self.since, busy_end);
            probe.spell(self.current, busy_end, cycle);
        }
    }

    /// Notes, at `cycle`, what the unit is from `from` on, which may lie ahead. No `from` lies before an earlier one.
    #[inline]
    pub fn book(&mut self, cycle: u64, from: u64, busy_until: u64, next: Activity) {
        self.reach(cycle);
        if self.ahead.is_empty() && from <= cycle {
            return self.charge(from, busy_until, next);
        }
        match self.ahead.back_mut() {
            // One busy interval that grows.
            Some((_, until, then)) if *then == Activity::Idle && next == Activity::Idle && from <= *until => {
                *until = busy_until.max(*until);
            }
            _ => self.ahead.push_back((from, busy_until, next)),
        }
    }

    /// Charges what was booked up to `cycle`.
    #[inline]
    fn reach(&mut self, cycle: u64) {
        while let Some(&(from, busy_until, next)) = self.ahead.front().filter(|(from, ..)| *from <= cycle) {
            self.charge(from, busy_until, next);
            self.ahead.pop_front();
        }
    }

    /// Charges all cycles before `cycle`.
    #[inline]
    pub fn settle(&mut self, cycle: u64) {
        self.reach(cycle);
        self.turn(cycle, self.busy_until);
    }

    /// Tells `probe` of each spell from now on. An account has one probe: a second one hears nothing.
    pub(super) fn listen(&self, probe: Probe) {
        _ = self.probe.0.set(Box::new(probe));
    }

    #[inline]
    pub(super) fn is_heard(&self) -> bool {
        self.probe.0.get().is_some()
    }

    /// Tells its probe what goes into the part that it is the account of.
    pub(super) fn tell_of_input(&self, cycle: u64, input: &dyn Any) {
        if let Some(probe) = self.probe.0.get() {
            probe.entered(cycle, input);
        }
    }

    /// This account with every cycle before `cycle` charged, the last of them reported to its probe.
    pub(super) fn ended(&self, cycle: u64) -> Self {
        let mut ended = self.clone();
        if let Some(probe) = self.probe.0.get() {
            ended.listen(Probe::clone(probe));
        }
        ended.settle(cycle);
        ended
    }

    pub fn total(&self) -> u64 {
        self.cycles.iter().sum()
    }

    pub const fn busy(&self) -> u64 {
        self.cycles[Activity::Busy.index()]
    }

    /// Cycles in which the unit had nothing to do.
    pub const fn idle(&self) -> u64 {
        self.cycles[Activity::Idle.index()]
    }

    /// What has been charged since an earlier state of this account.
    pub fn since(&self, earlier: &Self) -> Self {
        let mut since = self.clone();
        since.cycles.iter_mut().zip(&earlier.cycles).for_each(|(now, then)| *now -= *then);
        since
    }

    /// Cycles by cause of stall, those that occurred.
    pub fn stalls(&self) -> impl Iterator<Item = (u8, u64)> + '_ {
        (0..).zip(self.cycles[..Activity::STALLS].iter().copied()).filter(|&(_, cycles)| cycles > 0)
    }

    pub const fn current(&self) -> Activity {
        self.current
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_lies_ahead_is_charged_when_it_comes() {
        let spells = [(5, 7, 9), (6, 8, 12), (6, 20, 25), (21, 30, 33)];
        let (mut booked, mut prompt) = (Account::default(), Account::default());
        for (now, from, until) in spells {
            booked.book(now, from, until, Activity::Idle);
            prompt.charge(from, until, Activity::Idle);
            let mut early = booked.clone();
            early.settle(now);
            assert_eq!(early.total(), now, "what lies ahead is not charged yet");
        }
        for account in [&mut booked, &mut prompt] {
            account.settle(40);
        }
        assert_eq!(booked, prompt);
        assert_eq!((booked.total(), booked.busy()), (40, 5 + 5 + 3));
    }

    #[test]
    fn every_cycle_is_charged_once() {
        let mut account = Account::default();
        account.charge(5, 7, Activity::Idle);
        account.charge(9, 0, Activity::Stall(3));
        account.settle(20);
        account.settle(20);
        assert_eq!((account.idle(), account.busy()), (7, 2));
        assert_eq!(account.stalls().collect::<Vec<_>>(), [(3, 11)]);
        assert_eq!(account.total(), 20);
    }

    #[test]
    fn stalls_are_called_as_they_are_named() {
        let all = [Activity::Stall(0), Activity::Stall(1), Activity::Stall(29), Activity::Idle, Activity::Busy];
        assert_eq!(all.map(Activity::stall), [Some(0), Some(1), Some(29), None, None]);
        assert_eq!(all.map(|one| one.name(&["first", "second"])), ["first", "second", "stall", "idle", "busy"]);
        assert_eq!(format!("{all:?}"), "[Stall(0), Stall(1), Stall(29), Idle, Busy]");
    }
}
