//! The record itself. Every field is described in `docs/results.md`.

use super::{SCHEMA_VERSION, collectives::CollectiveRecord, explain::StageRecord, faults::Faults, gpus::GpuRecord};
use crate::{
    config::Resolved,
    explore::levers::{Answers, Lever, Off},
    figures::{LimitedBy, Named},
    observe::messages::{Message, Way},
    sampling::Told,
    system::{Busiest, CopyOutcome, Direction, Memory, Outcome, UnitOutcome},
    units::Femtos,
    validate::summary::{self, Part},
};
use serde::Serialize;
use std::time::Duration;

#[derive(Debug, Clone, Default, Serialize)]
pub struct Report {
    pub schema_version: u32,
    /// Name of the machine, with its designs.
    pub machine: String,
    pub confidential_computing: bool,
    /// SHA-256 of the configuration, hexadecimal.
    pub config_digest: String,
    /// That its engines do not close at their clock, with what they need, if so: it holds for every figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub does_not_close: Option<String>,
    /// Digest of all events, hexadecimal; none where not all of them were simulated.
    pub event_digest: Option<String>,
    pub simulated_ps: u64,
    pub copies: Vec<CopyRecord>,
    pub units: Named<UnitRecord>,
    /// Copies, link, tag queue and keys; of several GPUs in total.
    #[serde(flatten)]
    pub total: GpuRecord,
    /// The same of each GPU, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gpus: Vec<GpuRecord>,
    /// Collectives, by what was called.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub collectives: Vec<CollectiveRecord>,
    /// What went wrong on the way, in words.
    pub incidents: Vec<String>,
    pub faults: Faults,
    /// The same without confidential computing, if that was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub off: Option<Off>,
    /// The same with an earlier library, if the machine does not say which it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub earlier_library: Option<Lever>,
    /// Parts of the machine whose errors are large or not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cautions: Vec<String>,
    /// What can be done without another GPU, the best first, as far as it was tried.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub levers: Vec<Lever>,
    /// Of the copy that ended last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_message: Option<FirstMessage>,
    /// Paths of the parameters whose values are not published.
    pub assumed_parameters: Vec<String>,
    /// The only part that depends on the host.
    pub host: Host,
    /// For a run that was asked to be sampled: how much of it was simulated, and what its figures may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled: Option<Told>,
    /// For a repeated run: whether it was the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerun: Option<Rerun>,
}

/// Where the time of a copy's first message went, as if the copy were alone.
#[derive(Debug, Clone, Serialize)]
pub struct FirstMessage {
    pub bytes: u64,
    pub direction: Way,
    pub time_ps: u64,
    pub stages: Vec<StageRecord>,
}

impl FirstMessage {
    pub fn of(message: &Message) -> Self {
        let time_ps = message.end().picos() - message.start.picos();
        Self { bytes: message.bytes, direction: message.way, time_ps, stages: StageRecord::all(message) }
    }
}

#[derive(Debug, Clone, Serialize)]
pub struct CopyRecord {
    /// Number of the GPU, from 0.
    pub gpu: usize,
    pub direction: Direction,
    pub bytes: u64,
    /// Kind of host memory; none for copies within the device.
    pub host_memory: Option<Memory>,
    /// Name of its stream in the workload, if it has one.
    pub stream: Option<String>,
    /// When the call began, in ps.
    pub start_ps: u64,
    pub end_ps: u64,
    /// When the call returned to its caller, in ps.
    pub returned_ps: u64,
    /// When the device began to move its bytes, in ps.
    pub device_start_ps: Option<u64>,
    /// When the device had moved the last one, in ps.
    pub device_end_ps: Option<u64>,
    /// When its first message was where it belongs and had its verdict, in ps; none where nothing is sealed.
    pub first_verified_at_ps: Option<u64>,
    /// 10^9 bytes per second, from start to end; none for a copy that was not delivered.
    pub gb_per_s: Option<f64>,
    pub messages: u64,
    pub tags_verified: u64,
    pub tags_failed: u64,
    pub completed: bool,
    /// Whether it is, and all bytes have arrived unchanged, which only the simulator can know.
    pub delivered: bool,
    pub reason: Option<String>,
    pub busiest: Busiest,
    pub limited_by: Option<String>,
    pub limited_by_parts: Option<LimitedBy>,
    /// SHA-256 of what arrived; the field is there if it was asked for, and null if not all bytes came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Option<String>>,
}

/// One unit's cycles: busy, idle and stalls add up to all of them.
#[derive(Debug, Clone, Default, Serialize)]
pub struct UnitRecord {
    pub clock_hz: u64,
    pub cycles: u64,
    pub busy: u64,
    pub idle: u64,
    /// Cycles of waiting, by what for; those that occurred.
    pub stalls: Named<u64>,
}

#[derive(Debug, Clone, Default, Serialize)]
pub struct Host {
    pub wall_s: f64,
    /// Simulated cycles of all units together, per second.
    pub cycles_per_s: f64,
    pub payload_bytes_per_s: f64,
}

impl Host {
    /// Counts only what was simulated of a sampled run.
    pub fn of_part(&mut self, told: Option<&Told>) {
        let part = told.map_or(1.0, Told::simulated_part);
        self.cycles_per_s *= part;
        self.payload_bytes_per_s *= part;
    }
}

/// A repeated run against its manifest.
#[derive(Debug, Clone, Serialize)]
pub struct Rerun {
    pub expected_event_digest: String,
    /// The simulated time that the manifest holds, in ps.
    pub expected_simulated_ps: u64,
    /// Whether both are this run's.
    pub same: bool,
}

/// What a report needs besides the outcome.
#[derive(Debug, Clone)]
pub struct Context {
    /// Name of the machine, with its designs.
    pub machine: String,
    pub confidential_computing: bool,
    pub config_digest: String,
    /// What is to be said of its clock, if its engines do not close.
    pub does_not_close: Option<String>,
    pub assumed_parameters: Vec<String>,
    /// If streams have names, each copy's.
    pub streams: Option<Vec<String>>,
    /// If digests were asked for, each copy's.
    pub sha256: Option<Vec<Option<String>>>,
    /// The place of a copy, and what was measured to limit it.
    pub limit: Option<(usize, LimitedBy)>,
    pub wall: Duration,
}

/// What each of several GPUs reports.
fn by_gpu(outcome: &Outcome) -> Vec<GpuRecord> {
    let several = outcome.gpus.iter().enumerate().filter(|_| outcome.gpus.len() > 1);
    let copies = |gpu| outcome.copies.iter().filter(move |copy| copy.gpu == gpu);
    several.map(|(gpu, own)| GpuRecord::of(std::slice::from_ref(own), copies(gpu))).collect()
}

impl Report {
    /// Takes what further runs have shown, and what is not known of the machine.
    pub fn answer(&mut self, answers: Answers, machine: &Resolved) {
        let Answers { off, earlier_library, levers, first, .. } = answers;
        (self.off, self.earlier_library, self.levers) = (off, earlier_library, levers);
        self.first_message = first.as_ref().map(FirstMessage::of);
        self.cautions = summary::cautions(&machine.machine.name, &[Part::Copies]);
    }

    pub fn new(context: Context, outcome: &Outcome) -> Self {
        let bytes: u64 = outcome.copies.iter().map(|copy| copy.bytes).sum();
        let cycles: u64 = outcome.units.iter().map(|unit| unit.cycles).sum();
        let wall_s = context.wall.as_secs_f64().max(1e-9);
        let mut copies: Vec<_> = outcome.copies.iter().map(CopyRecord::new).collect();
        if let Some((place, limit)) = context.limit {
            copies[place].limited_by = Some(limit.text());
            copies[place].limited_by_parts = Some(limit);
        }
        if let Some(streams) = context.streams {
            copies.iter_mut().zip(streams).for_each(|(copy, stream)| copy.stream = Some(stream));
        }
        if let Some(digests) = context.sha256 {
            copies.iter_mut().zip(digests).for_each(|(copy, digest)| copy.sha256 = Some(digest));
        }
        Self {
            schema_version: SCHEMA_VERSION,
            machine: context.machine,
            confidential_computing: context.confidential_computing,
            config_digest: context.config_digest,
            does_not_close: context.does_not_close,
            event_digest: Some(outcome.event_digest.clone()),
            simulated_ps: outcome.end.picos(),
            copies,
            units: Named(outcome.units.iter().map(|unit| (unit.name.clone(), UnitRecord::new(unit))).collect()),
            total: GpuRecord::of(&outcome.gpus, outcome.copies.iter()),
            gpus: by_gpu(outcome),
            incidents: outcome.incidents.clone(),
            faults: Faults::new(outcome),
            assumed_parameters: context.assumed_parameters,
            host: Host { wall_s, cycles_per_s: cycles as f64 / wall_s, payload_bytes_per_s: bytes as f64 / wall_s },
            ..Self::default()
        }
    }

    /// What of this makes the verb end with status 1, in words.
    pub fn shortcomings(&self) -> Vec<String> {
        let failed = self.copies.iter().zip(1..).filter(|(copy, _)| !copy.delivered);
        let mut all: Vec<_> = failed
            .map(|(copy, number)| {
                let reason = copy.reason.as_deref().unwrap_or("its bytes did not all arrive as they were sent");
                format!("copy {number} was not delivered: {reason}")
            })
            .collect();
        if let Some(Rerun { expected_event_digest, expected_simulated_ps, .. }) = &self.rerun {
            let (digest, time) = (self.event_digest.as_deref().unwrap_or("none"), self.simulated_ps);
            if digest != expected_event_digest {
                all.push(format!("the event digest is {digest}, but the manifest says {expected_event_digest}"));
            }
            if time != *expected_simulated_ps {
                all.push(format!(
                    "the run took {time} ps of simulated time, but the manifest says {expected_simulated_ps} ps"
                ));
            }
        }
        all
    }
}

impl CopyRecord {
    fn new(copy: &CopyOutcome) -> Self {
        Self {
            gpu: copy.gpu,
            direction: copy.direction,
            bytes: copy.bytes,
            host_memory: (copy.direction != Direction::D2d).then_some(copy.memory),
            stream: None,
            start_ps: copy.start.picos(),
            end_ps: copy.end.picos(),
            returned_ps: copy.returned.picos(),
            device_start_ps: copy.device.map(|(start, _)| start.picos()),
            device_end_ps: copy.device.map(|(_, end)| end.picos()),
            first_verified_at_ps: copy.first_verified.map(Femtos::picos),
            gb_per_s: copy.delivered.then(|| copy.gb_per_s()),
            messages: copy.messages,
            tags_verified: copy.tags_verified,
            tags_failed: copy.tags_failed,
            completed: copy.completed,
            delivered: copy.delivered,
            reason: copy.reason.clone(),
            busiest: copy.busiest.clone(),
            limited_by: None,
            limited_by_parts: None,
            sha256: None,
        }
    }
}

impl UnitRecord {
    fn new(unit: &UnitOutcome) -> Self {
        Self {
            clock_hz: unit.clock.0,
            cycles: unit.cycles,
            busy: unit.busy,
            idle: unit.idle,
            stalls: Named(unit.stalls.iter().map(|&(stall, cycles)| (stall.name().to_owned(), cycles)).collect()),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::{
        figures::{
            column_names,
            limit::Gain,
            table::{EXPOSURE, SHOWN},
        },
        gpu::key_rotation::Work,
        sim::{Effect, Stall},
        system::{DirectionTraffic, GpuOutcome, TagQueueOutcome, Waited},
        units::Frequency,
    };

    /// A run of two copies, the second of which failed.
    pub fn outcome() -> Outcome {
        let copy = |direction, start, end, delivered: bool| CopyOutcome {
            gpu: 0,
            direction,
            bytes: 64 << 20,
            memory: Memory::Pinned,
            start: Femtos(start),
            end: Femtos(end),
            returned: Femtos(end),
            device: delivered.then_some((Femtos(start + 1_000), Femtos(end - 1_000))),
            first_verified: delivered.then_some(Femtos(end - 1_000)),
            messages: 64,
            tags_verified: if delivered { 64 } else { 63 },
            tags_failed: u64::from(!delivered),
            completed: delivered,
            delivered,
            reason: (!delivered).then(|| "message 7: the tag is wrong".to_owned()),
            busiest: Busiest {
                unit: "host.cipher".into(),
                state: "busy".into(),
                fraction: 0.916,
                waited: Some(Waited { unit: "host.driver".into(), stall: "host_cipher".into(), fraction: 0.75 }),
                behind: None,
            },
        };
        Outcome {
            end: Femtos(40_000_000_000_999),
            event_digest: "00112233aabbccdd".into(),
            channels: Vec::new(),
            copies: vec![
                copy(Direction::H2d, 0, 20_000_000_000_000, true),
                copy(Direction::D2d, 20_000_000_000_000, 40_000_000_000_000, false),
            ],
            units: vec![UnitOutcome {
                name: "host.cipher".into(),
                clock: Frequency(2_100_000_000),
                cycles: 100,
                busy: 60,
                idle: 10,
                stalls: vec![(Stall::StagingFull, 30)],
            }],
            gpus: vec![GpuOutcome {
                link: DirectionTraffic::default(),
                key_work: [Work { bytes: 64 << 20, messages: 64 }, Work::default()],
                keys: None,
                tag_queue: TagQueueOutcome { longest_exposure: Femtos(1_500_000), ..TagQueueOutcome::default() },
                failed_messages: Vec::new(),
                steps: Vec::new(),
            }],
            incidents: vec!["link.h2d: a frame with a bad LCRC".into()],
            errors: Vec::new(),
            faults: vec![Effect::Struck { time: Femtos(0), transfer: 1, flip: None }, Effect::Missed],
            cancelled: vec![(0, 1)],
            ticks: 5,
            bounded: Vec::new(),
            engines: None,
        }
    }

    pub fn report(digest: bool) -> Report {
        let outcome = outcome();
        let [parameter, value, relaxed_to] = ["cipher.seal_rate", "1.6 B/cycle", "3.2 B/cycle"].map(str::to_owned);
        let best = vec![Gain { parameter, value, relaxed_to, gain_percent: 82.0 }];
        let limit = LimitedBy { best, next: Some("driver.push".into()), ..LimitedBy::default() };
        let context = Context {
            machine: "m+d".into(),
            confidential_computing: true,
            config_digest: "ab".repeat(32),
            does_not_close: None,
            assumed_parameters: vec!["link.flight".into()],
            streams: Some(vec!["up".into(), "down".into()]),
            sha256: digest.then(|| vec![Some("cd".repeat(32)), None]),
            limit: Some((0, limit)),
            wall: Duration::from_millis(500),
        };
        Report::new(context, &outcome)
    }

    #[test]
    fn a_design_that_does_not_close_says_so_in_text_and_json() {
        let mut report = report(false);
        assert!(!report.text(200, false).contains("does not close"));
        let sentence = "does not close at 9 GHz (needs 619 ps, has 111)";
        report.does_not_close = Some(sentence.to_owned());
        assert!(report.text(200, false).lines().any(|line| line == sentence));
        assert_eq!(serde_json::to_value(&report).unwrap()["does_not_close"], sentence);
    }

    #[test]
    fn the_json_has_every_documented_field_and_no_other() {
        let mut report = report(true);
        report.does_not_close = Some(String::new());
        let json = serde_json::to_value(report).unwrap();
        let document = include_str!("../../docs/results.md");
        let mut paths = Vec::new();
        each_key(&json, &mut |key| paths.push(key.to_owned()));
        let figures: Vec<_> = SHOWN.iter().flat_map(|(_, list)| column_names(list)).collect();
        for path in paths {
            let free = ["host.cipher", "staging_full"].contains(&path.as_str()) || figures.contains(&path);
            assert!(free || document.contains(&format!("`{path}`")), "`{path}` is not in docs/results.md");
        }
    }

    fn each_key(json: &serde_json::Value, visit: &mut impl FnMut(&str)) {
        match json {
            serde_json::Value::Object(map) => map.iter().for_each(|(key, value)| {
                visit(key);
                each_key(value, visit);
            }),
            serde_json::Value::Array(values) => values.iter().for_each(|value| each_key(value, visit)),
            _ => {}
        }
    }

    #[test]
    fn figures_are_in_their_units() {
        let report = report(false);
        let copy = &report.copies[0];
        assert_eq!((copy.start_ps, copy.end_ps), (0, 20_000_000_000));
        assert_eq!((copy.device_start_ps, copy.device_end_ps), (Some(1), Some(19_999_999_999)));
        assert_eq!((report.copies[1].device_start_ps, report.copies[1].stream.as_deref()), (None, Some("down")));
        assert!(copy.gb_per_s.is_some_and(|rate| (rate - 3.355_443_2).abs() < 1e-9), "{:?}", copy.gb_per_s);
        assert_eq!(copy.busiest.to_string(), "host.cipher busy 92 %; host.driver host_cipher 75 %");
        assert!(copy.limited_by_parts.is_some() && report.copies[1].limited_by.is_none());
        assert_eq!(copy.host_memory, Some(Memory::Pinned));
        assert_eq!(report.copies[1].host_memory, None);
        assert_eq!(report.simulated_ps, 40_000_000_000);
        assert_eq!(report.total.tag_queue.cells.count(&EXPOSURE), 1500);
        assert_eq!(report.total.keys.h2d.work_units, (4 << 20) + 64);
        assert!((report.host.cycles_per_s - 200.0).abs() < 1e-9);
        assert_eq!((report.faults.struck, report.faults.injected), (1, 2));
    }

    #[test]
    fn a_digest_is_there_only_if_asked_for() {
        let sha256 = |digest| {
            let json = serde_json::to_value(report(digest)).unwrap();
            [0, 1].map(|copy| json["copies"][copy].get("sha256").cloned())
        };
        assert_eq!(sha256(false), [None, None]);
        assert_eq!(sha256(true), [Some("cd".repeat(32).into()), Some(serde_json::Value::Null)]);
    }

    #[test]
    fn a_copy_that_was_not_delivered_and_another_digest_are_shortcomings() {
        let mut report = report(false);
        assert_eq!(report.shortcomings(), ["copy 2 was not delivered: message 7: the tag is wrong"]);
        let (digest, time) = (report.event_digest.clone().unwrap(), report.simulated_ps);
        let rerun = |digest: &str, expected_simulated_ps, same| {
            Some(Rerun { expected_event_digest: digest.into(), expected_simulated_ps, same })
        };
        report.rerun = rerun("ff", time, false);
        assert!(report.shortcomings()[1].contains("the manifest says ff"));
        report.rerun = rerun(&digest, time + 1, false);
        assert!(report.shortcomings()[1].contains(&format!("the manifest says {} ps", time + 1)));
        report.rerun = rerun(&digest, time, true);
        assert_eq!(report.shortcomings().len(), 1);
    }
}
