//! A folder of results: which study it belongs to, and the rows of points that have run.
//!
//! ```text
//!   FOLDER/study.json             the study
//!   FOLDER/points.jsonl           rows of whoever has the folder's lock
//!   FOLDER/shards/3-of-8.jsonl    rows of who runs a shard: it has the lock of this file alone
//! ```

use super::column::AxisColumn;
use super::folder_error::{FolderError, failed};
use super::lines::each_line;
use super::shard::{SHARDS, Shard};
use super::store::{Damaged, Store};
use super::study::Study;
use super::table::TableError;
use crate::explore::{
    simulator::simulator,
    uncertainty::{Numbers, Residual},
};
use crate::files::{ReadError, is_under_way, read_text, write_whole};
use crate::table::PointId;
use crate::table::PointRow;
use crate::units::Bytes;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// What a folder says of itself, in `study.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FolderRecord {
    pub study: String,
    pub study_digest: String,
    /// The simulator that ran it: its version and what identifies its timing.
    pub simulator: String,
    pub text: String,
    /// Columns of the table that are axes.
    pub axes: Vec<String>,
    /// Objectives: columns to be small, columns to be large.
    pub min: Vec<String>,
    pub max: Vec<String>,
    /// By what intervals of draws are wider than these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub residuals: Vec<Residual>,
}

/// An open folder. What its rows are written into is locked against other sweeps while it is open.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    store: Store,
    /// The shard that runs into it; none for the whole study.
    shard: Option<Shard>,
    /// For a shard: points of which the folder has rows elsewhere.
    elsewhere: HashSet<PointId>,
}

pub(super) const RECORD: &str = "study.json";
pub(super) const LINES: &str = "points.jsonl";

/// The longest `study.json`: it holds the study's text, escaped, and the names of its axes.
const LONGEST_RECORD: Bytes = Bytes(8 << 20);

impl FolderRecord {
    pub fn read(folder: &Path) -> Result<Self, FolderError> {
        let path = folder.join(RECORD);
        let text = read_text(&path, LONGEST_RECORD).map_err(|error| match error {
            ReadError::Unreadable { error, .. } if error.kind() == io::ErrorKind::NotFound => {
                FolderError::NoStudy { path: folder.display().to_string() }
            }
            error => FolderError::Record(error),
        })?;
        let wrong = |error| FolderError::Line { path: path.display().to_string(), line: 1, error };
        serde_json::from_str(&text).map_err(wrong)
    }

    pub(super) fn of(study: &Study, text: &str) -> Self {
        let spec = &study.spec;
        Self {
            study: spec.name.clone(),
            study_digest: study.digest.clone(),
            simulator: simulator().to_owned(),
            text: text.to_owned(),
            axes: AxisColumn::of(study).into_iter().map(|column| column.name).collect(),
            min: spec.objectives.min.clone(),
            max: spec.objectives.max.clone(),
            residuals: study.residuals(),
        }
    }

    /// The study of a folder, as the folder keeps it. Refused if a design that it names has changed, or the simulator.
    pub fn study(&self, folder: &Path) -> Result<Study, TableError> {
        let study = Study::read(&folder.display().to_string(), &self.text)?;
        Self::of(&study, &self.text).agrees(self, folder)?;
        Ok(study)
    }

    fn write(&self, folder: &Path) -> Result<(), FolderError> {
        let json = serde_json::to_string_pretty(self).map_err(|error| failed(folder)(error.into()))?;
        Ok(write_whole(&folder.join(RECORD), json.as_bytes())?)
    }

    /// Whether results of `other` may lie next to those of `self`.
    pub(super) fn agrees(&self, other: &Self, folder: &Path) -> Result<(), FolderError> {
        let path = folder.display().to_string();
        if self.simulator != other.simulator {
            return Err(FolderError::OtherVersion { path, version: other.simulator.clone() });
        }
        if self.study_digest != other.study_digest {
            return Err(FolderError::OtherStudy { path, other: other.study.clone() });
        }
        Ok(())
    }
}

impl Folder {
    /// Opens a folder for a study, or makes it.
    pub fn open(path: &Path, study: &Study, text: &str) -> Result<Self, FolderError> {
        let record = missing_record(path, study, text)?;
        let store = Store::open(&path.join(LINES))?;
        record.map_or(Ok(()), |record| record.write(path))?;
        Ok(Self { path: path.to_owned(), store, shard: None, elsewhere: HashSet::new() })
    }

    /// Opens a folder for a shard of a study, or makes it. Others may do so for other shards, and one for the whole study.
    pub fn of_shard(path: &Path, study: &Study, text: &str, shard: Shard) -> Result<Self, FolderError> {
        missing_record(path, study, text)?.map_or(Ok(()), |record| record.write(path))?;
        let mut elsewhere = HashSet::new();
        let lines = path.join(LINES);
        if let Some(file) = there(&lines)? {
            each_line(&lines, file, &mut |line| {
                elsewhere.insert(line.read(PointRow::id_of_json)?);
                Ok(())
            })?;
        }
        Ok(Self { path: path.to_owned(), store: Store::of_whatever(&shard.rows(path))?, shard: Some(shard), elsewhere })
    }

    /// What draws gave, by point and column, as the folder has it now; nothing of points without.
    pub fn draws(path: &Path) -> Result<HashMap<String, Numbers>, FolderError> {
        #[derive(Deserialize)]
        struct Known {
            id: PointId,
            #[serde(default)]
            draws: Numbers,
        }
        let file = path.join(LINES);
        let mut all = HashMap::new();
        each_line(&file, File::open(&file).map_err(failed(&file))?, &mut |line| {
            let Known { id, draws } = line.read(|text| serde_json::from_slice(text))?;
            if !draws.is_empty() {
                all.insert(id.to_string(), draws);
            }
            Ok(())
        })?;
        Ok(all)
    }

    /// Which of so many numbers of points are this folder's to run.
    pub(super) fn numbers(&self, most: u64) -> Range<u64> {
        self.shard.map_or(0..most, |shard| shard.numbers(most))
    }

    pub fn has(&self, id: PointId) -> bool {
        self.store.has(id) || self.elsewhere.contains(&id)
    }

    pub fn len(&self) -> usize {
        self.store.len()
    }

    pub fn is_empty(&self) -> bool {
        self.store.is_empty()
    }

    /// What came of a point, if it has run.
    pub fn row(&self, id: PointId) -> Result<Option<PointRow>, FolderError> {
        self.store.line(id, PointRow::of_json)
    }

    /// Adds a row, if it is new, and sees it to the file. If that fails, what was written before is still there.
    pub fn add(&mut self, row: &PointRow) -> Result<(), FolderError> {
        self.store.add(row.point.id, || row.to_json())
    }

    pub fn sync(&self) -> Result<(), FolderError> {
        self.store.sync()
    }

    /// The file of rows that was there, if some were not as they were written.
    pub fn take_damaged(&mut self) -> Option<Damaged> {
        self.store.damaged.take()
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A file, if it is there.
pub(super) fn there(path: &Path) -> Result<Option<File>, FolderError> {
    match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        file => file.map(Some).map_err(failed(path)),
    }
}

/// Makes a folder if it is not there; the record that it is to get, if it has none of this study.
fn missing_record(path: &Path, study: &Study, text: &str) -> Result<Option<FolderRecord>, FolderError> {
    fs::create_dir_all(path).map_err(failed(path))?;
    let record = FolderRecord::of(study, text);
    match FolderRecord::read(path) {
        Ok(known) => record.agrees(&known, path).map(|()| None),
        Err(FolderError::NoStudy { .. }) => nothing_foreign(path).map(|()| Some(record)),
        Err(error) => Err(error),
    }
}

/// Refuses a folder with files that are not results. A sweep that was killed before it said which study it is has left no more than an
/// empty file of lines and a record that is not whole; shards that begin at once all write the same record.
fn nothing_foreign(path: &Path) -> Result<(), FolderError> {
    for entry in fs::read_dir(path).map_err(failed(path))? {
        let entry = entry.map_err(failed(path))?;
        let empty = || entry.metadata().map(|data| data.len() == 0);
        let name = entry.file_name();
        let shared = name == RECORD || name == SHARDS;
        let own =
            shared || is_under_way(&name.to_string_lossy()) || (name == LINES && empty().map_err(failed(path))?);
        if !own {
            return Err(FolderError::Foreign { path: path.display().to_string() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Point;
    use crate::table::PointId;

    const STUDY: &str = "name = \"n\"\nsummary = \"s\"\nmachine = \"h100-nvl-tdx\"\ncopy = \"h2d:64KiB\"\n\
                         [[axis]]\npath = \"tag_queue.depth\"\nfrom = 1\nto = 500\nstep = 1\n";

    fn row(point: Point) -> PointRow {
        PointRow::refused(point, "none of this ran".into())
    }

    #[test]
    fn a_disk_that_is_full_is_named_as_such_and_says_that_nothing_is_lost() {
        let full = failed(Path::new("results/points.jsonl"))(io::Error::from(io::ErrorKind::StorageFull));
        assert!(full.to_string().contains("all points that were done are kept"), "{full}");
        let other = failed(Path::new("results"))(io::Error::from(io::ErrorKind::PermissionDenied));
        assert!(!other.to_string().contains("kept"), "{other}");
    }

    #[test]
    fn rows_come_back_by_identity_before_and_after_the_folder_is_opened_again() {
        let place = tempfile::tempdir().unwrap();
        let study = Study::read("study", STUDY).unwrap();
        let mut folder = Folder::open(place.path(), &study, STUDY).unwrap();
        let points: Vec<Point> = study.points().unwrap().collect();
        assert!(folder.is_empty());
        points.iter().rev().for_each(|point| folder.add(&row(point.clone())).unwrap());
        folder.add(&row(points[7].clone())).unwrap();
        assert!(matches!(Folder::open(place.path(), &study, STUDY), Err(FolderError::InUse { .. })));
        for _ in 0..2 {
            assert_eq!(folder.len(), 500);
            for point in [&points[0], &points[250], &points[499]] {
                assert_eq!(folder.row(point.id).unwrap(), Some(row(point.clone())));
            }
            assert_eq!(folder.row(PointId([0; 16])).unwrap(), None);
            drop(folder);
            folder = Folder::open(place.path(), &study, STUDY).unwrap();
        }
    }

    #[test]
    fn a_folder_that_a_kill_left_without_its_record_is_taken_and_others_are_not() {
        let place = tempfile::tempdir().unwrap();
        let study = Study::read("study", STUDY).unwrap();
        fs::write(place.path().join(LINES), "").unwrap();
        fs::write(place.path().join(".study.json.sealsim-a1B2c3.part"), "{").unwrap();
        assert!(Folder::open(place.path(), &study, STUDY).is_ok());
        fs::remove_file(place.path().join(RECORD)).unwrap();
        fs::write(place.path().join(LINES), "{}\n").unwrap();
        assert!(matches!(Folder::open(place.path(), &study, STUDY), Err(FolderError::Foreign { .. })));
    }
}
