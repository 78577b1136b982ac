//! The record as text for people.

mod bars;
mod groups;
mod screen;

use super::{
    collectives::CollectiveRecord,
    gpus::{GpuRecord, Secret},
    layout::fitted,
    record::{CopyRecord, Report},
    table::Table,
};
use crate::{
    figures::table::{
        BYTES, COPY_COUNT, DLLPS, EXPOSED, EXPOSURE, EXPOSURE_TOTAL, PAYLOAD, PEAK_TAG_QUEUE, QUARANTINE,
        QUARANTINE_LEAST, RATE, RECOVERIES, REPLAYS, TIME, TLPS, WIRE,
    },
    sampling::{Told, Unit},
    units::Bytes,
    workload::{direction_name, memory_name},
};

const COLLECTIVES_SHOWN: usize = 20;

const COPIES_SHOWN: usize = 100;

impl Report {
    /// In lines of at most `width` columns, as far as words allow: a first screen, or `all` of the record. Of this the first lines say what was
    /// delivered, how fast, and what limited the longest copy; then come tables, a bar for each unit, and what limited the others.
    pub fn text(&self, width: usize, all: bool) -> String {
        if !all {
            return self.screen(width);
        }
        let mut parts = vec![self.head(), self.copies(width), self.gpus(), self.collectives(), self.link(width)];
        parts.extend([bars::units(self, width), self.tag_queue(), self.incidents(), self.foot(), self.limits()]);
        let parts: Vec<_> = parts.into_iter().filter(|lines| !lines.is_empty()).map(|lines| lines.join("\n")).collect();
        fitted(&(parts.join("\n\n") + "\n"), width)
    }

    fn head(&self) -> Vec<String> {
        let mode = if self.confidential_computing { "on" } else { "off" };
        let digest = self.config_digest.get(..12).unwrap_or(&self.config_digest);
        let mut lines = vec![self.summary()];
        lines.extend(self.sampled.iter().map(|told| self.of_sample(told)));
        lines.extend(self.told().into_iter().flat_map(|(copy, number)| limit(copy, number)));
        lines.push(format!("{}, confidential computing {mode}, configuration {digest}", self.machine));
        lines.extend(self.does_not_close.clone());
        lines
    }

    /// The copy whose limit is told first.
    fn told(&self) -> Option<(&CopyRecord, usize)> {
        let rank = |copy: &CopyRecord| (copy.limited_by.is_some(), lasts(copy));
        self.copies.iter().zip(1..).max_by_key(|(copy, number)| (rank(copy), std::cmp::Reverse(*number)))
    }

    /// How much of a sampled run was simulated, and how far off its figures may be.
    fn of_sample(&self, told: &Told) -> String {
        let rate = told.interval("/transfers/gb_per_s").map(|[low, high]| format!(", at {low:.3} to {high:.3} GB/s"));
        sampled(told) + &rate.unwrap_or_default()
    }

    /// How much arrived, how long it took, and how fast that was.
    fn summary(&self) -> String {
        let Some(first) = self.copies.first() else {
            return format!("no copies; the run took {}", time(self.simulated_ps));
        };
        let arrived = self.copies.iter().filter(|copy| copy.delivered).count();
        let delivered = match (arrived == self.copies.len(), self.copies.len()) {
            (true, 1) => "delivered".to_owned(),
            (true, _) => "all delivered".to_owned(),
            (false, 1) => "NOT delivered".to_owned(),
            (false, all) => format!("{} of {all} NOT delivered", all - arrived),
        };
        let bytes = Bytes(self.copies.iter().map(|copy| copy.bytes).fold(0, u64::saturating_add));
        let rate = |rate: Option<f64>| rate.map_or_else(String::new, |rate| format!(", {rate:.3} GB/s"));
        if self.copies.len() == 1 {
            let (way, rate) = (direction_name(first.direction), rate(first.gb_per_s));
            let early = first.returned_ps < first.end_ps && first.delivered;
            let call = first.returned_ps.saturating_sub(first.start_ps);
            let early = if early { format!("; its call returned after {}", time(call)) } else { String::new() };
            return format!("{way} of {bytes} in {}{rate}, {delivered}{early}", time(lasts(first)));
        }
        let (all, count) = (&self.total.transfers, self.copies.len());
        let (time, rate) = (time(all.count(&TIME)), rate(all.figure(&RATE).number()));
        format!("{count} copies, {bytes} in all, in {time}{rate}, {delivered}")
    }

    fn copies(&self, width: usize) -> Vec<String> {
        // Without names there is one stream.
        let (named, several) = (self.copies.iter().any(|copy| copy.stream.is_some()), !self.gpus.is_empty());
        let head = [
            "copy",
            "GPU",
            "stream",
            "dir",
            "memory",
            "size",
            "start",
            "time",
            "GB/s",
            "messages",
            "tags",
            "delivered",
        ];
        let mut table = Table::new(&head, &[2, 3, 4, 10, 11]);
        for (number, copy) in (1..).zip(&self.copies).take(COPIES_SHOWN) {
            table.row([
                usize::to_string(&number),
                copy.gpu.to_string(),
                copy.stream.clone().unwrap_or_default(),
                direction_name(copy.direction).to_owned(),
                copy.host_memory.map_or("-", memory_name).to_owned(),
                Bytes(copy.bytes).to_string(),
                time(copy.start_ps),
                time(lasts(copy)),
                copy.gb_per_s.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.3}")),
                copy.messages.to_string(),
                tags(copy),
                delivered(copy),
            ]);
        }
        let mut lines = table.only(|column| (several || column != 1) && (named || column != 2)).fitted(width);
        if let Some(more) = self.copies.len().checked_sub(COPIES_SHOWN).filter(|more| *more > 0) {
            lines.push(format!("and {more} more copies (--format json shows all)"));
        }
        lines.extend(self.digests());
        lines
    }

    /// SHA-256 of what arrived, by copy, where it was asked for.
    fn digests(&self) -> Vec<String> {
        let taken = (1..).zip(&self.copies).take(COPIES_SHOWN).filter_map(|(number, copy): (usize, _)| {
            let digest = copy.sha256.as_ref()?.as_deref().unwrap_or("none, since not all bytes arrived");
            Some(format!("sha256 of copy {number}: {digest}"))
        });
        taken.collect()
    }

    /// Those of several GPUs that had copies, by number.
    fn at_work(&self) -> impl Iterator<Item = (usize, &GpuRecord)> {
        self.gpus.iter().enumerate().filter(|(_, gpu)| gpu.transfers.count(&COPY_COUNT) > 0)
    }

    /// What each of several GPUs has done, and all of them.
    fn gpus(&self) -> Vec<String> {
        if self.gpus.is_empty() {
            return Vec::new();
        }
        let mut table = Table::new(&["GPU", "copies", "delivered", "time", "GB/s"], &[0]);
        let numbered = self.at_work().map(|(number, gpu)| (number.to_string(), gpu));
        for (name, gpu) in numbered.chain([("all".to_owned(), &self.total)]) {
            let all = &gpu.transfers;
            let rate = all.figure(&RATE).number().map_or_else(|| "-".to_owned(), |rate| format!("{rate:.3}"));
            let [copies, bytes, picos] = [&COPY_COUNT, &BYTES, &TIME].map(|figure| all.count(figure));
            table.row([name, grouped(copies), Bytes(bytes).to_string(), time(picos), rate]);
        }
        table.lines()
    }

    /// Collectives by what was called, and how many were simulated.
    fn collectives(&self) -> Vec<String> {
        if self.collectives.is_empty() {
            return Vec::new();
        }
        let head = ["collective", "GPUs", "buffer", "calls", "time", "all calls", "bus GB/s"];
        let mut table = Table::new(&head, &[0]);
        for one in self.collectives.iter().take(COLLECTIVES_SHOWN) {
            table.row([
                one.op.to_owned(),
                one.ranks.to_string(),
                Bytes(one.bytes).to_string(),
                grouped(one.calls),
                time(one.time_ps),
                time(one.time_ps.saturating_mul(one.calls)),
                format!("{:.2}", one.bus_gb_per_s),
            ]);
        }
        let mut lines = table.lines();
        if let Some(more) = self.collectives.len().checked_sub(COLLECTIVES_SHOWN).filter(|more| *more > 0) {
            lines.push(format!("and {more} other sizes (--format json shows all)"));
        }
        let sum = |of: &dyn Fn(&CollectiveRecord) -> u64| self.collectives.iter().map(of).fold(0, u64::saturating_add);
        let (calls, simulated) = (sum(&|one| one.calls), sum(&|one| one.transfers_simulated));
        let different = self.collectives.len();
        let transfers = sum(&|one| one.transfers);
        lines.push(format!(
            "{different} of {} calls simulated, with {} of {} transfers; the others are equal to one of these",
            grouped(calls),
            grouped(simulated),
            grouped(transfers)
        ));
        lines
    }

    fn link(&self, width: usize) -> Vec<String> {
        let head = ["link", "TLPs", "DLLPs", "payload B", "wire B", "payload/wire", "replays", "recoveries"];
        let mut table = Table::new(&head, &[0]);
        let numbered = self.at_work().map(|(number, gpu)| (format!("{number} "), &gpu.link));
        let links: Vec<_> =
            if self.gpus.is_empty() { vec![(String::new(), &self.total.link)] } else { numbered.collect() };
        for (number, link) in links {
            for (name, way) in [("h2d", &link.h2d), ("d2h", &link.d2h)] {
                let share = percent(way.count(&PAYLOAD), way.count(&WIRE));
                let [tlps, dllps, payload, wire, replays, recoveries] =
                    [&TLPS, &DLLPS, &PAYLOAD, &WIRE, &REPLAYS, &RECOVERIES].map(|figure| grouped(way.count(figure)));
                table.row([format!("{number}{name}"), tlps, dllps, payload, wire, share, replays, recoveries]);
            }
        }
        table.fitted(width)
    }

    /// Whether a unit has a line: those of several GPUs of which one had no copies have none.
    pub(super) fn shows(&self, unit: &str) -> bool {
        let part = unit.split('.').next().unwrap_or(unit);
        let number = part.trim_start_matches(|c: char| c.is_ascii_alphabetic() || c == '_').parse().ok();
        let gpu = number.and_then(|number: usize| self.gpus.get(number));
        gpu.is_none_or(|gpu| gpu.transfers.count(&COPY_COUNT) > 0)
    }

    fn tag_queue(&self) -> Vec<String> {
        let GpuRecord { tag_queue, keys, .. } = &self.total;
        let count = |figure| tag_queue.cells.count(figure);
        let (peak, held) = (count(&PEAK_TAG_QUEUE), Bytes(count(&QUARANTINE)));
        let enough = match count(&QUARANTINE_LEAST) {
            0 => String::new(),
            least => format!(", where room for {} is enough", Bytes(least)),
        };
        let (longest, sum) = (time(count(&EXPOSURE)), time(count(&EXPOSURE_TOTAL)));
        let at_once = Bytes(count(&EXPOSED));
        let mut lines = vec![
            format!("tag queue: peak occupancy {peak}, peak quarantine {held}{enough}"),
            format!(
                "unverified plaintext visible: {longest} at longest, {sum} summed over messages, {at_once} at once"
            ),
        ];
        for (direction, key) in [("h2d", &keys.h2d), ("d2h", &keys.d2h)].iter().filter(|(_, key)| key.messages > 0) {
            lines.push(format!(
                "key {direction}: {} {}, {} work units, {:.4} % of what makes the driver rotate it",
                grouped(key.messages),
                if key.messages == 1 { "message" } else { "messages" },
                grouped(key.work_units),
                key.rotation_fraction * 100.0
            ));
            if let Some(Secret { key, first_iv, .. }) = &key.secret {
                lines.push(format!("key {direction}: {key}, IV of the first message {first_iv}"));
            }
        }
        lines.extend(self.faults_told());
        lines
    }

    /// How many faults were activated, and what they came to.
    fn faults_told(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.faults.injected > 0 {
            lines.push(format!("faults: {} of {} injected have struck", self.faults.struck, self.faults.injected));
            lines.extend(self.faults.came_to().map(|what| format!("faults: {what}")));
            if self.faults.missed > 0 {
                let missed = self.faults.missed;
                lines.push(format!("faults: {missed} passed with nothing there that they could befall"));
            }
            for [a, b] in &self.faults.cancelled {
                lines.push(format!("faults: {a} and {b} cancel each other: both invert the same bit"));
            }
        }
        lines
    }

    fn incidents(&self) -> Vec<String> {
        const SHOWN: usize = 20;
        let mut lines: Vec<_> = self.incidents.iter().take(SHOWN).map(|text| format!("incident: {text}")).collect();
        if self.incidents.len() > SHOWN {
            lines.push(format!("and {} more incidents (--format json shows all)", self.incidents.len() - SHOWN));
        }
        lines
    }

    fn foot(&self) -> Vec<String> {
        let host = &self.host;
        let mut lines = vec![
            format!(
                "rests on {} assumed parameters (`sealsim describe` names each with its reason and range)",
                self.assumed_parameters.len()
            ),
            match &self.sampled {
                Some(told) if !told.is_all() => {
                    format!("{} estimated in {:.2} s", time(self.simulated_ps), host.wall_s)
                }
                _ => format!(
                    "simulated {} in {:.2} s: {:.1} million cycles/s, {:.1} MB/s of payload",
                    time(self.simulated_ps),
                    host.wall_s,
                    host.cycles_per_s / 1e6,
                    host.payload_bytes_per_s / 1e6
                ),
            },
        ];
        lines.extend(self.event_digest.iter().map(|digest| format!("event digest {digest}")));
        lines.extend(self.rerun_told());
        lines
    }

    /// Whether a repeated run was the same.
    fn rerun_told(&self) -> Option<String> {
        let rerun = self.rerun.as_ref()?;
        let verdict = if rerun.same { "the same as" } else { "NOT the same as" };
        let expected = time(rerun.expected_simulated_ps);
        Some(format!("{verdict} in the manifest, {} after {expected}", rerun.expected_event_digest))
    }

    /// What limited each of several copies, or who was busiest; the one of a single copy stands at the head.
    fn limits(&self) -> Vec<String> {
        if self.copies.len() == 1 {
            return Vec::new();
        }
        let limits = self.copies.iter().zip(1..).take(COPIES_SHOWN);
        limits.flat_map(|(copy, number)| limit(copy, number)).collect()
    }
}

/// From the call of a copy to its end, ps.
fn lasts(copy: &CopyRecord) -> u64 {
    copy.end_ps.saturating_sub(copy.start_ps)
}

fn limit(copy: &CopyRecord, number: usize) -> Vec<String> {
    let Some((words, parts)) = copy.limited_by.as_ref().zip(copy.limited_by_parts.as_ref()) else {
        return vec![format!("copy {number}: {}", copy.busiest)];
    };
    let others = parts.others().map(|other| format!("  and by {other}"));
    let busiest = std::iter::once(format!("  {}", copy.busiest));
    let first = std::iter::once(format!("copy {number} is limited by {words}"));
    first.chain(others).chain(busiest).collect()
}

fn tags(copy: &CopyRecord) -> String {
    match (copy.messages, copy.tags_failed) {
        (0, 0) => "-".into(),
        (_, 0) => format!("{} good", copy.tags_verified),
        (_, failed) => format!("{} good, {failed} BAD", copy.tags_verified),
    }
}

fn delivered(copy: &CopyRecord) -> String {
    match (&copy.reason, copy.delivered) {
        (_, true) => "yes".into(),
        (Some(reason), false) => format!("NO: {reason}"),
        (None, false) => "NO".into(),
    }
}

pub(super) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { "-".into() } else { format!("{:.1} %", part as f64 * 100.0 / whole as f64) }
}

/// How much of some work was simulated, and how far off the time is that is stated for it.
pub(super) fn sampled(told: &Told) -> String {
    let length = |length: u64| match told.unit {
        Unit::Bytes => Bytes(length).to_string(),
        Unit::Turns => format!("{length} turns"),
    };
    if told.is_all() {
        return format!("sampled: all of {} was simulated", length(told.of));
    }
    let (simulated, of, runs) = (length(told.simulated), length(told.of), told.runs);
    let (percent, off) = (told.confidence * 100.0, told.part() * 100.0);
    format!("sampled: {simulated} of {of} simulated, in {runs} runs; time within {off:.4} % ({percent:.0} % sure)")
}

/// A number of microseconds, without its unit.
pub(super) fn micros(picos: u64) -> String {
    format!("{:.2}", picos as f64 * 1e-6)
}

/// Four significant digits in the largest fitting unit.
pub(super) fn time(picos: u64) -> String {
    let scales = [("s", 1e12), ("ms", 1e9), ("us", 1e6), ("ns", 1e3)];
    let picos = picos as f64;
    let Some((unit, factor)) = scales.into_iter().find(|&(_, factor)| picos >= factor) else {
        return format!("{picos} ps");
    };
    let value = picos / factor;
    let decimals = if value >= 100.0 { 1 } else { 3 - usize::from(value >= 10.0) };
    format!("{value:.decimals$} {unit}")
}

/// `1234567` as `1 234 567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests;
