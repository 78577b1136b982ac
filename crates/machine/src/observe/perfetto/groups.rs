//! Groups of tracks with slices that are known beforehand: the runs of a replay, one above the other.

use super::writer::{Name, Writer, argument, text};
use crate::{files::RecordFile, units::Femtos};
use std::io;

/// A group, below whose name its tracks are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    pub name: String,
    /// Name, and slices in the order of their start.
    pub tracks: Vec<(String, Vec<GroupSlice>)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupSlice {
    pub name: String,
    pub span: (Femtos, Femtos),
    pub bytes: Option<u64>,
    /// What is to be noticed.
    pub note: Option<&'static str>,
}

/// Writes groups as a trace, the first on top. Slices that overlap have tracks of their own, because those of a track have to nest.
pub fn write_groups(file: RecordFile, groups: &[Group]) -> io::Result<()> {
    let mut writer = Writer::new(file, &[]);
    let mut uuid = 0;
    let mut track = |writer: &mut Writer, name: &str, parent: Option<u64>, rank: usize| {
        uuid += 1;
        writer.track(uuid, name, parent, rank, None);
        uuid
    };
    for (rank, group) in groups.iter().enumerate() {
        let parent = track(&mut writer, &group.name, None, rank);
        let mut rank = 0;
        for (name, slices) in &group.tracks {
            let mut lanes: Vec<(u64, Femtos)> = Vec::new();
            for slice in slices {
                let free = lanes.iter().position(|(_, until)| *until <= slice.span.0);
                let lane = free.unwrap_or_else(|| {
                    lanes.push((track(&mut writer, name, Some(parent), rank), Femtos::ZERO));
                    rank += 1;
                    lanes.len() - 1
                });
                lanes[lane].1 = slice.span.1;
                let bytes = slice.bytes.map(|bytes| argument("bytes", bytes));
                let arguments = bytes.into_iter().chain(slice.note.map(|note| text("reason", note))).collect();
                writer.slice(lanes[lane].0, Name::Text(slice.name.clone()), slice.span, arguments);
            }
        }
    }
    writer.close()
}
