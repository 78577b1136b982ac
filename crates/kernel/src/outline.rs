//! A netlist as plain data, for people and programs that look at a machine.

use super::{
    channel::{Carrier, Channel},
    netlist::Netlist,
    wake::UnitId,
};
use crate::units::{Femtos, Frequency};
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Outline {
    /// In the order of their numbers.
    pub units: Vec<UnitOutline>,
    pub channels: Vec<ChannelOutline>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnitOutline {
    pub path: String,
    #[serde(rename = "clock_hz")]
    pub clock: Frequency,
    /// Paths of its parts that have accounts of their own.
    pub parts: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChannelOutline {
    pub path: String,
    pub from: String,
    pub to: String,
    /// The type of its items.
    pub item: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<usize>,
    /// Of a wire: nothing arrives sooner after what caused it.
    #[serde(rename = "flight_fs", skip_serializing_if = "Option::is_none")]
    pub flight: Option<Femtos>,
}

impl Netlist {
    pub fn outline(&self) -> Outline {
        let accounts = self.accounts();
        let parts = &accounts[self.units().len()..];
        let units = self.units().iter().map(|unit| UnitOutline {
            path: unit.name.clone(),
            clock: unit.clock.frequency(),
            parts: parts
                .iter()
                .filter(|part| below(&part.name, &unit.name).is_some())
                .map(|part| part.name.clone())
                .collect(),
        });
        let mut channels: Vec<_> = self.channels().map(|channel| self.channel_outline(channel)).collect();
        channels.sort_by(|a, b| a.path.cmp(&b.path));
        Outline { units: units.collect(), channels }
    }

    pub(super) fn channel_outline(&self, channel: &dyn Channel) -> ChannelOutline {
        let unit = |id: Option<UnitId>| id.map_or_else(String::new, |id| self.units()[usize::from(id.0)].name.clone());
        let (from, to) = channel.ends();
        let (depth, flight) = match channel.carrier() {
            Carrier::Queue { depth } => (Some(depth), None),
            Carrier::Wire { flight } => (None, Some(flight)),
        };
        ChannelOutline {
            path: channel.path().to_owned(),
            from: unit(from),
            to: unit(to),
            item: channel.item(),
            depth,
            flight,
        }
    }
}

/// What of a path is behind that of a unit.
pub(super) fn below<'p>(path: &'p str, unit: &str) -> Option<&'p str> {
    path.strip_prefix(unit)?.strip_prefix('.')
}
