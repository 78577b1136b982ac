//! What AES-GCM on SMs is built of: where the GPU seals and opens, the SM, and the kernel that runs on it.

use crate::units::{Bytes, Cycles, Frequency};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who seals and opens on the GPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GpuCryptoSpec {
    /// Where it happens.
    #[schemars(title = "place of GPU cryptography")]
    pub place: CryptoPlace,
}

/// Where the GPU seals and opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CryptoPlace {
    /// In the AES-GCM engines of the copy engines, as the bytes pass.
    CopyEngine,
    /// In kernels on SMs; copy engines move ciphertext between host memory and a buffer in device memory.
    Sm,
}

/// Streaming multiprocessors (SM), and the AES-GCM kernel on them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SmSpec {
    /// Clock.
    #[schemars(title = "clock")]
    pub clock: Frequency,
    /// SMs of the GPU.
    #[schemars(title = "count of the GPU")]
    pub count: u32,
    /// SMs that a kernel takes.
    #[schemars(title = "count of the kernel", extend("relaxes" = "up"))]
    pub used: u32,
    /// Sub-cores of an SM, each of which issues one instruction per cycle.
    #[schemars(title = "sub-cores", extend("relaxes" = "up"))]
    pub sub_cores: u32,
    /// Lanes for integer and logic instructions of an SM, all sub-cores together.
    #[schemars(title = "lanes", extend("relaxes" = "up"))]
    pub lanes: u32,
    /// Banks of shared memory, each of which gives or takes 4 bytes per cycle.
    #[schemars(title = "shared-memory banks", extend("relaxes" = "up"))]
    pub banks: u32,
    /// Shared memory that a kernel may have on an SM.
    #[schemars(title = "shared memory of a kernel", extend("relaxes" = "up"))]
    pub shared_memory: Bytes,
    /// Registers of 32 bits of an SM.
    #[schemars(title = "registers", extend("relaxes" = "up"))]
    pub registers: u32,
    /// Warps of the kernel on an SM: a power of two.
    #[schemars(title = "warps", extend("relaxes" = "up"))]
    pub warps: u32,
    /// From an integer instruction to one that uses its result.
    #[schemars(title = "integer latency", extend("relaxes" = "down"))]
    pub integer_latency: Cycles,
    /// From the last pass of a load from shared memory to an instruction that uses it.
    #[schemars(title = "shared-memory latency", extend("relaxes" = "down"))]
    pub shared_latency: Cycles,
    /// From a load from device memory to an instruction that uses it.
    #[schemars(title = "load latency", extend("relaxes" = "down"))]
    pub load_latency: Cycles,
    /// Products of single bits that the tensor cores of an SM add per cycle; for `ghash = "tensor_core"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "tensor-core products per cycle", extend("relaxes" = "up"))]
    pub tensor_products: Option<u32>,
    /// For each 16 KiB of the message, one after the other, a single thread multiplies and adds their value, as the published kernel does
    /// for its blocks of 1024 threads; absent if sums are made in log2 levels alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "serial sum of 16 KiB", extend("relaxes" = "down"))]
    pub serial_sum: Option<Cycles>,
    /// How the kernel enciphers.
    #[schemars(title = "AES kernel")]
    pub aes: AesKernel,
    /// How the kernel authenticates.
    #[schemars(title = "GHASH kernel")]
    pub ghash: GhashKernel,
}

pub const REGISTERS_PER_THREAD: u64 = 128;

impl SmSpec {
    /// Shared memory that the kernel takes on an SM.
    pub fn shared_memory_needed(&self) -> u64 {
        let (banks, warps) = (u64::from(self.banks), u64::from(self.warps));
        let aes = if self.aes == AesKernel::TTables { 1024 * banks + 8 * 1024 } else { 0 };
        // A table of 2 KiB for each level between warps and threads, for the SM's own power, and for a step.
        let levels = u64::from(self.warps.max(1).ilog2()) + 5 + 1;
        let (tables, matrices) = match self.ghash {
            GhashKernel::FourBitTables => (levels + 1, 0),
            GhashKernel::ShiftAndXor => (levels, 0),
            GhashKernel::TensorCore => (levels + 1, 32 * 2048),
        };
        aes + 2048 * tables + matrices + 512 * warps
    }

    /// Whether the kernel needs a rate of tensor cores that is not given.
    pub fn misses_tensor_rate(&self) -> bool {
        self.ghash == GhashKernel::TensorCore && self.tensor_products.is_none()
    }

    pub fn tensor_rate_missing(&self) -> String {
        "the kernel authenticates on tensor cores, whose rate is not given".to_owned()
    }
}

/// How a kernel enciphers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AesKernel {
    /// A table of 1 KiB in shared memory, one copy per bank.
    TTables,
    /// Without tables, on the bits of 32 blocks at once.
    Bitsliced,
}

/// How a kernel authenticates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GhashKernel {
    /// Tables of sixteen multiples of a power of H in shared memory (Shoup), eight copies.
    FourBitTables,
    /// Bit by bit, without tables.
    ShiftAndXor,
    /// As a product of bit matrices on tensor cores; a multiplication with tables per 32 blocks.
    TensorCore,
}
