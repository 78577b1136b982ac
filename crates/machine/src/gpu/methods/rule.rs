//! The rules that a push must obey, and where each is stated.

use thiserror::Error;

const UVM: &str = "open-gpu-kernel-modules 595.45.04, kernel-open/nvidia-uvm/";
const CLASS: &str = "open-gpu-doc c8607fe, classes/dma-copy/clc8b5.h: ";
const HOST: &str = "open-gpu-doc c8607fe, classes/host/clc56f.h: ";
const MODEL: &str = "check of this model: ";

macro_rules! rules {
    ($($name:ident: $statement:literal, $from:expr;)*) => {
        /// A rule for the methods of a push.
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

rules! {
    Header: "a header is incrementing, for the copy engine's subchannel, with all of its data words behind it", (HOST, "DMA_INCR");
    KnownMethod: "the class has the method, and the datum sets only bits of its fields", (CLASS, "method list");
    Written: "each register that the launch uses has been written", (MODEL, "what unwritten registers hold is not published");
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
    MixedProtection: "with confidential computing on, both ends of a plain copy are protected",
        (UVM, "uvm_hopper_ce.c: uvm_hal_hopper_ce_memcopy_is_valid, hopper_memcopy_copy_type");
    SecureSides: "plaintext is protected; ciphertext, tag and IV are not",
        (UVM, "uvm_conf_computing.h and uvm_mem.c: sysmem_can_be_mapped_on_gpu");
    NotConfidential: "secure copies need confidential computing to be on", (MODEL, "the keys do not exist otherwise");
    Unmodelled: "the launch uses only what this model covers",
        (MODEL, "one line of virtual addresses to or from device memory, or a release of one word");
    SemaphoreAlignment: "a semaphore is aligned to its own size", (MODEL, "assumed; the class header is silent");
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("word {word:#010x} at byte {at}: {found}; rule {rule:?}: {} [{}]", .rule.statement(), .rule.stated_in())]
pub struct MethodError {
    /// Byte offset of the word in its push.
    pub at: usize,
    pub word: u32,
    pub rule: Rule,
    /// What was found instead.
    pub found: String,
}

/// A rule that is broken, and what was found.
pub(super) type Broken = (Rule, String);

impl Rule {
    pub(super) fn require(self, holds: bool, found: impl FnOnce() -> String) -> Result<(), Broken> {
        if holds { Ok(()) } else { Err((self, found())) }
    }
}
