//! One resource at a time is throttled until it must bind: then it is named, or what gains at least as much.

use super::{Asked, KIB, MIB, part};
use Direction::{D2d, D2h, H2d};
use sealsim::{
    config::{Layers, Resolved},
    explore::what_if::{self, LEAST_GAIN},
    system::{Direction, Memory},
};

/// A resource, and the copy that needs it.
struct Resource {
    path: &'static str,
    /// Designs over the machine, and settings over these.
    designs: &'static [&'static str],
    set: &'static [&'static str],
    direction: Direction,
    bytes: u64,
    memory: Memory,
}

const fn resource(path: &'static str, direction: Direction, bytes: u64) -> Resource {
    Resource { path, designs: &[], set: &[], direction, bytes, memory: Memory::Pinned }
}

impl Resource {
    const fn off(self) -> Self {
        Self { designs: &["off"], ..self }
    }

    const fn designs(self, designs: &'static [&'static str]) -> Self {
        Self { designs, ..self }
    }

    const fn set(self, set: &'static [&'static str]) -> Self {
        Self { set, ..self }
    }

    const fn pageable(self) -> Self {
        Self { memory: Memory::Pageable, ..self }
    }

    const fn asked(&self) -> Asked {
        Asked { direction: self.direction, bytes: self.bytes, memory: self.memory }
    }
}

/// The CPU does nothing to the bytes, and its threads do not hold the GPU up.
const GPU_ONLY: &[&str] = &["direct-in-place"];
const FREE_HOST: &[&str] = &[
    "driver.in_flight.h2d=64",
    "driver.in_flight.d2h=64",
    "driver.secure_push=100 cycles",
    "driver.secure_completion=100 cycles",
    "driver.push=100 cycles",
    "driver.completion=100 cycles",
];
const SLOW_ENGINE: &[&str] = &[
    "driver.in_flight.h2d=64",
    "driver.secure_push=100 cycles",
    "driver.push=100 cycles",
    "driver.secure_completion=100 cycles",
    "driver.completion=100 cycles",
    "copy_engine.clock=200 MHz",
];
const OFF_CALLER: &[&str] = &["cipher.on_caller=false", "cipher.threads=16", "driver.in_flight.h2d=32"];

fn resources() -> Vec<Resource> {
    vec![
        // Rates.
        resource("hbm.write_rate", H2d, 16 * MIB).off(),
        resource("hbm.read_rate", D2h, 16 * MIB).off(),
        resource("root_complex.read_interval", H2d, 16 * MIB).off(),
        resource("link.mac_clock", H2d, 16 * MIB).off(),
        resource("link.mac_clock", D2h, 16 * MIB).off(),
        resource("copy_engine.request_interval", H2d, 16 * MIB).off(),
        resource("compute.copy_rate_hbm", D2d, 256 * MIB).off(),
        resource("driver.pageable_copy_rate", H2d, 16 * MIB).off().pageable(),
        resource("driver.pageable_copy_rate", D2h, 16 * MIB).off().pageable(),
        resource("cipher.seal_rate", H2d, 16 * MIB),
        resource("cipher.open_rate", D2h, 16 * MIB),
        resource("memory.llc_rate", H2d, 16 * MIB),
        resource("engine.aes.lanes", H2d, 16 * MIB).designs(GPU_ONLY).set(SLOW_ENGINE),
        resource("engine.ghash.width", H2d, 16 * MIB).designs(GPU_ONLY).set(SLOW_ENGINE),
        resource("sm.used", H2d, 16 * MIB).designs(&["direct-in-place", "sm"]).set(FREE_HOST),
        // Costs.
        resource("driver.call", H2d, 4 * KIB),
        resource("driver.secure_push", H2d, 4 * KIB),
        resource("driver.push", D2h, 4 * KIB),
        resource("driver.secure_completion", D2h, 4 * KIB),
        resource("driver.completion", H2d, 4 * KIB).off(),
        resource("driver.launch", D2d, 4 * KIB).off(),
        resource("cipher.per_message", H2d, 16 * MIB).designs(&["tags-4k"]),
        resource("driver.small.rate", H2d, 32 * KIB).off().pageable(),
        // Depths.
        resource("copy_engine.outstanding_reads", H2d, 16 * MIB).off(),
        resource("link.read_tags", H2d, 16 * MIB).off().set(&[
            "copy_engine.outstanding_reads=400",
            "copy_engine.read_buffer=256 KiB",
            "root_complex.read_latency=2000 cycles",
            "root_complex.reads_in_service=1000",
        ]),
        resource("copy_engine.read_buffer", H2d, 16 * MIB).off(),
        resource("root_complex.reads_in_service", H2d, 16 * MIB).off(),
        resource("root_complex.writes_in_service", D2h, 16 * MIB).off(),
        resource("link.replay_tlps", D2h, 16 * MIB).off().set(&["root_complex.writes_in_service=512"]),
        resource("link.host_credits.posted_headers", D2h, 16 * MIB).off().set(&["root_complex.writes_in_service=512"]),
        resource("link.host_credits.posted_data", D2h, 16 * MIB).off().set(&["root_complex.writes_in_service=512"]),
        resource("link.host_credits.non_posted_headers", H2d, 16 * MIB).off(),
        resource("driver.in_flight.h2d", H2d, 16 * MIB).set(OFF_CALLER),
        resource("staging.buffers", H2d, 64 * MIB).set(OFF_CALLER),
        resource("cipher.threads", H2d, 16 * MIB).set(OFF_CALLER),
        resource("copy_engine.messages_in_flight", H2d, 16 * MIB)
            .designs(&["direct-in-place", "hold", "two-pces", "tags-4k"])
            .set(&["copy_engine.messages_in_flight=16", "tag_queue.depth=64"]),
        resource("copy_engine.stripes_in_flight", H2d, 16 * MIB).off(),
        resource("tag_queue.depth", H2d, 4 * MIB).designs(&["direct-in-place", "tags-4k", "overlap"]),
        resource("tag_queue.quarantine", H2d, 16 * MIB)
            .designs(&["direct-in-place", "hold", "tags-4k"])
            .set(&["copy_engine.messages_in_flight=8"]),
        // Latencies that a window divides.
        resource("root_complex.read_latency", H2d, 16 * MIB).off(),
        resource("link.flight", H2d, 16 * MIB).off(),
        resource("root_complex.write_latency", D2h, 16 * MIB).off(),
        resource("hbm.read_latency", D2h, 16 * MIB).off(),
        resource("link.ack_latency", D2h, 16 * MIB).off().set(&["root_complex.writes_in_service=512"]),
        // Latencies that nothing hides.
        resource("copy_engine.turnaround", H2d, 16 * MIB).designs(GPU_ONLY),
        resource("copy_engine.fetch", H2d, 4 * KIB).off(),
        resource("root_complex.write_latency", D2h, 4 * KIB).off(),
    ]
}

/// How many times as long the copy must take before its resource must bind.
const MUST_BIND: f64 = 3.0;

/// The machine with the resource so scarce that the copy takes [`MUST_BIND`] times as long.
fn throttled(machine: &Resolved, resource: &Resource) -> Option<Resolved> {
    let time = |machine: &Resolved| resource.asked().time(machine).unwrap();
    let before = time(machine);
    let parameter = machine.parameter(resource.path).unwrap_or_else(|| panic!("{}", resource.path));
    let amount = u64::try_from(parameter.amount.unwrap()).unwrap();
    let slower = matches!(parameter.unit, "number of cycles" | "time");
    let unit = parameter.value.trim_start_matches(|digit: char| digit.is_ascii_digit() || digit == '.').trim();
    let plain: f64 = parameter.value.trim_end_matches(unit).trim().parse().unwrap();
    for step in 2..40 {
        // By 2, 3, 4, 6, 8, 12 and so on: some counts are thirds of others.
        let factor = f64::from(1_u32 << (step / 2)) * if step % 2 == 1 { 1.5 } else { 1.0 };
        let value = if slower { plain.max(1.0) * factor } else { plain / factor };
        let whole = unit.is_empty() || unit.starts_with("cycle");
        let value = match unit {
            _ if whole => value.floor().to_string(),
            "B/cycle" => format!("{value:.3}"),
            _ => value.to_string(),
        };
        let unit = if unit == "cycle" { "cycles" } else { unit };
        let Ok(throttled) = machine.with(&[format!("{}={value} {unit}", resource.path).trim().to_owned()]) else {
            continue;
        };
        assert!(amount > 0);
        if time(&throttled) > MUST_BIND * before {
            return Some(throttled);
        }
    }
    None
}

fn machine(resource: &Resource) -> Resolved {
    let layers = resource.designs.iter().fold(Layers::new("h100-nvl-tdx"), |layers, design| layers.overlay(*design));
    resource.set.iter().fold(layers, |layers, setting| layers.set(*setting)).resolve().unwrap()
}

#[test]
#[ignore = "seconds of brute force: .ci/run"]
fn a_resource_that_is_throttled_until_it_must_bind_is_named() {
    let mut wrong = Vec::new();
    for resource in resources().into_iter().step_by(part(1, 1, 12)) {
        let machine = machine(&resource);
        let Some(throttled) = throttled(&machine, &resource) else {
            wrong.push(format!("{} never binds", resource.path));
            continue;
        };
        let found = resource.asked().measure(&throttled);
        let value = &throttled.parameter(resource.path).unwrap().value;
        let before = resource.asked().time(&throttled).unwrap();
        let own = what_if::relax(&throttled, resource.path).map_or(0.0, |one| resource.asked().gain(before, &one.0));
        match found.best.first() {
            // Whatever else gains as much is as right.
            Some(best) if best.parameter == resource.path || best.gain_percent >= own.max(LEAST_GAIN) - 1e-6 => {
                println!("{} = {value}: {} {:.0} %, {best:?}", resource.path, best.parameter, best.gain_percent);
            }
            other => wrong
                .push(format!("{} = {value} {:?}: {other:?} {:?}", resource.path, resource.direction, found.together)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
