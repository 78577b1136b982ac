//! Runs what is missing in a folder, over threads, in memory that does not grow with what a point gives.

use super::column::AxisColumn;
use super::figures::Stopped;
use super::folder::Folder;
use super::folder_error::FolderError;
use super::study::{Study, StudyError};
use super::table::{Table, TableError, TableWriter, columns, values};
use super::visits::Visits;
use crate::sim::Control;
use crate::table::{Origin, Point, PointRow};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

#[derive(Debug)]
pub enum Ended {
    Stopped,
    Folder(FolderError),
    Study(StudyError),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tabled {
    pub rows: u64,
    pub refused: u64,
    /// Why they have none, by kind of message, in the order of the first of each.
    pub reasons: Vec<Reason>,
    pub missing: u64,
    pub origins: Origins,
}

/// How many points have their figures from where.
pub type Origins = BTreeMap<Origin, u64>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// What is said of the first of them.
    pub first: String,
    /// Points of which the same is said, but for the numbers in it.
    pub points: u64,
}

/// Kinds of messages that are distinguished; what is said beyond them counts for the last one.
const MOST_KINDS: usize = 16;

impl Tabled {
    fn refuse(&mut self, message: String) {
        self.refused += 1;
        let full = self.reasons.len() == MOST_KINDS;
        let last = self.reasons.len().saturating_sub(1);
        let same = self.reasons.iter().position(|known| kind(&known.first).eq(kind(&message)));
        match same.or(full.then_some(last)) {
            Some(place) => self.reasons[place].points += 1,
            None => self.reasons.push(Reason { first: message, points: 1 }),
        }
    }
}

/// The words of a message without its numbers and their units.
fn kind(message: &str) -> impl Iterator<Item = &str> {
    message.split_whitespace().filter(|word| !word.contains(|c: char| c.is_ascii_digit()) && !word.ends_with('B'))
}

impl From<Stopped> for Ended {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}

impl From<StudyError> for Ended {
    fn from(error: StudyError) -> Self {
        Self::Study(error)
    }
}

impl Study {
    /// The points that are a folder's to run.
    fn points_of(&self, folder: &Folder) -> Result<impl Iterator<Item = Point> + use<'_>, StudyError> {
        Ok(self.numbered(folder.numbers(self.most_points()?)).map(|(_, point)| point))
    }

    /// How many points are a folder's to run, and how many of them it has.
    pub fn progress(&self, folder: &Folder) -> Result<(u64, u64), StudyError> {
        let count = |(all, done), point: Point| (all + 1, done + u64::from(folder.has(point.id)));
        Ok(self.points_of(folder)?.fold((0, 0), count))
    }

    /// Runs the points that are a folder's and that it does not have, and calls `done` after each. Nothing that is done is lost by whatever ends it.
    pub fn sweep(
        &self,
        folder: &mut Folder,
        threads: usize,
        observer: &(dyn Fn() -> Control + Sync),
        done: &(dyn Fn() + Sync),
    ) -> Result<(), Ended> {
        let (points, folder) = (self.points_of(folder)?, Mutex::new(folder));
        let missing = |point: &Point| !folder.lock().unwrap_or_else(PoisonError::into_inner).has(point.id);
        self.each(points.filter(missing), threads, observer, &|row| {
            folder.lock().unwrap_or_else(PoisonError::into_inner).add(&row).map_err(Ended::Folder)?;
            done();
            Ok(())
        })
    }

    /// Runs points, of those that differ only in bounds the largest first, and calls `keep` with the row of each. The first error ends it.
    pub fn each<E: From<Stopped> + Send>(
        &self,
        points: impl Iterator<Item = Point> + Send,
        threads: usize,
        observer: &(dyn Fn() -> Control + Sync),
        keep: &(dyn Fn(PointRow) -> Result<(), E> + Sync),
    ) -> Result<(), E> {
        let visits = Mutex::new(Visits::new(self, points));
        let (over, reason) = (AtomicBool::new(false), Mutex::new(None));
        let next = |group: &mut usize| visits.lock().unwrap_or_else(PoisonError::into_inner).next(group);
        let one = |point| keep(self.run(point, observer)?);
        let worker = || {
            let mut group = usize::MAX;
            while let Some(point) = Some(()).filter(|()| !over.load(Ordering::Relaxed)).and_then(|()| next(&mut group))
            {
                if let Err(ended) = one(point) {
                    over.store(true, Ordering::Relaxed);
                    reason.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(ended);
                }
            }
        };
        thread::scope(|scope| {
            for _ in 1..threads.max(1) {
                scope.spawn(worker);
            }
            worker();
        });
        reason.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }

    /// Writes the tables of what a folder has, in the study's order.
    pub fn tabulate(&self, folder: &Folder) -> Result<Tabled, TableError> {
        let mut writer = TableWriter::create(folder.path(), AxisColumn::of(self))?;
        let mut tabled = Tabled::default();
        for point in self.points()? {
            let Some(row) = folder.row(point.id)? else {
                tabled.missing += 1;
                continue;
            };
            // An identical point of another study keeps its figures, not its place.
            let row = PointRow { point, ..row };
            writer.add(&row)?;
            tabled.rows += 1;
            row.origin.into_iter().for_each(|origin| *tabled.origins.entry(origin).or_default() += 1);
            row.error.into_iter().for_each(|message| tabled.refuse(message));
        }
        writer.finish()?;
        Ok(tabled)
    }

    /// The table of what a folder has, in the study's order, as values.
    pub fn table(&self, folder: &Folder) -> Result<Table, TableError> {
        let axes = AxisColumn::of(self);
        let mut table = Table { columns: columns(&axes), rows: Vec::new() };
        for point in self.points()? {
            if let Some(row) = folder.row(point.id)? {
                let values = values(&axes, &table.columns, &PointRow { point, ..row });
                table.rows.push(values);
            }
        }
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_differ_in_numbers_alone_are_one_kind() {
        let mut tabled = Tabled::default();
        for (release, room) in [("hold", "4 KiB"), ("hold", "512 B"), ("skid", "4 KiB")] {
            tabled.refuse(format!("under `{release}` it must hold one message of 1 MiB, but has {room}"));
        }
        let counted: Vec<_> = tabled.reasons.iter().map(|reason| reason.points).collect();
        assert_eq!((tabled.refused, counted), (3, vec![2, 1]));
        for number in 0..40 {
            let word: String = (0..=number).map(|_| 'x').collect();
            tabled.refuse(word);
        }
        let all: u64 = tabled.reasons.iter().map(|reason| reason.points).sum();
        assert_eq!((tabled.reasons.len(), all), (MOST_KINDS, tabled.refused), "no message goes uncounted");
    }
}
