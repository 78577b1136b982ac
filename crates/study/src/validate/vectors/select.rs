//! One case of a file, by what its file calls it.

use super::Case;
use thiserror::Error;

/// Why no case is meant, or not one alone.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SelectError {
    #[error("no case `{id}`: there are {cases}, the first is `{first}`, the last `{last}`")]
    Missing { id: String, cases: usize, first: String, last: String },
    #[error(
        "{cases} cases are called `{id}`; `{first}` and `{second}` are two of them: say which, for example `{example}`"
    )]
    Several {
        id: String,
        cases: usize,
        first: String,
        second: String,
        /// What means the first alone.
        example: String,
    },
    #[error("no case at all")]
    Empty,
}

impl Case {
    /// Whether `id` means this case: its whole name, a part of it between commas, or the number at its end.
    pub fn is_called(&self, id: &str) -> bool {
        let number = self.id.rsplit(' ').next().unwrap_or_default();
        self.id == id || number == id || self.id.split(", ").any(|part| part == id)
    }
}

/// The case that `id` means; without one, the first.
pub fn select<'a>(cases: &'a [Case], id: Option<&str>) -> Result<&'a Case, SelectError> {
    let (Some(first), Some(last)) = (cases.first(), cases.last()) else { return Err(SelectError::Empty) };
    let Some(id) = id else { return Ok(first) };
    let called: Vec<&Case> = cases.iter().filter(|case| case.is_called(id)).collect();
    match called[..] {
        [case] => Ok(case),
        [] => Err(SelectError::Missing {
            id: id.to_owned(),
            cases: cases.len(),
            first: first.id.clone(),
            last: last.id.clone(),
        }),
        [one, other, ..] => Err(SelectError::Several {
            id: id.to_owned(),
            cases: called.len(),
            first: one.id.clone(),
            second: other.id.clone(),
            example: one.id.split(", ").next().unwrap_or_default().to_owned(),
        }),
    }
}
