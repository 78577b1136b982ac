//! What an interrupted command has finished, kept in the user's cache folder until the same command goes on.

use super::{Failure, output, signals};
use crate::{
    explore::{Finished, simulator},
    files::{WholeFile, read_text},
    units::Bytes,
};
use miette::miette;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

const LONGEST: Bytes = Bytes(256 << 20);

/// Pieces of an answer, as a file keeps them.
#[derive(Debug, Serialize, Deserialize)]
struct Pieces<T> {
    /// Pieces of another simulator are of no use.
    simulator: String,
    pieces: BTreeMap<String, T>,
}

/// What is finished of a command, and where it is kept if the command is interrupted.
pub(super) struct Kept<T> {
    /// Pieces, to which the command adds.
    pub finished: Finished<T>,
    path: Option<PathBuf>,
}

impl<T: Serialize + DeserializeOwned> Kept<T> {
    /// For a question, which its text identifies: with what an earlier command has finished, if it is to go on from there.
    pub fn of(question: &str, resume: bool) -> Self {
        let path = folder().map(|folder| folder.join(format!("{}.json", hex::encode(Sha256::digest(question)))));
        let known = path.as_deref().filter(|_| resume).map_or_else(BTreeMap::new, read);
        if resume && known.is_empty() {
            output::complain(format_args!("--resume: nothing is kept of this command, which begins anew"));
        }
        Self { finished: Finished::of(known), path }
    }

    /// Everything is finished: nothing needs to be kept.
    pub fn done(self) {
        if let Some(path) = self.path {
            let _ = fs::remove_file(path);
        }
    }

    /// Keeps what is finished; the failure says how much that is of how many pieces, and how to go on.
    pub fn interrupted(self, of: usize) -> Failure {
        signals::note_end();
        let pieces = self.finished.into_pieces();
        let count = pieces.len();
        let kept = self.path.ok_or_else(|| io::Error::other("there is no cache folder, set HOME or XDG_CACHE_HOME"));
        match kept.and_then(|path| write(&path, pieces)) {
            Ok(()) => Failure::Verification(miette!(
                help = "the same command with --resume continues from there",
                "interrupted: {count} of {of} runs are finished and kept"
            )),
            Err(error) => Failure::Verification(miette!(
                "interrupted: {count} of {of} runs are finished; they could not be kept: {error}"
            )),
        }
    }

    /// Keeps what was finished before something failed. That it cannot be kept is reported next to the failure.
    pub fn failed(self) {
        let pieces = self.finished.into_pieces();
        if let Some(path) = self.path.filter(|_| !pieces.is_empty())
            && let Err(error) = write(&path, pieces)
        {
            output::complain(format_args!("what is finished could not be kept: {error}"));
        }
    }
}

fn folder() -> Option<PathBuf> {
    dirs::cache_dir().map(|folder| folder.join("sealsim").join("unfinished"))
}

/// Pieces of this simulator that a file holds; none if it holds none that can be read.
fn read<T: DeserializeOwned>(path: &Path) -> BTreeMap<String, T> {
    let text = read_text(path, LONGEST).ok();
    let kept = text.and_then(|text| serde_json::from_str::<Pieces<T>>(&text).ok());
    kept.filter(|kept| kept.simulator == simulator()).map_or_else(BTreeMap::new, |kept| kept.pieces)
}

/// Adds pieces to those that a file holds.
fn write<T: Serialize + DeserializeOwned>(path: &Path, pieces: BTreeMap<String, T>) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    let mut all = read(path);
    all.extend(pieces);
    let mut file = WholeFile::create(path)?;
    file.write_all(&serde_json::to_vec(&Pieces { simulator: simulator().to_owned(), pieces: all })?)?;
    file.keep()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(names: &[&str]) -> BTreeMap<String, u64> {
        names.iter().zip(1..).map(|(name, value)| ((*name).to_owned(), value)).collect()
    }

    #[test]
    fn pieces_come_back_and_later_ones_are_added() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("below/pieces.json");
        write(&path, pieces(&["a"])).unwrap();
        write(&path, pieces(&["b", "c"])).unwrap();
        let known: BTreeMap<String, u64> = read(&path);
        assert_eq!(known.into_iter().collect::<Vec<_>>(), [("a".into(), 1), ("b".into(), 1), ("c".into(), 2)]);
    }

    #[test]
    fn a_file_that_is_broken_or_of_another_simulator_is_as_if_there_were_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pieces.json");
        write(&path, pieces(&["a"])).unwrap();
        let whole = fs::read_to_string(&path).unwrap();
        let none = |text: &str| {
            fs::write(&path, text).unwrap();
            read::<u64>(&path).is_empty()
        };
        assert!(!none(&whole));
        assert!(none(&whole[..whole.len() - 2]) && none("") && none("[]") && none(&whole.replace(":1", ":\"one\"")));
        assert!(none(&whole.replace(simulator(), "0.0.0")));
    }
}
