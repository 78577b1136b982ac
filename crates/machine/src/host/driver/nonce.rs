//! The IV of the next message.

use super::push::Nonces;
use crate::{host::memory::HostState, units::Femtos};

/// Takes the next IV at `time`, and before it those that a fault makes the counter skip.
pub(super) fn next_nonce(
    secure: bool,
    time: Femtos,
    nonces: &mut dyn Nonces,
    memory: &mut HostState,
) -> Result<[u8; 12], String> {
    if !secure {
        return Ok([0; 12]);
    }
    for _ in 0..memory.iv_skips(time) {
        nonces.next()?;
    }
    nonces.next()
}
