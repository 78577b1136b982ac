//! Queues, tags, gauges and registers as waves (FST), which GTKWave and Surfer open.
//!
//! | signal | of | shows |
//! | --- | --- | --- |
//! | `count`, `valid`, `ready` | each queue | items in it; whether there is one; whether there is room |
//! | `head` | each queue | the word of its oldest item in the event digest |
//! | `computed_tag`, `fetched_tag` | each wire of tags | the last tag that came, its first 128 bits; all zeros in a run without bytes |
//! | a gauge's name | each gauge of a unit | its value: credits left, entries, bytes |
//! | a register's name | the engine of each PCE, below its path | its value while a message is [shown](Waves::with_engines), unknown before and after |
//!
//! The hierarchy is that of the paths of units and channels. Times are ps.

mod engines;
mod file;
mod standalone;

use super::{
    Window,
    registers::{Followed, Name},
};
use crate::{
    gpu::work::TagReport,
    sim::{ChannelTransfer, Digest, Listener, Place, Places},
    units::Femtos,
};
pub use engines::EngineOf;
use engines::{Change as Shift, Engines};
use file::{Header, Signal, Values, named};
use fst_writer::FstWriteError;
pub use standalone::EngineWaves;
use std::{
    any::Any,
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap, VecDeque},
    io,
    path::{Path, PathBuf},
};

/// Bits of a word, of a tag and of a gauge.
const WORD: u32 = 64;
const TAG: u32 = 128;
const GAUGE: u32 = 32;
/// The exponent of a time unit.
const PICOSECOND: i8 = -12;

/// Where a queue's signals are, and what it holds.
#[derive(Debug)]
struct Queue {
    first: usize,
    depth: usize,
    words: VecDeque<u64>,
}

#[derive(Debug)]
enum Shown {
    Queue(Queue),
    /// Computed and fetched tag, from this signal on.
    Tags(usize),
}

/// A change that lies ahead: when, its number, the signal, the value.
type Change = Reverse<(u64, u64, usize, Option<u128>)>;

/// What there is to say of waves that have been written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    pub digest: u64,
    /// Messages whose registers were worked out, engine by engine.
    pub followed: Vec<Followed>,
    /// Registers that held a value and have no signal: none, or the survey of the engine has left some out.
    pub unknown: Vec<Name>,
}

pub struct Waves {
    shown: PathBuf,
    window: Window,
    signals: Vec<Signal>,
    channels: BTreeMap<usize, Shown>,
    /// The signal of the first gauge.
    gauges: usize,
    engines: Option<Engines>,
    ahead: BinaryHeap<Change>,
    changes: u64,
    header: Option<Header>,
    values: Option<Values>,
    /// The last instant that was heard of, in fs.
    latest: u64,
    digest: Digest,
    trouble: Option<io::Error>,
}

impl Waves {
    /// Writes to a file at `path` what lies in a window.
    pub fn create(path: &Path, window: Window) -> io::Result<Self> {
        let header = file::create(path, PICOSECOND)?;
        Ok(Self {
            shown: path.to_owned(),
            window,
            signals: Vec::new(),
            channels: BTreeMap::new(),
            gauges: 0,
            engines: None,
            ahead: BinaryHeap::new(),
            changes: 0,
            header: Some(header),
            values: None,
            latest: 0,
            digest: Digest::default(),
            trouble: None,
        })
    }

    /// Whether the file cannot be written any more.
    pub const fn in_trouble(&self) -> bool {
        self.trouble.is_some()
    }

    /// Shows the registers of engines in PCEs as well: in a run with bytes those of one message, by its number in the run from 0; without a number those of
    /// message 0, or of all messages in a window. `of` gives the engine of a PCE.
    pub fn with_engines(mut self, of: EngineOf, message: Option<u64>) -> Self {
        self.engines = Some(Engines::new(of, message, self.window));
        self
    }

    pub fn close(mut self) -> io::Result<Closed> {
        let mut shifts = Vec::new();
        self.engines.iter_mut().for_each(|engines| engines.finish(&mut shifts));
        self.plan(shifts);
        while let Some(Reverse((time, _, signal, value))) = self.ahead.pop() {
            self.set(signal, time, value);
        }
        if let Err(error) = self.end() {
            self.fail(error);
        }
        if let Some(error) = self.trouble {
            return Err(error);
        }
        if let Some(values) = self.values {
            values.finish(&self.shown)?;
        }
        let (followed, unknown) =
            self.engines.map_or_else(Default::default, |engines| (engines.followed(), engines.unknown()));
        Ok(Closed { digest: self.digest.value(), followed, unknown })
    }

    /// Lets the waves reach to the end of the run or of the window.
    fn end(&mut self) -> Result<(), FstWriteError> {
        let end = self.latest.min(self.window.to.0).max(self.window.from.0) / 1_000;
        self.begun().map_or(Ok(()), |values| values?.reach(end))
    }

    /// What values are written to. Where the window begins all signals have the values that they had.
    fn begun(&mut self) -> Option<Result<&mut Values, FstWriteError>> {
        let values = self.values.as_mut()?;
        Some(values.begin(&self.signals, self.window.from.picos()).map(|()| values))
    }

    fn signal(&mut self, scope: &str, name: &str, bits: u32) -> usize {
        let value = Some(u128::from(name == "ready"));
        self.signals.push(Signal { scope: scope.to_owned(), name: name.to_owned(), bits, value });
        self.signals.len() - 1
    }

    /// A signal's value from a time on. Times do not fall.
    fn set(&mut self, signal: usize, time: u64, value: Option<u128>) {
        if self.signals[signal].value == value {
            return;
        }
        let inside = self.window.holds(Femtos(time));
        if inside && let Some(Err(error)) = self.begun() {
            self.fail(error);
        }
        self.signals[signal].value = value;
        if inside && let Err(error) = self.write(signal, time / 1_000) {
            self.fail(error);
        }
    }

    fn write(&mut self, signal: usize, picos: u64) -> Result<(), FstWriteError> {
        let Some(values) = &mut self.values else { return Ok(()) };
        let one = &self.signals[signal];
        values.write(signal, one, picos)?;
        let word = one.value.map_or(u64::MAX, |value| value as u64 ^ (value >> 64) as u64);
        self.digest.add(picos, (signal as u64) << 48 ^ word);
        Ok(())
    }

    /// Changes of registers that lie ahead.
    fn plan(&mut self, shifts: Vec<Shift>) {
        for (time, signal, value) in shifts {
            self.changes += 1;
            self.ahead.push(Reverse((time.0, self.changes, signal, value)));
        }
    }

    fn fail(&mut self, error: FstWriteError) {
        self.values = None;
        self.trouble.get_or_insert(named(&self.shown, error));
    }

    /// Makes the changes that were ahead and are due.
    fn reach(&mut self, time: u64) {
        self.latest = self.latest.max(time);
        if let Some(engines) = &mut self.engines {
            let mut shifts = Vec::new();
            engines.reach(Femtos(time), &mut shifts);
            self.plan(shifts);
        }
        while let Some(Reverse((due, _, signal, value))) = self.ahead.peek().copied() {
            if due > time {
                break;
            }
            self.ahead.pop();
            self.set(signal, due, value);
        }
    }

    fn queue(&mut self, channel: usize, time: Femtos) {
        let Some(Shown::Queue(Queue { first, depth, words })) = self.channels.get(&channel) else { return };
        let (first, count, head) = (*first, words.len(), words.front().copied().unwrap_or(0));
        let values = [count as u128, u128::from(count > 0), u128::from(count < *depth), head.into()];
        for (place, value) in values.into_iter().enumerate() {
            self.set(first + place, time.0, Some(value));
        }
    }

    fn tag(&mut self, channel: usize, date: Femtos, report: &TagReport) {
        let Some(Shown::Tags(first)) = self.channels.get(&channel) else { return };
        let signal = first + usize::from(!report.computed);
        let mut bytes = [0; 16];
        let tag = report.tag.iter().flatten();
        bytes.iter_mut().zip(tag).for_each(|(place, byte)| *place = *byte);
        self.changes += 1;
        self.ahead.push(Reverse((date.0, self.changes, signal, Some(u128::from_be_bytes(bytes)))));
    }
}

impl Listener for Waves {
    fn begin(&mut self, places: &Places) {
        for (number, channel) in places.channels.iter().enumerate() {
            let shown = match channel.depth {
                Some(depth) => {
                    let first = self.signal(&channel.path, "count", usize::BITS - depth.leading_zeros());
                    self.signal(&channel.path, "valid", 1);
                    self.signal(&channel.path, "ready", 1);
                    self.signal(&channel.path, "head", WORD);
                    Shown::Queue(Queue { first, depth, words: VecDeque::new() })
                }
                None if channel.item == "TagReport" => {
                    let first = self.signal(&channel.path, "computed_tag", TAG);
                    self.signal(&channel.path, "fetched_tag", TAG);
                    Shown::Tags(first)
                }
                None => continue,
            };
            self.channels.insert(number, shown);
        }
        self.gauges = self.signals.len();
        for (unit, name) in &places.gauges {
            // A viewer finds nothing by a path that is a scope and a signal.
            let is_scope = places.channels.iter().any(|channel| channel.path == format!("{}.{name}", unit.name));
            let shown = if is_scope { format!("{name}_held") } else { (*name).to_string() };
            self.signal(&unit.name, &shown, GAUGE);
        }
        if let Some(mut engines) = self.engines.take() {
            engines.begin(places, &mut |scope, name| {
                let signal = self.signal(scope, name, TAG);
                self.signals[signal].value = None;
                signal
            });
            self.engines = Some(engines);
        }
        match self.header.take().map(|header| file::describe(header, &self.signals)) {
            Some(Ok(values)) => self.values = Some(values),
            Some(Err(error)) => self.fail(error),
            None => {}
        }
    }

    fn hears(&self, place: Place<'_>) -> bool {
        let own = match place {
            Place::Channel(channel) => channel.depth.is_some() || channel.item == "TagReport",
            Place::Gauge(..) => true,
            Place::Account(_) => false,
        };
        own || self.engines.as_ref().is_some_and(|engines| engines.hears(place))
    }

    fn passed(&mut self, transfer: ChannelTransfer<'_>) {
        let ChannelTransfer { channel, sent, date, key, item } = transfer;
        self.reach(sent.0);
        self.engines.iter_mut().for_each(|engines| engines.passed(transfer));
        if let Some(report) = item.downcast_ref::<TagReport>() {
            self.tag(channel, date, report);
        } else if let Some(Shown::Queue(queue)) = self.channels.get_mut(&channel) {
            queue.words.push_back(key);
            self.queue(channel, sent);
        }
    }

    fn taken(&mut self, channel: usize, time: Femtos) {
        self.reach(time.0);
        self.engines.iter_mut().for_each(|engines| engines.taken(channel, time));
        if let Some(Shown::Queue(queue)) = self.channels.get_mut(&channel) {
            queue.words.pop_front();
            self.queue(channel, time);
        }
    }

    fn level(&mut self, gauge: usize, time: Femtos, value: u64) {
        self.reach(time.0);
        self.set(self.gauges + gauge, time.0, Some(value.into()));
    }

    fn entered(&mut self, account: usize, cycle: u64, input: &dyn Any) {
        self.engines.iter_mut().for_each(|engines| engines.entered(account, cycle, input));
    }
}
