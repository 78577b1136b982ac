//! What designs cost and risk, as tables and as cells of CSV.

use super::{digits, of, push, quoted, section};
use crate::{
    explore::{Comparison, CopyFigures, Price},
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
        let of_design = cost.missing.iter().chain(&cost.notes).map(String::as_str);
        let numbers: Vec<_> = of_design.map(|note| format!("[{}]", number(&mut notes, note))).collect();
        table.row([
            design.name.clone(),
            if cost.engines > 0 { cost.engines.to_string() } else { "-".to_owned() },
            range(cost.area_kge_low, cost.area_kge_high),
            range(cost.h2d_pj_per_byte_low, cost.h2d_pj_per_byte_high),
            range(cost.d2h_pj_per_byte_low, cost.d2h_pj_per_byte_high),
            Bytes(cost.quarantine_capacity_bytes).to_string(),
            Bytes(cost.tag_queue_capacity_bytes).to_string(),
            range(Some(cost.storage_sram_kge_low), Some(cost.storage_sram_kge_high)),
            digits(cost.storage_flip_flop_kge),
            range(cost.area_total_kge_low, cost.area_total_kge_high),
            numbers.join(" "),
        ]);
    }
    push(text, &table, width);
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
fn number<'n>(notes: &mut Vec<&'n str>, note: &'n str) -> usize {
    let place = notes.iter().position(|known| *known == note).unwrap_or_else(|| {
        notes.push(note);
        notes.len() - 1
    });
    place + 1
}

fn range(low: Option<f64>, high: Option<f64>) -> String {
    match low.zip(high) {
        Some((low, high)) if high > low => format!("{}..{}", digits(low), digits(high)),
        Some((low, _)) => digits(low),
        None => "-".to_owned(),
    }
}

/// A row for each design: what is visible unverified, what a forger may hope for, how long a key and an IV last.
pub(super) fn risks(text: &mut String, (comparison, width): (&Comparison, usize), direction: Direction, bytes: u64) {
    let head = [
        "design",
        "exposure us",
        "of all messages us",
        "visible at once",
        "tag bits",
        "forgery at most",
        "after one",
        "a key lasts GB",
        "an IV lasts GB",
    ];
    let mut table = Table::new(&head, &[0]);
    for design in &comparison.designs {
        let Some(copy) = of(design, direction, bytes) else { continue };
        let none = || "-".to_owned();
        let micros = |picos: u64| format!("{:.2}", picos as f64 * 1e-6);
        let giga = |bytes: Option<u64>| bytes.map_or_else(none, |bytes| digits(bytes as f64 * 1e-9));
        table.row([
            design.name.clone(),
            micros(copy.exposure_ps),
            micros(copy.exposure_total_ps),
            Bytes(copy.exposed_bytes).to_string(),
            copy.risk.tag_bits.map_or_else(none, |bits| bits.to_string()),
            copy.risk.forgery_log2.map_or_else(none, |log2| format!("2^{log2:.1}")),
            copy.risk.after_first_success.map_or_else(none, |after| after.short().to_owned()),
            giga(copy.risk.key_budget_bytes),
            giga(copy.risk.iv_budget_bytes),
        ]);
    }
    push(text, &table, width);
    text.push_str(FORGERY);
}

/// What the bound is of.
const FORGERY: &str = "\
Forgery at most: of a first forgery, with one attempt at each tag. After one, under the same key: 1 where all nonces share the hash key (AES-GCM, \
IDE), since the same difference of ciphertext and tag passes again; as before where hash key (AES-GCM-SIV, ChaCha20-Poly1305) or state (AEGIS, a claim) is made \
anew for each nonce.\n";

/// The cells of a row of CSV that say what a copy's design costs and risks. Energies are those of its direction.
pub(super) fn cells(cost: &Price, copy: &CopyFigures) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let count = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    let energy = match copy.direction {
        Direction::D2h => [cost.d2h_pj_per_byte_low, cost.d2h_pj_per_byte_high],
        Direction::H2d | Direction::D2d => [cost.h2d_pj_per_byte_low, cost.h2d_pj_per_byte_high],
    };
    vec![
        copy.exposure_total_ps.to_string(),
        copy.exposed_bytes.to_string(),
        copy.exposed_byte_ns.to_string(),
        count(copy.risk.tag_bits.map(u64::from)),
        number(copy.risk.forgery_log2),
        copy.risk.after_first_success.map_or_else(String::new, |after| after.name().to_owned()),
        count(copy.risk.key_budget_messages),
        count(copy.risk.key_budget_bytes),
        count(copy.risk.iv_budget_messages),
        count(copy.risk.iv_budget_bytes),
        cost.engines.to_string(),
        number(cost.area_kge_low),
        number(cost.area_kge_high),
        number(energy[0]),
        number(energy[1]),
        count(cost.sms_used.map(u64::from)),
        cost.quarantine_capacity_bytes.to_string(),
        cost.tag_queue_capacity_bytes.to_string(),
        cost.storage_sram_kge_low.to_string(),
        cost.storage_sram_kge_high.to_string(),
        cost.storage_flip_flop_kge.to_string(),
        cost.quarantine_sram_kge.to_string(),
        number(cost.area_total_kge_low),
        number(cost.area_total_kge),
        number(cost.area_total_kge_high),
        quoted(cost.missing.as_deref().unwrap_or_default()),
        quoted(&cost.notes.join(" | ")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_without_width_is_one_number_and_none_is_a_dash() {
        assert_eq!(range(Some(1.0), Some(2.5)), "1.00..2.50");
        assert_eq!((range(Some(4.0), Some(4.0)), range(None, None)), ("4.00".into(), "-".into()));
    }

    #[test]
    fn notes_are_numbered_in_the_order_in_which_they_come() {
        let mut notes = Vec::new();
        assert_eq!(["a", "b", "a"].map(|note| number(&mut notes, note)), [1, 2, 1]);
    }
}
