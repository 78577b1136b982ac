//! The way of each message through the machine, put together from what passes channels.
//!
//! ```text
//!  to the GPU     cipher > staging > submission > link > engine > tag > release
//!  from the GPU   submission > engine > link > release > staging > cipher
//! ```
//!
//! | stage | ends when |
//! | --- | --- |
//! | cipher | a thread of the CPU's cipher is done with it; it begins when the thread takes it |
//! | staging | to the GPU: the doorbell of its push rings; from it: a thread takes it |
//! | submission | a copy engine has the launch; without a cipher the message begins with its doorbell |
//! | link | its last completion has come to the copy engine; from the GPU: its last write has come to the root complex |
//! | engine | its last bytes are in device memory; from the GPU: its last write has left the copy engine |
//! | tag | it has its verdict |
//! | release | the link has taken the semaphore of its push |
//!
//! A stage begins where the one before it ends, so that the stages of a message add up to its time. Without confidential computing there are no messages: what
//! is followed is a push.

mod message;
mod places;
mod tracker;

pub use message::{Message, Stage, Step, Way};
#[cfg(feature = "observe")]
pub(super) use places::gpu_of;
pub use tracker::Tracker;
