//! Wires ranks, senders, receivers, ports and crossbar.

use super::super::{clocks::build, outcome::RunError};
use super::request::FabricRequest;
use crate::{
    aead::{path::PathKey, spec::EngineSpec},
    config::MachineSpec,
    fabric::{
        memory::Memory,
        packet::Packet,
        port::{self, Port},
        program::Program,
        protocol::{Framing, Protocol},
        rank::{self, Rank},
        receiver::{self, Receiver},
        seal::PairKeys,
        sender::{self, Sender},
        spec::{FabricSpec, Protection, Topology},
        switch::{self, Crossbar},
    },
    gpu::mapping::{KeyDirection, KeyName, SYSMEM_READ, simulation_key, simulation_nonce_tail},
    sim::{Clock, In, Key, Netlist, Out, Rx, Stall, Tx},
    units::Femtos,
};
use std::{cell::RefCell, rc::Rc};

/// Transfers that a rank hands over ahead of its sender.
const TRANSFERS: usize = 64;

pub(super) struct Place {
    pub rank: Key<Rank>,
    pub port: Key<Port>,
    pub memory: Rc<RefCell<Memory>>,
}

pub(super) struct FabricNetlist {
    pub netlist: Netlist,
    pub places: Vec<Place>,
}

/// One end of a bundle's wires.
struct End {
    wire_out: Tx<Packet>,
    wire_in: Rx<Packet>,
    credit_out: Tx<u64>,
    credit_in: Rx<u64>,
}

/// The two ends of a bundle.
fn bundle(netlist: &mut Netlist, (one, other): (&str, &str), flight: Femtos) -> (End, End) {
    let (there, come) = netlist.wire(format!("{one}.packets"), flight);
    let (back, arrive) = netlist.wire(format!("{other}.packets"), flight);
    let (give, get) = netlist.wire(format!("{one}.credits"), flight);
    let (return_, gain) = netlist.wire(format!("{other}.credits"), flight);
    let near = End { wire_out: there, wire_in: arrive, credit_out: give, credit_in: gain };
    let far = End { wire_out: back, wire_in: come, credit_out: return_, credit_in: get };
    (near, far)
}

/// What the GPUs of a collective have in common.
struct Common<'a> {
    spec: &'a FabricSpec,
    /// Clock of links, switch and ranks, and that of senders and receivers.
    links: Clock,
    engines: Clock,
    protocol: Protocol,
    framing: Framing,
    protection: Option<Protection>,
    sealing: Option<(EngineSpec, EngineSpec)>,
    keys: Option<PairKeys>,
    ranks: usize,
    /// GPUs of a ring for which one stands.
    stands_for: usize,
    launch: Femtos,
}

impl<'a> Common<'a> {
    fn new(machine: &'a MachineSpec, spec: &'a FabricSpec, request: &FabricRequest) -> Result<Self, RunError> {
        let links = build(Clock::new(spec.clock))?;
        let direct = spec.mode.is_between_engines();
        let engines = if direct { build(Clock::new(machine.copy_engine.clock))? } else { links };
        let protection = spec.protection(request.protocol);
        let sealing = protection.map(|_| if direct { (machine.sealing(), machine.opening()) } else { in_ports(spec) });
        if sealing.as_ref().is_some_and(|(seal, _)| seal.model().buffer().is_some()) {
            return Err(RunError::Build(
                "copy engines whose AEAD passes a message twice do not seal for peers here".into(),
            ));
        }
        let ranks = request.programs.len();
        let carries = request.memories.iter().any(|memory| memory.bytes().is_some());
        let keys = match (&sealing, carries) {
            (Some((seal, _)), true) => Some(keys(request.seed, seal, ranks)?),
            _ => None,
        };
        Ok(Self {
            spec,
            links,
            engines,
            protocol: request.protocol,
            framing: spec.framing(request.protocol),
            protection,
            sealing,
            keys,
            ranks,
            stands_for: request.ranks,
            launch: request.begin,
        })
    }

    /// Adds a GPU, whose port has this end of its bundle. `expected` are the sizes that it receives, by source.
    fn add(
        &self,
        netlist: &mut Netlist,
        (number, program): (usize, Program),
        expected: Vec<Vec<u64>>,
        memory: Memory,
        end: End,
    ) -> Result<Place, RunError> {
        let (path, gpu, spec) = (format!("fabric.gpu{number}"), number as u8, self.spec);
        let memory = Rc::new(RefCell::new(memory));
        let (transfers, asked) = netlist.queue(format!("{path}.transfers"), TRANSFERS);
        let (made, packets) = netlist.queue(format!("{path}.sealed"), 2 * spec.links.max(1) as usize);
        let (come, taken) = netlist.queue(format!("{path}.received"), 2 * spec.links.max(1) as usize);
        let (delivers, delivered) = netlist.wire(format!("{path}.delivered"), Femtos(1));
        let seal = self.protection.zip(self.sealing.as_ref());
        let engine = (spec.read_latency, self.engines);
        let sealing = seal.map(|(protection, (seal, _))| (protection, seal));
        let sender = Sender::new((gpu, self.ranks), (self.framing, spec.links), sealing, self.keys.clone(), engine);
        let ports = sender::Ports { transfers: asked, packets: made, memory: Rc::clone(&memory) };
        netlist.add(format!("{path}.sender"), self.engines, build(sender)?, ports);
        let opening = seal.map(|(protection, (_, open))| (protection, open));
        let latencies = (spec.read_latency, spec.write_latency, self.engines);
        let receiver = Receiver::new((gpu, expected), self.framing, opening, self.keys.clone(), latencies);
        let signals = netlist.signals(&format!("{path}.receiver"));
        let ports = receiver::Ports { packets: taken, delivered: delivers, signals };
        netlist.add(format!("{path}.receiver"), self.engines, build(receiver)?, ports);
        let port = add_port(netlist, &format!("{path}.port"), (self, self.links), vec![packets], come, end);
        let rank = Rank::new((spec, self.protocol), self.links, self.ranks, self.launch, program);
        let signals = netlist.worker(&format!("{path}.rank"));
        let ports = rank::Ports { transfers, delivered, memory: Rc::clone(&memory), signals };
        let rank = netlist.add(format!("{path}.rank"), self.links, rank, ports);
        Ok(Place { rank, port, memory })
    }
}

fn add_port(
    netlist: &mut Netlist,
    path: &str,
    (common, clock): (&Common<'_>, Clock),
    send: Vec<In<Packet>>,
    receive: Out<Packet>,
    end: End,
) -> Key<Port> {
    let End { wire_out, wire_in, credit_out, credit_in } = end;
    let ports = port::Ports { send, receive, wire_out, wire_in, credit_out, credit_in };
    netlist.add(path, clock, Port::new(common.spec, common.framing.response, clock), ports)
}

fn in_ports(spec: &FabricSpec) -> (EngineSpec, EngineSpec) {
    (EngineSpec::Gcm(spec.engine.clone()), EngineSpec::Gcm(spec.engine.clone()))
}

/// A key for each pair of GPUs, drawn from the seed.
fn keys(seed: u64, sealing: &EngineSpec, ranks: usize) -> Result<PairKeys, RunError> {
    let mut master = [0; 32];
    master[..8].copy_from_slice(&seed.to_le_bytes());
    master[8..14].copy_from_slice(b"fabric");
    let name = KeyName::new(SYSMEM_READ, KeyDirection::H2d);
    let name = name.ok_or_else(|| RunError::Build("the LCE has no keys".into()))?;
    let bytes = (sealing.model().key_bits() / 8).min(32) as usize;
    PairKeys::new(ranks, |low, high| {
        let version = (low as u32) << 16 | high as u32;
        let tail = simulation_nonce_tail(&master, version, name);
        build(PathKey::new(sealing.format(), &simulation_key(&master, version, name)[..bytes], tail))
    })
}

/// By GPU and source: the sizes that come.
fn expected(programs: &[Program]) -> Vec<Vec<Vec<u64>>> {
    let sizes = |program: &Program, source: usize| {
        let from = program.receives.iter().filter(|receive| usize::from(receive.source) == source);
        from.map(|receive| receive.range.end - receive.range.start).collect()
    };
    programs.iter().map(|program| (0..programs.len()).map(|source| sizes(program, source)).collect()).collect()
}

/// The GPUs' ends of their bundles, with what lies between them added.
fn ends(netlist: &mut Netlist, common: &Common<'_>) -> Result<Vec<End>, RunError> {
    let (spec, ranks, flight) = (common.spec, common.ranks, Femtos(common.spec.flight.0.max(1)));
    if spec.topology == Topology::Switch {
        return Ok(with_switch(netlist, common, flight));
    }
    match ranks {
        1 => {
            // A GPU that is its own neighbour: both ends of the bundle are its.
            let (near, far) = bundle(netlist, ("fabric.gpu0.port", "fabric.bridge.back"), flight);
            let End { wire_out, credit_out, credit_in, .. } = near;
            let End { wire_in, credit_out: idle_out, credit_in: idle_in, wire_out: idle } = far;
            let unused = (near.wire_in, idle);
            netlist.tie_off("fabric.bridge.unused", common.links, unused);
            netlist.tie_off("fabric.bridge.unused_credits", common.links, (credit_out, idle_in));
            Ok(vec![End { wire_out, wire_in, credit_out: idle_out, credit_in }])
        }
        2 => {
            let (near, far) = bundle(netlist, ("fabric.gpu0.port", "fabric.gpu1.port"), flight);
            Ok(vec![near, far])
        }
        _ => Err(RunError::Build(format!("a bridge joins two GPUs, not {ranks}: set fabric.topology to \"switch\""))),
    }
}

fn with_switch(netlist: &mut Netlist, common: &Common<'_>, flight: Femtos) -> Vec<End> {
    let (spec, ranks, clock) = (common.spec, common.ranks, common.links);
    let depth = 2 * spec.links.max(1) as usize;
    let mut ends = Vec::new();
    let (mut ingress, mut egress): (Vec<switch::Ingress>, Vec<Vec<In<Packet>>>) = (Vec::new(), Vec::new());
    egress.resize_with(ranks, Vec::new);
    let mut far_ends = Vec::new();
    for from in 0..ranks {
        let (near, far) =
            bundle(netlist, (&format!("fabric.gpu{from}.port"), &format!("fabric.switch.port{from}")), flight);
        ends.push(near);
        // What is within the latency of the crossbar has left the receive buffer.
        let (out, received) = netlist.queue(format!("fabric.switch.from{from}"), depth.max(spec.buffer as usize));
        far_ends.push((far, out));
        let to = (0..ranks).map(|to| {
            (to != from || ranks == 1).then(|| {
                let (out, input) = netlist.queue(format!("fabric.switch.from{from}to{to}"), depth);
                egress[to].push(input);
                out
            })
        });
        ingress.push(switch::Ingress { received, to: to.collect() });
    }
    for (number, ((far, receive), send)) in far_ends.into_iter().zip(egress).enumerate() {
        add_port(netlist, &format!("fabric.switch.port{number}"), (common, clock), send, receive, far);
    }
    let ports = switch::Ports { ingress, signals: netlist.signals("fabric.switch") };
    let interval = |from, to| match ranks {
        1 => spec.ring_interval(common.stands_for),
        _ => spec.host_interval(from, to),
    };
    let of = |from| (0..ranks).map(|to| clock.cycles_in(interval(from, to))).collect();
    let intervals = if spec.host.is_some() { (0..ranks).map(of).collect() } else { Vec::new() };
    netlist.add("fabric.switch", clock, Crossbar::new(spec.switch_latency, spec.links, clock, intervals), ports);
    ends
}

/// Builds the netlist of a collective, whose memories move into it.
pub(super) fn netlist(machine: &MachineSpec, request: &mut FabricRequest) -> Result<FabricNetlist, RunError> {
    let spec = machine.fabric.as_ref().ok_or_else(|| RunError::Build("the machine has no table `fabric`".into()))?;
    let common = Common::new(machine, spec, request)?;
    let mut netlist = Netlist::new();
    netlist.name_stalls(Stall::NAMES);
    let ends = ends(&mut netlist, &common)?;
    let mut expected = expected(&request.programs);
    let memories = std::mem::take(&mut request.memories);
    let mut places = Vec::new();
    let gpus = request.programs.iter().cloned().enumerate().zip(memories).zip(ends);
    for ((program, memory), end) in gpus {
        let sizes = std::mem::take(&mut expected[program.0]);
        places.push(common.add(&mut netlist, program, sizes, memory, end)?);
    }
    build(netlist.check())?;
    Ok(FabricNetlist { netlist, places })
}
