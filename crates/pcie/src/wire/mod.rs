//! PCIe wire formats. Without further word they are those of non-flit mode; [`flit`] has the other.
//!
//! Each format follows one idiom: a checked zero-copy view whose accessors cannot fail once the check has passed, a `Repr` with `parse` and
//! `emit`, and for headers a [`table`] of fields. No decoder panics on any bytes.
//!
//! ```text
//!   bytes of a x16 data block      lanes
//!   +-------+-----------------+------+-----+-----+
//!   | token | [prefix] header | data |ECRC |LCRC |   one TLP, gen3 to gen5
//!   +-------+-----------------+------+-----+-----+
//!     4 B     4n + 12 or 16    0-4096  0/4   4
//! ```
//!
//! Layouts as in the public implementations that `tests/golden/README.md` of the simulator names.

pub mod crc;
pub mod dllp;
pub mod flit;
pub mod frame;
pub mod ide;
pub mod table;
pub mod tlp;
pub mod token;
