//! What is to be run: workloads, manifests, arguments.

use super::{draw, text};
use sealsim::{
    cli,
    report::Manifest,
    workload::{WorkloadFile, WorkloadStep, check},
};

/// Steps are good for the machine, and a manifest holds them as they are.
pub fn workload(input: &[u8]) {
    let Some(text) = text(input) else { return };
    match WorkloadFile::parse("in.toml", text.to_owned()) {
        Err(error) => draw(error),
        Ok(file) => {
            assert_eq!(check(&file.steps), []);
            let json = serde_json::to_string(&file.steps).unwrap();
            assert_eq!(serde_json::from_str::<Vec<WorkloadStep>>(&json).unwrap(), file.steps);
        }
    }
}

pub fn manifest(input: &[u8]) {
    let Some(manifest) = text(input).and_then(|text| Manifest::read(text).ok()) else { return };
    let _ = (manifest.resolved(), manifest.workload());
}

/// One argument per line.
pub fn arguments(input: &[u8]) {
    let Some(text) = text(input) else { return };
    let _ = cli::understands(text.lines());
}
