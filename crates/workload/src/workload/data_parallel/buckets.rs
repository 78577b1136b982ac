//! Gradients put into buckets in the order in which they come, as `DistributedDataParallel` of PyTorch does.

#[derive(Debug)]
pub struct Buckets {
    bytes: u64,
    /// From so many bytes on it is full.
    limit: u64,
    /// The same of those after it.
    cap: u64,
}

impl Buckets {
    pub const fn new(first: u64, cap: u64) -> Self {
        Self { bytes: 0, limit: first, cap }
    }

    /// Puts a gradient in; gives the bytes of the bucket if that fills it. A gradient is never split, so a bucket may be larger than its limit.
    pub fn put(&mut self, bytes: u64) -> Option<u64> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes < self.limit {
            return None;
        }
        self.limit = self.cap;
        Some(std::mem::take(&mut self.bytes))
    }

    /// The last bucket, if anything is in it.
    pub fn rest(self) -> Option<u64> {
        Some(self.bytes).filter(|bytes| *bytes > 0)
    }
}
