//! Profiles that are dropped on the page: a folder of this process holds the last of them, and goes with it.

use super::own;
use crate::cli::Failure;
use flate2::bufread::MultiGzDecoder;
use miette::miette;
use sha2::{Digest, Sha256};
use std::{
    fs,
    io::{self, Read},
    sync::{Mutex, PoisonError},
};
use tempfile::TempDir;

/// Bytes of a file.
pub const LARGEST: usize = 128 << 20;
/// Bytes of what is packed in it.
const UNPACKED: u64 = 1 << 30;
const KEPT: usize = 8;
const LONGEST: usize = 80;

/// The folder, and the names of its files, the latest at the end.
pub struct Dropped(TempDir, Mutex<Vec<String>>);

impl Dropped {
    pub fn new() -> io::Result<Self> {
        Ok(Self(own::folder()?, Mutex::default()))
    }

    /// Keeps a file, and gives the name that it has on the page: digest and own name. The oldest goes if there are many.
    pub fn keep(&self, name: &str, bytes: &[u8]) -> Result<String, Failure> {
        let refused = |why: String| Failure::Config(miette!("{why}"));
        let name = plain(name);
        if name.to_lowercase().ends_with(".toml") {
            return Err(refused(format!("{name} is no profile: start `sealsim lab` with files of machines")));
        }
        if bytes.starts_with(b"\x1f\x8b") {
            let unpacked = io::copy(&mut MultiGzDecoder::new(bytes).take(UNPACKED), &mut io::sink());
            // A file that ends in the middle is read so far, and says so then.
            if unpacked.is_ok_and(|length| length == UNPACKED) {
                return Err(refused(format!("{name} unpacks to 1 GiB or more: give it to `sealsim replay`")));
            }
        }
        let digest = hex::encode(&Sha256::digest(bytes)[..4]);
        let kept = format!("{digest}/{name}");
        let mut names = self.1.lock().unwrap_or_else(PoisonError::into_inner);
        let written = own::write(&self.0, &kept, bytes);
        written.map_err(|error| Failure::input_output("the temporary folder", &error))?;
        names.retain(|one| *one != kept);
        names.push(kept.clone());
        if names.len() > KEPT {
            // A run that reads it has it open.
            let _ = fs::remove_file(self.0.path().join(names.remove(0)));
        }
        Ok(kept)
    }

    /// Where a file is, if it is kept.
    pub fn path(&self, name: &str) -> Option<String> {
        let names = self.1.lock().unwrap_or_else(PoisonError::into_inner);
        names.iter().any(|one| one == name).then(|| self.0.path().join(name).display().to_string())
    }

    /// A text with own names in the place of paths.
    pub fn told(&self, text: &str) -> String {
        let names = self.1.lock().unwrap_or_else(PoisonError::into_inner).clone();
        names.iter().fold(text.to_owned(), |text, name| {
            let own = name.split_once('/').map_or(name.as_str(), |(_, own)| own);
            text.replace(&self.0.path().join(name).display().to_string(), own)
        })
    }
}

/// The last part of a name, of letters that are the same everywhere.
fn plain(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let letter = |one: char| if one.is_ascii_alphanumeric() || "._-".contains(one) { one } else { '_' };
    let text: String = last.chars().map(letter).collect();
    let text = text[text.len().saturating_sub(LONGEST)..].trim_start_matches(['.', '-']);
    if text.is_empty() { "profile".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn files_are_kept_in_a_folder_of_their_own_which_goes() {
        let dropped = Dropped::new().unwrap();
        let folder = dropped.0.path().to_owned();
        let name = dropped.keep("../../a job.json", b"{}").unwrap();
        assert_eq!(name, "44136fa3/a_job.json");
        let path = dropped.path(&name).unwrap();
        assert!(Path::new(&path).starts_with(&folder) && fs::read(&path).unwrap() == b"{}");
        assert_eq!(dropped.told(&format!("{path}: no")), "a_job.json: no");
        assert_eq!(dropped.keep("a job.json", b"{}").unwrap(), name, "the same file is the same state");
        for number in 0..KEPT {
            dropped.keep("more", number.to_string().as_bytes()).unwrap();
        }
        assert!(dropped.path(&name).is_none() && !Path::new(&path).exists());
        assert!(dropped.path("../x").is_none() && dropped.path("").is_none());
        drop(dropped);
        assert!(!folder.exists());
    }

    #[test]
    fn names_are_plain_and_workloads_are_refused() {
        for (name, is) in [("..", "profile"), ("", "profile"), ("C:\\x\\y.gz", "y.gz"), ("--out", "out"), ("é", "_")] {
            assert_eq!(plain(name), is);
        }
        assert_eq!(plain(&"a".repeat(500)).len(), LONGEST);
        assert!(Dropped::new().unwrap().keep("x.TOML", b"").unwrap_err().message().contains("no profile"));
    }
}
