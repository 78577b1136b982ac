//! Files as people hand them in: bounded, told what is wrong with them in one short sentence.

mod snippet;
mod text;

pub use snippet::{Misread, Snippet};
pub use text::{ReadError, excerpt, read_text, read_text_from};
