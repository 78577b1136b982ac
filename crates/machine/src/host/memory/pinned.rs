//! Pinned memory as the GPU reads it without confidential computing: windows onto the copies' own bytes.

use crate::{host::private::PrivateMemory, pcie::packet::Payload};
use std::{
    collections::{BTreeMap, VecDeque},
    io,
    sync::Arc,
};

/// Bytes that are loaded at once, so that the TLPs that carry them can share them.
const CHUNK: u64 = 1 << 20;
/// Chunks that are kept: several engines read near each other, but not at the same place.
const KEPT: usize = 4;

/// The windows, and the chunks that were read last.
#[derive(Debug, Default)]
pub(super) struct Pinned {
    mapped: BTreeMap<usize, u64>,
    kept: VecDeque<(usize, u64, Arc<Vec<u8>>)>,
}

impl Pinned {
    pub fn map(&mut self, copy: usize, bytes: u64) {
        self.mapped.insert(copy, bytes);
    }

    /// Whether all of `bytes` bytes are mapped; of none, whether the place is.
    pub fn holds(&self, copy: usize, offset: u64, bytes: u64) -> bool {
        self.mapped.get(&copy).is_some_and(|&mapped| offset.saturating_add(bytes.max(1)) <= mapped)
    }

    /// `bytes` bytes of a copy; those beyond its end are left out.
    pub fn read(
        &mut self,
        private: &mut dyn PrivateMemory,
        copy: usize,
        offset: u64,
        bytes: u64,
    ) -> io::Result<Payload> {
        let (first, last) = (offset / CHUNK, (offset + bytes.max(1) - 1) / CHUNK);
        let chunk = self.chunk(private, copy, first)?;
        let head = Payload::slice(&chunk, offset % CHUNK, bytes);
        if first == last {
            return Ok(head);
        }
        let mut whole = head.bytes().unwrap_or_default().to_vec();
        for next in first + 1..=last {
            let chunk = self.chunk(private, copy, next)?;
            let rest = (bytes as usize - whole.len()).min(chunk.len());
            whole.extend_from_slice(&chunk[..rest]);
        }
        Ok(Payload::of(whole))
    }

    fn chunk(&mut self, private: &mut dyn PrivateMemory, copy: usize, chunk: u64) -> io::Result<Arc<Vec<u8>>> {
        if let Some((_, _, bytes)) = self.kept.iter().find(|&&(c, n, _)| (c, n) == (copy, chunk)) {
            return Ok(Arc::clone(bytes));
        }
        let size = self.mapped.get(&copy).copied().unwrap_or(0);
        let start = (chunk * CHUNK).min(size);
        let mut bytes = vec![0; (size - start).min(CHUNK) as usize];
        if !bytes.is_empty() {
            private.load(copy, start, &mut bytes)?;
        }
        let bytes = Arc::new(bytes);
        if self.kept.len() == KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back((copy, chunk, Arc::clone(&bytes)));
        Ok(bytes)
    }
}
