//! The fields of the Wireshark dissector, held against the table of fields.

use sealsim::pcie::wire::{
    dllp,
    table::{Code, Field, Kind},
    tlp,
};
use std::collections::{BTreeMap, BTreeSet};

const DISSECTOR: &str = include_str!("../../tools/wireshark/sealsim_pcie.lua");

/// Bits by byte and place in it.
type Bits = BTreeSet<(usize, u64)>;

/// What stands in the first pair of quotes.
fn quoted(text: &str) -> &str {
    text.split('"').nth(1).unwrap()
}

fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok()
}

/// `t.status = ProtoField.uint16("tlp.status", "...", base.DEC, statuses, 0xe000)`: `t.status`, to the field's name and its mask.
fn declared() -> BTreeMap<&'static str, (&'static str, Option<u64>)> {
    let lines = DISSECTOR.lines().filter_map(|line| line.split_once(" = ProtoField."));
    lines
        .map(|(variable, rest)| {
            let last = rest.trim_end_matches(')').rsplit(',').next().unwrap();
            (variable, (quoted(rest), hexadecimal(last)))
        })
        .collect()
}

/// The bits that `buffer(offset, length)` shows through a mask.
fn shown(offset: usize, length: usize, mask: Option<u64>) -> Bits {
    let bits = (0..length * 8).filter(|bit| mask.is_none_or(|mask| mask >> bit & 1 == 1));
    bits.map(|bit| (offset + length - 1 - bit / 8, bit as u64 % 8)).collect()
}

/// The bits of a field. Of an address the two that are not sent are shown as well.
fn described(field: &Field) -> Bits {
    let runs = field.runs.iter().flat_map(|&(byte, low, count)| (low..low + count).map(move |bit| (byte, bit)));
    let mut bits: Bits = runs.map(|(byte, bit)| (byte.into(), bit.into())).collect();
    if field.code == Code::Times4 {
        let byte = field.runs[0].0.into();
        bits.extend([(byte, 0), (byte, 1)]);
    }
    bits
}

/// `tree:add(t.status, buffer(6, 2))`: the variable, the offset and the length.
fn shown_in_place(line: &str) -> Option<(&str, usize, usize)> {
    let (variable, place) = line.trim().strip_prefix("tree:add(")?.split_once(", buffer(")?;
    let (offset, length) = place.strip_suffix("))")?.split_once(", ")?;
    Some((variable, offset.parse().ok()?, length.parse().ok()?))
}

#[test]
fn what_the_dissector_shows_of_a_header_are_the_bits_of_the_table() {
    let (declared, mut function, mut compared) = (declared(), "", 0);
    for line in DISSECTOR.lines() {
        if line.contains("function ") {
            function = line;
        }
        // Values that are computed first are not shown by their bits.
        let Some((variable, offset, length)) = shown_in_place(line) else { continue };
        let (name, mask) = declared[variable];
        let kind: &Kind = if name.starts_with("dllp.") {
            &dllp::KINDS[0]
        } else {
            let first = if function.contains("completion") { 0x4a } else { 0x60 };
            Kind::of(&tlp::KINDS, first).unwrap()
        };
        let name = name.split_once('.').unwrap().1;
        let name = match name {
            "requester" => "requester_id",
            "completer" => "completer_id",
            "sequence" => "seq",
            name => name,
        };
        let field = kind.field(name).unwrap_or_else(|| panic!("{name} in {line}"));
        assert_eq!(shown(offset, length, mask), described(field), "{line}");
        compared += 1;
    }
    assert_eq!(compared, 12);
}
