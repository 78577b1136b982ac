//! What each generation, width and payload can carry, against the closed form; and the table of it in `docs/links.md`.

use super::machine::*;
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

/// The same worked out: transfers per second and lane, then what the stream leaves for TLPs, then what these leave for payload. A header has 3 DW
/// in a completion and 4 in a write. Without flit mode the stream has 128b/130b, a SKP ordered set and an EDS token every 373 blocks, and each TLP
/// a token and an LCRC; in flit mode 236 B of 256, and the time of an ordered set after the flits that 373 blocks hold.
fn closed_form(generation: u32, lanes: u32, payload: u32) -> [f64; 2] {
    let transfers = [8e9, 16e9, 32e9, 64e9][generation as usize - 3];
    let (block, bytes) = (16.0 * f64::from(lanes), transfers / 8.0 * f64::from(lanes));
    let flits = (373.0 * block / 256.0).floor().max(1.0) * 256.0;
    let (stream, frame) = match generation {
        6 => (bytes * 236.0 / 256.0 * flits / (flits + block), 0.0),
        _ => (bytes * 128.0 / 130.0 * (373.0 * block - 4.0) / (374.0 * block), 8.0),
    };
    [12.0, 16.0].map(|header| stream * f64::from(payload) / (f64::from(payload) + frame + header))
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
    // The document has the widest link of each generation; the others carry in proportion.
    let mut table = String::new();
    for generation in GENERATIONS {
        for lanes in WIDTHS {
            let mut line = String::new();
            row(&mut line, generation, lanes);
            if lanes == 16 {
                table.push_str(&line);
            }
        }
    }
    let document = std::fs::read_to_string("docs/links.md").unwrap_or_default();
    assert!(document.contains(&table), "docs/links.md lacks this table:\n{table}");
}
