//! Why a run took as long as it took, for people and as JSON.

use super::{
    table::Table,
    text::{percent, time},
};
use crate::{
    explore::explain::{Freed, Observed},
    observe::{
        messages::{Message, Stage, Step, Way},
        path::{Part, Path, Share},
    },
    units::Femtos,
};
use serde::Serialize;

/// Parts of a path that JSON gives at most.
const PARTS: usize = 10_000;

/// What a place in one state has of a path.
#[derive(Debug, Clone, Serialize)]
pub struct ShareRecord {
    /// The unit or channel.
    pub place: String,
    /// `busy`, a stall, `latency`, `queue` or `flight`.
    pub state: &'static str,
    pub time_fs: u64,
    /// Of the path's time.
    pub percent: f64,
    pub parts: usize,
}

impl ShareRecord {
    fn all(path: &Path) -> Vec<Self> {
        let whole = path.time().0.max(1) as f64;
        let record = |share: Share| Self {
            place: share.place,
            state: share.state,
            time_fs: share.time.0,
            percent: 100.0 * share.time.0 as f64 / whole,
            parts: share.parts,
        };
        path.shares().into_iter().map(record).collect()
    }
}

#[derive(Debug, Clone, Serialize)]
pub struct PathRecord {
    pub time_ps: u64,
    /// By place and state, the longest first: they add up to the path's time.
    pub shares: Vec<ShareRecord>,
    /// Its parts, the earliest first: at most 10,000.
    pub parts: Vec<PartRecord>,
    pub parts_left_out: usize,
}

#[derive(Debug, Clone, Serialize)]
pub struct PartRecord {
    /// The unit or channel.
    pub place: String,
    pub state: &'static str,
    pub start_ps: u64,
    pub end_ps: u64,
}

#[derive(Debug, Clone, Serialize)]
pub struct MessageRecord {
    /// Its number in the run, from 1.
    pub number: u64,
    pub gpu: usize,
    /// Number of the copy among those of its GPU, from 1.
    pub copy: Option<usize>,
    pub way: Way,
    pub bytes: u64,
    pub start_ps: u64,
    /// When it was where it should be.
    pub end_ps: u64,
    /// Its stages, in the order of time.
    pub stages: Vec<StageRecord>,
    pub path: PathRecord,
}

#[derive(Debug, Clone, Serialize)]
pub struct StageRecord {
    pub stage: Stage,
    /// When it began: when the one before ended.
    pub start_ps: u64,
    pub end_ps: u64,
}

impl StageRecord {
    /// Those of a message, which add up to its time.
    pub fn all(message: &Message) -> Vec<Self> {
        let stage = |(step, start): (Step, Femtos)| Self {
            stage: step.stage,
            start_ps: start.picos(),
            end_ps: step.end.picos(),
        };
        message.cells().map(stage).collect()
    }
}

/// The run with the parameter freed that gains most.
#[derive(Debug, Clone, Serialize)]
pub struct FreedRecord {
    pub parameter: String,
    pub value: String,
    pub relaxed_to: String,
    pub simulated_ps: u64,
    pub shares: Vec<ShareRecord>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Explanation {
    pub schema_version: u32,
    pub simulated_ps: u64,
    pub path: PathRecord,
    /// With the parameter freed that gains most; none if no one does alone.
    pub freed: Option<FreedRecord>,
    pub message: Option<MessageRecord>,
    /// Messages, or where nothing is sealed pushes.
    pub messages: usize,
}

impl PathRecord {
    fn of(path: &Path) -> Self {
        let part = |part: &Part| PartRecord {
            place: part.place.clone(),
            state: part.state,
            start_ps: part.from.picos(),
            end_ps: part.to.picos(),
        };
        Self {
            time_ps: path.time().picos(),
            shares: ShareRecord::all(path),
            parts: path.parts.iter().take(PARTS).map(part).collect(),
            parts_left_out: path.parts.len().saturating_sub(PARTS),
        }
    }
}

impl MessageRecord {
    fn of(message: &Message, path: &Path) -> Self {
        Self {
            number: message.id + 1,
            gpu: message.gpu,
            copy: message.copy.map(|copy| copy + 1),
            way: message.way,
            bytes: message.bytes,
            start_ps: message.start.picos(),
            end_ps: message.end().picos(),
            stages: StageRecord::all(message),
            path: PathRecord::of(path),
        }
    }
}

impl Explanation {
    /// Of a run, with the first cause freed and a message's path, if they were asked for.
    pub fn new(observed: &Observed, freed: Option<&Freed>, message: Option<(&Message, Path)>) -> Self {
        let freed = freed.map(|freed| FreedRecord {
            parameter: freed.parameter.clone(),
            value: freed.values[0].clone(),
            relaxed_to: freed.values[1].clone(),
            simulated_ps: freed.then.outcome.end.picos(),
            shares: ShareRecord::all(&freed.then.path),
        });
        Self {
            schema_version: super::SCHEMA_VERSION,
            simulated_ps: observed.outcome.end.picos(),
            path: PathRecord::of(&observed.path),
            freed,
            message: message.map(|(message, path)| MessageRecord::of(message, &path)),
            messages: observed.messages.len(),
        }
    }

    /// For people: the `top` shares of each path.
    pub fn text(&self, top: usize) -> String {
        let mut lines = Vec::new();
        if let Some(first) = self.path.shares.first() {
            let (place, state) = (&first.place, first.state);
            lines.push(format!("{}: {:.1} % of the path is {place} {state}", time(self.simulated_ps), first.percent));
        }
        if let Some(freed) = &self.freed {
            lines.extend(freed.lines(self.simulated_ps));
        }
        lines.push(String::new());
        lines.push("the path that set the end".into());
        lines.extend(shares(&self.path.shares, top));
        if let Some(message) = &self.message {
            lines.extend(message.lines(top));
        }
        lines.join("\n") + "\n"
    }
}

impl FreedRecord {
    fn lines(&self, before: u64) -> Vec<String> {
        let Self { parameter, value, relaxed_to, .. } = self;
        let less = if before == 0 { 0.0 } else { (1.0 - self.simulated_ps as f64 / before as f64) * 100.0 };
        let mut lines = vec![
            format!("with {parameter} = {value} as good as free ({relaxed_to}):"),
            format!("  {}, {less:.1} % less, measured", time(self.simulated_ps)),
        ];
        if let Some(next) = self.shares.first() {
            lines.push(format!("  then {} {} would be first, {:.1} %", next.place, next.state, next.percent));
        }
        lines
    }
}

impl MessageRecord {
    fn lines(&self, top: usize) -> Vec<String> {
        let copy = self.copy.map_or_else(String::new, |copy| format!(" of copy {copy}"));
        let took = time(self.end_ps - self.start_ps);
        let mut lines = vec![
            String::new(),
            format!("message {}{copy}, {} B: {took}, from {}", self.number, self.bytes, time(self.start_ps)),
        ];
        let mut table = Table::new(&["stage", "time", "part"], &[0]);
        let all = self.end_ps - self.start_ps;
        for stage in &self.stages {
            let took = stage.end_ps - stage.start_ps;
            table.row([stage.stage.name().to_owned(), time(took), percent(took, all)]);
        }
        lines.extend(table.lines());
        lines.push(String::new());
        lines.push("its path".into());
        lines.extend(shares(&self.path.shares, top));
        lines
    }
}

/// The first shares as a table, and a line for the rest, so that they add up.
fn shares(shares: &[ShareRecord], top: usize) -> Vec<String> {
    let all = Femtos(shares.iter().map(|share| share.time_fs).sum());
    let mut table = Table::new(&["unit or channel", "state", "time", "part", "times"], &[0, 1]);
    let mut row = |place: &str, state: &str, took: Femtos, parts: usize| {
        let cells = [place.to_owned(), state.to_owned(), time(took.picos()), percent(took.0, all.0), parts.to_string()];
        table.row(cells);
    };
    for share in shares.iter().take(top) {
        row(&share.place, share.state, Femtos(share.time_fs), share.parts);
    }
    let rest = shares.iter().skip(top);
    let (left, parts) = rest.fold((0, 0), |(time, parts), share| (time + share.time_fs, parts + share.parts));
    if parts > 0 {
        row(&format!("{} more", shares.len() - top), "", Femtos(left), parts);
    }
    row("all", "", all, shares.iter().map(|share| share.parts).sum());
    table.lines()
}
