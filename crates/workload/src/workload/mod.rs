//! What is done: the copies themselves, where their bytes come from and where they go, and what happens around them.
//!
//! ```text
//!  --copy h2d:64MiB:pinned --> Copy --+
//!  --workload FILE ---> file -- Copy -+   (or the name of a shipped one)
//!                       WorkloadStep -+
//!  --payload FILE ---> FileSource  ---+--> Workload --> system::Request --> system --> Outcome
//!     (or) --seed N -> Generator   ---+                      |
//!                                        Arrival <-- Sink <--+  bytes, SHA-256, file
//! ```
//!
//! Bytes stream: nothing here holds more than a bounded part of a copy, whatever its size.

mod arrival;
pub mod collective;
mod copy;
pub mod data_parallel;
mod file;
mod file_sink;
mod file_source;
mod injection;
mod job;
mod ordered;
mod payload;
mod program;
mod shipped;
pub mod trace;

pub use crate::system::Generator;
pub use arrival::{Arrival, ArrivalError};
pub use copy::{Copy, CopyArgument, CopyError, MAX_BYTES, direction_name, memory_name, read_memory, read_size};
pub use file::{Head, MAX_FILE, Setting, WorkloadFile};
pub use file_sink::OutputFile;
pub use file_source::FileSource;
pub use injection::{InjectionArgument, InjectionError};
pub use job::{Workload, WorkloadError, sized};
pub use ordered::{HELD_BYTES, Ordered};
pub use payload::{Payload, PayloadError};
pub use program::{MAX_KERNELS, MAX_STEPS, StepFault, WorkloadStep, check, pages_name};
pub use shipped::{SHIPPED_WORKLOADS, ShippedWorkload};
