//! A machine for a request: its netlist, and the parts of it that reports ask.

use super::{
    clocks::{Clocks, build},
    data::{DeviceBytes, HostBytes, Ledger, SharedLedger},
    outcome::{ChannelKey, RunError},
    parts::{
        gpu::{self, Gpu, Pces},
        host::{self, Host, HostEnds},
        link::Endpoint,
    },
    pushes::PushStore,
    request::{self, CopyRequest, Request},
    secrets::{Mirror, Secrets, Software},
    session::{Names, Session, machines},
    topology::{Root, roots},
    tree::{self, LinkEnd, LinkSite},
};
use crate::{
    config::MachineSpec,
    gcm::worker::Worker,
    gpu::{pce::Pce, spec::TagPlacement},
    host::{
        Cipher, CopyPlan, Cryptor, Driver, DriverOptions, HostState, NonceStreams, PrivateMemory, SealedCalls, Step,
        spec::CipherSpec,
    },
    pcie::port::Port,
    sim::{Key, Netlist, Stall},
    units::Bytes,
};
use std::{cell::RefCell, rc::Rc, sync::Arc};

/// A machine, or what is below some of its root complexes.
pub(super) struct System {
    pub netlist: Netlist,
    /// In the order of the GPUs.
    pub parts: Vec<Parts>,
}

/// The session of a GPU on the host, the GPU, and its link, as reports ask them.
pub(super) struct Parts {
    pub number: usize,
    pub names: Names,
    /// The machine as this GPU has it.
    pub machine: MachineSpec,
    /// Places of the session's copies among those of the request.
    pub copies: Vec<usize>,
    pub host: Host,
    pub link: Link,
    pub gpu: Gpu,
    /// Keys and IVs, h2d and d2h, where copies are sealed.
    pub keys: Option<[ChannelKey; 2]>,
    pub pces: Pces,
    pub ledger: SharedLedger,
}

impl Parts {
    /// The port that has found a wrong MAC, if one has.
    pub fn insecure(&self, netlist: &Netlist) -> Option<&'static str> {
        let ports = [("host", &self.link.host_port), ("GPU", &self.link.gpu_port)];
        ports.into_iter().find(|(_, port)| netlist.unit(port).insecure()).map(|(name, _)| name)
    }

    pub fn pces<'a>(&'a self, netlist: &'a Netlist) -> impl Iterator<Item = &'a Pce> {
        self.gpu.pces.iter().map(|pce| netlist.unit(pce))
    }
}

pub(super) fn plan(copy: &CopyRequest) -> CopyPlan {
    CopyPlan {
        direction: copy.direction,
        bytes: Bytes(copy.bytes),
        memory: copy.memory,
        buffer: copy.buffer,
        buffer_bytes: Bytes(copy.buffer_bytes),
        pages: copy.pages,
    }
}

/// What a run keeps outside its units: the bytes of all copies, and who seals and opens them.
struct Data {
    ledger: SharedLedger,
    secrets: Secrets,
    worker: Rc<Worker>,
    plans: Vec<CopyPlan>,
}

impl Data {
    /// That of a request, whose copies' bytes move here.
    fn of(machine: &MachineSpec, request: &mut Request) -> Result<Self, RunError> {
        let exact = request.carries_bytes();
        let secrets = Secrets::new(request.seed, machine, exact)?;
        let plans = request.copies.iter().map(plan).collect();
        let mut ledger = Ledger::new(exact);
        for copy in std::mem::take(&mut request.copies) {
            ledger.add(copy.bytes, copy.source, copy.sink);
        }
        let worker = Rc::new(if exact { Worker::new() } else { Worker::default() });
        Ok(Self { ledger: Rc::new(RefCell::new(ledger)), secrets, worker, plans })
    }
}

/// The ports of a GPU's link.
pub(super) struct Link {
    /// At the end that is nearer to the host.
    pub host_port: Key<Port>,
    pub gpu_port: Key<Port>,
}

/// The units of the host, of which the copies of `data` are asked in the order of `program`.
fn host_units(
    machine: &MachineSpec,
    clocks: &Clocks,
    data: &mut Data,
    program: Vec<Step>,
    gpu: u8,
) -> Result<host::Units, RunError> {
    let format = machine.format();
    let keys = data.secrets.keys.take();
    let private = keys.is_some().then(|| Box::new(HostBytes(Rc::clone(&data.ledger))) as Box<dyn PrivateMemory>);
    data.secrets.engine = keys.as_ref().map(|(keys, _)| Arc::clone(keys));
    let cryptor = || {
        keys.as_ref().map(|(keys, user)| {
            let (keys, user, worker) = (Arc::clone(keys), Arc::clone(user), Rc::clone(&data.worker));
            Box::new(Software { keys, user, worker }) as Box<dyn Cryptor>
        })
    };
    let memory = build(HostState::new(&machine.staging, &machine.memory, private))?;
    let mut memory = memory.with_tags(format);
    if machine.sealed_path() && machine.tag_queue.placement == Some(TagPlacement::Inline) {
        memory.put_tags_inline();
    }
    let plans = data.plans.clone();
    memory.describe(&plans);
    let (seal, open) = (Mirror(data.secrets.h2d), Mirror(data.secrets.d2h));
    let nonces = NonceStreams { seal: Box::new(seal), open: Box::new(open) };
    let options = DriverOptions {
        secure: machine.sealed_path(),
        waits_for_verified: machine.sealed_path() && machine.tag_queue.release.tells_verified(),
        on_caller: machine.cipher.on_caller,
        work: machine.cipher.work,
        ahead: machine.cipher.ahead,
        pipelined_pushes: false,
        calls: machine.calls.as_ref().map(SealedCalls::of),
        gap: machine.gap(),
        gpu,
    };
    let driver = Driver::new(&machine.driver, &machine.staging, options, clocks.cpu, plans, program, nonces);
    let threads = |threads| {
        let spec = CipherSpec { threads, ..machine.cipher.clone() };
        build(Cipher::new(&spec, &machine.driver, cryptor()))
    };
    let ahead = machine.cipher.ahead.filter(|_| machine.sealed_path());
    let sealers = ahead.map(|ahead| threads(ahead.workers)).transpose()?;
    let openers = ahead.filter(|ahead| ahead.open_workers > 0).map(|ahead| threads(ahead.open_workers)).transpose()?;
    Ok(host::Units { driver: build(driver)?, cipher: threads(machine.cipher.threads)?, sealers, openers, memory })
}

/// A session on its host, whose GPU is still to be wired.
struct HostSide {
    number: usize,
    names: Names,
    machine: MachineSpec,
    clocks: Clocks,
    copies: Vec<usize>,
    host: Host,
    pces: Pces,
    pushes: Rc<RefCell<PushStore>>,
    data: Data,
}

impl HostSide {
    /// Adds the host's side of a session, whose copies' bytes move into it.
    fn add(
        netlist: &mut Netlist,
        machine: MachineSpec,
        session: Session,
        (number, names): (usize, Names),
        requester: u8,
    ) -> Result<(Self, HostEnds), RunError> {
        let Session { mut request, copies } = session;
        let (host, clocks) = (&names.host, Clocks::new(&machine)?);
        let pces = Pces::of(&machine, &names.gpu)?;
        let mut data = Data::of(&machine, &mut request)?;
        let program = request.program.iter().map(|&request::Step { stream, operation, .. }| Step { stream, operation });
        let units = host_units(&machine, &clocks, &mut data, program.collect(), requester)?;
        data.ledger.borrow_mut().report_to(netlist.signals(&format!("{}.bytes", names.gpu)));
        let pushes = Rc::new(RefCell::new(PushStore::new(netlist.signals(&format!("{host}.pushes")))));
        let submitted = Rc::<RefCell<PushStore>>::clone(&pushes);
        let (host, ends) = host::add(netlist, &machine, &clocks, host, units, submitted);
        Ok((Self { number, names, machine, clocks, copies, host, pces, pushes, data }, ends))
    }

    const fn site(&self) -> LinkSite<'_> {
        LinkSite { machine: &self.machine, clocks: &self.clocks, names: &self.names }
    }

    /// Adds the GPU at the lower end of its link.
    fn with_gpu(self, netlist: &mut Netlist, requester: u8, link_end: LinkEnd) -> Result<Parts, RunError> {
        let LinkEnd { host_port, lower } = link_end;
        let gpu = &self.names.gpu;
        let endpoint = Endpoint { path: gpu, requester, pces: &self.pces.paths, readers: self.pces.readers };
        let (gpu_port, ends) = self.site().link().add_endpoint(netlist, &endpoint, lower);
        let Self { number, names, machine, clocks, copies, host, pces, pushes, data } = self;
        let Data { ledger, secrets, worker, .. } = data;
        let keys = machine.sealed_path().then_some(secrets.shown);
        let shared = gpu::Shared {
            keys: secrets.engine,
            worker,
            ivs: [secrets.h2d, secrets.d2h],
            pushes,
            memory: Rc::new(RefCell::new(DeviceBytes(Rc::clone(&ledger)))),
        };
        let gpu = gpu::add(netlist, &machine, &clocks, (&names.gpu, &pces), shared, ends)?;
        let link = Link { host_port, gpu_port };
        Ok(Parts { number, names, machine, copies, host, link, gpu, keys, pces, ledger })
    }
}

impl System {
    /// Builds the machine for a request, whose copies' bytes move into it.
    pub(super) fn new(machine: &MachineSpec, request: &mut Request) -> Result<Self, RunError> {
        Self::below(machine, &roots(machine), request)
    }

    /// Builds what is below some of its root complexes; what sessions share counts those below all.
    pub(super) fn below(machine: &MachineSpec, roots: &[Root], request: &mut Request) -> Result<Self, RunError> {
        let mut netlist = Netlist::new();
        netlist.name_stalls(Stall::NAMES);
        let mut sessions: Vec<_> = Session::of(request, machine.gpus())?.into_iter().map(Some).collect();
        let machines = machines(machine, &sessions.iter().flatten().collect::<Vec<_>>());
        let mut parts: Vec<Option<Parts>> = machines.iter().map(|_| None).collect();
        for root in roots {
            let (mut sides, mut ends) = (Vec::new(), Vec::new());
            for (requester, gpu) in root.gpus().enumerate() {
                let Some(session) = sessions[gpu].take() else { continue };
                let (own, names) = (machines[gpu].clone(), (gpu, Names::of(machine, gpu)));
                let (one, host) = HostSide::add(&mut netlist, own, session, names, requester as u8)?;
                sides.push(one);
                ends.push(host);
            }
            let sites: Vec<_> = sides.iter().map(HostSide::site).collect();
            let link_ends = tree::wire(&mut netlist, machine, root, &sites, ends)?;
            for ((requester, gpu), (one, link_end)) in root.gpus().enumerate().zip(sides.into_iter().zip(link_ends)) {
                parts[gpu] = Some(one.with_gpu(&mut netlist, requester as u8, link_end)?);
            }
        }
        build(netlist.check())?;
        Ok(Self { netlist, parts: parts.into_iter().flatten().collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::Layers,
        sim::{Control, Kernel, Order, run},
        units::Femtos,
    };
    use std::collections::BTreeMap;

    /// When a netlist's work is done, and what passed its channels.
    fn passed(netlist: &mut Netlist, kernel: Kernel) -> (Femtos, BTreeMap<String, u64>) {
        let end = run(netlist, kernel, Order::Ascending, &mut |_| Control::Continue).unwrap().end;
        (end, netlist.channels().map(|channel| (channel.path().to_owned(), channel.digest())).collect())
    }

    #[test]
    fn two_gpus_side_by_side_do_what_one_does_alone() {
        let machine = Layers::new("h100-nvl-tdx").resolve().unwrap().machine;
        let pair = Layers::new("h100-nvl-tdx").set("gpu=[{count=2}]").resolve().unwrap().machine;
        for kernel in [Kernel::Skip, Kernel::EveryCycle] {
            let mut one = System::new(&machine, &mut Request::h2d(70_000)).unwrap().netlist;
            let (end, alone) = passed(&mut one, kernel);
            let mut two = Request::h2d(70_000);
            two.copies.push(CopyRequest { gpu: 1, ..Request::h2d(70_000).copies.remove(0) });
            let System { netlist: mut both, parts } = System::new(&pair, &mut two).unwrap();
            let (both_end, digests) = passed(&mut both, kernel);
            assert_eq!((both_end, digests.len()), (end, 2 * alone.len()));
            for (path, digest) in &alone {
                let (part, rest) = path.split_once('.').unwrap();
                for number in [0, 1] {
                    assert_eq!(digests.get(&format!("{part}{number}.{rest}")), Some(digest), "{path} {kernel:?}");
                }
            }
            for parts in &parts {
                assert!(both.unit(&parts.host.driver).outcomes()[0].delivered);
                assert!(parts.ledger.borrow().complaint(0, None).is_none());
            }
        }
    }
}
