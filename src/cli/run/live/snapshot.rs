//! A machine at an instant, as the page shows it.

use crate::sim::{Account, Channel, ChannelOutline, Netlist, Stall, activity_name};
use serde::Serialize;

#[derive(Debug, Clone, Default, Serialize)]
pub struct Snapshot {
    pub time_ps: u64,
    /// Time of the host that the run took, without pauses.
    pub host_seconds: f64,
    pub messages_done: u64,
    pub total: Total,
    /// Of many copies those in progress, some of those to come and some of those that have ended.
    pub copies: Vec<CopyState>,
    pub queues: Vec<QueueState>,
    pub units: Vec<UnitState>,
    pub gauges: Vec<GaugeState>,
}

/// What holds for all copies together.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Total {
    pub copies: usize,
    pub copies_ended: usize,
    pub bytes: u64,
    /// Bytes that have arrived; those of copies that have ended, if bytes are not carried.
    pub arrived: u64,
    pub carries_bytes: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct CopyState {
    /// From 1.
    pub number: usize,
    pub direction: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
    pub bytes: u64,
    /// Bytes that have arrived, if they are carried.
    pub arrived: Option<u64>,
    pub start_ps: Option<u64>,
    pub end_ps: Option<u64>,
}

/// So many copies of each sort are shown.
const SHOWN: usize = 50;

impl Total {
    pub fn of(copies: &[CopyState]) -> Self {
        let arrived = |copy: &CopyState| copy.arrived.unwrap_or(if copy.end_ps.is_some() { copy.bytes } else { 0 });
        Self {
            copies: copies.len(),
            copies_ended: copies.iter().filter(|copy| copy.end_ps.is_some()).count(),
            bytes: copies.iter().map(|copy| copy.bytes).sum(),
            arrived: copies.iter().map(arrived).sum(),
            carries_bytes: copies.iter().all(|copy| copy.arrived.is_some()),
        }
    }
}

/// Those that are shown: the ones in progress, then the next, then the last that have ended.
pub fn shown(copies: &[CopyState]) -> Vec<CopyState> {
    let is = |copy: &&CopyState| (copy.start_ps.is_some(), copy.end_ps.is_some());
    let under_way = copies.iter().filter(|copy| is(copy) == (true, false)).take(SHOWN);
    let to_come = copies.iter().filter(|copy| is(copy) == (false, false)).take(SHOWN);
    let ended = copies.iter().rev().filter(|copy| is(copy).1).take(SHOWN);
    under_way.chain(to_come).chain(ended).cloned().collect()
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct QueueState {
    pub path: String,
    pub item: &'static str,
    pub from: String,
    pub to: String,
    pub count: usize,
    pub depth: usize,
    /// Items that were pushed.
    pub pushed: u64,
}

/// A unit or a part of one, by its cycles so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnitState {
    pub path: String,
    pub busy: u64,
    pub idle: u64,
    pub stalls: Vec<(&'static str, u64)>,
    pub now: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GaugeState {
    pub path: String,
    pub value: u64,
}

/// What of a machine stays the same while it runs.
pub struct Names {
    accounts: Vec<String>,
    /// Places among them that say nothing in addition to others.
    silent: Vec<usize>,
    /// Places of queues among the channels, with what is known of each.
    queues: Vec<(usize, QueueState)>,
    gauges: Vec<String>,
}

impl Names {
    pub fn of(netlist: &Netlist) -> Self {
        let places = netlist.places();
        let queue = |(place, channel): (usize, &ChannelOutline)| {
            let (path, from, to) = (channel.path.clone(), channel.from.clone(), channel.to.clone());
            let depth = channel.depth?;
            Some((place, QueueState { path, item: channel.item, from, to, count: 0, depth, pushed: 0 }))
        };
        let channels = places.channels.iter().enumerate();
        Self {
            accounts: places.accounts.iter().map(|unit| unit.name.clone()).collect(),
            silent: netlist.only_parts().into_iter().collect(),
            queues: channels.filter_map(queue).collect(),
            gauges: places.gauges.iter().map(|(unit, name)| format!("{}.{name}", unit.name)).collect(),
        }
    }

    pub fn queues(&self, netlist: &Netlist) -> Vec<QueueState> {
        let channels: Vec<&dyn Channel> = netlist.channels().collect();
        let queue = |(place, known): &(usize, QueueState)| {
            let channel = channels[*place];
            QueueState { count: channel.fill().0, pushed: channel.transfers(), ..known.clone() }
        };
        self.queues.iter().map(queue).collect()
    }

    pub fn units(&self, accounts: &[Account]) -> Vec<UnitState> {
        let named = self.accounts.iter().zip(accounts).enumerate().filter(|(place, _)| !self.silent.contains(place));
        named.map(|(_, (path, account))| unit(path, account)).collect()
    }

    pub fn gauges(&self, netlist: &Netlist) -> Vec<GaugeState> {
        let values = netlist.gauges();
        self.gauges.iter().zip(values).map(|(path, value)| GaugeState { path: path.clone(), value }).collect()
    }
}

fn unit(path: &str, account: &Account) -> UnitState {
    UnitState {
        path: path.to_owned(),
        busy: account.busy(),
        idle: account.idle(),
        stalls: Stall::in_account(account).map(|(stall, cycles)| (stall.name(), cycles)).collect(),
        now: activity_name(account.current()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_copies_those_of_interest_are_shown() {
        let copy = |number: usize| CopyState {
            number,
            bytes: 10,
            start_ps: (number <= 1_003).then_some(1),
            end_ps: (number <= 1_000).then_some(2),
            ..CopyState::default()
        };
        let copies: Vec<_> = (1..=2_000).map(copy).collect();
        let numbers: Vec<_> = shown(&copies).iter().map(|copy| copy.number).collect();
        assert_eq!((numbers.len(), &numbers[..4], numbers[53]), (103, &[1_001, 1_002, 1_003, 1_004][..], 1_000));
        let total = Total { copies: 2_000, copies_ended: 1_000, bytes: 20_000, arrived: 10_000, carries_bytes: false };
        assert_eq!(Total::of(&copies), total);
    }
}
