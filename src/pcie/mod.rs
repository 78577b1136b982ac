//! PCIe.

pub mod credit;
pub mod packet;
pub mod port;
pub mod root_complex;
pub mod spec;
pub mod split;
pub mod wire;
