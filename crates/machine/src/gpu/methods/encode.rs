//! From launches to the words that order them, in the order the driver uses.

use super::{
    ADDRESS_BITS, SUBCHANNEL,
    table::{
        LAUNCH_DMA as L, LINE_LENGTH_IN, OFFSET_IN_UPPER, SET_DECRYPT_AUTH_TAG_COMPARE_ADDR_UPPER,
        SET_ENCRYPT_AUTH_TAG_ADDR_UPPER, SET_SECURE_COPY_MODE, SET_SEMAPHORE_A,
    },
};
use crate::stream::{Launch, LaunchKind, Semaphore};
use thiserror::Error;

/// Why a launch cannot be put into methods.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EncodeError {
    /// Addresses have 57 bits.
    #[error("address {0:#x} does not fit into 57 bits")]
    Address(u64),
    /// LINE_LENGTH_IN has 32 bits.
    #[error("a line of {0} bytes has no length of 32 bits")]
    LineLength(u64),
}

/// The words of a push: its launches, and the release of its semaphore. Rules of LAUNCH_DMA are not checked here.
pub fn encode(launches: &[Launch], semaphore: Semaphore) -> Result<Vec<u32>, EncodeError> {
    let mut words = Vec::with_capacity(16 * launches.len() + 6);
    for launch in launches {
        put_launch(&mut words, launch)?;
    }
    let [upper, lower] = split(semaphore.address)?;
    put(&mut words, SET_SEMAPHORE_A::OFFSET, &[upper, lower, semaphore.value]);
    put(&mut words, L::OFFSET, &[L::SEMAPHORE_TYPE.put(1)]);
    Ok(words)
}

/// A header and its data, from `method` on.
fn put(words: &mut Vec<u32>, method: u16, data: &[u32]) {
    words.push(1 << 29 | (data.len() as u32) << 16 | SUBCHANNEL << 13 | u32::from(method / 4));
    words.extend(data);
}

/// Upper 25 and lower 32 bits.
fn split(address: u64) -> Result<[u32; 2], EncodeError> {
    if address >> ADDRESS_BITS != 0 {
        return Err(EncodeError::Address(address));
    }
    Ok([(address >> 32) as u32, address as u32])
}

fn put_launch(words: &mut Vec<u32>, launch: &Launch) -> Result<(), EncodeError> {
    let secure = match launch.kind {
        LaunchKind::Open => {
            put(words, SET_SECURE_COPY_MODE::OFFSET, &[1]);
            put(words, SET_DECRYPT_AUTH_TAG_COMPARE_ADDR_UPPER::OFFSET, &split(launch.tag)?);
            true
        }
        LaunchKind::Seal => {
            let ([tag_upper, tag_lower], [iv_upper, iv_lower]) = (split(launch.tag)?, split(launch.iv)?);
            put(words, SET_SECURE_COPY_MODE::OFFSET, &[0]);
            put(words, SET_ENCRYPT_AUTH_TAG_ADDR_UPPER::OFFSET, &[tag_upper, tag_lower, iv_upper, iv_lower]);
            true
        }
        LaunchKind::Fetch | LaunchKind::Store | LaunchKind::Local => false,
    };
    let ([in_upper, in_lower], [out_upper, out_lower]) = (split(launch.source)?, split(launch.destination)?);
    put(words, OFFSET_IN_UPPER::OFFSET, &[in_upper, in_lower, out_upper, out_lower]);
    let length = u32::try_from(launch.bytes).map_err(|_| EncodeError::LineLength(launch.bytes))?;
    put(words, LINE_LENGTH_IN::OFFSET, &[length]);
    let word = L::DATA_TRANSFER_TYPE.put(if launch.pipelined { 1 } else { 2 })
        | L::FLUSH_ENABLE.put(u32::from(launch.flush))
        | L::SRC_MEMORY_LAYOUT.put(1)
        | L::DST_MEMORY_LAYOUT.put(1)
        | L::COPY_TYPE.put(u32::from(secure));
    put(words, L::OFFSET, &[word]);
    Ok(())
}
