//! Pieces of a long answer: those that are finished when it ends early are kept in a [`Store`], and need not be done again.

use super::{
    outcome::Shared,
    sweep::{FolderError, Store, each_line},
};
use crate::{pool, sim::Control, table::PointId};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeMap,
    fs::{self, File},
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Finished pieces, by what identifies them: all that they depend on; and outcomes that others may share.
#[derive(Debug)]
pub struct Finished<T> {
    pieces: Mutex<Pieces<T>>,
    pub(super) outcomes: Shared,
}

#[derive(Debug)]
struct Pieces<T> {
    known: BTreeMap<PointId, T>,
    /// The file that keeps them, which is made for the first; else why there is none.
    file: Result<PathBuf, String>,
    store: Option<Store>,
}

/// A piece as a line.
#[derive(Serialize, Deserialize)]
struct Kept<T> {
    id: PointId,
    piece: T,
}

/// In memory alone.
impl<T> Default for Finished<T> {
    fn default() -> Self {
        Self::of(Err(String::new()))
    }
}

impl<T> Finished<T> {
    /// Nothing as yet. A file keeps what will be, unless the reason is given why there is none.
    pub fn of(file: Result<PathBuf, String>) -> Self {
        Self { pieces: Mutex::new(Pieces { known: BTreeMap::new(), file, store: None }), outcomes: Shared::default() }
    }

    /// Takes what earlier processes have left in the file; answers what is wrong with the rest.
    pub fn resume(&self) -> Option<FolderError>
    where
        T: DeserializeOwned,
    {
        let mut pieces = self.pieces();
        let Pieces { known, file, .. } = &mut *pieces;
        let path = file.as_ref().ok()?;
        let read = each_line(path, File::open(path).ok()?, &mut |line| {
            let Kept { id, piece } = line.read(|text| serde_json::from_slice(text))?;
            known.insert(id, piece);
            Ok(())
        });
        read.map_or_else(Some, |lines| lines.altered)
    }

    pub(super) fn known(&self, key: &str) -> Option<T>
    where
        T: Clone,
    {
        self.pieces().known.get(&identity(key)).cloned()
    }

    pub(super) fn keep(&self, key: &str, piece: T)
    where
        T: Serialize,
    {
        let (mut pieces, id) = (self.pieces(), identity(key));
        if let Err(error) = pieces.write(id, &piece) {
            pieces.file = Err(error.to_string());
        }
        pieces.known.insert(id, piece);
    }

    /// How many are finished, and why they are not kept, if they are not.
    pub fn kept(&self) -> (usize, Result<(), String>) {
        let pieces = self.pieces();
        (pieces.known.len(), pieces.file.clone().map(|_| ()))
    }

    /// The answer is whole: nothing needs to be kept.
    pub fn discard(self) {
        if let Ok(path) = &self.pieces().file {
            let _ = fs::remove_file(path);
        }
    }

    fn pieces(&self) -> MutexGuard<'_, Pieces<T>> {
        self.pieces.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Serialize> Pieces<T> {
    fn write(&mut self, id: PointId, piece: &T) -> Result<(), FolderError> {
        let Ok(path) = &self.file else { return Ok(()) };
        let store = match &mut self.store {
            Some(store) => store,
            none => none.insert(Store::of_whatever(path)?),
        };
        store.add(id, || serde_json::to_vec(&Kept { id, piece }))
    }
}

fn identity(key: &str) -> PointId {
    let digest = Sha256::digest(key);
    PointId(std::array::from_fn(|place| digest[place]))
}

pub(super) trait Piece {
    type Answer: Clone + Send + Serialize;
    type Error: Send;

    /// All that its answer depends on.
    fn key(&self) -> String;
    /// About how long it takes, in any unit.
    fn cost(&self) -> u64;
    /// Does it; none if `observer` has stopped it.
    fn answer(&self, observer: &(dyn Fn() -> Control + Sync)) -> Result<Option<Self::Answer>, Self::Error>;
}

/// Does what is not finished, on so many threads, the longest pieces first; calls `progress` with the part of the whole that each is. None for
/// pieces that `observer` has stopped.
pub(super) fn each<P: Piece + Sync>(
    pieces: &[P],
    threads: usize,
    finished: &Finished<P::Answer>,
    observer: &(dyn Fn() -> Control + Sync),
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Vec<Option<P::Answer>>, P::Error> {
    let whole = pieces.iter().map(|piece| piece.cost() as f64).sum::<f64>();
    let one = |piece: &P| {
        let key = piece.key();
        let answer = match finished.known(&key) {
            Some(answer) => Some(answer),
            None if observer() == Control::Stop => None,
            None => piece.answer(observer)?,
        };
        if let Some(answer) = &answer {
            finished.keep(&key, answer.clone());
            progress(piece.cost() as f64 / whole);
        }
        Ok(answer)
    };
    pool::map(pieces, threads, P::cost, one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_back_but_for_what_is_damaged_and_later_ones_are_added() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("below/pieces.jsonl");
        let again = || {
            let finished = Finished::<u64>::of(Ok(path.clone()));
            (finished.resume(), finished)
        };
        let (altered, finished) = again();
        assert!(altered.is_none() && !path.exists());
        ["a", "b", "c"].iter().zip(1..).for_each(|(key, piece)| finished.keep(key, piece));
        // Another command of the same question is at it: what this one has finished it has in memory.
        let (_, other) = again();
        other.keep("d", 4);
        assert!(other.known("d") == Some(4) && other.kept().1.unwrap_err().contains("in use"));
        drop(finished);
        let lines = fs::read_to_string(&path).unwrap();
        let second = lines.lines().nth(1).unwrap();
        let unsealed = format!("{}}}", second.split_once(",\"digest").unwrap().0);
        for instead in ["dear", &second.replace("\"piece\":2", "\"piece\":7"), &unsealed] {
            fs::write(&path, lines.replace(second, instead)).unwrap();
            let (altered, finished) = again();
            assert!(
                altered.unwrap().to_string().contains("pieces.jsonl, line 2, is not as it was written"),
                "{instead}"
            );
            assert_eq!(["a", "b", "c"].map(|key| finished.known(key)), [Some(1), None, Some(3)]);
            finished.keep("b", 2);
            assert_eq!(finished.kept(), (3, Ok(())));
            drop(finished);
            let (altered, finished) = again();
            assert!(altered.is_none());
            assert_eq!(["a", "b", "c"].map(|key| finished.known(key)), [Some(1), Some(2), Some(3)]);
        }
        again().1.discard();
        assert!(!path.exists());
    }
}
