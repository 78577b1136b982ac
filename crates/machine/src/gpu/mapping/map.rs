//! The maps, built as the driver builds them.

use super::{LCES, Lce, PCES, Pce, SYSMEM_READ, SYSMEM_WRITE};

/// With confidential computing: PCE n serves this LCE. PCEs 10 to 15 stay unmapped.
const CONFIDENTIAL: [u8; LCES as usize] = [2, 3, 4, 5, 6, 7, 8, 9, 0, 1];

/// Without: PCEs of the sysmem LCEs. Of each two, links up to gen4 use the first only.
const SYSMEM: [(Lce, [u8; 2]); 2] = [(SYSMEM_READ, [12, 14]), (SYSMEM_WRITE, [13, 15])];

/// The LCE that gets all HSHUB PCEs, as NVLink peers are not modelled.
const NO_LINK_LCE: u8 = 4;

/// Which LCE each PCE serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PceMap {
    lce_of: [Option<Lce>; PCES as usize],
    /// The LCE whose PCEs a GRCE shares.
    shared: [Option<Lce>; 2],
}

impl PceMap {
    /// With confidential computing: one PCE per LCE.
    pub fn confidential() -> Self {
        let mut map = Self { lce_of: [None; PCES as usize], shared: [None; 2] };
        for (slot, lce) in map.lce_of.iter_mut().zip(CONFIDENTIAL) {
            *slot = Lce::new(lce);
        }
        map
    }

    /// Without it, on a PCIe link of this generation.
    pub fn plain(link_generation: u8) -> Self {
        let mut map = Self { lce_of: [None; PCES as usize], shared: [Some(SYSMEM_READ), Some(SYSMEM_WRITE)] };
        for (lce, pces) in SYSMEM {
            let count = if link_generation >= 5 { 2 } else { 1 };
            pces.iter().take(count).for_each(|pce| map.lce_of[usize::from(*pce)] = Some(lce));
        }
        map.lce_of[..12].fill(Lce::new(NO_LINK_LCE));
        map
    }

    /// The PCEs of an LCE, lowest first. A GRCE that shares has those of its partner.
    pub fn pces(&self, lce: Lce) -> Vec<Pce> {
        let owner = self.shared_with(lce).unwrap_or(lce);
        (0..PCES).filter(|pce| self.lce_of[usize::from(*pce)] == Some(owner)).map(Pce).collect()
    }

    /// The LCE whose PCEs this GRCE shares.
    pub fn shared_with(&self, lce: Lce) -> Option<Lce> {
        self.shared.get(usize::from(lce.0)).copied().flatten()
    }
}

pub fn pces(lce: Lce, confidential: bool, link_generation: u8) -> Vec<Pce> {
    if confidential { PceMap::confidential() } else { PceMap::plain(link_generation) }.pces(lce)
}
