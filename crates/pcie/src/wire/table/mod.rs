//! One row for each field of a packet, from which everything about it follows: where its bits are, what it is called in JSON, how text shows it,
//! which values it takes, which bits of a header are reserved, and which bit a fault flips by name.
//!
//! A header's bytes are its value, and a field is a view of them. Rows stand in JSON's order; a field's rank says where text has them.

mod json;

pub(super) use json::Words;
pub(super) use json::range;
pub use json::{FieldsError, Given, Value};

use std::fmt::Write;

/// A run of bits: the byte and the bit of its lowest one, and how many upwards. Of several the lowest comes first.
pub type Run = (u8, u8, u8);

/// What the bits of a field say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    Plain,
    /// Their value, but 0 stands for this one.
    ZeroIs(u64),
    Times4,
    /// Bytes, which JSON has as hexadecimal digits.
    Hex,
    /// Their value, if this flag is set; else they are reserved.
    With(&'static str),
    /// The kind, which JSON has by its name.
    Name,
    Scale,
    Flag,
}

/// When JSON must have a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// In every packet of the family.
    Always,
    /// In none: every packet has it, and it is 0 if absent.
    Common,
    /// In every packet of this kind.
    Own,
    /// In none: packets of this kind have it, and it is 0 if absent.
    OwnOrZero,
    /// In packets of this kind in which it is not 0.
    OwnUnlessZero,
    /// Never: it follows from what other fields are there.
    Never,
}

/// How text shows a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Decimal,
    /// Decimal, unless it is 0.
    NotZero,
    /// Binary, of so many digits.
    Binary(usize),
    /// Hexadecimal, `0x` and zeros in front up to so many characters.
    Hex(usize),
    /// All bytes, as hexadecimal digits.
    Bytes,
    /// Bus, device and function.
    Id,
    Dw,
    /// The names of the bits that are set.
    Flags(&'static [(u64, &'static str)]),
    /// What each value is called, from 0 on; nothing where the name is empty.
    Names(&'static [&'static str]),
    /// The value, and what it is called.
    Named(&'static [(u8, &'static str)]),
}

#[derive(Debug)]
pub struct Field {
    /// Its name in JSON, and for faults.
    pub name: &'static str,
    pub runs: &'static [Run],
    pub code: Code,
    pub due: Due,
    /// A flag without which it is not there.
    pub within: Option<&'static str>,
    /// What text calls it. Neighbours of one label share a line.
    pub label: &'static str,
    pub form: Form,
    /// Where it stands in text: lower ones first, equal ones in order.
    pub rank: u8,
}

#[derive(Debug)]
pub struct Kind {
    pub name: &'static str,
    pub first: u8,
    /// Which bits of the first byte tell the kind.
    pub mask: u8,
    /// Its fields, by groups that kinds share.
    pub fields: &'static [&'static [Field]],
}

/// A kind that the whole first byte tells.
pub(super) const fn kind(name: &'static str, first: u8, fields: &'static [&'static [Field]]) -> Kind {
    Kind { name, first, mask: 0xff, fields }
}

/// A field that every packet of the family must have.
pub(super) const fn always(name: &'static str, runs: &'static [Run]) -> Field {
    Field { due: Due::Always, ..own(name, runs) }
}

/// A field that every packet of the family has.
pub(super) const fn common(name: &'static str, runs: &'static [Run]) -> Field {
    Field { due: Due::Common, ..own(name, runs) }
}

/// A field that these kinds must have.
pub(super) const fn own(name: &'static str, runs: &'static [Run]) -> Field {
    Field {
        name,
        runs,
        code: Code::Plain,
        due: Due::Own,
        within: None,
        label: name,
        form: Form::Decimal,
        rank: OWN_RANK,
    }
}

/// The rank of what a kind has beside that of every packet.
const OWN_RANK: u8 = 10;

impl Field {
    pub(super) const fn code(self, code: Code) -> Self {
        Self { code, ..self }
    }

    /// JSON may leave it out.
    pub(super) const fn or_zero(self) -> Self {
        Self { due: Due::OwnOrZero, ..self }
    }

    /// JSON leaves it out if it is 0.
    pub(super) const fn unless_zero(self) -> Self {
        Self { due: Due::OwnUnlessZero, ..self }
    }

    /// It is there only beside this flag.
    pub(super) const fn within(self, flag: &'static str) -> Self {
        Self { due: Due::OwnOrZero, within: Some(flag), ..self }
    }

    /// JSON does not have it, nor does text.
    pub(super) const fn implied(self) -> Self {
        Self { due: Due::Never, ..self }.silent()
    }

    /// Text does not show it by itself.
    pub(super) const fn silent(self) -> Self {
        Self { form: Form::Names(&[]), ..self }
    }

    pub(super) const fn text(self, label: &'static str, form: Form) -> Self {
        Self { label, form, ..self }
    }

    pub(super) const fn rank(self, rank: u8) -> Self {
        Self { rank, ..self }
    }

    /// Whether it is a field of some kinds alone.
    pub const fn is_own(&self) -> bool {
        matches!(self.due, Due::Own | Due::OwnOrZero | Due::OwnUnlessZero)
    }

    pub fn bits(&self) -> u32 {
        self.runs.iter().map(|run| u32::from(run.2)).sum()
    }

    const fn most(bits: u32) -> u64 {
        if bits == 0 { 0 } else { u64::MAX >> (64 - bits) }
    }

    /// Its bits. Those of bytes that are not there are 0.
    pub fn raw(&self, bytes: &[u8]) -> u64 {
        let (mut value, mut at) = (0, 0);
        for &(byte, low, count) in self.runs {
            let byte = bytes.get(usize::from(byte)).copied().unwrap_or_default();
            value |= (u64::from(byte >> low) & Self::most(count.into())) << at;
            at += count;
        }
        value
    }

    fn put_raw(&self, bytes: &mut [u8], mut value: u64) {
        for &(byte, low, count) in self.runs {
            let mask = Self::most(count.into()) as u8;
            if let Some(byte) = bytes.get_mut(usize::from(byte)) {
                *byte = *byte & !(mask << low) | (value as u8 & mask) << low;
            }
            value >>= count;
        }
    }

    pub fn value(&self, bytes: &[u8]) -> u64 {
        match (self.code, self.raw(bytes)) {
            (Code::ZeroIs(full), 0) => full,
            (Code::Times4, raw) => raw << 2,
            (_, raw) => raw,
        }
    }

    /// Sets its value, cut to its bits.
    pub fn put(&self, bytes: &mut [u8], value: u64) {
        self.put_raw(bytes, if self.code == Code::Times4 { value >> 2 } else { value });
    }

    /// The least and the greatest value that it takes.
    pub fn range(&self) -> (u64, u64) {
        match self.code {
            Code::ZeroIs(full) => (1, full),
            Code::Times4 => (0, Self::most(self.bits() + 2)),
            _ => (0, Self::most(self.bits())),
        }
    }

    /// A value as text has it; none where there is nothing to say.
    fn shown(&self, value: u64) -> Option<String> {
        Some(match self.form {
            Form::NotZero if value == 0 => return None,
            Form::Decimal | Form::NotZero => value.to_string(),
            Form::Binary(digits) => format!("{value:0digits$b}"),
            Form::Hex(width) => format!("{value:#0width$x}"),
            Form::Bytes => format!("{value:0digits$x}", digits = self.bits() as usize / 4),
            Form::Id => id(value as u16),
            Form::Dw => format!("{value} DW"),
            Form::Flags(flags) => {
                let set: Vec<_> = flags.iter().filter(|flag| value & flag.0 != 0).map(|flag| flag.1).collect();
                return (!set.is_empty()).then(|| set.join(", "));
            }
            Form::Names(names) => {
                return names.get(value as usize).filter(|name| !name.is_empty()).map(|&name| name.to_owned());
            }
            Form::Named(names) => {
                let name = names.iter().find(|row| u64::from(row.0) == value);
                format!("{value}  {}", name.map_or("reserved", |row| row.1))
            }
        })
    }
}

/// Bus, device and function.
pub fn id(id: u16) -> String {
    format!("{:02x}:{:02x}.{}", id >> 8, id >> 3 & 0x1f, id & 7)
}

impl Kind {
    /// The kind of a packet with this first byte.
    pub fn of(kinds: &'static [Self], first: u8) -> Option<&'static Self> {
        kinds.iter().find(|kind| first & kind.mask == kind.first)
    }

    pub fn fields(&self) -> impl Iterator<Item = &'static Field> + use<> {
        self.fields.iter().copied().flatten()
    }

    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields().find(|field| field.name == name)
    }

    /// The value of a field; none if this kind does not have it.
    pub fn get(&self, bytes: &[u8], name: &str) -> Option<u64> {
        self.field(name).filter(|field| self.means(field, bytes)).map(|field| field.value(bytes))
    }

    /// Whether the bits of a field mean anything in this packet.
    fn means(&self, field: &Field, bytes: &[u8]) -> bool {
        let flag = match field.code {
            Code::With(flag) => Some(flag),
            _ => field.within,
        };
        flag.is_none_or(|flag| self.field(flag).is_some_and(|flag| flag.raw(bytes) != 0))
    }

    /// Sets a field, cut to its bits. One that this kind does not have changes nothing.
    pub fn put(&self, bytes: &mut [u8], name: &str, value: u64) {
        if let Some(field) = self.field(name) {
            field.put(bytes, value);
        }
    }

    /// Copies what fields say; reserved bits stay as they are in `to`.
    pub fn copy(&self, from: &[u8], to: &mut [u8]) {
        let said = self.fields().filter(|field| self.means(field, from));
        said.for_each(|field| field.put_raw(to, field.raw(from)));
    }

    pub fn rows(&self, bytes: &[u8]) -> Vec<(&'static str, String)> {
        let mut fields: Vec<_> = self.fields().filter(|field| self.means(field, bytes)).collect();
        fields.sort_by_key(|field| field.rank);
        let mut rows: Vec<(&str, String)> = Vec::new();
        for field in fields {
            let Some(shown) = field.shown(field.value(bytes)) else { continue };
            match rows.last_mut().filter(|row| row.0 == field.label) {
                Some(row) => _ = write!(row.1, ", {shown}"),
                None => rows.push((field.label, shown)),
            }
        }
        rows
    }
}

/// What TLPs of either mode have that are kept by their kind and their bytes.
macro_rules! by_fields {
    ($packet:ident) => {
        impl PartialEq for $packet {
            fn eq(&self, other: &Self) -> bool {
                self.bytes == other.bytes
            }
        }

        impl Eq for $packet {}

        impl $packet {
            /// Sets fields, cut to their width. One that this kind does not have changes nothing.
            pub fn with(mut self, values: &[(&str, u64)]) -> Self {
                for (name, value) in values {
                    self.kind.put(&mut self.bytes, name, *value);
                }
                self
            }

            /// The value of a field by its name; none if this kind does not have it, or this TLP does not have what it is in.
            pub fn get(&self, name: &str) -> Option<u64> {
                self.kind.get(&self.bytes, name)
            }

            /// The value of a field, 0 where it is not there.
            pub fn value(&self, name: &str) -> u64 {
                self.get(name).unwrap_or_default()
            }

            /// Labels and values, as text has them: all that rows do not silence.
            pub fn rows(&self) -> Vec<(&'static str, String)> {
                self.kind.rows(&self.bytes)
            }

            /// The name of the kind of TLP, for example `MWr64`.
            pub fn name(&self) -> &'static str {
                self.kind.name
            }

            /// Length in DW, 1 to 1024; as it stands in TLPs without data.
            pub fn length_dw(&self) -> u16 {
                self.value("length_dw") as u16
            }
        }
    };
}
pub(super) use by_fields;

/// Packets that one JSON form describes.
pub trait Family: Copy + Sized {
    /// One field for each name, in JSON's order: [`union`] of their kinds, kept.
    fn fields() -> &'static [&'static Field];
}

/// A family whose fields are collected once.
macro_rules! family {
    ($packet:ident, $fields:expr) => {
        impl $crate::wire::table::Family for $packet {
            fn fields() -> &'static [&'static $crate::wire::table::Field] {
                static FIELDS: std::sync::LazyLock<Vec<&$crate::wire::table::Field>> =
                    std::sync::LazyLock::new(|| $fields);
                &FIELDS
            }
        }
    };
}
pub(super) use family;

/// One field for each name that any of the kinds has.
pub fn union(kinds: &'static [Kind]) -> Vec<&'static Field> {
    let mut fields: Vec<&Field> = Vec::new();
    for field in kinds.iter().flat_map(Kind::fields).filter(|field| field.due != Due::Never) {
        match fields.iter_mut().find(|other| other.name == field.name) {
            // Of fields that share a name the widest says what JSON may hold.
            Some(other) if other.bits() < field.bits() => *other = field,
            Some(_) => {}
            None => fields.push(field),
        }
    }
    fields
}
