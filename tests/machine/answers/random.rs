//! Random machines of three spaces: engines and tags of the way to the GPU, what serves both ways of the link, and what PCEs share.

use super::{Asked, MIB, Tally, part};
use rand::{Rng, SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;
use sealsim::{
    config::{Layers, Resolved},
    system::Direction,
};

/// A space of machines: machines, designs over them, and parameters, each of which is set in about half of the machines.
struct Space {
    name: &'static str,
    machines: &'static [&'static str],
    designs: &'static [&'static str],
    ways: &'static [Direction],
    set: &'static [(&'static str, &'static [&'static str])],
}

const MESSAGES: (&str, &[&str]) = (
    "driver.pinned",
    &[
        r#"{message="4 KiB",push="4 KiB"}"#,
        r#"{message="16 KiB",push="2 MiB"}"#,
        r#"{message="64 KiB",push="64 KiB"}"#,
        r#"{message="256 KiB",push="1 MiB"}"#,
        r#"{message="1 MiB",push="1 MiB"}"#,
        r#"{message="1 MiB",push="2 MiB"}"#,
    ],
);

const SPACES: [Space; 3] = [
    Space {
        name: "engines",
        machines: &["h100-nvl-tdx"],
        designs: &[
            "direct-in-place",
            "direct-in-place+overlap",
            "direct-in-place+more-reads",
            "direct-in-place+overlap+more-reads",
            "direct-in-place+hold",
            "direct-in-place+eager",
        ],
        ways: &[Direction::H2d],
        set: &[
            MESSAGES,
            ("engine.aes.lanes", &["1", "2", "4"]),
            ("engine.ghash.width", &["1", "2", "4"]),
            ("engine.ghash.groups", &["1", "2", "4"]),
            ("engine.compare", &["2 cycles", "200 cycles", "5000 cycles", "50000 cycles"]),
            ("copy_engine.outstanding_reads", &["16", "32", "64", "128"]),
            ("copy_engine.read_buffer", &["16 KiB", "32 KiB", "64 KiB", "128 KiB"]),
            ("driver.in_flight.h2d", &["1", "2", "8"]),
            ("driver.secure_push", &["2000 cycles", "21900 cycles"]),
            ("tag_queue.depth", &["1", "2", "8", "32"]),
            ("copy_engine.messages_in_flight", &["1", "2", "8"]),
        ],
    },
    Space {
        name: "links",
        machines: &["h100-nvl-tdx", "h100-sxm5-off", "h100-tdx-gen5", "generic-gen4", "h100-nvl-snp", "h200-tdx"],
        designs: &["off", "direct-in-place", "direct-in-place+overlap", "direct-in-place+sm", "h100-cc", "ide"],
        ways: &[Direction::H2d, Direction::D2h],
        set: &[
            ("link.generation", &["3", "4", "5", "6"]),
            ("link.max_payload", &["128 B", "256 B", "512 B"]),
            ("link.replay_tlps", &["16", "64", "256"]),
            ("link.host_credits.posted_headers", &["8", "32", "127"]),
            ("link.host_credits.posted_data", &["64", "512", "2047"]),
            ("link.host_credits.non_posted_headers", &["4", "16", "127"]),
            ("root_complex.read_latency", &["100 cycles", "419 cycles", "2000 cycles"]),
            ("root_complex.reads_in_service", &["16", "64", "256"]),
            ("root_complex.writes_in_service", &["16", "64", "256"]),
            ("copy_engine.outstanding_reads", &["16", "64", "128"]),
            ("driver.in_flight.d2h", &["1", "2", "4"]),
            ("sm.used", &["1", "4", "16"]),
            ("copy_engine.turnaround", &["100 cycles", "5000 cycles"]),
        ],
    },
    Space {
        name: "pools",
        machines: &["h100-nvl-tdx", "h100-tdx-gen5"],
        designs: &[
            "direct-in-place+two-pces",
            "direct-in-place+two-pces+overlap",
            "direct-in-place+shared-engine",
            "direct-in-place+shared-engine+overlap",
            "direct-in-place+hold+two-pces",
        ],
        ways: &[Direction::H2d, Direction::D2h],
        set: &[
            MESSAGES,
            ("copy_engine.clock", &["200 MHz", "600 MHz", "1.755 GHz"]),
            ("tag_queue.comparators", &["1", "2"]),
            ("engine.compare", &["2 cycles", "2000 cycles"]),
            ("engine.aes.lanes", &["1", "2", "4"]),
            ("engine.aes.keystream_blocks", &["4", "32", "128"]),
            ("copy_engine.messages_in_flight", &["2", "4", "8"]),
            ("tag_queue.depth", &["2", "8"]),
            ("driver.in_flight.h2d", &["1", "2", "8"]),
            ("driver.in_flight.d2h", &["1", "2", "8"]),
            ("driver.secure_push", &["2000 cycles", "21900 cycles"]),
        ],
    },
];

impl Space {
    /// A machine, and what it is of; none where what was drawn does not go together.
    fn draw(&self, random: &mut ChaCha8Rng) -> Option<(String, Resolved, Direction)> {
        let machine = self.machines.choose(random)?;
        let mut what = format!("{machine} {}", self.designs.choose(random)?);
        let mut layers = Layers::new(*machine).overlay(what.split(' ').next_back()?);
        let direction = *self.ways.choose(random)?;
        for (path, values) in self.set {
            if random.random_bool(0.5) {
                let setting = format!("{path}={}", values.choose(random)?);
                what = format!("{what} --set {setting:?}");
                layers = layers.set(setting);
            }
        }
        Some((format!("{what} {direction:?}"), layers.resolve().ok()?, direction))
    }
}

#[test]
#[ignore = "seconds of brute force: .ci/run"]
fn what_limits_random_machines_is_what_gains_most_by_brute_force() {
    let mut all = Tally::default();
    for (space, seed) in SPACES.iter().zip(62..) {
        let (mut random, before) = (ChaCha8Rng::seed_from_u64(seed), all.asked);
        while all.asked - before < part(100, 10, 1) {
            if let Some((what, machine, direction)) = space.draw(&mut random) {
                all.ask(&format!("{}: {what}", space.name), &machine, Asked::pinned(direction, 4 * MIB));
            }
        }
    }
    all.holds(part(300, 30, 3));
}
