//! Whole machines: one binary, so that it is linked once. What the gate runs again under debug assertions has binaries of its own.

#[path = "../common/mod.rs"]
mod common;

mod aead;
mod authenticators;
mod chosen;
mod explained;
mod gpus;
mod ide;
mod limits;
mod looks;
mod paths;
mod peaks;
mod probes;
mod programs;
mod registers;
mod release;
mod shared;
mod silicon;
mod sm;
mod split;
mod switches;
mod tags;
mod threads;
mod waves;
mod whole;
mod work;
