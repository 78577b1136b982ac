//! A folder of results: which study it belongs to, and one line per point that has run.
//!
//! The lines stay in their file: of a point that has run, memory holds no more than its identity and where its line is.

use super::column::AxisColumn;
use super::folder_error::{FolderError, failed};
use super::lines::BoundedLines;
use super::partial::write_whole;
use super::study::Study;
use crate::explore::{
    simulator::simulator,
    uncertainty::{Numbers, Residual},
};
use crate::files::{ReadError, is_under_way, read_text};
use crate::table::PointId;
use crate::table::PointRow;
use crate::units::Bytes;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
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

/// An open folder. It is locked against other sweeps while it is open.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    lines: File,
    /// Bytes of whole lines.
    length: u64,
    /// By point: where its line begins, and how long it is.
    done: HashMap<PointId, (u64, u32)>,
}

pub(super) const RECORD: &str = "study.json";
pub(super) const LINES: &str = "points.jsonl";

/// The longest `study.json`: it holds the study's text, escaped, and the names of its axes.
const LONGEST_RECORD: Bytes = Bytes(8 << 20);

impl FolderRecord {
    /// Reads what a folder says of itself.
    pub fn read(folder: &Path) -> Result<Self, FolderError> {
        let path = folder.join(RECORD);
        let text = read_text(&path, LONGEST_RECORD).map_err(|error| match error {
            ReadError::Unreadable { error, .. } if error.kind() == io::ErrorKind::NotFound => {
                FolderError::NoStudy { path: folder.display().to_string() }
            }
            error => FolderError::Record(error),
        })?;
        serde_json::from_str(&text).map_err(|error| FolderError::Line {
            path: path.display().to_string(),
            line: 1,
            error,
        })
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
        fs::create_dir_all(path).map_err(failed(path))?;
        let known = match FolderRecord::read(path) {
            Ok(known) => Some(known),
            Err(FolderError::NoStudy { .. }) => None,
            Err(error) => return Err(error),
        };
        let record = FolderRecord::of(study, text);
        match &known {
            Some(known) => record.agrees(known, path)?,
            None => nothing_foreign(path)?,
        }
        let folder = Self::attach(path)?;
        if known.is_none() {
            let json = serde_json::to_string_pretty(&record).map_err(|error| failed(path)(error.into()))?;
            write_whole(&path.join(RECORD), json.as_bytes())?;
        }
        Ok(folder)
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
        let lines = BufReader::new(BoundedLines::new(File::open(&file).map_err(failed(&file))?)).lines();
        let mut all = HashMap::new();
        for (line, number) in lines.zip(1..) {
            let line = line.map_err(failed(&file))?;
            let Known { id, draws } = serde_json::from_str(&line).map_err(|error| wrong_line(&file, number, error))?;
            if !draws.is_empty() {
                all.insert(id.to_string(), draws);
            }
        }
        Ok(all)
    }

    fn attach(path: &Path) -> Result<Self, FolderError> {
        let file = path.join(LINES);
        let mut options = OpenOptions::new();
        let lines = options.create(true).read(true).append(true).open(&file).map_err(failed(&file))?;
        match lines.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(FolderError::InUse { path: path.display().to_string() }),
            Err(TryLockError::Error(error)) => return Err(failed(&file)(error)),
        }
        let mut folder = Self { path: path.to_owned(), lines, length: 0, done: HashMap::new() };
        folder.read_lines(&file)?;
        folder.lines.set_len(folder.length).map_err(failed(&file))?;
        Ok(folder)
    }

    /// Reads all lines. Only the last may be cut short, by a kill.
    fn read_lines(&mut self, file: &Path) -> Result<(), FolderError> {
        #[derive(Deserialize)]
        struct Known {
            id: PointId,
        }
        let mut number = 0;
        let mut reader = BufReader::new(BoundedLines::new(&self.lines));
        let mut line = String::new();
        while reader.read_line(&mut line).map_err(failed(file))? > 0 {
            number += 1;
            if !line.ends_with('\n') {
                break;
            }
            let known: Known = serde_json::from_str(&line).map_err(|error| wrong_line(file, number, error))?;
            self.done.insert(known.id, (self.length, line.len() as u32));
            self.length += line.len() as u64;
            line.clear();
        }
        Ok(())
    }

    /// Whether a point has run.
    pub fn has(&self, id: PointId) -> bool {
        self.done.contains_key(&id)
    }

    /// How many points have run.
    pub fn len(&self) -> usize {
        self.done.len()
    }

    pub fn is_empty(&self) -> bool {
        self.done.is_empty()
    }

    /// What came of a point, if it has run.
    pub fn row(&self, id: PointId) -> Result<Option<PointRow>, FolderError> {
        let Some(&(start, length)) = self.done.get(&id) else { return Ok(None) };
        let file = self.path.join(LINES);
        let mut line = vec![0; length as usize];
        let mut lines = &self.lines;
        lines.seek(SeekFrom::Start(start)).and_then(|_| lines.read_exact(&mut line)).map_err(failed(&file))?;
        PointRow::of_json(&line).map(Some).map_err(|error| wrong_line(&file, 0, error))
    }

    /// Adds a row, if it is new, and sees it to the file.
    ///
    /// # Errors
    /// If it cannot be written; what was written before is still there.
    pub fn add(&mut self, row: &PointRow) -> Result<(), FolderError> {
        if self.has(row.point.id) {
            return Ok(());
        }
        let file = self.path.join(LINES);
        let mut line = row.to_json().map_err(|error| failed(&file)(error.into()))?;
        line.push(b'\n');
        if let Err(error) = self.lines.write_all(&line) {
            // Half a line would be taken for a kill's; without it the file is as it was.
            let _ = self.lines.set_len(self.length);
            return Err(failed(&file)(error));
        }
        self.done.insert(row.point.id, (self.length, line.len() as u32));
        self.length += line.len() as u64;
        Ok(())
    }

    /// Waits until all lines are on the disk.
    pub fn sync(&self) -> Result<(), FolderError> {
        self.lines.sync_data().map_err(failed(&self.path.join(LINES)))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn wrong_line(file: &Path, line: usize, error: serde_json::Error) -> FolderError {
    FolderError::Line { path: file.display().to_string(), line, error }
}

/// Refuses a folder with files that are not results. A sweep that was killed before it said which study it is has left no more than an
/// empty file of lines and a record that is not whole.
fn nothing_foreign(path: &Path) -> Result<(), FolderError> {
    for entry in fs::read_dir(path).map_err(failed(path))? {
        let entry = entry.map_err(failed(path))?;
        let empty = || entry.metadata().map(|data| data.len() == 0);
        let name = entry.file_name();
        let own = is_under_way(&name.to_string_lossy()) || (name == LINES && empty().map_err(failed(path))?);
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
    fn what_memory_holds_of_a_point_that_has_run_has_a_fixed_size() {
        // Identity and place of the line. Hash tables of the standard library are at least seven sixteenths full after they have
        // grown, and take one byte more per slot.
        let slot = size_of::<(PointId, (u64, u32))>();
        assert!((slot + 1) * 16 / 7 <= 96, "{slot}");
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
