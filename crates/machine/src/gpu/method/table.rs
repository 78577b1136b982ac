//! The method map, as data: one row per method, with its offset and its fields.
//!
//! Names, offsets and bits are those of clc8b5.h (NVIDIA open-gpu-doc, commit c8607fe) and clc86f.h
//! (open-gpu-kernel-modules 595.45.04).

/// Bits `high..=low` of a method's datum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Name, as in the class header.
    pub name: &'static str,
    pub high: u32,
    pub low: u32,
}

impl Field {
    /// The field's bits, in place.
    pub const fn mask(self) -> u32 {
        (u32::MAX >> (31 - (self.high - self.low))) << self.low
    }

    /// The field's value in `word`.
    pub const fn get(self, word: u32) -> u32 {
        (word & self.mask()) >> self.low
    }

    /// `value` in this field's place; bits that do not fit are dropped.
    pub const fn put(self, value: u32) -> u32 {
        (value << self.low) & self.mask()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// The host, HOPPER_CHANNEL_GPFIFO_A = 0xC86F.
    Host,
    /// The copy engine, HOPPER_DMA_COPY_A = 0xC8B5.
    CopyEngine,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Method {
    /// Name, as in the class header.
    pub name: &'static str,
    /// Byte offset, a multiple of 4.
    pub offset: u16,
    pub fields: &'static [Field],
}

impl Method {
    /// Bits of the datum that no field covers and that must be zero.
    #[inline]
    pub fn reserved(&self) -> u32 {
        !self.fields.iter().fold(0, |bits, field| bits | field.mask())
    }
}

#[inline]
pub fn find(class: Class, offset: u16) -> Option<&'static Method> {
    let map = match class {
        Class::Host => c86f::METHODS,
        Class::CopyEngine => c8b5::METHODS,
    };
    map.binary_search_by_key(&offset, |m| m.offset).ok().and_then(|row| map.get(row))
}

macro_rules! methods {
    ($($name:ident $offset:literal { $($field:ident $high:literal : $low:literal),* $(,)? })*) => {
        $(
            #[doc = concat!("Method ", stringify!($name), ".")]
            #[allow(non_snake_case, reason = "the class header's own name")]
            pub mod $name {
                /// Byte offset of the method.
                pub const OFFSET: u16 = $offset;
                $(
                    #[doc = concat!("Bits ", stringify!($high), ":", stringify!($low), ".")]
                    pub const $field: super::Field =
                        super::Field { name: stringify!($field), high: $high, low: $low };
                )*
            }
        )*
        /// All rows, by rising offset.
        pub static METHODS: &[Method] = &[
            $(Method { name: stringify!($name), offset: $offset, fields: &[$($name::$field),*] },)*
        ];
    };
}

/// Host methods (class 0xC86F). They act on the channel, whatever the subchannel.
pub mod c86f {
    use super::{Field, Method};

    methods! {
        SET_OBJECT 0x000 { NVCLASS 15:0, ENGINE 20:16 }
        NOP 0x008 { HANDLE 31:0 }
        MEM_OP_A 0x028 { WORD 31:0 }
        MEM_OP_B 0x02C { WORD 31:0 }
        MEM_OP_C 0x030 { WORD 31:0 }
        MEM_OP_D 0x034 { WORD 31:0 }
        SEM_ADDR_LO 0x05C { ADDRESS 31:2 }
        SEM_ADDR_HI 0x060 { ADDRESS 24:0 }
        SEM_PAYLOAD_LO 0x064 { PAYLOAD 31:0 }
        SEM_PAYLOAD_HI 0x068 { PAYLOAD 31:0 }
        SEM_EXECUTE 0x06C { WORD 31:0 }
        WFI 0x078 { SCOPE 0:0 }
    }
}

/// Copy engine methods (class 0xC8B5).
pub mod c8b5 {
    use super::{Field, Method};

    methods! {
        NOP 0x100 { PARAMETER 31:0 }
        PM_TRIGGER 0x140 { V 31:0 }
        SET_MONITORED_FENCE_TYPE 0x21C { TYPE 0:0 }
        SET_MONITORED_FENCE_SIGNAL_ADDR_BASE_UPPER 0x220 { UPPER 24:0 }
        SET_MONITORED_FENCE_SIGNAL_ADDR_BASE_LOWER 0x224 { LOWER 31:0 }
        SET_SEMAPHORE_A 0x240 { UPPER 24:0 }
        SET_SEMAPHORE_B 0x244 { LOWER 31:0 }
        SET_SEMAPHORE_PAYLOAD 0x248 { PAYLOAD 31:0 }
        SET_SEMAPHORE_PAYLOAD_UPPER 0x24C { PAYLOAD 31:0 }
        SET_RENDER_ENABLE_A 0x254 { UPPER 24:0 }
        SET_RENDER_ENABLE_B 0x258 { LOWER 31:0 }
        SET_RENDER_ENABLE_C 0x25C { MODE 2:0 }
        SET_SRC_PHYS_MODE 0x260 { TARGET 1:0, BASIC_KIND 5:2, PEER_ID 8:6, FLA 9:9 }
        SET_DST_PHYS_MODE 0x264 { TARGET 1:0, BASIC_KIND 5:2, PEER_ID 8:6, FLA 9:9 }
        LAUNCH_DMA 0x300 {
            DATA_TRANSFER_TYPE 1:0, FLUSH_ENABLE 2:2, SEMAPHORE_TYPE 4:3, INTERRUPT_TYPE 6:5,
            SRC_MEMORY_LAYOUT 7:7, DST_MEMORY_LAYOUT 8:8, MULTI_LINE_ENABLE 9:9, REMAP_ENABLE 10:10,
            FORCE_RMWDISABLE 11:11, SRC_TYPE 12:12, DST_TYPE 13:13, SEMAPHORE_REDUCTION 17:14,
            SEMAPHORE_REDUCTION_SIGN 18:18, SEMAPHORE_REDUCTION_ENABLE 19:19, COPY_TYPE 21:20, VPRMODE 22:22,
            MEMORY_SCRUB_ENABLE 23:23, RESERVED_START_OF_COPY 24:24, FLUSH_TYPE 25:25, DISABLE_PLC 26:26,
            SEMAPHORE_PAYLOAD_SIZE 27:27, RESERVED_ERR_CODE 31:28,
        }
        OFFSET_IN_UPPER 0x400 { UPPER 24:0 }
        OFFSET_IN_LOWER 0x404 { VALUE 31:0 }
        OFFSET_OUT_UPPER 0x408 { UPPER 24:0 }
        OFFSET_OUT_LOWER 0x40C { VALUE 31:0 }
        PITCH_IN 0x410 { VALUE 31:0 }
        PITCH_OUT 0x414 { VALUE 31:0 }
        LINE_LENGTH_IN 0x418 { VALUE 31:0 }
        LINE_COUNT 0x41C { VALUE 31:0 }
        SET_SECURE_COPY_MODE 0x500 { MODE 0:0 }
        SET_DECRYPT_AUTH_TAG_COMPARE_ADDR_UPPER 0x514 { UPPER 24:0 }
        SET_DECRYPT_AUTH_TAG_COMPARE_ADDR_LOWER 0x518 { LOWER 31:0 }
        SET_ENCRYPT_AUTH_TAG_ADDR_UPPER 0x530 { UPPER 24:0 }
        SET_ENCRYPT_AUTH_TAG_ADDR_LOWER 0x534 { LOWER 31:0 }
        SET_ENCRYPT_IV_ADDR_UPPER 0x538 { UPPER 24:0 }
        SET_ENCRYPT_IV_ADDR_LOWER 0x53C { LOWER 31:0 }
        SET_MEMORY_SCRUB_PARAMETERS 0x6FC { DISCARDABLE 0:0 }
        SET_REMAP_CONST_A 0x700 { V 31:0 }
        SET_REMAP_CONST_B 0x704 { V 31:0 }
        SET_REMAP_COMPONENTS 0x708 {
            DST_X 2:0, DST_Y 6:4, DST_Z 10:8, DST_W 14:12, COMPONENT_SIZE 17:16, NUM_SRC_COMPONENTS 21:20,
            NUM_DST_COMPONENTS 25:24,
        }
        SET_DST_BLOCK_SIZE 0x70C { WIDTH 3:0, HEIGHT 7:4, DEPTH 11:8, GOB_HEIGHT 15:12 }
        SET_DST_WIDTH 0x710 { V 31:0 }
        SET_DST_HEIGHT 0x714 { V 31:0 }
        SET_DST_DEPTH 0x718 { V 31:0 }
        SET_DST_LAYER 0x71C { V 31:0 }
        SET_DST_ORIGIN 0x720 { X 15:0, Y 31:16 }
        SET_SRC_BLOCK_SIZE 0x728 { WIDTH 3:0, HEIGHT 7:4, DEPTH 11:8, GOB_HEIGHT 15:12 }
        SET_SRC_WIDTH 0x72C { V 31:0 }
        SET_SRC_HEIGHT 0x730 { V 31:0 }
        SET_SRC_DEPTH 0x734 { V 31:0 }
        SET_SRC_LAYER 0x738 { V 31:0 }
        SET_SRC_ORIGIN 0x73C { X 15:0, Y 31:16 }
        SRC_ORIGIN_X 0x744 { VALUE 31:0 }
        SRC_ORIGIN_Y 0x748 { VALUE 31:0 }
        DST_ORIGIN_X 0x74C { VALUE 31:0 }
        DST_ORIGIN_Y 0x750 { VALUE 31:0 }
        PM_TRIGGER_END 0x1114 { V 31:0 }
    }
}
