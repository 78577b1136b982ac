//! The sessions of several GPUs: who does what, and what they share on the host.
//!
//! A session of confidential computing is one thread, pinned to a core, for each GPU. So each GPU has a driver, a cipher, staging and a root port of its
//! own, and sessions meet only in what their socket shares:
//!
//! | shared | rule |
//! | --- | --- |
//! | last-level cache | n sessions of a socket have 1/n of it each: what equal pressure leaves under random replacement |
//! | memory bandwidth | a session gets what one core can take, at most 1/n of `memory.socket_rate` |
//! | link between sockets | a GPU whose staging (or, where nothing is sealed, buffers) is at another socket: `numa.latency` on each read and write, and reads no faster than its share of `numa.rate` (writes are not limited by it); buffers at another socket than the session: a pass over them takes `numa.rate` and the core's rate one after the other. n sessions that cross it have 1/n each |
//!
//! Sessions that copy nothing in the run do not count.

use super::{
    outcome::RunError,
    request::{CopyRequest, Request},
    topology::roots,
};
use crate::{
    config::{MachineSpec, Nodes},
    host::{
        self,
        spec::{MemorySpec, NumaSpec},
    },
    units::BytesPerCycle,
};

/// Paths of a session's host side, of its GPU and of the link between them, and of what it shares with others.
#[derive(Debug)]
pub(super) struct Names {
    pub host: String,
    pub link: String,
    pub gpu: String,
    /// What a unit of a GPU alone is called, and what it is called here: the first that fits counts.
    known: Vec<(&'static str, String)>,
}

impl Names {
    /// Of one of the GPUs of a machine; without numbers, if it is the only one.
    pub fn of(machine: &MachineSpec, gpu: usize) -> Self {
        let path = |part: &str| if machine.gpus() == 1 { part.to_owned() } else { format!("{part}{gpu}") };
        let [host, link, own] = ["host", "link", "gpu"].map(path);
        let mut known = Vec::new();
        let switch = machine.switch_of(gpu);
        known.extend(switch.map(|switch| ("switch", format!("switch{switch}"))));
        known.extend(shared_root(machine, gpu).map(|root| ("host.root_complex", format!("{root}.root_complex"))));
        known.extend([("host", host.clone()), ("link", link.clone()), ("gpu", own.clone())]);
        Self { host, link, gpu: own, known }
    }

    /// The path that a unit would have if its GPU were the only one; `None` for one of another GPU.
    pub fn alone(&self, path: &str) -> Option<String> {
        let found = self.known.iter().find_map(|(alone, own)| Some((alone, below(path, own)?)));
        found.map(|(alone, rest)| format!("{alone}{rest}"))
    }

    /// The path of a unit that would have `path` if its GPU were the only one.
    pub fn among(&self, path: &str) -> String {
        let found = self.known.iter().find_map(|(alone, own)| Some((own, below(path, alone)?)));
        found.map_or_else(|| path.to_owned(), |(own, rest)| format!("{own}{rest}"))
    }
}

/// What of a path comes after `part`, if it is that part's or lies below it.
pub(super) fn below<'p>(path: &'p str, part: &str) -> Option<&'p str> {
    path.strip_prefix(part).filter(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The path of the root complex of a GPU, if it is not that of its own host.
fn shared_root(machine: &MachineSpec, gpu: usize) -> Option<String> {
    let root = roots(machine).into_iter().find(|root| root.gpus().any(|one| one == gpu))?;
    Some(root.path(machine.gpus())).filter(|path| *path != format!("host{gpu}") && machine.gpus() > 1)
}

#[derive(Debug)]
pub(super) struct Session {
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
            places.push((gpu, session.copies.len()));
            session.take(place, copy);
        }
        for step in &request.program {
            let session = sessions.get_mut(step.gpu).ok_or_else(|| none(step.gpu))?;
            let mut own = *step;
            if let host::Operation::Copy { copy, .. } = &mut own.operation {
                let other =
                    || RunError::Build(format!("a step of GPU {} makes copy {copy}, which it has not", step.gpu));
                let (_, own) = places.get(*copy).filter(|(gpu, _)| *gpu == step.gpu).ok_or_else(other)?;
                *copy = *own;
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
}

/// The machine as each GPU has it: with its own parts, and with its share of what sessions share.
pub(super) fn machines(machine: &MachineSpec, sessions: &[&Session]) -> Vec<MachineSpec> {
    let at_work: Vec<usize> = (0..sessions.len()).filter(|gpu| !sessions[*gpu].copies.is_empty()).collect();
    (0..sessions.len()).map(|gpu| as_shared(machine, gpu, &at_work)).collect()
}

/// The machine as one GPU has it while others copy too: the `sessions` first, as many as it has.
pub fn as_one_of(machine: &MachineSpec, gpu: usize, sessions: usize) -> MachineSpec {
    let at_work: Vec<usize> = (0..sessions.min(machine.gpus())).collect();
    as_shared(machine, gpu.min(machine.gpus().saturating_sub(1)), &at_work)
}

/// The machine as one GPU has it while the sessions of those `at_work` share the host.
fn as_shared(machine: &MachineSpec, gpu: usize, at_work: &[usize]) -> MachineSpec {
    let (mut own, nodes) = (machine.of_gpu(gpu), machine.nodes(gpu));
    let crosses = |gpu: &&usize| crosses(machine.nodes(**gpu), machine.of_gpu(**gpu).sealed_path());
    let crossing = at_work.iter().filter(crosses).count().max(1) as u64;
    let beside = at_work.iter().filter(|gpu| machine.nodes(**gpu).session == nodes.session).count();
    share(&mut own.memory, beside.max(1) as u64);
    if let Some(switch) = machine.switch_of(gpu).and_then(|switch| machine.switch.get(switch)) {
        own.link.host_credits = switch.credits;
    }
    if let Some(numa) = &machine.numa {
        reach(&mut own, numa, nodes, crossing);
    }
    own
}

/// Leaves memory the part of its socket that one of `sessions` has.
fn share(memory: &mut MemorySpec, sessions: u64) {
    memory.llc.0 /= sessions;
    if let Some(socket) = memory.socket_rate {
        memory.dram_rate.0 = memory.dram_rate.0.min(socket.0 / sessions).max(1);
    }
}

/// Whether a GPU reaches the memory of another socket: staging where copies are sealed, else the user's buffers.
const fn remote(nodes: Nodes, secure: bool) -> bool {
    nodes.port != if secure { nodes.session } else { nodes.buffers }
}

/// Whether a session makes anything cross the link between sockets.
const fn crosses(nodes: Nodes, secure: bool) -> bool {
    remote(nodes, secure) || nodes.session != nodes.buffers
}

/// Charges what crosses the link between sockets, which `crossing` sessions share.
fn reach(machine: &mut MachineSpec, numa: &NumaSpec, nodes: Nodes, crossing: u64) {
    let rate = (numa.rate.0 / crossing).max(1);
    if nodes.session != nodes.buffers {
        // A byte takes the time of both, one after the other.
        let core = u128::from(machine.memory.dram_rate.0);
        let both = core * u128::from(rate) / (core + u128::from(rate)).max(1);
        machine.memory.dram_rate.0 = (both as u64).max(1);
    }
    if remote(nodes, machine.sealed_path()) {
        let root = &mut machine.root_complex;
        root.read_latency.0 += numa.latency.0;
        root.write_latency.0 += numa.latency.0;
        // Reads enter service no faster than the link between sockets brings their data.
        let in_cpu_cycles = BytesPerCycle(rate).cycles_for(machine.link.max_read_request.0);
        let cycles = u128::from(in_cpu_cycles) * u128::from(root.clock.0);
        let interval = cycles.div_ceil(u128::from(machine.cpu.clock.0.max(1)));
        root.read_interval.0 = root.read_interval.0.max(interval as u64);
    }
}
