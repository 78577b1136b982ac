//! What a command that ended early has finished, kept in the user's cache folder until the same command goes on.

use super::{Failure, output, signals};
use crate::explore::{Finished, simulator};
use miette::miette;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use std::path::PathBuf;

/// What is finished of a question, which its text identifies: with what an earlier command has finished, if this one is to go on from there.
pub(super) fn begin<T: DeserializeOwned>(question: &str, resume: bool) -> Finished<T> {
    let finished =
        Finished::of(file(question).ok_or_else(|| "there is no cache folder, set HOME or XDG_CACHE_HOME".to_owned()));
    if resume {
        if let Some(wrong) = finished.resume() {
            output::complain(format_args!("--resume: {wrong}: it is done again"));
        }
        if finished.kept().0 == 0 {
            output::complain(format_args!("--resume: nothing is kept of this command, which begins anew"));
        }
    }
    finished
}

/// Pieces of another simulator are of no use.
fn file(question: &str) -> Option<PathBuf> {
    let digest = Sha256::digest(format!("{}\n{question}", simulator()));
    let folder = dirs::cache_dir()?.join("sealsim").join("unfinished");
    Some(folder.join(format!("{}.jsonl", hex::encode(digest))))
}

/// How much is finished of so many pieces, and how to go on.
pub(super) fn interrupted<T>(finished: &Finished<T>, of: usize) -> Failure {
    signals::note_end();
    match finished.kept() {
        (count, Ok(())) => Failure::Verification(miette!(
            help = "the same command with --resume continues from there",
            "interrupted: {count} of {of} runs are finished and kept"
        )),
        (count, Err(error)) => Failure::Verification(miette!(
            "interrupted: {count} of {of} runs are finished; they could not be kept: {error}"
        )),
    }
}

/// Reports next to another failure that what is finished is not kept.
pub(super) fn failed<T>(finished: &Finished<T>) {
    if let (1.., Err(error)) = finished.kept() {
        output::complain(format_args!("what is finished could not be kept: {error}"));
    }
}
