//! What ran when, as tracks of slices.

use crate::replay::{self, Mark, Owner};
use serde::Serialize;
use std::collections::BTreeMap;

/// Tracks over one axis of time.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Timeline {
    /// Where the axis ends, in ps; it begins at 0.
    pub end_ps: u64,
    /// From top to bottom.
    pub tracks: Vec<Track>,
    /// What is not in it, as a sentence.
    pub left_out: Option<String>,
}

/// One row, or several where slices overlap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Track {
    /// What it is called: a unit's name, a stream's.
    pub name: String,
    pub kind: TrackKind,
    /// In the order of their start.
    pub slices: Vec<Slice>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TrackKind {
    Unit,
    Stream,
    Message,
    Thread,
    /// What a GPU does of one kind.
    Gpu,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Slice {
    pub start_ps: u64,
    pub end_ps: u64,
    /// `busy`, the name of a stall or a stage, or what the operation is. Slices of one label share a colour.
    pub label: String,
    pub state: SliceState,
    /// The slice that this one waits for: places of its track and of it in that track.
    pub follows: Option<(usize, usize)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SliceState {
    Busy,
    Stall,
    Stage,
    /// An operation of a stream, a thread or a GPU.
    Operation,
}

/// A timeline among others over the same axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedTimeline {
    /// `off`, `cc` or a design.
    pub name: String,
    /// Times as long as the first, if that is known.
    pub slowdown: Option<f64>,
    pub timeline: Timeline,
}

/// A copy, as far as a timeline shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopySpan {
    pub gpu: usize,
    /// Its stream, if that has a name.
    pub stream: Option<String>,
    /// `h2d`, `d2h` or `d2d`.
    pub direction: String,
    /// From the call on, in ps.
    pub start_ps: u64,
    /// Until the host knew that it was done, in ps.
    pub end_ps: u64,
    /// Number of the copy behind which it waited, from 1.
    pub behind: Option<usize>,
}

impl Timeline {
    /// The copies of a run, a track for each stream.
    pub fn of_copies(copies: &[CopySpan], end_ps: u64) -> Self {
        let several = copies.iter().any(|copy| copy.gpu > 0);
        let name = |copy: &CopySpan| {
            let stream = copy.stream.as_deref().map_or("copies".to_owned(), |stream| format!("stream {stream}"));
            if several { format!("gpu{} {stream}", copy.gpu) } else { stream }
        };
        let mut tracks: Vec<Track> = Vec::new();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        let mut order: Vec<usize> = (0..copies.len()).collect();
        order.sort_by_key(|place| (copies[*place].start_ps, *place));
        let mut slices = vec![(0, 0); copies.len()];
        for place in order {
            let copy = &copies[place];
            let track = *places.entry(name(copy)).or_insert_with(|| {
                tracks.push(Track { name: name(copy), kind: TrackKind::Stream, slices: Vec::new() });
                tracks.len() - 1
            });
            slices[place] = (track, tracks[track].slices.len());
            tracks[track].slices.push(Slice {
                start_ps: copy.start_ps,
                end_ps: copy.end_ps,
                label: copy.direction.clone(),
                state: SliceState::Operation,
                follows: None,
            });
        }
        for (copy, (track, slice)) in copies.iter().zip(&slices) {
            let before = copy.behind.and_then(|number| slices.get(number.checked_sub(1)?).copied());
            tracks[*track].slices[*slice].follows = before.filter(|before| before != &(*track, *slice));
        }
        let left_out = "Only copies are shown, from call to end: no trace of units and messages was taken.".to_owned();
        Self { end_ps, tracks, left_out: Some(left_out) }
    }

    /// That of a replay. Marks that are shorter than a fraction of the whole are drawn together, so that the page stays small.
    pub fn of_replay(replay: &replay::Timeline) -> Self {
        let end_ps = picos(replay.end);
        let quantum = (end_ps / MOST_SLICES).max(1);
        let mut thinned = false;
        let several = replay.rows.iter().any(|row| matches!(row.owner, Owner::Gpu(gpu, _) if gpu > 0));
        let tracks = replay.rows.iter().map(|row| {
            let (kind, name) = match row.owner {
                Owner::Thread(thread) => (TrackKind::Thread, format!("thread {}", thread + 1)),
                Owner::Gpu(gpu, mark) if several => (TrackKind::Gpu, format!("GPU {gpu} {}", label(mark))),
                Owner::Gpu(_, mark) => (TrackKind::Gpu, format!("GPU {}", label(mark))),
            };
            let slices = row.marks.iter().filter(|(_, span)| span.start < replay.end).map(|(mark, span)| Slice {
                start_ps: picos(span.start),
                end_ps: picos(span.end.min(replay.end)),
                label: label(*mark).to_owned(),
                state: SliceState::Operation,
                follows: None,
            });
            let mut slices: Vec<Slice> = slices.collect();
            slices.sort_by_key(|slice| (slice.start_ps, slice.end_ps));
            if slices.len() as u64 > MOST_SLICES {
                thinned = true;
                slices = thin(slices, quantum);
            }
            Track { name, kind, slices }
        });
        let tracks = tracks.collect();
        let sentence = || {
            format!(
                "Spans below {} us that lie close together are drawn as one, with the label that takes most of their time.",
                quantum / 1_000_000 + 1
            )
        };
        Self { end_ps, tracks, left_out: thinned.then(sentence) }
    }
}

/// Slices of a track of a replay.
const MOST_SLICES: u64 = 4_000;

fn picos(nanos: u64) -> u64 {
    nanos.saturating_mul(1_000)
}

const fn label(mark: Mark) -> &'static str {
    match mark {
        Mark::Copies => "copy calls",
        Mark::Holds => "copy calls that hold the host",
        Mark::Launches => "launches",
        Mark::Waits => "waits",
        Mark::OtherCalls => "other calls",
        Mark::Kernels => "kernels",
        Mark::H2d => "h2d",
        Mark::D2h => "d2h",
        Mark::OtherWork => "other work",
    }
}

/// Joins slices below a quantum that begin within one.
fn thin(slices: Vec<Slice>, quantum: u64) -> Vec<Slice> {
    let mut thinned: Vec<Slice> = Vec::new();
    let mut group: Vec<Slice> = Vec::new();
    for slice in slices {
        let short = slice.end_ps - slice.start_ps < quantum;
        let near = group.first().is_some_and(|first| slice.start_ps < first.start_ps + quantum);
        if !(short && near) {
            thinned.extend(joined(&group));
            group.clear();
        }
        if short {
            group.push(slice);
        } else {
            thinned.push(slice);
        }
    }
    thinned.extend(joined(&group));
    thinned
}

/// One slice for a group, with the label that takes most of its time.
fn joined(group: &[Slice]) -> Option<Slice> {
    let first = group.first()?;
    let mut times: BTreeMap<&str, u64> = BTreeMap::new();
    for slice in group {
        *times.entry(&slice.label).or_default() += slice.end_ps - slice.start_ps;
    }
    let label = times.into_iter().max_by_key(|(_, time)| *time)?.0.to_owned();
    let end_ps = group.iter().map(|slice| slice.end_ps).max()?;
    Some(Slice { end_ps, label, ..first.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::{Row, Span};

    fn copy(stream: &str, start_ps: u64, behind: Option<usize>) -> CopySpan {
        let (stream, direction) = (Some(stream.to_owned()), "h2d".to_owned());
        CopySpan { gpu: 0, stream, direction, start_ps, end_ps: start_ps + 10, behind }
    }

    #[test]
    fn each_stream_has_a_track_and_a_copy_follows_the_one_that_it_waited_for() {
        let copies = [copy("b", 20, Some(3)), copy("a", 5, None), copy("a", 0, Some(9)), copy("a", 9, Some(4))];
        let timeline = Timeline::of_copies(&copies, 40);
        let names: Vec<_> = timeline.tracks.iter().map(|track| track.name.as_str()).collect();
        assert_eq!(names, ["stream a", "stream b"]);
        let starts: Vec<_> = timeline.tracks[0].slices.iter().map(|slice| slice.start_ps).collect();
        assert_eq!(starts, [0, 5, 9]);
        assert_eq!(timeline.tracks[1].slices[0].follows, Some((0, 0)));
        assert!(
            timeline.tracks[0].slices.iter().all(|slice| slice.follows.is_none()),
            "none waits for itself or a copy that is not there"
        );
    }

    #[test]
    fn a_long_replay_is_thinned_and_keeps_what_is_long() {
        let mut marks: Vec<_> =
            (0..20_000).map(|n| (Mark::Launches, Span { start: 100 * n, end: 100 * n + 9 })).collect();
        marks.push((Mark::Waits, Span { start: 2_000_000, end: 3_000_000 }));
        let long = replay::Timeline { rows: vec![Row { owner: Owner::Thread(0), marks }], end: 4_000_000 };
        let timeline = Timeline::of_replay(&long);
        let slices = &timeline.tracks[0].slices;
        assert!((1_000..=4_100).contains(&slices.len()) && timeline.left_out.is_some(), "{}", slices.len());
        assert!(slices.windows(2).all(|pair| pair[0].end_ps <= pair[1].start_ps));
        let last = slices.last().unwrap();
        assert_eq!((last.label.as_str(), last.end_ps - last.start_ps), ("waits", 1_000_000_000));
    }

    #[test]
    fn a_short_replay_is_drawn_as_it_is() {
        let marks = vec![(Mark::D2h, Span { start: 3, end: 7 }), (Mark::D2h, Span { start: 1, end: 2 })];
        let row = Row { owner: Owner::Gpu(0, Mark::D2h), marks };
        let timeline = Timeline::of_replay(&replay::Timeline { rows: vec![row], end: 9 });
        let spans: Vec<_> = timeline.tracks[0].slices.iter().map(|slice| (slice.start_ps, slice.end_ps)).collect();
        assert_eq!((spans, timeline.end_ps, timeline.left_out), (vec![(1_000, 2_000), (3_000, 7_000)], 9_000, None));
    }
}
