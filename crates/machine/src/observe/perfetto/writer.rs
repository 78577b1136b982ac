//! Packets of a trace, one record each.

use super::proto::{
    Argument, CounterDescriptor, EventType, InternedData, InternedName, TracePacket, TrackDescriptor, TrackEvent,
};
use crate::{files::RecordFile, units::Femtos};
use prost::{
    Message,
    encoding::{WireType, encode_key, encode_varint},
};
use std::io;

/// Names begin anew; and names are needed.
const CLEARED: u32 = 1;
const NEEDED: u32 = 2;
const SEQUENCE: u32 = 1;
const BY_RANK: i32 = 3;

/// Names of arguments, in the order of their numbers from 1.
const ARGUMENTS: [&str; 9] = ["start_ps", "end_ps", "cycles", "message", "copy", "bytes", "gpu", "left_out", "reason"];

pub(super) fn argument(name: &str, value: u64) -> Argument {
    Argument { name_iid: iid(name), uint_value: Some(value), string_value: None }
}

pub(super) fn text(name: &str, value: &str) -> Argument {
    Argument { name_iid: iid(name), uint_value: None, string_value: Some(value.to_owned()) }
}

fn iid(name: &str) -> u64 {
    ARGUMENTS.iter().position(|one| *one == name).map_or(0, |place| place as u64 + 1)
}

pub(super) enum Name {
    Known(u64),
    Text(String),
}

pub(super) struct Writer {
    file: RecordFile,
}

impl Writer {
    /// Begins a trace in which events may be called by these names.
    pub fn new(file: RecordFile, names: &[&str]) -> Self {
        let mut writer = Self { file };
        let interned = |names: &[&str]| {
            let name = |(place, name): (usize, &&str)| InternedName { iid: place as u64 + 1, name: (*name).to_owned() };
            names.iter().enumerate().map(name).collect()
        };
        writer.put(TracePacket {
            interned_data: Some(InternedData {
                event_names: interned(names),
                debug_annotation_names: interned(&ARGUMENTS),
            }),
            sequence_flags: Some(CLEARED),
            ..TracePacket::default()
        });
        writer
    }

    pub const fn in_trouble(&self) -> bool {
        self.file.in_trouble()
    }

    pub fn close(self) -> io::Result<()> {
        self.file.close()
    }

    fn put(&mut self, mut packet: TracePacket) {
        packet.trusted_packet_sequence_id = SEQUENCE;
        self.file.record(|buffer| {
            encode_key(1, WireType::LengthDelimited, buffer);
            encode_varint(packet.encoded_len() as u64, buffer);
            packet.encode_raw(buffer);
        });
    }

    /// Describes a track: its number, its name, the one that it is below and its rank there.
    pub fn track(&mut self, uuid: u64, name: &str, parent: Option<u64>, rank: usize, unit: Option<&str>) {
        let descriptor = TrackDescriptor {
            uuid,
            name: name.to_owned(),
            parent_uuid: parent,
            counter: unit.map(|unit| CounterDescriptor { unit_name: Some(unit.to_owned()) }),
            child_ordering: parent.is_none().then_some(BY_RANK),
            sibling_order_rank: Some(i32::try_from(rank).unwrap_or(i32::MAX)),
        };
        self.put(TracePacket { track_descriptor: Some(descriptor), ..TracePacket::default() });
    }

    pub fn slice(&mut self, track: u64, name: Name, (from, to): (Femtos, Femtos), mut arguments: Vec<Argument>) {
        arguments.insert(0, argument("start_ps", from.picos()));
        arguments.insert(1, argument("end_ps", to.picos()));
        let begin = event(EventType::SliceBegin, track, Some(name));
        self.event(from, TrackEvent { debug_annotations: arguments, ..begin });
        self.event(to, event(EventType::SliceEnd, track, None));
    }

    /// An instant, on arrows that pass or end there.
    pub fn instant(&mut self, track: u64, name: Name, at: Femtos, arguments: Vec<Argument>, flow: Flow) {
        let (flow_ids, terminating_flow_ids) = match flow {
            Flow::None => (Vec::new(), Vec::new()),
            Flow::Passes(flow) => (vec![flow], Vec::new()),
            Flow::Ends(flow) => (Vec::new(), vec![flow]),
        };
        let instant = event(EventType::Instant, track, Some(name));
        self.event(at, TrackEvent { debug_annotations: arguments, flow_ids, terminating_flow_ids, ..instant });
    }

    pub fn count(&mut self, track: u64, at: Femtos, value: u64) {
        let counter = event(EventType::Counter, track, None);
        self.event(at, TrackEvent { counter_value: Some(value.cast_signed()), ..counter });
    }

    fn event(&mut self, at: Femtos, event: TrackEvent) {
        self.put(TracePacket {
            timestamp: Some(at.0 / 1_000_000),
            track_event: Some(event),
            sequence_flags: Some(NEEDED),
            ..TracePacket::default()
        });
    }
}

/// Whether an arrow passes an instant.
pub(super) enum Flow {
    None,
    Passes(u64),
    Ends(u64),
}

fn event(kind: EventType, track_uuid: u64, name: Option<Name>) -> TrackEvent {
    let (name_iid, name) = match name {
        None => (None, None),
        Some(Name::Known(iid)) => (Some(iid), None),
        Some(Name::Text(text)) => (None, Some(text)),
    };
    TrackEvent { r#type: kind as i32, track_uuid, name_iid, name, ..TrackEvent::default() }
}
