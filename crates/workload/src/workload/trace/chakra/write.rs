//! Nodes as other programs read them.

use super::{
    collective,
    schema::{Attribute, Metadata, Node, VERSION, Value},
};
use prost::Message;
use std::io::{self, Write};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChakraWork<'a> {
    Host,
    /// The GPU computes, or does what the schema has no type for.
    Computation,
    Load,
    Store,
    /// A collective, by its name. One that the schema does not know is written as a computation.
    Collective(&'a str),
}

#[derive(Debug, Clone, PartialEq)]
pub struct ChakraNode<'a> {
    /// Its number, from 1.
    pub id: u64,
    pub name: &'a str,
    pub work: ChakraWork<'a>,
    pub start_ns: u64,
    pub duration_ns: u64,
    /// Nodes that must have ended before: who asked for it.
    pub control: Vec<u64>,
    /// Nodes that must have ended before: whose results it may use.
    pub data: Vec<u64>,
    /// Bytes that it moves, if that is known.
    pub bytes: Option<u64>,
    /// Its thread or its stream.
    pub lane: u32,
    pub gpu: Option<u32>,
}

/// Writes what comes before all nodes.
pub fn write_chakra_head(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&Metadata { version: VERSION.to_owned() }.encode_length_delimited_to_vec())
}

impl ChakraNode<'_> {
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.message().encode_length_delimited_to_vec())
    }

    fn message(&self) -> Node {
        let collective = match self.work {
            ChakraWork::Collective(name) => collective::number(name),
            _ => None,
        };
        let kind = match self.work {
            ChakraWork::Load => 2,
            ChakraWork::Store => 3,
            ChakraWork::Collective(_) if collective.is_some() => 7,
            ChakraWork::Host | ChakraWork::Computation | ChakraWork::Collective(_) => 4,
        };
        Node {
            id: self.id,
            name: self.name.to_owned(),
            kind,
            control: self.control.clone(),
            data: self.data.clone(),
            start_micros: micros(self.start_ns),
            duration_micros: micros(self.duration_ns),
            attributes: self.attributes(collective),
        }
    }

    /// Types are those that the tools of the format give these names. The last two say what microseconds do not.
    fn attributes(&self, collective: Option<u64>) -> Vec<Attribute> {
        let host = self.work == ChakraWork::Host;
        let number =
            |name: &str, number: u64| (name.to_owned(), Value::Int64(i64::try_from(number).unwrap_or(i64::MAX)));
        let mut all = vec![("is_cpu_op".to_owned(), Value::Bool(host))];
        all.push(number(if host { "tid" } else { "stream" }, u64::from(self.lane)));
        all.extend(self.gpu.map(|gpu| number("device", u64::from(gpu))));
        all.extend(collective.map(|kind| number("comm_type", kind)));
        all.extend(self.bytes.map(|bytes| match self.work {
            ChakraWork::Collective(_) => number("comm_size", bytes),
            _ => ("tensor_size".to_owned(), Value::Uint64(bytes)),
        }));
        all.push(number("start_ns", self.start_ns));
        all.push(number("duration_ns", self.duration_ns));
        all.into_iter().map(|(name, value)| Attribute { name, value: Some(value) }).collect()
    }
}

const fn micros(ns: u64) -> u64 {
    ns.saturating_add(500) / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(node: &ChakraNode<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        node.write(&mut bytes).unwrap();
        bytes
    }

    fn copy() -> ChakraNode<'static> {
        ChakraNode {
            id: 3,
            name: "up",
            work: ChakraWork::Load,
            start_ns: 300_499,
            duration_ns: 1_500,
            control: vec![2],
            data: vec![1, 200],
            bytes: Some(4096),
            lane: 7,
            gpu: Some(0),
        }
    }

    #[test]
    fn a_node_is_these_bytes() {
        // Made by hand out of the schema: a key is the number of the field, times 8, and 0 for a number or 2 for what has a length.
        let attribute = |name: &str, value: &[u8]| {
            let inside = [&[0x0a, name.len() as u8], name.as_bytes(), value].concat();
            [&[0x52, inside.len() as u8], &inside[..]].concat()
        };
        let expected = [
            vec![0x08, 3],                            // id
            vec![0x12, 2, b'u', b'p'],                // name
            vec![0x18, 2],                            // type: MEM_LOAD_NODE
            vec![0x22, 1, 2],                         // ctrl_deps, packed
            vec![0x2a, 3, 1, 0xc8, 0x01],             // data_deps, packed: 1, 200
            vec![0x30, 0xac, 0x02],                   // start_time_micros: 300
            vec![0x38, 2],                            // duration_micros
            attribute("is_cpu_op", &[0xd8, 0x01, 0]), // bool_val, 27
            attribute("stream", &[0x48, 7]),          // int64_val, 9
            attribute("device", &[0x48, 0]),
            attribute("tensor_size", &[0x68, 0x80, 0x20]), // uint64_val, 13: 4096
            attribute("start_ns", &[0x48, 0xd3, 0xab, 0x12]), // 300,499
            attribute("duration_ns", &[0x48, 0xdc, 0x0b]), // 1,500
        ]
        .concat();
        let written = bytes(&copy());
        assert_eq!(hex::encode(&written), hex::encode([&[expected.len() as u8], &expected[..]].concat()));
        let mut head = Vec::new();
        write_chakra_head(&mut head).unwrap();
        assert_eq!(head, b"\x07\x0a\x050.0.4");
    }

    #[test]
    fn a_collective_that_the_schema_does_not_know_is_a_computation() {
        let kind = |name| ChakraNode { work: ChakraWork::Collective(name), ..copy() }.message();
        let known = kind("AllGather");
        assert_eq!((known.kind, known.number("comm_type"), known.number("comm_size")), (7, Some(2), Some(4096)));
        let other = kind("SendRecv");
        assert_eq!((other.kind, other.number("comm_type")), (4, None));
    }
}
