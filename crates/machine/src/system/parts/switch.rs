//! A switch: a crossbar, its port towards the host and its ports towards GPUs.

use super::{
    UNBOUNDED,
    link::{Link, Wires},
};
use crate::{
    host::map,
    pcie::{
        packet::Tlp,
        port::{Frame, Port, Ports, Side},
        spec::SwitchSpec,
        switch::{Below, Crossbar, EGRESS_DEPTH, Ingress, Pace, UPSTREAM},
    },
    sim::{In, Key, Netlist, Out},
};

/// An end of a link that a switch has: the link, the wires, and for a link to a GPU its place among those below its root complex.
pub struct SwitchEnd<'a> {
    pub link: Link<'a>,
    pub wires: Wires<Frame>,
    pub requester: u8,
}

/// The queues between the ports of a switch, by ingress and egress port.
struct Lanes {
    to: Vec<Vec<Option<Out<Tlp>>>>,
    from: Vec<Vec<In<Tlp>>>,
}

impl Lanes {
    /// Between the port towards the host and each other; with `peers` between these too.
    fn new(netlist: &mut Netlist, path: &str, ports: usize, peers: bool) -> Self {
        let mut lanes = Self { to: Vec::new(), from: (0..ports).map(|_| Vec::new()).collect() };
        for ingress in 0..ports {
            let mut to = Vec::new();
            for egress in 0..ports {
                let goes = ingress != egress && (peers || ingress == UPSTREAM || egress == UPSTREAM);
                to.push(goes.then(|| {
                    let (out, input) = netlist.queue(format!("{path}.port{ingress}.to{egress}"), EGRESS_DEPTH);
                    lanes.from[egress].push(input);
                    out
                }));
            }
            lanes.to.push(to);
        }
        lanes
    }
}

/// Adds a switch between its link towards the host, first in `ends`, and those of its GPUs; gives the ports of these.
pub fn add(netlist: &mut Netlist, spec: &SwitchSpec, path: &str, ends: Vec<SwitchEnd<'_>>) -> Vec<Key<Port>> {
    let paces = ends.iter().map(|end| Pace { lanes: end.link.spec.lanes, mac: end.link.mac }).collect();
    let gpus = ends.iter().skip(1);
    let below = gpus.map(|end| Below { requester: end.requester, registers: map::registers(end.requester) }).collect();
    let Some(clock) = ends.first().map(|end| end.link.mac) else { return Vec::new() };
    let Lanes { to, from } = Lanes::new(netlist, path, ends.len(), spec.peer_to_peer);
    let (mut ports, mut ingress) = (Vec::new(), Vec::new());
    for (place, ((end, to), send)) in ends.into_iter().zip(to).zip(from).enumerate() {
        let SwitchEnd { link, wires: (wire_out, wire_in), .. } = end;
        let (received_out, received) = netlist.queue(format!("{path}.port{place}.received"), UNBOUNDED);
        let (side, name) = match place {
            UPSTREAM => (Side::SwitchUp, format!("{}.switch_port", link.path)),
            _ => (Side::SwitchDown, format!("{}.host_port", link.path)),
        };
        let signals = netlist.signals(&name);
        let own = Ports { send, receive: vec![received_out], root: None, wire_out, wire_in, signals };
        ports.push(netlist.add(name, link.mac, Port::new(link.spec, side, link.mac), own));
        ingress.push(Ingress { received, to });
    }
    let crossbar = Crossbar::new(spec.latency, spec.cut_through, clock, paces, below);
    netlist.add(format!("{path}.crossbar"), clock, crossbar, ingress);
    ports.split_off(1)
}
