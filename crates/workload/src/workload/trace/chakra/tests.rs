//! What is read out of Chakra traces, and what is refused.

use super::schema::{Attribute, Metadata, Node, Value};
use crate::files::Refusal;
use crate::workload::trace::{
    CallKind, DeviceKind, Direction, Step, Trace,
    testing::{bytes, refused, says},
};
use prost::Message;

pub(in crate::workload::trace) fn sample() -> Vec<u8> {
    file(&[
        node(10, "aten::mm", 4, &[]).with("is_cpu_op", Value::Bool(true)),
        node(11, "gemm", 4, &[10]).with("is_cpu_op", Value::Bool(false)).with("stream", Value::Int64(7)),
        node(12, "weights", 2, &[11]).with("tensor_size", Value::Uint64(4096)),
        node(13, "grads", 7, &[11, 12]).with("comm_type", Value::Int64(2)).with("comm_size", Value::Int64(512)),
        node(14, "", 5, &[13]).with("comm_size", Value::Uint32(64)),
        node(15, "done", 1, &[]),
    ])
}

fn node(id: u64, name: &str, kind: i32, before: &[u64]) -> Node {
    let (data, start_micros) = (before.to_vec(), id * 10);
    Node { id, name: name.into(), kind, data, start_micros, duration_micros: 5, ..Node::default() }
}

impl Node {
    fn with(mut self, name: &str, value: Value) -> Self {
        self.attributes.push(Attribute { name: name.into(), value: Some(value) });
        self
    }
}

fn file(nodes: &[Node]) -> Vec<u8> {
    let mut file = Metadata { version: "0.0.4".into() }.encode_length_delimited_to_vec();
    nodes.iter().for_each(|node| file.extend(node.encode_length_delimited_to_vec()));
    file
}

fn read(nodes: &[Node]) -> Result<Trace, Refusal> {
    bytes(&file(nodes))
}

#[test]
fn nodes_become_operations_and_work_of_the_host() {
    let trace = bytes(&sample()).unwrap();
    assert_eq!((trace.format, trace.events.all, trace.events.used), (Some(super::FORMAT.name), 6, 5));
    assert_eq!((trace.calls[0].what, trace.calls[0].duration_ns), (CallKind::HostWork, 5000));
    assert_eq!(
        (trace.device[0].kind.clone(), trace.device[0].stream, trace.device[0].start_ns),
        (DeviceKind::Kernel, 7, 10_000)
    );
    assert!(matches!(trace.device[1].kind, DeviceKind::Copy { direction: Direction::H2d, bytes: 4096, .. }));
    let DeviceKind::Collective(sent) = &trace.device[2].kind else { panic!("no collective") };
    assert_eq!((trace.name(sent.op), sent.bytes_in), ("all_gather", Some(512)));
    assert!(says(&trace, "1 loads and stores") && says(&trace, "3 operations name no stream"));
}

#[test]
fn dependencies_follow_what_is_sorted() {
    use Step::{Call, Device};
    let trace = bytes(&sample()).unwrap();
    let expected = [
        (Call(0), Device(0)),
        (Device(0), Device(1)),
        (Device(0), Device(2)),
        (Device(1), Device(2)),
        (Device(2), Device(3)),
    ];
    assert_eq!(trace.dependencies, expected);
    let late = Node { start_micros: 900, ..node(1, "late", 4, &[]) };
    assert_eq!(read(&[late, node(2, "early", 4, &[1])]).unwrap().dependencies, [(Device(1), Device(0))]);
}

#[test]
fn copies_are_told_by_their_names_and_need_a_size() {
    let copy = node(1, "Memcpy DtoH (Device -> Pinned)", 4, &[]);
    let trace = read(&[copy.clone(), node(2, "k", 4, &[1])]).unwrap();
    assert_eq!((trace.device.len(), trace.dependencies.len()), (1, 0));
    assert!(
        says(&trace, "1 copies have no size") && says(&trace, "1 times something waits for a node that is left out")
    );
    let trace = read(&[copy.with("tensor_size", Value::Int64(9))]).unwrap();
    assert!(matches!(trace.device[0].kind, DeviceKind::Copy { direction: Direction::D2h, bytes: 9, .. }));
}

#[test]
fn what_cannot_run_is_refused() {
    let refused = |nodes: &[Node]| refused(read(nodes));
    assert!(refused(&[node(1, "k", 4, &[9])]).contains("node 1: waits for node 9, which is not in the file"));
    assert!(refused(&[node(1, "k", 4, &[2]), node(2, "l", 4, &[1])]).contains("waits, by way of others, for itself"));
    assert!(refused(&[node(1, "k", 4, &[]), node(1, "l", 4, &[])]).contains("node 2: a second node of the number 1"));
    let long = Node { duration_micros: u64::MAX, ..node(1, "k", 4, &[]) };
    assert!(refused(&[long]).contains("more than a year"));
    assert!(refused(&[]).contains("there is no event in it"));
}

#[test]
fn a_file_that_ends_early_says_where() {
    let whole = sample();
    let read = bytes(&whole[..whole.len() - 3]);
    assert!(refused(read).contains("ends in the middle, after 5 whole nodes"));
    let read = bytes(&[&whole[..], &[0xff; 9]].concat());
    assert!(refused(read).contains("a length that no node has, after 6 whole nodes"));
    let read = bytes(&[&whole[..], &[2, 0xff, 0xff]].concat());
    assert!(refused(read).contains("node 7: not a node"));
}

#[test]
fn nodes_without_a_start_begin_when_what_they_wait_for_has_ended() {
    let undated = |id, takes: u64, stream, before: &[u64]| {
        let node = Node { start_micros: 0, duration_micros: takes, ..node(id, "k", 4, before) };
        node.with("is_cpu_op", Value::Bool(stream == 0))
            .with(["tid", "stream"][usize::from(stream > 0)], Value::Int64(stream))
    };
    let starts = |nodes: &[Node]| {
        let trace = read(nodes).unwrap();
        assert!(says(&trace, "No node has a start"));
        let device = trace.device.iter().map(|op| op.start_ns / 1000);
        (device.collect::<Vec<_>>(), trace.calls.iter().map(|call| call.start_ns / 1000).collect::<Vec<_>>())
    };
    let chain = [undated(3, 9, 9, &[2]), undated(1, 5, 7, &[]), undated(2, 7, 8, &[1])];
    assert_eq!(starts(&chain), (vec![0, 5, 12], vec![]));
    assert_eq!(starts(&[undated(1, 5, 7, &[]), undated(2, 7, 7, &[]), undated(3, 9, 8, &[])]), (vec![0, 0, 5], vec![]));
    let host = [undated(1, 50, 0, &[]), undated(2, 40, 0, &[]), undated(3, 2_000, 7, &[2]), undated(4, 1, 7, &[])];
    assert_eq!(starts(&host), (vec![0, 90], vec![0, 50]));
}
