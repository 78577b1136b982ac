//! Messages of the format, schema 0.0.4 of `et_def.proto`: the fields that are read and written. Others are passed over.

use prost::{Message, Oneof};

/// The version of the schema that is read, and written.
pub(super) const VERSION: &str = "0.0.4";

#[derive(Clone, PartialEq, Message)]
pub(super) struct Metadata {
    #[prost(string, tag = "1")]
    pub version: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Node {
    #[prost(uint64, tag = "1")]
    pub id: u64,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(int32, tag = "3")]
    pub kind: i32,
    #[prost(uint64, repeated, tag = "4")]
    pub control: Vec<u64>,
    #[prost(uint64, repeated, tag = "5")]
    pub data: Vec<u64>,
    #[prost(uint64, tag = "6")]
    pub start_micros: u64,
    #[prost(uint64, tag = "7")]
    pub duration_micros: u64,
    #[prost(message, repeated, tag = "10")]
    pub attributes: Vec<Attribute>,
}

/// What a node says beyond that.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Attribute {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(oneof = "Value", tags = "7, 9, 11, 13, 15, 17, 19, 21, 27, 29")]
    pub value: Option<Value>,
}

/// Writers do not agree on the width of a number.
#[derive(Clone, PartialEq, Oneof)]
pub(super) enum Value {
    #[prost(int32, tag = "7")]
    Int32(i32),
    #[prost(int64, tag = "9")]
    Int64(i64),
    #[prost(uint32, tag = "11")]
    Uint32(u32),
    #[prost(uint64, tag = "13")]
    Uint64(u64),
    #[prost(sint32, tag = "15")]
    Sint32(i32),
    #[prost(sint64, tag = "17")]
    Sint64(i64),
    #[prost(fixed32, tag = "19")]
    Fixed32(u32),
    #[prost(fixed64, tag = "21")]
    Fixed64(u64),
    #[prost(bool, tag = "27")]
    Bool(bool),
    #[prost(string, tag = "29")]
    Text(String),
}

impl Node {
    fn value(&self, name: &str) -> Option<&Value> {
        self.attributes.iter().find(|attribute| attribute.name == name)?.value.as_ref()
    }

    /// A number that is not negative.
    pub fn number(&self, name: &str) -> Option<u64> {
        match self.value(name)? {
            Value::Int32(number) | Value::Sint32(number) => u64::try_from(*number).ok(),
            Value::Int64(number) | Value::Sint64(number) => u64::try_from(*number).ok(),
            Value::Uint32(number) | Value::Fixed32(number) => Some(u64::from(*number)),
            Value::Uint64(number) | Value::Fixed64(number) => Some(*number),
            Value::Bool(truth) => Some(u64::from(*truth)),
            Value::Text(text) => text.parse().ok(),
        }
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        match self.value(name)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn truth(&self, name: &str) -> Option<bool> {
        self.number(name).map(|number| number != 0)
    }
}
