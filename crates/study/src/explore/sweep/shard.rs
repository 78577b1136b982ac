//! A shard: the part of a study that one process runs, so that many processes, wherever they are, run all of it.
//!
//! Which points belong to a shard depends on nothing but the study: those whose numbers among its choices lie in one of so many equal runs. Each shard has
//! a file of rows of its own in the folder, so shards may share a folder or not. Rows of all folders and files come together by the identity of their
//! points; a row that came twice is one row.

use super::folder::{Folder, FolderRecord, LINES};
use super::folder_error::{FolderError, failed};
use super::lines::each_line;
use super::store::{Damaged, set_aside};
use super::study::{Study, StudyError};
use super::table::TableError;
use crate::files::{read_text, write_whole};
use crate::table::{PointId, PointRow};
use crate::units::Bytes;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where a folder has the rows of shards.
pub(super) const SHARDS: &str = "shards";
const ARRAY: &str = "array.json";
const LONGEST_ARRAY: Bytes = Bytes(4096);

/// One of so many parts of a study: `3/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// From 1.
    number: u32,
    of: u32,
}

/// How a sweep is split for a scheduler, as `shards/array.json` says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardArray {
    pub of: u32,
    /// The scheduler's number of the job that runs them, if it gave one.
    pub job: Option<u64>,
}

/// Takes rows of a study into a folder.
pub struct Gathering<'a> {
    study: &'a Study,
    folder: &'a mut Folder,
    known: HashSet<PointId>,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Self { number, of }),
            _ => Err("a shard is I/N: 1/8 is the first of eight, 8/8 the last".to_owned()),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl Shard {
    /// Which of so many numbers of points are its own.
    pub(super) fn numbers(self, most: u64) -> Range<u64> {
        let [first, end] = [self.number - 1, self.number].map(|before| u64::from(before) * most / u64::from(self.of));
        first..end
    }

    pub fn rows(self, folder: &Path) -> PathBuf {
        folder.join(SHARDS).join(format!("{}-of-{}.jsonl", self.number, self.of))
    }
}

impl ShardArray {
    /// How the sweep of a folder is split, if it is.
    pub fn read(folder: &Path) -> Option<Self> {
        let text = read_text(&folder.join(SHARDS).join(ARRAY), LONGEST_ARRAY).ok()?;
        serde_json::from_str(&text).ok().filter(|array: &Self| array.of > 0)
    }

    pub fn write(self, folder: &Path) -> Result<(), FolderError> {
        let place = folder.join(SHARDS);
        fs::create_dir_all(&place).map_err(failed(&place))?;
        let json = serde_json::to_string(&self).map_err(|error| failed(&place)(error.into()))?;
        Ok(write_whole(&place.join(ARRAY), json.as_bytes())?)
    }

    /// The numbers of those of its shards that have points of which `has` says that there are no rows.
    pub fn lacking(self, study: &Study, has: impl Fn(PointId) -> bool) -> Result<Vec<u32>, StudyError> {
        let most = study.most_points()?;
        let mut lacking = Vec::new();
        let mut shard = Shard { number: 0, of: self.of };
        let mut end = 0;
        for (number, _) in study.numbered(0..most).filter(|(_, point)| !has(point.id)) {
            if number >= end {
                // The one of which numbers end behind this one.
                shard.number = ((u64::from(self.of) * (number + 1) - 1) / most) as u32 + 1;
                end = shard.numbers(most).end;
                lacking.push(shard.number);
            }
        }
        Ok(lacking)
    }
}

impl<'a> Gathering<'a> {
    pub fn new(study: &'a Study, folder: &'a mut Folder) -> Result<Self, StudyError> {
        let known = study.points()?.map(|point| point.id).collect();
        Ok(Self { study, folder, known })
    }

    /// Takes the rows of a file, or those of a folder of this study, its shards' included.
    pub fn take(&mut self, path: &Path) -> Result<(), TableError> {
        if !path.is_dir() {
            // A last line without its end is one, too.
            return Ok(self.rows(path, open(path)?.chain(&b"\n"[..]))?);
        }
        FolderRecord::read(path)?;
        for file in [path.join(LINES)].into_iter().filter(|lines| lines.exists()).chain(files(path)?) {
            self.rows(&file, open(&file)?)?;
        }
        Ok(())
    }

    fn rows(&mut self, path: &Path, rows: impl Read) -> Result<(), FolderError> {
        let lines = each_line(path, rows, &mut |line| {
            let row = line.read(PointRow::of_json)?;
            let id = row.point.id;
            if !self.known.contains(&id) || self.study.id(&row.point.settings) != id {
                return Err(FolderError::Stranger { path: path.display().to_string(), line: line.number, id });
            }
            self.folder.add(&row)
        })?;
        lines.altered.map_or(Ok(()), Err)
    }
}

/// Takes the rows that shards have written so far into the folder that they share. Files stay, since their shards may go on; one that holds anything but
/// rows of the study is set aside, with its rows before that taken. Answers which were, the folder's own included.
pub fn gather(study: &Study, folder: &mut Folder) -> Result<Vec<Damaged>, TableError> {
    let (files, mut damaged) = (files(folder.path())?, Vec::from_iter(folder.take_damaged()));
    if files.is_empty() {
        return Ok(damaged);
    }
    let mut gathering = Gathering::new(study, folder)?;
    for path in files {
        match gathering.rows(&path, open(&path)?) {
            Err(error) if error.is_damage() => {
                damaged.push(Damaged { path: set_aside(&path)?, why: error.to_string() });
            }
            taken => taken?,
        }
    }
    Ok(damaged)
}

fn open(path: &Path) -> Result<File, FolderError> {
    File::open(path).map_err(failed(path))
}

/// The files of rows of shards, of whatever number.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>, FolderError> {
    let path = folder.join(SHARDS);
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

/// Removes what shards have left, once the folder has rows of all points.
pub fn discard(folder: &Folder) -> Result<(), FolderError> {
    let path = folder.path().join(SHARDS);
    if path.exists() {
        folder.sync()?;
        fs::remove_dir_all(&path).map_err(failed(&path))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::status::SweepStatus;
    use super::*;
    use crate::sim::Control;
    use proptest::prelude::*;

    const HEAD: &str = "name = \"n\"\nsummary = \"s\"\nmachine = \"h100-nvl-tdx\"\ncopy = \"h2d:4KiB\"\n";
    const DEPTHS: &str = "[[axis]]\npath = \"tag_queue.depth\"\nfrom = 1\nto = 20\nstep = 1\n";
    /// Forty points, of which sixty numbers tell.
    const GRID: &str = "[[axis]]\npath = \"link.read_tags\"\nvalues = [32, 64, 32]\n";
    const RANDOM: &str = "[random]\npoints = 60\nseed = 4\n";

    fn study(before: &str, behind: &str) -> (Study, String) {
        let text = format!("{HEAD}{before}{DEPTHS}{behind}");
        (Study::read("study.toml", &text).unwrap(), text)
    }

    fn shard(number: u32, of: u32) -> Shard {
        format!("{number}/{of}").parse().unwrap()
    }

    fn run(study: &Study, text: &str, place: &Path, shard: Shard) -> u64 {
        let mut folder = Folder::of_shard(place, study, text, shard).unwrap();
        let before = study.progress(&folder).unwrap().1;
        study.sweep(&mut folder, 1, &|| Control::Continue, &|| ()).unwrap();
        study.progress(&folder).unwrap().0 - before
    }

    #[test]
    fn a_shard_is_a_number_of_so_many() {
        assert_eq!(shard(3, 8).to_string(), "3/8");
        for wrong in ["", "3", "0/8", "9/8", "0/0", "-1/8", "1/8/8", "1/4294967296"] {
            assert!(wrong.parse::<Shard>().unwrap_err().contains("8/8 the last"), "{wrong}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn shards_of_any_number_hold_each_point_once_and_those_that_lack_some_are_known(
            random in 0..3_usize, of in 1_u32..80, done in prop::collection::vec(any::<bool>(), 60)
        ) {
            let (before, behind) = [("", ""), ("", GRID), (RANDOM, "")][random];
            let (study, _) = study(before, behind);
            let most = study.most_points().unwrap();
            let all: Vec<_> = study.points().unwrap().collect();
            let of_shard = |number| study.numbered(shard(number, of).numbers(most)).map(|(_, point)| point);
            prop_assert_eq!(&(1..=of).flat_map(of_shard).collect::<Vec<_>>(), &all);
            let has = |id| all.iter().zip(&done).any(|(point, done)| point.id == id && *done);
            let expected: Vec<_> = (1..=of).filter(|number| !of_shard(*number).all(|point| has(point.id))).collect();
            prop_assert_eq!(ShardArray { of, job: None }.lacking(&study, has).unwrap(), expected);
        }
    }

    #[test]
    fn rows_come_together_once_and_those_of_strangers_are_set_aside() {
        let (place, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (study, text) = study("", GRID);
        let mut folder = Folder::open(place.path(), &study, &text).unwrap();
        assert_eq!(
            [run(&study, &text, place.path(), shard(2, 6)), run(&study, &text, place.path(), shard(2, 6))],
            [7, 0]
        );
        let rows = shard(2, 6).rows(place.path());
        for _ in 0..2 {
            gather(&study, &mut folder).unwrap();
            assert_eq!((folder.len(), rows.exists()), (7, true));
        }
        // What the folder has is not run by a shard of another number, nor into another folder by the rest.
        assert_eq!(run(&study, &text, place.path(), shard(1, 1)), 33);
        (1..=3).for_each(|number| _ = run(&study, &text, other.path(), shard(number, 3)));
        assert_eq!(gather(&study, &mut folder).unwrap(), []);
        Gathering::new(&study, &mut folder).unwrap().take(other.path()).unwrap();
        assert_eq!((folder.len(), study.progress(&folder).unwrap()), (40, (40, 40)));
        let strange_rows = fs::read_to_string(&rows).unwrap().replace("\"32\"", "\"33\"");
        fs::write(&rows, &strange_rows).unwrap();
        let damaged = gather(&study, &mut folder).unwrap();
        assert!(damaged.len() == 1 && damaged[0].why.contains("line 5 (and 2 more), is not as it was"), "{damaged:?}");
        assert!(damaged[0].path.exists() && !rows.exists());
        let strange = |row: &str| {
            let said = row.split_once(",\"digest").unwrap().0.to_owned() + "}";
            String::from_utf8(super::super::lines::sealed(said.into_bytes())).unwrap() + "\n"
        };
        fs::write(&rows, strange_rows.lines().map(strange).collect::<String>()).unwrap();
        let damaged = gather(&study, &mut folder).unwrap();
        assert!(damaged.len() == 1 && damaged[0].why.contains("is none of this study"), "{damaged:?}");
        assert!(damaged[0].path.exists() && !rows.exists());
        discard(&folder).unwrap();
        assert!(!place.path().join(SHARDS).exists());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn a_shard_that_is_cut_or_holds_anything_else_goes_on_and_the_study_is_whole(
            at in any::<prop::sample::Index>(),
            instead in prop_oneof![
                Just(Vec::new()), Just(b"{}\n".to_vec()), Just(vec![b'x'; 2 << 20]), prop::collection::vec(any::<u8>(), 0..40),
            ],
            all in any::<bool>(),
            gathered in any::<bool>(),
        ) {
            let place = tempfile::tempdir().unwrap();
            let (study, text) = study("", GRID);
            let mut folder = Folder::open(place.path(), &study, &text).unwrap();
            let array = ShardArray { of: 6, job: None };
            array.write(place.path()).unwrap();
            (1..=6).filter(|number| all || *number != 4).for_each(|number| _ = run(&study, &text, place.path(), shard(number, 6)));
            let path = shard(3, 6).rows(place.path());
            let rows = fs::read(&path).unwrap();
            let kept = at.index(rows.len() - 1);
            fs::write(&path, [&rows[..kept], &instead].concat()).unwrap();
            let expected = if all { vec![3] } else { vec![3, 4] };
            prop_assert_eq!(SweepStatus::of(place.path()).unwrap().shards.unwrap().missing, expected.clone());
            if gathered {
                gather(&study, &mut folder).unwrap();
                prop_assert_eq!(array.lacking(&study, |id| folder.has(id)).unwrap(), expected.clone());
            }
            for number in expected {
                run(&study, &text, place.path(), shard(number, 6));
            }
            prop_assert_eq!(gather(&study, &mut folder).unwrap(), []);
            prop_assert_eq!(study.progress(&folder).unwrap(), (40, 40));
            prop_assert_eq!(folder.len(), 40);
            discard(&folder).unwrap();
            prop_assert_eq!(ShardArray::read(place.path()), None);
        }
    }
}
