//! What the flits of a port carry in addition to TLPs, and which of them are lost.
//!
//! | contract | |
//! | --- | --- |
//! | DLLPs | one in each flit, next to its TLPs: it takes no room of theirs |
//! | lost | a flit that the ECC cannot correct is lost with all TLPs that have a part in it; `flit_errors` of 10^9 are, drawn by their number. DLLPs are not lost |

use super::Side;

/// Flits among which `flit_errors` are lost.
const AMONG: u64 = 1_000_000_000;

/// State of a transmitter in flit mode.
#[derive(Debug)]
pub(super) struct Flits {
    /// Flits that are lost, of [`AMONG`].
    errors: u64,
    /// What distinguishes the draws of the two ends.
    salt: u64,
    /// The first flit whose room for a DLLP is free.
    dllp_from: u64,
}

impl Flits {
    pub fn new(errors: Option<u32>, side: Side) -> Self {
        Self { errors: errors.unwrap_or(0).into(), salt: u64::from(side.is_upper()), dllp_from: 0 }
    }

    /// The flit, from this one on, that carries the next DLLP.
    pub fn next_dllp(&mut self, from: u64) -> u64 {
        let flit = self.dllp_from.max(from);
        self.dllp_from = flit + 1;
        flit
    }

    pub const fn loses(&self, flit: u64) -> bool {
        self.errors > 0 && draw(flit << 1 | self.salt) % AMONG < self.errors
    }
}

/// A number that looks random, by another: splitmix64.
const fn draw(number: u64) -> u64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_flits_are_lost_as_are_said_and_each_end_loses_others() {
        for (errors, expected) in [(None, 0), (Some(0), 0), (Some(10_000_000), 2_000)] {
            let [host, other] = [Side::Host, Side::Gpu { first_tag: 0, tags_per_pce: 1, pces: 1 }].map(|side| {
                let flits = Flits::new(errors, side);
                (0..200_000).filter(|flit| flits.loses(*flit)).collect::<Vec<_>>()
            });
            assert!(host.len().abs_diff(expected) <= expected / 10, "{}", host.len());
            assert!(other.len().abs_diff(expected) <= expected / 10 && (host != other || expected == 0));
        }
    }

    #[test]
    fn a_flit_carries_one_dllp() {
        let mut flits = Flits::new(None, Side::Host);
        assert_eq!([3, 3, 4, 9].map(|from| flits.next_dllp(from)), [3, 4, 5, 9]);
    }
}
