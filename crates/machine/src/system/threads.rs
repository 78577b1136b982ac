//! The root complexes of a machine over several threads.
//!
//! What is below different root complexes shares no channel, and what their sessions share on the host is [worked out](super::session) before the run. So a
//! run without bytes is split: each thread simulates a group of root complexes as a netlist of its own. A group whose work is done waits for the others,
//! then goes on to the end of the last: credit updates and timers run until then, as they would in one netlist.
//!
//! Whatever goes wrong in a group is left to one netlist of the whole machine, so that the error does not depend on the threads.

use super::{
    asked::Asked,
    machine::{System, plan},
    onlooker::Onlooker,
    outcome::RunError,
    portion::Portion,
    request::{CopyRequest, Request, Step},
    simulate::simulate,
    topology::{Root, roots},
};
use crate::{
    config::MachineSpec,
    host::CopyPlan,
    sim::{Control, Kernel, Netlist, Observer, Order, SimulationError},
    units::Femtos,
};
use std::{
    num::NonZero,
    panic::resume_unwind,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    thread::{self, ScopedJoinHandle},
    time::Duration,
};

/// Between two questions to the observer.
const POLL_EVERY: Duration = Duration::from_millis(50);

/// Bytes of a thread's stack: as many as a program's first has.
const STACK: usize = 8 << 20;

/// The root complexes that each of several threads simulates, with about as many bytes to copy for each; none if one thread is to simulate all.
pub(super) fn groups(
    machine: &MachineSpec,
    request: &Request,
    threads: Option<NonZero<usize>>,
) -> Option<Vec<Vec<Root>>> {
    let mut bytes = vec![0; machine.gpus()];
    for copy in &request.copies {
        *bytes.get_mut(copy.gpu)? += u128::from(copy.bytes);
    }
    let roots = roots(machine);
    let shares: Vec<_> = roots.iter().map(|root| root.gpus().map(|gpu| bytes[gpu]).sum::<u128>()).collect();
    let at_work = shares.iter().filter(|share| **share > 0).count();
    if request.carries_bytes() || at_work < 2 {
        return None;
    }
    let threads = threads.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZero::get);
    let groups = split(roots, &shares, threads.min(at_work));
    (groups.len() > 1).then_some(groups)
}

/// Splits roots, in their order, into so many groups at most: each goes where the middle of its share of all bytes lies.
fn split(roots: Vec<Root>, shares: &[u128], groups: usize) -> Vec<Vec<Root>> {
    let (mut before, total) = (0, shares.iter().sum::<u128>().max(1));
    let mut split = vec![Vec::new(); groups];
    for (root, share) in roots.into_iter().zip(shares) {
        let group = (2 * before + share) * groups as u128 / (2 * total);
        split[(group as usize).min(groups - 1)].push(root);
        before += share;
    }
    split.retain(|group| !group.is_empty());
    split
}

/// A request without bytes, as threads share it.
struct Blind {
    /// With the numbers of their GPUs.
    copies: Vec<(usize, CopyPlan)>,
    program: Vec<Step>,
    seed: u64,
    kernel: Kernel,
    order: Order,
    answers: bool,
}

impl Blind {
    fn of(request: &Request) -> Self {
        Self {
            copies: request.copies.iter().map(|copy| (copy.gpu, plan(copy))).collect(),
            program: request.program.clone(),
            seed: request.seed,
            kernel: request.kernel,
            order: request.order,
            answers: request.answers,
        }
    }

    /// The request, whose copies have no sources.
    fn request(&self) -> Request {
        let copy = |&(gpu, CopyPlan { direction, bytes, memory, buffer, buffer_bytes, pages }): &(usize, CopyPlan)| {
            let source = Box::new(Vec::new());
            let (bytes, buffer_bytes) = (bytes.0, buffer_bytes.0);
            CopyRequest { gpu, direction, bytes, memory, buffer, buffer_bytes, pages, source, sink: None }
        };
        let Self { seed, kernel, order, answers, .. } = *self;
        let (copies, program) = (self.copies.iter().map(copy).collect(), self.program.clone());
        Request { copies, program, seed, kernel, order, answers, ..Request::none() }
    }
}

/// How far the threads of a run are.
struct Meeting {
    /// By group: its simulated time; the greatest date from when its work is done until it goes on.
    times: Vec<AtomicU64>,
    /// Units of all netlists so far.
    units: AtomicUsize,
    /// Whether all are to give up.
    over: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// Threads that have not ended.
    present: usize,
    /// Groups whose work is not done.
    working: usize,
    /// When the last work was done so far.
    latest: Femtos,
}

impl Meeting {
    fn of(groups: usize) -> Self {
        let state = State { present: groups, working: groups, latest: Femtos(0) };
        Self {
            times: (0..groups).map(|_| AtomicU64::new(0)).collect(),
            units: AtomicUsize::new(0),
            over: AtomicBool::new(false),
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Makes all threads end soon.
    fn give_up(&self) {
        let _state = self.lock();
        self.over.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// The work of a group is done: waits until that of all is; gives when the last was.
    fn done(&self, at: Femtos) -> Femtos {
        let mut state = self.lock();
        state.working -= 1;
        state.latest = state.latest.max(at);
        self.changed.notify_all();
        let others = |state: &mut State| state.working > 0 && !self.over();
        self.changed.wait_while(state, others).unwrap_or_else(PoisonError::into_inner).latest
    }

    /// Asks the observer now and then until all threads have ended; gives when it said to stop, if it did.
    fn watch(&self, observer: &mut dyn FnMut(Femtos) -> Control) -> Option<Femtos> {
        let (mut now, mut stopped) = (Femtos(0), None);
        let mut state = self.lock();
        loop {
            let waited = self.changed.wait_timeout_while(state, POLL_EVERY, |state| state.present > 0);
            let (left, result) = waited.unwrap_or_else(PoisonError::into_inner);
            if !result.timed_out() {
                return stopped;
            }
            drop(left);
            let times = self.times.iter().map(|time| time.load(Ordering::Relaxed));
            now = times.filter(|time| *time < u64::MAX).min().map_or(now, |least| now.max(Femtos(least)));
            if stopped.is_none() && observer(now) == Control::Stop {
                stopped = Some(now);
                self.give_up();
            }
            state = self.lock();
        }
    }
}

/// A thread at the meeting.
struct Member<'m> {
    meeting: &'m Meeting,
    group: usize,
    /// Whether its group has come to the common end.
    ended: bool,
}

impl Member<'_> {
    fn note(&self, time: u64) {
        self.meeting.times[self.group].store(time, Ordering::Relaxed);
    }
}

impl Observer for Member<'_> {
    fn at(&mut self, time: Femtos) -> Control {
        self.note(time.0);
        if self.meeting.over() { Control::Stop } else { Control::Continue }
    }

    fn stopped(&mut self, at: Femtos) -> Femtos {
        self.note(u64::MAX);
        self.meeting.done(at)
    }
}

impl Onlooker for Member<'_> {}

impl Drop for Member<'_> {
    /// Whoever ends otherwise than well, or never begins, keeps no other waiting.
    fn drop(&mut self) {
        if !self.ended {
            self.meeting.give_up();
        }
        self.meeting.lock().present -= 1;
        self.meeting.changed.notify_all();
    }
}

/// Simulates each group of root complexes on a thread of its own; none if that cannot be done, for whatever reason.
pub(super) fn apart(
    machine: &MachineSpec,
    request: &Request,
    asked: &[Asked],
    groups: &[Vec<Root>],
    observer: &mut dyn FnMut(Femtos) -> Control,
) -> Result<Option<Vec<Portion>>, RunError> {
    let (meeting, blind) = (&Meeting::of(groups.len()), &Blind::of(request));
    let (ended, stopped) = thread::scope(|scope| {
        let spawn = |(group, roots)| {
            let member = Member { meeting, group, ended: false };
            let work = move || one(machine, roots, blind.request(), asked, member);
            thread::Builder::new().name(format!("group {group}")).stack_size(STACK).spawn_scoped(scope, work)
        };
        let threads: Vec<_> = groups.iter().map(Vec::as_slice).enumerate().map(spawn).collect();
        let stopped = meeting.watch(observer);
        let ended = threads.into_iter().map(|thread| thread.ok().map(ScopedJoinHandle::join));
        (ended.collect::<Vec<_>>(), stopped)
    });
    let portions = ended.into_iter().map(|ended| ended?.unwrap_or_else(|panic| resume_unwind(panic)));
    let portions = portions.collect::<Option<Vec<_>>>();
    match stopped {
        Some(at) => Err(SimulationError::Stopped { at }.into()),
        None => Ok(portions.filter(|_| !meeting.over())),
    }
}

/// Simulates a group; none if it cannot, or another could not.
fn one(
    machine: &MachineSpec,
    roots: &[Root],
    mut request: Request,
    asked: &[Asked],
    mut member: Member<'_>,
) -> Option<Portion> {
    let system = System::below(machine, roots, &mut request).ok()?;
    let units = system.netlist.units().len();
    let before = member.meeting.units.fetch_add(units, Ordering::Relaxed);
    if before + units > Netlist::MOST_UNITS {
        return None;
    }
    let portion = simulate(system, &request, asked, &mut member).ok()?;
    member.ended = true;
    Some(portion)
}

#[cfg(test)]
mod tests {
    use super::{super::topology::Leaf, *};

    /// How many root complexes each group has.
    fn sizes(shares: &[u128], groups: usize) -> Vec<usize> {
        let root = |gpu| Root { number: None, leaves: vec![Leaf::Gpu(gpu)] };
        let groups = split((0..shares.len()).map(root).collect(), shares, groups);
        let gpus = groups.iter().flatten().flat_map(|root| root.gpus().collect::<Vec<_>>());
        assert!(gpus.eq(0..shares.len()));
        groups.iter().map(Vec::len).collect()
    }

    #[test]
    fn groups_have_about_as_many_bytes_each() {
        assert_eq!(sizes(&[5; 8], 2), [4, 4]);
        assert_eq!(sizes(&[5; 8], 3), [3, 2, 3]);
        assert_eq!(sizes(&[5; 3], 8), [1, 1, 1]);
        assert_eq!(sizes(&[1, 1, 1, 9], 2), [3, 1]);
        assert_eq!(sizes(&[0, 9, 0, 1, 1, 0], 2), [2, 4]);
        assert_eq!(sizes(&[u128::from(u64::MAX), 0, 1], 2), [1, 2]);
    }

    /// A thread whose work is done at a date, and which has no trouble.
    fn end(mut member: Member<'_>, at: Femtos) -> Femtos {
        let end = member.stopped(at);
        member.ended = true;
        end
    }

    #[test]
    fn who_is_done_waits_for_the_last() {
        let meeting = &Meeting::of(2);
        let ends = thread::scope(|scope| {
            let each = [Femtos(7), Femtos(3)].into_iter().enumerate();
            let threads = each.map(|(group, at)| {
                let member = Member { meeting, group, ended: false };
                scope.spawn(move || end(member, at))
            });
            let threads: Vec<_> = threads.collect();
            assert_eq!(meeting.watch(&mut |_| Control::Continue), None);
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        assert_eq!((ends, meeting.over()), (vec![Femtos(7); 2], false));
    }

    #[test]
    fn who_fails_keeps_nobody_waiting() {
        let meeting = &Meeting::of(3);
        thread::scope(|scope| {
            let [mut waiting, failing, panicking] = [0, 1, 2].map(|group| Member { meeting, group, ended: false });
            let waits = scope.spawn(move || waiting.stopped(Femtos(5)));
            drop(failing);
            let panics = scope.spawn(move || {
                let _member = panicking;
                resume_unwind(Box::new(()))
            });
            assert_eq!(meeting.watch(&mut |_| Control::Continue), None);
            assert!(waits.join().is_ok() && panics.join().is_err());
        });
        assert!(meeting.over());
    }
}
