//! Who waits for whom when nothing can run any more.

use super::{
    activity::{Account, Activity},
    channel::Channel,
    netlist::Netlist,
    wake::UnitId,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    pub unit: String,
    pub state: String,
    pub on: Option<(String, String)>,
}

/// The waits of all units that are not idle; those on a cycle of waits come first.
pub(super) fn waits(netlist: &Netlist, accounts: &[Account]) -> Vec<Wait> {
    let channels: Vec<_> = netlist.channels().collect();
    let edges: Vec<_> = (0..accounts.len()).map(|unit| blocker(UnitId(unit as u16), accounts, &channels)).collect();
    let mut order: Vec<_> = (0..accounts.len()).filter(|&u| accounts[u].current() != Activity::Idle).collect();
    order.sort_by_key(|&unit| !on_cycle(unit, &edges));
    let units = netlist.units();
    order
        .into_iter()
        .map(|unit| Wait {
            unit: units[unit].name.clone(),
            state: accounts[unit].current().name(netlist.stall_names()).into(),
            on: edges[unit]
                .as_ref()
                .map(|&(other, channel)| (units[other].name.clone(), channels[channel].path().to_owned())),
        })
        .collect()
}

/// The unit and channel that `unit` most likely waits for: the receiver of a channel that it has filled, else the sender of an
/// empty one, a sender that is itself not idle before one that is.
fn blocker(unit: UnitId, accounts: &[Account], channels: &[&dyn Channel]) -> Option<(usize, usize)> {
    let mut best: Option<(u8, usize, usize)> = None;
    for (place, channel) in channels.iter().enumerate() {
        let ((sender, receiver), (items, capacity)) = (channel.ends(), channel.fill());
        let (Some(sender), Some(receiver)) = (sender, receiver) else { continue };
        let candidate = if sender == unit && items >= capacity {
            (0, usize::from(receiver.0), place)
        } else if receiver == unit && items == 0 && sender != unit {
            let other = usize::from(sender.0);
            (if accounts[other].current() == Activity::Idle { 2 } else { 1 }, other, place)
        } else {
            continue;
        };
        if best.is_none_or(|b| candidate.0 < b.0) {
            best = Some(candidate);
        }
    }
    best.map(|(_, other, place)| (other, place))
}

fn on_cycle(start: usize, edges: &[Option<(usize, usize)>]) -> bool {
    let mut unit = start;
    for _ in 0..edges.len() {
        match edges[unit] {
            Some((next, _)) if next == start => return true,
            Some((next, _)) => unit = next,
            None => return false,
        }
    }
    false
}
