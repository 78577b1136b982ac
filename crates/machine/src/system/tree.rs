//! The tree between hosts and GPUs: root complexes, root ports, switches and links, wired from the top down.

use super::{
    clocks::{Clocks, build},
    outcome::RunError,
    parts::{
        host::HostEnds,
        link::{Link, Wires},
        root,
        switch::{self, SwitchEnd},
    },
    session::{Names, as_one_of, below},
    topology::{Leaf, Root},
};
use crate::{
    config::MachineSpec,
    pcie::{
        packet::Tlp,
        port::{Frame, Port},
        root_complex::{Domain, RootPort},
        spec::{LinkSpec, SwitchSpec},
    },
    sim::{Clock, In, Key, Netlist},
};

/// What the tree needs to know of a GPU to wire its link.
#[derive(Clone, Copy)]
pub(super) struct LinkSite<'a> {
    /// The machine as this GPU has it.
    pub machine: &'a MachineSpec,
    pub clocks: &'a Clocks,
    pub names: &'a Names,
}

impl<'a> LinkSite<'a> {
    pub fn link(self) -> Link<'a> {
        Link { spec: &self.machine.link, mac: self.clocks.mac, path: &self.names.link }
    }
}

/// What the tree leaves for a GPU: the upper end of its link, and the wires of the lower one.
pub(super) struct LinkEnd {
    pub host_port: Key<Port>,
    pub lower: Wires<Frame>,
}

/// The link between a switch and its root port.
fn upstream_of(switch: &SwitchSpec, machine: &MachineSpec) -> LinkSpec {
    let link = switch.link.as_ref().unwrap_or(&machine.link).clone();
    LinkSpec { gpu_credits: switch.credits, ..link }
}

/// The link that a wire of this path belongs to.
pub fn link_of(machine: &MachineSpec, path: &str) -> Option<LinkSpec> {
    let mut switches = machine.switch.iter().enumerate();
    let switch = switches.find(|(number, _)| below(path, &format!("switch{number}.link")).is_some());
    let gpu = || (0..machine.gpus()).find(|&gpu| below(path, &Names::of(machine, gpu).link).is_some());
    let upstream = switch.map(|(_, switch)| upstream_of(switch, machine));
    upstream.or_else(|| gpu().map(|gpu| as_one_of(machine, gpu, 1).link))
}

/// Adds a root complex with all that is below it down to the links; gives what is left for its GPUs, in the order of their requesters.
pub(super) fn wire(
    netlist: &mut Netlist,
    machine: &MachineSpec,
    root: &Root,
    sites: &[LinkSite<'_>],
    ends: Vec<HostEnds>,
) -> Result<Vec<LinkEnd>, RunError> {
    let Some(&first) = sites.first() else { return Ok(Vec::new()) };
    let path = root.path(machine.gpus());
    let (mut ports, mut domains, mut link_ends) = (Vec::new(), Vec::<Domain>::new(), Vec::new());
    let mut ends = ends.into_iter();
    for (place, leaf) in root.leaves.iter().enumerate() {
        let own = link_ends.len()..link_ends.len() + leaf.gpus().len();
        let mut doorbells = Vec::new();
        for HostEnds { doorbells: one, domain } in ends.by_ref().take(own.len()) {
            doorbells.push(one);
            domains.push(domain);
        }
        let queues = if root.leaves.len() > 1 { format!("{path}.port{place}") } else { path.clone() };
        let branch = Branch { sites: &sites[own.clone()], queues, doorbells, requester: own.start as u8 };
        let (port, below) = match leaf {
            Leaf::Gpu(_) => branch.end_at_gpu(netlist),
            Leaf::Switch { switch, .. } => branch.end_at_switch(netlist, machine, *switch)?,
        };
        ports.push(port);
        link_ends.extend(below);
    }
    root::add(netlist, (first.machine, first.clocks), &path, ports, domains)?;
    Ok(link_ends)
}

/// What is below one root port.
struct Branch<'a> {
    sites: &'a [LinkSite<'a>],
    /// Path of the root port's queues.
    queues: String,
    doorbells: Vec<In<Tlp>>,
    /// Of its first GPU.
    requester: u8,
}

impl Branch<'_> {
    fn end_at_gpu(self, netlist: &mut Netlist) -> (RootPort, Vec<LinkEnd>) {
        let site = self.sites[0];
        let (upper, lower) = site.link().add_wires(netlist);
        let of = (site.machine, site.clocks);
        let (host_port, port) = root::add_port(netlist, of, site.link(), &self.queues, upper, self.doorbells);
        (port, vec![LinkEnd { host_port, lower }])
    }

    fn end_at_switch(
        self,
        netlist: &mut Netlist,
        machine: &MachineSpec,
        number: usize,
    ) -> Result<(RootPort, Vec<LinkEnd>), RunError> {
        let (first, spec, path) = (self.sites[0], &machine.switch[number], format!("switch{number}"));
        let upstream = &upstream_of(spec, machine);
        let name = format!("{path}.link");
        let mac = build(Clock::new(upstream.mac_clock))?;
        let link = Link { spec: upstream, mac, path: &name };
        let (upper, lower) = link.add_wires(netlist);
        let (_, port) =
            root::add_port(netlist, (first.machine, first.clocks), link, &self.queues, upper, self.doorbells);
        let (mut ends, mut wires) = (vec![SwitchEnd { link, wires: lower, requester: 0 }], Vec::new());
        for (place, site) in self.sites.iter().enumerate() {
            let (upper, lower) = site.link().add_wires(netlist);
            ends.push(SwitchEnd { link: site.link(), wires: upper, requester: self.requester + place as u8 });
            wires.push(lower);
        }
        let ports = switch::add(netlist, spec, &path, ends);
        Ok((port, ports.into_iter().zip(wires).map(|(host_port, lower)| LinkEnd { host_port, lower }).collect()))
    }
}
