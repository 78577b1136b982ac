//! Rows of `cuda_api_trace`.

use super::{
    cells::Line,
    head::{Head, TimeColumns},
};
use crate::files::Refusal;
use crate::workload::trace::{builder::Builder, calls, model::HostCall};
use std::{
    collections::{HashMap, HashSet},
    num::NonZeroU64,
    ops::Range,
};

/// Where the columns are, and what makes nanoseconds of them.
pub(super) struct ApiColumns {
    columns: usize,
    times: TimeColumns,
    correlation: usize,
    name: usize,
    thread: usize,
    process: Option<usize>,
    result: Option<usize>,
}

/// What is noted of all calls. Processes number their calls each from 1, and operations do not say whose they are.
#[derive(Default)]
pub(super) struct Api {
    /// The process that first used a number.
    owners: HashMap<u64, u32>,
    processes: HashMap<String, u32>,
    /// Numbers that several processes use.
    shared: HashSet<u64>,
}

impl ApiColumns {
    pub fn of(head: &Head, line: &Line<'_>) -> Result<Self, Refusal> {
        Ok(Self {
            columns: head.len(),
            times: TimeColumns::of(head, line)?,
            correlation: head.needed("corrid", "CorrID", line)?,
            name: head.needed("name", "Name", line)?,
            thread: head.needed("tid", "Tid", line)?,
            process: head.column("pid"),
            result: head.column("result"),
        })
    }

    /// Takes a row that is counted already.
    pub fn row(
        &self,
        line: &Line<'_>,
        row: &[Range<usize>],
        api: &mut Api,
        builder: &mut Builder,
    ) -> Result<(), Refusal> {
        line.check_cells(row, self.columns)?;
        let time = self.times.read(line, row)?;
        let name = line.text(row, Some(self.name));
        let process = line.text(row, self.process);
        let correlation = line.id(row, Some(self.correlation))?.and_then(NonZeroU64::new);
        if let Some(correlation) = correlation {
            api.used(correlation.get(), &process);
        }
        let failed = !["", "0"].contains(&&*line.text(row, self.result));
        if failed {
            builder.failed();
        }
        let call = HostCall {
            start_ns: time.start,
            duration_ns: time.duration,
            name: builder.name(&name),
            thread: builder.thread(&process, &line.text(row, Some(self.thread))),
            correlation,
            failed,
            what: calls::kind(&name),
            place: line.place,
        };
        builder.call(call);
        Ok(())
    }
}

impl Api {
    fn used(&mut self, correlation: u64, process: &str) {
        let next = u32::try_from(self.processes.len()).unwrap_or(u32::MAX);
        let known = self.processes.get(process).copied();
        let process = known.unwrap_or_else(|| *self.processes.entry(process.to_owned()).or_insert(next));
        if *self.owners.entry(correlation).or_insert(process) != process {
            self.shared.insert(correlation);
        }
    }

    /// Takes away numbers that do not say which call is meant.
    pub fn finish(&self, builder: &mut Builder) {
        if !self.shared.is_empty() {
            builder.forget(&self.shared);
            builder.assume(format!(
                "{} processes made the calls and {} correlation numbers are used by more than one: they join nothing.",
                self.processes.len(),
                self.shared.len()
            ));
        }
    }
}
