//! A machine's netlist, for people: as text and as a drawing.

mod drawing;
mod layout;

use super::table::Table;
use crate::sim::{ChannelOutline, Outline};
pub use drawing::svg;

/// Units with their clocks, then channels with their ends.
pub fn text(outline: &Outline, width: usize) -> String {
    let mut units = Table::new(&["unit", "clock", "parts with accounts of their own"], &[0, 2]);
    for unit in &outline.units {
        let parts: Vec<_> = unit.parts.iter().map(|part| part.rsplit('.').next().unwrap_or(part)).collect();
        units.row([unit.path.clone(), unit.clock.to_string(), parts.join(", ")]);
    }
    let mut channels = Table::new(&["channel", "from", "to", "carried by", "item"], &[0, 1, 2, 3, 4]);
    for channel in &outline.channels {
        let ChannelOutline { path, from, to, item, .. } = channel;
        channels.row([path.clone(), from.clone(), to.clone(), carrier(channel), (*item).to_owned()]);
    }
    let lines = units.fitted(width).into_iter().chain([String::new()]).chain(channels.fitted(width));
    let lines: Vec<_> = lines.collect();
    format!("{}\n", lines.join("\n"))
}

/// A queue with its places, or a wire with its least flight time.
fn carrier(channel: &ChannelOutline) -> String {
    match (channel.depth, channel.flight) {
        (Some(depth), _) => format!("queue of {depth}"),
        (None, Some(flight)) => format!("wire, {} ps or more", flight.picos()),
        (None, None) => String::new(),
    }
}
