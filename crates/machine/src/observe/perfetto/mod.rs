//! A run as a Perfetto trace, which ui.perfetto.dev opens.
//!
//! ```text
//!   units       a track for each unit and part: slices busy and, by cause, waiting
//!   streams     a track for each stream: its copies
//!   messages    a track for each message: its stages
//!   counters    a track for each queue and each gauge
//! ```
//!
//! Times of the format are whole nanoseconds; a slice carries `start_ps` and `end_ps`, and of a unit the `cycles` that its account was charged. Idle cycles have
//! no slice. An arrow follows a message through the units: an instant stands on the track of each unit that ended a stage of it.
//!
//! Of many messages not all have a track: all of the first [`ALL`], then fewer and fewer: some hundreds more whenever their
//! number doubles.

mod groups;
mod proto;
mod writer;

pub use groups::{Group, GroupSlice, write_groups};

use super::{
    Window,
    messages::{Message, Stage, Tracker},
};
use crate::{
    files::RecordFile,
    sim::{Activity, ChannelTransfer, Clock, Listener, Place, Places, Spell, Stall},
    units::Femtos,
};
use std::{collections::BTreeSet, io};
use writer::{Flow, Name, Writer, argument, text};

/// Messages from the first on of which all have a track.
pub const ALL: u64 = 512;

/// Tracks of groups, and the first one of each sort.
const UNITS: u64 = 1;
const STREAMS: u64 = 2;
const MESSAGES: u64 = 3;
const COUNTERS: u64 = 4;
const ABOUT: u64 = 5;
const UNIT: u64 = 1 << 16;
const QUEUE: u64 = 2 << 16;
const GAUGE: u64 = 3 << 16;
const STREAM: u64 = 4 << 16;
const MESSAGE: u64 = 1 << 32;

/// A copy on a stream, as a run reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamCopy {
    pub stream: String,
    pub name: String,
    pub span: (Femtos, Femtos),
    pub bytes: u64,
}

/// What of a run a trace does not show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LeftOut {
    pub shown: u64,
    /// Messages of the window that have none.
    pub messages: u64,
}

pub struct Trace {
    writer: Writer,
    window: Window,
    tracker: Tracker,
    clocks: Vec<Clock>,
    places: Option<Places>,
    /// By queue: items in it.
    fills: Vec<u64>,
    /// Tracks of counters that are described.
    described: BTreeSet<u64>,
    left_out: LeftOut,
}

impl Trace {
    /// Writes to `file` what lies in a window.
    pub fn new(file: RecordFile, window: Window) -> Self {
        Self {
            writer: Writer::new(file, &names()),
            window,
            tracker: Tracker::default(),
            clocks: Vec::new(),
            places: None,
            fills: Vec::new(),
            described: BTreeSet::new(),
            left_out: LeftOut::default(),
        }
    }

    /// Begins in the middle of a run, at an instant at which the channels, in their order, hold so many items.
    pub fn begin_with(&mut self, time: Femtos, fills: impl Iterator<Item = usize>) {
        let queues = self
            .places
            .as_ref()
            .map_or_else(Vec::new, |places| places.channels.iter().map(|channel| channel.depth.is_some()).collect());
        for (channel, count) in fills.enumerate().filter(|(channel, _)| queues.get(*channel).is_some_and(|is| *is)) {
            self.fills[channel] = count as u64;
            if count > 0 {
                self.count(QUEUE + channel as u64, time, count as u64);
            }
        }
    }

    /// Whether the file cannot be written any more.
    pub const fn in_trouble(&self) -> bool {
        self.writer.in_trouble()
    }

    /// Writes the copies and what is left; gives what was left out.
    pub fn close(mut self, copies: &[StreamCopy]) -> io::Result<LeftOut> {
        self.messages();
        for message in self.tracker.take_open() {
            self.message(&message);
        }
        self.streams(copies);
        let LeftOut { shown, messages } = self.left_out;
        if messages > 0 {
            let name = Name::Text(format!("{messages} of {} messages have no track", shown + messages));
            self.writer.track(ABOUT, "left out", None, 0, None);
            self.writer.instant(ABOUT, name, self.window.from, vec![argument("left_out", messages)], Flow::None);
        }
        self.writer.close().map(|()| self.left_out)
    }

    fn streams(&mut self, copies: &[StreamCopy]) {
        let names: BTreeSet<_> = copies.iter().map(|copy| copy.stream.as_str()).collect();
        if !names.is_empty() {
            self.writer.track(STREAMS, "streams", None, 0, None);
        }
        for (place, stream) in names.iter().enumerate() {
            let track = STREAM + place as u64;
            self.writer.track(track, stream, Some(STREAMS), place, None);
            let own =
                copies.iter().filter(|copy| copy.stream == *stream && self.window.meets(copy.span.0, copy.span.1));
            for copy in own {
                self.writer.slice(track, Name::Text(copy.name.clone()), copy.span, vec![argument("bytes", copy.bytes)]);
            }
        }
    }

    /// Writes messages that have gone their way.
    fn messages(&mut self) {
        for message in self.tracker.take() {
            self.message(&message);
        }
    }

    fn message(&mut self, message: &Message) {
        if !self.window.meets(message.start, message.end()) {
            return;
        }
        if !has_track(message.id) {
            self.left_out.messages += 1;
            return;
        }
        self.left_out.shown += 1;
        let track = MESSAGE + message.id;
        self.writer.track(track, &title(message), Some(MESSAGES), message.id as usize, None);
        let arguments = || {
            let mut arguments = vec![argument("message", message.id), argument("gpu", message.gpu as u64)];
            arguments.extend(message.copy.map(|copy| argument("copy", copy as u64 + 1)));
            arguments.push(argument("bytes", message.bytes));
            arguments
        };
        let last = message.stages.len().saturating_sub(1);
        for (place, (step, start)) in message.cells().enumerate() {
            let name = || Name::Known(stage_name(step.stage));
            self.writer.slice(track, name(), (start, step.end), arguments());
            let flow = if place == last { Flow::Ends(message.id + 1) } else { Flow::Passes(message.id + 1) };
            self.writer.instant(UNIT + step.unit as u64, name(), step.end, vec![argument("message", message.id)], flow);
        }
        if !message.whole {
            let reason = vec![text("reason", "it did not go all its way")];
            self.writer.instant(track, Name::Text("open".into()), message.end(), reason, Flow::None);
        }
    }

    fn count(&mut self, track: u64, time: Femtos, value: u64) {
        if !self.window.holds(time) {
            return;
        }
        if self.described.insert(track) {
            let Some(places) = &self.places else { return };
            let place = (track & 0xffff) as usize;
            let (name, unit) = if track < GAUGE {
                // A unit may have a gauge of the same name.
                let path = &places.channels[place].path;
                let is_gauge = places.gauges.iter().any(|(unit, name)| format!("{}.{name}", unit.name) == *path);
                (if is_gauge { format!("{path} (channel)") } else { path.clone() }, "items")
            } else {
                let (unit, name) = &places.gauges[place];
                (format!("{}.{name}", unit.name), gauge_unit(name))
            };
            self.writer.track(track, &name, Some(COUNTERS), self.described.len(), Some(unit));
        }
        self.writer.count(track, time, value);
    }

    fn fill(&mut self, channel: usize, time: Femtos, change: i64) {
        let fill = &mut self.fills[channel];
        *fill = fill.saturating_add_signed(change);
        let fill = *fill;
        self.count(QUEUE + channel as u64, time, fill);
    }
}

fn title(message: &Message) -> String {
    let what = if message.sealed { "message" } else { "push" };
    let copy = message.copy.map_or_else(String::new, |copy| format!("copy {}, ", copy + 1));
    format!("{copy}{what} {}, {} B", message.number + 1, message.bytes)
}

fn has_track(id: u64) -> bool {
    id.is_multiple_of((2 * id / ALL).next_power_of_two())
}

/// Names of slices: stalls by their numbers, then busy, then stages.
fn names() -> Vec<&'static str> {
    Stall::NAMES.iter().copied().chain(["busy"]).chain(Stage::ALL.into_iter().map(Stage::name)).collect()
}

const fn stage_name(stage: Stage) -> u64 {
    Stall::ALL.len() as u64 + 2 + stage as u64
}

const fn gauge_unit(name: &str) -> &'static str {
    match name.as_bytes() {
        b"quarantine" | b"quarantine_reserved" | b"exposed_bytes" => "bytes",
        _ => "items",
    }
}

impl Listener for Trace {
    fn begin(&mut self, places: &Places) {
        self.tracker.begin(places);
        self.clocks = places.accounts.iter().map(|unit| unit.clock).collect();
        self.fills = vec![0; places.channels.len()];
        self.writer.track(UNITS, "units", None, 0, None);
        self.writer.track(MESSAGES, "messages", None, 1, None);
        self.writer.track(COUNTERS, "counters", None, 2, None);
        for (place, unit) in places.accounts.iter().enumerate() {
            self.writer.track(UNIT + place as u64, &unit.name, Some(UNITS), place, None);
        }
        self.places = Some(places.clone());
    }

    fn hears(&self, place: Place<'_>) -> bool {
        match place {
            Place::Channel(channel) => channel.depth.is_some() || self.tracker.hears(place),
            Place::Account(_) | Place::Gauge(..) => true,
        }
    }

    fn passed(&mut self, transfer: ChannelTransfer<'_>) {
        self.tracker.passed(transfer);
        self.messages();
        let is_queue = |places: &Places| places.channels[transfer.channel].depth.is_some();
        if self.places.as_ref().is_some_and(is_queue) {
            self.fill(transfer.channel, transfer.date, 1);
        }
    }

    fn taken(&mut self, channel: usize, time: Femtos) {
        self.tracker.taken(channel, time);
        self.fill(channel, time, -1);
    }

    fn spell(&mut self, Spell { account, activity, from, to }: Spell) {
        if activity == Activity::Idle {
            return;
        }
        let name = activity.stall().map_or(Stall::ALL.len(), usize::from) as u64 + 1;
        let clock = self.clocks[account];
        let span = (clock.edge(from), clock.edge(to));
        if self.window.meets(span.0, span.1) {
            self.writer.slice(UNIT + account as u64, Name::Known(name), span, vec![argument("cycles", to - from)]);
        }
    }

    fn level(&mut self, gauge: usize, time: Femtos, value: u64) {
        self.count(GAUGE + gauge as u64, time, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_messages_fewer_and_fewer_have_a_track() {
        let shown = |messages: u64| (0..messages).filter(|id| has_track(*id)).count();
        assert_eq!(shown(ALL), 512);
        assert_eq!(shown(2 * ALL), 512 + 128 + 64);
        for doubled in 10..20 {
            let more = shown(1 << (doubled + 1)) - shown(1 << doubled);
            assert!((64..=256).contains(&more), "{more}");
        }
    }

    #[test]
    fn names_are_where_their_numbers_say() {
        let names = names();
        for stage in Stage::ALL {
            assert_eq!(names[stage_name(stage) as usize - 1], stage.name());
        }
        assert_eq!(names[Stall::ALL.len()], "busy");
    }
}
