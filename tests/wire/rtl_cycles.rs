//! Engines configured like four public AES-GCM cores, A to D, show the cycles that these cores showed in simulation: every metric of every
//! row. The figures of those engines were chosen to that end; what the engine does for cores that it was never shown stands in
//! docs/engine.md.

use sealsim::aead::standalone::run;
use sealsim::config::Layers;
use sealsim::gcm::bench::{Bench, Metrics};
use sealsim::gcm::message::SealOpen;
use std::collections::HashMap;

type Row = HashMap<String, String>;

fn rows(file: &str) -> Vec<Row> {
    let path = format!("{}/tests/vectors/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let names: Vec<String> = lines.next().unwrap().split(',').map(str::to_owned).collect();
    let row = |line: &str| names.iter().cloned().zip(line.split(',').map(str::to_owned)).collect::<Row>();
    lines.map(row).collect()
}

fn number(row: &Row, name: &str) -> Option<u64> {
    let text = &row[name];
    (!text.is_empty()).then(|| text.parse().unwrap())
}

fn alone(engine: &str, key_bits: u64, aad_blocks: u64, blocks: u64, direction: SealOpen) -> Metrics {
    let spec = Layers::new(engine).set(format!("engine.key_bits={key_bits}")).resolve_standalone().unwrap();
    let bench = Bench { aad_blocks, blocks, direction, messages: 1, seed: 7, trace_blocks: 0 };
    run(&spec, &bench).unwrap().messages[0].metrics
}

/// Holds every metric of every row against the engine that `engine` names for the row.
fn every_row(file: &str, count: usize, engine: impl Fn(&Row) -> String) {
    let rows = rows(file);
    assert_eq!(rows.len(), count);
    let mut wrong = Vec::new();
    for row in &rows {
        let of = |name| number(row, name).unwrap();
        let metrics = alone(&engine(row), of("key_bits"), of("aad_blocks"), of("text_blocks"), SealOpen::Seal);
        let metrics = serde_json::to_value(metrics).unwrap();
        for name in row.keys().filter(|name| name.ends_with("_cycles")) {
            if metrics[name].as_u64() != number(row, name) {
                wrong.push(format!("{} {name}: {} for {row:?}", engine(row), metrics[name]));
            }
        }
    }
    assert!(wrong.is_empty(), "{} metrics differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn unrolled_engines_show_the_cycles_of_core_a() {
    every_row("rtl-cycles-unrolled.csv", 54, |row| {
        let extra = number(row, "extra_registers_per_round").unwrap();
        let suffix = if extra == 0 { String::new() } else { format!("-r{extra}") };
        format!("unrolled-{}{suffix}", row["rounds_in_hardware"])
    });
}

#[test]
fn iterative_engines_show_the_cycles_of_core_b() {
    every_row("rtl-cycles-iterative.csv", 30, |row| format!("iterative-{}", row["variant"]));
}

#[test]
fn folded_engines_show_the_cycles_of_core_c() {
    every_row("rtl-cycles-folded.csv", 88, |row| format!("folded-{}", row["powers"]));
}

/// Further runs of core A, of which the total was noted: engine, key bits, text blocks after one AAD block, cycles to the tag.
const TOTALS: [(&str, u64, u64, i64); 11] = [
    ("unrolled-all", 256, 256, 281),
    ("unrolled-all", 256, 1024, 1049),
    ("unrolled-all-r1", 256, 256, 295),
    ("unrolled-all-r3", 256, 256, 323),
    ("unrolled-half", 256, 256, 533),
    ("unrolled-half-r3", 256, 64, 187),
    ("unrolled-2", 256, 256, 1817),
    ("unrolled-1", 256, 256, 3621),
    ("unrolled-1-r3", 256, 64, 963),
    ("unrolled-all", 128, 256, 277),
    ("unrolled-1", 128, 256, 2589),
];

#[test]
fn unrolled_engines_reach_the_tag_when_core_a_did_in_longer_runs() {
    for (engine, key_bits, blocks, total) in TOTALS {
        let metrics = alone(engine, key_bits, 1, blocks, SealOpen::Seal);
        assert_eq!(metrics.total_cycles, Some(total), "{engine}, AES-{key_bits}, {blocks} blocks");
    }
}

#[test]
fn the_serial_engine_shows_the_cycles_of_core_d() {
    let with = |aad_blocks| alone("serial-aes128", 128, aad_blocks, 64, SealOpen::Seal);
    let (none, four) = (with(0), with(4));
    assert_eq!(four.setup_cycles, Some(26));
    assert_eq!(four.first_output_cycles.unwrap() - none.first_output_cycles.unwrap(), 36);
    assert_eq!(four.cycles_per_block, Some(22.0));
    assert_eq!(four.tail_cycles, Some(17));
}

#[test]
fn every_shipped_engine_opens_what_it_seals_at_any_shape_and_key_size() {
    use sealsim::config::{Role, Shipped};
    for engine in Shipped::names(Role::Engine) {
        for key_bits in [128, 192, 256] {
            for (aad_blocks, blocks) in [(0, 0), (1, 0), (40, 0), (0, 1), (40, 1), (3, 2), (17, 33), (0, 70)] {
                for direction in [SealOpen::Seal, SealOpen::Open] {
                    alone(engine, key_bits, aad_blocks, blocks, direction);
                }
            }
        }
    }
}

/// Of dngtuankiet/aes-gcm_128-256: round keys are expanded before every block, as long as the key is; GHASH takes a bit per cycle, and rests longer after AAD.
const BIT_SERIAL: &str = r#"
name = "bit-serial"
[engine]
key_bits = 128
key_setup = "0 cycles"
compare = "0 cycles"
[engine.aes]
lanes = 1
rounds_in_hardware = 1
registers_per_round = 5
start_interval = "1 cycle"
keystream_blocks = 1
[engine.ghash]
design = "serial"
multiplier = { product = "128 cycles", reduction = "1 cycle", digit_bits = 1 }
[engine.control]
keystream = "with_text"
mask = "last"
one_at_a_time = true
take_turns = true
leave_with_hash = true
tag_at_once = true
shared_port = true
load = "16 cycles"
load_key_word = "1 cycle"
unload = "2 cycles"
ghash_idle = "1 cycle"
aad_idle = "2 cycles"
settle = "2 cycles"
[provenance.engine]
kind = "assumed"
source = "its registers"
"#;

/// Of elahefani/AES_GCM_LowLatency, seen from its port: a block per cycle, GHASH in one, two registers behind the outputs.
const PARALLEL: &str = r#"
name = "parallel"
[engine]
key_bits = 128
key_setup = "0 cycles"
compare = "0 cycles"
[engine.aes]
lanes = 1
rounds_in_hardware = 10
registers_per_round = 1
start_interval = "1 cycle"
keystream_blocks = 900
[engine.ghash]
design = "serial"
multiplier = { product = "1 cycle", reduction = "0 cycles", digit_bits = 128 }
[engine.control]
leave_with_hash = true
tag_at_once = true
shared_port = true
start = "behind_h"
settle = "4 cycles"
output_registers = "2 cycles"
[provenance.engine]
kind = "assumed"
source = "its registers"
"#;

#[test]
fn engines_described_from_the_registers_of_two_more_cores_show_every_cycle() {
    let folder = tempfile::tempdir().unwrap();
    for (name, engine, count) in [("bit-serial", BIT_SERIAL, 68), ("parallel", PARALLEL, 36)] {
        let path = folder.path().join(name).with_extension("toml");
        std::fs::write(&path, engine).unwrap();
        let rows = rows(&format!("rtl-cycles-{name}.csv"));
        assert_eq!(rows.len(), count);
        for row in &rows {
            let of = |name| number(row, name);
            let [bits, aad, blocks] = ["key_bits", "aad_blocks", "blocks"].map(|name| of(name).unwrap());
            let shown = alone(path.to_str().unwrap(), bits, aad, blocks, SealOpen::Seal);
            let date = |name| of(name).map(|cycle| cycle as i64);
            let [input, first, last, tag] = ["first_input", "first_out", "last_out", "tag"].map(date);
            let between = |from: Option<i64>, to: Option<i64>| Some(to? - from?);
            assert_eq!(
                (shown.setup_cycles, shown.first_output_cycles, shown.output_span_cycles, shown.total_cycles),
                (input, between(input, first), between(first, last), tag),
                "{name}: {row:?}"
            );
        }
    }
}
