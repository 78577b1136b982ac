//! Operations and work out of nodes.

use super::{
    circle::{self, Takes},
    collective,
    schema::Node,
};
use crate::files::Refusal;
use crate::workload::trace::{
    builder::Builder,
    error::{refused, refused_at},
    model::{CallKind, Communication, DeviceKind, DeviceOp, Direction, HostCall, Memory, Step},
    names,
    place::Place,
    time::Time,
};
use std::collections::{HashMap, HashSet};

const REMEDY: &str = "write the trace again, or without this node";

#[derive(Default)]
pub(super) struct Nodes {
    steps: HashMap<u64, Step>,
    left_out: HashSet<u64>,
    /// The node that is waited for, who waits, and where that is said.
    waits: Vec<(u64, Step, Place)>,
    device: Vec<Takes>,
    calls: Vec<Takes>,
    /// Whether any node has a date.
    dated: bool,
    no_stream: u64,
    no_size: u64,
    /// Nodes that do not say whether host or GPU works.
    nobody: u64,
    loads: u64,
}

impl Nodes {
    /// Takes a node that is counted already.
    pub fn take(&mut self, node: &Node, place: Place, builder: &mut Builder) {
        let id = node.id;
        if self.steps.contains_key(&id) || self.left_out.contains(&id) {
            return builder.wrong(place, format!("a second node of the number {id}"), REMEDY);
        }
        let micros = |micros| i128::from(micros) * 1000;
        let time = match Time::new(micros(node.start_micros), micros(node.duration_micros)) {
            Ok(time) => time,
            Err(what) => return builder.wrong(place, what, REMEDY),
        };
        self.dated |= node.start_micros > 0;
        let step = match self.kind(node, builder) {
            Ok(Work::Device(kind)) => self.operation(node, kind, time, place, builder),
            Ok(Work::Host) => self.host(node, time, place, builder),
            Err(reason) => {
                self.left_out.insert(id);
                return builder.leave_out(reason);
            }
        };
        self.steps.insert(id, step);
        self.waits.extend(node.control.iter().chain(&node.data).map(|before| (*before, step, place)));
    }

    /// What a node does; the error is why it is left out.
    fn kind(&mut self, node: &Node, builder: &mut Builder) -> Result<Work, &'static str> {
        let group = node.text("pg_name").map(|group| builder.name(group));
        let communication = |op: &str, bytes_in, bytes_out, builder: &mut Builder| {
            let op = builder.name(op);
            Work::Device(Communication { op, bytes_in, bytes_out, ranks: None, group }.into())
        };
        let bytes = node.number("comm_size");
        Ok(match node.kind {
            1 => return Err("metadata"),
            2 => self.load(node, Direction::H2d)?,
            3 => self.load(node, Direction::D2h)?,
            4 if self.is_host(node) => Work::Host,
            4 => self.computation(node, builder)?,
            5 => communication("send", bytes, None, builder),
            6 => communication("recv", None, bytes, builder),
            7 => {
                let op = node.number("comm_type").and_then(collective::name).unwrap_or("collective");
                communication(op, bytes, None, builder)
            }
            8..=10 => return Err("storage: it is not on the way between host and GPU"),
            _ => return Err("node of no known type"),
        })
    }

    fn is_host(&mut self, node: &Node) -> bool {
        let host = node.truth("is_cpu_op");
        self.nobody += u64::from(host.is_none());
        host.unwrap_or(false)
    }

    fn load(&mut self, node: &Node, direction: Direction) -> Result<Work, &'static str> {
        self.loads += 1;
        self.copy(node, direction, (Memory::Unknown, Memory::Unknown))
    }

    fn copy(&mut self, node: &Node, direction: Direction, memories: (Memory, Memory)) -> Result<Work, &'static str> {
        let (source, target) = names::completed(direction, memories);
        let bytes = ["tensor_size", "bytes", "comm_size"].iter().find_map(|name| node.number(name));
        self.no_size += u64::from(bytes.is_none());
        let bytes = bytes.ok_or("copy without a size")?;
        Ok(Work::Device(DeviceKind::Copy { direction, bytes, source, target }))
    }

    /// A computation of the GPU, which may be a copy by its name.
    fn computation(&mut self, node: &Node, builder: &mut Builder) -> Result<Work, &'static str> {
        if node.name.starts_with("Memset") {
            return Ok(Work::Device(DeviceKind::Memset { bytes: node.number("tensor_size").unwrap_or(0) }));
        }
        if let Some(direction) = names::direction(&node.name).filter(|_| node.name.starts_with("Memcpy")) {
            return self.copy(node, direction, names::memories(&node.name));
        }
        let Some(op) = names::collective(&node.name) else { return Ok(Work::Device(DeviceKind::Kernel)) };
        let (op, bytes_in) = (builder.name(op), node.number("comm_size"));
        Ok(Work::Device(Communication { bytes_in, ..Communication::named(op) }.into()))
    }

    fn operation(&mut self, node: &Node, kind: DeviceKind, time: Time, place: Place, builder: &mut Builder) -> Step {
        let stream = node.number("stream").and_then(|stream| u32::try_from(stream).ok());
        self.no_stream += u64::from(stream.is_none());
        let name = builder.name(&node.name);
        builder.device(DeviceOp {
            start_ns: time.start,
            duration_ns: time.duration,
            kind,
            device: 0,
            stream: stream.unwrap_or(0),
            correlation: None,
            in_graph: false,
            name,
            place,
        });
        self.device.push((time.duration, (true, stream.unwrap_or(0))));
        Step::Device(self.device.len() as u32 - 1)
    }

    fn host(&mut self, node: &Node, time: Time, place: Place, builder: &mut Builder) -> Step {
        let name = builder.name(&node.name);
        let thread = builder.thread("", &node.number("tid").unwrap_or(0).to_string());
        builder.call(HostCall {
            start_ns: time.start,
            duration_ns: time.duration,
            name,
            thread,
            correlation: None,
            failed: false,
            what: CallKind::HostWork,
            place,
        });
        self.calls.push((time.duration, (false, thread)));
        Step::Call(self.calls.len() as u32 - 1)
    }

    /// Who waits for whom, by the order of the file. Says what the nodes lacked.
    pub fn finish(self, file: &str, builder: &mut Builder) -> Result<Vec<(Step, Step)>, Refusal> {
        let mut dependencies = Vec::with_capacity(self.waits.len());
        let mut dropped = 0_u64;
        for (before, after, place) in &self.waits {
            match self.steps.get(before) {
                Some(before) => dependencies.push((*before, *after)),
                None if self.left_out.contains(before) => dropped += 1,
                None => builder.wrong(*place, format!("waits for node {before}, which is not in the file"), REMEDY),
            }
        }
        let starts = circle::starts(&dependencies, &self.device, &self.calls);
        if let Err(step) = starts {
            let place = self.waits.iter().find(|(_, after, _)| *after == step).map(|(.., place)| *place);
            let what = "this node waits, by way of others, for itself";
            let refusal = match place {
                Some(place) => refused_at("event", file, place, what),
                None => refused("event", file, what),
            };
            return Err(refusal.remedy(REMEDY));
        }
        if let (false, Ok(starts)) = (self.dated, starts) {
            builder.delay(&starts);
        }
        self.assume(dropped, builder);
        Ok(dependencies)
    }

    fn assume(&self, dropped: u64, builder: &mut Builder) {
        if !self.dated {
            builder.assume(
                "No node has a start: each starts as soon as its dependencies, its stream and its thread let it.",
            );
        }
        let all = [
            (self.nobody, "computations do not say whether host or GPU does them: the GPU is taken."),
            (self.loads, "loads and stores of memory are taken for copies from the host and to the host."),
            (self.no_size, "copies have no size, which the format does not ask for: they are left out."),
            (dropped, "times something waits for a node that is left out: it does not wait for that."),
            (self.no_stream, "operations name no stream: stream 0 is taken."),
        ];
        all.into_iter()
            .filter(|(count, _)| *count > 0)
            .for_each(|(count, what)| builder.assume(format!("{count} {what}")));
    }
}

enum Work {
    Device(DeviceKind),
    Host,
}
