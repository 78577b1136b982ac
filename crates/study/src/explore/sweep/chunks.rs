//! A study split into chunks for schedulers: which points belong to which, and the rows that came of each.
//!
//! ```text
//!   FOLDER/chunks/plan.json         the chunks: runs of points that the folder did not have when they were cut
//!   FOLDER/chunks/ID-N.jsonl        the rows of chunk N of plan ID, whole or not at all
//! ```
//!
//! Whoever runs a chunk needs the folder and nothing else, does not take its lock, and may do so twice. Whoever gathers rows has the lock. A file of rows
//! that is cut, or holds anything else, is set aside: the rows before the damage are taken, and its chunk counts as missing.

use super::figures::Stopped;
use super::folder::{Folder, FolderRecord};
use super::folder_error::{FolderError, failed};
use super::lines::BoundedLines;
use super::partial::{Partial, write_whole};
use super::points::Run;
use super::run::Ended;
use super::study::{Study, StudyError};
use super::table::TableError;
use crate::files::read_text;
use crate::sim::Control;
use crate::table::PointRow;
use crate::units::Bytes;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

/// The most chunks of a plan: what a scheduler gets of them stays short.
pub const MOST_CHUNKS: u64 = 10_000;

/// The longest plan: a run of each of ten million points, which is what random points that repeat may come to.
const LONGEST_PLAN: Bytes = Bytes(1 << 30);

const PLACE: &str = "chunks";
const PLAN: &str = "plan.json";

/// What `plan.json` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct PlanRecord {
    study_digest: String,
    chunks: Vec<Vec<Run>>,
}

/// A plan of chunks, and the rows that are there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunks {
    /// Of `chunks`, below the folder of results.
    path: PathBuf,
    /// What distinguishes it from other plans.
    id: String,
    plan: PlanRecord,
}

/// A file of rows that was not as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damaged {
    pub path: PathBuf,
    pub why: String,
}

/// What a file of rows holds.
enum Held {
    Rows(u64),
    /// Rows, and then something else.
    Damage(FolderError),
}

impl FolderRecord {
    /// The study of a folder, as the folder keeps it.
    ///
    /// # Errors
    /// If it cannot be read, or means something else by now: a design that it names has changed, or the simulator.
    pub fn study(&self, folder: &Path) -> Result<Study, TableError> {
        let study = Study::read("study", &self.text)?;
        let now = Self::of(&study, &self.text);
        now.agrees(self, folder)?;
        Ok(study)
    }
}

impl Chunks {
    /// The plan of a folder, if it has one for this study.
    pub fn read(folder: &Path, study: &Study) -> Result<Option<Self>, FolderError> {
        let path = folder.join(PLACE);
        let file = path.join(PLAN);
        if !file.exists() {
            return Ok(None);
        }
        let text = read_text(&file, LONGEST_PLAN).map_err(FolderError::Record)?;
        let wrong = |error| FolderError::Line { path: file.display().to_string(), line: 1, error };
        let plan: PlanRecord = serde_json::from_str(&text).map_err(wrong)?;
        if plan.study_digest != study.digest {
            return Ok(None);
        }
        if !plan.ascends(study.most_points().unwrap_or(0)) {
            return Err(FolderError::Plan { path: file.display().to_string() });
        }
        Ok(Some(Self { path, id: identity(&text), plan }))
    }

    /// Cuts the points that a folder does not have into chunks of `size`, and writes the plan.
    pub fn cut(folder: &Folder, study: &Study, size: u64) -> Result<Self, TableError> {
        let mut chunks: Vec<Vec<Run>> = Vec::new();
        let mut room = 0;
        for (number, point) in study.numbered()?.filter(|(_, point)| !folder.has(point.id)) {
            if room == 0 {
                chunks.push(Vec::new());
                room = size.max(1);
            }
            room -= 1;
            let Some(runs) = chunks.last_mut() else { continue };
            match runs.last_mut().filter(|run| run.follows(number, point.index)) {
                Some(run) => run.length += 1,
                None => runs.push(Run { number, index: point.index, length: 1 }),
            }
        }
        let plan = PlanRecord { study_digest: study.digest.clone(), chunks };
        let path = folder.path().join(PLACE);
        fs::create_dir_all(&path).map_err(failed(&path))?;
        let text = serde_json::to_string(&plan).map_err(|error| failed(&path)(error.into()))?;
        write_whole(&path.join(PLAN), text.as_bytes())?;
        Ok(Self { path, id: identity(&text), plan })
    }

    /// What distinguishes the plan from others.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The folder of plan and rows.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many chunks there are.
    pub fn len(&self) -> u64 {
        self.plan.chunks.len() as u64
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.plan.chunks.is_empty()
    }

    pub fn points(&self, chunk: u64) -> u64 {
        self.runs(chunk).iter().map(|run| run.length).sum()
    }

    /// The file of a chunk's rows.
    pub fn rows(&self, chunk: u64) -> PathBuf {
        self.path.join(format!("{}-{chunk}.jsonl", self.id))
    }

    /// The chunks whose rows are not there.
    pub fn missing(&self) -> Vec<u64> {
        (0..self.len()).filter(|chunk| !self.rows(*chunk).exists()).collect()
    }

    fn runs(&self, chunk: u64) -> &[Run] {
        usize::try_from(chunk).ok().and_then(|chunk| self.plan.chunks.get(chunk)).map_or(&[], Vec::as_slice)
    }

    /// Whether the rows of a chunk are all there.
    fn is_whole(&self, study: &Study, chunk: u64) -> Result<bool, FolderError> {
        let held = read_rows(study, &self.rows(chunk), &mut |_| Ok(()))?;
        Ok(matches!(held, Held::Rows(rows) if rows == self.points(chunk)))
    }

    /// Runs a chunk and writes its rows, whole or not at all. What is there already and whole stays; the answer is whether anything ran.
    pub fn run(&self, study: &Study, chunk: u64, observer: &(dyn Fn() -> Control + Sync)) -> Result<bool, Ended> {
        if chunk >= self.len() {
            let path = self.path.join(PLAN).display().to_string();
            return Err(Ended::Folder(FolderError::NoChunk { path, chunk, count: self.len() }));
        }
        let path = self.rows(chunk);
        if path.exists() && self.is_whole(study, chunk).map_err(Ended::Folder)? {
            return Ok(false);
        }
        let mut rows = Partial::create(&path).map_err(Ended::Folder)?;
        for point in study.points_of(self.runs(chunk)) {
            let row = study.run(point, observer).map_err(|Stopped| Ended::Stopped)?;
            let written = row.to_json().map_err(io::Error::from).and_then(|line| rows.write_all(&line));
            let written = written.and_then(|()| rows.write_all(b"\n"));
            written.map_err(|error| Ended::Folder(failed(&path)(error)))?;
        }
        rows.finish().map_err(Ended::Folder)?;
        Ok(true)
    }
}

impl Run {
    /// Whether a point comes right behind the run.
    const fn follows(&self, number: u64, index: u64) -> bool {
        self.number + self.length == number && self.index + self.length == index
    }
}

impl PlanRecord {
    /// Whether runs come one behind the other, below a bound.
    fn ascends(&self, bound: u64) -> bool {
        let mut end = 0;
        self.chunks.iter().flatten().all(|run| {
            let fits = run.number >= end && run.length > 0;
            end = run.number.saturating_add(run.length);
            fits && end <= bound
        })
    }
}

fn identity(text: &str) -> String {
    hex::encode(&Sha256::digest(text)[..6])
}

/// Takes the rows of all chunks, of whatever plan, into a folder. Their files are removed, unless chunks of their plan are yet to come.
/// What is lost in the middle is taken again. Answers which files were damaged, and are set aside.
pub fn gather(study: &Study, folder: &mut Folder) -> Result<Vec<Damaged>, FolderError> {
    let mut damaged = Vec::new();
    for path in row_files(folder.path())? {
        if let Held::Damage(error) = read_rows(study, &path, &mut |row| folder.add(row))? {
            damaged.push(set_aside(&path, error.to_string())?);
        }
    }
    let plan = Chunks::read(folder.path(), study)?;
    if let Some(plan) = &plan {
        damaged.extend(plan.short(study, folder)?);
        if !plan.missing().is_empty() {
            return Ok(damaged);
        }
    }
    // Rows without their plan are still rows; a plan without its rows would have them made again.
    folder.sync()?;
    let plan = plan.map(|plan| plan.path.join(PLAN));
    for path in plan.into_iter().chain(row_files(folder.path())?) {
        fs::remove_file(&path).map_err(failed(&path))?;
    }
    Ok(damaged)
}

impl Chunks {
    /// Sets aside the files of rows that lack some of their chunk, whose rows the folder has.
    fn short(&self, study: &Study, folder: &Folder) -> Result<Vec<Damaged>, FolderError> {
        let is_short = |chunk: &u64| {
            self.rows(*chunk).exists() && study.points_of(self.runs(*chunk)).any(|point| !folder.has(point.id))
        };
        let short = (0..self.len()).filter(is_short);
        short.map(|chunk| set_aside(&self.rows(chunk), format!("rows of chunk {chunk} are not there"))).collect()
    }
}

/// Gives a file of rows a name under which it is none, in the place of an earlier one.
fn set_aside(path: &Path, why: String) -> Result<Damaged, FolderError> {
    let aside = path.with_extension("damaged");
    fs::rename(path, &aside).map_err(failed(path))?;
    Ok(Damaged { path: aside, why })
}

/// The files of rows of a folder, of whatever plan.
pub(super) fn row_files(folder: &Path) -> Result<Vec<PathBuf>, FolderError> {
    let path = folder.join(PLACE);
    let entries = match fs::read_dir(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed(&path))?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let file = entry.map_err(failed(&path))?.path();
        if file.extension().is_some_and(|ending| ending == "jsonl") {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}

/// Reads a file of rows up to its end, or to what is no row of this study.
fn read_rows(
    study: &Study,
    path: &Path,
    take: &mut dyn FnMut(&PointRow) -> Result<(), FolderError>,
) -> Result<Held, FolderError> {
    let shown = || path.display().to_string();
    let file = File::open(path).map_err(failed(path))?;
    let mut rows = 0;
    for (text, line) in BufReader::new(BoundedLines::new(file)).lines().zip(1..) {
        let text = match text {
            // No UTF-8, or longer than any row.
            Err(error) if error.kind() == io::ErrorKind::InvalidData => return Ok(Held::Damage(failed(path)(error))),
            text => text.map_err(failed(path))?,
        };
        let row: PointRow = match PointRow::of_json(text.as_bytes()) {
            Ok(row) => row,
            Err(error) => return Ok(Held::Damage(FolderError::Line { path: shown(), line, error })),
        };
        if !study.owns(&row.point) {
            return Ok(Held::Damage(FolderError::Stranger { path: shown(), line, id: row.point.id }));
        }
        take(&row)?;
        rows += 1;
    }
    Ok(Held::Rows(rows))
}

/// Removes the plan, and all that stood next to it, once no point is missing.
pub fn discard(folder: &Folder) -> Result<(), FolderError> {
    let path = folder.path().join(PLACE);
    match fs::remove_dir_all(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(&path)(error)),
        _ => Ok(()),
    }
}

/// How many points make a chunk of some seconds, from a sample of them; never so many that few workers have all the work.
pub fn chunk_size(points: u64, sample: f64, seconds: f64, missing: u64) -> u64 {
    let least = missing.div_ceil(MOST_CHUNKS).max(1);
    let fit = if sample > 0.0 { (points as f64 * seconds / sample) as u64 } else { missing };
    fit.min(missing.div_ceil(64)).max(least)
}

impl Study {
    /// Runs points that a folder does not have, evenly over the study, until `enough` says so. Their rows are kept.
    pub fn sample(
        &self,
        folder: &mut Folder,
        (missing, most): (u64, u64),
        observer: &(dyn Fn() -> Control + Sync),
        enough: &dyn Fn() -> bool,
    ) -> Result<u64, Ended> {
        let stride = (missing / most.max(1)).max(1);
        let mut ran = 0;
        let mut place = 0;
        for point in self.points().map_err(Ended::Study)? {
            if folder.has(point.id) {
                continue;
            }
            place += 1;
            if (place - 1) % stride != 0 {
                continue;
            }
            let row = self.run(point, observer).map_err(|Stopped| Ended::Stopped)?;
            folder.add(&row).map_err(Ended::Folder)?;
            ran += 1;
            if ran >= most || enough() {
                break;
            }
        }
        Ok(ran)
    }
}

impl From<StudyError> for Ended {
    fn from(error: StudyError) -> Self {
        Self::Study(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEAD: &str = "name = \"n\"\nsummary = \"s\"\nmachine = \"h100-nvl-tdx\"\ncopy = \"h2d:4KiB\"\n";

    const GRID: &str = "[[axis]]\npath = \"tag_queue.depth\"\nfrom = 1\nto = 20\nstep = 1\n\
                        [[axis]]\npath = \"link.read_tags\"\nvalues = [32, 64, 32]\n";
    const RANDOM: &str =
        "[random]\npoints = 60\nseed = 4\n[[axis]]\npath = \"tag_queue.depth\"\nfrom = 1\nto = 40\nstep = 1\n";

    fn study(axes: &str) -> (Study, String) {
        let text = format!("{HEAD}{axes}");
        (Study::read("study", &text).unwrap(), text)
    }

    fn row(point: crate::table::Point) -> PointRow {
        PointRow::refused(point, "none of this ran".into())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn the_chunks_of_a_plan_hold_each_missing_point_once_in_the_studys_order(
            random in any::<bool>(), size in 1_u64..30, done in prop::collection::vec(any::<bool>(), 60)
        ) {
            let place = tempfile::tempdir().unwrap();
            let (study, text) = study(if random { RANDOM } else { GRID });
            let mut folder = Folder::open(place.path(), &study, &text).unwrap();
            let mut expected = Vec::new();
            for (point, done) in study.points().unwrap().zip(done) {
                if done { folder.add(&row(point)).unwrap() } else { expected.push(point) }
            }
            let chunks = Chunks::cut(&folder, &study, size).unwrap();
            prop_assert_eq!(Chunks::read(place.path(), &study).unwrap(), Some(chunks.clone()));
            let planned: Vec<_> = (0..chunks.len()).flat_map(|chunk| study.points_of(chunks.runs(chunk))).collect();
            prop_assert_eq!(planned, expected);
            let sizes: Vec<_> = (0..chunks.len()).map(|chunk| chunks.points(chunk)).collect();
            prop_assert!(sizes.iter().rev().skip(1).all(|points| *points == size));
            prop_assert_eq!(study.count().unwrap(), study.points().unwrap().count() as u64);
        }
    }

    #[test]
    fn rows_of_chunks_are_gathered_once_and_those_of_strangers_are_set_aside() {
        let place = tempfile::tempdir().unwrap();
        let (study, text) = study(GRID);
        let mut folder = Folder::open(place.path(), &study, &text).unwrap();
        let chunks = Chunks::cut(&folder, &study, 7).unwrap();
        let go = || Control::Continue;
        assert!(chunks.run(&study, 2, &go).unwrap());
        assert!(!chunks.run(&study, 2, &go).unwrap());
        assert!(matches!(chunks.run(&study, 99, &go), Err(Ended::Folder(FolderError::NoChunk { .. }))));
        assert_eq!(chunks.missing(), [0, 1, 3, 4, 5]);
        let rows = fs::read(chunks.rows(2)).unwrap();
        gather(&study, &mut folder).unwrap();
        // Others of the plan are yet to come.
        assert_eq!((folder.len(), chunks.rows(2).exists()), (7, true));
        for chunk in chunks.missing() {
            chunks.run(&study, chunk, &go).unwrap();
        }
        for _ in 0..2 {
            gather(&study, &mut folder).unwrap();
            assert_eq!((folder.len(), chunks.rows(2).exists()), (40, false));
            // As if the gathering had been cut short before the file was removed.
            fs::write(chunks.rows(2), &rows).unwrap();
        }
        let strange = String::from_utf8(rows).unwrap().replace("\"32\"", "\"33\"");
        fs::write(chunks.rows(2), strange).unwrap();
        let damaged = gather(&study, &mut folder).unwrap();
        assert!(damaged.len() == 1 && damaged[0].why.contains("is none of this study"), "{damaged:?}");
        assert!(damaged[0].path.exists() && !chunks.rows(2).exists());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn a_chunk_that_is_cut_or_holds_anything_else_is_run_again_and_the_study_is_whole(
            at in any::<prop::sample::Index>(),
            instead in prop_oneof![
                Just(Vec::new()), Just(b"{}\n".to_vec()), Just(vec![b'x'; 2 << 20]), prop::collection::vec(any::<u8>(), 0..40),
            ],
            all in any::<bool>(),
        ) {
            let place = tempfile::tempdir().unwrap();
            let (study, text) = study(GRID);
            let mut folder = Folder::open(place.path(), &study, &text).unwrap();
            let chunks = Chunks::cut(&folder, &study, 7).unwrap();
            let go = || Control::Continue;
            (0..chunks.len()).filter(|chunk| all || *chunk != 3).for_each(|chunk| { chunks.run(&study, chunk, &go).unwrap(); });
            let rows = fs::read(chunks.rows(2)).unwrap();
            let kept = at.index(rows.len() - 1);
            fs::write(chunks.rows(2), [&rows[..kept], &instead].concat()).unwrap();
            // A worker that gets the chunk again does it again.
            let status = super::super::status::SweepStatus::of(place.path()).unwrap().chunks.unwrap();
            prop_assert_eq!(status.missing, if all { vec![2] } else { vec![2, 3] });
            prop_assert!(chunks.run(&study, 2, &go).unwrap());
            prop_assert_eq!(&fs::read(chunks.rows(2)).unwrap(), &rows);
            fs::write(chunks.rows(2), [&rows[..kept], &instead].concat()).unwrap();
            prop_assert_eq!(gather(&study, &mut folder).unwrap().len(), 1);
            let left = chunks.missing();
            prop_assert_eq!(&left, if all { &[2][..] } else { &[2, 3] });
            for chunk in left {
                prop_assert!(chunks.run(&study, chunk, &go).unwrap());
            }
            prop_assert_eq!(gather(&study, &mut folder).unwrap(), vec![]);
            prop_assert_eq!((folder.len(), study.points().unwrap().all(|point| folder.has(point.id))), (40, true));
            prop_assert_eq!(Chunks::read(place.path(), &study).unwrap(), None);
        }
    }

    #[test]
    fn a_plan_that_was_changed_is_refused_or_read_without_harm() {
        let place = tempfile::tempdir().unwrap();
        let (study, text) = study(GRID);
        let folder = Folder::open(place.path(), &study, &text).unwrap();
        let chunks = Chunks::cut(&folder, &study, 7).unwrap();
        let file = chunks.path().join(PLAN);
        let written = fs::read_to_string(&file).unwrap();
        for (from, to) in
            [("\"length\":", "\"length\":1844674407370955161"), ("\"number\":0,", "\"number\":70,"), ("[", "")]
        {
            fs::write(&file, written.replacen(from, to, 1)).unwrap();
            assert!(Chunks::read(place.path(), &study).is_err(), "{to}");
        }
        fs::write(&file, written.replace(&study.digest, "another")).unwrap();
        assert_eq!(Chunks::read(place.path(), &study).unwrap(), None);
    }

    #[test]
    fn a_chunk_takes_some_seconds_unless_that_leaves_workers_idle() {
        // Ten points take a second.
        assert_eq!(chunk_size(10, 1.0, 5.0, 1_000_000), 100);
        assert_eq!(chunk_size(10, 1.0, 5.0, 10_000), 50);
        assert_eq!(chunk_size(10, 1.0, 5.0, 640), 10);
        assert_eq!(chunk_size(10, 0.0, 5.0, 64), 1);
        assert_eq!(chunk_size(1, 1e9, 5.0, 10_000_000), 1000);
    }
}
