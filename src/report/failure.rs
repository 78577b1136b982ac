//! A run that has no outcome, as JSON.

use super::{SCHEMA_VERSION, faults::Faults};
use crate::sim::{SimulationError, Wait};
use serde::Serialize;

/// What `--format json` prints if the simulation itself fails.
#[derive(Debug, Clone, Serialize)]
pub struct FailureReport {
    pub schema_version: u32,
    /// SHA-256 of the configuration, hexadecimal.
    pub config_digest: String,
    pub error: ErrorRecord,
    /// Injected faults, of which this may be the consequence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<Faults>,
}

#[derive(Debug, Clone, Serialize)]
pub struct ErrorRecord {
    /// `deadlock`, `fault`, `time_overflow` or `interrupted`.
    pub kind: &'static str,
    pub text: String,
    /// When, in ps, if at a known time.
    pub at_ps: Option<u64>,
    /// For a deadlock: who waits for whom.
    pub waits: Vec<WaitRecord>,
}

#[derive(Debug, Clone, Serialize)]
pub struct WaitRecord {
    pub unit: String,
    pub state: String,
    pub on_unit: Option<String>,
    pub on_queue: Option<String>,
}

impl FailureReport {
    pub fn simulation(config_digest: &str, error: &SimulationError) -> Self {
        let (kind, at, waits) = match error {
            SimulationError::Deadlock { at, waits, .. } => ("deadlock", Some(at), waits.as_slice()),
            SimulationError::Fault { at, .. } => ("fault", Some(at), [].as_slice()),
            SimulationError::Netlist(_) => ("netlist", None, [].as_slice()),
            SimulationError::TimeOverflow => ("time_overflow", None, [].as_slice()),
            SimulationError::Stopped { at } => ("interrupted", Some(at), [].as_slice()),
        };
        Self {
            schema_version: SCHEMA_VERSION,
            config_digest: config_digest.to_owned(),
            error: ErrorRecord {
                kind,
                text: error.to_string(),
                at_ps: at.map(|at| at.picos()),
                waits: waits.iter().map(WaitRecord::new).collect(),
            },
            faults: Faults::of_broken(error),
        }
    }
}

impl WaitRecord {
    fn new(wait: &Wait) -> Self {
        let (on_unit, on_queue) = wait.on.clone().unzip();
        Self { unit: wait.unit.clone(), state: wait.state.clone(), on_unit, on_queue }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{sim::Seen, units::Femtos};

    #[test]
    fn a_deadlock_names_its_waits() {
        let wait = |unit: &str, on: Option<(&str, &str)>| Wait {
            unit: unit.into(),
            state: "credit".into(),
            on: on.map(|(unit, queue)| (unit.into(), queue.into())),
        };
        let waits = vec![wait("a", Some(("b", "a.to.b"))), wait("b", None)];
        let error = SimulationError::Deadlock { at: Femtos(7_999), waits, seen: Seen::default() };
        let json = serde_json::to_value(FailureReport::simulation("d1", &error)).unwrap();
        assert_eq!(json["error"]["kind"], "deadlock");
        assert_eq!(json["error"]["at_ps"], 7);
        assert_eq!(json["error"]["waits"][0]["on_queue"], "a.to.b");
        assert!(json["error"]["waits"][1]["on_unit"].is_null());
        assert!(json["error"]["text"].as_str().is_some_and(|text| text.contains("waits for b through a.to.b")));
    }
}
