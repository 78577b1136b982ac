//! A machine for a request: its netlist, and the parts of it that reports ask.

use super::{
    clocks::{Clocks, build},
    data::{DeviceBytes, HostBytes, Ledger, SharedLedger},
    outcome::RunError,
    parts::{
        gpu::{self, Gpu, Pces},
        host::{self, Host},
        link::{self, Link},
    },
    pushes::PushStore,
    request::{self, CopyRequest, Request},
    secrets::{Mirror, Secrets, Software},
    session::{Names, Session, machines},
};
use crate::{
    config::MachineSpec,
    gcm::worker::Worker,
    gpu::spec::TagPlacement,
    host::{Cipher, CopyPlan, Cryptor, Driver, DriverOptions, HostState, NonceStreams, PrivateMemory, Step},
    sim::Netlist,
    units::Bytes,
};
use std::{cell::RefCell, rc::Rc, sync::Arc};

/// A machine.
pub(super) struct System {
    pub netlist: Netlist,
    /// By GPU.
    pub parts: Vec<Parts>,
}

/// The session of a GPU on the host, the GPU, and the link between them, as reports ask them.
pub(super) struct Parts {
    pub names: Names,
    /// The machine as this GPU has it.
    pub machine: MachineSpec,
    /// Places of the session's copies among those of the request.
    pub copies: Vec<usize>,
    pub host: Host,
    pub link: Link,
    pub gpu: Gpu,
    /// The GPU's PCEs.
    pub pces: Pces,
    pub ledger: SharedLedger,
}

fn plan(copy: &CopyRequest) -> CopyPlan {
    CopyPlan {
        direction: copy.direction,
        bytes: Bytes(copy.bytes),
        memory: copy.memory,
        buffer: copy.buffer,
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
        let secrets = Secrets::new(request.seed, &machine.sealing(), machine.cipher.work, exact)?;
        let plans = request.copies.iter().map(plan).collect();
        let mut ledger = Ledger::new(exact);
        for copy in std::mem::take(&mut request.copies) {
            ledger.add(copy.bytes, copy.source, copy.sink);
        }
        let worker = Rc::new(if exact { Worker::new() } else { Worker::default() });
        Ok(Self { ledger: Rc::new(RefCell::new(ledger)), secrets, worker, plans })
    }
}

/// The units of the host, of which the copies of `data` are asked in the order of `program`.
fn host_units(
    machine: &MachineSpec,
    clocks: &Clocks,
    data: &mut Data,
    program: Vec<Step>,
) -> Result<host::Units, RunError> {
    let format = machine.sealing().format();
    let keys = data.secrets.keys.take();
    let private = keys.is_some().then(|| Box::new(HostBytes(Rc::clone(&data.ledger))) as Box<dyn PrivateMemory>);
    let cryptor = keys.map(|(keys, user)| {
        data.secrets.engine = Some(Arc::clone(&keys));
        Box::new(Software { keys, user, worker: Rc::clone(&data.worker), format }) as Box<dyn Cryptor>
    });
    let memory = build(HostState::new(&machine.staging, &machine.memory, private))?;
    let mut memory = memory.with_tags(format.tag_blocks());
    if machine.sealed_path() && machine.tag_queue.placement == Some(TagPlacement::Inline) {
        memory.put_tags_inline();
    }
    let plans = std::mem::take(&mut data.plans);
    memory.describe(&plans);
    let (seal, open) = (Mirror(data.secrets.h2d), Mirror(data.secrets.d2h));
    let nonces = NonceStreams { seal: Box::new(seal), open: Box::new(open) };
    let options = DriverOptions {
        secure: machine.sealed_path(),
        waits_for_verified: machine.sealed_path() && machine.tag_queue.release.tells_verified(),
        on_caller: machine.cipher.on_caller,
        work: machine.cipher.work,
        pipelined_pushes: false,
    };
    let driver = Driver::new(&machine.driver, &machine.staging, options, clocks.cpu, plans, program, nonces);
    let cipher = Cipher::new(&machine.cipher, &machine.driver, cryptor);
    Ok(host::Units { driver: build(driver)?, cipher: build(cipher)?, memory })
}

impl Parts {
    /// Adds them to a netlist, for a session whose copies' bytes move into them.
    fn add(netlist: &mut Netlist, machine: MachineSpec, session: Session, names: Names) -> Result<Self, RunError> {
        let Session { mut request, copies } = session;
        let (host, link, gpu) = (&names.host, &names.link, &names.gpu);
        let clocks = Clocks::new(&machine)?;
        let pces = Pces::of(&machine, gpu)?;
        let mut data = Data::of(&machine, &mut request)?;
        let program = request.program.iter().map(|&request::Step { stream, operation, .. }| Step { stream, operation });
        let units = host_units(&machine, &clocks, &mut data, program.collect())?;
        let Data { ledger, secrets, worker, .. } = data;
        ledger.borrow_mut().report_to(netlist.signals(&format!("{gpu}.bytes")));
        let pushes = Rc::new(RefCell::new(PushStore::new(netlist.signals(&format!("{host}.pushes")))));
        let paths = link::Paths { link, host, gpu, pces: &pces.paths, readers: pces.readers };
        let (ports, host_ends, gpu_ends) = link::ends(netlist, &machine, &clocks, &paths);
        let submitted = Rc::<RefCell<PushStore>>::clone(&pushes);
        let host = host::add(netlist, &machine, &clocks, host, units, submitted, host_ends)?;
        let link = link::add(netlist, &machine, &clocks, &paths, ports);
        let shared = gpu::Shared {
            keys: secrets.engine,
            worker,
            ivs: [secrets.h2d, secrets.d2h],
            pushes,
            memory: Rc::new(RefCell::new(DeviceBytes(Rc::clone(&ledger)))),
            watched: !request.injections.is_empty(),
        };
        let gpu = gpu::add(netlist, &machine, &clocks, (gpu, &pces), shared, gpu_ends)?;
        Ok(Self { names, machine, copies, host, link, gpu, pces, ledger })
    }
}

impl System {
    /// Builds the machine for a request, whose copies' bytes move into it.
    pub(super) fn new(machine: &MachineSpec, request: &mut Request) -> Result<Self, RunError> {
        let mut netlist = Netlist::new();
        let mut parts = Vec::new();
        let sessions = Session::of(request, machine.gpus())?;
        let machines = machines(machine, &sessions);
        let count = machines.len();
        for (gpu, (machine, session)) in machines.into_iter().zip(sessions).enumerate() {
            parts.push(Parts::add(&mut netlist, machine, session, Names::of(gpu, count))?);
        }
        build(netlist.check())?;
        Ok(Self { netlist, parts })
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
        for kernel in [Kernel::Skip, Kernel::EveryCycle] {
            let session = |place| Session { request: Request::h2d(70_000), copies: vec![place] };
            let mut one = Netlist::new();
            Parts::add(&mut one, machine.clone(), session(0), Names::of(0, 1)).unwrap();
            let (end, alone) = passed(&mut one, kernel);
            let mut both = Netlist::new();
            let parts =
                [0, 1].map(|gpu| Parts::add(&mut both, machine.clone(), session(gpu), Names::of(gpu, 2)).unwrap());
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
