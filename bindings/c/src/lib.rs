//! sealsim for C, C++ and SystemVerilog DPI: an AES-GCM engine that is stepped, AES-GCM in software with its stages, and TLPs.
//!
//! ```text
//!   include/sealsim.h        made of this crate by cbindgen, see header/
//!   engine, software, tlp    the functions: plain integers and pointers, no structs by value
//!   guard                    no panic leaves a function; what went wrong is kept for sealsim_last_error
//! ```

mod engine;
mod fault;
mod guard;
mod software;
mod tlp;

pub use engine::*;
pub use guard::*;
pub use software::*;
pub use tlp::*;
