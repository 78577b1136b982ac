//! Files as people hand them in, bounded, with what is wrong with them said in one short sentence; and files that are written whole or
//! not at all.

mod diagnostics;
mod json;
mod place;
mod records;
mod refusal;
mod snippet;
mod text;
mod unfinished;
mod visible;
mod whole;
mod written;

pub use crate::units::excerpt;
pub use diagnostics::{Explained, told};
pub use json::{json_fault, parse_json};
pub use place::{destination, standard_stream};
pub use records::RecordFile;
pub use refusal::{Refusal, Refusals};
pub use snippet::Snippet;
pub use text::{ReadError, capital, no_file, read_text, read_text_from};
pub use unfinished::{note_unfinished, remove_unfinished};
pub use visible::{Visible, is_hidden, visible};
pub use whole::{WholeFile, is_under_way, write_whole};
pub(crate) use written::Origin;
pub use written::{Place, Source};
