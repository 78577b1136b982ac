//! A link: the wires between two ports, and the ports at its ends.

use super::{PORT_DEPTH, UNBOUNDED};
use crate::{
    pcie::{
        packet::Tlp,
        port::{Frame, Port, Ports, Side},
        retimer::{self, Retimer},
        spec::LinkSpec,
    },
    sim::{Clock, In, Key, Netlist, Out, Rx, Tx},
    units::Cycles,
};

/// The two wires of one end of a link: out and in.
pub type Wires<T> = (Tx<T>, Rx<T>);

/// A link: what it is built of, its clock, and its path.
#[derive(Clone, Copy)]
pub struct Link<'a> {
    pub spec: &'a LinkSpec,
    pub mac: Clock,
    pub path: &'a str,
}

/// The GPU at the lower end of a link.
pub struct Endpoint<'a> {
    pub path: &'a str,
    /// Its place among the GPUs below its root complex.
    pub requester: u8,
    /// Its PCEs, those that read host memory first.
    pub pces: &'a [String],
    /// How many of them read host memory.
    pub readers: usize,
}

pub struct GpuEnds {
    pub requests: Vec<Out<Tlp>>,
    /// By PCE that reads host memory.
    pub completions: Vec<In<Tlp>>,
    pub semaphores: Out<Tlp>,
    pub doorbells: In<Tlp>,
}

/// First tag: in 10-bit mode the two top bits are not both zero.
pub const fn first_tag(tags: u32) -> u16 {
    match tags {
        0..=256 => 0,
        257..=768 => 0x100,
        _ => 0x400,
    }
}

/// A queue that holds what `credits` promise.
pub const fn by_credits(credits: u32) -> usize {
    if credits == 0 { UNBOUNDED } else { credits as usize }
}

impl Link<'_> {
    /// Adds its wires; gives those of its upper and of its lower end.
    pub fn add_wires(&self, netlist: &mut Netlist) -> (Wires<Frame>, Wires<Frame>) {
        let Self { spec, mac, path } = *self;
        let (flight, window) = (mac.edge(spec.flight.0.max(1)), Port::window(spec, mac));
        let (h2d_tx, h2d_rx) = netlist.deferring_wire(format!("{path}.h2d"), flight, window);
        let (d2h_tx, d2h_rx) = netlist.deferring_wire(format!("{path}.d2h"), flight, window);
        let ((h2d_tx, h2d_rx), (d2h_tx, d2h_rx)) = match spec.retimer {
            Some(latency) => self.add_retimer(netlist, latency, [(h2d_tx, h2d_rx), (d2h_tx, d2h_rx)]),
            None => ((h2d_tx, h2d_rx), (d2h_tx, d2h_rx)),
        };
        ((h2d_tx, d2h_rx), (d2h_tx, h2d_rx))
    }

    /// Puts a retimer behind the wires to the GPU and to the host; gives the ends that are left for the ports.
    fn add_retimer(
        &self,
        netlist: &mut Netlist,
        latency: Cycles,
        [h2d, d2h]: [Wires<Frame>; 2],
    ) -> (Wires<Frame>, Wires<Frame>) {
        let path = format!("{}.retimer", self.path);
        let flight = self.mac.edge(latency.0);
        let (h2d_out, h2d_in) = netlist.wire(format!("{path}.h2d"), flight);
        let (d2h_out, d2h_in) = netlist.wire(format!("{path}.d2h"), flight);
        let ports = retimer::Ports { h2d: (h2d.1, h2d_out), d2h: (d2h.1, d2h_out) };
        netlist.add(path, self.mac, Retimer::new(latency, self.mac), ports);
        ((h2d.0, h2d_in), (d2h.0, d2h_in))
    }

    /// Adds the port of a GPU; gives it, and what is left for the GPU.
    pub fn add_endpoint(
        &self,
        netlist: &mut Netlist,
        endpoint: &Endpoint<'_>,
        (wire_out, wire_in): Wires<Frame>,
    ) -> (Key<Port>, GpuEnds) {
        let Endpoint { path: gpu, requester, pces, readers } = *endpoint;
        let requests = pces.iter().map(|pce| netlist.queue(format!("{pce}.requests"), PORT_DEPTH));
        let (requests, mut send): (Vec<_>, Vec<_>) = requests.unzip();
        let reading = pces.iter().take(readers);
        let completions = reading.map(|pce| netlist.deferring_queue(format!("{pce}.completions"), UNBOUNDED));
        let (mut receive, completions): (Vec<_>, Vec<_>) = completions.unzip();
        let (semaphores, semaphores_in) = netlist.queue(format!("{gpu}.scheduler.requests"), PORT_DEPTH);
        let posted = by_credits(self.spec.gpu_credits.posted_headers);
        let (doorbells_out, doorbells) = netlist.queue(format!("{gpu}.scheduler.doorbells"), posted);
        send.push(semaphores_in);
        receive.push(doorbells_out);
        let path = format!("{}.gpu_port", self.path);
        let ports = Ports { send, receive, root: None, wire_out, wire_in, signals: netlist.signals(&path) };
        let tags = self.spec.read_tags;
        let tags_per_pce = (tags as usize / readers) as u16;
        let side = Side::Gpu { first_tag: first_tag(tags), tags_per_pce, pces: readers as u16 };
        let port = Port::new(self.spec, side, self.mac).of_requester(requester);
        (netlist.add(path, self.mac, port, ports), GpuEnds { requests, completions, semaphores, doorbells })
    }
}
