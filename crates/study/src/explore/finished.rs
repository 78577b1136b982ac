//! Pieces of a long answer: those that are finished when it is interrupted are kept, and need not be done again.

use crate::{pool, sim::Control};
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

/// Finished pieces, by what identifies them: all that they depend on.
#[derive(Debug)]
pub struct Finished<T>(Mutex<BTreeMap<String, T>>);

impl<T> Default for Finished<T> {
    fn default() -> Self {
        Self::of(BTreeMap::new())
    }
}

impl<T> Finished<T> {
    /// Pieces that an earlier command has finished.
    pub const fn of(pieces: BTreeMap<String, T>) -> Self {
        Self(Mutex::new(pieces))
    }

    /// A piece, if it is finished.
    pub(super) fn known(&self, key: &str) -> Option<T>
    where
        T: Clone,
    {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    pub(super) fn keep(&self, key: String, piece: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, piece);
    }

    /// All that are finished by now.
    pub fn into_pieces(self) -> BTreeMap<String, T> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) trait Piece {
    /// What comes of it.
    type Answer: Clone + Send;
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
            finished.keep(key, answer.clone());
            progress(piece.cost() as f64 / whole);
        }
        Ok(answer)
    };
    pool::map(pieces, threads, P::cost, one)
}
