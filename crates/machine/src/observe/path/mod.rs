//! Why a run took as long as it took: the path of waits that leads from its end back to its beginning.
//!
//! ```text
//!   driver waits <- cipher busy <- queue <- driver busy <- ... <- begin
//! ```
//!
//! At any place the walk asks which item the unit had last received that what it then sent depends on:
//!
//! | what was sent | depends on |
//! | --- | --- |
//! | a TLP in transit through a port | the same TLP |
//! | a completion, data of device memory, the end of a job of the cipher | the read, the job |
//! | an UpdateFC | the room that was made in the receiver's queue |
//! | anything else | what had come last |
//!
//! From the item's coming to what was sent, time is the unit's, by its account: busy, a stall, or latency where it was idle. Before, it is the channel's. A
//! unit that was busy when the item came, and has let it wait longer than others, is followed back through that; one that stalled for room, for credits or for an Ack, to the unit that gave them.
//! What came to an engine that was at work is followed back through the engine's work without a break. So the parts of a path adjoin, and add up to its time.

mod cause;
mod record;
mod tracks;
mod walk;

pub use record::{Recorder, TooLong};
pub use tracks::{UnitSlice, UnitTrack};
pub use walk::{Part, Path, Share};
