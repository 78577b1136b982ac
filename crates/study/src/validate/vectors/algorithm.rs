//! What vectors are of.

use crate::aead::bytes::Scheme;
use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// GMAC: AES-GCM of an empty text.
    AesGmac,
    /// An AEAD, with tags of 16 bytes or their beginnings.
    Aead(Scheme),
}

impl Algorithm {
    pub const AES_GCM: Self = Self::Aead(Scheme::AesGcm);
    pub const AES_GCM_SIV: Self = Self::Aead(Scheme::GcmSiv);

    pub fn all() -> impl Iterator<Item = Self> {
        let others = Scheme::ALL.into_iter().filter(|scheme| *scheme != Scheme::AesGcm);
        [Self::AES_GCM, Self::AesGmac].into_iter().chain(others.map(Self::Aead))
    }

    /// The algorithm that Wycheproof's files, or libaegis, call so: hyphens (`AEGIS-256X2`) and case do not matter.
    pub fn named(name: &str) -> Option<Self> {
        let bare = |name: &str| name.replace('-', "").to_ascii_uppercase();
        Self::all().find(|algorithm| bare(algorithm.name()) == bare(name))
    }

    /// As Wycheproof's files call it; for AEGIS-256X, which they do not have, in the same form.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AesGmac => "AES-GMAC",
            Self::Aead(scheme) => scheme.wire().listed,
        }
    }

    pub fn names() -> String {
        Self::all().map(Self::name).collect::<Vec<_>>().join(", ")
    }

    pub const fn scheme(self) -> Scheme {
        match self {
            Self::AesGmac => Scheme::AesGcm,
            Self::Aead(scheme) => scheme,
        }
    }

    /// What `--engine` takes for an engine of it.
    pub const fn engine(self) -> &'static str {
        self.scheme().wire().engine
    }

    pub const fn key_bytes(self) -> &'static [usize] {
        self.scheme().wire().key_bytes
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
