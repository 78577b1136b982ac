//! A whole machine: the specs of its units, as one table.

use super::gpu::GpuSpec;
use crate::aead::bytes::WireFormat;
use crate::aead::spec::{AeadSpec, EngineSpec};
use crate::fabric::spec::FabricSpec;
use crate::gcm::spec::GcmSpec;
use crate::gpu::sm::spec::{CryptoPlace, GpuCryptoSpec, SmSpec};
use crate::gpu::spec::{Common, ComputeSpec, CopyEngineSpec, HbmSpec, Sharers, TagQueueSpec};
use crate::host::calls::CallsSpec;
use crate::host::spec::{CipherSpec, CpuSpec, DriverSpec, MemorySpec, NumaSpec, StagingSpec};
use crate::pcie::spec::{LinkSpec, RootComplexSpec, SwitchSpec};
use crate::units::Femtos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

/// One host and its GPUs, with the sealed copy path between them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MachineSpec {
    /// Short name.
    #[schemars(title = "machine")]
    pub name: String,
    /// What it stands for, in a sentence.
    #[schemars(title = "what the machine stands for")]
    pub summary: String,
    /// Whether the guest and the GPU keep their data from everyone else. Copies are then sealed, unless the link has IDE.
    #[schemars(title = "confidential computing")]
    pub confidential_computing: bool,
    /// The CPU that runs driver and cipher.
    #[schemars(title = "CPU")]
    pub cpu: CpuSpec,
    /// AES-GCM, or the path's other AEAD, in software on the CPU.
    #[schemars(title = "CPU cipher")]
    pub cipher: CipherSpec,
    /// Private memory behind the CPU's caches.
    #[schemars(title = "host memory")]
    pub memory: MemorySpec,
    /// Shared memory through which sealed messages pass.
    #[schemars(title = "staging")]
    pub staging: StagingSpec,
    /// Driver and runtime work around the copies.
    #[schemars(title = "driver")]
    pub driver: DriverSpec,
    /// The root complex in front of host memory.
    #[schemars(title = "root complex")]
    pub root_complex: RootComplexSpec,
    /// The PCIe link.
    #[schemars(title = "link")]
    pub link: LinkSpec,
    /// The GPU's copy engine.
    #[schemars(title = "copy engine")]
    pub copy_engine: CopyEngineSpec,
    /// AES-GCM in the copy engine, unless `aead` stands there.
    pub engine: GcmSpec,
    /// The engine of another AEAD, with which copy engine and CPU then seal and open in place of AES-GCM; `engine` is not there then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aead: Option<AeadSpec>,
    /// Messages whose tags are not yet verified.
    #[schemars(title = "tag queue")]
    pub tag_queue: TagQueueSpec,
    /// Device memory.
    #[schemars(title = "device memory")]
    pub hbm: HbmSpec,
    /// Kernels, and what hands out the work of streams.
    #[schemars(title = "GPU compute")]
    pub compute: ComputeSpec,
    /// Who seals and opens on the GPU; without, the copy engines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_crypto: Option<GpuCryptoSpec>,
    /// SMs that seal and open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "SM")]
    pub sm: Option<SmSpec>,
    /// What calls of the CUDA runtime cost in addition to copies, for the replay of profiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "runtime calls:")]
    pub calls: Option<CallsSpec>,
    /// The links between GPUs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "fabric")]
    pub fabric: Option<FabricSpec>,
    /// The link between sockets, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "link between sockets")]
    pub numa: Option<NumaSpec>,
    /// The GPUs, where there are several, in the order of their numbers. What they do not say is as above.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "GPU")]
    pub gpu: Vec<GpuSpec>,
    /// The switches between root ports and GPUs, in the order of their numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "switch")]
    pub switch: Vec<SwitchSpec>,
}

/// Reads and writes a machine's fields one by one.
macro_rules! fields {
    ($($field:ident),*) => {
        impl MachineSpec {
            /// A field as JSON; `None` where it is not there.
            pub(super) fn field(&self, name: &str) -> Option<Json> {
                // Names every field, so that none is forgotten below.
                let Self { $($field),* } = self;
                match name {
                    $(stringify!($field) => serde_json::to_value($field).ok().filter(|json| !json.is_null() && *json != json!([])),)*
                    _ => None,
                }
            }

            /// Fills a field anew; `None` if it takes no such value.
            pub(super) fn set_field(&mut self, name: &str, json: Json) -> Option<()> {
                match name {
                    $(stringify!($field) => self.$field = serde_json::from_value(json).ok()?,)*
                    _ => return None,
                }
                Some(())
            }

            /// Takes a field over from another machine; `None` if there is no such field.
            pub(super) fn take_field(&mut self, name: &str, other: &Self) -> Option<()> {
                match name {
                    $(stringify!($field) => self.$field = other.$field.clone(),)*
                    _ => return None,
                }
                Some(())
            }
        }
    };
}

fields!(
    name,
    summary,
    confidential_computing,
    cpu,
    cipher,
    memory,
    staging,
    driver,
    root_complex,
    link,
    copy_engine,
    engine,
    aead,
    tag_queue,
    hbm,
    compute,
    gpu_crypto,
    sm,
    calls,
    fabric,
    numa,
    gpu,
    switch
);

impl MachineSpec {
    /// From the doorbell of a kernel on, what its sealed push takes beyond its call.
    pub fn sealed_launch(&self) -> Femtos {
        let time = |cycles: u64| {
            let femtos = u128::from(cycles) * 1_000_000_000_000_000 / u128::from(self.cpu.clock.0.max(1));
            Femtos(u64::try_from(femtos).unwrap_or(u64::MAX))
        };
        let (launch, push) = (time(self.driver.launch.0), time(self.driver.secure_push.0));
        let call = self.calls.as_ref().filter(|_| self.sealed_path()).map(|calls| calls.launch.more(launch));
        call.map_or(Femtos::ZERO, |call| push.saturating_sub(call))
    }

    /// Between two kernels of a graph.
    pub fn gap(&self) -> Femtos {
        let gap = self.calls.as_ref().map(|calls| calls.gap);
        gap.map_or(Femtos::ZERO, |gap| if self.sealed_path() { gap.secure } else { gap.off })
    }

    /// What seals between CPU and GPU, and opens as well but for [its GHASH](Self::opening).
    pub fn sealing(&self) -> EngineSpec {
        match &self.aead {
            Some(aead) => EngineSpec::Other(aead.clone()),
            None => EngineSpec::Gcm(self.engine.clone()),
        }
    }

    /// What opens between CPU and GPU.
    pub fn opening(&self) -> EngineSpec {
        let mut engine = self.sealing();
        if let (EngineSpec::Gcm(engine), Some(ghash)) = (&mut engine, &self.copy_engine.open_ghash) {
            engine.ghash.clone_from(ghash);
        }
        engine
    }

    /// The SMs, if copies are sealed and it is they who seal and open on the GPU.
    pub fn sealing_sms(&self) -> Option<&SmSpec> {
        let place = self.gpu_crypto.as_ref().map(|crypto| crypto.place);
        self.sm.as_ref().filter(|_| self.sealed_path() && place == Some(CryptoPlace::Sm))
    }

    /// What the PCEs that seal and open have in common.
    pub fn common(&self) -> Common {
        let sealing = self.sealed_path() && self.sealing_sms().is_none();
        self.copy_engine.common().filter(|_| sealing).unwrap_or(Common::Nothing)
    }

    /// Whether they have one engine between them.
    pub fn shared_engine(&self) -> bool {
        self.common() == Common::Engine
    }

    /// What sealed messages carry.
    pub fn format(&self) -> WireFormat {
        let format = self.sealing().format().with_text_crc(self.cipher.text_crc.is_some());
        let longest = self.driver.pinned.message.max(self.driver.pageable.message);
        self.tag_queue.tag_every.map_or(format, |every| format.with_chunks(every.0, longest.0))
    }

    /// Bytes of the quarantine that all PCEs share, where plaintext waits in one.
    pub fn common_quarantine(&self) -> Option<u64> {
        let common = self.copy_engine.quarantine_sharers() == Sharers::Gpu && self.sealed_path();
        (common && self.tag_queue.release.quarantines()).then_some(self.tag_queue.quarantine.0)
    }

    /// Whether copies between host and GPU are sealed as messages and pass through shared memory. With confidential computing on a
    /// link with IDE they are not: the link protects them, and the GPU reaches private memory itself.
    pub const fn sealed_path(&self) -> bool {
        self.confidential_computing && self.link.ide.is_none()
    }
}
