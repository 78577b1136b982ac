//! PCIe without cycles: wire formats bit by bit, flow-control credits, and how transfers are split.
//!
//! | module | has |
//! | --- | --- |
//! | [`wire`] | TLPs, DLLPs, tokens, frames, flits and IDE prefixes, with their CRCs and ECC |
//! | [`credit`] | credit classes, what a TLP costs, the counters of both ends of a link |
//! | `items` (feature `json`) | what stands in a stream of bytes, as text and JSON, and JSON back to bytes |
//! | [`split`] | transfers to requests, by MRRS, MPS and 4 KiB; requests to completions, by RCB |

pub mod credit;
#[cfg(feature = "json")]
pub mod items;
pub mod split;
pub mod wire;

/// The code of the README is tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
