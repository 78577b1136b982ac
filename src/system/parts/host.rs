//! A host: driver, cipher, root complex and the memory that they share.

use super::{HANDOVER, link::HostEnds};
use crate::{
    config::MachineSpec,
    host::{Cipher, CipherPorts, Driver, DriverPorts, HostState, Pushes},
    pcie::root_complex::{self, RootComplex},
    sim::{Key, Netlist},
    system::{
        clocks::{Clocks, build},
        outcome::RunError,
    },
};
use std::{cell::RefCell, rc::Rc};

/// The units that a host is made of, before they are wired.
pub struct Units {
    pub driver: Driver,
    pub cipher: Cipher,
    pub memory: HostState,
}

/// A host.
pub struct Host {
    pub driver: Key<Driver>,
    pub cipher: Key<Cipher>,
    pub memory: Rc<RefCell<HostState>>,
}

/// The root complex of a host whose link may be sealed.
fn root_complex(machine: &MachineSpec, clocks: &Clocks) -> Result<RootComplex, RunError> {
    let mut spec = machine.root_complex.clone();
    if machine.sealed_path() {
        spec.read_latency.0 += spec.secure_read_latency.0;
    }
    build(RootComplex::new(&spec, machine.link.read_completion_boundary.0, clocks.root_complex))
}

/// Adds a host.
pub fn add(
    netlist: &mut Netlist,
    machine: &MachineSpec,
    clocks: &Clocks,
    path: &str,
    Units { driver, cipher, mut memory }: Units,
    pushes: Rc<RefCell<dyn Pushes>>,
    ends: HostEnds,
) -> Result<Host, RunError> {
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
    let HostEnds { doorbells, reads, writes, completions } = ends;
    let signals = netlist.worker(&format!("{path}.driver"));
    let driver_ports = DriverPorts { jobs, done, doorbells, notices, pushes, memory: Rc::clone(&memory), signals };
    let cipher_ports = CipherPorts { jobs: jobs_in, done: done_out, memory: Rc::clone(&memory) };
    let reached = Rc::<RefCell<HostState>>::clone(&memory);
    let root_ports = root_complex::Ports { reads, writes, completions, notices: notices_tx, memory: reached };
    let root_complex = root_complex(machine, clocks)?;
    let driver = netlist.add(format!("{path}.driver"), clocks.cpu, driver, driver_ports);
    let cipher = netlist.add(format!("{path}.cipher"), clocks.cpu, cipher, cipher_ports);
    netlist.add(format!("{path}.root_complex"), clocks.root_complex, root_complex, root_ports);
    Ok(Host { driver, cipher, memory })
}
