//! How far a sweep is, whatever runs it. The folder is not locked, and nothing in it is changed.

use super::chunks::{Chunks, row_files};
use super::folder::{FolderRecord, LINES, RECORD};
use super::folder_error::{FolderError, failed};
use super::lines::BoundedLines;
use super::table::TableError;
use crate::table::PointId;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Over how long a time before the last rows the rate is taken.
const WINDOW: Duration = Duration::from_secs(60);

/// How far a sweep is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SweepStatus {
    pub study: String,
    pub points: u64,
    /// Points that have a row.
    pub done: u64,
    /// Those of them without figures.
    pub refused: u64,
    /// The chunks, if the points were split into some.
    pub chunks: Option<ChunkStatus>,
    /// Seconds since the last rows came.
    pub seconds_since_last: Option<f64>,
    /// Points per second in the last minute of work, if it is known.
    pub points_per_second: Option<f64>,
}

/// How far chunks are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChunkStatus {
    /// What distinguishes the plan from others.
    pub plan: String,
    pub count: u64,
    /// Those whose rows are not there.
    pub missing: Vec<u64>,
}

/// What files of rows say.
#[derive(Debug, Default)]
struct Seen {
    ids: HashSet<PointId>,
    rows: u64,
    refused: u64,
    last: Option<SystemTime>,
    /// Of the files of chunks: when each came, and with how many rows.
    came: Vec<(SystemTime, u64)>,
}

impl SweepStatus {
    pub fn of(folder: &Path) -> Result<Self, TableError> {
        let record = FolderRecord::read(folder)?;
        let study = record.study(folder)?;
        let mut seen = Seen::default();
        let lines = folder.join(LINES);
        seen.read(&lines)?;
        let mut rows_of = HashMap::new();
        for file in row_files(folder)? {
            let rows = seen.read_chunk(&file)?;
            seen.came.extend(modified(&file).map(|date| (date, rows)));
            rows_of.insert(file, rows);
        }
        let (points, done) = (study.count()?, seen.ids.len() as u64);
        let chunks = Chunks::read(folder, &study)?.map(|chunks| {
            let is_there = |chunk| rows_of.get(&chunks.rows(chunk)).is_some_and(|rows| *rows == chunks.points(chunk));
            let missing = (0..chunks.len()).filter(|chunk| done < points && !is_there(*chunk)).collect();
            ChunkStatus { plan: chunks.id().to_owned(), count: chunks.len(), missing }
        });
        let since = |date: SystemTime| SystemTime::now().duration_since(date).unwrap_or_default().as_secs_f64();
        Ok(Self {
            study: record.study,
            points,
            done,
            refused: seen.refused,
            chunks,
            seconds_since_last: seen.last.map(since),
            points_per_second: seen.rate().or_else(|| since_begun(folder, &lines, done)),
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
    /// Reads the rows of a chunk, up to what is damaged: more of it is not there.
    fn read_chunk(&mut self, path: &Path) -> Result<u64, FolderError> {
        let before = self.rows;
        match self.read(path) {
            Err(FolderError::InputOutput { error, .. }) if error.kind() == io::ErrorKind::InvalidData => {}
            Ok(()) | Err(FolderError::Line { .. }) => {}
            Err(error) => return Err(error),
        }
        Ok(self.rows - before)
    }

    /// Reads a file of rows up to its last whole line; its lines may grow meanwhile, and the file may be gone.
    fn read(&mut self, path: &Path) -> Result<(), FolderError> {
        #[derive(Deserialize)]
        struct Told {
            id: PointId,
            error: Option<serde::de::IgnoredAny>,
        }
        let file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            file => file.map_err(failed(path))?,
        };
        let (mut reader, mut line) = (BufReader::new(BoundedLines::new(file)), String::new());
        let mut number = 0;
        while reader.read_line(&mut line).map_err(failed(path))? > 0 && line.ends_with('\n') {
            number += 1;
            let wrong = |error| FolderError::Line { path: path.display().to_string(), line: number, error };
            let told: Told = serde_json::from_str(&line).map_err(wrong)?;
            self.refused += u64::from(self.ids.insert(told.id) && told.error.is_some());
            self.rows += 1;
            line.clear();
        }
        if number > 0 {
            self.last = self.last.max(modified(path));
        }
        Ok(())
    }

    /// Rows per second: of the chunks that came in the last minute of work, behind the first of them.
    fn rate(&mut self) -> Option<f64> {
        self.came.sort_unstable();
        let (last, _) = *self.came.last()?;
        let recent: Vec<_> = self.came.iter().filter(|(date, _)| *date + WINDOW >= last).collect();
        let took = last.duration_since(recent.first()?.0).ok()?.as_secs_f64();
        let rows: u64 = recent.iter().skip(1).map(|(_, rows)| rows).sum();
        (took > 0.0).then(|| rows as f64 / took)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_last_minute_of_work() {
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let rate = |came: &[(SystemTime, u64)]| Seen { came: came.to_vec(), ..Seen::default() }.rate();
        assert_eq!(rate(&[]), None);
        assert_eq!(rate(&[(at(5), 100)]), None);
        assert_eq!(rate(&[(at(20), 30), (at(10), 100)]), Some(3.0));
        // What came an hour before does not count.
        assert_eq!(rate(&[(at(10), 9), (at(4000), 9), (at(4010), 50), (at(4020), 50)]), Some(5.0));
    }
}
