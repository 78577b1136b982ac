//! What is asked of the fabric.

use crate::{
    fabric::{memory::Memory, program::Program, protocol::Protocol},
    sim::{Injection, Kernel, Order},
    units::Femtos,
};

/// A collective: what each GPU does, and what is in its buffer.
#[derive(Debug, Clone)]
pub struct FabricRequest {
    pub programs: Vec<Program>,
    /// GPUs of the ring, where there is one program that stands for all.
    pub ranks: usize,
    /// How text is passed on.
    pub protocol: Protocol,
    pub begin: Femtos,
    pub memories: Vec<Memory>,
    /// Seed of keys, and of the bits that faults pick.
    pub seed: u64,
    pub kernel: Kernel,
    /// In which order units tick at one instant.
    pub order: Order,
    pub injections: Vec<Injection>,
}
