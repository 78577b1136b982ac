//! What designs cost and risk, as tables.

use super::{Shown, digits, micros, number, plain, section, size};
use crate::{
    cost::{AfterSuccess, Interval},
    explore::Comparison,
    figures::{
        Value,
        table::{
            AFTER_SUCCESS, ALL_SPENT, BUFFERS_SPENT, ENGINES_SPENT, EXPOSED, EXPOSURE, EXPOSURE_TOTAL,
            FORGERY as FORGERY_BOUND, IV_BUDGET, KEY_BUDGET, LINK_SPENT, MEMORY_SPENT, TAG_BITS,
        },
    },
    files::capital,
    report::table::Table,
    system::Direction,
    units::Bytes,
};
use std::fmt::Write;

/// A row for each design: what its crypto units and buffers cost, with notes below.
pub(super) fn costs(text: &mut String, (comparison, width): (&Comparison, usize)) {
    section(text, "cost on the GPU: areas in kGE, energies in pJ per byte, least..most");
    let head = [
        "design",
        "engines",
        "area",
        "energy h2d",
        "energy d2h",
        "quarantine",
        "tags",
        "as SRAM",
        "as flip-flops",
        "area in all",
        "notes",
    ];
    let mut table = Table::new(&head, &[0, 10]);
    let mut notes: Vec<&str> = Vec::new();
    for design in &comparison.designs {
        let cost = &design.cost;
        let of_design = cost.missing.iter().chain(&cost.does_not_close).chain(&cost.notes).map(String::as_str);
        let numbers: Vec<_> = of_design.map(|note| format!("[{}]", place_of(&mut notes, note))).collect();
        table.row([
            design.name.clone(),
            if cost.engines > 0 { cost.engines.to_string() } else { "-".to_owned() },
            range(cost.area),
            range(cost.energy(Direction::H2d)),
            range(cost.energy(Direction::D2h)),
            Bytes(cost.quarantine_capacity_bytes).to_string(),
            Bytes(cost.tag_queue_capacity_bytes).to_string(),
            range(Some(cost.storage_sram)),
            digits(cost.storage_flip_flop_kge),
            range(cost.area_total()),
            numbers.join(" "),
        ]);
    }
    table.push_to(text, width);
    for (place, note) in notes.iter().enumerate() {
        let _ = writeln!(text, "[{}] {note}", place + 1);
    }
    let _ = writeln!(
        text,
        "Ranges are what designs may differ by in one technology. All absolute areas and energies may be off alike by a factor of {}, up or \
         down. Quarantine and tags of the tag queue are storage: flip-flops are the bound, SRAM is an assumed range. Area in all is that of the \
         engines and of storage as SRAM.\n{}.",
        comparison.process_spread_factor,
        capital(comparison.cost_source)
    );
}

/// The number of a note, counted from 1.
fn place_of<'n>(notes: &mut Vec<&'n str>, note: &'n str) -> usize {
    let place = notes.iter().position(|known| *known == note).unwrap_or_else(|| {
        notes.push(note);
        notes.len() - 1
    });
    place + 1
}

fn range(known: Option<Interval>) -> String {
    match known {
        Some(Interval { low, high }) if high > low => format!("{}..{}", digits(low), digits(high)),
        Some(Interval { low, .. }) => digits(low),
        None => "-".to_owned(),
    }
}

/// What is visible unverified, what a forger may hope for, how long a key and an IV last.
pub(super) const RISKS: [Shown; 8] = [
    ("exposure us", &EXPOSURE, micros),
    ("of all messages us", &EXPOSURE_TOTAL, micros),
    ("visible at once", &EXPOSED, size),
    ("tag bits", &TAG_BITS, plain),
    ("forgery at most", &FORGERY_BOUND, |log2| number(log2, |log2| format!("2^{log2:.1}"))),
    ("after one", &AFTER_SUCCESS, |after| {
        AfterSuccess::named(&after.shown()).map_or("-", AfterSuccess::short).to_owned()
    }),
    ("a key lasts GB", &KEY_BUDGET, giga),
    ("an IV lasts GB", &IV_BUDGET, giga),
];

/// What a copy takes in energy, by part: pJ, shown as times in ps are.
pub(super) const ENERGIES: [Shown; 5] = [
    ("AES, GHASH", &ENGINES_SPENT, micros),
    ("buffers", &BUFFERS_SPENT, micros),
    ("link", &LINK_SPENT, micros),
    ("device memory", &MEMORY_SPENT, micros),
    ("in all", &ALL_SPENT, micros),
];

fn giga(value: &Value) -> String {
    number(value, |bytes| digits(bytes * 1e-9))
}

pub(super) const FORGERY: &str = "\
Forgery at most: of a first forgery, with one attempt at each tag. After one, under the same key: 1 where all nonces share the hash key (AES-GCM, \
IDE), since the same difference of ciphertext and tag passes again; as before where hash key (AES-GCM-SIV, GCM-SST, ChaCha20-Poly1305) or state (AEGIS, a claim) is made \
anew for each nonce.\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_without_width_is_one_number_and_none_is_a_dash() {
        let shown = [Some(Interval::new(1.0, 2.5)), Some(Interval::exact(4.0)), None].map(range);
        assert_eq!(shown, ["1.00..2.50", "4.00", "-"]);
    }

    #[test]
    fn notes_are_numbered_in_the_order_in_which_they_come() {
        let mut notes = Vec::new();
        assert_eq!(["a", "b", "a"].map(|note| place_of(&mut notes, note)), [1, 2, 1]);
    }
}
