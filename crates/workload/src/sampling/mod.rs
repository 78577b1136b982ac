//! Sampled timing: what a long copy or a long loop takes, from a few short ones that are simulated in full detail.
//!
//! ```text
//!  work of N units --parts--> lengths L0 < L1 < .. < L5 of each part --shorten--> requests --system--> outcomes
//!                                                                                                         |
//!                outcome of all N, with a low and a high for each figure <--estimate-- a line by figure <--+
//! ```
//!
//! Each run is the beginning of the whole run, with its end behind it: key, IVs, buffers, caches and the phases of the clocks begin as they do
//! there, and copies of the host's buffers find in the caches what the whole buffers leave. So only the middle is never simulated, and it is
//! taken to go on as the lengths that were simulated did.
//!
//! | contract | |
//! | --- | --- |
//! | parts | copies in parallel with which nothing runs, in steps of a push; the longest loop of a program, in turns |
//! | lengths | from one turn through staging on, six of them, at distances that share no period |
//! | a figure | the line through those of the shortest and the longest run, at the whole length; a peak is the largest that was seen |
//! | interval | 95 % by Student's quantiles, for stretches that vary and for ends that do, whichever is wider; a launch of plain copies that was not seen costs between nothing and what a copy costs in addition to its length; the longest exposure may be as far above the longest seen as that is above the mean. None is narrower than a tenth of what `auto` asks for |
//! | `auto` | lengthens the runs until the intervals are narrow and a run three times as long as the longest comes out as estimated, or half of the work would be simulated: then it simulates all of it |
//! | all of it | is simulated also where a copy does not arrive, where the last-level cache holds a part of the buffers (between half of it and six times it), where work on several GPUs differs, and where a channel would run out of IVs |
//! | gives not | what needs each event: bytes, digests, faults, traces |

mod ask;
mod busiest;
mod caches;
mod check;
mod collective;
mod estimate;
mod figures;
mod line;
mod looped;
mod narrow;
mod parts;
mod points;
mod run;
mod scaled;
mod shorten;
mod told;
mod turns;

pub use ask::{FEWEST, Sample, SampleError};
pub use collective::{SampledCollective, collective};
pub use estimate::CONFIDENCE;
pub use parts::Unit;
pub use run::{Asked, Sampled, sample, time};
pub use told::Told;
