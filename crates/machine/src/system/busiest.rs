//! Who worked longest for a copy, and who waited longest and for what: counted, and no word of what limits it, which only other runs can tell.

use super::{
    machine::Parts,
    outcome::{Busiest, Waited},
    request::Direction,
    shares::Shares,
};
use crate::{
    config::MachineSpec,
    host::spec::CipherWork,
    sim::{Netlist, Stall, UnitInfo, activity_name},
};

/// The units and meters of one GPU's path by the places of their accounts, as if it were the only GPU: others have no name.
#[derive(Debug)]
pub(super) struct Names {
    all: Vec<String>,
    /// What serves reads of host memory only, and what serves writes to it only.
    readers: Vec<String>,
    writers: Vec<String>,
    /// Whether the CPU's cipher seals or opens, rather than only copies.
    seals: bool,
}

/// Waits that say only that there is nothing to do yet.
const NO_WORK: [Stall; 3] = [Stall::Submission, Stall::Completion, Stall::Collective];

impl Names {
    pub fn of(netlist: &Netlist, parts: &Parts) -> Self {
        let alone = |unit: UnitInfo| parts.names.alone(&unit.name).unwrap_or_default();
        let all: Vec<_> = netlist.accounts().into_iter().map(alone).collect();
        let pces = parts.gpu.pces.iter().filter_map(|pce| all.get(usize::from(pce.id().0)).cloned());
        let mut readers: Vec<_> = pces.collect();
        let mut writers = readers.split_off(parts.pces.readers);
        readers.extend(["gpu.front_end_read", "host.root_complex.reads"].map(str::to_owned));
        writers.extend(["gpu.front_end_write", "host.root_complex.writes"].map(str::to_owned));
        Self { all, readers, writers, seals: seals(&parts.machine) }
    }

    /// The places of what may work for a copy of that direction.
    fn path(&self, direction: Direction) -> impl Iterator<Item = usize> {
        let within = |unit: &str, whole: &String| {
            unit.strip_prefix(whole.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let (reads, writes) = (direction == Direction::H2d, direction == Direction::D2h);
        let on_path = move |unit: &str| {
            !unit.is_empty()
                && (unit != "gpu.compute" || !reads && !writes)
                && (reads || !self.readers.iter().any(|whole| within(unit, whole)))
                && (writes || !self.writers.iter().any(|whole| within(unit, whole)))
        };
        self.all.iter().enumerate().filter(move |(_, name)| on_path(name)).map(|(place, _)| place)
    }

    /// What a copy's shares say: of several that did so equally long, the first in the order of accounts.
    pub fn busiest(&self, direction: Direction, shares: &Shares) -> Busiest {
        let (mut busiest, mut waited) = (Busiest::default(), Waited::default());
        for place in self.path(direction) {
            let name = &self.all[place];
            let busy = shares.busy(place);
            if busy > busiest.fraction {
                let copies = name == "host.cipher" && !self.seals;
                let state = if copies { "copying" } else { "busy" }.to_owned();
                busiest = Busiest { unit: name.clone(), state, fraction: busy, ..Busiest::default() };
            }
            for (activity, fraction) in shares.stalls(place) {
                let no_work = Stall::of(activity).is_none_or(|stall| NO_WORK.contains(&stall));
                if !no_work && fraction > waited.fraction {
                    waited = Waited { unit: name.clone(), stall: activity_name(activity).to_owned(), fraction };
                }
            }
        }
        busiest.waited = Some(waited).filter(|waited| waited.fraction > 0.0);
        busiest
    }
}

fn seals(machine: &MachineSpec) -> bool {
    machine.sealed_path() && matches!(machine.cipher.work, CipherWork::Seal | CipherWork::Reseal)
}
