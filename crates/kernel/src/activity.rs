//! What a unit does with each of its cycles, and the account of them.

use super::probe::Probe;
use serde::Serialize;
use std::{any::Any, cell::OnceCell, collections::VecDeque, fmt};

/// What a unit that could work is waiting for. The set is closed: every cycle of every unit is busy, idle or one of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Stall {
    /// Flow-control credits of the link partner.
    Credit,
    /// A free tag for a read request.
    ReadTags,
    /// Fewer reads outstanding: as many as the engine may have are.
    OutstandingReads,
    /// Room in the read buffer, which reads in flight have taken.
    ReadBuffer,
    /// Room in the link's transmit queue.
    LinkBusy,
    /// The link is in Recovery.
    Recovery,
    /// Room in the replay buffer.
    ReplayFull,
    /// Read data in flight.
    ReadData,
    /// A free entry in the tag queue.
    TagQueueFull,
    /// A verdict that later work depends on.
    AuthDependency,
    /// AES keystream.
    AesBusy,
    /// The GHASH unit.
    GhashBusy,
    /// Room in the quarantine buffer.
    Quarantine,
    /// Device memory.
    HbmBusy,
    /// A place in service of the root complex for a read.
    ReadsInService,
    /// A place in service of the root complex for a write.
    WritesInService,
    /// The CPU cipher.
    HostCipher,
    /// A free staging slot.
    StagingFull,
    /// Fewer pushes in flight: as many as the driver may have are.
    PushesInFlight,
    /// Fewer messages in flight in the copy engine.
    MessagesInFlight,
    /// Fewer stripes in flight in the copy engine.
    StripesInFlight,
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
    /// Other GPUs of a collective.
    Collective,
}

impl Stall {
    /// Every stall, in the order of their numbers.
    pub const ALL: [Self; 27] = [
        Self::Credit,
        Self::ReadTags,
        Self::OutstandingReads,
        Self::ReadBuffer,
        Self::LinkBusy,
        Self::Recovery,
        Self::ReplayFull,
        Self::ReadData,
        Self::TagQueueFull,
        Self::AuthDependency,
        Self::AesBusy,
        Self::GhashBusy,
        Self::Quarantine,
        Self::HbmBusy,
        Self::ReadsInService,
        Self::WritesInService,
        Self::HostCipher,
        Self::StagingFull,
        Self::PushesInFlight,
        Self::MessagesInFlight,
        Self::StripesInFlight,
        Self::Submission,
        Self::Completion,
        Self::Order,
        Self::Aggregate,
        Self::EngineBusy,
        Self::Collective,
    ];

    /// The name as outputs print it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Credit => "credit",
            Self::ReadTags => "read_tags",
            Self::OutstandingReads => "outstanding_reads",
            Self::ReadBuffer => "read_buffer",
            Self::LinkBusy => "link_busy",
            Self::Recovery => "recovery",
            Self::ReplayFull => "replay_full",
            Self::ReadData => "read_data",
            Self::TagQueueFull => "tag_queue_full",
            Self::AuthDependency => "auth_dependency",
            Self::AesBusy => "aes_busy",
            Self::GhashBusy => "ghash_busy",
            Self::Quarantine => "quarantine",
            Self::HbmBusy => "hbm_busy",
            Self::ReadsInService => "reads_in_service",
            Self::WritesInService => "writes_in_service",
            Self::HostCipher => "host_cipher",
            Self::StagingFull => "staging_full",
            Self::PushesInFlight => "pushes_in_flight",
            Self::MessagesInFlight => "messages_in_flight",
            Self::StripesInFlight => "stripes_in_flight",
            Self::Submission => "submission",
            Self::Completion => "completion",
            Self::Order => "order",
            Self::Aggregate => "aggregate",
            Self::EngineBusy => "engine_busy",
            Self::Collective => "collective",
        }
    }
}

/// What a unit is during a cycle. It is the place of these cycles in an account, in one byte: kernels compare it at every tick.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Activity(u8);

#[expect(non_upper_case_globals, non_snake_case, reason = "they read as what they are: alternatives")]
impl Activity {
    const COUNT: usize = 2 + Stall::ALL.len();

    /// The unit has no work in this cycle.
    pub const Idle: Self = Self(Stall::ALL.len() as u8);
    /// The unit works in this cycle.
    pub const Busy: Self = Self(Stall::ALL.len() as u8 + 1);

    /// The unit has work and waits, by cause.
    #[must_use]
    #[inline(always)]
    pub const fn Stall(stall: Stall) -> Self {
        Self(stall as u8)
    }

    /// What it waits for, if it does.
    #[must_use]
    #[inline]
    pub fn stall(self) -> Option<Stall> {
        Stall::ALL.get(self.index()).copied()
    }

    /// The name as outputs print it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.stall().map_or(if self == Self::Busy { "busy" } else { "idle" }, Stall::name)
    }

    /// Its place in an account.
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

    /// Whether somebody hears what is charged.
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

    /// What has been charged since an earlier state of this account.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut since = self.clone();
        since.cycles.iter_mut().zip(&earlier.cycles).for_each(|(now, then)| *now -= *then);
        since
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
            let waits = Activity::Stall(stall);
            assert_eq!((waits.stall(), waits.name()), (Some(stall), stall.name()));
            assert_eq!(format!("{waits:?}"), format!("Stall({stall:?})"));
        }
        let others = [Activity::Idle, Activity::Busy];
        assert_eq!(others.map(|other| (other.stall(), other.name())), [(None, "idle"), (None, "busy")]);
        assert_eq!(format!("{others:?}"), "[Idle, Busy]");
    }
}
