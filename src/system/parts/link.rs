//! A link: a port at each end, and what is wired to them.

use super::{PORT_DEPTH, UNBOUNDED};
use crate::{
    config::MachineSpec,
    pcie::{
        packet::Tlp,
        port::{Frame, Port, Ports, RootPorts, Side},
        retimer::{self, Retimer},
    },
    sim::{In, Key, Netlist, Out, Rx, Tx},
    system::clocks::Clocks,
    units::{Cycles, Femtos},
};

/// What a link connects.
pub struct Paths<'a> {
    /// The link itself.
    pub link: &'a str,
    /// The host at one end.
    pub host: &'a str,
    /// The GPU at the other.
    pub gpu: &'a str,
    /// The GPU's PCEs, those that read host memory first.
    pub pces: &'a [String],
    /// How many of them read host memory.
    pub readers: usize,
}

/// The host's ends of a link.
pub struct HostEnds {
    pub doorbells: Out<Tlp>,
    pub reads: Rx<Tlp>,
    pub writes: In<Tlp>,
    pub completions: Tx<Tlp>,
}

/// The GPU's ends of a link.
pub struct GpuEnds {
    /// By PCE.
    pub requests: Vec<Out<Tlp>>,
    /// By PCE that reads host memory.
    pub completions: Vec<In<Tlp>>,
    /// The scheduler's.
    pub semaphores: Out<Tlp>,
    pub doorbells: In<Tlp>,
}

/// The ports of a link.
pub struct Link {
    pub host_port: Key<Port>,
    pub gpu_port: Key<Port>,
}

/// First tag: in 10-bit mode the two top bits are not both zero.
pub const fn first_tag(tags: u32) -> u16 {
    if tags > 256 { 0x100 } else { 0 }
}

/// A queue that holds what `credits` promise.
const fn by_credits(credits: u32) -> usize {
    if credits == 0 { UNBOUNDED } else { credits as usize }
}

/// The channels of a link: the ports of its two ends, and what is wired to them.
pub fn ends(
    netlist: &mut Netlist,
    machine: &MachineSpec,
    clocks: &Clocks,
    paths: &Paths<'_>,
) -> ([Ports; 2], HostEnds, GpuEnds) {
    let spec = &machine.link;
    let (flight, window) = (clocks.mac.edge(spec.flight.0.max(1)), Port::window(spec, clocks.mac));
    let (h2d_tx, h2d_rx) = netlist.deferring_wire(format!("{}.h2d", paths.link), flight, window);
    let (d2h_tx, d2h_rx) = netlist.deferring_wire(format!("{}.d2h", paths.link), flight, window);
    let ((h2d_tx, h2d_rx), (d2h_tx, d2h_rx)) = match spec.retimer {
        Some(latency) => add_retimer(netlist, clocks, paths.link, latency, [(h2d_tx, h2d_rx), (d2h_tx, d2h_rx)]),
        None => ((h2d_tx, h2d_rx), (d2h_tx, d2h_rx)),
    };
    let (host_ports, host_ends) = host_side(netlist, machine, clocks, paths, (h2d_tx, d2h_rx));
    let (gpu_ports, gpu_ends) = gpu_side(netlist, machine, paths, (d2h_tx, h2d_rx));
    ([host_ports, gpu_ports], host_ends, gpu_ends)
}

/// Adds the ports of a link.
pub fn add(
    netlist: &mut Netlist,
    machine: &MachineSpec,
    clocks: &Clocks,
    paths: &Paths<'_>,
    [host_ports, gpu_ports]: [Ports; 2],
) -> Link {
    let spec = &machine.link;
    let tags = (spec.read_tags as usize / paths.readers) as u16;
    let side = Side::Gpu { first_tag: first_tag(spec.read_tags), tags_per_pce: tags, pces: paths.readers as u16 };
    let host_port = Port::new(spec, Side::Host, clocks.mac);
    let gpu_port = Port::new(spec, side, clocks.mac);
    Link {
        host_port: netlist.add(format!("{}.host_port", paths.link), clocks.mac, host_port, host_ports),
        gpu_port: netlist.add(format!("{}.gpu_port", paths.link), clocks.mac, gpu_port, gpu_ports),
    }
}

type Wires<T> = (Tx<T>, Rx<T>);

/// Puts a retimer behind the wires to the GPU and to the host; gives the ends that are left for the ports.
fn add_retimer(
    netlist: &mut Netlist,
    clocks: &Clocks,
    link: &str,
    latency: Cycles,
    [h2d, d2h]: [Wires<Frame>; 2],
) -> (Wires<Frame>, Wires<Frame>) {
    let path = format!("{link}.retimer");
    let flight = clocks.mac.edge(latency.0);
    let (h2d_out, h2d_in) = netlist.wire(format!("{path}.h2d"), flight);
    let (d2h_out, d2h_in) = netlist.wire(format!("{path}.d2h"), flight);
    let ports = retimer::Ports { h2d: (h2d.1, h2d_out), d2h: (d2h.1, d2h_out) };
    netlist.add(path, clocks.mac, Retimer::new(latency, clocks.mac), ports);
    ((h2d.0, h2d_in), (d2h.0, d2h_in))
}

fn host_side(
    netlist: &mut Netlist,
    machine: &MachineSpec,
    clocks: &Clocks,
    paths: &Paths<'_>,
    (wire_out, wire_in): Wires<Frame>,
) -> (Ports, HostEnds) {
    let host = paths.host;
    // A read is taken at the first edge after it has come.
    let (reads_tx, reads) = netlist.wire(format!("{host}.reads"), Femtos(1));
    let latency = clocks.root_complex.edge(machine.root_complex.read_latency.0);
    let (completions, completions_rx) = netlist.wire(format!("{host}.completions"), latency);
    let (doorbells, doorbells_in) = netlist.queue(format!("{host}.doorbells"), PORT_DEPTH);
    let posted = by_credits(machine.link.host_credits.posted_headers);
    let (writes_out, writes) = netlist.queue(format!("{host}.writes"), posted);
    let ports = Ports {
        send: vec![doorbells_in],
        receive: vec![writes_out],
        root: Some(RootPorts { reads: reads_tx, completions: completions_rx }),
        wire_out,
        wire_in,
        signals: netlist.signals(&format!("{}.host_port", paths.link)),
    };
    (ports, HostEnds { doorbells, reads, writes, completions })
}

fn gpu_side(
    netlist: &mut Netlist,
    machine: &MachineSpec,
    paths: &Paths<'_>,
    (wire_out, wire_in): Wires<Frame>,
) -> (Ports, GpuEnds) {
    let gpu = paths.gpu;
    let requests = paths.pces.iter().map(|pce| netlist.queue(format!("{pce}.requests"), PORT_DEPTH));
    let (requests, mut send): (Vec<_>, Vec<_>) = requests.unzip();
    let reading = paths.pces.iter().take(paths.readers);
    let completions = reading.map(|pce| netlist.deferring_queue(format!("{pce}.completions"), UNBOUNDED));
    let (mut receive, completions): (Vec<_>, Vec<_>) = completions.unzip();
    let (semaphores, semaphores_in) = netlist.queue(format!("{gpu}.scheduler.requests"), PORT_DEPTH);
    let posted = by_credits(machine.link.gpu_credits.posted_headers);
    let (doorbells_out, doorbells) = netlist.queue(format!("{gpu}.scheduler.doorbells"), posted);
    send.push(semaphores_in);
    receive.push(doorbells_out);
    let signals = netlist.signals(&format!("{}.gpu_port", paths.link));
    let ports = Ports { send, receive, root: None, wire_out, wire_in, signals };
    (ports, GpuEnds { requests, completions, semaphores, doorbells })
}
