//! Addresses, and what lies behind them.

/// Address bits of the methods: 25 + 32.
pub const ADDRESS_BITS: u32 = 57;

/// The memory behind a physical address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Aperture {
    /// The GPU's own memory.
    LocalFb,
    CoherentSysmem,
    /// Host memory, not snooped.
    NonCoherentSysmem,
    /// Memory of the peer with this number, 0 to 7.
    Peer(u8),
}

impl Aperture {
    /// Whether this is host memory.
    pub fn is_sysmem(self) -> bool {
        matches!(self, Self::CoherentSysmem | Self::NonCoherentSysmem)
    }
}

/// How an address is to be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Space {
    /// A GPU virtual address.
    Virtual,
    Physical(Aperture),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Location {
    /// Byte address, below 2^57.
    pub address: u64,
    pub space: Space,
}

impl Location {
    pub const fn virt(address: u64) -> Self {
        Self { address, space: Space::Virtual }
    }

    pub const fn phys(aperture: Aperture, address: u64) -> Self {
        Self { address, space: Space::Physical(aperture) }
    }
}

/// Whether memory is inside the trust boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// Protected: plaintext may lie here.
    Protected,
    /// Unprotected: shared with the outside.
    Unprotected,
}

/// Tells the side of the memory at a location; `None` where it is not known, and then not checked.
pub type Protection<'a> = dyn Fn(Location) -> Option<Side> + 'a;

/// Sides as physical apertures imply them: the GPU's own memory is protected, host memory that the GPU can reach is
/// not (only unprotected host memory may be mapped on the GPU). Nothing is known of virtual and peer addresses.
pub fn by_aperture(location: Location) -> Option<Side> {
    match location.space {
        Space::Physical(Aperture::LocalFb) => Some(Side::Protected),
        Space::Physical(aperture) if aperture.is_sysmem() => Some(Side::Unprotected),
        _ => None,
    }
}
