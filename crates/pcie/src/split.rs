//! Cutting transfers into TLPs: requests by size and 4 KiB, completions by RCB. No allocation.
//!
//! | iterator | cuts at |
//! | --- | --- |
//! | [`RequestSplit`] | MRRS (reads) or MPS (writes), and 4 KiB boundaries |
//! | [`CompletionSplit`] | the largest completion, pieces but the last ending on an RCB multiple |

/// Requests must not cross a multiple of this.
pub const PAGE: u32 = 4096;

/// A size that is a power of two from 128 to 4096: MPS or MRRS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaxSize(u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SizeError {
    #[error("{bytes} B is no payload or read request size: those are 128, 256, 512, 1024, 2048 and 4096 B")]
    MaxSize { bytes: u64 },
    #[error("{bytes} B is no read completion boundary: those are 64 and 128 B")]
    Boundary { bytes: u64 },
    #[error("{bytes} B is no completion size: it must be a multiple of the boundary of {boundary} B, up to 4096 B")]
    Completion { bytes: u64, boundary: u32 },
}

impl MaxSize {
    #[inline]
    pub const fn new(bytes: u64) -> Result<Self, SizeError> {
        match bytes {
            128 | 256 | 512 | 1024 | 2048 | 4096 => Ok(Self(bytes as u32)),
            _ => Err(SizeError::MaxSize { bytes }),
        }
    }

    #[inline]
    pub const fn bytes(self) -> u32 {
        self.0
    }
}

/// Where a requester cuts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestPolicy {
    /// Each request as long as the size allows.
    Greedy,
    /// At each multiple of the size.
    Aligned,
}

/// A piece of memory that one request covers: never more than a page, never across one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    pub address: u64,
    /// Bytes; 0 is a zero-length read (flush).
    pub bytes: u32,
}

impl Request {
    /// DW that the request covers; 1 for the zero-length read.
    #[inline]
    pub const fn length_dw(&self) -> u16 {
        let bytes = (self.address & 3) as u32 + self.bytes;
        if bytes == 0 { 1 } else { bytes.div_ceil(4) as u16 }
    }

    #[inline]
    pub const fn byte_enables(&self) -> (u8, u8) {
        if self.bytes == 0 {
            return (0, 0);
        }
        let offset = (self.address & 3) as u32;
        let first = 0xf << offset & 0xf_u8;
        let last = 0xf >> ((4 - (offset + self.bytes) % 4) % 4);
        if self.length_dw() == 1 { (first & last, 0) } else { (first, last) }
    }
}

/// A transfer in requests, in address order.
#[derive(Debug, Clone)]
pub struct RequestSplit {
    address: u64,
    left: u64,
    size: u32,
    policy: RequestPolicy,
}

impl RequestSplit {
    /// Cuts `bytes` from `address` on; `size` is MRRS for reads and MPS for writes.
    #[inline]
    pub const fn new(address: u64, bytes: u64, size: MaxSize, policy: RequestPolicy) -> Self {
        Self { address, left: bytes, size: size.bytes(), policy }
    }
}

impl Iterator for RequestSplit {
    type Item = Request;

    #[inline]
    fn next(&mut self) -> Option<Request> {
        if self.left == 0 {
            return None;
        }
        let offset = (self.address % u64::from(PAGE)) as u32;
        let room = match self.policy {
            // The length counts whole DW from the DW that holds the first byte.
            RequestPolicy::Greedy => self.size - offset % 4,
            // It is a power of two.
            RequestPolicy::Aligned => self.size - (offset & (self.size - 1)),
        };
        let bytes = u64::from(room.min(PAGE - offset)).min(self.left);
        let request = Request { address: self.address, bytes: bytes as u32 };
        self.address = self.address.wrapping_add(bytes);
        self.left -= bytes;
        Some(request)
    }
}

/// How a completer answers reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompletionRule {
    boundary: u32,
    largest: u32,
    every_boundary: bool,
}

impl CompletionRule {
    /// `boundary` is the RCB, `largest` the largest completion: MPS, or less in completers that do not join so much.
    #[inline]
    pub const fn new(boundary: u64, largest: u64) -> Result<Self, SizeError> {
        if boundary != 64 && boundary != 128 {
            return Err(SizeError::Boundary { bytes: boundary });
        }
        let boundary = boundary as u32;
        if largest == 0 || largest > 4096 || !largest.is_multiple_of(boundary as u64) {
            return Err(SizeError::Completion { bytes: largest, boundary });
        }
        Ok(Self { boundary, largest: largest as u32, every_boundary: false })
    }

    /// The same, but cutting at every multiple of the RCB.
    pub const fn cut_at_every_boundary(self) -> Self {
        Self { every_boundary: true, ..self }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// Address of the first byte.
    pub address: u64,
    pub bytes: u32,
    /// Length field, in DW.
    pub length_dw: u16,
    /// Bytes left, with this completion; at most 4096.
    pub byte_count: u16,
    /// Low seven bits of the address.
    pub lower_address: u8,
}

/// The completions of one read request, in address order. A zero-length read has one, of one DW.
#[derive(Debug, Clone)]
pub struct CompletionSplit {
    next: Option<Request>,
    rule: CompletionRule,
}

impl CompletionSplit {
    /// The completions of `request`, which must be legal: at most 4096 bytes.
    #[inline]
    pub const fn new(request: Request, rule: CompletionRule) -> Self {
        Self { next: Some(request), rule }
    }
}

impl CompletionSplit {
    #[inline]
    pub const fn is_done(&self) -> bool {
        self.next.is_none()
    }
}

impl Iterator for CompletionSplit {
    type Item = Completion;

    #[inline]
    fn next(&mut self) -> Option<Completion> {
        let left = self.next.take()?;
        let rule = self.rule;
        // The boundary is a power of two.
        let offset = left.address as u32 & (rule.boundary - 1);
        let bytes = if rule.every_boundary {
            (rule.boundary - offset).min(left.bytes)
        } else if offset % 4 + left.bytes <= rule.largest {
            left.bytes
        } else {
            rule.largest - offset
        };
        if bytes < left.bytes {
            let address = left.address.wrapping_add(u64::from(bytes));
            self.next = Some(Request { address, bytes: left.bytes - bytes });
        }
        Some(Completion {
            address: left.address,
            bytes,
            length_dw: Request { address: left.address, bytes }.length_dw(),
            byte_count: left.bytes.max(1) as u16,
            lower_address: (left.address & 0x7f) as u8,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_the_sizes_of_pcie_are_accepted() {
        assert!(MaxSize::new(256).is_ok());
        assert_eq!(MaxSize::new(64), Err(SizeError::MaxSize { bytes: 64 }));
        assert_eq!(MaxSize::new(384), Err(SizeError::MaxSize { bytes: 384 }));
        assert!(CompletionRule::new(64, 192).is_ok());
        assert!(CompletionRule::new(128, 192).is_err());
        assert!(CompletionRule::new(64, 0).is_err());
        assert!(CompletionRule::new(32, 128).is_err());
    }

    #[test]
    fn a_zero_length_read_is_one_dw_with_no_byte_enabled() {
        let flush = Request { address: 0x2000, bytes: 0 };
        assert_eq!((flush.length_dw(), flush.byte_enables()), (1, (0, 0)));
        let rule = CompletionRule::new(64, 256).unwrap();
        let answers: Vec<_> = CompletionSplit::new(flush, rule).collect();
        assert_eq!(answers.len(), 1);
        assert_eq!((answers[0].length_dw, answers[0].byte_count), (1, 1));
    }

    fn sizes() -> impl Strategy<Value = u64> {
        prop::sample::select(vec![128, 256, 512, 1024, 2048, 4096])
    }

    proptest! {
        #[test]
        fn byte_enables_count_exactly_the_bytes(address in any::<u64>(), bytes in 1u32..=4096) {
            let request = Request { address, bytes };
            let (first, last) = request.byte_enables();
            let enabled = match request.length_dw() {
                1 => first.count_ones(),
                dw => first.count_ones() + last.count_ones() + (u32::from(dw) - 2) * 4,
            };
            prop_assert_eq!(enabled, bytes);
            prop_assert_eq!(u64::from(first.trailing_zeros()), address % 4);
        }

        #[test]
        fn requests_partition_the_transfer(
            address in any::<u64>().prop_map(|address| address >> 1),
            bytes in 0u64..100_000,
            size in sizes(),
            policy in prop::sample::select(vec![RequestPolicy::Greedy, RequestPolicy::Aligned]),
        ) {
            let mut at = address;
            for request in RequestSplit::new(address, bytes, MaxSize::new(size).unwrap(), policy) {
                prop_assert_eq!(request.address, at);
                prop_assert!(request.bytes > 0);
                prop_assert!(u64::from(request.length_dw()) * 4 <= size);
                at += u64::from(request.bytes);
                prop_assert_eq!(request.address / 4096, (at - 1) / 4096);
            }
            prop_assert_eq!(at, address + bytes);
        }

        #[test]
        fn completions_partition_the_request(
            address in 0u64..1 << 40,
            bytes in 1u32..=4096,
            boundary in prop::sample::select(vec![64u64, 128]),
            size in sizes(),
            every in any::<bool>(),
        ) {
            let bytes = bytes.min(4096 - (address % 4096) as u32);
            let rule = CompletionRule::new(boundary, size).unwrap();
            let rule = if every { rule.cut_at_every_boundary() } else { rule };
            let (mut at, end) = (address, address + u64::from(bytes));
            for answer in CompletionSplit::new(Request { address, bytes }, rule) {
                prop_assert_eq!(answer.address, at);
                prop_assert_eq!(u64::from(answer.byte_count), end - at);
                prop_assert_eq!(u64::from(answer.lower_address), at % 128);
                prop_assert!(u64::from(answer.length_dw) * 4 <= size);
                at += u64::from(answer.bytes);
                prop_assert!(at == end || at % boundary == 0);
            }
            prop_assert_eq!(at, end);
        }
    }
}
