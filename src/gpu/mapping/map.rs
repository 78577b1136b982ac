//! The maps, built as the driver builds them.

use super::{Hub, LCES, Lce, PCES, Pce, SYSMEM_READ, SYSMEM_WRITE};
use thiserror::Error;

/// With confidential computing: PCE n serves this LCE. PCEs 10 to 15 stay unmapped.
const CONFIDENTIAL: [u8; LCES as usize] = [2, 3, 4, 5, 6, 7, 8, 9, 0, 1];

/// Without: PCEs of the sysmem LCEs. Of each two, links up to gen4 use the first only.
const SYSMEM: [(Lce, [u8; 2]); 2] = [(SYSMEM_READ, [12, 14]), (SYSMEM_WRITE, [13, 15])];

/// LCEs that peers get, in turn: the even asynchronous ones, then the odd ones.
const PEER_LCES: [u8; 6] = [4, 6, 8, 5, 7, 9];

/// The LCE that gets all HSHUB PCEs if there is no peer.
const NO_LINK_LCE: u8 = 4;

/// First and last HSHUB.
const HSHUBS: std::ops::Range<u8> = 2..5;

/// PCEs for a peer's links on one hub, by number of links: a PCE handles 1.5 links.
const PCES_FOR_LINKS: [usize; 7] = [0, 1, 1, 2, 3, 3, 4];

/// Why peers cannot be mapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum MapError {
    /// A hub has at most six links.
    #[error("{0} links to one peer on one hub; a hub has at most 6")]
    Links(u8),
    /// Each peer needs an LCE of its own.
    #[error("{0} peers; there are 6 LCEs for peers")]
    Peers(usize),
    /// All HSHUB PCEs are taken.
    #[error("no PCE is left for peer {0}")]
    NoPce(usize),
}

/// NVLinks to one peer, by HSHUB 2, 3, 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Peer {
    /// Links on each hub, 0 to 6.
    pub links: [u8; 3],
}

/// Which LCE each PCE serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PceMap {
    lce_of: [Option<Lce>; PCES as usize],
    /// The LCE whose PCEs a GRCE shares.
    shared: [Option<Lce>; 2],
}

impl PceMap {
    /// With confidential computing: one PCE per LCE.
    #[must_use]
    pub fn confidential() -> Self {
        let mut map = Self { lce_of: [None; PCES as usize], shared: [None; 2] };
        for (slot, lce) in map.lce_of.iter_mut().zip(CONFIDENTIAL) {
            *slot = Lce::new(lce);
        }
        map
    }

    /// Without it, on a PCIe link of this generation and with these NVLink peers.
    ///
    /// The driver takes PCEs of the hub that the links are on, lowest first; if that hub has none left, of the next
    /// hub. A peer without links is none.
    ///
    /// # Errors
    /// If the peers need more than there is.
    pub fn plain(link_generation: u8, peers: &[Peer]) -> Result<Self, MapError> {
        let mut map = Self { lce_of: [None; PCES as usize], shared: [Some(SYSMEM_READ), Some(SYSMEM_WRITE)] };
        for (lce, pces) in SYSMEM {
            let count = if link_generation >= 5 { 2 } else { 1 };
            pces.iter().take(count).for_each(|pce| map.lce_of[usize::from(*pce)] = Some(lce));
        }
        let peers: Vec<_> = peers.iter().filter(|peer| **peer != Peer::default()).collect();
        if peers.is_empty() {
            map.lce_of[..12].fill(Lce::new(NO_LINK_LCE));
        }
        if peers.len() > PEER_LCES.len() {
            return Err(MapError::Peers(peers.len()));
        }
        for (index, (peer, lce)) in peers.into_iter().zip(PEER_LCES).enumerate() {
            map.add_peer(index, *peer, lce)?;
        }
        Ok(map)
    }

    fn add_peer(&mut self, index: usize, peer: Peer, lce: u8) -> Result<(), MapError> {
        for (hub, links) in HSHUBS.zip(peer.links) {
            let count = *PCES_FOR_LINKS.get(usize::from(links)).ok_or(MapError::Links(links))?;
            for _ in 0..count {
                let free = self.free_from(hub).ok_or(MapError::NoPce(index))?;
                self.lce_of[free] = Lce::new(lce);
            }
        }
        Ok(())
    }

    /// The lowest free PCE of the hub, or of the hubs that follow it in a ring.
    fn free_from(&self, hub: u8) -> Option<usize> {
        let hubs = (hub..HSHUBS.end).chain(HSHUBS.start..hub);
        hubs.flat_map(|hub| usize::from(hub - 2) * 4..usize::from(hub - 1) * 4).find(|pce| self.lce_of[*pce].is_none())
    }

    /// The PCEs of an LCE, lowest first. A GRCE that shares has those of its partner.
    #[must_use]
    pub fn pces(&self, lce: Lce) -> Vec<Pce> {
        let owner = self.shared_with(lce).unwrap_or(lce);
        (0..PCES).filter(|pce| self.lce_of[usize::from(*pce)] == Some(owner)).map(Pce).collect()
    }

    /// The LCE that a PCE serves; GRCEs that share are not listed here.
    #[must_use]
    pub fn lce(&self, pce: Pce) -> Option<Lce> {
        self.lce_of[usize::from(pce.0)]
    }

    /// The LCE whose PCEs this GRCE shares.
    #[must_use]
    pub fn shared_with(&self, lce: Lce) -> Option<Lce> {
        self.shared.get(usize::from(lce.0)).copied().flatten()
    }

    /// Hubs that an LCE's PCEs sit on, without repetition.
    #[must_use]
    pub fn hubs(&self, lce: Lce) -> Vec<Hub> {
        let mut hubs: Vec<_> = self.pces(lce).into_iter().map(Pce::hub).collect();
        hubs.dedup();
        hubs
    }
}

/// The PCEs of an LCE on a GPU without NVLink peers.
#[must_use]
pub fn pces(lce: Lce, confidential: bool, link_generation: u8) -> Vec<Pce> {
    let map = if confidential { Ok(PceMap::confidential()) } else { PceMap::plain(link_generation, &[]) };
    map.map(|map| map.pces(lce)).unwrap_or_default()
}
