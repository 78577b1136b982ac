//! The bytes of one sub-stream in one direction: TLPs to protected TLPs and back.
//!
//! ```text
//!  one GCM message per MAC
//!   AAD   [prefix, header] of the first TLP | ... | [prefix, header] of the last
//!   text  data of the first TLP             | ... | data of the last [| PCRC]
//!   IV    Sub-Stream[3:0]  0 (28 bits)  invocation counter (64 bits, from 1, one per MAC)
//! ```
//!
//! The four bits of the sub-stream are bits 95:92 of the IV. So CXL has it in the same construction, with 1000b: tee-io-validator shows its
//! IV as `80 00 00 00`, then the counter (`doc/key_byte_order.md`), and makes it by shifting the sub-stream's byte of IDE_KM into the top
//! byte. That byte has 0x80 for CXL and, in DMTF's libspdm, 0x10 for non-posted and 0x20 for completions of PCIe. That PCIe puts these
//! where CXL puts its own is assumed: the one public example for PCIe has a field of 0, as posted TLPs have it.
//!
//! The keystream runs on from TLP to TLP without a gap, so a TLP can leave before its MAC is known.

use super::{
    LARGEST_AGGREGATE, MAC_BYTES, PCRC_BYTES, PREFIX_BYTES, PrefixError, PrefixRepr, PrefixView, SubStream, pcrc,
};
use crate::wire::tlp::{TlpError, TlpView};
use sealsim_aead::gcm::{
    bulk::{Key, Stream},
    message::SealOpen,
};
use thiserror::Error;

/// Why a TLP is not taken. After any of these the stream is insecure, and nothing more is taken from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum IdeError {
    /// It does not begin with an IDE prefix, or with one that means nothing.
    #[error(transparent)]
    Prefix(#[from] PrefixError),
    /// What follows the prefix is no TLP.
    #[error(transparent)]
    Tlp(#[from] TlpError),
    #[error("prefix and header describe a TLP of {need} bytes, there are {have}")]
    Length { need: usize, have: usize },
    #[error("the TLP belongs to another stream, sub-stream or set of keys")]
    Stranger,
    #[error("the TLP has a digest, which IDE excludes")]
    Digest,
    #[error("a PCRC stands where none is due, or is missing")]
    Pcrc,
    #[error("no MAC within {LARGEST_AGGREGATE} TLPs")]
    NoMac,
    #[error("the MAC is not that of the TLPs that it covers")]
    Mac,
    #[error("the PCRC is not that of the data")]
    Check,
    #[error("the stream is insecure")]
    Insecure,
}

/// The place of the sub-stream in the fixed field: its top four bits.
const SUB_STREAM_SHIFT: u32 = 28;

/// The IV of a message: fixed field with the sub-stream in its top four bits, then the invocation counter.
pub fn iv(sub_stream: SubStream, counter: u64) -> [u8; 12] {
    let mut iv = [0; 12];
    iv[..4].copy_from_slice(&(u32::from(sub_stream.number()) << SUB_STREAM_SHIFT).to_be_bytes());
    iv[4..].copy_from_slice(&counter.to_be_bytes());
    iv
}

/// What both ends of a sub-stream have agreed on.
#[derive(Debug, Clone)]
pub struct Protection {
    /// The key of this sub-stream and direction.
    pub key: Key,
    pub stream: u8,
    pub sub_stream: SubStream,
    /// Whether a MAC that covers data comes with a PCRC.
    pub pcrc: bool,
}

/// A message that has no MAC yet.
#[derive(Debug)]
struct Open {
    protection: Protection,
    counter: u64,
    cipher: Stream,
    aad: Vec<u8>,
    plaintext: Vec<u8>,
    ciphertext: Vec<u8>,
    tlps: usize,
}

impl Open {
    fn new(protection: Protection, counter: u64) -> Self {
        let j0 = j0(&protection, counter);
        let cipher = Stream::from_j0(&protection.key, j0, &[], SealOpen::Seal);
        Self { protection, counter, cipher, aad: Vec::new(), plaintext: Vec::new(), ciphertext: Vec::new(), tlps: 0 }
    }

    /// Runs `text` through the keystream in place.
    fn pass(&mut self, text: &mut [u8], sealing: bool) {
        let before = text.to_vec();
        self.cipher.update(&self.protection.key, text);
        let (plain, sealed) = if sealing { (&before[..], &*text) } else { (&*text, &before[..]) };
        self.plaintext.extend_from_slice(plain);
        self.ciphertext.extend_from_slice(sealed);
    }

    fn mac(&self) -> [u8; MAC_BYTES] {
        let key = &self.protection.key;
        let mut hash = Stream::from_j0(key, j0(&self.protection, self.counter), &self.aad, SealOpen::Open);
        hash.update(key, &mut self.ciphertext.clone());
        let mut mac = [0; MAC_BYTES];
        mac.copy_from_slice(&hash.tag(key)[..MAC_BYTES]);
        mac
    }

    fn next(&mut self) {
        *self = Self::new(self.protection.clone(), self.counter.wrapping_add(1));
    }
}

fn j0(protection: &Protection, counter: u64) -> [u8; 16] {
    let mut j0 = [0; 16];
    j0[..12].copy_from_slice(&iv(protection.sub_stream, counter));
    j0[15] = 1;
    j0
}

#[derive(Debug)]
pub struct Sealer(Open);

impl Sealer {
    /// Its first message has invocation counter `counter`: 1 in a new stream.
    pub fn new(protection: Protection, counter: u64) -> Self {
        Self(Open::new(protection, counter))
    }

    /// Protects a TLP in pieces: `head` is its other prefixes and its header, without a digest. It gets the MAC if `last`, and
    /// in any case if it is the eighth without one.
    pub fn seal(&mut self, head: &[u8], data: &[u8], posted_sent: u8, last: bool) -> Vec<u8> {
        let open = &mut self.0;
        open.tlps += 1;
        let mac = last || open.tlps == LARGEST_AGGREGATE;
        let Protection { stream, sub_stream, pcrc: with_pcrc, .. } = open.protection;
        let pcrc = with_pcrc && mac && !(open.plaintext.is_empty() && data.is_empty());
        let prefix = PrefixRepr { posted_sent, stream, sub_stream, pcrc, mac, key_set: false, trusted: true };
        let mut tlp = [&prefix.emit()[..], head].concat();
        open.aad.extend_from_slice(&tlp);
        let mut text = data.to_vec();
        open.pass(&mut text, true);
        if pcrc {
            let mut check = super::pcrc(&open.plaintext);
            open.pass(&mut check, true);
            text.extend_from_slice(&check);
        }
        tlp.extend_from_slice(&text);
        if mac {
            tlp.extend_from_slice(&open.mac());
            open.next();
        }
        tlp
    }
}

/// The receiving end of a sub-stream: keeps TLPs until the MAC that covers them has come.
#[derive(Debug)]
pub struct Opener {
    open: Open,
    kept: Vec<Vec<u8>>,
    secure: bool,
}

impl Opener {
    /// Expects a first message with invocation counter `counter`.
    pub fn new(protection: Protection, counter: u64) -> Self {
        Self { open: Open::new(protection, counter), kept: Vec::new(), secure: true }
    }

    /// Whether nothing has been refused so far.
    pub const fn secure(&self) -> bool {
        self.secure
    }

    /// Takes a protected TLP. With a good MAC all TLPs that it covers come out as they were before they were sealed; without
    /// one, none.
    pub fn open(&mut self, tlp: &[u8]) -> Result<Vec<Vec<u8>>, IdeError> {
        if !self.secure {
            return Err(IdeError::Insecure);
        }
        let result = self.take(tlp);
        if result.is_err() {
            self.secure = false;
            self.kept.clear();
        }
        result
    }

    fn take(&mut self, tlp: &[u8]) -> Result<Vec<Vec<u8>>, IdeError> {
        let (prefix, rest) = tlp.split_at(tlp.len().min(PREFIX_BYTES));
        let prefix = PrefixRepr::parse(&PrefixView::new_checked(prefix)?)?;
        let Protection { stream, sub_stream, .. } = self.open.protection;
        if (prefix.stream, prefix.sub_stream, prefix.key_set) != (stream, sub_stream, false) {
            return Err(IdeError::Stranger);
        }
        let view = TlpView::new_header(rest)?;
        if view.td() {
            return Err(IdeError::Digest);
        }
        let (text_at, payload) = (view.prefixes().len() * 4 + view.header().len(), view.payload_bytes());
        let checked = if prefix.pcrc { PCRC_BYTES } else { 0 };
        let end = text_at + payload + checked + if prefix.mac { MAC_BYTES } else { 0 };
        if end != rest.len() {
            return Err(IdeError::Length { need: PREFIX_BYTES + end, have: tlp.len() });
        }
        self.open.tlps += 1;
        self.open.aad.extend_from_slice(&tlp[..PREFIX_BYTES + text_at]);
        let mut text = rest[text_at..text_at + payload + checked].to_vec();
        self.open.pass(&mut text, false);
        let covered = self.open.plaintext.len() - checked;
        if prefix.pcrc != (self.open.protection.pcrc && prefix.mac && covered > 0) {
            return Err(IdeError::Pcrc);
        }
        self.kept.push([&rest[..text_at], &text[..payload]].concat());
        if !prefix.mac {
            let lacking = self.open.tlps == LARGEST_AGGREGATE;
            return if lacking { Err(IdeError::NoMac) } else { Ok(Vec::new()) };
        }
        if self.open.mac() != rest[end - MAC_BYTES..] {
            return Err(IdeError::Mac);
        }
        let (data, check) = self.open.plaintext.split_at(covered);
        if prefix.pcrc && check != pcrc(data) {
            return Err(IdeError::Check);
        }
        self.open.next();
        Ok(std::mem::take(&mut self.kept))
    }
}

#[cfg(test)]
mod tests;
