//! What lies between GPUs: links, a switch, and who seals and opens on the way.
//!
//! ```text
//!          GPU                                                                     GPU
//!   +------+   +--------+   +------+             +----------+             +------+   +----------+   +------+
//!   | rank |-->| sender |-->| port |~~~ links ~~~| crossbar |~~~ links ~~~| port |-->| receiver |~~>| rank |
//!   +------+   +--------+   +------+             +----------+             +------+   +----------+   +------+
//! ```
//!
//! Two GPUs may also have all their links to each other, without a crossbar. [`FabricMode`](spec::FabricMode) says who seals and opens:
//! nobody, the copy engines, or engines in the ports. `docs/fabric.md` has the closed forms.

pub mod element;
pub mod memory;
pub mod packet;
pub mod port;
pub mod program;
pub mod protocol;
pub mod rank;
pub mod receiver;
pub mod seal;
pub mod sender;
pub mod spec;
pub mod switch;
