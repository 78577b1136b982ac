//! The two sides of a credit pool: headers and data together.

use crate::pcie::credit::{Credits, DATA_BITS, HEADER_BITS, ReceiveCredits, Scale, TransmitCredits};
use std::collections::VecDeque;

/// The scales with which a pool is advertised: the smallest that can carry it.
fn scales(headers: u32, data: u32) -> (Scale, Scale) {
    let largest = Scale::Sixteen;
    (Scale::smallest(headers, HEADER_BITS).unwrap_or(largest), Scale::smallest(data, DATA_BITS).unwrap_or(largest))
}

/// What the partner has promised.
#[derive(Debug, Clone)]
pub(super) struct TransmitPool {
    headers: TransmitCredits,
    data: TransmitCredits,
}

impl TransmitPool {
    pub fn new(headers: u32, data: u32) -> Self {
        let (header_scale, data_scale) = scales(headers, data);
        let field = |credits: u32, scale: Scale| credits >> scale.shift();
        Self {
            headers: TransmitCredits::new(field(headers, header_scale), HEADER_BITS, header_scale),
            data: TransmitCredits::new(field(data, data_scale), DATA_BITS, data_scale),
        }
    }

    #[inline]
    pub fn allows(&self, need: Credits) -> bool {
        self.headers.allows(need.headers) && self.data.allows(need.data)
    }

    #[inline]
    pub fn consume(&mut self, need: Credits) {
        self.headers.consume(need.headers);
        self.data.consume(need.data);
    }

    pub fn update(&mut self, headers: u8, data: u16) {
        self.headers.update(u32::from(headers));
        self.data.update(u32::from(data));
    }
}

/// What this port has promised, and what has drained since.
#[derive(Debug, Clone)]
pub(super) struct ReceivePool {
    headers: ReceiveCredits,
    data: ReceiveCredits,
    header_scale: Scale,
    data_scale: Scale,
    finite: bool,
    /// Output and data credits of each TLP received and not yet returned, oldest first, per output in order.
    held: VecDeque<u32>,
    /// TLPs returned so far.
    pub returned: u64,
    /// Pops after which a return is due.
    pub threshold: u64,
    /// Cycle of the last return.
    pub last: u64,
}

impl ReceivePool {
    /// `largest` is the data credits of the largest TLP.
    pub fn new(headers: u32, data: u32, largest: u32) -> Self {
        let (header_scale, data_scale) = scales(headers, data);
        let by_headers = if headers == 0 { u32::MAX } else { headers / 2 };
        let by_data = if data == 0 { u32::MAX } else { data / (2 * largest.max(1)) };
        Self {
            headers: ReceiveCredits::new(headers, HEADER_BITS, header_scale),
            data: ReceiveCredits::new(data, DATA_BITS, data_scale),
            header_scale,
            data_scale,
            finite: headers != 0 || data != 0,
            held: VecDeque::new(),
            returned: 0,
            threshold: u64::from(by_headers.min(by_data).max(1)),
            last: 0,
        }
    }

    /// Counts a TLP in; false if it was not promised.
    #[inline]
    pub fn receive(&mut self, need: Credits) -> bool {
        if !self.finite {
            return true;
        }
        self.held.push_back(need.data);
        self.headers.receive(need.headers) & self.data.receive(need.data)
    }

    /// Whether TLPs have been received whose credits are not yet returned.
    #[inline]
    pub fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    /// Returns the credits of all TLPs up to `pops`; gives the fields of the update.
    pub fn give_back(&mut self, pops: u64, cycle: u64) -> (Scale, u8, Scale, u16) {
        while self.returned < pops {
            if let Some(data) = self.held.pop_front() {
                self.headers.free(1);
                self.data.free(data);
            }
            self.returned += 1;
        }
        self.last = cycle;
        (self.header_scale, self.headers.field() as u8, self.data_scale, self.data.field() as u16)
    }
}
