//! The method map, as data: one row per method, with its offset and its fields.
//!
//! Names, offsets and bits are those of clc8b5.h (NVIDIA open-gpu-doc, commit c8607fe).

/// Bits `high..=low` of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    pub high: u32,
    pub low: u32,
}

impl Field {
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
    pub fn reserved(&self) -> u32 {
        !self.fields.iter().fold(0, |bits, field| bits | field.mask())
    }
}

/// The row of the method at a byte offset.
#[inline]
pub fn find(offset: u16) -> Option<usize> {
    METHODS.binary_search_by_key(&offset, |method| method.offset).ok()
}

macro_rules! methods {
    ($($name:ident $offset:literal { $($field:ident $high:literal : $low:literal),* $(,)? })*) => {
        $(
            #[allow(non_snake_case, dead_code, reason = "the class header's own name; not all of it is driven")]
            pub mod $name {
                /// Byte offset of the method.
                pub const OFFSET: u16 = $offset;
                $(pub const $field: super::Field = super::Field { high: $high, low: $low };)*
            }
        )*
        /// All rows, by rising offset.
        pub static METHODS: &[Method] = &[
            $(Method { name: stringify!($name), offset: $offset, fields: &[$($name::$field),*] },)*
        ];
        pub const ROWS: usize = [$($offset),*].len();
    };
}

methods! {
    SET_SEMAPHORE_A 0x240 { UPPER 24:0 }
    SET_SEMAPHORE_B 0x244 { LOWER 31:0 }
    SET_SEMAPHORE_PAYLOAD 0x248 { PAYLOAD 31:0 }
    LAUNCH_DMA 0x300 {
        DATA_TRANSFER_TYPE 1:0, FLUSH_ENABLE 2:2, SEMAPHORE_TYPE 4:3, INTERRUPT_TYPE 6:5, SRC_MEMORY_LAYOUT 7:7, DST_MEMORY_LAYOUT 8:8,
        MULTI_LINE_ENABLE 9:9, REMAP_ENABLE 10:10, FORCE_RMWDISABLE 11:11, SRC_TYPE 12:12, DST_TYPE 13:13, SEMAPHORE_REDUCTION 17:14,
        SEMAPHORE_REDUCTION_SIGN 18:18, SEMAPHORE_REDUCTION_ENABLE 19:19, COPY_TYPE 21:20, VPRMODE 22:22, MEMORY_SCRUB_ENABLE 23:23,
        RESERVED_START_OF_COPY 24:24, FLUSH_TYPE 25:25, DISABLE_PLC 26:26, SEMAPHORE_PAYLOAD_SIZE 27:27, RESERVED_ERR_CODE 31:28,
    }
    OFFSET_IN_UPPER 0x400 { UPPER 24:0 }
    OFFSET_IN_LOWER 0x404 { VALUE 31:0 }
    OFFSET_OUT_UPPER 0x408 { UPPER 24:0 }
    OFFSET_OUT_LOWER 0x40C { VALUE 31:0 }
    LINE_LENGTH_IN 0x418 { VALUE 31:0 }
    SET_SECURE_COPY_MODE 0x500 { MODE 0:0 }
    SET_DECRYPT_AUTH_TAG_COMPARE_ADDR_UPPER 0x514 { UPPER 24:0 }
    SET_DECRYPT_AUTH_TAG_COMPARE_ADDR_LOWER 0x518 { LOWER 31:0 }
    SET_ENCRYPT_AUTH_TAG_ADDR_UPPER 0x530 { UPPER 24:0 }
    SET_ENCRYPT_AUTH_TAG_ADDR_LOWER 0x534 { LOWER 31:0 }
    SET_ENCRYPT_IV_ADDR_UPPER 0x538 { UPPER 24:0 }
    SET_ENCRYPT_IV_ADDR_LOWER 0x53C { LOWER 31:0 }
}
