//! What vectors are of.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    AesGcm,
    /// GMAC: AES-GCM of an empty text.
    AesGmac,
    AesGcmSiv,
    /// AEGIS-256 with tags of 16 bytes.
    Aegis256,
    /// AEGIS-256X2 with tags of 16 bytes.
    Aegis256X2,
    /// AEGIS-256X4 with tags of 16 bytes.
    Aegis256X4,
    ChaCha20Poly1305,
}

impl Algorithm {
    pub const ALL: [Self; 7] = [
        Self::AesGcm,
        Self::AesGmac,
        Self::AesGcmSiv,
        Self::Aegis256,
        Self::Aegis256X2,
        Self::Aegis256X4,
        Self::ChaCha20Poly1305,
    ];

    /// The algorithm that Wycheproof's files, or libaegis, call so: hyphens (`AEGIS-256X2`) do not matter.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let bare = |name: &str| name.replace('-', "");
        Self::ALL.into_iter().find(|algorithm| bare(algorithm.name()) == bare(name))
    }

    /// As Wycheproof's files call it; for AEGIS-256X, which they do not have, in the same form.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AesGcm => "AES-GCM",
            Self::AesGmac => "AES-GMAC",
            Self::AesGcmSiv => "AES-GCM-SIV",
            Self::Aegis256 => "AEGIS256",
            Self::Aegis256X2 => "AEGIS256X2",
            Self::Aegis256X4 => "AEGIS256X4",
            Self::ChaCha20Poly1305 => "CHACHA20-POLY1305",
        }
    }

    pub fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    /// What `--engine` takes for an engine of it.
    pub const fn engine(self) -> &'static str {
        match self {
            Self::AesGcm | Self::AesGmac => "h100-nvl-tdx",
            Self::AesGcmSiv => "gcm-siv",
            Self::Aegis256 => "aegis-256",
            Self::Aegis256X2 => "aegis-256x2",
            Self::Aegis256X4 => "aegis-256x4",
            Self::ChaCha20Poly1305 => "chacha20-poly1305",
        }
    }

    /// Bytes that a tag may have: those of NIST SP 800-38D, section 5.2.1.2, and those of the standards of the others.
    pub const fn tag_bytes(self) -> &'static [usize] {
        match self {
            Self::AesGcm | Self::AesGmac => &[4, 8, 12, 13, 14, 15, 16],
            Self::AesGcmSiv | Self::Aegis256 | Self::Aegis256X2 | Self::Aegis256X4 | Self::ChaCha20Poly1305 => &[16],
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
