//! Rules of costs against rows of `rtl/results.toml`: flip-flops of all, area and delay of those that no rule reads; and designs against their clock.

use sealsim::{
    config::{Layers, Role, Shipped},
    cost::{
        Library,
        clock::{Stage, Verdict},
        control::whole,
        library::{Block, Wide},
        parts::{Cut, PLAIN, Part, ghash, lane, multiplier, tag_queue},
        wide as several,
    },
    gcm::{
        spec::{AesSpec, ClockCheck, GcmSpec, GhashSpec, MultiplierSpec},
        structure::Structure,
    },
    units::Cycles,
};

fn libraries() -> [&'static Library; 2] {
    ["asap7", "osu018"].map(|name| Library::named(name).unwrap())
}

fn product(levels: u32, (product, reduction): Cut, digit_bits: u32) -> MultiplierSpec {
    let structure = if levels == 0 { Structure::Schoolbook } else { Structure::Karatsuba { levels } };
    MultiplierSpec { product: Cycles(product), reduction: Cycles(reduction), digit_bits, structure }
}

fn serial(levels: u32, cut: Cut) -> GhashSpec {
    GhashSpec::Serial { multiplier: product(levels, cut, 128), first_block: None }
}

fn rounds_of(rounds_in_hardware: u32, registers_per_round: u32) -> AesSpec {
    AesSpec { rounds_in_hardware, registers_per_round, ..GcmSpec::four_lanes().aes }
}

/// What the rules say of a block, and the flip-flops that its RTL has beyond the part's, or the part beyond the RTL's.
fn said(block: Block, library: &Library) -> (Part, f64) {
    match block {
        Block::Serial { levels, product, reduction } => (ghash(&serial(levels, (product, reduction)), library), 0.0),
        Block::Aggregated { w: width, g: groups, levels, product: cycles, reduction } => {
            let multiplier = product(levels, (cycles, reduction), 128);
            (ghash(&GhashSpec::Aggregated { width, groups, multiplier }, library), 0.0)
        }
        Block::Digit { d } => (multiplier(&product(0, (128_u64.div_ceil(d.into()), 0), d), library), 0.0),
        // Round keys are given to the RTL, and with registers the counter too.
        Block::Lane { rounds, registers, compact } => {
            let given = 128 * (1 + rounds + u32::from(registers > 0));
            (lane(&rounds_of(rounds, registers), rounds, PLAIN, compact == 1, library), -f64::from(given))
        }
        // A state, ready and done, and a count of 32 bits; no round keys.
        Block::Iterative { rounds, compact } => {
            let given = f64::from(128 * (3 + rounds));
            (lane(&rounds_of(1, 1), rounds, PLAIN, compact == 1, library), 162.0 - given)
        }
        Block::TagQueue { depth, skid } => (tag_queue(depth, skid > 0, library), 0.0),
        Block::Engine { rounds, registers, compact, fifo, levels, product, reduction } => {
            let spec = engine(1, rounds, registers, fifo, serial(levels, (product, reduction)));
            (whole(&spec, rounds, compact == 1, library), 0.0)
        }
        Block::Wide(wide) => {
            let (cut, Wide { rounds, .. }) = ((wide.product, wide.reduction), wide);
            let multiplier = product(wide.levels, cut, 128);
            let aggregated = GhashSpec::Aggregated { width: wide.w, groups: wide.g, multiplier };
            let ghash = if wide.collect == 1 { aggregated } else { serial(wide.levels, cut) };
            let spec = engine(wide.lanes, rounds, wide.registers, wide.fifo, ghash);
            (several::whole(&spec, rounds, wide.compact == 1, library), 0.0)
        }
    }
}

/// An engine of lanes of all rounds, or without registers of one.
fn engine(lanes: u32, rounds: u32, registers: u32, keystream_blocks: u32, ghash: GhashSpec) -> GcmSpec {
    let aes = rounds_of(if registers == 0 { 1 } else { rounds }, registers.max(1));
    GcmSpec { aes: AesSpec { lanes, keystream_blocks, ..aes }, ghash, ..GcmSpec::four_lanes() }
}

/// Synthesis may drop a register that nothing needs; none is forgotten.
#[test]
fn flip_flops_are_those_of_every_row() {
    for (library, row) in libraries().into_iter().flat_map(|library| library.rows.iter().map(move |row| (library, row)))
    {
        let (part, beyond) = said(row.block, library);
        // Of an engine of several lanes a few bits that are always equal or constant are merged.
        let merged = if matches!(row.block, Block::Wide(_)) { 8.0 } else { 0.0 };
        let off = part.flip_flops + beyond - f64::from(row.flip_flops);
        assert!(off.abs() <= merged, "{}: {}: {off:+}", library.title, row.block);
    }
}

#[test]
fn rows_that_no_rule_reads_are_within_a_tenth_in_area_and_15_percent_in_delay() {
    let (mut held, mut beyond) = (0, Vec::new());
    for (library, row) in libraries().into_iter().flat_map(|library| library.rows.iter().map(move |row| (library, row)))
    {
        let (part, _) = said(row.block, library);
        if part.rows.contains(&row.block) || matches!(row.block, Block::Engine { .. } | Block::Wide(_)) {
            continue;
        }
        held += 1;
        let kge = part.logic_kge + library.flip_flops(f64::from(row.flip_flops));
        let off = [kge / row.kge, part.delay.ps / row.delay.ps, part.delay.ps_wired / row.delay.ps_wired]
            .map(|ratio| ratio - 1.0);
        println!("{} {}: {:+.3} {:+.3} {:+.3}", &library.title[..4], row.block, off[0], off[1], off[2]);
        // A cut that is slower than one with fewer registers is not taken.
        let slower = matches!(row.block, Block::Serial { .. }) && off[1] < 0.0 && off[2] < 0.0;
        let off = if slower { [off[0], 0.0, 0.0] } else { off };
        if off[0].abs() > 0.1 || off[1].abs() > 0.15 || off[2].abs() > 0.15 {
            beyond.push(format!("{} {}", &library.title[..4], row.block));
        }
    }
    assert!(held >= 20, "{held}");
    // Two messages are fewer than any row that is read has: with wires a quarter too slow.
    assert_eq!(beyond, ["ASAP tag-queue depth=2 skid=0"]);
}

/// Shapes that were chosen before any of them was synthesised, with a model that was not changed after: the sets `held-engines-new` and `held-engines-levels`.
const HELD_OUT: [[u64; 7]; 7] = [
    [10, 1, 1, 8, 2, 2, 1],
    [14, 1, 0, 12, 0, 2, 1],
    [12, 0, 1, 6, 2, 3, 1],
    [14, 2, 0, 48, 2, 2, 0],
    [10, 2, 1, 20, 4, 2, 1],
    [12, 1, 1, 16, 1, 1, 1],
    [10, 1, 0, 40, 3, 2, 1],
];

fn is_held_out(block: Block) -> bool {
    let Block::Engine { rounds, registers, compact, fifo, levels, product, reduction } = block else { return false };
    let [rounds, registers, compact, fifo, levels] = [rounds, registers, compact, fifo, levels].map(u64::from);
    HELD_OUT.contains(&[rounds, registers, compact, fifo, levels, product, reduction])
}

/// Whole engines. Those that are not held out are informed: the delay of control was fitted to one, what it lies in front of was chosen with nine in view, and the
/// select in front of AES's first round was taken out of the RTL because of seven. Round keys are given to both sides.
#[test]
fn whole_engines_are_within_a_tenth_in_area_and_15_percent_in_delay_but_for_two_with_wires() {
    let (mut held_out, mut informed, mut slow, mut swapped) = (0, 0, Vec::new(), Vec::new());
    for library in libraries() {
        let (title, mut areas) = (&library.title[..4], Vec::new());
        for row in library.rows.iter().filter(|row| matches!(row.block, Block::Engine { .. })) {
            let (part, _) = said(row.block, library);
            let kge = part.kge(library);
            let off = [kge / row.kge, part.delay.ps / row.delay.ps, part.delay.ps_wired / row.delay.ps_wired]
                .map(|ratio| ratio - 1.0);
            let class = if is_held_out(row.block) { "held out" } else { "informed" };
            println!("{title} {}, {class}: {:+.3} {:+.3} {:+.3}", row.block, off[0], off[1], off[2]);
            *(if is_held_out(row.block) { &mut held_out } else { &mut informed }) += 1;
            assert!(off[0].abs() <= 0.1 && off[1].abs() <= 0.15, "{}: {off:?}", row.block);
            if off[2].abs() > 0.15 {
                slow.push(format!("{title} {}", row.block));
            }
            areas.push((row.block, kge, row.kge));
        }
        for (place, one) in areas.iter().enumerate() {
            let others = areas[..place].iter().filter(|other| (one.1 < other.1) != (one.2 < other.2));
            swapped.extend(others.map(|other| format!("{title} {}, {}", other.0, one.0)));
        }
    }
    assert_eq!((held_out, informed), (11, 16));
    // The first has control in front of its product, the second is held out: 17.1 and 15.4 % short.
    let known = [
        "ASAP engine rounds=10 registers=2 compact=0 fifo=32 levels=2 product=1 reduction=1",
        "OSU0 engine rounds=14 registers=1 compact=0 fifo=12 levels=0 product=2 reduction=1",
    ];
    assert_eq!(slow, known);
    // By area the model ranks them as synthesis does, but for one pair of 175, which synthesis has 1.5 % apart.
    assert_eq!(
        swapped,
        ["OSU0 engine rounds=10 registers=2 compact=0 fifo=32 levels=2 product=1 reduction=1, \
          engine rounds=14 registers=2 compact=1 fifo=32 levels=0 product=2 reduction=1"]
    );
}

/// Engines of several lanes and messages that were drawn before any of them was synthesised, with a model that was not changed after: the set `held-wide-drawn`.
/// Lanes, rounds, registers, compact, fifo, w, g, collect, levels, product, reduction.
const DRAWN: [[u64; 11]; 12] = [
    [2, 10, 0, 1, 12, 1, 1, 0, 2, 2, 1],
    [2, 12, 0, 0, 36, 1, 1, 0, 2, 2, 1],
    [4, 12, 0, 1, 11, 1, 1, 0, 0, 2, 1],
    [4, 10, 0, 0, 26, 1, 1, 0, 2, 3, 1],
    [2, 12, 0, 1, 29, 1, 1, 0, 0, 1, 2],
    [4, 12, 0, 0, 29, 1, 1, 0, 0, 2, 1],
    [1, 14, 0, 1, 5, 2, 3, 1, 0, 2, 2],
    [1, 14, 0, 0, 38, 2, 2, 1, 0, 3, 2],
    [2, 10, 2, 1, 11, 1, 1, 0, 2, 3, 1],
    [1, 10, 2, 1, 35, 2, 4, 1, 2, 1, 1],
    [4, 14, 0, 1, 48, 4, 1, 1, 2, 1, 2],
    [2, 14, 1, 1, 26, 1, 3, 1, 2, 1, 1],
];

fn is_drawn(wide: Wide) -> bool {
    let Wide { lanes, rounds, registers, compact, fifo, w, g, collect, levels, product, reduction } = wide;
    let small = [lanes, rounds, registers, compact, fifo, w, g, collect, levels].map(u64::from);
    DRAWN.iter().any(|drawn| drawn[..9] == small && drawn[9..] == [product, reduction])
}

/// Those that are not drawn are informed: the RTL's control was made short because of them.
#[test]
fn engines_of_several_lanes_lie_where_the_readme_of_rtl_says() {
    let library = Library::named("osu018").unwrap();
    let (mut counts, mut beyond) = ([0; 2], [[0; 3]; 2]);
    for row in &library.rows {
        let Block::Wide(wide) = row.block else { continue };
        let ((part, _), drawn) = (said(row.block, library), usize::from(is_drawn(wide)));
        let off = [part.kge(library) / row.kge, part.delay.ps / row.delay.ps, part.delay.ps_wired / row.delay.ps_wired]
            .map(|ratio| 100.0 * (ratio - 1.0));
        println!(
            "| {} | {drawn} | {:.0} | {:+.1} | {:.0} | {:+.1} | {:+.1} |",
            row.block, row.kge, off[0], row.delay.ps, off[1], off[2]
        );
        counts[drawn] += 1;
        for (count, within) in beyond[drawn].iter_mut().zip(off.iter().zip([10.0, 15.0, 15.0])) {
            *count += u32::from(within.0.abs() > within.1);
        }
    }
    // Informed, drawn: how many of them were synthesised, and misses of area (one of 10.03 %), of delay, and of delay with wires: where a product
    // takes one cycle the model is too slow.
    assert_eq!((counts, beyond), ([0, 12], [[0; 3], [1, 3, 3]]));
}

/// The authenticator of a design as it was synthesised: a unit's row, and how many there are. Buffers, weights and the select among units have no RTL.
fn synthesised(ghash: &GhashSpec) -> Option<(Block, u32)> {
    let spec = ghash.multiplier();
    let (product, reduction) = (spec.product.0, spec.reduction.0);
    match ghash {
        GhashSpec::Serial { .. } => Some((Block::Serial { levels: 0, product, reduction }, 1)),
        GhashSpec::Aggregated { width, groups, .. } => {
            Some((Block::Aggregated { w: *width, g: *groups, levels: 0, product, reduction }, 1))
        }
        GhashSpec::Segmented { units: count, unit, .. }
        | GhashSpec::MessageParallel { units: count, unit, .. }
        | GhashSpec::SubChains { chains: count, unit, .. } => {
            synthesised(unit).map(|(block, one)| (block, one * count))
        }
        GhashSpec::Interleaved { .. } | GhashSpec::Folded { .. } => None,
    }
}

/// Designs with an authenticator of their own differ in it alone; areas, and with wires delays, stand in the order of their synthesis. Not synthesised are
/// interleaved units, eight aggregated lanes, and engines of four AES lanes as a whole.
#[test]
fn shipped_designs_rank_as_the_synthesis_of_their_authenticators_does() {
    let library = Library::named("asap7").unwrap();
    let (mut ranked, mut missing) = (Vec::new(), Vec::new());
    for name in Shipped::names(Role::Design) {
        let Ok(resolved) = machine(&[name]).resolve() else { continue };
        let spec = resolved.machine.engine.ghash;
        if name != "h100-cc" && spec == machine(&[]).resolve().unwrap().machine.engine.ghash {
            continue;
        }
        match synthesised(&spec).and_then(|(block, count)| Some((library.row(block)?, f64::from(count)))) {
            Some((row, count)) => {
                let part = ghash(&spec, library);
                println!(
                    "{name}: {:.1} {:.1} kGE, {:?} {:?}",
                    count * part.kge(library),
                    count * row.kge,
                    part.delay,
                    row.delay
                );
                ranked.push((
                    name,
                    [count * part.kge(library), part.delay.ps_wired],
                    [count * row.kge, row.delay.ps_wired],
                ));
            }
            None => missing.push(name),
        }
    }
    for (one, other) in ranked.iter().flat_map(|one| ranked.iter().map(move |other| (one, other))) {
        for figure in 0..2 {
            let ordered = one.1[figure] < 0.99 * other.1[figure];
            assert!(!ordered || one.2[figure] < other.2[figure], "{one:?} {other:?}");
        }
    }
    let names: Vec<_> = ranked.iter().map(|one| one.0).collect();
    let all = ["fastrack", "h100-cc", "message-parallel", "parallel-auth", "segmented-ghash", "serial-ghash"];
    assert_eq!((names, missing), (all.to_vec(), vec!["interleaved-ghash", "parallel-auth-same-tag"]));
}

#[test]
fn every_library_has_the_rows_that_are_read() {
    let cuts = [(0, 1), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (3, 1), (6, 2)];
    for library in libraries() {
        let mut rows = Vec::new();
        for (levels, cut) in (0..6).flat_map(|levels| cuts.map(|cut| (levels, cut))) {
            let multiplier = product(levels, cut, 128);
            rows.extend(ghash(&serial(levels, cut), library).rows);
            rows.extend(ghash(&GhashSpec::Aggregated { width: 3, groups: 2, multiplier }, library).rows);
        }
        for (hardware, registers) in (1..15).flat_map(|hardware| (0..4).map(move |registers| (hardware, registers))) {
            rows.extend(
                [false, true]
                    .into_iter()
                    .flat_map(|compact| lane(&rounds_of(hardware, registers), 14, PLAIN, compact, library).rows),
            );
        }
        rows.extend((1..128).flat_map(|bits| multiplier(&product(0, (128, 0), bits), library).rows));
        rows.extend((1..64).flat_map(|depth| tag_queue(depth, true, library).rows));
        let missing: Vec<&Block> = rows.iter().filter(|row| library.row(**row).is_none()).collect();
        assert!(missing.is_empty(), "{}: {missing:?}", library.title);
    }
}

/// A register more costs flip-flops, and never makes the delay longer.
#[test]
fn a_deeper_pipeline_of_the_same_unit_is_larger_and_not_slower() {
    let deeper = |one: &Part, more: &Part, what: String| {
        assert!(more.flip_flops > one.flip_flops, "{what}");
        assert!(more.delay.ps <= one.delay.ps && more.delay.ps_wired <= one.delay.ps_wired, "{what}");
    };
    for library in libraries() {
        let units = |levels, cut| {
            let multiplier = product(levels, cut, 128);
            let several = GhashSpec::Aggregated { width: 4, groups: 4, multiplier: multiplier.clone() };
            let folded = GhashSpec::Folded { powers: 8, fold: Cycles(2), multiplier };
            [serial(levels, cut), several, folded].map(|spec| ghash(&spec, library))
        };
        for (levels, first, second) in (0..5).flat_map(|l| (1..6).flat_map(move |p| (0..4).map(move |r| (l, p, r)))) {
            let shallow = units(levels, (first, second));
            for cut in [(first + 1, second), (first, second + 1)] {
                for (one, more) in shallow.iter().zip(&units(levels, cut)) {
                    deeper(one, more, format!("{levels} levels, {first} + {second}, {cut:?}"));
                }
            }
        }
        for (registers, compact) in (0..4).flat_map(|registers| [(registers, false), (registers, true)]) {
            let [one, more] =
                [registers, registers + 1].map(|count| lane(&rounds_of(14, count), 14, PLAIN, compact, library));
            deeper(&one, &more, format!("{registers} registers per round"));
        }
    }
}

fn machine(designs: &[&str]) -> Layers {
    designs.iter().fold(Layers::new("h100-nvl-tdx"), |layers, design| layers.overlay(*design))
}

#[test]
fn no_shipped_design_fails_to_close_on_any_shipped_machine_and_none_asks_for_less_than_the_check() {
    let designs: Vec<_> = Shipped::names(Role::Design).collect();
    let mut closing = 0;
    for on in Shipped::names(Role::Machine) {
        for design in designs.iter().copied().map(Some).chain([None]) {
            let layers = design.into_iter().fold(Layers::new(on), Layers::overlay);
            match layers.resolve() {
                Ok(resolved) => {
                    assert_eq!(resolved.machine.engine.check, ClockCheck::Error, "{on}, {design:?}");
                    closing += u32::from(resolved.machine.timing().is_some());
                }
                // A design may not fit a machine, for another reason.
                Err(error) => assert_eq!(error.does_not_close(), None, "{on}, {design:?}"),
            }
        }
    }
    assert!(closing > 200, "{closing}");
}

#[test]
fn a_serial_unit_in_one_cycle_is_refused_with_the_cycles_that_hold_and_simulated_where_it_is_asked_for() {
    let one = |set: &[&str]| {
        let layers = machine(&["serial-ghash"]).set("engine.ghash.multiplier.product=1 cycle");
        let layers = layers.set("engine.ghash.multiplier.reduction=0 cycles");
        set.iter().fold(layers, |layers, set| layers.set(*set)).resolve()
    };
    let error = one(&[]).unwrap_err();
    let text = error.does_not_close().unwrap();
    assert_eq!(one(&["engine.check=error"]).unwrap_err().does_not_close().as_ref(), Some(&text));
    for part in ["does not close at 1.755 GHz (needs 619 ps, has 570)", "product = 1 and reduction = 1 is marginal"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let machine = one(&["engine.check=warn"]).unwrap().machine;
    assert_eq!(machine.timing().unwrap().verdict(), Verdict::DoesNotClose);
    assert!(machine.does_not_close().unwrap().starts_with("does not close at 1.755 GHz (needs 619 ps, has 570)"));
}

#[test]
fn no_stage_names_a_row_twice() {
    for name in Shipped::names(Role::Design) {
        let Some(timing) = machine(&[name]).resolve().ok().and_then(|resolved| resolved.machine.timing()) else {
            continue;
        };
        for Stage { name: stage, rows, .. } in timing.stages {
            assert!((1..rows.len()).all(|place| !rows[..place].contains(&rows[place])), "{name}, {stage}: {rows:?}");
        }
    }
}

#[test]
fn what_is_not_in_a_copy_engine_has_no_stage() {
    for design in ["off", "sm", "ide", "chacha20-poly1305"] {
        assert_eq!(machine(&[design]).resolve().unwrap().machine.timing(), None, "{design}");
    }
    let stages = |design| machine(&[design]).resolve().unwrap().machine.timing().unwrap().stages.len();
    assert_eq!([stages("h100-cc"), stages("verify-bound"), stages("aegis-256")], [3, 4, 2]);
}
