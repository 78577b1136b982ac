//! What each generation, width and payload can carry, against the closed form; and the table of it in `docs/links.md`.

use crate::machine::*;
use sealsim::{
    config::Layers,
    pcie::{
        rate::{GENERATIONS, WIDTHS},
        spec::LinkSpec,
    },
};
use std::fmt::Write;

/// Maximum payloads of the table.
const PAYLOADS: [u32; 3] = [128, 256, 512];
/// TLPs of a run: enough that ordered sets and bubbles even out to less than the tolerance.
const COUNT: u64 = 20_000;

/// A link as a machine has it that says no more than generation, lanes and payload, with nothing but the wire to limit it.
fn link_of(generation: u32, lanes: u32, payload: u32) -> LinkSpec {
    let machine = Layers::new("h100-nvl-tdx")
        .set(format!("link.generation={generation}"))
        .set(format!("link.lanes={lanes}"))
        .set(format!("link.max_payload={payload} B"))
        .set(format!("root_complex.completion_payload={payload} B"));
    let link = machine.resolve().unwrap().machine.link;
    LinkSpec { host_credits: infinite(), gpu_credits: infinite(), replay_tlps: 2048, ..link }
}

/// Bytes per second to the host and to the GPU, in completions or writes of the maximum payload.
fn simulated(generation: u32, lanes: u32, payload: u32) -> [f64; 2] {
    let quick = || Plan { exact: false, record: false, ..Plan::new(link_of(generation, lanes, payload)) };
    let up = Feed::new(COUNT, move |n| write(BASE + n * 512 % MEMORY, payload, false));
    let down = Feed::new(COUNT, move |n| completion(0, BASE + n * 512 % MEMORY, payload, false));
    let to_gpu = finish(&Plan { down: vec![down], ..quick() }).gpu_sink(0).rate();
    [to_gpu, finish(&Plan { up: vec![up], ..quick() }).host_sink(0).rate()]
}

/// The same worked out: transfers per second and lane, 128b/130b, a SKP ordered set and an EDS token every 373 blocks, and token, header and
/// LCRC of each TLP, whose header has 3 DW in a completion and 4 in a write.
fn closed_form(generation: u32, lanes: u32, payload: u32) -> [f64; 2] {
    let transfers = [8e9, 16e9, 32e9][generation as usize - 3];
    let block = 16.0 * f64::from(lanes);
    let stream = transfers / 8.0 * f64::from(lanes) * 128.0 / 130.0 * (373.0 * block - 4.0) / (374.0 * block);
    [12.0, 16.0].map(|header| stream * f64::from(payload) / (f64::from(payload) + 8.0 + header))
}

fn row(text: &mut String, generation: u32, lanes: u32) {
    write!(text, "| gen{generation} x{lanes} |").unwrap();
    for payload in PAYLOADS {
        let found = simulated(generation, lanes, payload);
        for (found, expected) in found.into_iter().zip(closed_form(generation, lanes, payload)) {
            let off = found / expected - 1.0;
            assert!(off.abs() < 1e-3, "gen{generation} x{lanes} {payload} B: {found} against {expected}");
        }
        write!(text, " {:.3} | {:.3} |", found[0] / 1e9, found[1] / 1e9).unwrap();
    }
    text.push('\n');
}

#[test]
fn every_ceiling_is_that_of_the_closed_form_and_the_documents_table_says_so() {
    let mut table = String::new();
    for generation in GENERATIONS {
        for lanes in WIDTHS {
            row(&mut table, generation, lanes);
        }
    }
    let document = std::fs::read_to_string("docs/links.md").unwrap_or_default();
    assert!(document.contains(&table), "docs/links.md lacks this table:\n{table}");
}
