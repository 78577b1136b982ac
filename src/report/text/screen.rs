//! The first screen of a run: the answer, what can be done, where the time goes, and how sure it is. All else stands in the whole record.

use super::{bars, delivered, lasts, percent, sampled, tags, time};
use crate::{
    explore::levers::{LEAST, Lever},
    figures::table::{COPY_COUNT, EXPOSED, EXPOSURE, RATE, TIME},
    observe::messages::{Stage, Way},
    report::{
        layout::{digits, part, screen, some},
        record::{CopyRecord, FirstMessage, Report},
        table::Table,
        text::groups::{self, Group},
    },
    system::Busiest,
    units::Bytes,
    workload::{direction_name, memory_name},
};

/// Lines of what there may be many of.
const SHOWN: usize = 4;
const CELLS: usize = 32;
/// A stage with a smaller part of the time has no line.
const LEAST_PART: f64 = 0.01;

impl Report {
    pub(super) fn screen(&self, width: usize) -> String {
        let mut parts = vec![self.title(), self.rate(), self.troubles(), self.grouped(width), self.choices()];
        parts.extend([self.first_message(), self.sure()]);
        let parts: Vec<_> = parts.into_iter().filter(|lines| !lines.is_empty()).map(|lines| lines.join("\n")).collect();
        let hint = "--all: units, link, keys   --report FILE: a page   sealsim explain: why";
        screen(&(parts.join("\n\n") + "\n"), hint, width)
    }

    /// What ran where, and whether it arrived.
    fn title(&self) -> Vec<String> {
        let mode = if self.confidential_computing { "on" } else { "off" };
        let count = self.copies.len();
        let what = match &self.copies[..] {
            [] => "no copies".to_owned(),
            [one] => {
                let memory = one.host_memory.map_or_else(String::new, |memory| format!(" {}", memory_name(memory)));
                format!("{} {}{memory}", direction_name(one.direction), Bytes(one.bytes))
            }
            all => {
                let bytes = all.iter().map(|copy| copy.bytes).fold(0, u64::saturating_add);
                format!("{count} copies, {} in all,", Bytes(bytes))
            }
        };
        let missing = self.copies.iter().filter(|copy| !copy.delivered).count();
        let good: u64 = self.copies.iter().map(|copy| copy.tags_verified).sum();
        let tags =
            if good > 0 { format!(", {good} {} good", if good == 1 { "tag" } else { "tags" }) } else { String::new() };
        let arrived = match (missing, count) {
            (_, 0) => String::new(),
            (0, _) => format!(": delivered{tags}"),
            (_, 1) => ": NOT delivered".to_owned(),
            _ => format!(": {missing} of {count} NOT delivered"),
        };
        vec![format!("{what} on {}, CC {mode}{arrived}", self.machine)]
    }

    /// How long it took, how fast that was, and what CC costs.
    fn rate(&self) -> Vec<String> {
        let all = &self.total.transfers;
        let (took, rate) = match &self.copies[..] {
            [one] => (lasts(one), one.gb_per_s),
            [] => (self.simulated_ps, None),
            _ => (all.count(&TIME), all.figure(&RATE).number().filter(|_| all.count(&COPY_COUNT) > 0)),
        };
        let mut line = format!("  {}", time(took));
        line.extend(rate.map(|rate| format!("    {} GB/s", digits(rate))));
        if let Some(off) = &self.off {
            line += &format!(
                "    {} x as long as with CC off ({}, {} GB/s)",
                digits(off.slowdown),
                time(off.time_ps),
                digits(off.gb_per_s)
            );
        }
        let mut lines = vec![line];
        if let Some(Lever { gb_per_s, gain_percent, how, .. }) = &self.earlier_library {
            let how = how.as_deref().unwrap_or_default();
            let (rate, loss) = (digits(*gb_per_s), -gain_percent);
            lines.push(format!(
                "  or {rate} GB/s (-{loss:.0} %) with OpenSSL before 3.1.0: which one the guest has is not known ({how})"
            ));
        }
        if let [one] = &self.copies[..]
            && one.returned_ps < one.end_ps
            && one.delivered
        {
            lines.push(format!("  its call returned after {}", time(one.returned_ps.saturating_sub(one.start_ps))));
        }
        lines.extend(self.sampled.iter().map(|told| format!("  {}", sampled(told))));
        lines
    }

    /// What is wrong, or was asked for.
    fn troubles(&self) -> Vec<String> {
        let mut lines: Vec<_> = self.does_not_close.iter().cloned().collect();
        let failed = self.copies.iter().zip(1..).filter(|(copy, _)| !copy.delivered);
        let failed = failed.map(|(copy, number)| format!("copy {number}: {}; tags {}", delivered(copy), tags(copy)));
        lines.extend(some(failed.collect(), SHOWN));
        lines.extend(some(self.faults_told(), SHOWN));
        lines.extend(some(self.incidents.iter().map(|text| format!("incident: {text}")).collect(), SHOWN));
        lines.extend(self.rerun_told());
        lines.extend(some(self.digests(), SHOWN));
        lines
    }

    /// Several copies by what they have in common, and collectives.
    fn grouped(&self, width: usize) -> Vec<String> {
        let mut lines = Vec::new();
        if self.copies.len() > 1 {
            lines = some(groups::table(&Group::of(self), !self.gpus.is_empty(), width), 2 * SHOWN);
        }
        lines.extend(some(self.collectives(), 2 * SHOWN));
        lines
    }

    /// What can be done, then what only a designer can change, then who was busiest.
    fn choices(&self) -> Vec<String> {
        let (gain, none): (Vec<&Lever>, Vec<_>) = self.levers.iter().partition(|lever| lever.gain_percent >= LEAST);
        let mut table = Table::new(&["try", "", "", ""], &[0, 3]);
        for lever in gain.iter().take(SHOWN) {
            let how = lever.how.as_deref().unwrap_or(&lever.what);
            table.row([
                lever.name.clone(),
                format!("{} GB/s", digits(lever.gb_per_s)),
                format!("+{:.0} %", lever.gain_percent),
                how.to_owned(),
            ]);
        }
        let mut lines = if gain.is_empty() { Vec::new() } else { table.lines() };
        if !none.is_empty() {
            let names: Vec<_> = none.iter().map(|lever| lever.name.as_str()).collect();
            lines.push(format!("no gain: {}", names.join(", ")));
        }
        let told = self.told();
        lines.extend(told.map(|(copy, number)| self.limit_told(copy, number)).into_iter().flatten());
        lines
    }

    fn limit_told(&self, copy: &CopyRecord, number: usize) -> Vec<String> {
        let of = if self.copies.len() > 1 { format!("copy {number}: ") } else { String::new() };
        let Busiest { unit, state, fraction, .. } = &copy.busiest;
        let busiest = format!("{of}busiest: {} ({unit}), {state} {:.0} % of the time", part(unit), fraction * 100.0);
        let mut lines = vec![busiest];
        if let Some((words, parts)) = copy.limited_by.as_ref().zip(copy.limited_by_parts.as_ref()) {
            lines.insert(0, format!("{of}limited by {words}"));
            let others = parts.others().map(|other| format!("  and by {other}"));
            lines.splice(1..1, some(others.collect(), SHOWN));
        }
        lines
    }

    /// A bar for each stage of the first message.
    fn first_message(&self) -> Vec<String> {
        let Some(FirstMessage { bytes, direction, time_ps, stages }) = &self.first_message else { return Vec::new() };
        let (whole_ps, whole) = (*time_ps, (*time_ps).max(1) as f64);
        let stages = stages.iter().map(|one| (words(one.stage, *direction), one.end_ps - one.start_ps));
        let (mut rows, small): (Vec<_>, Vec<_>) =
            stages.partition(|(_, time_ps)| *time_ps as f64 / whole >= LEAST_PART);
        let rest: u64 = small.iter().map(|(_, time_ps)| time_ps).sum();
        rows.extend((rest > 0).then_some(("all other", rest)));
        let mut table = Table::new(&["", "", "", ""], &[0, 1]);
        for (what, time_ps) in rows {
            let cells = (time_ps as f64 / whole * CELLS as f64).round() as usize;
            let bar: String = std::iter::repeat_n(bars::BUSY, cells).collect();
            table.row([format!("  {what}"), bar, time(time_ps), percent(time_ps, whole_ps)]);
        }
        let of = if self.confidential_computing { "message" } else { "push" };
        let head = format!("time of the first {of}, {}: {}", Bytes(*bytes), time(*time_ps));
        std::iter::once(head).chain(table.lines().into_iter().skip(1)).collect()
    }

    /// What is exposed, and what the figures rest on.
    fn sure(&self) -> Vec<String> {
        let queue = &self.total.tag_queue;
        let [longest, at_once] = [&EXPOSURE, &EXPOSED].map(|figure| queue.cells.count(figure));
        let mut lines = Vec::new();
        if longest > 0 {
            let (longest, at_once) = (time(longest), Bytes(at_once));
            lines.push(format!("unverified plaintext in GPU memory: {longest} at longest, {at_once} at once"));
        }
        lines.extend(self.cautions.iter().map(|caution| format!("errors are large or not known: {caution}")));
        let count = self.assumed_parameters.len();
        lines.push(format!("rests on {count} assumed parameters (`sealsim sensitivity` says which matter)"));
        lines
    }
}

/// A stage in words.
const fn words(stage: Stage, way: Way) -> &'static str {
    match (stage, way) {
        (Stage::Cipher, Way::H2d) => "CPU seals",
        (Stage::Cipher, _) => "CPU opens",
        (Stage::Staging, _) => "waits in staging",
        (Stage::Submission, _) => "submission",
        (Stage::Link, _) => "PCIe",
        (Stage::Engine, _) => "copy engine",
        (Stage::Tag, _) => "tag check",
        (Stage::Release, _) => "release",
    }
}
