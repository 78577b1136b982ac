//! What copies leave at their destinations, kept apart from the machine.

use crate::{
    system::{PayloadSink, Request, RunError},
    workload::{Generator, Workload, collective::CollectiveTimes},
};
use std::{cell::RefCell, io, rc::Rc};

/// What lies at the destination of a copy: nothing, until it is written.
#[derive(Debug, Clone)]
pub(super) struct Image {
    bytes: Rc<RefCell<Vec<Option<u8>>>>,
    source: Generator,
    /// Whether all that was ever written was right at its place.
    pure: Rc<RefCell<bool>>,
}

impl Image {
    fn new(bytes: u64, source: Generator) -> Self {
        Self { bytes: Rc::new(RefCell::new(vec![None; bytes as usize])), source, pure: Rc::new(RefCell::new(true)) }
    }

    pub fn is_whole(&self) -> bool {
        let left = self.bytes.borrow();
        let mut sent = vec![0; left.len()];
        self.source.fill(0, &mut sent);
        left.iter().copied().eq(sent.into_iter().map(Some))
    }

    /// Whether no byte was ever written that is not the source's.
    pub fn is_pure(&self) -> bool {
        *self.pure.borrow()
    }
}

impl PayloadSink for Image {
    fn put(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut sent = vec![0; bytes.len()];
        self.source.fill(offset, &mut sent);
        *self.pure.borrow_mut() &= sent == bytes;
        for (place, &byte) in (offset as usize..).zip(bytes) {
            if let Some(left) = self.bytes.borrow_mut().get_mut(place) {
                *left = Some(byte);
            }
        }
        Ok(())
    }
}

/// The request of a workload, and by copy the image of what it leaves.
pub(super) fn kept(workload: &Workload, collectives: &CollectiveTimes) -> Result<(Request, Vec<Image>), RunError> {
    let mut request = workload.unwatched(collectives)?;
    let images = request.copies.iter_mut().zip(0_u32..).map(|(copy, number)| {
        let image = Image::new(copy.bytes, Generator::new(workload.seed, number.into()));
        copy.sink = Some(Box::new(image.clone()));
        image
    });
    let images = images.collect();
    Ok((request, images))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_whole_when_every_byte_is_there_and_right_at_the_end() {
        let source = Generator::new(1, 0);
        let mut image = Image::new(8, source.clone());
        let mut sent = [0; 8];
        source.fill(0, &mut sent);
        image.put(0, &sent[..4]).unwrap();
        image.put(0, &sent[..4]).unwrap();
        assert!(!image.is_whole() && image.is_pure());
        image.put(4, &[!sent[4]; 4]).unwrap();
        assert!(!image.is_whole() && !image.is_pure());
        image.put(4, &sent[4..]).unwrap();
        assert!(image.is_whole() && !image.is_pure());
    }
}
