//! Everything that a run depends on, and what it gave: enough to run it again anywhere.
//!
//! A manifest holds a digest over itself, so that one that was changed in transit, or edited, is not taken for the record of a run. It is
//! no signature: anybody who edits a manifest can compute the digest anew.

use crate::{
    config::{Refusal, Resolved},
    files::{excerpt, json_fault, parse_json},
    host::map,
    sim::{Injection, Kernel},
    system::{DataMode, Outcome},
    workload::{Copy, InjectionArgument, MAX_BYTES, MAX_STEPS, Payload, Workload, WorkloadStep, check},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::PathBuf;
use thiserror::Error;

/// Version of manifests: it changes when a field is added, renamed or removed, or its meaning changes.
pub const MANIFEST_VERSION: u32 = 2;

/// A run's manifest. Nothing in it depends on the host, but for the payload's path.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub schema_version: u32,
    pub sealsim_version: String,
    /// SHA-256 of the configuration, hexadecimal.
    pub config_digest: String,
    /// Names of the designs laid over the machine.
    pub overlays: Vec<String>,
    pub confidential_computing: bool,
    pub copies: Vec<Copy>,
    /// What the host did, if a workload file said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<Vec<WorkloadStep>>,
    pub data: DataMode,
    pub seed: u64,
    pub kernel: Kernel,
    /// Faults, as `--inject` takes them.
    pub injections: Vec<String>,
    pub payload: Option<PayloadRecord>,
    /// Digest of all events, hexadecimal.
    pub event_digest: String,
    pub simulated_ps: u64,
    pub config: Value,
    /// SHA-256 over all other fields, hexadecimal: over them as one JSON object without white space, the keys of each object sorted.
    pub digest: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PayloadRecord {
    pub path: PathBuf,
    pub size: u64,
    pub sha256: String,
}

#[derive(Debug, Error)]
pub enum ManifestError {
    #[error("not a manifest of sealsim: {reason}")]
    Malformed { reason: String },
    #[error("the manifest has schema_version {found}, this version of sealsim reads {MANIFEST_VERSION}: {remedy}")]
    OtherVersion { found: u64, remedy: String },
    #[error("the manifest {0}: it is not as a run has written it; make the run again with --manifest")]
    Edited(&'static str),
    #[error("the manifest contradicts itself: {reason}; it was edited")]
    Contradiction { reason: String },
    /// The configuration within is wrong.
    #[error(transparent)]
    Config(#[from] Refusal),
}

impl Manifest {
    pub fn new(resolved: &Resolved, workload: &Workload, payload: Option<PayloadRecord>, outcome: &Outcome) -> Self {
        let faults = workload.injections.iter().cloned().map(|one| InjectionArgument(one).to_string());
        let mut manifest = Self {
            schema_version: MANIFEST_VERSION,
            sealsim_version: env!("CARGO_PKG_VERSION").into(),
            config_digest: resolved.digest.clone(),
            overlays: resolved.designs.iter().map(|design| design.name.clone()).collect(),
            confidential_computing: resolved.machine.confidential_computing,
            copies: workload.copies.clone(),
            workload: workload.steps.clone(),
            data: workload.data,
            seed: workload.seed,
            kernel: workload.kernel,
            injections: faults.collect(),
            payload,
            event_digest: outcome.event_digest.clone(),
            simulated_ps: outcome.end.picos(),
            config: resolved.to_value(),
            digest: String::new(),
        };
        manifest.digest = manifest.own_digest();
        manifest
    }

    fn own_digest(&self) -> String {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        value.as_object_mut().map(|fields| fields.remove(DIGEST));
        digest(value)
    }

    pub fn read(text: &str) -> Result<Self, ManifestError> {
        let malformed = |error: serde_json::Error| ManifestError::Malformed { reason: json_fault(&error) };
        let mut value = parse_json(text).map_err(malformed)?;
        let Some(found) = value.get("schema_version").and_then(Value::as_u64) else {
            return Err(ManifestError::Malformed { reason: "it has no `schema_version`".into() });
        };
        if found != u64::from(MANIFEST_VERSION) {
            let writer = value.get("sealsim_version").and_then(Value::as_str).unwrap_or("of that time");
            let remedy = match writer {
                env!("CARGO_PKG_VERSION") => "make the run again with --manifest".to_owned(),
                writer => format!("use sealsim {}", excerpt(writer, 20)),
            };
            return Err(ManifestError::OtherVersion { found, remedy });
        }
        let Some(Value::String(stated)) = value.as_object_mut().and_then(|fields| fields.remove(DIGEST)) else {
            return Err(ManifestError::Edited("has no `digest` over itself"));
        };
        if stated != digest(value.clone()) {
            return Err(ManifestError::Edited("was edited: its `digest` is not that of its other fields"));
        }
        value[DIGEST] = stated.into();
        serde_json::from_value(value).map_err(malformed)
    }

    pub fn resolved(&self) -> Result<Resolved, ManifestError> {
        let resolved = Resolved::from_value(&self.config)?;
        let contradiction = |reason: &str| ManifestError::Contradiction { reason: reason.to_owned() };
        if resolved.digest != self.config_digest {
            return Err(contradiction("`config_digest` is not that of `config`"));
        }
        if resolved.machine.confidential_computing != self.confidential_computing {
            return Err(contradiction("`confidential_computing` is not that of `config`"));
        }
        Ok(resolved)
    }

    pub fn workload(&self) -> Result<Workload, ManifestError> {
        let malformed = |reason: String| ManifestError::Malformed { reason };
        // A workload may consist of kernels alone.
        let least = usize::from(self.workload.is_none());
        if !(least..=map::MAX_COPIES).contains(&self.copies.len()) {
            let (count, most) = (self.copies.len(), map::MAX_COPIES);
            return Err(malformed(format!("{count} copies, which must be {least} to {most}")));
        }
        self.workload.as_deref().map_or(Ok(()), |steps| self.check_steps(steps))?;
        let payload = self.payload.as_ref().map(|one| Payload { path: one.path.clone(), size: one.size });
        let most = payload.as_ref().map_or(MAX_BYTES, |payload| payload.size.min(MAX_BYTES));
        if let Some(copy) = self.copies.iter().find(|copy| copy.bytes == 0 || copy.bytes > most) {
            return Err(malformed(format!("a copy of {} bytes, which must be 1 to {most}", copy.bytes)));
        }
        if payload.is_some() && self.data == DataMode::None {
            return Err(malformed("a payload in a run without data".into()));
        }
        let injections: Result<Vec<Injection>, _> =
            self.injections.iter().map(|text| text.parse().map(|InjectionArgument(one)| one)).collect();
        Ok(Workload {
            copies: self.copies.clone(),
            steps: self.workload.clone(),
            payload,
            data: self.data,
            seed: self.seed,
            kernel: self.kernel,
            injections: injections.map_err(|error| malformed(error.to_string()))?,
        })
    }

    /// Refuses steps that cannot be, or that do not make the copies.
    fn check_steps(&self, steps: &[WorkloadStep]) -> Result<(), ManifestError> {
        let malformed = |reason: String| ManifestError::Malformed { reason };
        if steps.len() > MAX_STEPS {
            return Err(malformed(format!("{} steps, which must be at most {MAX_STEPS}", steps.len())));
        }
        let made = steps.iter().filter(|step| matches!(step, WorkloadStep::Copy { .. })).count();
        if made != self.copies.len() {
            let reason = format!("`workload` makes {made} copies, but `copies` has {}", self.copies.len());
            return Err(ManifestError::Contradiction { reason });
        }
        match check(steps).first() {
            Some(fault) => Err(malformed(format!("step {} of `workload`: {}", fault.step + 1, fault.what))),
            None => Ok(()),
        }
    }
}

const DIGEST: &str = "digest";

/// SHA-256 over a value without white space and with sorted keys, hexadecimal.
fn digest(mut value: Value) -> String {
    value.sort_all_objects();
    hex::encode(Sha256::digest(value.to_string()))
}

#[cfg(test)]
mod tests {
    use super::{super::record::tests::outcome, *};
    use crate::{
        config::Layers,
        system::{Direction, Memory, Pages},
        units::Femtos,
    };
    use serde_json::json;

    fn manifest() -> Manifest {
        let resolved = Layers::new("h100-nvl-tdx").overlay("hold").resolve().unwrap();
        let stream = || "a".to_owned();
        let event = || "b".to_owned();
        let steps = vec![
            WorkloadStep::Kernel { gpu: 0, stream: stream(), duration: Femtos(1_234_567) },
            WorkloadStep::Record { gpu: 0, stream: stream(), event: event() },
            WorkloadStep::Wait { gpu: 0, stream: "c".into(), event: event() },
            WorkloadStep::Copy {
                gpu: 0,
                stream: "c".into(),
                buffer: Some("x".into()),
                pages: Pages::Fresh,
                blocking: true,
            },
            WorkloadStep::Sync { gpu: 0, stream: Some(stream()) },
            WorkloadStep::Sync { gpu: 0, stream: None },
        ];
        let workload = Workload {
            copies: vec![Copy { gpu: 0, direction: Direction::D2h, bytes: 4097, memory: Memory::Pageable }],
            steps: Some(steps),
            payload: Some(Payload { path: "weights.bin".into(), size: 5000 }),
            data: DataMode::Exact,
            seed: u64::MAX,
            kernel: Kernel::EveryCycle,
            injections: vec!["link.h2d.wire.flip:3".parse::<InjectionArgument>().unwrap().0],
        };
        let payload = PayloadRecord { path: "weights.bin".into(), size: 5000, sha256: "00".repeat(32) };
        Manifest::new(&resolved, &workload, Some(payload), &outcome())
    }

    /// Why a manifest that was changed and got a new digest is refused.
    fn refused(change: impl Fn(&mut Value)) -> String {
        let mut value = serde_json::to_value(manifest()).unwrap();
        change(&mut value);
        value.as_object_mut().unwrap().remove(DIGEST);
        value[DIGEST] = digest(value.clone()).into();
        let read = Manifest::read(&value.to_string()).and_then(|manifest| {
            manifest.resolved()?;
            manifest.workload()
        });
        read.unwrap_err().to_string()
    }

    #[test]
    fn what_is_written_reads_back_to_the_same_run() {
        let before = manifest();
        let again = Manifest::read(&serde_json::to_string_pretty(&before).unwrap()).unwrap();
        assert_eq!(again.workload().unwrap(), before.workload().unwrap());
        assert_eq!(again.resolved().unwrap().machine, before.resolved().unwrap().machine);
        assert_eq!(again.overlays, ["hold"]);
        assert_eq!(again.injections, ["link.h2d.wire.flip:3"]);
        assert_eq!(again.event_digest, before.event_digest);
    }

    #[test]
    fn a_manifest_of_another_version_names_the_version_to_use() {
        let text = refused(|value| {
            value["schema_version"] = json!(99);
            value["sealsim_version"] = json!("7.1.0");
            value["surplus"] = json!(1);
        });
        assert!(text.contains("schema_version 99") && text.contains("use sealsim 7.1.0"), "{text}");
    }

    #[test]
    fn an_edit_of_any_field_is_told_by_the_digest() {
        let whole = serde_json::to_value(manifest()).unwrap();
        let refused = |value: &Value| Manifest::read(&value.to_string()).unwrap_err().to_string();
        for path in ["/simulated_ps", "/seed", "/overlays/0", "/config/provenance", "/payload/path", "/digest"] {
            let mut edited = whole.clone();
            *edited.pointer_mut(path).unwrap_or_else(|| panic!("{path}")) = json!("edited");
            assert!(refused(&edited).contains("was edited: its `digest`"), "{path}: {}", refused(&edited));
        }
        let mut without = whole.clone();
        without.as_object_mut().unwrap().remove(DIGEST);
        assert!(refused(&without).contains("has no `digest`"), "{}", refused(&without));
        let twice = whole.to_string().replacen('{', "{\"seed\": 1, ", 1);
        assert!(Manifest::read(&twice).unwrap_err().to_string().contains("`seed` is given twice"));
        let spaced = serde_json::to_string_pretty(&whole).unwrap();
        assert!(Manifest::read(&spaced).is_ok(), "white space is no edit");
    }

    #[test]
    fn a_manifest_of_an_earlier_version_is_to_be_made_again() {
        let text = refused(|value| value["schema_version"] = json!(1));
        assert!(text.contains("schema_version 1") && text.contains("make the run again"), "{text}");
    }

    #[test]
    fn a_manifest_that_contradicts_itself_is_refused() {
        for (path, value, phrase) in [
            ("/config_digest", json!("00"), "`config_digest` is not that"),
            ("/confidential_computing", json!(false), "contradicts itself"),
            ("/config/machine/link/read_tags", json!(256), "digest"),
            ("/copies", json!([]), "makes 1 copies, but `copies` has 0"),
            ("/workload/0/duration", json!("0 s"), "step 1 of `workload`: a kernel that lasts no time"),
            ("/workload/0/duration", json!(5), "no unit"),
            ("/workload/2/event", json!("none"), "step 3 of `workload`: nothing earlier records"),
            ("/workload/4/stream", json!("none"), "step 5 of `workload`: nothing earlier goes"),
            ("/workload/0/op", json!("run"), "unknown variant `run`"),
            ("/workload/5/surplus", json!("b"), "unknown field"),
            ("/copies/0/bytes", json!(0), "a copy of 0 bytes"),
            ("/copies/0/bytes", json!(5001), "1 to 5000"),
            ("/copies/0/direction", json!("up"), "up"),
            ("/injections/0", json!("flip"), "names no fault point"),
            ("/data", json!("none"), "without data"),
            ("/kernel", json!("fast"), "every-cycle"),
            ("/seed", json!(-1), "-1"),
            ("/schema_version", json!("1"), "no `schema_version`"),
        ] {
            let text = refused(|manifest| match manifest.pointer_mut(path) {
                Some(place) => *place = value.clone(),
                // A field that is left out where there is none.
                None => manifest["workload"][5]["surplus"] = value.clone(),
            });
            assert!(text.contains(phrase), "{path}: {text}");
        }
        let no_copies = refused(|manifest| {
            manifest["workload"] = Value::Null;
            manifest["copies"] = json!([]);
        });
        assert!(no_copies.contains("0 copies, which must be 1"), "{no_copies}");
        assert!(refused(|value| value["surplus"] = json!(1)).contains("surplus"));
    }

    #[test]
    fn every_truncation_is_an_error_and_no_panic() {
        let text = serde_json::to_string(&manifest()).unwrap();
        for end in (0..text.len()).step_by(97) {
            assert!(matches!(Manifest::read(&text[..end]), Err(ManifestError::Malformed { .. })), "{end}");
        }
    }
}
