//! From a machine's specs to its units.

use super::{
    channels::Channels,
    clocks::{Clocks, build},
    data::{DeviceBytes, HostBytes, Ledger, SharedLedger},
    ids::{ENGINE, FIRST_PCE, FRONT_ENDS, METERS, SMS},
    machine::System,
    outcome::RunError,
    pushes::PushStore,
    request::{Direction, Memory, Request},
    shares::CopyAccounts,
};
use crate::{
    config::MachineSpec,
    gcm::{
        iv::{KeySlot, Stream as IvStream},
        worker::Worker,
    },
    gpu::{
        compute::Compute,
        front_end::{FrontEnd, FrontEndSpec},
        hbm::Hbm,
        mapping::{
            self, KeyName, Lce, Owner, SYSMEM_READ, SYSMEM_WRITE, simulation_key, simulation_mask,
            simulation_nonce_tail,
        },
        pce::{Keys, Pce, PceSpec},
        scheduler::Scheduler,
        shared_engine::SharedEngine,
        sm::Sm,
        spec::{Opens, TagPlacement},
        tag_queue::TagQueue,
    },
    host::{
        Cipher, CopyPlan, Cryptor, Direction as HostDirection, Driver, DriverOptions, HostState, KeyOf,
        Memory as HostMemoryKind, NonceStreams, Nonces, PrivateMemory, Sealing, map, spec::CipherWork,
    },
    pcie::{
        port::{Port, Side},
        root_complex::RootComplex,
        split::MaxSize,
    },
    sealing::{Format, Key, SealingSpec},
    sim::{Clock, Meter, UnitInfo},
    units::Bytes,
};
use std::{cell::RefCell, rc::Rc, sync::Arc};

/// What seals and opens on this side of the link: the CPU, and the user beyond it.
struct Software {
    /// Of the engine.
    keys: Arc<Keys>,
    /// Between user and CPU.
    user: Keys,
    worker: Rc<Worker>,
    format: Format,
}

impl Software {
    fn key(&self, key: KeyOf) -> &Key {
        match key {
            KeyOf::ToGpu => &self.keys.h2d,
            KeyOf::FromGpu => &self.keys.d2h,
            KeyOf::FromUser => &self.user.h2d,
            KeyOf::ToUser => &self.user.d2h,
        }
    }
}

impl Software {
    /// User and CPU have one tag between them: GCM's own format, or that of the other AEAD.
    const fn format_of(&self, key: KeyOf) -> Format {
        match (key, self.format) {
            (KeyOf::ToGpu | KeyOf::FromGpu, format) | (_, format @ Format::Aead(_)) => format,
            (KeyOf::FromUser | KeyOf::ToUser, Format::Gcm(_)) => Format::GCM,
        }
    }
}

impl Cryptor for Software {
    fn seal(&mut self, key: KeyOf, nonce: [u8; 12], text: &mut [u8]) -> Vec<u8> {
        self.key(key).seal(self.format_of(key), nonce, text)
    }

    fn begin_seal(&mut self, key: KeyOf, nonce: [u8; 12], mut text: Vec<u8>) -> Sealing {
        if key != KeyOf::ToGpu {
            let tag = self.seal(key, nonce, &mut text);
            return Sealing(Box::new(move || (text, tag)));
        }
        let (keys, format) = (Arc::clone(&self.keys), self.format);
        let sealed = self.worker.ask(move || {
            let tag = keys.h2d.seal(format, nonce, &mut text);
            (text, tag)
        });
        Sealing(Box::new(move || sealed.wait()))
    }

    fn open(&mut self, key: KeyOf, nonce: [u8; 12], text: &mut [u8], tag: &[u8]) -> bool {
        self.key(key).open(self.format_of(key), nonce, text, tag)
    }
}

/// The CPU's mirror of an engine's IV stream.
struct Mirror(IvStream);

impl Nonces for Mirror {
    fn next(&mut self) -> Result<[u8; 12], String> {
        self.0.next_nonce().map(|nonce| nonce.0).map_err(|error| error.to_string())
    }
}

/// Version of the keys that a user brings; those of the channel have version 0.
const USERS: u32 = u32::MAX;

/// Keys and IVs, drawn from the seed.
struct Secrets {
    /// Of the engine, and between user and CPU, in a run with bytes.
    keys: Option<(Arc<Keys>, Keys)>,
    h2d: IvStream,
    d2h: IvStream,
}

impl Secrets {
    /// Where data are forwarded, the engine's keys and IVs are those that user and GPU have agreed on, and the CPU has none.
    fn new(seed: u64, sealing: &SealingSpec, work: CipherWork, exact: bool) -> Result<Self, RunError> {
        let mut master = [0; 32];
        master[..8].copy_from_slice(&seed.to_le_bytes());
        let name =
            |lce, way| KeyName::new(lce, Owner::User, way).ok_or_else(|| RunError::Build("the LCE has no keys".into()));
        let h2d = name(SYSMEM_READ, mapping::Direction::H2d)?;
        let d2h = name(SYSMEM_WRITE, mapping::Direction::D2h)?;
        let (bytes, format) = ((sealing.key_bits() / 8).min(32) as usize, sealing.format());
        let key = |version, name| {
            let tail = simulation_nonce_tail(&master, version, name);
            build(Key::new(format, &simulation_key(&master, version, name)[..bytes], tail))
        };
        let keys = |version| Ok::<_, RunError>(Keys { h2d: key(version, h2d)?, d2h: key(version, d2h)? });
        let forwards = matches!(work, CipherWork::Forward | CipherWork::InPlace);
        let version = if forwards { USERS } else { 0 };
        let ivs = |name| {
            let mut slot = KeySlot { channel_counter: 0, mask: simulation_mask(&master, version, name) };
            build(slot.open())
        };
        let keys = if exact { Some((Arc::new(keys(version)?), keys(USERS)?)) } else { None };
        Ok(Self { keys, h2d: ivs(h2d)?, d2h: ivs(d2h)? })
    }
}

/// How many PCEs serve each of the two system-memory LCEs, and the names of all of them.
fn pces(machine: &MachineSpec) -> Result<(usize, Vec<String>), RunError> {
    let secure = machine.sealed_path();
    let count = if secure { machine.copy_engine.pces_secure } else { machine.copy_engine.pces_plain } as usize;
    if count == 0 || count > 8 {
        return Err(RunError::Build(format!("{count} PCEs for each LCE: there must be 1 to 8")));
    }
    let generation = u8::try_from(machine.link.generation).unwrap_or(u8::MAX);
    let of = |lce: Lce| mapping::pces(lce, secure, generation);
    let (reads, writes) = (of(SYSMEM_READ), of(SYSMEM_WRITE));
    let published = reads.len() == count && writes.len() == count;
    let names = if published {
        reads.iter().chain(&writes).map(|pce| format!("gpu.pce{}", pce.number())).collect()
    } else {
        (0..2 * count).map(|n| format!("gpu.pce{n}")).collect()
    };
    Ok((count, names))
}

/// First tag: in 10-bit mode the two top bits are not both zero.
const fn first_tag(tags: u32) -> u16 {
    if tags > 256 { 0x100 } else { 0 }
}

/// Cycles of the copy engine in which bytes go to device memory and come back.
fn stored(machine: &MachineSpec, clocks: &Clocks) -> Option<u64> {
    let there_and_back = machine.hbm.write_latency.0 + machine.hbm.read_latency.0;
    let cycles = || clocks.copy_engine.first_from(clocks.hbm.edge(there_and_back));
    // Where SMs open, a message is there before they begin in any case.
    (machine.copy_engine.opens == Opens::Arrived && machine.sealing_sms().is_none()).then(cycles)
}

/// Cycles between a PCE and the engine that PCEs share.
fn engine_wire(machine: &MachineSpec) -> u64 {
    machine.copy_engine.engine_wire.map_or(1, |cycles| cycles.0)
}

/// The engine that PCEs share, where they do.
fn shared_engine(machine: &MachineSpec, pces: usize, clock: Clock) -> Result<Option<SharedEngine>, RunError> {
    let (wire, turn) = (engine_wire(machine), machine.copy_engine.engine_turn.map(|bytes| bytes.0));
    let engine = || build(SharedEngine::new(&machine.engine, pces, wire, turn, clock));
    machine.shared_engine().then(engine).transpose()
}

fn pce_spec(machine: &MachineSpec, clocks: &Clocks, place: usize, count: usize) -> Result<PceSpec, RunError> {
    let tags = (machine.link.read_tags as usize / count) as u16;
    let mut engine = machine.sealing();
    if let (SealingSpec::Gcm(engine), Some(ghash), true) = (&mut engine, &machine.copy_engine.open_ghash, place < count)
    {
        engine.ghash = ghash.clone();
    }
    Ok(PceSpec {
        copy_engine: machine.copy_engine.clone(),
        engine: (machine.sealed_path() && machine.sealing_sms().is_none()).then_some(engine),
        shared: machine.shared_engine().then_some(engine_wire(machine)),
        max_read_request: build(MaxSize::new(machine.link.max_read_request.0))?,
        max_payload: build(MaxSize::new(machine.link.max_payload.0))?,
        first_tag: first_tag(machine.link.read_tags) + (place % count) as u16 * tags,
        tags,
        tag_fetch: machine.tag_queue.fetch,
        tag_placement: machine.tag_queue.placement.unwrap_or_default(),
        release: machine.tag_queue.release,
        quarantine: machine.tag_queue.quarantine.0,
        staging: machine.sealing_sms().map(|_| map::DEVICE_STAGING),
        stored: stored(machine, clocks),
    })
}

fn front_end(machine: &MachineSpec, lce: Lce, count: usize, ivs: IvStream, clock: Clock) -> FrontEnd {
    let spec = FrontEndSpec {
        copy_engine: machine.copy_engine.clone(),
        writes_host: lce == SYSMEM_WRITE,
        pces: count,
        confidential: machine.sealed_path(),
        tag_queue_depth: u64::from(machine.tag_queue.depth),
        release: machine.tag_queue.release,
        device: map::DEVICE_BASE..u64::MAX,
        error_semaphore: map::ERROR,
        channel_error: lce.channel_error(),
    };
    FrontEnd::new(spec, ivs, clock)
}

fn plans(request: &Request) -> Vec<CopyPlan> {
    let plan = |copy: &super::request::CopyRequest| CopyPlan {
        direction: match copy.direction {
            Direction::H2d => HostDirection::H2d,
            Direction::D2h => HostDirection::D2h,
            Direction::D2d => HostDirection::D2d,
        },
        bytes: Bytes(copy.bytes),
        memory: match copy.memory {
            Memory::Pinned => HostMemoryKind::Pinned,
            Memory::Pageable => HostMemoryKind::Pageable,
        },
        buffer: copy.buffer,
        pages: copy.pages,
    };
    request.copies.iter().map(plan).collect()
}

fn units(clocks: &Clocks, pces: &[String], shared_engine: bool) -> Vec<UnitInfo> {
    let fixed = [
        ("host.driver", clocks.cpu),
        ("host.cipher", clocks.cpu),
        ("host.root_complex", clocks.root_complex),
        ("link.host_port", clocks.mac),
        ("link.gpu_port", clocks.mac),
        ("gpu.scheduler", clocks.copy_engine),
        (FRONT_ENDS[0].1, clocks.copy_engine),
        (FRONT_ENDS[1].1, clocks.copy_engine),
        ("gpu.compute", clocks.compute),
        ("gpu.tag_queue", clocks.copy_engine),
        ("gpu.hbm", clocks.hbm),
    ];
    let mut units: Vec<_> = fixed.into_iter().map(|(name, clock)| UnitInfo { name: name.into(), clock }).collect();
    debug_assert_eq!(units.len(), usize::from(FIRST_PCE));
    units.extend(pces.iter().map(|name| UnitInfo { name: name.clone(), clock: clocks.copy_engine }));
    units.extend(clocks.sm.map(|clock| UnitInfo { name: SMS.into(), clock }));
    units.extend(shared_engine.then(|| UnitInfo { name: ENGINE.into(), clock: clocks.copy_engine }));
    units
}

/// The meters of [`METERS`], and those of the engines of PCEs, where these have their own.
fn meters(clocks: &Clocks, pces: &[String], engines: bool) -> Vec<UnitInfo> {
    let fixed = METERS.into_iter().zip([clocks.root_complex, clocks.root_complex, clocks.hbm, clocks.hbm]);
    let mut meters: Vec<_> = fixed.map(|(name, clock)| UnitInfo { name: name.into(), clock }).collect();
    let engines = pces.iter().filter(|_| engines);
    meters.extend(engines.map(|pce| UnitInfo { name: format!("{pce}.engine"), clock: clocks.copy_engine }));
    meters
}

/// The SMs that seal and open, where they do.
fn sms(
    machine: &MachineSpec,
    clocks: &Clocks,
    keys: Option<Arc<Keys>>,
    worker: &Rc<Worker>,
) -> Result<Option<Sm>, RunError> {
    let Some((spec, clock)) = machine.sealing_sms().zip(clocks.sm) else { return Ok(None) };
    let launch = clock.cycles_in(clocks.compute.edge(machine.compute.launch.0));
    let sm = Sm::new(spec, machine.engine.key_bits, launch, keys, Rc::clone(worker), clock);
    sm.map(Some).ok_or_else(|| RunError::Build(format!("there are no keys of {} bits", machine.engine.key_bits)))
}

impl System {
    /// Builds the machine for a request, whose copies' bytes move into it.
    pub(super) fn new(machine: &MachineSpec, request: &mut Request) -> Result<Self, RunError> {
        let exact = request.carries_bytes();
        let sealing = machine.sealing();
        let format = sealing.format();
        let clocks = Clocks::new(machine)?;
        let (count, names) = pces(machine)?;
        let Secrets { keys, h2d, d2h } = Secrets::new(request.seed, &sealing, machine.cipher.work, exact)?;
        let (keys, user) = keys.unzip();
        let plans = plans(request);
        let program = std::mem::take(&mut request.program);
        let mut ledger = Ledger::new(exact);
        for copy in std::mem::take(&mut request.copies) {
            ledger.add(copy.bytes, copy.source, copy.sink);
        }
        let ledger: SharedLedger = Rc::new(RefCell::new(ledger));
        let private = exact.then(|| Box::new(HostBytes(Rc::clone(&ledger))) as Box<dyn PrivateMemory>);
        let worker = Rc::new(if exact { Worker::new() } else { Worker::default() });
        let cryptor = keys.clone().zip(user).map(|(keys, user)| {
            let worker = Rc::clone(&worker);
            Box::new(Software { keys, user, worker, format }) as Box<dyn Cryptor>
        });
        let mut host =
            build(HostState::new(&machine.staging, &machine.memory, private))?.with_tags(format.tag_blocks());
        if machine.sealed_path() && machine.tag_queue.placement == Some(TagPlacement::Inline) {
            host.put_tags_inline();
        }
        host.describe(&plans);
        let nonces = NonceStreams { seal: Box::new(Mirror(h2d)), open: Box::new(Mirror(d2h)) };
        let options = DriverOptions {
            secure: machine.sealed_path(),
            waits_for_verified: machine.sealed_path() && machine.tag_queue.release.tells_verified(),
            on_caller: machine.cipher.on_caller,
            work: machine.cipher.work,
            pipelined_pushes: false,
        };
        let tags = (machine.link.read_tags as usize / count) as u16;
        let gpu_side =
            Side::Gpu { first_tag: first_tag(machine.link.read_tags), tags_per_pce: tags, pces: count as u16 };
        let units = units(&clocks, &names, machine.shared_engine());
        let engines = machine.sealed_path() && machine.sealing_sms().is_none() && !machine.shared_engine();
        let meters = meters(&clocks, &names, engines);
        let meter = |place| Meter::at(units.len(), place);
        let pce = |place| {
            // Where SMs seal and open, the copy engines have no keys.
            let keys = keys.clone().filter(|_| machine.sealing_sms().is_none());
            let spec = pce_spec(machine, &clocks, place, count)?;
            let pce = build(Pce::new(spec, keys, Rc::clone(&worker), clocks.copy_engine))?;
            Ok::<_, RunError>(pce.metered(if engines { meter(METERS.len() + place) } else { Meter::NONE }))
        };
        let mut root_complex = machine.root_complex.clone();
        if machine.sealed_path() {
            root_complex.read_latency.0 += root_complex.secure_read_latency.0;
        }
        let boundary = machine.link.read_completion_boundary.0;
        let host_port = Port::new(&machine.link, Side::Host, clocks.mac);
        let gpu_port = Port::new(&machine.link, gpu_side, clocks.mac);
        let channels = Channels::new(machine, &clocks, count, &names);
        let pces = (0..names.len()).map(pce).collect::<Result<Vec<_>, _>>()?;
        let mut hbm = Hbm::new(&machine.hbm, clocks.hbm).metered([meter(2), meter(3)]);
        if !request.injections.is_empty() {
            hbm.watch();
        }
        let front_end = |lce, ivs| front_end(machine, lce, count, ivs, clocks.copy_engine);
        let copies = plans.len();
        Ok(Self {
            root_complex: build(RootComplex::new(&root_complex, boundary, clocks.root_complex))?
                .metered([meter(0), meter(1)]),
            units,
            meters,
            wakes: crate::sim::Wakes::default(),
            channels,
            driver: build(Driver::new(&machine.driver, &machine.staging, options, clocks.cpu, plans, program, nonces))?,
            cipher: build(Cipher::new(&machine.cipher, &machine.driver, cryptor))?,
            host_port,
            gpu_port,
            ide: machine.link.ide.is_some(),
            scheduler: Scheduler::new(machine.compute.schedule),
            front_ends: [front_end(SYSMEM_READ, h2d), front_end(SYSMEM_WRITE, d2h)],
            compute: Compute::new(&machine.compute, clocks.compute),
            tag_queue: TagQueue::new(&machine.tag_queue, sealing.compare(), clocks.copy_engine),
            hbm,
            pces,
            sm: sms(machine, &clocks, keys, &worker)?,
            engine: shared_engine(machine, names.len(), clocks.copy_engine)?,
            readers: count,
            host,
            pushes: PushStore::default(),
            device: DeviceBytes(Rc::clone(&ledger)),
            ledger,
            copies_ended: 0,
            news: false,
            over: false,
            tag_counts: Vec::new(),
            copy_accounts: CopyAccounts::new(copies),
            spans: vec![None; copies],
            first_verified: vec![None; copies],
        })
    }
}
