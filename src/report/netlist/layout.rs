//! Where the units of a netlist stand in a drawing: in columns by their distance from the first unit, in an order in which few edges cross.

use crate::sim::{ChannelOutline, Outline};
use std::collections::{BTreeMap, VecDeque};

/// All channels between two units.
#[derive(Debug)]
pub struct Edge<'o> {
    /// The units, by place; the first is in the column further left, or above.
    pub ends: (usize, usize),
    /// From the first to the second, and back.
    pub forth: Vec<&'o ChannelOutline>,
    pub back: Vec<&'o ChannelOutline>,
}

/// Units in columns, and the edges between them.
#[derive(Debug)]
pub struct Layout<'o> {
    /// By column, from above: places of units.
    pub columns: Vec<Vec<usize>>,
    pub edges: Vec<Edge<'o>>,
}

/// Times that the columns are put in order.
const SWEEPS: usize = 8;

impl<'o> Layout<'o> {
    pub fn of(outline: &'o Outline) -> Self {
        let places: BTreeMap<_, _> =
            outline.units.iter().enumerate().map(|(n, unit)| (unit.path.as_str(), n)).collect();
        let mut pairs: BTreeMap<(usize, usize), Vec<&ChannelOutline>> = BTreeMap::new();
        for channel in &outline.channels {
            let ends = places.get(channel.from.as_str()).zip(places.get(channel.to.as_str()));
            if let Some((&from, &to)) = ends {
                pairs.entry((from.min(to), from.max(to))).or_default().push(channel);
            }
        }
        let mut columns = columns(outline.units.len(), &pairs);
        for _ in 0..SWEEPS {
            put_in_order(&mut columns, &pairs);
        }
        let position = positions(&columns, outline.units.len());
        let edges = pairs.into_iter().map(|((one, other), channels)| {
            let ends = if position[one] <= position[other] { (one, other) } else { (other, one) };
            let sent = |channel: &&ChannelOutline| channel.from == outline.units[ends.0].path;
            let (forth, back) = channels.into_iter().partition(sent);
            Edge { ends, forth, back }
        });
        Self { edges: edges.collect(), columns }
    }
}

/// Of each unit its column and its place there.
pub fn positions(columns: &[Vec<usize>], units: usize) -> Vec<(usize, usize)> {
    let mut positions = vec![(0, 0); units];
    for (column, members) in columns.iter().enumerate() {
        members.iter().enumerate().for_each(|(row, &unit)| positions[unit] = (column, row));
    }
    positions
}

type Pairs<'o> = BTreeMap<(usize, usize), Vec<&'o ChannelOutline>>;

/// By distance from the first unit; what it does not reach stands with it.
fn columns(units: usize, pairs: &Pairs<'_>) -> Vec<Vec<usize>> {
    let mut distance = vec![None; units];
    let mut open = VecDeque::new();
    if units > 0 {
        distance[0] = Some(0);
        open.push_back(0);
    }
    while let Some(unit) = open.pop_front() {
        let next = distance[unit].map(|far: usize| far + 1);
        for &(one, other) in pairs.keys().filter(|pair| pair.0 == unit || pair.1 == unit) {
            let neighbour = one + other - unit;
            if distance[neighbour].is_none() {
                distance[neighbour] = next;
                open.push_back(neighbour);
            }
        }
    }
    let most = distance.iter().flatten().max().map_or(0, |far| far + 1);
    let mut columns = vec![Vec::new(); most];
    distance.iter().enumerate().for_each(|(unit, far)| columns[far.unwrap_or(0)].push(unit));
    columns
}

/// Moves each unit to the mean height of those that it is wired to.
fn put_in_order(columns: &mut [Vec<usize>], pairs: &Pairs<'_>) {
    let units = columns.iter().map(Vec::len).sum();
    for column in 0..columns.len() {
        let positions = positions(columns, units);
        let height = |unit: usize| {
            let (column, row) = positions[unit];
            (row as f64 + 0.5) / columns[column].len() as f64
        };
        let mean = |unit: usize| {
            let around = pairs.keys().filter(|pair| pair.0 == unit || pair.1 == unit);
            let heights: Vec<_> = around.map(|(one, other)| height(one + other - unit)).collect();
            heights.iter().sum::<f64>() / heights.len().max(1) as f64
        };
        let mut order: Vec<_> = columns[column].iter().map(|&unit| (mean(unit), unit)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        columns[column] = order.into_iter().map(|(_, unit)| unit).collect();
    }
}
