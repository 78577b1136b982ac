//! Flits of 256 bytes, as a link in flit mode carries them at any rate (gen6).
//!
//! ```text
//!   byte 0                                236      242      250      256
//!        +--------------------------------+--------+--------+--------+
//!        | TLPs, behind each other        | DLP    | CRC    | ECC    |
//!        +--------------------------------+--------+--------+--------+
//!          236 B = 59 DW                    6 B      8 B      6 B
//!
//!   DLP     byte 0                                                       byte 1      bytes 2 to 5
//!           Usage[1:0] PriorPayload DllpType Replay[1:0] Seq[9:8]        Seq[7:0]    DLLP
//! ```
//!
//! There are no tokens and no LCRC: a TLP begins on the DW behind the one before it and may go on in the next payload flit, and where nothing
//! is to be sent a DW of zeros, the NOP TLP, fills. A receiver corrects by [`ecc`], then checks [`crc`]; a flit that fails either is sent
//! again as a whole. [`tlp`] is the TLP inside, [`stream`] takes TLPs out of flits and puts them in.
//!
//! CRC and ECC agree with the bytes of a public encoder (SriramAnanth2912/PCIe6.4_FLIT_ECC_CRC, `src/`), and the headers of the TLPs inside
//! with the structures of Intel's public HQM RTL (`hqm_sfi_*`); neither the standard nor silicon confirms them. Areas and lengths are those of
//! pcie-6-0-packet-generator (`layers/flit.h`); the DLP's fields those of the CXL 256-byte flit header, which names PCIe's as the same, and of
//! public notes; each module names its own. What is assumed is in `validation/DEVIATIONS.md`, rows 260 to 267.

pub mod crc;
pub mod ecc;
mod galois;
mod repr;
pub mod stream;
pub mod tlp;
mod view;

pub use repr::{DLP, Dlp, FlitRepr, ReplayCommand, Usage};
pub use view::{FlitError, FlitView, Received, receive};

pub const BYTES: usize = 256;
/// Bytes of its TLP area.
pub const TLP_BYTES: usize = 236;
/// Bytes of the data link layer in it.
pub const DLP_BYTES: usize = 6;
/// Greatest sequence number. Assumed: 0 is that of the IDLE flit, so numbers go from 1 to this and begin again at 1.
pub const LAST_SEQUENCE: u16 = 0x3ff;

mod field {
    use std::ops::Range;
    pub const TLP: Range<usize> = 0..236;
    pub const DLP: Range<usize> = 236..242;
    pub const CRC: Range<usize> = 242..250;
    pub const ECC: Range<usize> = 250..256;
}
