//! PCIe from gen3 to gen5: wire formats, how transfers are cut into packets, flow control, and the units of a link.

pub mod credit;
pub mod packet;
pub mod port;
pub mod root_complex;
pub mod spec;
pub mod split;
pub mod wire;
