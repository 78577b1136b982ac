//! A root complex and its root ports.

use super::link::{Link, Wires, by_credits};
use crate::{
    config::MachineSpec,
    pcie::{
        packet::Tlp,
        port::{Frame, Port, Ports, RootPorts, Side},
        root_complex::{self, Domain, RootComplex, RootPort},
    },
    sim::{In, Key, Netlist},
    system::{
        clocks::{Clocks, build},
        outcome::RunError,
    },
    units::Femtos,
};

/// Adds a root port, whose queues lie below `path`.
pub fn add_port(
    netlist: &mut Netlist,
    (machine, clocks): (&MachineSpec, &Clocks),
    link: Link<'_>,
    path: &str,
    (wire_out, wire_in): Wires<Frame>,
    doorbells: Vec<In<Tlp>>,
) -> (Key<Port>, RootPort) {
    // A read is taken at the first edge after it has come.
    let (reads_tx, reads) = netlist.wire(format!("{path}.reads"), Femtos(1));
    let latency = clocks.root_complex.edge(machine.root_complex.read_latency.0);
    let (completions, completions_rx) = netlist.wire(format!("{path}.completions"), latency);
    let posted = by_credits(link.spec.host_credits.posted_headers);
    let (writes_out, writes) = netlist.queue(format!("{path}.writes"), posted);
    let name = format!("{}.host_port", link.path);
    let ports = Ports {
        send: doorbells,
        receive: vec![writes_out],
        root: Some(RootPorts { reads: reads_tx, completions: completions_rx }),
        wire_out,
        wire_in,
        signals: netlist.signals(&name),
    };
    let port = netlist.add(name, link.mac, Port::new(link.spec, Side::Host, link.mac), ports);
    (port, RootPort { reads, writes, completions })
}

pub fn add(
    netlist: &mut Netlist,
    (machine, clocks): (&MachineSpec, &Clocks),
    path: &str,
    roots: Vec<RootPort>,
    domains: Vec<Domain>,
) -> Result<(), RunError> {
    let mut spec = machine.root_complex.clone();
    if machine.sealed_path() {
        spec.read_latency.0 += spec.secure_read_latency.0;
    }
    let unit = RootComplex::new(&spec, machine.link.read_completion_boundary.0, clocks.root_complex);
    let ports = root_complex::Ports { roots, domains };
    netlist.add(format!("{path}.root_complex"), clocks.root_complex, build(unit)?, ports);
    Ok(())
}
