//! PCIe: the bytes on the wire, how transfers are cut into TLPs, and flow-control credits.
//!
//! | module | what it is |
//! | --- | --- |
//! | [`spec`] | what a link and a root complex are configured with |
//! | [`wire`] | TLPs, DLLPs, CRCs, tokens, frames, scrambling, blocks: bytes in, fields out, and back |
//! | [`split`] | a transfer into requests, a request into completions |
//! | [`credit`] | what a TLP costs in credits, and the counters of both ends |

pub mod credit;
pub mod spec;
pub mod split;
pub mod wire;
