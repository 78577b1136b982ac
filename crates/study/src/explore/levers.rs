//! What can be done about a run without another GPU, tried: the changes that `sealsim replay --what-if` knows, as far as copies can be made so, and
//! the shipped designs of the host alone. A designer's limits are [`super::what_if`].

use super::{
    explain,
    what_if::{self, LimitedBy},
};
use crate::{
    config::{Resolved, Role, Shipped},
    observe::messages::Message,
    sim::Control,
    system::{self, Direction, Memory, Outcome, Pages, RunError},
    workload::{Copy, Workload, WorkloadStep, collective::CollectiveTimes},
};
use sealsim_workload::replay::{CHANGES, software};
use serde::Serialize;

/// A gain below this, in percent, is none.
pub const LEAST: f64 = 1.0;

/// Longer copies are tried at this length first, and at their own unless that loses so many percent.
const SCREENED: u64 = 8 << 20;
const LOST: f64 = -10.0;

/// A lever, and what it came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Lever {
    /// As `sealsim replay --what-if` takes it, or a design.
    pub name: String,
    /// What would be done.
    pub what: String,
    /// The options of the command that do it; none where no option does.
    pub how: Option<String>,
    /// All bytes over the time of all copies.
    pub gb_per_s: f64,
    /// How much faster the run then was, in percent.
    pub gain_percent: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Off {
    pub time_ps: u64,
    pub gb_per_s: f64,
    /// How often as long the run takes with confidential computing.
    pub slowdown: f64,
}

/// What further runs show of one that is complete.
#[derive(Debug, Clone, Default)]
pub struct Answers {
    pub off: Option<Off>,
    pub earlier_library: Option<Lever>,
    pub levers: Vec<Lever>,
    /// The first message of the copy that ended last, as if that were alone.
    pub first: Option<Message>,
    /// The place of that copy, and what limited it.
    pub limit: Option<(usize, LimitedBy)>,
}

/// Runs of more bytes in all are asked only what limited them, and so are those with collectives.
pub const MOST_BYTES: u64 = 64 << 20;
/// The first message does not depend on what comes after so many bytes.
const BEGINNING: u64 = 4 << 20;

/// What CC costs a run, what can be done about it, where its time goes, and what limited the copy that ended last: `most` parameters, or as many as are
/// quick; if that is none, nothing is asked, nor of a run with faults. Unless `all`, only what limited it is. If a run fails, what was found before stays.
pub fn answer(
    into: &mut Answers,
    done: Done<'_>,
    (most, all): (Option<usize>, bool),
    collectives: &CollectiveTimes,
    go_on: &dyn Fn() -> Control,
) -> Result<(), RunError> {
    let Done { machine, workload, outcome } = done;
    let most = what_if::asked(workload, outcome, most);
    let Some(last) = explain::last(outcome).filter(|_| most > 0) else { return Ok(()) };
    if all && workload.bytes() <= MOST_BYTES && collectives.iter().next().is_none() {
        into.off = off(done, go_on)?;
        into.earlier_library = earlier_library(done, go_on)?;
        into.levers = levers(done, go_on)?;
        into.first = first_message(done, last, go_on)?;
    }
    let repeat = |most| workload.only_timing(most).unwatched(collectives);
    into.limit = Some((last, what_if::measure(machine, &repeat, last, most, &mut || go_on())?));
    Ok(())
}

fn first_message(
    Done { machine, workload, .. }: Done<'_>,
    last: usize,
    go_on: &dyn Fn() -> Control,
) -> Result<Option<Message>, RunError> {
    let alone = Workload::timed(vec![workload.copies[last]], None).only_timing(BEGINNING);
    let request = alone.unwatched(&CollectiveTimes::default())?;
    match explain::observe(&machine.machine, request, &mut |_| go_on()) {
        // One that is longer is not seen whole.
        Ok(observed) => Ok(observed.messages.into_iter().next().filter(|message| message.bytes < BEGINNING)),
        Err(explain::ExplainError::Run(error)) => Err(error),
        Err(_) => Ok(None),
    }
}

/// A lever that a machine and a workload have.
struct Try {
    name: String,
    what: String,
    how: Option<String>,
    machine: Option<Resolved>,
    /// The change of the program, by name.
    program: Option<&'static str>,
}

/// A run that is complete, which may be repeated.
#[derive(Clone, Copy)]
pub struct Done<'d> {
    pub machine: &'d Resolved,
    pub workload: &'d Workload,
    pub outcome: &'d Outcome,
}

/// How long a run took, in fs: of copies alone to the end of the last. None if not all was delivered.
fn length(workload: &Workload, outcome: &Outcome) -> Option<u64> {
    let last = || outcome.copies.iter().map(|copy| copy.end).max();
    let end = if workload.steps.is_some() { outcome.end } else { last()? };
    outcome.copies.iter().all(|copy| copy.delivered).then_some(end.0.max(1))
}

/// The same of a run without bytes.
fn time(machine: &Resolved, workload: &Workload, go_on: &dyn Fn() -> Control) -> Result<Option<u64>, RunError> {
    let request = workload.unwatched(&CollectiveTimes::default())?;
    match system::run(&machine.machine, request, &mut |_| go_on()) {
        Err(RunError::Build(_)) => Ok(None),
        outcome => Ok(length(workload, &outcome?)),
    }
}

fn rate(workload: &Workload, femtos: u64) -> f64 {
    workload.bytes() as f64 / femtos as f64 * 1e6
}

/// How long a run took, and how long it takes on another machine.
fn both(done: Done<'_>, other: &Resolved, go_on: &dyn Fn() -> Control) -> Result<Option<(u64, u64)>, RunError> {
    let then = time(other, &done.workload.only_timing(u64::MAX), go_on)?;
    Ok(length(done.workload, done.outcome).zip(then))
}

/// The run without confidential computing; none if the machine has that off, or cannot do without it.
fn off(done: Done<'_>, go_on: &dyn Fn() -> Control) -> Result<Option<Off>, RunError> {
    let plain = done.machine.with(&["confidential_computing=false".to_owned()]);
    let Some(plain) = plain.ok().filter(|_| done.machine.machine.confidential_computing) else { return Ok(None) };
    Ok(both(done, &plain, go_on)?.map(|(own, plain)| Off {
        time_ps: plain / 1000,
        gb_per_s: rate(done.workload, plain),
        slowdown: own as f64 / plain as f64,
    }))
}

/// The same run with the earlier path of OpenSSL, where the rates are those of the later one and no layer says which the host has.
fn earlier_library(done: Done<'_>, go_on: &dyn Fn() -> Control) -> Result<Option<Lever>, RunError> {
    let machine = done.machine;
    let with = |library: &str| machine.with(&[format!("cipher.library={library}")]).ok();
    let rates = |of: &Resolved| (of.machine.cipher.seal_rate, of.machine.cipher.open_rate);
    let named = machine.machine.cipher.library.is_some() || !machine.machine.sealed_path();
    let later = with("openssl-3.1").is_some_and(|later| rates(&later) == rates(machine));
    let Some(earlier) = with("openssl-3.0").filter(|_| later && !named) else { return Ok(None) };
    Ok(both(done, &earlier, go_on)?.map(|(own, then)| Lever {
        name: "openssl-3.0".to_owned(),
        what: "the guest has an OpenSSL before 3.1.0".to_owned(),
        how: Some("--set cipher.library=openssl-3.0".to_owned()),
        gb_per_s: rate(done.workload, then),
        gain_percent: (own as f64 / then as f64 - 1.0) * 100.0,
    }))
}

/// Every lever that the run has, tried, the best first.
fn levers(Done { machine, workload, outcome }: Done<'_>, go_on: &dyn Fn() -> Control) -> Result<Vec<Lever>, RunError> {
    let whole = workload.only_timing(u64::MAX);
    let Some(own) = length(&whole, outcome) else { return Ok(Vec::new()) };
    let short = workload.only_timing(SCREENED);
    let mut lengths = vec![(&whole, own)];
    if short != whole {
        let Some(own) = time(machine, &short, go_on)? else { return Ok(Vec::new()) };
        lengths.insert(0, (&short, own));
    }
    let mut found: Vec<Lever> = Vec::new();
    for Try { name, what, how, machine: other, program } in all(machine, workload) {
        let mut last = None;
        for (before, own) in &lengths {
            let changed = program.and_then(|name| changed(name, before));
            let Some(then) = time(other.as_ref().unwrap_or(machine), changed.as_ref().unwrap_or(before), go_on)? else {
                break;
            };
            let gain_percent = (*own as f64 / then as f64 - 1.0) * 100.0;
            last = Some((rate(before, then), gain_percent));
            if gain_percent < LOST {
                break;
            }
        }
        found.extend(last.map(|(gb_per_s, gain_percent)| Lever { name, what, how, gb_per_s, gain_percent }));
    }
    found.sort_by(|one, other| other.gain_percent.total_cmp(&one.gain_percent));
    Ok(found)
}

/// What there is to be tried.
fn all(machine: &Resolved, workload: &Workload) -> Vec<Try> {
    let changes = CHANGES.iter().filter_map(|&(name, what, _)| {
        let settings = software(name, machine).filter(|_| machine.machine.sealed_path()).map(|(mut settings, _)| {
            settings.retain(|setting| is_used(setting, workload));
            settings
        });
        let (how, machine, program) = match settings {
            Some(settings) => (Some(as_options("--set", &settings)), Some(machine.with(&settings).ok()?), None),
            None => {
                let changed = changed(name, workload)?;
                let copies = changed.copies.iter().map(Copy::to_string).collect::<Vec<_>>();
                let said = copies.len() == 1 && changed.steps.is_none();
                (said.then(|| as_options("--copy", &copies)), None, Some(name))
            }
        };
        Some(Try { name: name.to_owned(), what: what.to_owned(), how, machine, program })
    });
    let designs = Shipped::copy_designs().filter_map(|name| {
        let shipped = Shipped::find(Role::Design, name).filter(|shipped| shipped.is_of_host())?;
        let with = machine.with_design(name).ok()?;
        // Where the user seals, the question is another one.
        let same = with.machine.cipher.work == machine.machine.cipher.work && with.digest != machine.digest;
        let (what, how) = (shipped.summary(), Some(format!("--design {name}")));
        let machine = Some(with).filter(|_| same && machine.machine.sealed_path())?;
        Some(Try { name: name.to_owned(), what, how, machine: Some(machine), program: None })
    });
    changes.chain(designs).collect()
}

/// Whether a setting is of no kind of memory, or of one that is copied.
fn is_used(setting: &str, workload: &Workload) -> bool {
    let copied = |memory| workload.copies.iter().any(|copy| copy.memory == memory);
    let kinds = [(".pinned.", Memory::Pinned), (".pageable.", Memory::Pageable)];
    kinds.into_iter().all(|(kind, memory)| !setting.contains(kind) || copied(memory))
}

fn as_options(option: &str, values: &[String]) -> String {
    values.iter().map(|value| format!("{option} {value}")).collect::<Vec<_>>().join(" ")
}

/// The workload with a change of the program made; none if it has nothing that it changes.
fn changed(name: &str, workload: &Workload) -> Option<Workload> {
    let mut changed = workload.only_timing(u64::MAX);
    match name {
        "pinned" => move_to(&mut changed.copies, Memory::Pinned),
        "pageable" => move_to(&mut changed.copies, Memory::Pageable),
        "batch" if workload.steps.is_none() => {
            changed.copies.dedup_by(|next, first| {
                let alike = (next.gpu, next.direction, next.memory) == (first.gpu, first.direction, first.memory);
                first.bytes = first.bytes.saturating_add(if alike { next.bytes } else { 0 });
                alike
            });
        }
        "second-stream" => changed.steps = apart(workload),
        _ => return None,
    }
    (changed.copies != workload.copies || changed.steps != workload.steps).then_some(changed)
}

fn move_to(copies: &mut [Copy], memory: Memory) {
    copies.iter_mut().filter(|copy| copy.direction != Direction::D2d).for_each(|copy| copy.memory = memory);
}

/// Steps with uploads on a stream of their own, for which what came behind them waits; of copies alone, each direction on its own.
fn apart(workload: &Workload) -> Option<Vec<WorkloadStep>> {
    let copies = &workload.copies;
    let Some(steps) = &workload.steps else {
        let mixed = copies.iter().any(|copy| copy.direction != copies[0].direction);
        let step = |copy: &Copy| WorkloadStep::Copy {
            gpu: copy.gpu,
            stream: format!("{:?}", copy.direction),
            buffer: None,
            pages: Pages::Warm,
            blocking: false,
        };
        return mixed.then(|| copies.iter().map(step).collect());
    };
    let mut directions = copies.iter().map(|copy| copy.direction);
    let mut apart = Vec::new();
    for step in steps {
        let WorkloadStep::Copy { gpu, stream, .. } = step else {
            apart.push(step.clone());
            continue;
        };
        let mut upload = step.clone();
        if directions.next() == Some(Direction::H2d)
            && let WorkloadStep::Copy { stream: own, .. } = &mut upload
        {
            *own = format!("uploads of {stream}");
            let (gpu, event) = (*gpu, format!("upload {}", apart.len()));
            let record = WorkloadStep::Record { gpu, stream: own.clone(), event: event.clone() };
            apart.extend([upload, record, WorkloadStep::Wait { gpu, stream: stream.clone(), event }]);
        } else {
            apart.push(upload);
        }
    }
    Some(apart)
}
