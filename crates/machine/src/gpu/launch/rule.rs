//! The rules a launch must obey, and where each is stated.

use std::fmt;
use thiserror::Error;

const UVM: &str = "open-gpu-kernel-modules 595.45.04, kernel-open/nvidia-uvm/";

macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident: $statement:literal, $from:expr;)*) => {
        /// A rule for LAUNCH_DMA.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Rule {
            $(#[doc = $statement] $name,)*
        }

        impl Rule {
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// What it asks for.
            pub const fn statement(self) -> &'static str {
                match self { $(Self::$name => $statement,)* }
            }

            /// Where it is stated: product sources, and what in them.
            pub fn stated_in(self) -> String {
                let (place, what): (&str, &str) = match self { $(Self::$name => $from,)* };
                format!("{place}{what}")
            }
        }
    };
}

const CLASS: &str = "open-gpu-doc c8607fe, classes/dma-copy/clc8b5.h: ";
const MODEL: &str = "check of this model: ";

rules! {
    KnownMethod: "the class has the method, and the datum sets only bits of its fields", (CLASS, "method list");
    ReservedValue: "no field holds a reserved value", (CLASS, "LAUNCH_DMA");
    Written: "each register that the launch uses has been written",
        (MODEL, "what unwritten registers hold is not published");
    SizeZero: "a transfer moves at least one byte",
        ("open-gpu-kernel-modules 595.45.04, kernel-open/common/inc/nv_uvm_interface.h: ", "nvUvmInterfaceCslEncrypt");
    AddressRange: "a range lies below 2^57", (CLASS, "OFFSET_IN_UPPER 24:0");
    DataAlignment: "above 32 bytes, source and destination of a secure copy are aligned to 32 bytes",
        (UVM, "uvm_conf_computing.h: UVM_CONF_COMPUTING_BUF_ALIGNMENT");
    OneSector: "up to 32 bytes, source and destination of a secure copy each lie in one 32-byte sector",
        (UVM, "uvm_hopper_ce.c: encrypt_or_decrypt");
    TagAlignment: "a tag pointer is aligned to 16 bytes",
        (UVM, "uvm_conf_computing.h: UVM_CONF_COMPUTING_AUTH_TAG_ALIGNMENT");
    IvAlignment: "an IV pointer is aligned to 16 bytes",
        (UVM, "uvm_conf_computing.h: UVM_CONF_COMPUTING_IV_ALIGNMENT");
    EncryptAperture: "a physical encryption goes from vidmem to sysmem",
        (UVM, "uvm_hopper_ce.c: uvm_hal_hopper_ce_encrypt");
    DecryptAperture: "a physical decryption goes from sysmem to vidmem",
        (UVM, "uvm_hopper_ce.c: uvm_hal_hopper_ce_decrypt");
    PlainAperture: "with confidential computing on, a physical plain copy or fill stays in vidmem",
        (UVM, "uvm_hopper_ce.c: uvm_hal_hopper_ce_memcopy_is_valid, uvm_hal_hopper_ce_memset_is_valid");
    MixedProtection: "both ends of a plain copy are protected, or both are not",
        (UVM, "uvm_hopper_ce.c: uvm_hal_hopper_ce_memcopy_is_valid");
    CopyType: "COPY_TYPE tells the side that both ends are on",
        (UVM, "uvm_hopper_ce.c: hopper_memcopy_copy_type");
    SecureSides: "plaintext is protected; ciphertext, tag and IV are not",
        (UVM, "uvm_conf_computing.h and uvm_mem.c: sysmem_can_be_mapped_on_gpu");
    PeerMemory: "with confidential computing on, no copy reaches a peer (as the driver declares for Hopper)",
        (UVM, "uvm_hopper.c: hopper_peer_copy_mode");
    NotConfidential: "secure copies need confidential computing to be on", (MODEL, "the keys do not exist otherwise");
    SecureShape: "a secure copy is one line in pitch layout without remap; other shapes are unmodelled",
        (UVM, "uvm_hopper_ce.c: encrypt_or_decrypt uses no other, and no source states that others are legal");
    Unmodelled: "the launch uses only what this model covers",
        (MODEL, "block-linear layouts, general remaps, render enables, VPR, scrubbing, floating-point reductions, conditional interrupts");
    SemaphoreAlignment: "a semaphore is aligned to its own size", (MODEL, "assumed; the class header is silent");
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// Why a launch, or the write of a register, is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{found}; rule {rule}: {} [{}]", .rule.statement(), .rule.stated_in())]
pub struct LaunchError {
    /// The rule that is broken.
    pub rule: Rule,
    /// What was found instead.
    pub found: String,
}

impl Rule {
    /// Refuses with what was `found`.
    pub(super) fn broken<T>(self, found: impl Into<String>) -> Result<T, LaunchError> {
        Err(LaunchError { rule: self, found: found.into() })
    }

    pub(super) fn require(self, holds: bool, found: impl FnOnce() -> String) -> Result<(), LaunchError> {
        if holds { Ok(()) } else { self.broken(found()) }
    }
}
