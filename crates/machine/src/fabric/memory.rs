//! Device memory of a GPU, as a collective sees it.

use super::element::Element;
use crate::pcie::packet::Payload;
use std::{ops::Range, sync::Arc};

/// The buffer of a collective; without bytes where a run carries none.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    bytes: Option<Vec<u8>>,
    element: Element,
}

impl Memory {
    pub const fn new(bytes: Option<Vec<u8>>, element: Element) -> Self {
        Self { bytes, element }
    }

    /// What is in it, if the run carries bytes.
    pub fn bytes(&self) -> Option<&[u8]> {
        self.bytes.as_deref()
    }

    pub fn read(&self, range: &Range<u64>) -> Payload {
        let text = |bytes: &Vec<u8>| bytes.get(range.start as usize..range.end as usize).map(<[u8]>::to_vec);
        self.bytes.as_ref().and_then(text).map_or_else(Payload::none, Payload::of)
    }

    /// Puts text in place of what is there, or adds it to that.
    pub fn write(&mut self, range: &Range<u64>, text: &[u8], reduces: bool) {
        let bytes = self.bytes.as_mut().and_then(|bytes| bytes.get_mut(range.start as usize..range.end as usize));
        match bytes {
            Some(there) if reduces => self.element.add(there, text),
            Some(there) if there.len() == text.len() => there.copy_from_slice(text),
            _ => {}
        }
    }
}

/// Text that has been received, once all of it is known to be right.
pub type Text = Option<Arc<Vec<u8>>>;
