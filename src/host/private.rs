//! Private memory: where the bytes of the copies come from and go to on the host.

use std::io;

/// What a copy to the GPU reads.
pub trait Source {
    /// Reads `into.len()` bytes from `offset` on.
    ///
    /// # Errors
    /// If they cannot be had.
    fn read(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()>;
}

/// What a copy from the GPU fills.
pub trait Sink {
    /// Takes `bytes` for `offset`. Offsets come in any order.
    ///
    /// # Errors
    /// If they cannot be kept.
    fn put(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;
}

/// The host's private memory by copy, as cipher and root complex reach it.
pub trait PrivateMemory {
    /// Reads bytes of a copy's source.
    ///
    /// # Errors
    /// If the copy has none or they cannot be had.
    fn load(&mut self, copy: usize, offset: u64, into: &mut [u8]) -> io::Result<()>;

    /// Writes bytes of a copy's destination; `by` is the number of the message that they are of, from 1; 0 if the GPU writes them itself.
    ///
    /// # Errors
    /// If the copy has none or they cannot be kept.
    fn store(&mut self, copy: usize, offset: u64, bytes: &[u8], by: u64) -> io::Result<()>;
}

/// The host's end of one copy.
pub enum CopyPort {
    Source(Box<dyn Source>),
    Sink(Box<dyn Sink>),
    /// The copy stays within the GPU.
    Neither,
}

/// The host's ends of all copies, by index.
#[derive(Default)]
pub struct CopyData {
    pub copies: Vec<CopyPort>,
}

impl PrivateMemory for CopyData {
    fn load(&mut self, copy: usize, offset: u64, into: &mut [u8]) -> io::Result<()> {
        match self.copies.get_mut(copy) {
            Some(CopyPort::Source(source)) => source.read(offset, into),
            _ => Err(io::Error::other(format!("copy {} has no source on the host", copy + 1))),
        }
    }

    fn store(&mut self, copy: usize, offset: u64, bytes: &[u8], _by: u64) -> io::Result<()> {
        match self.copies.get_mut(copy) {
            Some(CopyPort::Sink(sink)) => sink.put(offset, bytes),
            _ => Err(io::Error::other(format!("copy {} has no destination on the host", copy + 1))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Same(u8);

    impl Source for Same {
        fn read(&mut self, _offset: u64, into: &mut [u8]) -> io::Result<()> {
            into.fill(self.0);
            Ok(())
        }
    }

    #[test]
    fn a_copy_is_read_through_its_own_source_and_no_other_way() {
        let mut data =
            CopyData { copies: vec![CopyPort::Source(Box::new(Same(7))), CopyPort::Source(Box::new(Same(8)))] };
        let mut bytes = [0; 3];
        data.load(1, 0, &mut bytes).unwrap();
        assert_eq!(bytes, [8; 3]);
        assert!(data.store(1, 0, &bytes, 1).is_err());
        assert!(data.load(2, 0, &mut bytes).is_err());
    }
}
