//! The address map: where host memory, the doorbell and the GPU's memory lie.
//!
//! ```text
//!  1 TiB  staging data          shared memory that sealed messages pass through
//!  2 TiB  tags                  16 bytes per staging slot and tag
//!  3 TiB  IVs, semaphores       a page that the GPU's IV write-backs go to, and what the CPU polls
//!  4 TiB  registers             16 MiB for each GPU below a root complex; the doorbell is the first
//!  2^54   pinned memory         a window per copy; mapped only without confidential computing
//!  2^55   device                a window per copy
//!  2^56   device, destinations  of copies within the GPU, a window per copy
//!  3 2^55 device, ciphertext    between the copy engines and SMs that seal and open
//! ```
//!
//! Host memory lies below [`DEVICE_BASE`], device memory above it. Everything lies above 4 GiB (requests take four-DW headers) and below 2^57, the reach of a copy engine's addresses.

use crate::units::Bytes;

/// Size of a copy's window, and of the longest copy.
pub const WINDOW: Bytes = Bytes(1 << 40);
/// Copies that have a window each.
pub const MAX_COPIES: usize = 1 << 14;
pub const STAGING: u64 = 1 << 40;
/// First byte of the tags: those of a slot lie [`tag_stride`] behind those of the slot before.
pub const TAGS: u64 = 2 << 40;
pub const TAG_BYTES: u64 = 16;
/// From the tags of a slot to the next one's: a power of two, so that no slot's tags cross a page.
pub const fn tag_stride(tags: u32) -> u64 {
    TAG_BYTES * tags.next_power_of_two() as u64
}
/// Page that the GPU writes the IVs of what it has sealed to. The CPU keeps its own count and does not read them.
pub const IV_PAGE: u64 = 3 << 40;
pub const SEMAPHORES: u64 = IV_PAGE + (1 << 20);
/// Streams that have semaphores of their own.
pub const MAX_STREAMS: u32 = 64;
/// From a stream's semaphores to the next one's.
pub const STREAM_STRIDE: u64 = 64;
/// Semaphore of the last push of stream 0 that is done.
pub const DONE: u64 = SEMAPHORES;
/// Semaphore of the last push of stream 0 whose tags are all verified, under eager release.
pub const VERIFIED: u64 = DONE + 16;
/// Semaphore of the last push of a stream that is done; that of its last verified push lies 16 bytes further.
pub const fn done(stream: u32) -> u64 {
    DONE + stream as u64 * STREAM_STRIDE
}
/// Semaphore that a channel error may be written to; the driver heeds one on any semaphore.
pub const ERROR: u64 = DONE + 32;
/// Registers of the first GPU below a root complex.
const REGISTERS: u64 = 4 << 40;
/// From a GPU's registers to those of the next one below the same root complex.
const REGISTER_WINDOW: u64 = 1 << 24;
/// Where the CPU writes the number of a push that is ready: a register of the GPU with that place below its root complex.
pub const fn doorbell(gpu: u8) -> u64 {
    REGISTERS + gpu as u64 * REGISTER_WINDOW
}
pub const fn registers(gpu: u8) -> std::ops::Range<u64> {
    doorbell(gpu)..doorbell(gpu) + REGISTER_WINDOW
}
/// First byte of pinned host memory.
pub const PINNED: u64 = 1 << 54;
pub const DEVICE_BASE: u64 = 1 << 55;
/// First byte of the destinations of copies within the GPU.
pub const DEVICE_COPY_BASE: u64 = 1 << 56;
/// First byte of the GPU's buffer for ciphertext, where SMs seal and open.
pub const DEVICE_STAGING: u64 = 3 << 55;

const PAGE: u64 = 4096;
const SHIFT: u32 = WINDOW.0.trailing_zeros();
const WINDOWS_END: u64 = PINNED + (MAX_COPIES as u64) * WINDOW.0;

/// Address of a byte of a copy in the GPU's memory; its source, if both ends are there.
pub const fn device(copy: usize, offset: u64) -> u64 {
    DEVICE_BASE + copy as u64 * WINDOW.0 + offset
}

/// Address of a byte of the destination of a copy within the GPU.
pub const fn device_copy(copy: usize, offset: u64) -> u64 {
    DEVICE_COPY_BASE + copy as u64 * WINDOW.0 + offset
}

/// Address of a byte of a copy in pinned host memory.
pub const fn pinned(copy: usize, offset: u64) -> u64 {
    PINNED + copy as u64 * WINDOW.0 + offset
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Byte of the staging buffers.
    Staging(u64),
    /// Byte of the tags.
    Tags(u64),
    Iv,
    /// Byte of the semaphores.
    Semaphores(u64),
    /// Byte of a copy in pinned memory.
    Pinned {
        copy: usize,
        offset: u64,
    },
}

/// What lies at an address of host memory, if anything can.
pub const fn place(address: u64) -> Option<Place> {
    match address {
        STAGING..TAGS => Some(Place::Staging(address - STAGING)),
        TAGS..IV_PAGE => Some(Place::Tags(address - TAGS)),
        _ if address >= IV_PAGE && address < IV_PAGE + PAGE => Some(Place::Iv),
        _ if address >= SEMAPHORES && address < SEMAPHORES + PAGE => Some(Place::Semaphores(address - SEMAPHORES)),
        PINNED..WINDOWS_END => {
            let offset = address - PINNED;
            Some(Place::Pinned { copy: (offset >> SHIFT) as usize, offset: offset & (WINDOW.0 - 1) })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_byte_of_every_window_lies_in_its_own_region() {
        let last = (MAX_COPIES - 1, WINDOW.0 - 1);
        assert!(pinned(last.0, last.1) < DEVICE_BASE);
        assert!(device(last.0, last.1) < DEVICE_COPY_BASE);
        assert!(device_copy(last.0, last.1) < 1 << 57);
        assert_eq!(place(pinned(last.0, last.1)), Some(Place::Pinned { copy: last.0, offset: last.1 }));
    }

    #[test]
    fn the_gpus_addresses_and_low_memory_are_not_host_memory() {
        for address in [
            0,
            0x1000,
            u64::MAX,
            doorbell(0),
            doorbell(63),
            device(0, 0),
            device_copy(3, 7),
            WINDOWS_END,
            SEMAPHORES - 1,
        ] {
            assert_eq!(place(address), None, "{address:#x}");
        }
        assert_eq!(place(VERIFIED), Some(Place::Semaphores(16)));
        assert_eq!(place(TAGS - 1), Some(Place::Staging(WINDOW.0 - 1)));
    }
}
