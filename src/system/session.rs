//! The sessions of several GPUs: who does what, and what they share on the host.
//!
//! A session of confidential computing is one thread, pinned to a core, for each GPU. So each GPU has a driver, a cipher, staging and a root port of its
//! own, and sessions meet only in what their socket shares:
//!
//! | shared | law |
//! | --- | --- |
//! | last-level cache | n sessions of a node have 1/n of it each: what equal pressure leaves under random replacement |
//! | memory bandwidth | a session gets what one core can take, at most 1/n of `memory.socket_rate` |
//! | socket link | staging or buffers of another node: `numa` adds its latency to each read and write, and its rate to each pass |
//!
//! Sessions that copy nothing in the run do not count.

use super::{
    outcome::RunError,
    request::{CopyRequest, Request},
};
use crate::{config::MachineSpec, host};

/// Paths of a session's host side, of its GPU and of the link between them.
#[derive(Debug)]
pub(super) struct Names {
    pub host: String,
    pub link: String,
    pub gpu: String,
}

impl Names {
    /// Of one GPU among several; without numbers, if it is the only one.
    pub fn of(gpu: usize, gpus: usize) -> Self {
        let path = |part: &str| if gpus == 1 { part.to_owned() } else { format!("{part}{gpu}") };
        Self { host: path("host"), link: path("link"), gpu: path("gpu") }
    }

    /// The path that a unit would have if its GPU were the only one; `None` for one of another GPU.
    pub fn alone(&self, path: &str) -> Option<String> {
        let (part, rest) = path.split_once('.')?;
        let known = [("host", &self.host), ("link", &self.link), ("gpu", &self.gpu)];
        known.into_iter().find(|(_, own)| *own == part).map(|(alone, _)| format!("{alone}.{rest}"))
    }

    /// The path of a unit that would have `path` if its GPU were the only one.
    pub fn among(&self, path: &str) -> String {
        let Some((part, rest)) = path.split_once('.') else { return path.to_owned() };
        let known = [("host", &self.host), ("link", &self.link), ("gpu", &self.gpu)];
        known
            .into_iter()
            .find(|(alone, _)| *alone == part)
            .map_or_else(|| path.to_owned(), |(_, own)| format!("{own}.{rest}"))
    }
}

/// What one GPU's session does.
#[derive(Debug)]
pub(super) struct Session {
    /// Its copies and its program.
    pub request: Request,
    /// Places of its copies among those of the whole request.
    pub copies: Vec<usize>,
}

/// Between the seeds of two GPUs' keys: the fractional part of the golden ratio, so that no two are near.
const SEED_STEP: u64 = 0x9E37_79B9_7F4A_7C15;

impl Session {
    /// Shares a request out among the sessions of so many GPUs; its copies move into them.
    pub fn of(request: &mut Request, gpus: usize) -> Result<Vec<Self>, RunError> {
        let mut sessions: Vec<_> = (0..gpus).map(|gpu| Self::empty(request, gpu)).collect();
        let none = |gpu: usize| RunError::NoGpu { gpu, gpus };
        let mut places = Vec::new();
        for (place, copy) in std::mem::take(&mut request.copies).into_iter().enumerate() {
            let gpu = copy.gpu;
            let session = sessions.get_mut(gpu).ok_or_else(|| none(gpu))?;
            places.push(session.copies.len());
            session.take(place, copy);
        }
        for step in &request.program {
            let session = sessions.get_mut(step.gpu).ok_or_else(|| none(step.gpu))?;
            let mut own = *step;
            if let host::Operation::Copy { copy, .. } = &mut own.operation {
                *copy = places.get(*copy).copied().unwrap_or(usize::MAX);
            }
            session.request.program.push(own);
        }
        Ok(sessions)
    }

    fn empty(request: &Request, gpu: usize) -> Self {
        let seed = request.seed.wrapping_add(SEED_STEP.wrapping_mul(gpu as u64));
        let injections = request.injections.clone();
        let request = Request {
            data: request.data,
            seed,
            kernel: request.kernel,
            order: request.order,
            injections,
            ..Request::none()
        };
        Self { request, copies: Vec::new() }
    }

    fn take(&mut self, place: usize, copy: CopyRequest) {
        self.copies.push(place);
        self.request.copies.push(copy);
    }

    /// Whether it has anything to do.
    fn works(&self) -> bool {
        !self.copies.is_empty()
    }
}

/// The machine as each GPU has it: with its own parts, and with its share of what sessions share.
pub(super) fn machines(machine: &MachineSpec, sessions: &[Session]) -> Vec<MachineSpec> {
    let mut machines: Vec<_> = (0..sessions.len()).map(|gpu| machine.of_gpu(gpu)).collect();
    let at_work = sessions.iter().filter(|session| session.works()).count() as u64;
    for machine in &mut machines {
        share(machine, at_work.max(1));
    }
    machines
}

/// Leaves a machine the part of its socket that one of `sessions` has.
fn share(machine: &mut MachineSpec, sessions: u64) {
    let memory = &mut machine.memory;
    memory.llc.0 /= sessions;
    if let Some(socket) = memory.socket_rate {
        memory.dram_rate.0 = memory.dram_rate.0.min(socket.0 / sessions).max(1);
    }
}
