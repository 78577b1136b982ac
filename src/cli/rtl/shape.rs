//! Which engines the RTL has, and what is nearest to those that it has not.

use crate::{
    config::MachineSpec,
    gcm::{
        spec::{GcmSpec, GhashSpec, MultiplierSpec},
        structure::Structure,
    },
    units::Cycles,
};

/// The engine that a machine's copies pass through, and its parameters in the order of `rtl/flow/synthesise.py`.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    pub spec: GcmSpec,
    pub parameters: Vec<(&'static str, u64)>,
}

/// Why there is no RTL, and what to ask for instead.
#[derive(Debug)]
pub(super) struct Missing {
    pub what: String,
    pub nearest: String,
}

impl Missing {
    fn of(what: impl Into<String>, nearest: impl Into<String>) -> Self {
        Self { what: what.into(), nearest: nearest.into() }
    }

    fn set(what: impl Into<String>, path: &str, value: impl std::fmt::Display) -> Self {
        Self::of(what, format!("the nearest that it has is --set {path}={value}"))
    }
}

/// Flip-flops hold the keystream: more than so many blocks are memory, which the RTL has none of.
const MOST_KEYSTREAM: u32 = 1024;
const MOST_POWERS: u32 = 64;
/// Cycles of product or reduction.
const DEEPEST: u64 = 16;

impl Shape {
    /// The engine of a machine, if the RTL has it.
    pub fn of(machine: &MachineSpec, compact: impl Fn(&GcmSpec) -> bool) -> Result<Self, Missing> {
        let place = |what: &str| Missing::of(what, "leave that design out, or say --cc on");
        if machine.sealing_sms().is_some() {
            return Err(place("SMs seal and open there, in software: there is no engine"));
        }
        if machine.link.ide.is_some() {
            return Err(place("a link with IDE is protected TLP by TLP: the RTL has engines of copy engines"));
        }
        if !machine.sealed_path() {
            return Err(place("copies are not sealed there: there is no engine"));
        }
        let [sealing, opening] = [machine.sealing(), machine.opening()];
        let (Some(spec), Some(opening)) = (sealing.gcm(), opening.gcm()) else {
            let what = format!("{}: the RTL has AES-GCM alone", machine.format().scheme.name());
            return Err(Missing::of(what, "the nearest is the same machine without that design"));
        };
        check(spec, "engine.ghash")?;
        if opening.ghash != spec.ghash {
            check(opening, "copy_engine.open_ghash")?;
            let what = "engines that seal and engines that open have another GHASH each";
            return Err(Missing::of(
                what,
                "build them one by one, with a file whose engine.ghash is that of copy_engine.open_ghash",
            ));
        }
        Ok(Self::built(spec.clone(), compact))
    }

    fn built(spec: GcmSpec, compact: impl Fn(&GcmSpec) -> bool) -> Self {
        let rounds = spec.rounds().unwrap_or(14);
        let (width, groups) = match spec.ghash {
            GhashSpec::Aggregated { width, groups, .. } => (width, groups),
            _ => (1, 1),
        };
        let MultiplierSpec { product, reduction, structure, .. } = *spec.ghash.multiplier();
        let levels = if let Structure::Karatsuba { levels } = structure { levels } else { 0 };
        let registers = if spec.aes.rounds_in_hardware == 1 { 0 } else { spec.aes.registers_per_round };
        let parameters = vec![
            ("LANES", spec.aes.lanes.into()),
            ("ROUNDS", rounds.into()),
            ("REGISTERS", registers.into()),
            ("COMPACT", compact(&spec).into()),
            ("FIFO", spec.aes.keystream_blocks.into()),
            ("W", width.into()),
            ("G", groups.into()),
            ("COLLECT", matches!(spec.ghash, GhashSpec::Aggregated { .. }).into()),
            ("LEVELS", levels.into()),
            ("PRODUCT", product.0),
            ("REDUCTION", reduction.0),
        ];
        Self { spec, parameters }
    }

    pub fn value(&self, name: &str) -> u64 {
        self.parameters.iter().find(|(known, _)| *known == name).map_or(0, |(_, value)| *value)
    }

    /// As the synthesis calls it.
    pub fn block(&self) -> String {
        self.parameters.iter().fold("wide".to_owned(), |name, (_, value)| format!("{name}:{value}"))
    }
}

/// What of an engine the RTL does not have. `path` is where its GHASH stands.
fn check(spec: &GcmSpec, path: &str) -> Result<(), Missing> {
    let (aes, rounds) = (&spec.aes, spec.rounds().unwrap_or(14));
    if !aes.lanes.is_power_of_two() || aes.lanes > 8 {
        let nearest = aes.lanes.next_power_of_two().min(8);
        return Err(Missing::set(
            format!("{} lanes: the RTL has 1, 2, 4 or 8", aes.lanes),
            "engine.aes.lanes",
            nearest,
        ));
    }
    let all = aes.rounds_in_hardware >= rounds;
    if !all && aes.rounds_in_hardware != 1 {
        let what = format!("lanes of {} rounds, of {rounds}: the RTL has all or one", aes.rounds_in_hardware);
        return Err(Missing::set(
            what,
            "engine.aes.rounds_in_hardware",
            if 2 * aes.rounds_in_hardware < rounds { 1 } else { rounds },
        ));
    }
    if aes.registers_per_round == 0 || (!all && aes.registers_per_round > 1) || aes.registers_per_round > 8 {
        let what = format!(
            "{} registers per round: the RTL has 1 to 8, and 1 where a lane has one round",
            aes.registers_per_round
        );
        return Err(Missing::set(
            what,
            "engine.aes.registers_per_round",
            if all { aes.registers_per_round.clamp(1, 8) } else { 1 },
        ));
    }
    if aes.start_interval > Cycles(if all { 1 } else { rounds.into() }) {
        let what = "a start interval beyond what a lane's passes impose";
        return Err(Missing::set(what, "engine.aes.start_interval", "\"1 cycle\""));
    }
    if aes.keystream_blocks > MOST_KEYSTREAM {
        let what = format!(
            "{} blocks of keystream: the RTL keeps at most {MOST_KEYSTREAM}, in flip-flops",
            aes.keystream_blocks
        );
        return Err(Missing::set(what, "engine.aes.keystream_blocks", MOST_KEYSTREAM));
    }
    check_ghash(&spec.ghash, path)
}

fn check_ghash(ghash: &GhashSpec, path: &str) -> Result<(), Missing> {
    let multiplier = ghash.multiplier();
    let groups = |what: String, width: u32, groups: u32| {
        let width = width.next_power_of_two().min(8);
        let MultiplierSpec { product, reduction, .. } = multiplier;
        let cycles = format!("product=\"{product}\",reduction=\"{reduction}\",digit_bits=128");
        let groups = groups.clamp(1, MOST_POWERS / width);
        let value = format!("{{design=\"aggregated\",width={width},groups={groups},multiplier={{{cycles}}}}}");
        Err(Missing::of(what, format!("the nearest that it has is --set '{path}={value}'")))
    };
    let family = format!("{}: the RTL has serial and aggregated GHASH", ghash.name());
    match *ghash {
        GhashSpec::Serial { first_block: Some(Cycles(1..)), .. } => {
            return Err(Missing::set(
                "a first block that takes longer",
                &format!("{path}.first_block"),
                "\"0 cycles\"",
            ));
        }
        GhashSpec::Serial { .. } => {}
        GhashSpec::Aggregated { width, groups: count, .. }
            if width > 8 || !width.is_power_of_two() || width * count > MOST_POWERS =>
        {
            return groups(
                format!(
                    "groups of {width} blocks, {count} in flight: the RTL has 1, 2, 4 or 8, with up to {MOST_POWERS} powers of H"
                ),
                width,
                count,
            );
        }
        GhashSpec::Aggregated { .. } => {}
        GhashSpec::Interleaved { ways, multipliers, .. } => {
            return groups(family, multipliers, ways.div_ceil(multipliers));
        }
        GhashSpec::Folded { powers, .. } => return groups(family, 1, powers),
        GhashSpec::Segmented { units, .. } | GhashSpec::MessageParallel { units, .. } => {
            return groups(family, units, 4);
        }
        GhashSpec::SubChains { chains, .. } => return groups(family, chains, 4),
    }
    if multiplier.digit_bits < 128 {
        let what = format!("digits of {} bits: the engine's products are bit-parallel", multiplier.digit_bits);
        return Err(Missing::set(what, &format!("{path}.multiplier.digit_bits"), 128));
    }
    for (name, cycles) in [("product", multiplier.product), ("reduction", multiplier.reduction)] {
        if cycles.0 > DEEPEST {
            let what = format!("a {name} of {cycles}: the RTL has up to {DEEPEST}");
            return Err(Missing::set(what, &format!("{path}.multiplier.{name}"), format!("\"{DEEPEST} cycles\"")));
        }
    }
    Ok(())
}
