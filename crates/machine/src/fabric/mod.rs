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
//! nobody, the copy engines, or engines in the ports.
//!
//! # A ring by a formula
//!
//! With L links, a transfer of n packets of f flits has R = floor((n - 1) / L) rows of L packets before its last. A step takes, in cycles of the links,
//! each time rounded up:
//!
//! ```text
//!   3 + read_latency + R f + (f + flight) + max(1, switch_latency) + 1 + (f + flight) + 1 + max(1, write_latency) + max(1, step + pass / rate)
//! ```
//!
//! `step` and `rate` are the protocol's, and f counts its flags. `pass` is the part in the last step of a turn, else nothing; with copies (`direct`) it
//! is what is added. A bridge has no switch's part. A ring takes the launch, the kernel's start, and the steps of all turns. If responses take no link
//! (`fabric.response = "0 cycles"`), simulation and formula agree to the cycle, for 2 to 16 GPUs. Otherwise a response of r flits takes the link for each
//! packet received: rows after the first floor((f + flight + 1) / f) take f + r. With engines:
//!
//! Where a hop of the ring passes through the host, packets leave the switch an interval apart at the least: R f is (n - 1) `fabric.host.interval`, if
//! that is longer, and the first packet's flits take the last one's place on the first link. One GPU that stands for all has the longest interval of any hop.
//!
//! - `link`: f includes the tag's flits; a packet leaves when its tag is known, and is delivered after its verdict.
//! - `pad_ahead`: each batch has a tag of 3 flits; the last tag and its verdict are added. The wait of the last tags behind a row of text is left out,
//!   some 20 to 30 cycles a step: below 1 % with Simple, more with LL.
//! - `direct`: the engines' time for all messages, from their own timing model, replaces the rows if it is longer; then the last message is read and
//!   opened. `step` includes `fabric.submission`.
//!
//! `tests/machine/fabric.rs` compares each protocol with a sum by hand.

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
