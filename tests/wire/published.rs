//! Areas of published engines against the cost of the engine that describes each: `validation/published_engines.csv`.

use sealsim::{
    aead::{spec::EngineSpec, standalone::run},
    config::Layers,
    cost::{EngineCost, Sboxes, built},
    gcm::{bench::Bench, message::SealOpen},
};
use std::collections::HashMap;

fn engine<'a>(config: &str, settings: impl IntoIterator<Item = &'a str>) -> EngineSpec {
    let set = |layers: Layers, setting| layers.set(format!("engine.{setting}"));
    settings.into_iter().fold(Layers::new(config), set).resolve_standalone().unwrap()
}

fn cost(engine: &EngineSpec, sboxes: Sboxes) -> EngineCost {
    built(&engine.model().hardware(), sboxes).unwrap()
}

#[test]
fn published_engines_are_priced_within_30_percent_at_their_rates() {
    let (mut off, mut rows) = (Vec::new(), csv::Reader::from_path("validation/published_engines.csv").unwrap());
    for (place, row) in rows.deserialize::<HashMap<String, String>>().map(Result::unwrap).enumerate() {
        let number = |column: &str| row[column].parse::<f64>().unwrap();
        let engine = engine(&row["config"], row["settings"].split("; "));
        let bench =
            Bench { aad_blocks: 0, blocks: 256, direction: SealOpen::Seal, messages: 1, seed: 1, trace_blocks: 0 };
        let cycles = run(&engine, &bench).unwrap().messages[0].metrics.cycles_per_block.unwrap();
        assert!((cycles / number("cycles_per_block") - 1.0).abs() < 0.01, "{}: {cycles}", row["engine"]);
        let cost = cost(&engine, if row["sboxes"] == "table" { Sboxes::Table } else { Sboxes::Compact });
        let kge = if row["of"] == "aes_kge" { cost.aes_kge } else { cost.area_kge }.middle();
        let ratio = kge / kge.clamp(number("kge_low"), number("kge_high"));
        println!("{}, {}: {kge:.1} kGE, {ratio:.2}", row["engine"], row["class"]);
        assert_eq!(row["class"] == "held out", place % 2 == 1, "{}", row["engine"]);
        off.push((ratio * 100.0).round() as u32);
        assert!((1.0 / 1.3..=1.3).contains(&ratio), "{}: {ratio}", row["engine"]);
    }
    assert_eq!(off, [81, 103, 124, 85]);
}

/// Each register that `[engine.control]` takes away or adds costs its flip-flops at least, and nothing else changes.
#[test]
fn control_costs_the_registers_that_an_engine_has() {
    let kge = |settings: &[&str]| cost(&engine("serial-aes128", settings.iter().copied()), Sboxes::Compact);
    let base = kge(&[]);
    let register = 128.0 * 5.0 / 1000.0;
    let known = [("control.leave_with_hash=true", -register), ("control.output_registers=2 cycles", 4.0 * register)];
    for (setting, least) in known {
        let changed = kge(&[setting]);
        let more = changed.control_kge.middle() - base.control_kge.middle();
        assert!((0.999..=1.7).contains(&(more / least)), "{setting}: {more} for {least}");
        assert_eq!((changed.aes_kge, changed.ghash_kge), (base.aes_kge, base.ghash_kge));
    }
    // An expansion as long as its round keys keeps them all, 11 for 2.
    let held = kge(&["key_setup=10 cycles"]).aes_kge.middle() - kge(&["key_setup=9 cycles"]).aes_kge.middle();
    assert!(held > 9.0 * register, "{held}");
}

#[test]
fn a_narrower_data_path_takes_less_area() {
    let kge = |bits: u32, cycles: u32| {
        let path = [format!("aes.registers_per_round={cycles}"), format!("control.datapath_bits={bits}")];
        cost(&engine("serial-aes128", path.iter().map(String::as_str)), Sboxes::Compact).aes_kge.middle()
    };
    // Four cycles more let the schedule use the round's S-box.
    let kge = [(64, 2), (32, 4), (8, 16), (8, 20)].map(|(bits, cycles)| kge(bits, cycles));
    let whole = cost(&engine("serial-aes128", []), Sboxes::Compact).aes_kge.middle();
    assert!(
        whole > kge[0] && kge.is_sorted_by(|wide, narrow| wide > narrow) && kge[3] < whole / 1.8,
        "{whole} {kge:?}"
    );
    let refused = Layers::new("serial-aes128").set("engine.control.datapath_bits=32").resolve_standalone();
    assert!(format!("{:?}", refused.unwrap_err()).contains("registers_per_round"));
}
