//! Execution traces of MLCommons Chakra: messages, each behind its length.
//!
//! ```text
//!  length GlobalMetadata   length Node   length Node   ...
//!                                 |
//!                                 +--> operations of the GPU, work of the host, and who waits for whom
//! ```

mod circle;
mod collective;
mod node;
mod schema;
#[cfg(test)]
pub(super) mod tests;
mod write;

pub use write::{ChakraNode, ChakraWork, write_chakra_head};

use super::{
    Place,
    builder::Builder,
    error::refused,
    formats::Importer,
    input::{Input, Tape},
    model::Trace,
};
use crate::files::Refusal;
use node::Nodes;
use prost::Message;
use schema::{Metadata, Node, VERSION};
use std::io::{self, Read};

const MESSAGE: u64 = 1 << 26;

pub(super) const FORMAT: Importer = Importer {
    name: "Chakra execution trace",
    make: "Chakra execution traces",
    idle: "give the trace of a rank that computes or communicates",
    is_one,
    read,
    takes_calls: false,
};

fn is_one(head: &[u8]) -> bool {
    let mut rest = head;
    let Some(first) = cut(&mut rest) else { return false };
    let Ok(metadata) = Metadata::decode(first) else { return false };
    let is_version = metadata.version.len() < 64 && metadata.version.bytes().all(|byte| byte.is_ascii_graphic());
    let node = cut(&mut rest).and_then(|node| Node::decode(node).ok());
    let is_node = node.is_some_and(|node| !node.name.is_empty() && (0..=10).contains(&node.kind));
    // Metadata may be empty, and then says nothing.
    is_version && (is_node || !metadata.version.is_empty())
}

/// The next message of a text that holds it whole.
fn cut<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
    let length = prost::decode_length_delimiter(*bytes).ok()?;
    let rest = bytes.get(prost::length_delimiter_len(length)..)?;
    let message = rest.get(..length)?;
    *bytes = &rest[length..];
    Some(message)
}

fn read(tape: &mut Tape<'_>, _: Option<Input<'_>>) -> Result<Trace, Refusal> {
    let name = tape.name().to_owned();
    let mut builder = Builder::new(&name, tape.room(), &FORMAT);
    let mut nodes = Nodes::default();
    let mut bytes = Vec::new();
    let metadata = message(tape, &mut bytes, 0)?.and_then(|()| Metadata::decode(bytes.as_slice()).ok());
    let version = metadata.map(|metadata| metadata.version).unwrap_or_default();
    if version != VERSION {
        let written =
            if version.is_empty() { "The trace does not name its schema" } else { "The trace names another schema" };
        builder.assume(format!("{written}: it is read as {VERSION}."));
    }
    for number in 1.. {
        if message(tape, &mut bytes, number - 1)?.is_none() {
            break;
        }
        builder.event();
        match Node::decode(bytes.as_slice()) {
            Ok(node) => nodes.take(&node, Place::Node(number), &mut builder),
            Err(error) => builder.wrong(Place::Node(number), format!("not a node: {error}"), "write the trace again"),
        }
    }
    let dependencies = nodes.finish(&name, &mut builder)?;
    builder.finish(dependencies)
}

/// Reads a message into `bytes`, after `whole` nodes. `None`: there is none left.
fn message(tape: &mut Tape<'_>, bytes: &mut Vec<u8>, whole: u64) -> Result<Option<()>, Refusal> {
    let meter = tape.meter();
    meter.allow(MESSAGE);
    if tape.available()? == 0 {
        return Ok(None);
    }
    let syntax = |tape: &Tape<'_>, what: &str| {
        let what = format!("{what}, after {whole} whole nodes");
        refused("syntax", tape.name(), what).remedy("write the trace again: it is damaged here")
    };
    let length = match length(tape) {
        Ok(Some(length)) if length <= MESSAGE => length,
        Ok(_) => return Err(syntax(tape, "a length that no node has")),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(ended(tape, whole)),
        Err(error) => return Err(tape.failure(&error)),
    };
    tape.bytes(bytes, length)?;
    if (bytes.len() as u64) < length { Err(ended(tape, whole)) } else { Ok(Some(())) }
}

/// A length: seven bits a byte, the lowest first. `None`: it is longer than any.
fn length(tape: &mut Tape<'_>) -> io::Result<Option<u64>> {
    let mut length = 0;
    for shift in (0..35).step_by(7) {
        let mut byte = [0];
        tape.read_exact(&mut byte)?;
        length |= u64::from(byte[0] & 0x7f) << shift;
        if byte[0] < 0x80 {
            return Ok(Some(length));
        }
    }
    Ok(None)
}

fn ended(tape: &Tape<'_>, whole: u64) -> Refusal {
    let what = format!("ends in the middle, after {whole} whole nodes");
    refused("truncated", tape.name(), what).remedy("copy it again, or write the trace again")
}
