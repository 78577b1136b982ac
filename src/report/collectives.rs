//! Collectives, side by side.

use super::{
    layout::{digits, screen, some},
    replay::time,
    table::Table,
};
use crate::{
    explore::sweep,
    figures::{
        Cells, Figure, Price, Ratio, Row, Seen, Value, column_names,
        table::{
            BUS_RATE, BYTES, COLLECTIVE, CRYPTOGRAPHY_COST, LAUNCH, LAUNCH_COST, MODE, OP, OVER_OFF, PATH_COST,
            PROTOCOL, RANKS, REFUSED, TIME, TRANSFERS_SHARED, TRANSFERS_SIMULATED, WRONG,
        },
    },
    sampling::{SampledCollective, Told},
    units::{Bytes, Femtos},
    workload::collective::{
        CollectiveCall, CollectiveCost, CollectiveOutcome, CollectiveRequest, CollectiveTime, CollectiveTimes,
    },
};
use serde::Serialize;
use std::collections::BTreeSet;

/// Equal collectives of a workload.
#[derive(Debug, Clone, Serialize)]
pub struct CollectiveRecord {
    pub op: &'static str,
    /// How many they were.
    pub ranks: usize,
    /// Bytes of the buffer of each.
    pub bytes: u64,
    pub calls: u64,
    /// From the first transfer to the last GPU being done, in ps.
    pub time_ps: u64,
    /// Bytes of a buffer over the time, times the share of it that each GPU must send.
    pub bus_gb_per_s: f64,
    pub transfers_simulated: u64,
    pub transfers: u64,
}

impl CollectiveRecord {
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

#[derive(Debug, Clone, Serialize)]
pub struct CollectiveRow {
    /// `off`, the machine's name, or a design.
    pub design: String,
    /// That the engines of its machine do not close at their clock, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub does_not_close: Option<String>,
    #[serde(flatten)]
    pub row: Row,
}

const COSTS: [&Figure; 3] = [&LAUNCH_COST, &PATH_COST, &CRYPTOGRAPHY_COST];

impl CollectiveRow {
    /// Of what was found for buffers of so many bytes; where it was asked to be sampled, with how much was simulated.
    pub fn of(design: &str, (request, of): (&CollectiveRequest, u64), found: &SampledCollective, asked: bool) -> Self {
        let cells = |time| {
            let outcome = CollectiveOutcome { time, ..found.outcome.clone() };
            Cells::of(COLLECTIVE, &Seen::collective(request, &outcome))
        };
        let SampledCollective { low, high, simulated, runs, .. } = *found;
        let told = || Told::between((simulated, of, runs), [low, high].map(Femtos::picos), [&cells(low), &cells(high)]);
        let sampled = asked.then(told);
        let row = Row { cells: cells(found.outcome.time), sampled, ..Row::default() };
        Self { design: design.to_owned(), does_not_close: None, row }
    }

    /// The same against `off`, over which it costs so much.
    pub fn against(mut self, off: &Self, cost: CollectiveCost) -> Self {
        self.row.hold(&OVER_OFF, Ratio::Longer, &off.row);
        for (figure, femtos) in COSTS.into_iter().zip([cost.launch, cost.path, cost.cryptography]) {
            self.row.cells.set(figure.name, Value::Integer(femtos / 1000));
        }
        self
    }
}

const FIRST: usize = 16;

/// The first screen: what the largest collective costs, then rows.
pub fn first(rows: &[CollectiveRow], width: usize) -> String {
    let Some(CollectiveRow { design, row, .. }) = rows.last() else { return String::new() };
    let (op, ranks) = (row.get(&OP).shown(), row.get(&RANKS).shown());
    let mut text = format!("{op} of {} by {ranks} GPUs, {design}: ", Bytes(row.cells.count(&BYTES)));
    text += &match (row.get(&REFUSED), row.number(&OVER_OFF)) {
        (Value::Text(why), _) => why.clone(),
        (_, times) => {
            let times = times.map_or_else(String::new, |times| format!(", {} x as long as off", digits(times)));
            format!("{}{times}", time(row.cells.count(&TIME) / 1000))
        }
    };
    text += &format!("\n\n{}\n", some(table(rows).lines(), FIRST).join("\n"));
    text += &some(notes(rows).lines().map(str::to_owned).collect(), 4).join("\n");
    screen(&text, "--all: what of it is launch, path and cryptography   --design NAME: another", width)
}

/// All of it for people.
pub fn text(rows: &[CollectiveRow]) -> String {
    let sum = |figure: &'static Figure| rows.iter().map(|one| one.row.cells.count(figure)).sum::<u64>();
    let (simulated, shared) = (sum(&TRANSFERS_SIMULATED), sum(&TRANSFERS_SHARED));
    let op = rows.first().map_or_else(String::new, |one| one.row.get(&OP).shown());
    let mut text = format!("{op}; {simulated} transfers simulated, {shared} more share one of these\n\n");
    text += &(table(rows).lines().join("\n") + "\n");
    let launches: BTreeSet<u64> = rows.iter().map(|one| one.row.cells.count(&LAUNCH)).collect();
    let launches: Vec<String> = launches.into_iter().map(|picos| time(picos / 1000)).collect();
    text += &format!("time has the launch ({}), which nccl-tests leave out\n", launches.join(" or "));
    text + &costs(rows) + &notes(rows)
}

fn table(rows: &[CollectiveRow]) -> Table {
    let mut table = Table::new(&["size", "GPUs", "", "mode", "time", "vs off", "bus GB/s", "sums"], &[2, 3, 7]);
    let number = |row: &Row, figure, digits: usize| match row.number(figure) {
        Some(number) => format!("{number:.digits$}"),
        None => "-".to_owned(),
    };
    let count = |row: &Row, figure| row.number(figure).unwrap_or(0.0) as u64;
    for CollectiveRow { design, row, .. } in rows {
        let sums = match (row.get(&REFUSED), row.number(&WRONG)) {
            (Value::Text(_), _) => "refused".to_owned(),
            (_, None) => "-".to_owned(),
            (_, Some(0.0)) => "right".to_owned(),
            (_, Some(wrong)) => format!("{wrong} WRONG"),
        };
        let (size, time) = (Bytes(count(row, &BYTES)).to_string(), time(count(row, &TIME) / 1000));
        let (ranks, mode) = (row.get(&RANKS).shown(), row.get(&MODE).shown());
        table.row([
            size,
            ranks,
            design.clone(),
            mode,
            time,
            number(row, &OVER_OFF, 3),
            number(row, &BUS_RATE, 2),
            sums,
        ]);
    }
    table
}

/// What is to be said of single rows.
fn notes(rows: &[CollectiveRow]) -> String {
    let (mut text, mut told) = (String::new(), Vec::new());
    for CollectiveRow { design, does_not_close, .. } in rows {
        if let Some(sentence) = does_not_close.as_ref().filter(|_| !told.contains(&design)) {
            text += &format!("{design} {sentence}\n");
            told.push(design);
        }
    }
    for CollectiveRow { design, row, .. } in rows {
        if let Some(told) = row.sampled.as_ref().filter(|told| told.low < told.high) {
            let (part, all) = (Bytes(told.simulated), Bytes(told.of));
            let between = [told.low, told.high].map(|picos| time(picos / 1000)).join(" to ");
            text += &format!("{design}: {part} in {} runs for {all}; {between} in 95 of 100 cases\n", told.runs);
        }
        if let Value::Text(why) = row.get(&REFUSED) {
            let size = Bytes(row.cells.count(&BYTES));
            text += &format!("{size}, {} GPUs, {design}: {why}\n", row.get(&RANKS).shown());
        }
    }
    text
}

/// What each row costs over the first of its size and GPUs, by why.
fn costs(rows: &[CollectiveRow]) -> String {
    let mut table = Table::new(&["over off", "", "protocol", "launch", "path", "cryptography"], &[0, 1, 2]);
    for CollectiveRow { design, row, .. } in rows.iter().filter(|one| *one.row.get(&REFUSED) == Value::None) {
        let [launch, path, sealed] = COSTS.map(|figure| {
            let picos = row.number(figure).unwrap_or(0.0);
            let sign = if picos < 0.0 { "-" } else { "" };
            format!("{sign}{}", time(picos.abs() as u64 / 1000))
        });
        let what = format!("{}, {}", Bytes(row.cells.count(&BYTES)), row.get(&RANKS).shown());
        table.row([what, design.clone(), row.get(&PROTOCOL).shown(), launch, path, sealed]);
    }
    if rows.len() > 1 { format!("\n{}\n", table.lines().join("\n")) } else { String::new() }
}

/// The same for spreadsheets.
pub fn sheet(rows: &[CollectiveRow]) -> sweep::Table {
    let values = |CollectiveRow { design, does_not_close, row }: &CollectiveRow| {
        let price = Price { does_not_close: does_not_close.clone(), ..Price::default() };
        row.values(COLLECTIVE, (&price, None), |_| design.as_str().into())
    };
    sweep::Table { columns: column_names(COLLECTIVE), rows: rows.iter().map(values).collect() }
}
