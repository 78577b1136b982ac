//! Keys, IVs and who seals and opens with them on this side of the link.

use super::{
    clocks::build,
    outcome::{ChannelKey, RunError},
};
use crate::{
    aead::{bytes::WireFormat, path::PathKey},
    config::MachineSpec,
    gcm::{
        iv::{KeySlot, Stream as IvStream},
        worker::Worker,
    },
    gpu::{
        mapping::{self, KeyName, SYSMEM_READ, SYSMEM_WRITE, simulation_key, simulation_mask, simulation_nonce_tail},
        pce::Keys,
    },
    host::{Cryptor, KeyOf, Nonces, Sealing, spec::CipherWork},
};
use std::{rc::Rc, sync::Arc};

/// What seals and opens on this side of the link: the CPU, and the user beyond it.
pub(super) struct Software {
    pub keys: Arc<Keys>,
    /// Between user and CPU.
    pub user: Arc<Keys>,
    pub worker: Rc<Worker>,
}

impl Software {
    fn key(&self, key: KeyOf) -> &PathKey {
        match key {
            KeyOf::ToGpu => &self.keys.h2d,
            KeyOf::FromGpu => &self.keys.d2h,
            KeyOf::FromUser => &self.user.h2d,
            KeyOf::ToUser => &self.user.d2h,
        }
    }
}

impl Cryptor for Software {
    fn seal(&mut self, key: KeyOf, nonce: [u8; 12], text: &mut [u8]) -> Vec<u8> {
        self.key(key).seal(nonce, text)
    }

    fn begin_seal(&mut self, key: KeyOf, nonce: [u8; 12], mut text: Vec<u8>) -> Sealing {
        if key != KeyOf::ToGpu {
            let tag = self.seal(key, nonce, &mut text);
            return Sealing(Box::new(move || (text, tag)));
        }
        let keys = Arc::clone(&self.keys);
        let sealed = self.worker.ask(move || {
            let tag = keys.h2d.seal(nonce, &mut text);
            (text, tag)
        });
        Sealing(Box::new(move || sealed.wait()))
    }

    fn open(&mut self, key: KeyOf, nonce: [u8; 12], text: &mut [u8], tag: &[u8]) -> bool {
        self.key(key).open(nonce, text, tag)
    }
}

/// The CPU's mirror of an engine's IV stream.
pub(super) struct Mirror(pub IvStream);

impl Nonces for Mirror {
    fn next(&mut self) -> Result<[u8; 12], String> {
        self.0.next_nonce().map(|nonce| nonce.0).map_err(|error| error.to_string())
    }
}

/// Version of the keys that a user brings; those of the channel have version 0.
const USERS: u32 = u32::MAX;

/// Keys and IVs, drawn from the seed.
pub(super) struct Secrets {
    /// Of the engine, and between user and CPU, in a run with bytes.
    pub keys: Option<(Arc<Keys>, Arc<Keys>)>,
    /// The engine's, once those of the CPU have been given out.
    pub engine: Option<Arc<Keys>>,
    pub h2d: IvStream,
    pub d2h: IvStream,
    /// Keys and IVs of the engine, h2d and d2h, as reports give them.
    pub shown: [ChannelKey; 2],
}

impl Secrets {
    /// Where data are forwarded, the engine's keys and IVs are those that user and GPU have agreed on, and the CPU has none.
    pub fn new(seed: u64, machine: &MachineSpec, exact: bool) -> Result<Self, RunError> {
        let mut master = [0; 32];
        master[..8].copy_from_slice(&seed.to_le_bytes());
        let name = |lce, way| KeyName::new(lce, way).ok_or_else(|| RunError::Build("the LCE has no keys".into()));
        let h2d = name(SYSMEM_READ, mapping::KeyDirection::H2d)?;
        let d2h = name(SYSMEM_WRITE, mapping::KeyDirection::D2h)?;
        let (bytes, format) = ((machine.sealing().model().key_bits() / 8).min(32) as usize, machine.format());
        let key = |format: WireFormat, version, name| {
            let tail = simulation_nonce_tail(&master, version, name);
            build(PathKey::new(format, &simulation_key(&master, version, name)[..bytes], tail))
        };
        let keys = |format, version| {
            let (h2d, d2h) = (key(format, version, h2d)?, key(format, version, d2h)?);
            Ok::<_, RunError>(Arc::new(Keys { h2d, d2h }))
        };
        let forwards = matches!(machine.cipher.work, CipherWork::Forward | CipherWork::InPlace);
        let version = if forwards { USERS } else { 0 };
        let ivs = |name| {
            let mut slot = KeySlot { channel_counter: 0, mask: simulation_mask(&master, version, name) };
            build(slot.open())
        };
        // User and CPU have one tag between them.
        let keys = if exact { Some((keys(format, version)?, keys(format.with_one_tag(), USERS)?)) } else { None };
        let longer = format.nonce_bytes() as usize - 12;
        let of = |name| {
            let tail = &simulation_nonce_tail(&master, version, name)[..longer];
            shown(&simulation_key(&master, version, name)[..bytes], ivs(name)?, tail)
        };
        Ok(Self { keys, engine: None, h2d: ivs(h2d)?, d2h: ivs(d2h)?, shown: [of(h2d)?, of(d2h)?] })
    }
}

/// A key with the IVs that its stream will give, each as long as a nonce.
fn shown(key: &[u8], ivs: IvStream, tail: &[u8]) -> Result<ChannelKey, RunError> {
    let (mut next, mask) = (ivs, ivs.mask());
    let first = build(next.next_nonce())?;
    Ok(ChannelKey { key: key.to_vec(), iv_mask: [&mask.0, tail].concat(), first_iv: [&first.0, tail].concat() })
}
