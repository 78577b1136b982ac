//! How many cycles per block do GHASH units of several designs take, behind the same AES lanes, and how long is their tail?
//! `cargo run -p sealsim-aead --example ghash_designs`

use sealsim_aead::gcm::{
    bench::Bench,
    message::SealOpen,
    spec::{Closing, GcmSpec, GhashSpec, MultiplierSpec},
    standalone::{StandaloneError, run},
    structure::Structure,
};
use sealsim_aead::units::Cycles;

fn main() -> Result<(), StandaloneError> {
    let (product, reduction) = (Cycles(2), Cycles(2));
    let multiplier = MultiplierSpec { product, reduction, digit_bits: 128, structure: Structure::Schoolbook };
    let one = || multiplier.clone();
    let designs = [
        ("serial", GhashSpec::Serial { multiplier: one(), first_block: None }),
        ("interleaved", {
            GhashSpec::Interleaved { ways: 4, multipliers: 1, closing: Closing::LookAhead, multiplier: one() }
        }),
        ("aggregated", GhashSpec::Aggregated { width: 4, groups: 4, multiplier: one() }),
        ("folded", GhashSpec::Folded { powers: 8, fold: Cycles(1), multiplier: one() }),
    ];
    let bench = Bench { aad_blocks: 1, blocks: 256, direction: SealOpen::Seal, messages: 2, seed: 1, trace_blocks: 0 };
    println!("{:12} {:>16} {:>12} {:>12}", "GHASH", "cycles per block", "tail, cycles", "all, cycles");
    for (name, ghash) in designs {
        // Each output and tag is compared with AES-GCM from software; a wrong bit is an error.
        let outcome = run(&GcmSpec { ghash, ..GcmSpec::four_lanes() }, &bench)?;
        // The first message waits for the powers of H as well.
        let metrics = outcome.messages[1].metrics;
        let shown = |cycles: Option<i64>| cycles.map_or("-".into(), |cycles| cycles.to_string());
        let (tail, total) = (shown(metrics.tail_cycles), shown(metrics.total_cycles));
        println!("{name:12} {:>16.2} {tail:>12} {total:>12}", metrics.cycles_per_block.unwrap_or_default());
    }
    Ok(())
}
