//! PCIe: wire formats from gen1 to gen5, how transfers are split into packets, flow control, and the units of a link.
//!
//! ```text
//!  doorbells   --> +-----------+ ~~~~ link.h2d ~~~~> +----------+ --> completions, by PCE
//!  completions --> | host port | TLPs and DLLPs, one |          | --> doorbells
//!  reads      <--- |           | frame after another | GPU port |
//!  writes     <--- |           | <~~~~ link.d2h ~~~~ |          | <-- requests, by PCE
//!                  +-----------+                     +----------+
//!
//!  reads  --> +--------------+ --> completions         received, from  --> +----------+ --> to each other port
//!  writes --> | root complex | ~~> notices             a switch's port     | crossbar |
//!             +--------------+ <-> HostMemory                              +----------+
//! ```
//!
//! [`wire`] has every format bit by bit, without cycles, and is what `sealsim tlp` speaks. [`port`], [`switch`] and [`root_complex`] are
//! the units; they carry a TLP as plain values and a slice of memory ([`packet`]) and write the wire form where a CRC looks at
//! it. [`split`] cuts transfers, [`credit`] counts, [`ide`] says what protected TLPs weigh on wire and engine. Links are of generations 3
//! to 6, one to sixteen lanes wide ([`rate`]); generation 6 is in flit mode, the others are not, and generations 1 and 2 are wire formats only.

pub mod ide;
pub mod mark;
pub mod packet;
pub mod port;
pub mod rate;
pub mod retimer;
pub mod root_complex;
pub mod spec;
pub mod switch;

pub use sealsim_pcie::{credit, split, wire};
