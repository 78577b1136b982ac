//! Bytes in memory as ends of a copy.

use super::request::{PayloadSink, PayloadSource};
use crate::sim::Coverage;
use std::{cell::RefCell, fmt, io, rc::Rc, sync::Arc};

fn read(bytes: &[u8], offset: u64, into: &mut [u8]) -> io::Result<()> {
    let start = usize::try_from(offset).ok();
    let part = start.and_then(|start| bytes.get(start..start.checked_add(into.len())?));
    let short = || {
        let text = format!("the source ends at byte {}: the copy is longer than it", bytes.len());
        io::Error::new(io::ErrorKind::UnexpectedEof, text)
    };
    into.copy_from_slice(part.ok_or_else(short)?);
    Ok(())
}

/// The copy may be shorter than what is there; one that is longer fails.
impl PayloadSource for Vec<u8> {
    fn read(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        read(self, offset, into)
    }
}

/// As a `Vec<u8>`.
impl PayloadSource for &[u8] {
    fn read(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        read(self, offset, into)
    }
}

/// As a `Vec<u8>`.
impl PayloadSource for Arc<[u8]> {
    fn read(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        read(self, offset, into)
    }
}

/// A sink that keeps what arrives in memory. Clones share it: one goes with the request, the other is read after the run.
///
/// Bytes come as they are written, before their tag is checked where the design releases them early: what is here is good if
/// [`CopyOutcome::delivered`](super::CopyOutcome::delivered) says so.
#[derive(Clone, Default)]
pub struct Received(Rc<RefCell<State>>);

#[derive(Default)]
struct State {
    bytes: Vec<u8>,
    written: Coverage,
}

impl State {
    /// Bytes from the first on that have all come.
    fn whole(&self) -> usize {
        self.written.ranges().next().map_or(0, |range| if range.start == 0 { range.end as usize } else { 0 })
    }
}

impl Received {
    pub fn new() -> Self {
        Self::default()
    }

    /// What has arrived, from the first byte up to the first that has not. What was written twice is as it was written last.
    pub fn bytes(&self) -> Vec<u8> {
        let state = self.0.borrow();
        state.bytes[..state.whole()].to_vec()
    }

    /// As [`Received::bytes`], and leaves nothing behind.
    pub fn take(&self) -> Vec<u8> {
        let mut state = self.0.take();
        state.bytes.truncate(state.whole());
        state.bytes
    }
}

impl PayloadSink for Received {
    fn put(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let end = usize::try_from(offset).ok().and_then(|start| Some((start, start.checked_add(bytes.len())?)));
        let (start, end) = end.ok_or_else(|| io::Error::other("more bytes than memory can hold"))?;
        let mut state = self.0.borrow_mut();
        if state.bytes.len() < end {
            state.bytes.resize(end, 0);
        }
        state.bytes[start..end].copy_from_slice(bytes);
        state.written.add(offset, bytes.len() as u64, 0);
        Ok(())
    }
}

impl fmt::Debug for Received {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes received", self.0.borrow().written.covered())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bytes_in_memory_are_read_at_any_place_within_them_and_nowhere_else(
            whole in prop::collection::vec(any::<u8>(), 0..60), offset in 0usize..70, count in 0usize..70,
        ) {
            let expected = whole.get(offset..offset + count);
            let leaked: &'static [u8] = whole.clone().leak();
            let sources: [Box<dyn PayloadSource>; 3] = [Box::new(whole.clone()), Box::new(leaked), Box::new(Arc::from(&whole[..]))];
            for mut source in sources {
                let mut into = vec![0; count];
                let read = source.read(offset as u64, &mut into);
                prop_assert_eq!(read.ok().map(|()| &into[..]), expected);
                prop_assert!(source.read(u64::MAX, &mut [0; 2]).is_err());
            }
        }

        #[test]
        fn pieces_in_any_order_give_what_has_come_without_a_gap(
            pieces in prop::collection::vec((0usize..40, prop::collection::vec(any::<u8>(), 0..12)), 0..20),
        ) {
            let received = Received::new();
            let mut sink = received.clone();
            let mut there = vec![None; 60];
            for (offset, bytes) in &pieces {
                sink.put(*offset as u64, bytes).unwrap();
                there.iter_mut().skip(*offset).zip(bytes).for_each(|(place, &byte)| *place = Some(byte));
            }
            let expected: Vec<u8> = there.into_iter().map_while(|byte| byte).collect();
            prop_assert_eq!(&received.bytes(), &expected);
            prop_assert_eq!(received.take(), expected);
            prop_assert!(received.bytes().is_empty());
        }
    }

    #[test]
    fn bytes_beyond_memory_are_refused() {
        assert!(Received::new().put(u64::MAX, &[1, 2]).is_err());
    }
}
