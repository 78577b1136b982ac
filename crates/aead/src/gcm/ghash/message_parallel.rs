//! `message_parallel {units u, ports p, buffer b, unit}`: whole messages go to different units.
//!
//! ```text
//!   message n     ---> [ buffer ]--> [ unit ]---> Y      a unit is a message's
//!   message n + 1 ---> [ buffer ]--> [ unit ]---> Y      from its first block to its value
//!   ...
//! ```
//!
//! What is here is one of the units. Which message goes to which is the engine's: to the one that is free first. It has mask
//! registers for u + 1 messages, takes text in the order of messages, and gives tags in that order.
//!
//! | | |
//! | --- | --- |
//! | accepts | up to p blocks per cycle and unit, each while the unit's buffer has room |
//! | blocks per cycle | one message alone: min(p, r), where a unit with all its input there takes blocks at rate r. Messages of n blocks in a row: n over the most of n / p; (n - b) / r if b < n; T / u, with T cycles from a message's begin to its value |
//! | tail | the unit's own. With p = 1 the length block enters a cycle after the ciphertext at the earliest |
//! | closing, partial groups, alignment | the unit's own |
//! | buffers | u b blocks |
//! | powers | the units', made at the same time |

use super::sub_chains;
use crate::gcm::spec::GhashSpec;

/// One unit's registers: those of a single chain.
pub(super) fn unit(ports: u32, buffer: u32, unit: &GhashSpec) -> sub_chains::GhashUnit {
    sub_chains::GhashUnit::new(1, 1, ports, buffer, unit)
}

pub(super) fn timing(ports: u32, buffer: u32, unit: &GhashSpec) -> sub_chains::TimingModel {
    sub_chains::TimingModel::new(1, 1, ports, buffer, unit)
}
