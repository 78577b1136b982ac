//! Several GPUs of a machine, and how they differ.

use super::machine::MachineSpec;
use crate::gcm::spec::EngineSpec;
use crate::gpu::spec::{ComputeSpec, CopyEngineSpec, HbmSpec, TagQueueSpec};
use crate::pcie::spec::{LinkSpec, RootComplexSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most GPUs of a machine.
pub const MOST_GPUS: usize = 64;

/// GPUs that are alike. A table that is given here holds for them in place of the machine's own; what it leaves out is as there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GpuSpec {
    /// How many there are.
    #[serde(default = "one")]
    pub count: u32,
    /// Their root ports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_complex: Option<RootComplexSpec>,
    /// Their links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<LinkSpec>,
    /// Their copy engines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_engine: Option<CopyEngineSpec>,
    /// AES-GCM in these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineSpec>,
    /// Their tag queues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag_queue: Option<TagQueueSpec>,
    /// Their device memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hbm: Option<HbmSpec>,
    /// Their compute side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compute: Option<ComputeSpec>,
}

/// The tables of a [`GpuSpec`].
pub(super) const TABLES: [&str; 7] = ["root_complex", "link", "copy_engine", "engine", "tag_queue", "hbm", "compute"];

const fn one() -> u32 {
    1
}

/// Puts what is given in place of what is there.
fn put<T: Clone>(there: &mut T, given: Option<&T>) {
    if let Some(given) = given {
        there.clone_from(given);
    }
}

impl MachineSpec {
    /// How many GPUs it has.
    #[must_use]
    pub fn gpus(&self) -> usize {
        if self.gpu.is_empty() { 1 } else { self.gpu.iter().map(|alike| alike.count as usize).sum() }
    }

    /// The machine with the GPU of that number, from 0, as its only one.
    #[must_use]
    pub fn of_gpu(&self, number: usize) -> Self {
        let mut machine = Self { gpu: Vec::new(), ..self.clone() };
        let mut before = 0;
        let own = self.gpu.iter().find(|alike| {
            before += alike.count as usize;
            number < before
        });
        let Some(own) = own else { return machine };
        put(&mut machine.root_complex, own.root_complex.as_ref());
        put(&mut machine.link, own.link.as_ref());
        put(&mut machine.copy_engine, own.copy_engine.as_ref());
        put(&mut machine.engine, own.engine.as_ref());
        put(&mut machine.tag_queue, own.tag_queue.as_ref());
        put(&mut machine.hbm, own.hbm.as_ref());
        put(&mut machine.compute, own.compute.as_ref());
        machine
    }
}
