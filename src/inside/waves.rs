//! Queues, tags and gauges as waves (FST), which GTKWave and Surfer open.
//!
//! | signal | of | shows |
//! | --- | --- | --- |
//! | `count`, `valid`, `ready` | each queue | items in it; whether there is one; whether there is room |
//! | `head` | each queue | the word of its oldest item in the event digest |
//! | `computed_tag`, `fetched_tag` | each wire of tags | the last tag that came, its first 128 bits; all zeros in a run without bytes |
//! | a gauge's name | each gauge of a unit | its value: credits left, entries, bytes |
//!
//! The hierarchy is that of the paths of units and channels. Times are ps.

use super::Window;
use crate::{
    gpu::work::TagReport,
    sim::{Digest, Listener, Passage, Place, Places},
    units::Femtos,
};
use fst_writer::{
    FstBodyWriter, FstFileType, FstHeaderWriter, FstInfo, FstScopeType, FstSignalId, FstSignalType, FstVarDirection,
    FstVarType, FstWriteError, open_fst,
};
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap, VecDeque},
    fs::File,
    io::{self, BufWriter},
    path::{Path, PathBuf},
};

/// Changes in memory after which they are written.
const RUN: usize = 16 << 20;
/// Bits of a word, of a tag and of a gauge.
const WORD: u32 = 64;
const TAG: u32 = 128;
const GAUGE: u32 = 32;

/// A signal.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Signal {
    /// The path of its scope, and its name there.
    scope: String,
    name: &'static str,
    bits: u32,
    value: u128,
}

/// Where a queue's signals are, and what it holds.
#[derive(Debug)]
struct Queue {
    first: usize,
    depth: usize,
    words: VecDeque<u64>,
}

/// What a channel shows.
#[derive(Debug)]
enum Shown {
    Queue(Queue),
    /// Computed and fetched tag, from this signal on.
    Tags(usize),
}

/// A change that lies ahead: when, its number, the signal, the value.
type Change = Reverse<(u64, u64, usize, u128)>;

/// A listener that writes waves.
pub struct Waves {
    shown: PathBuf,
    window: Window,
    signals: Vec<Signal>,
    channels: BTreeMap<usize, Shown>,
    /// The signal of the first gauge.
    gauges: usize,
    ahead: BinaryHeap<Change>,
    changes: u64,
    ids: Vec<FstSignalId>,
    body: Option<FstBodyWriter<BufWriter<File>>>,
    header: Option<FstHeaderWriter<BufWriter<File>>>,
    /// The last instant that was written.
    at: Option<u64>,
    /// The last instant that was heard of, in fs.
    latest: u64,
    digest: Digest,
    trouble: Option<io::Error>,
}

impl Waves {
    /// Writes to a file at `path` what lies in a window.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub fn create(path: &Path, window: Window) -> io::Result<Self> {
        let info = FstInfo {
            start_time: 0,
            timescale_exponent: -12,
            version: concat!("sealsim ", env!("CARGO_PKG_VERSION")).to_owned(),
            date: String::new(),
            file_type: FstFileType::Verilog,
        };
        let header = open_fst(path, &info).map_err(|error| named(path, error))?;
        Ok(Self {
            shown: path.to_owned(),
            window,
            signals: Vec::new(),
            channels: BTreeMap::new(),
            gauges: 0,
            ahead: BinaryHeap::new(),
            changes: 0,
            ids: Vec::new(),
            body: None,
            header: Some(header),
            at: None,
            latest: 0,
            digest: Digest::default(),
            trouble: None,
        })
    }

    /// Whether the file cannot be written any more.
    #[must_use]
    pub const fn in_trouble(&self) -> bool {
        self.trouble.is_some()
    }

    /// Writes what is left; gives a digest of all changes.
    ///
    /// # Errors
    /// What has gone wrong with the file.
    pub fn close(mut self) -> io::Result<u64> {
        while let Some(Reverse((time, _, signal, value))) = self.ahead.pop() {
            self.set(signal, time, value);
        }
        if let Err(error) = self.end() {
            self.fail(error);
        }
        if let Some(error) = self.trouble {
            return Err(error);
        }
        if let Some(body) = self.body {
            let file = body.finish().map_err(|error| named(&self.shown, error))?;
            file.into_inner().map_err(|error| named(&self.shown, FstWriteError::Io(error.into_error())))?;
        }
        Ok(self.digest.value())
    }

    /// Lets the waves reach to the end of the run or of the window.
    fn end(&mut self) -> Result<(), FstWriteError> {
        self.begin_values()?;
        let end = self.latest.min(self.window.to.0).max(self.window.from.0) / 1_000;
        match (&mut self.body, self.at) {
            (Some(body), Some(at)) if end > at => body.time_change(end),
            _ => Ok(()),
        }
    }

    /// Where the window begins all signals have the values that they had.
    fn begin_values(&mut self) -> Result<(), FstWriteError> {
        let (Some(body), None) = (&mut self.body, self.at) else { return Ok(()) };
        let begin = self.window.from.picos();
        body.time_change(begin)?;
        for (one, id) in self.signals.iter().zip(&self.ids) {
            body.signal_change(*id, &bits(one.value, one.bits))?;
        }
        self.at = Some(begin);
        Ok(())
    }

    fn signal(&mut self, scope: &str, name: &'static str, bits: u32) -> usize {
        let value = u128::from(name == "ready");
        self.signals.push(Signal { scope: scope.to_owned(), name, bits, value });
        self.signals.len() - 1
    }

    /// Writes the hierarchy.
    fn describe(&mut self) -> Result<(), FstWriteError> {
        let Some(mut header) = self.header.take() else { return Ok(()) };
        let mut order: Vec<_> = (0..self.signals.len()).collect();
        order.sort_by_key(|signal| {
            (self.signals[*signal].scope.split('.').map(str::to_owned).collect::<Vec<_>>(), *signal)
        });
        let mut ids = vec![None; self.signals.len()];
        let mut open: Vec<String> = Vec::new();
        for place in order {
            let Signal { scope, name, bits, .. } = &self.signals[place];
            let parts: Vec<_> = scope.split('.').map(str::to_owned).collect();
            let same = open.iter().zip(&parts).take_while(|(one, other)| one == other).count();
            while open.len() > same {
                header.up_scope()?;
                open.pop();
            }
            for part in &parts[same..] {
                header.scope(part, "", FstScopeType::Module)?;
                open.push(part.clone());
            }
            let kind = FstSignalType::bit_vec(*bits);
            ids[place] = Some(header.var(name, kind, FstVarType::Wire, FstVarDirection::Implicit, None)?);
        }
        for _ in open {
            header.up_scope()?;
        }
        self.ids = ids.into_iter().flatten().collect();
        self.body = Some(header.finish()?);
        Ok(())
    }

    /// A signal's value from a time on. Times do not fall.
    fn set(&mut self, signal: usize, time: u64, value: u128) {
        if self.signals[signal].value == value {
            return;
        }
        let inside = self.window.holds(Femtos(time));
        let begun = if inside { self.begin_values() } else { Ok(()) };
        self.signals[signal].value = value;
        let written = if inside { begun.and_then(|()| self.write(signal, time)) } else { begun };
        if let Err(error) = written {
            self.fail(error);
        }
    }

    fn write(&mut self, signal: usize, time: u64) -> Result<(), FstWriteError> {
        let Some(body) = &mut self.body else { return Ok(()) };
        let picos = time / 1_000;
        if self.at < Some(picos) {
            body.time_change(picos)?;
            self.at = Some(picos);
        }
        let Signal { value, bits: width, .. } = &self.signals[signal];
        body.signal_change(self.ids[signal], &bits(*value, *width))?;
        self.digest.add(picos, (signal as u64) << 48 ^ *value as u64 ^ (*value >> 64) as u64);
        self.changes += 1;
        if self.changes.is_multiple_of(1 << 12) && body.size() > RUN {
            body.flush()?;
        }
        Ok(())
    }

    fn fail(&mut self, error: FstWriteError) {
        self.body = None;
        self.trouble.get_or_insert(named(&self.shown, error));
    }

    /// Makes the changes that were ahead and are due.
    fn reach(&mut self, time: u64) {
        self.latest = self.latest.max(time);
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
            self.set(first + place, time.0, value);
        }
    }

    fn tag(&mut self, channel: usize, date: Femtos, report: &TagReport) {
        let Some(Shown::Tags(first)) = self.channels.get(&channel) else { return };
        let signal = first + usize::from(!report.computed);
        let mut bytes = [0; 16];
        let tag = report.tag.iter().flatten();
        bytes.iter_mut().zip(tag).for_each(|(place, byte)| *place = *byte);
        self.changes += 1;
        self.ahead.push(Reverse((date.0, self.changes, signal, u128::from_be_bytes(bytes))));
    }
}

/// A value as the characters of its bits.
fn bits(value: u128, width: u32) -> Vec<u8> {
    (0..width).rev().map(|bit| b'0' + (value >> bit & 1) as u8).collect()
}

fn named(path: &Path, error: FstWriteError) -> io::Error {
    match error {
        FstWriteError::Io(error) => io::Error::new(error.kind(), format!("{}: {error}", path.display())),
        error => io::Error::other(format!("{}: {error}", path.display())),
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
            self.signal(&unit.name, name, GAUGE);
        }
        if let Err(error) = self.describe() {
            self.fail(error);
        }
    }

    fn hears(&self, place: Place<'_>) -> bool {
        match place {
            Place::Channel(channel) => channel.depth.is_some() || channel.item == "TagReport",
            Place::Gauge(..) => true,
            Place::Account(_) => false,
        }
    }

    fn passed(&mut self, Passage { channel, sent, date, key, item }: Passage<'_>) {
        self.reach(sent.0);
        if let Some(report) = item.downcast_ref::<TagReport>() {
            self.tag(channel, date, report);
        } else if let Some(Shown::Queue(queue)) = self.channels.get_mut(&channel) {
            queue.words.push_back(key);
            self.queue(channel, sent);
        }
    }

    fn taken(&mut self, channel: usize, time: Femtos) {
        self.reach(time.0);
        if let Some(Shown::Queue(queue)) = self.channels.get_mut(&channel) {
            queue.words.pop_front();
            self.queue(channel, time);
        }
    }

    fn level(&mut self, gauge: usize, time: Femtos, value: u64) {
        self.reach(time.0);
        self.set(self.gauges + gauge, time.0, value.into());
    }
}
