//! What follows the data: flush and semaphore.

/// How far a flush after the transfer reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flush {
    /// Writes are visible to the system.
    Sys,
    /// Writes are visible to the GPU.
    Gl,
}

/// Read-modify-write operations of a semaphore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduction {
    Min,
    Max,
    Xor,
    And,
    Or,
    Add,
    /// Plus one; from the payload on, back to zero.
    Inc,
    /// Minus one; from zero, or above the payload, to the payload.
    Dec,
}

/// What a semaphore release writes, after the transfer and its flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Semaphore {
    pub address: u64,
    /// Payload. Of a one-word payload the upper half is zero.
    pub payload: u64,
    /// Payload size: 8 bytes instead of 4.
    pub wide: bool,
    /// Four words: payload in the first half of 16 bytes, time in nanoseconds in the second half.
    pub timestamp: bool,
    /// Combine with the old value instead of writing; signed for minimum and maximum if the flag is set.
    pub reduction: Option<(Reduction, bool)>,
}

impl Semaphore {
    pub const fn bytes(&self) -> u64 {
        match (self.timestamp, self.wide) {
            (true, _) => 16,
            (false, true) => 8,
            (false, false) => 4,
        }
    }

    /// The value that follows `old`. A 4-byte payload works on the low 4 bytes.
    pub fn next(&self, old: u64) -> u64 {
        let Some((reduction, signed)) = self.reduction else { return self.payload };
        let mask = if self.wide { u64::MAX } else { u64::from(u32::MAX) };
        // Flipping the sign bit orders two's complement numbers as unsigned ones.
        let bias = if signed { mask ^ (mask >> 1) } else { 0 };
        let (old, payload) = (old & mask, self.payload & mask);
        let value = match reduction {
            Reduction::Min if old ^ bias <= payload ^ bias => old,
            Reduction::Max if old ^ bias >= payload ^ bias => old,
            Reduction::Min | Reduction::Max => payload,
            Reduction::Xor => old ^ payload,
            Reduction::And => old & payload,
            Reduction::Or => old | payload,
            Reduction::Add => old.wrapping_add(payload),
            Reduction::Inc if old >= payload => 0,
            Reduction::Inc => old + 1,
            Reduction::Dec if old == 0 || old > payload => payload,
            Reduction::Dec => old - 1,
        };
        value & mask
    }
}
