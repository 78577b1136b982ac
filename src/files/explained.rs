//! What an error about a text says besides its message. Whatever draws errors, the program or a user's own, draws them from this.

use super::Snippet;
use std::{borrow::Cow, error::Error};

/// An error with a place in a text and a remedy.
pub trait Explained: Error + Sized {
    /// Its kind, a name that programs may rely on: `config::range`.
    fn code(&self) -> Cow<'_, str>;

    fn help(&self) -> Option<&str> {
        None
    }

    /// The lines that are wrong, and a short word to put under them. `None`: nowhere in particular.
    fn marked(&self) -> Option<(&Snippet, &'static str)>;

    /// Further errors that were found in the same go.
    fn others(&self) -> &[Self] {
        &[]
    }
}
