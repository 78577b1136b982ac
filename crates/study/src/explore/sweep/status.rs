//! How far a sweep is, whatever runs it. The folder is not locked, and nothing in it is changed.

use super::folder::{FolderRecord, LINES, RECORD, there};
use super::folder_error::FolderError;
use super::lines::each_line;
use super::run::Origins;
use super::shard::{ShardArray, files};
use super::table::TableError;
use crate::table::{Origin, PointId};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Over how long a time before the last rows the rate is taken.
const WINDOW: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SweepStatus {
    pub study: String,
    pub points: u64,
    pub done: u64,
    /// Those of them without figures.
    pub refused: u64,
    /// Where the figures of the others are from, as far as rows say it.
    pub origins: Origins,
    /// The shards, if the points were split into some for a scheduler.
    pub shards: Option<ShardStatus>,
    pub seconds_since_last: Option<f64>,
    /// Points per second of what ran in the last minute of work, if it is known.
    pub points_per_second: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShardStatus {
    pub count: u32,
    /// The numbers of those that lack rows, from 1.
    pub missing: Vec<u32>,
}

/// What files of rows say.
#[derive(Debug, Default)]
struct Seen {
    ids: HashSet<PointId>,
    rows: u64,
    refused: u64,
    origins: Origins,
    last: Option<SystemTime>,
    shards: Vec<Grown>,
}

#[derive(Debug, Clone, Copy)]
struct Grown {
    begun: SystemTime,
    last: SystemTime,
    rows: u64,
}

impl SweepStatus {
    pub fn of(folder: &Path) -> Result<Self, TableError> {
        let record = FolderRecord::read(folder)?;
        let study = record.study(folder)?;
        let mut seen = Seen::default();
        let lines = folder.join(LINES);
        seen.read(&lines)?;
        for file in files(folder)? {
            seen.read_shard(&file)?;
        }
        let (points, done) = (study.count()?, seen.ids.len() as u64);
        let shards = ShardArray::read(folder).map(|array| {
            Ok::<_, TableError>(ShardStatus {
                count: array.of,
                missing: array.lacking(&study, |id| seen.ids.contains(&id))?,
            })
        });
        let since = |date: SystemTime| SystemTime::now().duration_since(date).unwrap_or_default().as_secs_f64();
        Ok(Self {
            study: record.study,
            points,
            done,
            refused: seen.refused,
            shards: shards.transpose()?,
            seconds_since_last: seen.last.map(since),
            points_per_second: seen.rate().or_else(|| since_begun(folder, &lines, done)),
            origins: seen.origins,
        })
    }
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|data| data.modified()).ok()
}

/// The rate of one run over threads, from when the folder was made to the last line.
fn since_begun(folder: &Path, lines: &Path, done: u64) -> Option<f64> {
    let took = modified(lines)?.duration_since(modified(&folder.join(RECORD))?).ok()?.as_secs_f64();
    (took > 0.0 && done > 0).then(|| done as f64 / took)
}

impl Seen {
    /// Reads the rows of a shard, up to what is damaged: more of it is not there.
    fn read_shard(&mut self, path: &Path) -> Result<(), FolderError> {
        let before = self.rows;
        match self.read(path) {
            Err(error) if !error.is_damage() => return Err(error),
            _ => {}
        }
        let Ok(data) = fs::metadata(path) else { return Ok(()) };
        if let Ok(last) = data.modified() {
            let begun = data.created().unwrap_or(last);
            self.shards.push(Grown { begun, last, rows: self.rows - before });
        }
        Ok(())
    }

    /// Reads a file of rows up to its last whole line; its lines may grow meanwhile, and the file may be gone.
    fn read(&mut self, path: &Path) -> Result<(), FolderError> {
        #[derive(Deserialize)]
        struct Told {
            id: PointId,
            error: Option<serde::de::IgnoredAny>,
            #[serde(default)]
            origin: Option<Origin>,
        }
        let Some(file) = there(path)? else { return Ok(()) };
        let before = self.rows;
        let read = each_line(path, file, &mut |line| {
            let told: Told = line.read(|text| serde_json::from_slice(text))?;
            if self.ids.insert(told.id) {
                self.refused += u64::from(told.error.is_some());
                told.origin.into_iter().for_each(|origin| *self.origins.entry(origin).or_default() += 1);
            }
            self.rows += 1;
            Ok(())
        });
        if self.rows > before {
            self.last = self.last.max(modified(path));
        }
        read.map(|_| ())
    }

    /// Rows per second of the shards that had rows in the last minute of work.
    fn rate(&self) -> Option<f64> {
        let last = self.shards.iter().map(|shard| shard.last).max()?;
        let recent = || self.shards.iter().filter(|shard| shard.last + WINDOW >= last);
        let took = last.duration_since(recent().map(|shard| shard.begun).min()?).ok()?.as_secs_f64();
        let rows: u64 = recent().map(|shard| shard.rows).sum();
        (took > 0.0).then(|| rows as f64 / took)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_shards_of_the_last_minute_of_work() {
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let rate = |came: &[(u64, u64, u64)]| {
            let grown = |&(begun, last, rows)| Grown { begun: at(begun), last: at(last), rows };
            Seen { shards: came.iter().map(grown).collect(), ..Seen::default() }.rate()
        };
        assert_eq!(rate(&[]), None);
        assert_eq!(rate(&[(5, 5, 100)]), None);
        assert_eq!(rate(&[(10, 20, 30), (0, 10, 70)]), Some(5.0));
        // What came an hour before does not count.
        assert_eq!(rate(&[(0, 10, 9), (4000, 4010, 50), (4000, 4020, 50)]), Some(5.0));
    }
}
