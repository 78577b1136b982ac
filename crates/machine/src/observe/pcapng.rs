//! Blocks of a pcapng file (draft-ietf-opsawg-pcapng), little endian.
//!
//! ```text
//!   type | length | body, padded to 4 bytes | length           body: fields, then data, then options
//!   code | length | value, padded to 4 bytes                   an option; code 0 ends them
//! ```

/// Options: the application of a section; name, description and resolution of time of an interface.
pub(super) const APPLICATION: u16 = 4;
pub(super) const NAME: u16 = 2;
pub(super) const DESCRIPTION: u16 = 3;
pub(super) const RESOLUTION: u16 = 9;

/// The head of a section of unknown length, version 1.0.
pub(super) fn section(options: &[(u16, &[u8])]) -> Vec<u8> {
    let fields = [0x1a2b_3c4d_u32.to_le_bytes(), [1, 0, 0, 0], [0xff; 4], [0xff; 4]].concat();
    block(0x0a0d_0d0a, &fields, options)
}

/// An interface whose packets have any length.
pub(super) fn interface(link_type: u16, options: &[(u16, &[u8])]) -> Vec<u8> {
    block(1, &[u32::from(link_type).to_le_bytes(), [0; 4]].concat(), options)
}

/// A packet of an interface, at a time in its resolution.
pub(super) fn packet(interface: u32, time: u64, data: &[u8]) -> Vec<u8> {
    let length = data.len() as u32;
    let fields = [interface, (time >> 32) as u32, time as u32, length, length].map(u32::to_le_bytes);
    block(6, &[fields.as_flattened(), data].concat(), &[])
}

fn block(kind: u32, body: &[u8], options: &[(u16, &[u8])]) -> Vec<u8> {
    let mut all = [kind.to_le_bytes(), [0; 4]].concat();
    padded(&mut all, body);
    for (code, value) in options {
        all.extend([code.to_le_bytes(), (value.len() as u16).to_le_bytes()].as_flattened());
        padded(&mut all, value);
    }
    if !options.is_empty() {
        all.extend([0; 4]);
    }
    let length = (all.len() as u32 + 4).to_le_bytes();
    all[4..8].copy_from_slice(&length);
    all.extend(length);
    all
}

fn padded(all: &mut Vec<u8>, bytes: &[u8]) {
    all.extend(bytes);
    all.resize(all.len().next_multiple_of(4), 0);
}
