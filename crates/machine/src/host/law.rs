//! Who waits for whom: of each operation of a program, what its call waits for, what it waits for itself on the GPU, and what it holds meanwhile.
//!
//! ```text
//!  operation, memory, way, blocking --> [ law ] --> host, begins_after, session
//!  secure, pageable_upload          -->
//! ```
//!
//! The [driver](super::Driver) and the replay of profiles ask it; neither decides by itself. It knows no dates: each of them has its own clock.
//! `docs/replay.md` prints it as a table.

use super::work::{Direction, Memory};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An operation of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// A copy; `blocking` if the program asks its call to wait.
    Copy {
        way: Direction,
        memory: Memory,
        blocking: bool,
    },
    /// A kernel, a graph or a fill.
    Launch,
    Record,
    /// A stream waits for an event.
    Wait,
    /// The host waits for a stream.
    Sync,
}

/// When a call from pageable memory to the GPU returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PageableUpload {
    /// When the copy, and all before it on its stream, is done.
    #[default]
    Waits,
    /// When all of it is staged (sealed, with confidential computing) and submitted, as CUDA documents it.
    Returns,
}

/// What decides beside the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Knobs {
    /// Copies between host and GPU are sealed.
    pub secure: bool,
    /// In this mode.
    pub pageable_upload: PageableUpload,
}

/// What a call waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Returns {
    /// Nothing but its own work.
    AtOnce,
    /// All of its operation being handed to the GPU, which takes as much at once as there is staging for.
    Submitted,
    /// The end of its operation, and so of all before it on its stream.
    StreamDone,
}

/// What an operation waits for on the GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// All before it on its stream.
    Stream,
    /// The event that it names.
    Event,
    /// Its turn at an engine, which takes what is ready for longest.
    Engine(Engine),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Engine {
    /// The copy engine that reads host memory.
    Reading,
    /// The one that writes it.
    Writing,
    /// As many kernels at once as it has slots.
    Compute,
}

/// From when to when an operation has the session of its GPU, which seals and opens one copy at a time, under IVs that both ends count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Session {
    No,
    /// From its turn to the return of its call: while it waits for its stream it holds nothing, as if each stream had a channel with IVs of its own.
    ToReturn,
    /// From its call to its end: it is sealed when it is called, and copies of other streams come after it in the order of IVs.
    ToEnd,
}

/// Who waits for an operation, and for what it waits itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waits {
    pub host: Returns,
    pub begins_after: &'static [After],
    pub session: Session,
}

/// Who waits for whom.
pub const fn law(asked: Asked, knobs: Knobs) -> Waits {
    use After::{Engine as Turn, Event, Stream};
    match asked {
        Asked::Copy { way, memory, blocking } => {
            let begins_after: &[After] = match way {
                Direction::H2d => &[Stream, Turn(Engine::Reading)],
                Direction::D2h => &[Stream, Turn(Engine::Writing)],
                Direction::D2d => &[Stream, Turn(Engine::Compute)],
            };
            let (host, session) = copy(way, memory, knobs);
            // CUDA documents of the blocking call itself that such an upload returns early.
            let early = !knobs.secure && matches!(host, Returns::Submitted);
            Waits { host: if blocking && !early { Returns::StreamDone } else { host }, begins_after, session }
        }
        Asked::Launch => {
            Waits { host: Returns::AtOnce, begins_after: &[Stream, Turn(Engine::Compute)], session: Session::No }
        }
        Asked::Record => Waits { host: Returns::AtOnce, begins_after: &[Stream], session: Session::No },
        Asked::Wait => Waits { host: Returns::AtOnce, begins_after: &[Stream, Event], session: Session::No },
        Asked::Sync => Waits { host: Returns::StreamDone, begins_after: &[Stream], session: Session::No },
    }
}

/// Of a copy that need not block.
const fn copy(way: Direction, memory: Memory, knobs: Knobs) -> (Returns, Session) {
    match (way, memory, knobs.secure, knobs.pageable_upload) {
        // What needs no staging is left to the GPU.
        (Direction::D2d, ..) | (_, Memory::Pinned, false, _) => (Returns::AtOnce, Session::No),
        (Direction::H2d, Memory::Pageable, false, PageableUpload::Returns) => (Returns::Submitted, Session::No),
        (Direction::H2d, Memory::Pageable, true, PageableUpload::Returns) => (Returns::Submitted, Session::ToEnd),
        (_, Memory::Pageable, false, _) => (Returns::StreamDone, Session::No),
        (_, _, true, _) => (Returns::StreamDone, Session::ToReturn),
    }
}
