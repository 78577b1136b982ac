//! Several GPUs of a machine, and how they differ.

use super::machine::MachineSpec;
use crate::gcm::spec::GcmSpec;
use crate::gpu::spec::{ComputeSpec, CopyEngineSpec, HbmSpec, TagQueueSpec};
use crate::pcie::spec::{LinkSpec, RootComplexSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const MOST_GPUS: usize = 64;

/// GPUs that are alike. A table that is given here holds for them in place of the machine's own; what it leaves out is as there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GpuSpec {
    /// How many there are.
    #[serde(default = "one")]
    #[schemars(title = "count")]
    pub count: u32,
    /// Number of the socket, from 0, whose root complex they are at.
    #[serde(default)]
    #[schemars(title = "socket")]
    pub node: u32,
    /// Number of the socket whose core runs their sessions, and in whose memory staging lies; as `node` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "socket of sessions")]
    pub session_node: Option<u32>,
    /// Number of the socket in whose memory the user's buffers lie; as `session_node` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "socket of buffers")]
    pub buffer_node: Option<u32>,
    /// Number of the switch that they are below, from 0; they have a root port each if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "switch")]
    pub switch: Option<u32>,
    /// Number of the root complex that they share with all others that name it; one of its own for each if absent. That of GPUs below a switch is
    /// said there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "shared root complex")]
    pub root: Option<u32>,
    /// Their root ports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "root complex")]
    pub root_complex: Option<RootComplexSpec>,
    /// Their links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "link")]
    pub link: Option<LinkSpec>,
    /// Their copy engines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "copy engine")]
    pub copy_engine: Option<CopyEngineSpec>,
    /// AES-GCM in these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<GcmSpec>,
    /// Their tag queues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "tag queue")]
    pub tag_queue: Option<TagQueueSpec>,
    /// Their device memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "device memory")]
    pub hbm: Option<HbmSpec>,
    /// Their compute side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "compute")]
    pub compute: Option<ComputeSpec>,
}

/// The tables of a [`GpuSpec`].
pub(super) const TABLES: [&str; 7] = ["root_complex", "link", "copy_engine", "engine", "tag_queue", "hbm", "compute"];

/// The tables of a switch of which the same holds.
pub(super) const TABLES_OF_SWITCH: [&str; 1] = ["link"];

/// Where the machine's own tables have what is at a path in a list of GPUs or switches.
pub(super) fn path_in_own_tables(path: &str) -> Option<&str> {
    let of_gpu = path.strip_prefix("gpu[").and_then(|path| path.split_once("]."));
    let of_switch = || path.strip_prefix("switch[").and_then(|path| path.split_once("]."));
    of_gpu.or_else(of_switch).map(|(_, path)| path)
}

const fn one() -> u32 {
    1
}

/// Puts what is given in place of what is there.
fn put<T: Clone>(there: &mut T, given: Option<&T>) {
    if let Some(given) = given {
        there.clone_from(given);
    }
}

/// The sockets of a GPU: of its root port, of its session, and of the user's buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nodes {
    pub port: u32,
    /// Of the core that runs its session, and of staging.
    pub session: u32,
    pub buffers: u32,
}

impl MachineSpec {
    /// The GPUs like the one of that number, from 0; `None` where nothing is said of it.
    fn alike(&self, number: usize) -> Option<&GpuSpec> {
        let mut before = 0;
        self.gpu.iter().find(|alike| {
            before += alike.count as usize;
            number < before
        })
    }

    /// The number of the switch that the GPU of that number is below.
    pub fn switch_of(&self, number: usize) -> Option<usize> {
        self.alike(number)?.switch.map(|switch| switch as usize)
    }

    /// The number of the root complex that the GPU of that number shares, if it is below no switch.
    pub fn root_of(&self, number: usize) -> Option<u32> {
        self.alike(number)?.root
    }

    /// The sockets of the GPU of that number, from 0.
    pub fn nodes(&self, number: usize) -> Nodes {
        let (port, session, buffers) =
            self.alike(number).map_or((0, None, None), |gpu| (gpu.node, gpu.session_node, gpu.buffer_node));
        let session = session.unwrap_or(port);
        Nodes { port, session, buffers: buffers.unwrap_or(session) }
    }

    pub fn gpus(&self) -> usize {
        if self.gpu.is_empty() { 1 } else { self.gpu.iter().map(|alike| alike.count as usize).sum() }
    }

    /// The machine with the GPU of that number, from 0, as its only one.
    pub fn of_gpu(&self, number: usize) -> Self {
        let mut machine = Self { gpu: Vec::new(), switch: Vec::new(), ..self.clone() };
        let Some(own) = self.alike(number) else { return machine };
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
