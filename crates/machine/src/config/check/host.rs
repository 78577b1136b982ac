//! Rules of staging buffers, driver and cipher.

use super::{MachineSpec, Rule, rule};
use crate::{
    gpu::spec::TagPlacement,
    host::{map, spec::PathSpec},
    units::Bytes,
};

const ODD_MESSAGE: &str =
    "secure copies above 32 B start at multiples of 32 B: write for example 1 MiB, 4 KiB or 256 B";

/// The most bytes that GCM enciphers under one IV: 2^32 - 2 blocks.
const LONGEST_TEXT: Bytes = Bytes((1 << 36) - 32);

pub(super) const RULES: &[Rule] = &[
    rule(
        "staging.buffer",
        "write at least the longest message (driver.*.message), and 16 B for each inline tag",
        |m| {
            let (buffer, (path, message)) = (m.staging.buffer, longest_message(m));
            let inline = m.tag_queue.placement == Some(TagPlacement::Inline);
            let tagged = inline && buffer.0 < message.0 + m.sealing().format().tag_bytes();
            let why = if tagged { " and the tag behind it" } else { "" };
            (buffer < message || tagged)
                .then(|| format!("{buffer} cannot hold one message of {message}{why} ({path} = {message})"))
        },
    ),
    rule("staging.buffers", "write fewer or smaller buffers, of a multiple of 4 KiB", |m| {
        m.staging.check().err().map(|error| error.to_string())
    }),
    rule("driver.pinned.message", ODD_MESSAGE, |m| odd_message(&m.driver.pinned, m)),
    rule("driver.pageable.message", ODD_MESSAGE, |m| odd_message(&m.driver.pageable, m)),
    rule(
        "cipher.on_caller",
        "write cipher.threads = 1, or cipher.on_caller = false for threads beside the caller",
        |m| {
            let (many, threads) = (m.cipher.on_caller && m.cipher.threads != 1, m.cipher.threads);
            many.then(|| format!("the caller is one thread, but cipher.threads = {threads}"))
        },
    ),
    rule(
        "driver.pageable_plain.push",
        "write at least driver.pageable_plain.message and at most staging.buffer x staging.buffers",
        |m| odd_push(&m.driver.pageable_plain, m),
    ),
    rule(
        "driver.pinned.push",
        "write at least driver.pinned.message and at most staging.buffer x staging.buffers",
        |m| odd_push(&m.driver.pinned, m),
    ),
    rule(
        "driver.pageable.push",
        "write at least driver.pageable.message and at most staging.buffer x staging.buffers",
        |m| odd_push(&m.driver.pageable, m),
    ),
];

/// The longest message, and the parameter that makes it so long.
pub(super) fn longest_message(machine: &MachineSpec) -> (&'static str, Bytes) {
    let (pinned, pageable) = (machine.driver.pinned.message, machine.driver.pageable.message);
    if pageable > pinned { ("driver.pageable.message", pageable) } else { ("driver.pinned.message", pinned) }
}

fn odd_message(path: &PathSpec, machine: &MachineSpec) -> Option<String> {
    let tag = machine.aead.as_ref().map_or(map::TAG_BYTES, |_| machine.sealing().format().tag_bytes());
    let message = path.message;
    if message.0 < tag {
        return Some(format!("a tag of {tag} B is longer than a message of {message}"));
    }
    if message > LONGEST_TEXT {
        return Some(format!("{message} is more than GCM enciphers under one IV, 2^36 - 32 B"));
    }
    (!path.message.0.is_multiple_of(32)).then(|| format!("{} is not a multiple of 32 B", path.message))
}

fn odd_push(path: &PathSpec, machine: &MachineSpec) -> Option<String> {
    let pool = Bytes(machine.staging.buffer.0.saturating_mul(machine.staging.buffers.into()));
    let short = || format!("a push of {} does not hold one message of {}", path.push, path.message);
    let long = || format!("a push of {} does not fit the staging pool of {pool}", path.push);
    (path.push < path.message).then(short).or_else(|| (path.push > pool).then(long))
}
