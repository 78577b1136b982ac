//! Many copies in few rows: those of a GPU, a stream, a direction and a sort of memory together.

use super::{grouped, lasts, time};
use crate::{
    report::{
        record::{CopyRecord, Report},
        table::Table,
    },
    system::{Direction, Memory},
    units::Bytes,
    workload::{direction_name, memory_name},
};

/// A copy and its number, from 1.
pub type Numbered<'r> = (usize, &'r CopyRecord);

pub struct Group<'r> {
    gpu: usize,
    stream: Option<&'r str>,
    direction: Direction,
    memory: Option<Memory>,
    copies: Vec<Numbered<'r>>,
}

impl<'r> Group<'r> {
    /// The groups of a report, by their first copies.
    pub fn of(report: &'r Report) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for (number, copy) in (1..).zip(&report.copies) {
            let stream = copy.stream.as_deref();
            let same = |group: &&mut Self| {
                (group.gpu, group.stream, group.direction, group.memory)
                    == (copy.gpu, stream, copy.direction, copy.host_memory)
            };
            match groups.iter_mut().find(same) {
                Some(group) => group.copies.push((number, copy)),
                None => groups.push(Self {
                    gpu: copy.gpu,
                    stream,
                    direction: copy.direction,
                    memory: copy.host_memory,
                    copies: vec![(number, copy)],
                }),
            }
        }
        groups
    }

    /// The one that took longest; of several, the first.
    pub fn slowest(&self) -> Option<Numbered<'r>> {
        self.copies.iter().copied().max_by_key(|(number, copy)| (lasts(copy), std::cmp::Reverse(*number)))
    }

    /// Bytes of those that were delivered over the time that they took, one after the other, in GB/s.
    fn rate(&self) -> Option<f64> {
        let delivered = || self.copies.iter().filter(|(_, copy)| copy.delivered);
        let bytes: f64 = delivered().map(|(_, copy)| copy.bytes as f64).sum();
        let picos: f64 = delivered().map(|(_, copy)| lasts(copy) as f64).sum();
        (picos > 0.0).then(|| bytes / picos * 1e3)
    }
}

/// The rows of groups; of one GPU, and of one stream without a name, without these columns.
pub fn table(groups: &[Group<'_>], several_gpus: bool, width: usize) -> Vec<String> {
    let named = groups.iter().any(|group| group.stream.is_some());
    let head = ["GPU", "stream", "dir", "memory", "copies", "size", "GB/s each", "slowest", "time"];
    let mut table = Table::new(&head, &[1, 2, 3, 7]);
    for group in groups {
        let bytes = group.copies.iter().map(|(_, copy)| copy.bytes).fold(0, u64::saturating_add);
        let (slowest, lasted) = group
            .slowest()
            .map_or_else(Default::default, |(number, copy)| (format!("copy {number}"), time(lasts(copy))));
        table.row([
            group.gpu.to_string(),
            group.stream.unwrap_or_default().to_owned(),
            direction_name(group.direction).to_owned(),
            group.memory.map_or("-", memory_name).to_owned(),
            grouped(group.copies.len() as u64),
            Bytes(bytes).to_string(),
            group.rate().map_or_else(|| "-".to_owned(), |rate| format!("{rate:.3}")),
            slowest,
            lasted,
        ]);
    }
    table.only(|column| (several_gpus || column != 0) && (named || column != 1)).fitted(width)
}
