//! What guessed swaps (`pipellm`) and tensors with one tag each (`tensor-granularity`) are worth, next to the published figures: their tables in
//! `docs/workloads.md` and `docs/tables`.

use crate::{
    guessed::{SWAPS, guessed, swaps, with},
    shared::shipped,
};
use sealsim::{system::Outcome, units::Femtos};

/// Right guesses of 1000.
const HITS: [u32; 5] = [0, 500, 800, 950, 1000];

/// Times that kernels last as long as the plain copy.
const RATIOS: [u64; 7] = [1, 2, 4, 6, 8, 12, 16];

/// What is lost of the throughput without protection from the end of the first swap on, in percent.
fn lost(off: &Outcome, other: &Outcome) -> f64 {
    let steady = |outcome: &Outcome| (outcome.end - outcome.copies[0].end).seconds();
    100.0 * (1.0 - steady(off) / steady(other))
}

fn is_in_the_document(table: &str) {
    let document = std::fs::read_to_string("docs/workloads.md").unwrap_or_default();
    assert!(document.contains(table), "docs/workloads.md lacks this table:\n{table}");
}

#[test]
fn the_documents_table_of_guessed_swaps_is_what_comes_out() {
    let row = |name: &str| {
        let (workload, _) = shipped(name);
        let off = with(&workload, "off", &[]).end.seconds();
        let cc = with(&workload, "h100-cc", &[]).end.seconds() / off;
        let cells = HITS.map(|hits| format!(" {:.2} |", guessed(&workload, hits).end.seconds() / off));
        format!("| `{name}` | {:.1} ms | {cc:.2} |{}\n", off * 1e3, cells.concat())
    };
    is_in_the_document(&["vllm-kv-swap", "layerwise-kv", "flexgen-weights"].map(row).concat());
}

#[test]
fn the_documents_table_of_lost_throughput_is_what_the_model_gives() {
    let plain = with(&swaps(Femtos(1_000_000)), "off", &[]);
    let plain = Femtos((plain.end - plain.copies[0].end).0 / (SWAPS - 1));
    let mut table = String::new();
    for ratio in RATIOS {
        let swaps = swaps(Femtos(plain.0 * ratio));
        let off = with(&swaps, "off", &[]);
        let native = lost(&off, &with(&swaps, "h100-cc", &[]));
        let cells = HITS.map(|hits| format!(",{:.1} %", lost(&off, &guessed(&swaps, hits)).max(0.0)));
        table += &format!("{ratio},{native:.1} %{}\n", cells.concat());
    }
    let written = std::fs::read_to_string("docs/tables/swaps.csv").unwrap();
    assert!(written.contains(&table), "docs/tables/swaps.csv lacks this table:\n{table}");
}

#[test]
fn the_documents_table_of_tensors_is_what_the_model_gives() {
    let row = |name: &str| {
        let (workload, _) = shipped(name);
        let end = |design: &str, settings: &[&str]| with(&workload, design, settings).end.seconds();
        let (off, tensor) = (end("off", &[]), "tensor-granularity");
        let [native, resealed, one] = ["h100-cc", "h100-cc-resealed", tensor].map(|design| end(design, &[]));
        let more = end(tensor, &["copy_engine.outstanding_reads=96", "copy_engine.read_buffer=128 KiB"]);
        let over = |time: f64| format!("{:+.1} %", 100.0 * (time / off - 1.0));
        format!(
            "{name},{},{:.1} and {:.1},{},{:.1} and {:.1}\n",
            over(one),
            native / one,
            resealed / one,
            over(more),
            native / more,
            resealed / more
        )
    };
    let names = ["fastrack-training", "offload-optimizer", "gnn-minibatch", "podracer-rl"];
    let table = names.map(row).concat();
    let written = std::fs::read_to_string("docs/tables/tensors.csv").unwrap();
    assert!(written.contains(&table), "docs/tables/tensors.csv lacks this table:\n{table}");
}
