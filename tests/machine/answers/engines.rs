//! Engines as the bottleneck: every GHASH family, multiplier, number of lanes and tag granularity.

use super::{Asked, MIB, Tally, part};
use sealsim::{
    config::{Layers, Resolved},
    system::Direction,
};

/// `M` is the multiplier. One of each family, and those of several units of each kind of unit.
const FAMILIES: [&str; 8] = [
    r#"{design="serial",multiplier=M}"#,
    r#"{design="interleaved",ways=4,multipliers=1,closing="look_ahead",multiplier=M}"#,
    r#"{design="interleaved",ways=2,multipliers=2,closing="afterwards",multiplier=M}"#,
    r#"{design="aggregated",width=2,groups=1,multiplier=M}"#,
    r#"{design="folded",powers=4,fold="1 cycle",multiplier=M}"#,
    r#"{design="segmented",units=2,segment=4,ports=4,buffer=8,unit={design="serial",multiplier=M}}"#,
    r#"{design="message_parallel",units=2,ports=4,buffer=8,unit={design="serial",multiplier=M}}"#,
    r#"{design="sub_chains",chains=2,chunk="256 B",ports=4,buffer=8,unit={design="serial",multiplier=M}}"#,
];
const MULTIPLIERS: [&str; 4] = [
    r#"{product="1 cycle",reduction="0 cycles",digit_bits=128}"#,
    r#"{product="3 cycles",reduction="1 cycle",digit_bits=128}"#,
    r#"{product="2 cycles",reduction="6 cycles",digit_bits=128}"#,
    r#"{product="8 cycles",reduction="1 cycle",digit_bits=16}"#,
];
const LANES: [u32; 3] = [1, 2, 4];
const TAGS: [&str; 3] = ["1 KiB", "16 KiB", "1 MiB"];

/// A machine whose CPU does not touch the bytes and costs next to nothing, so that its engine at 400 MHz limits it.
fn machine(family: &str, multiplier: &str, lanes: u32, tag: &str) -> Option<Resolved> {
    let free = [
        "driver.in_flight.h2d=64",
        "driver.in_flight.d2h=64",
        "driver.secure_push=100 cycles",
        "driver.secure_completion=100 cycles",
        "driver.push=100 cycles",
        "driver.completion=100 cycles",
        "copy_engine.clock=400 MHz",
    ];
    let layers = Layers::new("h100-nvl-tdx").overlay("direct-in-place");
    let layers = free.into_iter().fold(layers, |layers, setting| layers.set(setting));
    let ghash = family.replace('M', multiplier);
    let layers = layers.set(format!("engine.ghash={ghash}")).set(format!("engine.aes.lanes={lanes}"));
    layers.set(format!("driver.pinned.message={tag}")).resolve().ok()
}

#[test]
#[ignore = "seconds of brute force: .ci/run"]
fn an_engine_that_limits_is_named_by_the_parameter_that_gains_most() {
    let mut tally = Tally::default();
    for (place, family) in FAMILIES.into_iter().enumerate() {
        for (other, multiplier) in MULTIPLIERS.into_iter().enumerate() {
            for (third, lanes) in LANES.into_iter().enumerate() {
                for (fourth, tag) in TAGS.into_iter().enumerate() {
                    // Of a fifth of them, as in campaigns, each pair of values of two axes comes up; otherwise each family.
                    let number = place * 36 + other * 9 + third * 3 + fourth;
                    if part(0, (place + other + third + fourth) % 5, number % 53) != 0 {
                        continue;
                    }
                    let machine = machine(family, multiplier, lanes, tag)
                        .unwrap_or_else(|| panic!("{family} {multiplier} {lanes} {tag} cannot be built"));
                    for direction in
                        [Direction::H2d, Direction::D2h].into_iter().cycle().skip(place).take(part(2, 2, 1))
                    {
                        let what = format!("{family} {multiplier} lanes={lanes} tag={tag} {direction:?}");
                        tally.ask(&what, &machine, Asked::pinned(direction, MIB));
                    }
                }
            }
        }
    }
    tally.holds(part(500, 50, 6));
}
