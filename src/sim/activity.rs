//! What a unit does with each of its cycles, and the account of them.

use serde::Serialize;

/// What a unit that could work is waiting for. The set is closed: every cycle of every unit is busy, idle or one of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Stall {
    /// Flow-control credits of the link partner.
    Credit,
    /// A free tag for a read request.
    ReadTags,
    /// Room in the link's transmit queue.
    LinkBusy,
    /// The link is in Recovery.
    Recovery,
    /// Room in the replay buffer.
    ReplayFull,
    /// Read data under way.
    ReadData,
    /// A free entry in the tag queue.
    TagQueueFull,
    /// A verdict that later work depends on.
    AuthDependency,
    /// AES keystream.
    AesBusy,
    /// The GHASH unit.
    GhashBusy,
    /// An earlier message that must take its IV first.
    IvOrder,
    /// Room in the quarantine buffer.
    Quarantine,
    /// Device memory.
    HbmBusy,
    /// Host memory.
    HostMemory,
    /// The CPU cipher.
    HostCipher,
    /// A free staging slot.
    StagingFull,
    /// The submission of work to the GPU.
    Submission,
    /// The completion of work by the GPU.
    Completion,
    /// An earlier transfer that this one is ordered after.
    Order,
    /// A TLP that could share a MAC.
    Aggregate,
    /// The engine that several units share.
    EngineBusy,
}

impl Stall {
    /// Every stall, in the order of their numbers.
    pub const ALL: [Self; 21] = [
        Self::Credit,
        Self::ReadTags,
        Self::LinkBusy,
        Self::Recovery,
        Self::ReplayFull,
        Self::ReadData,
        Self::TagQueueFull,
        Self::AuthDependency,
        Self::AesBusy,
        Self::GhashBusy,
        Self::IvOrder,
        Self::Quarantine,
        Self::HbmBusy,
        Self::HostMemory,
        Self::HostCipher,
        Self::StagingFull,
        Self::Submission,
        Self::Completion,
        Self::Order,
        Self::Aggregate,
        Self::EngineBusy,
    ];

    /// The name as outputs print it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Credit => "credit",
            Self::ReadTags => "read_tags",
            Self::LinkBusy => "link_busy",
            Self::Recovery => "recovery",
            Self::ReplayFull => "replay_full",
            Self::ReadData => "read_data",
            Self::TagQueueFull => "tag_queue_full",
            Self::AuthDependency => "auth_dependency",
            Self::AesBusy => "aes_busy",
            Self::GhashBusy => "ghash_busy",
            Self::IvOrder => "iv_order",
            Self::Quarantine => "quarantine",
            Self::HbmBusy => "hbm_busy",
            Self::HostMemory => "host_memory",
            Self::HostCipher => "host_cipher",
            Self::StagingFull => "staging_full",
            Self::Submission => "submission",
            Self::Completion => "completion",
            Self::Order => "order",
            Self::Aggregate => "aggregate",
            Self::EngineBusy => "engine_busy",
        }
    }
}

/// What a unit is during a cycle.
#[derive(Debug, Clone, Copy)]
pub enum Activity {
    /// It has nothing to do.
    Idle,
    /// It works.
    Busy,
    /// It waits.
    Stall(Stall),
}

impl Activity {
    const COUNT: usize = 2 + Stall::ALL.len();

    /// Its place in an account: behind all stalls, as in memory, so that it costs nothing.
    #[inline]
    const fn index(self) -> usize {
        match self {
            Self::Stall(stall) => stall as usize,
            Self::Idle => Stall::ALL.len(),
            Self::Busy => Stall::ALL.len() + 1,
        }
    }
}

// Kernels compare at every tick; by place that is one comparison.
impl PartialEq for Activity {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.index() == other.index()
    }
}

impl Eq for Activity {}

/// A unit's cycles by what it was during them.
///
/// Two accounts are equal if the cycles charged are: what is known of those to come depends on when the unit was last asked.
#[derive(Debug, Clone)]
pub struct Account {
    cycles: [u64; Activity::COUNT],
    current: Activity,
    /// The place of `current` among the cycles.
    place: usize,
    since: u64,
    busy_until: u64,
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
            place: Activity::Idle.index(),
            since: 0,
            busy_until: 0,
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
            (self.current, self.place) = (next, next.index());
        } else if busy_until | self.busy_until != 0 {
            self.turn(cycle.max(self.since), busy_until);
        }
    }

    #[inline]
    fn turn(&mut self, cycle: u64, busy_until: u64) {
        let busy_end = self.busy_until.min(cycle).max(self.since);
        self.cycles[Activity::Busy.index()] += busy_end - self.since;
        self.cycles[self.place] += cycle - busy_end;
        self.since = cycle;
        self.busy_until = busy_until;
    }

    /// Charges what a unit was that worked now and then.
    pub fn charge_spells(&mut self, spells: &Spells) {
        let Spells { first, last, busy, .. } = *spells;
        self.charge(first.0, first.1, Activity::Idle);
        self.cycles[Activity::Busy.index()] += busy;
        self.cycles[Activity::Idle.index()] += last.0 - first.0 - busy;
        (self.since, self.busy_until) = last;
    }

    /// Charges all cycles before `cycle`.
    pub fn settle(&mut self, cycle: u64) {
        self.turn(cycle, self.busy_until);
    }

    /// All cycles charged.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.cycles.iter().sum()
    }

    /// Cycles in which the unit worked.
    #[must_use]
    pub const fn busy(&self) -> u64 {
        self.cycles[Activity::Busy.index()]
    }

    /// Cycles in which the unit had nothing to do.
    #[must_use]
    pub const fn idle(&self) -> u64 {
        self.cycles[Activity::Idle.index()]
    }

    /// Cycles by stall, those that occurred.
    pub fn stalls(&self) -> impl Iterator<Item = (Stall, u64)> + '_ {
        Stall::ALL.into_iter().map(|stall| (stall, self.cycles[Activity::Stall(stall).index()])).filter(|&(_, n)| n > 0)
    }

    /// What the unit is now.
    #[must_use]
    pub const fn current(&self) -> Activity {
        self.current
    }
}

/// Spells of work of a unit that is otherwise idle, put together before they are charged to its account.
#[derive(Debug, Clone, Copy, Default)]
pub struct Spells {
    any: bool,
    /// The edges from which on, and before which, it worked for the first time and for the last.
    first: (u64, u64),
    last: (u64, u64),
    /// Cycles between the beginnings of these two in which it worked.
    busy: u64,
}

impl Spells {
    /// From its edge `cycle` on it is busy before `busy_until`, and idle then. No spell begins before the one before it.
    #[inline]
    pub fn add(&mut self, cycle: u64, busy_until: u64) {
        if self.any {
            let (since, until) = self.last;
            self.busy += until.min(cycle).max(since) - since;
        } else {
            (self.any, self.first) = (true, (cycle, busy_until));
        }
        self.last = (cycle, busy_until);
    }

    /// Takes all that there are, if there are any.
    #[inline]
    pub fn take(&mut self) -> Option<Self> {
        if !self.any {
            return None;
        }
        self.any = false;
        let busy = std::mem::take(&mut self.busy);
        Some(Self { any: true, busy, ..*self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spells_are_charged_as_one_by_one() {
        let spells = [(5, 7), (6, 0), (9, 12), (9, 10), (20, 25), (22, 23)];
        let (mut at_once, mut one_by_one, mut together) = (Account::default(), Account::default(), Spells::default());
        for account in [&mut at_once, &mut one_by_one] {
            account.charge(2, 4, Activity::Stall(Stall::Credit));
        }
        for (cycle, busy_until) in spells {
            one_by_one.charge(cycle, busy_until, Activity::Idle);
            together.add(cycle, busy_until);
        }
        at_once.charge_spells(&together.take().unwrap());
        assert!(together.take().is_none());
        for account in [&mut at_once, &mut one_by_one] {
            account.settle(30);
        }
        assert_eq!(at_once, one_by_one);
    }

    #[test]
    fn every_cycle_is_charged_once() {
        let mut account = Account::default();
        account.charge(5, 7, Activity::Idle);
        account.charge(9, 0, Activity::Stall(Stall::Credit));
        account.settle(20);
        account.settle(20);
        assert_eq!((account.idle(), account.busy()), (7, 2));
        assert_eq!(account.stalls().collect::<Vec<_>>(), [(Stall::Credit, 11)]);
        assert_eq!(account.total(), 20);
    }

    #[test]
    fn the_numbers_of_the_stalls_are_their_places() {
        for (place, stall) in Stall::ALL.into_iter().enumerate() {
            assert_eq!(stall as usize, place);
            assert_eq!(serde_json::to_value(stall).unwrap(), stall.name());
        }
    }
}
