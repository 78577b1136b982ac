//! Rules of the links between GPUs.

use super::{Rule, rule};
use crate::config::machine::MachineSpec;
use crate::fabric::spec::{FabricSpec, Topology};
use crate::units::Bytes;

/// Most links of a GPU, and copy engines that serve its peers: each has an engine of its own.
const MOST_LINKS: u32 = 256;

const LONGEST_PACKET: Bytes = Bytes(64 << 10);

const LONGEST_MESSAGE: Bytes = Bytes(1 << 30);

/// Most packets that a receiver has room for.
const MOST_PACKETS: u32 = 1 << 20;

fn of(machine: &MachineSpec, broken: impl Fn(&FabricSpec) -> Option<String>) -> Option<String> {
    machine.fabric.as_ref().and_then(broken)
}

pub(super) const RULES: &[Rule] = &[
    rule("fabric.engine", "correct the field that it names, as the same field of `engine`", |m| {
        of(m, |fabric| {
            let error = || fabric.engine.check().err().map(|error| error.to_string());
            let control = fabric.engine.control.as_ref();
            control.map(|_| "an engine in a port has no control sequence".to_owned()).or_else(error)
        })
    }),
    rule("fabric.links", "write at most 256 for fabric.links and fabric.copy_engines", |m| {
        of(m, |fabric| {
            let many = |count| count > MOST_LINKS;
            many(fabric.links.max(fabric.copy_engines)).then(|| format!("more than {MOST_LINKS} links or engines"))
        })
    }),
    rule("fabric.payload", "write a multiple of 16 B, from a flit to 64 KiB", |m| {
        of(m, |fabric| {
            let payload = fabric.payload;
            let odd = !payload.0.is_multiple_of(16) || payload > LONGEST_PACKET || payload < fabric.flit;
            odd.then(|| format!("packets of {payload} with flits of {}", fabric.flit))
        })
    }),
    rule("fabric.nccl.multicast_payload", "write a multiple of 16 B, up to 64 KiB", |m| {
        of(m, |fabric| {
            let payload = fabric.nccl.multicast_payload;
            let odd = payload.0 == 0 || !payload.0.is_multiple_of(16) || payload > LONGEST_PACKET;
            odd.then(|| format!("packets of {payload} when switches add"))
        })
    }),
    rule("fabric.message", "write at most 1 GiB for fabric.message and fabric.batch", |m| {
        of(m, |fabric| {
            let long = fabric.message.max(fabric.batch);
            (long > LONGEST_MESSAGE).then(|| format!("a message or batch of {long}"))
        })
    }),
    rule("fabric.host", "give a switch, and a socket whole root ports", |m| {
        of(m, |fabric| {
            let host = fabric.host.as_ref()?;
            let (port, socket) = (host.root_port, host.socket);
            let odd = !socket.is_multiple_of(port.max(1)) || fabric.topology == Topology::Bridge;
            odd.then(|| format!("{socket} GPUs of a socket, {port} beneath a root port, over a {:?}", fabric.topology))
        })
    }),
    rule("fabric.buffer", "write at most 1048576", |m| {
        of(m, |fabric| (fabric.buffer > MOST_PACKETS).then(|| format!("room for {} packets", fabric.buffer)))
    }),
];
