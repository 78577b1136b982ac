//! Collectives, side by side.

use super::{replay::time, table::Table};
use crate::{
    sampling::SampledCollective,
    units::Bytes,
    workload::collective::{CollectiveCall, CollectiveOutcome, CollectiveRequest, CollectiveTime, CollectiveTimes},
};
use serde::Serialize;

/// Equal collectives of a workload.
#[derive(Debug, Clone, Serialize)]
pub struct CollectiveRecord {
    /// What the GPUs did.
    pub op: &'static str,
    /// How many they were.
    pub ranks: usize,
    /// Bytes of the buffer of each.
    pub bytes: u64,
    /// How often it was called.
    pub calls: u64,
    /// From the first transfer to the last GPU being done, in ps.
    pub time_ps: u64,
    /// Bytes of a buffer over the time, times the share of it that each GPU must send.
    pub bus_gb_per_s: f64,
    /// Transfers between two GPUs that were simulated.
    pub transfers_simulated: u64,
    /// Transfers of all calls.
    pub transfers: u64,
}

impl CollectiveRecord {
    /// Those of a workload.
    #[must_use]
    pub fn all(times: &CollectiveTimes) -> Vec<Self> {
        let record = |(call, one): (&CollectiveCall, &CollectiveTime)| Self {
            op: call.kind.name(),
            ranks: call.ranks,
            bytes: call.bytes,
            calls: one.calls,
            time_ps: one.time.picos(),
            bus_gb_per_s: call.bytes as f64 * call.kind.bus_factor(call.ranks) / 1e9 / one.time.seconds().max(1e-15),
            transfers_simulated: one.simulated,
            transfers: one.transfers,
        };
        times.iter().map(record).collect()
    }
}

/// One collective on one machine.
#[derive(Debug, Clone, Serialize)]
pub struct CollectiveRow {
    /// What the GPUs did.
    pub op: &'static str,
    /// Bytes of the buffer of each.
    pub bytes: u64,
    /// How many they were.
    pub ranks: usize,
    /// `off`, the machine's name, or a design.
    pub name: String,
    /// How hops were protected.
    pub mode: &'static str,
    /// From the call to the last GPU being done, in ps.
    pub time_ps: u64,
    /// What of it lies before the first transfer, in ps.
    pub launch_ps: u64,
    /// Against `off`.
    pub slowdown_over_off: f64,
    /// Bytes of a buffer over the time.
    pub gb_per_s: f64,
    /// The same times the share of a buffer that each GPU must send.
    pub bus_gb_per_s: f64,
    /// Transfers that were simulated.
    pub transfers_simulated: u64,
    /// Transfers that share the simulation of another.
    pub transfers_shared: u64,
    /// GPUs that finished.
    pub finished: usize,
    /// GPUs that finished with a wrong buffer; none where no bytes are carried.
    pub wrong: Option<usize>,
    /// Why it did not end, if it did not.
    pub refused: Option<String>,
    /// How much of it was simulated, if it was to be sampled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled: Option<CollectiveSample>,
}

/// How much of a collective was simulated, and what its time may be.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CollectiveSample {
    /// Bytes of a GPU's buffer that were simulated, in all runs together.
    pub simulated: u64,
    /// Bytes of the buffer.
    pub of: u64,
    /// How many runs it were.
    pub runs: usize,
    /// The least that the time may be.
    pub low_ps: u64,
    pub high_ps: u64,
}

impl CollectiveRow {
    /// That of an outcome; `off` is the time in seconds against which it is held.
    #[must_use]
    pub fn of(name: &str, request: &CollectiveRequest, outcome: &CollectiveOutcome, off: f64) -> Self {
        let seconds = outcome.time.seconds();
        let rate = if outcome.refused.is_some() { 0.0 } else { request.bytes as f64 / 1e9 / seconds };
        Self {
            op: request.kind.name(),
            bytes: request.bytes,
            ranks: request.ranks,
            name: name.to_owned(),
            mode: outcome.mode.name(),
            time_ps: outcome.time.picos(),
            launch_ps: outcome.launch.picos(),
            slowdown_over_off: seconds / off,
            gb_per_s: rate,
            bus_gb_per_s: rate * request.kind.bus_factor(request.ranks),
            transfers_simulated: outcome.simulated,
            transfers_shared: outcome.shared,
            finished: outcome.finished,
            wrong: outcome.wrong,
            refused: outcome.refused.clone(),
            sampled: None,
        }
    }

    /// The same with what was simulated of its buffers of so many bytes, if it was to be sampled.
    #[must_use]
    pub fn sampled(self, of: u64, sampled: Option<&SampledCollective>) -> Self {
        let sampled = sampled.map(|found| CollectiveSample {
            simulated: found.simulated,
            of,
            runs: found.runs,
            low_ps: found.low.picos(),
            high_ps: found.high.picos(),
        });
        Self { sampled, ..self }
    }
}

/// A table for people.
#[must_use]
pub fn text(rows: &[CollectiveRow]) -> String {
    let mut table = Table::new(&["size", "GPUs", "", "mode", "time", "vs off", "bus GB/s", "sums"], &[2, 3, 7]);
    for row in rows {
        let sums = match (&row.refused, row.wrong) {
            (Some(_), _) => "refused".to_owned(),
            (None, None) => "-".to_owned(),
            (None, Some(0)) => "right".to_owned(),
            (None, Some(wrong)) => format!("{wrong} WRONG"),
        };
        let (size, time) = (Bytes(row.bytes).to_string(), time(row.time_ps / 1000));
        let (slower, bus) = (format!("{:.3}", row.slowdown_over_off), format!("{:.2}", row.bus_gb_per_s));
        table.row([size, row.ranks.to_string(), row.name.clone(), row.mode.to_owned(), time, slower, bus, sums]);
    }
    let (simulated, shared) =
        rows.iter().fold((0, 0), |(a, b), row| (a + row.transfers_simulated, b + row.transfers_shared));
    let op = rows.first().map_or("", |row| row.op);
    let mut text = format!("{op}; {simulated} transfers simulated, {shared} more share one of these\n\n");
    text += &(table.lines().join("\n") + "\n");
    for row in rows {
        if let Some(sampled) = row.sampled.as_ref().filter(|sampled| sampled.low_ps < sampled.high_ps) {
            let CollectiveSample { simulated, of, runs, low_ps, high_ps } = sampled;
            let (part, all) = (Bytes(*simulated), Bytes(*of));
            let between = [low_ps, high_ps].map(|picos| time(picos / 1000)).join(" to ");
            text += &format!("{}: {part} in {runs} runs for {all}; {between} in 95 of 100 cases\n", row.name);
        }
        if let Some(why) = &row.refused {
            text += &format!("{}, {} GPUs, {}: {why}\n", Bytes(row.bytes), row.ranks, row.name);
        }
    }
    text
}

/// The same as CSV.
#[must_use]
pub fn csv(rows: &[CollectiveRow]) -> String {
    let mut text = String::from(
        "op,bytes,ranks,name,mode,time_ps,launch_ps,slowdown_over_off,gb_per_s,bus_gb_per_s,transfers_simulated,transfers_shared,finished,wrong,time_ps_low,time_ps_high\n",
    );
    for row in rows {
        let CollectiveRow {
            op,
            bytes,
            ranks,
            name,
            mode,
            time_ps,
            launch_ps,
            slowdown_over_off,
            gb_per_s,
            bus_gb_per_s,
            ..
        } = row;
        let wrong = row.wrong.map(|wrong| wrong.to_string()).unwrap_or_default();
        let counts = format!("{},{},{},{wrong}", row.transfers_simulated, row.transfers_shared, row.finished);
        text += &format!("{op},{bytes},{ranks},{name},{mode},{time_ps},{launch_ps},{slowdown_over_off:.6},");
        let between = row
            .sampled
            .as_ref()
            .map_or_else(|| ",".to_owned(), |sampled| format!("{},{}", sampled.low_ps, sampled.high_ps));
        text += &format!("{gb_per_s:.6},{bus_gb_per_s:.6},{counts},{between}\n");
    }
    text
}
