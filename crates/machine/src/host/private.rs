//! Private memory: where the bytes of the copies come from and go to on the host.

use std::io;

/// The host's private memory by copy, as cipher and root complex reach it.
pub trait PrivateMemory {
    /// Reads bytes of a copy's source.
    fn load(&mut self, copy: usize, offset: u64, into: &mut [u8]) -> io::Result<()>;

    /// Writes bytes of a copy's destination; `by` is the number of the message that they are of, from 1; 0 if the GPU writes them itself.
    fn store(&mut self, copy: usize, offset: u64, bytes: &[u8], by: u64) -> io::Result<()>;
}
