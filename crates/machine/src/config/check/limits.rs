//! Limits of each value by itself, by its unit.

use crate::config::{gpu::path_in_own_tables, parameter::Parameter};

/// The greatest value of each unit, in base units, and how it is written. Far above anything built, and small enough
/// that no product of two overflows.
pub const GREATEST: [(&str, i128, &str); 6] = [
    ("frequency", 10_000_000_000, "10 GHz"),
    ("rate per cycle", 1_000_000_000, "1000000 B/cycle"),
    ("size", 1 << 40, "1 TiB"),
    ("number of cycles", 1_000_000_000, "1000000000 cycles"),
    ("time", 1_000_000_000_000_000, "1 s"),
    ("count", 1 << 24, "16777216"),
];

/// Units of which nothing is not a value, unless [`MAY_BE_ZERO`] says so.
pub const NEVER_ZERO: [&str; 4] = ["frequency", "rate per cycle", "size", "count"];

/// Fields, or tables of them, whose zero has a meaning; those of one GPU or switch without its place.
pub const MAY_BE_ZERO: [&str; 19] = [
    "link.flit_errors",
    "buffer_node",
    "cipher.ahead.hit_permille",
    "cipher.ahead.nops",
    "cipher.ahead.open_workers",
    "credits",
    "driver.small.limit_d2h",
    "engine.aes.registers_per_round",
    "engine.control",
    "fabric.engine.aes.registers_per_round",
    "fabric.engine.control",
    "link.gpu_credits",
    "link.host_credits",
    "node",
    "root",
    "session_node",
    "switch",
    "tag_queue.quarantine",
    "tag_queue.skid",
];

/// Durations that cannot be nothing.
pub const TAKES_TIME: [&str; 7] = [
    "copy_engine.completion_timeout",
    "copy_engine.request_interval",
    "link.credit_update",
    "link.flight",
    "link.replay_timer",
    "root_complex.read_interval",
    "root_complex.read_latency",
];

/// Whether every value by itself is one that a machine may have.
pub fn within_limits(parameters: &[Parameter]) -> bool {
    parameters.iter().all(|parameter| beyond_limits(parameter).is_none())
}

/// Why a value is beyond its limits, if it is, and what to write instead.
pub fn beyond_limits(parameter: &Parameter) -> Option<(String, String)> {
    let Parameter { path, value, unit, amount: Some(amount), .. } = parameter else { return None };
    if let Some((.., text)) = GREATEST.iter().find(|(known, greatest, _)| known == unit && amount > greatest) {
        return Some((format!("{value} is more than any machine has"), format!("write at most {text}")));
    }
    // Of one GPU's table the same holds as of the machine's.
    let path = path_in_own_tables(path).unwrap_or(path);
    let within = |known: &&str| path == *known || path.starts_with(&format!("{known}."));
    let refused = || NEVER_ZERO.contains(unit) && !MAY_BE_ZERO.iter().any(within);
    if *amount == 0 && (TAKES_TIME.contains(&path) || refused()) {
        return Some((format!("{value} makes no sense here"), "write more than zero".to_owned()));
    }
    None
}
