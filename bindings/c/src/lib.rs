//! sealsim for C, C++ and SystemVerilog DPI: an AES-GCM engine that is stepped, and TLPs.
//!
//! ```text
//!   include/sealsim.h        made of this crate by cbindgen, see header/
//!   engine, tlp              the functions: plain integers and pointers, no structs by value
//!   guard                    no panic leaves a function; what went wrong is kept for sealsim_last_error
//! ```

mod engine;
mod fault;
mod guard;
mod tlp;

pub use engine::*;
pub use guard::*;
pub use tlp::*;
