//! Why a run took as long as it took, and what would limit it if the first cause took no time.

use super::what_if;
use crate::{
    config::{MachineSpec, Resolved},
    observe::{
        Listeners,
        messages::{Message, Tracker},
        path::{Path, Recorder, TooLong},
    },
    sim::Control,
    system::{self, Outcome, Request, RunError},
    units::Femtos,
};
use std::{cell::RefCell, rc::Rc};
use thiserror::Error;

#[derive(Debug, Error)]
pub enum ExplainError {
    #[error(transparent)]
    Run(#[from] RunError),
    /// It passes too much.
    #[error(transparent)]
    TooLong(#[from] TooLong),
    #[error("no message {asked}: the run has {count}, numbered from 1")]
    NoMessage { asked: String, count: usize },
}

/// A run and what led to its end.
pub struct Observed {
    pub outcome: Outcome,
    pub path: Path,
    /// Its messages, by when they begin.
    pub messages: Vec<Message>,
    record: Recorder,
}

/// A run that can be repeated.
pub type Repeat<'r> = &'r dyn Fn() -> Result<Request, RunError>;

pub fn observe(
    machine: &MachineSpec,
    request: Request,
    observer: &mut dyn FnMut(Femtos) -> Control,
) -> Result<Observed, ExplainError> {
    let record = Rc::new(RefCell::new(Recorder::default()));
    let tracker = Rc::new(RefCell::new(Tracker::default()));
    let mut listeners = Listeners::default();
    listeners.add(Rc::<RefCell<Recorder>>::clone(&record));
    listeners.add(Rc::<RefCell<Tracker>>::clone(&tracker));
    let full = Rc::clone(&record);
    let mut until_full = |now| if full.borrow().is_full() { Control::Stop } else { observer(now) };
    let outcome = system::run_with_listener(machine, request, &listeners.listener(), &mut until_full);
    let record = record.take().ended()?;
    let outcome = outcome?;
    let messages = tracker.borrow_mut().take_all();
    let path = path_to_end(&record, machine, &outcome);
    Ok(Observed { outcome, path, messages, record })
}

/// The path from the beginning of a run to its end: that of the driver whose copy ended last.
pub fn path_to_end(record: &Recorder, machine: &MachineSpec, outcome: &Outcome) -> Path {
    let gpu = last(outcome).map_or(0, |place| outcome.copies[place].gpu);
    let driver = if machine.gpus() > 1 { format!("host{gpu}.driver") } else { "host.driver".to_owned() };
    record.path(&driver, outcome.end, Femtos(0)).unwrap_or_default()
}

/// The place of the copy that ended last.
pub fn last(outcome: &Outcome) -> Option<usize> {
    (0..outcome.copies.len()).max_by_key(|place| outcome.copies[*place].end)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// By its number, from 1.
    Number(u64),
    /// The one that took longest.
    Slowest,
    /// The one that was in progress then and began last.
    At(Femtos),
}

impl Observed {
    /// A message and the path from its beginning to its end.
    pub fn message(&self, which: Which) -> Result<(&Message, Path), ExplainError> {
        let time = |message: &&Message| message.end().saturating_sub(message.start);
        let found = match which {
            Which::Number(number) => self.messages.iter().find(|message| message.id + 1 == number),
            Which::Slowest => self.messages.iter().max_by_key(time),
            Which::At(at) => self.messages.iter().rev().find(|message| message.start <= at && at <= message.end()),
        };
        let asked = match which {
            Which::Number(number) => number.to_string(),
            Which::Slowest => "is the slowest".to_owned(),
            Which::At(at) => format!("under way at {at}"),
        };
        let none = || ExplainError::NoMessage { asked, count: self.messages.len() };
        let message = found.filter(|message| !message.stages.is_empty()).ok_or_else(none)?;
        let unit = message.stages.last().map_or(0, |step| step.unit);
        Ok((message, self.record.path_of(unit, message.end(), message.start)))
    }
}

/// The same run with the parameter freed that gains most.
pub struct Freed {
    pub parameter: String,
    /// Its value, and what it was relaxed to.
    pub values: [String; 2],
    pub then: Observed,
}

/// Runs again with what limits the copy that ended last as good as free; none if no parameter alone limits it.
pub fn free_first(
    machine: &Resolved,
    observed: &Observed,
    repeat: Repeat<'_>,
    observer: &mut dyn FnMut(Femtos) -> Control,
) -> Result<Option<Freed>, ExplainError> {
    let Some(last) = last(&observed.outcome) else { return Ok(None) };
    let limit = what_if::measure(machine, &|_| repeat(), last, 1, &mut || observer(Femtos::ZERO))?;
    let first = limit.best.into_iter().next();
    let Some((parameter, (freed, values))) =
        first.and_then(|one| Some((one.parameter.clone(), what_if::freed(machine, &one.parameter)?)))
    else {
        return Ok(None);
    };
    let then = observe(&freed.machine, repeat()?, observer)?;
    Ok(Some(Freed { parameter, values, then }))
}
