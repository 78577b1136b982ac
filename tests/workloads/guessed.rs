//! Swaps that are sealed before they are asked for (`pipellm`), and tensors with one tag each (`tensor-granularity`): what their designs are
//! worth, next to the published figures; and their tables in `docs/workloads.md` and `docs/tables`.

use crate::CAMPAIGN;
use crate::shared::{shipped, written};
use sealsim::{
    config::Layers,
    sim::Control,
    system::{self, Outcome},
    units::Femtos,
    workload::{Arrival, Workload, collective::CollectiveTimes},
};

const MACHINE: &str = "h100-nvl-tdx";

/// Right guesses of 1000.
const HITS: [u32; 5] = [0, 500, 800, 950, 1000];

/// Times that kernels last as long as the plain copy.
const RATIOS: [u64; 7] = [1, 2, 4, 6, 8, 12, 16];

/// Bytes of a swap, and how many there are.
const SWAP: u64 = 8 << 20;
/// See [`SWAP`].
const SWAPS: u64 = 20;

fn with(workload: &Workload, design: &str, settings: &[&str]) -> Outcome {
    let layers = settings.iter().fold(Layers::new(MACHINE).overlay(design), |layers, setting| layers.set(*setting));
    let machine = layers.resolve().unwrap_or_else(|error| panic!("{design}: {error}")).machine;
    let arrivals: Vec<_> = workload.copies.iter().map(|_| Arrival::new(false, None)).collect();
    let outcome = system::run(&machine, workload.request(&arrivals, &CollectiveTimes::default()).unwrap(), &mut |_| {
        Control::Continue
    })
    .unwrap();
    assert!(outcome.copies.iter().all(|copy| copy.delivered), "{design}");
    outcome
}

fn guessed(workload: &Workload, permille: u32) -> Outcome {
    with(workload, "pipellm", &[&format!("cipher.ahead.hit_permille={permille}")])
}

/// Swaps to the GPU, a kernel on each while the next one comes.
fn swaps(kernel: Femtos) -> Workload {
    written(&format!(
        "{{ op = \"record\", event = \"free0\", stream = \"compute\" }},
        {{ op = \"record\", event = \"free1\", stream = \"compute\" }},
        {{ op = \"repeat\", count = {SWAPS}, operations = [
            {{ op = \"wait\", event = \"free{{i%2}}\", stream = \"load\" }},
            {{ op = \"copy\", direction = \"h2d\", size = \"{SWAP} B\", stream = \"load\", buffer = \"swap{{i}}\" }},
            {{ op = \"record\", event = \"loaded{{i%2}}\", stream = \"load\" }},
            {{ op = \"wait\", event = \"loaded{{i%2}}\", stream = \"compute\" }},
            {{ op = \"kernel\", duration = \"{} ps\", stream = \"compute\" }},
            {{ op = \"record\", event = \"free{{i%2}}\", stream = \"compute\" }},
        ] }},
        {{ op = \"sync\" }},",
        kernel.picos()
    ))
}

/// What is lost of the throughput without protection from the end of the first swap on, in percent.
fn lost(off: &Outcome, other: &Outcome) -> f64 {
    let steady = |outcome: &Outcome| (outcome.end - outcome.copies[0].end).seconds();
    100.0 * (1.0 - steady(off) / steady(other))
}

fn document() -> String {
    std::fs::read_to_string("docs/workloads.md").unwrap_or_default()
}

/// The first rows of a table; all in the campaigns.
fn first<T>(rows: &[T], usual: usize) -> impl Iterator<Item = &T> {
    rows.iter().take(if CAMPAIGN { rows.len() } else { usual })
}

fn is_in_the_document(table: &str) {
    assert!(document().contains(table), "docs/workloads.md lacks this table:\n{table}");
}

#[test]
fn with_right_guesses_the_cipher_is_not_on_the_path() {
    let swaps = swaps(Femtos(1_000_000_000));
    let times = |rate| {
        let outcome = with(&swaps, "pipellm", &["cipher.ahead.hit_permille=1000", rate]);
        outcome.copies.iter().map(system::CopyOutcome::time).collect::<Vec<_>>()
    };
    let (fast, slow) = (times("cipher.seal_rate=1.6 B/cycle"), times("cipher.seal_rate=0.8 B/cycle"));
    assert!(fast[0] < slow[0]);
    // But for the phases at which clocks meet.
    for (fast, slow) in fast.iter().zip(&slow).skip(1) {
        assert!((fast.seconds() / slow.seconds() - 1.0).abs() < 1e-4, "{fast} {slow}");
    }
    // A core that copies ciphertext, as for data that the user has sealed.
    let forwarded = with(&swaps, "direct", &[]).copies[10].time().seconds();
    assert!((fast[10].seconds() / forwarded - 1.0).abs() < 0.01, "{} {forwarded}", fast[10]);
}

#[test]
fn with_wrong_guesses_alone_all_costs_more_than_without_guessing() {
    for kernel in [1_000_000, 300_000_000_000] {
        let swaps = swaps(Femtos(kernel));
        let (native, wrong) = (with(&swaps, "h100-cc", &[]), guessed(&swaps, 0));
        assert!(wrong.end > native.end, "{} {}", wrong.end, native.end);
        for (native, wrong) in native.copies.iter().zip(&wrong.copies).skip(1) {
            assert!(wrong.time() > native.time() && wrong.messages == native.messages + 1);
        }
    }
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
    is_in_the_document(
        &first(&["vllm-kv-swap", "layerwise-kv", "flexgen-weights"], 1).map(|name| row(name)).collect::<String>(),
    );
}

#[test]
fn the_table_of_lost_throughput_is_what_the_model_gives() {
    let plain = with(&swaps(Femtos(1_000_000)), "off", &[]);
    let plain = Femtos((plain.end - plain.copies[0].end).0 / (SWAPS - 1));
    let mut table = String::new();
    for ratio in first(&RATIOS, 2) {
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
fn the_table_of_tensors_is_what_the_model_gives() {
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
    let table: String = first(&names, 1).map(|name| row(name)).collect();
    let written = std::fs::read_to_string("docs/tables/tensors.csv").unwrap();
    assert!(written.contains(&table), "docs/tables/tensors.csv lacks this table:\n{table}");
}
