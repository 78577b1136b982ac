//! Toy bytes, nonces and cipher.

use super::super::*;
use std::{cell::RefCell, io, rc::Rc};

pub fn byte(copy: usize, offset: u64) -> u8 {
    ((offset ^ offset >> 7 ^ offset >> 13).wrapping_mul(167) as u8).wrapping_add(copy as u8)
}

pub fn bytes(copy: usize, count: u64) -> Vec<u8> {
    (0..count).map(|n| byte(copy, n)).collect()
}

/// Nonce of the n-th message of a direction.
pub fn nonce(direction: u8, number: u32) -> [u8; 12] {
    let mut nonce = [direction; 12];
    nonce[..4].copy_from_slice(&number.to_le_bytes());
    nonce
}

/// A counter of nonces with an end.
pub struct Counter {
    pub direction: u8,
    pub last: u32,
    pub limit: u32,
}

impl Nonces for Counter {
    fn next(&mut self) -> Result<[u8; 12], String> {
        if self.last == self.limit {
            return Err("the IVs are used up".into());
        }
        self.last += 1;
        Ok(nonce(self.direction, self.last))
    }
}

/// A cipher that is no secret: a keystream from the nonce, a tag over the ciphertext.
pub struct Toy;

impl Toy {
    fn apply(nonce: [u8; 12], text: &mut [u8]) {
        for (place, byte) in text.iter_mut().enumerate() {
            *byte ^= nonce[place % 12].wrapping_mul(29) ^ (place as u8).wrapping_mul(53) ^ 0x5a;
        }
    }

    fn tag(nonce: [u8; 12], text: &[u8]) -> Vec<u8> {
        let mut sum = u128::from_le_bytes([nonce.as_slice(), &[1; 4]].concat().try_into().unwrap());
        for &byte in text {
            sum = (sum ^ u128::from(byte)).wrapping_mul(0x1_0000_0000_0000_0000_0000_013B);
        }
        sum.to_le_bytes().to_vec()
    }
}

impl Cryptor for Toy {
    fn seal(&mut self, key: KeyOf, nonce: [u8; 12], text: &mut [u8]) -> Vec<u8> {
        let nonce = keyed(key, nonce);
        Self::apply(nonce, text);
        Self::tag(nonce, text)
    }
    fn open(&mut self, key: KeyOf, nonce: [u8; 12], text: &mut [u8], tag: &[u8]) -> bool {
        let nonce = keyed(key, nonce);
        let right = Self::tag(nonce, text) == tag;
        Self::apply(nonce, text);
        right
    }
}

/// The toy's keys are changes of the nonce.
fn keyed(key: KeyOf, mut nonce: [u8; 12]) -> [u8; 12] {
    nonce[11] ^= 17 * key as u8;
    nonce
}

/// Private memory: reads give the pattern, writes land in a vector per copy.
#[derive(Default, Clone)]
pub struct Private {
    pub stored: Rc<RefCell<Vec<Vec<u8>>>>,
    /// Fails at the n-th access, if any.
    pub fails_at: Option<u32>,
    pub accesses: u32,
}

impl Private {
    fn access(&mut self) -> io::Result<()> {
        self.accesses += 1;
        if self.fails_at == Some(self.accesses) { Err(io::Error::other("the disk is gone")) } else { Ok(()) }
    }
}

impl PrivateMemory for Private {
    fn load(&mut self, copy: usize, offset: u64, into: &mut [u8]) -> io::Result<()> {
        for (n, into) in (offset..).zip(into) {
            *into = byte(copy, n);
        }
        self.access()
    }
    fn store(&mut self, copy: usize, offset: u64, bytes: &[u8], _by: u64) -> io::Result<()> {
        let mut stored = self.stored.borrow_mut();
        let count = stored.len().max(copy + 1);
        stored.resize(count, Vec::new());
        let end = offset as usize + bytes.len();
        let held = &mut stored[copy];
        held.resize(held.len().max(end), 0);
        held[offset as usize..end].copy_from_slice(bytes);
        drop(stored);
        self.access()
    }
}
