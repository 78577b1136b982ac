//! The timeline of a run that was listened to: its units, and its messages.

use super::{
    Message as MessageSpan,
    timeline::{Slice, SliceState, Timeline, Track, TrackKind},
};
use crate::{
    observe::{
        messages::Message,
        path::{Recorder, UnitSlice, UnitTrack},
    },
    sim::Stall,
    units::Femtos,
};

/// The shortest slice is this part of the run.
const FINEST: u64 = 2_000;
const ROWS: usize = 200;

/// The tracks of units and messages behind those of `streams`, and the messages' spans.
pub fn looked(streams: Timeline, record: &Recorder, messages: &[Message]) -> (Timeline, Vec<MessageSpan>) {
    let least = Femtos(streams.end_ps.saturating_mul(1_000) / FINEST);
    let units = record.tracks(least);
    let first = streams.tracks.len();
    // Places of units that have a track, by their numbers.
    let mut places = Vec::new();
    let mut next = first;
    for unit in &units {
        places.push((!unit.slices.is_empty()).then_some(next));
        next += usize::from(!unit.slices.is_empty());
    }
    let merged: usize = units.iter().flat_map(|unit| &unit.slices).map(|slice| slice.spells - 1).sum();
    let mut tracks = streams.tracks;
    for unit in units.iter().filter(|unit| !unit.slices.is_empty()) {
        let slices = unit.slices.iter().map(|slice| of_unit(slice, &units, &places)).collect();
        tracks.push(Track { name: unit.name.clone(), kind: TrackKind::Unit, slices });
    }
    tracks.extend(messages.iter().take(ROWS).map(of_message));
    let left_out = left_out(least, merged, messages.len().saturating_sub(ROWS));
    let spans = messages.iter().map(|message| MessageSpan {
        number: message.id + 1,
        copy: message.copy.map_or(0, |copy| copy as u64 + 1),
        start_ps: message.start.picos(),
        end_ps: message.end().picos(),
    });
    (Timeline { end_ps: streams.end_ps, tracks, left_out }, spans.collect())
}

fn left_out(least: Femtos, merged: usize, rows: usize) -> Option<String> {
    let mut words = Vec::new();
    if merged > 0 {
        let nanos = least.0 / 1_000_000;
        words.push(format!("{merged} intervals of at most {nanos} ns are drawn together with their neighbours."));
    }
    if rows > 0 {
        words.push(format!("{rows} messages have no row."));
    }
    (!words.is_empty()).then(|| words.join(" "))
}

fn of_unit(slice: &UnitSlice, units: &[UnitTrack], places: &[Option<usize>]) -> Slice {
    let (label, state) = match Stall::of(slice.activity) {
        Some(stall) => (stall.name(), SliceState::Stall),
        None => ("busy", SliceState::Busy),
    };
    let follows = slice.follows.and_then(|(unit, sent)| {
        let track = places.get(unit).copied().flatten()?;
        let behind = units[unit].slices.partition_point(|other| other.from <= sent);
        behind.checked_sub(1).map(|place| (track, place))
    });
    Slice { start_ps: slice.from.picos(), end_ps: slice.to.picos(), label: label.to_owned(), state, follows }
}

fn of_message(message: &Message) -> Track {
    let what = if message.sealed { "message" } else { "push" };
    let name = match message.copy {
        Some(copy) => format!("copy {} {what} {}", copy + 1, message.number + 1),
        None => format!("{what} {}", message.id + 1),
    };
    let slices = message.cells().map(|(step, start)| Slice {
        start_ps: start.picos(),
        end_ps: step.end.picos(),
        label: step.stage.name().to_owned(),
        state: SliceState::Stage,
        follows: None,
    });
    Track { name, kind: TrackKind::Message, slices: slices.collect() }
}
