//! A session on the host: driver, cipher and the memory that they share.

use super::{HANDOVER, PORT_DEPTH};
use crate::{
    config::MachineSpec,
    host::{Cipher, CipherPorts, Driver, DriverPorts, HelperPorts, HostState, Pushes},
    pcie::{packet::Tlp, root_complex::Domain},
    sim::{In, Key, Netlist},
    system::clocks::Clocks,
};
use std::{cell::RefCell, rc::Rc};

/// The units that a session is made of, before they are wired.
pub struct Units {
    pub driver: Driver,
    pub cipher: Cipher,
    /// Workers that seal ahead, and those that open after a call.
    pub sealers: Option<Cipher>,
    pub openers: Option<Cipher>,
    pub memory: HostState,
}

pub struct Host {
    pub driver: Key<Driver>,
    pub cipher: Key<Cipher>,
    pub openers: Option<Key<Cipher>>,
    pub memory: Rc<RefCell<HostState>>,
}

/// What a root complex and its root port reach of a host.
pub struct HostEnds {
    pub doorbells: In<Tlp>,
    pub domain: Domain,
}

/// Adds workers in addition to the caller; gives what the driver has of them.
fn workers(
    netlist: &mut Netlist,
    clocks: &Clocks,
    path: String,
    unit: Cipher,
    memory: &Rc<RefCell<HostState>>,
) -> (Key<Cipher>, HelperPorts) {
    let (jobs, taken) = netlist.queue(format!("{path}.jobs"), HANDOVER);
    let (ended, done) = netlist.queue(format!("{path}.done"), HANDOVER);
    let ports = CipherPorts { jobs: taken, done: ended, memory: Rc::clone(memory) };
    (netlist.add(path, clocks.cpu, unit, ports), HelperPorts { jobs, done })
}

pub fn add(
    netlist: &mut Netlist,
    machine: &MachineSpec,
    clocks: &Clocks,
    path: &str,
    Units { driver, cipher, sealers, openers, mut memory }: Units,
    pushes: Rc<RefCell<dyn Pushes>>,
) -> (Host, HostEnds) {
    if path != "host" {
        memory.lie_below(path);
    }
    memory.report_to(netlist.signals(&format!("{path}.memory")));
    let memory = Rc::new(RefCell::new(memory));
    netlist.add_fault_site(Rc::<RefCell<HostState>>::clone(&memory));
    let (jobs, jobs_in) = netlist.queue(format!("{path}.cipher.jobs"), HANDOVER);
    let (done_out, done) = netlist.queue(format!("{path}.cipher.done"), HANDOVER);
    let visible = clocks.root_complex.edge(machine.root_complex.write_latency.0.max(1));
    let (notices_tx, notices) = netlist.wire(format!("{path}.notices"), visible);
    let (doorbells, doorbells_in) = netlist.queue(format!("{path}.doorbells"), PORT_DEPTH);
    let signals = netlist.worker(&format!("{path}.driver"));
    let workers = (
        sealers.map(|unit| workers(netlist, clocks, format!("{path}.sealers"), unit, &memory)).unzip(),
        openers.map(|unit| workers(netlist, clocks, format!("{path}.openers"), unit, &memory)).unzip(),
    );
    let ((_, sealer_ports), (openers, opener_ports)) = workers;
    let driver_ports = DriverPorts {
        jobs,
        done,
        sealers: sealer_ports,
        openers: opener_ports,
        doorbells,
        notices,
        pushes,
        memory: Rc::clone(&memory),
        signals,
    };
    let cipher_ports = CipherPorts { jobs: jobs_in, done: done_out, memory: Rc::clone(&memory) };
    let reached = Rc::<RefCell<HostState>>::clone(&memory);
    let driver = netlist.add(format!("{path}.driver"), clocks.cpu, driver, driver_ports);
    let cipher = netlist.add(format!("{path}.cipher"), clocks.cpu, cipher, cipher_ports);
    let domain = Domain { memory: reached, notices: notices_tx };
    (Host { driver, cipher, openers, memory }, HostEnds { doorbells: doorbells_in, domain })
}
