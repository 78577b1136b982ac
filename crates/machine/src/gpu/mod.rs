//! The GPU's side of the path: the copy engine with its AES-GCM engines, the tag queue, device memory.
//!
//! ```text
//!  doorbells --> +-----------+ --pushes--> +---------+ <== memory
//!  pushes    --> | scheduler |             | compute |
//!  requests   <  |           | <-retired-- +---------+
//!                +-----------+
//!            pushes |   ^ retired
//!                   v   |
//!                +-----------+ --entries------------------------> +-----------+
//!                | front     |                                    | tag queue |
//!                |  ends     | <-------------------- verdicts --- |           |
//!                +-----------+                                    +-----------+
//!               work |   ^ done  ^                                  ^   |   | verdicts
//!                    v   |       |                                  |   |   v
//!                +-----------+   |                                  |   | +-----------+
//!  completions > |   PCEs,   | ~~|~~ tags ~~~~~~~~~~~~~~~~~~~~~~~~~~+   | |  HBM, L2  |
//!  requests   <  | each with | <-|------- verdicts, under hold ---------+ |           |
//!                |  AES-GCM  | ~~|~~ writes ~~~~~~~~~~~~~~~~~~~~~~~~~~~~> |           | <--> DeviceMemory
//!                |           | --|-- reads ----------------------------> |           |
//!                |           | <~|~~ data ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~ |           |
//!                +-----------+   +~~ landed ~~~~~~~~~~~~~~~~~~~~~~~~~~~~ +-----------+
//!
//!  --- queue     ~~~ wire with a date of arrival
//! ```
//!
//! | unit | file | contract in one line |
//! | --- | --- | --- |
//! | scheduler | [`scheduler`] | doorbells to pushes for engines, each stream in order; events |
//! | front end, one per LCE | [`front_end`] | push to transfers: fetch, decode, IV, tag-queue entry, PCE; verdicts to semaphores |
//! | compute | [`compute`] | kernels by their times, and the copies that kernels make |
//! | PCE | [`pce`] | one transfer at a time through the engine, many reads outstanding |
//! | engine | [`shared_engine`] | where PCEs have no engines but one between them: messages in turn, or pieces of them |
//! | SMs | [`sm`] | where they and not the PCEs seal and open: a kernel per message, between a PCE and device memory |
//! | tag queue | [`tag_queue`] | one entry per message to be verified, a verdict when both tags are known |
//! | device memory | [`hbm`] | a rate and a latency in each direction; unverified bytes wait for their verdict |
//!
//! Around the units lie plain functions and tables, without cycles: [`methods`] are the words that a driver
//! writes and the rules that a launch obeys, [`mapping`] which PCE serves which LCE and under which key,
//! [`key_rotation`] when a key has done enough. [`work`] is what passes between the units, [`spec`] what they are built of.

pub mod compute;
pub mod front_end;
pub mod hbm;
pub mod key_rotation;
pub mod mapping;
pub mod methods;
pub mod pce;
pub mod release;
pub mod scheduler;
pub mod shared_engine;
pub mod sm;
pub mod spans;
pub mod spec;
pub mod tag_queue;
pub mod work;
