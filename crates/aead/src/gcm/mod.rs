//! AES-GCM as hardware: block cipher lanes in counter mode in front of a GHASH unit.
//!
//! ```text
//!                  +--------------------------------------------------+
//!   key, IV ------>| counter --> aes lanes --> keystream --+          |
//!   text --------->|----------------------------------->(+)|---> text |----> text
//!                  |                 ciphertext, AAD, length |        |
//!                  |                                         v        |
//!                  |    field, multiplier  <--------->     ghash      |----> tag
//!                  +--------------------------------------------------+
//! ```
//!
//! Three forms of one engine, tied together by tests:
//!
//! - [`bulk`]: the bytes alone, as fast as the host gives them;
//! - [`engine`]: the structural datapath, register by register and cycle by cycle;
//! - [`timing`]: the cycles alone.
//!
//! [`standalone`] puts an engine on a bench of its own; [`bench`](mod@bench) is what any engine on one is given and asked. A simulated machine runs on
//! [`timing`] and [`bulk`]; [`stages`] drives [`engine`] for golden values of each stage. [`part`] cuts a message into parts that are hashed apart. What
//! an engine is built of is in [`spec`].

pub mod aes;
pub mod bench;
pub mod bulk;
pub mod control;
pub mod counter;
pub mod engine;
pub mod field;
pub mod ghash;
pub mod message;
pub mod multiplier;
pub mod names;
pub mod part;
pub mod register;
pub mod spec;
pub mod stages;
pub mod standalone;
pub mod structure;
pub mod timing;
pub mod upset;
