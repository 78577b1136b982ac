//! From TOML to operations.

use super::{
    examples::example,
    fields::{Given, Reader, short},
    head::{self, Head},
    name::{Name, is_index},
    operation::{Act, OPERATIONS, Operation},
};
use crate::{
    system::{Direction, Memory, Pages},
    units::{ByteRate, Bytes, Femtos},
    workload::{
        MAX_BYTES, MAX_KERNELS, MAX_STEPS,
        collective::{Collective, CollectiveCall},
    },
};
use std::ops::Range;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

const DIRECTIONS: [(&str, Direction); 3] = [("h2d", Direction::H2d), ("d2h", Direction::D2h), ("d2d", Direction::D2d)];
const MEMORIES: [(&str, Memory); 2] = [("pinned", Memory::Pinned), ("pageable", Memory::Pageable)];
const PAGES: [(&str, Pages); 3] = [("warm", Pages::Warm), ("cold", Pages::Cold), ("fresh", Pages::Fresh)];

type Value<'t> = Spanned<DeValue<'t>>;

impl Reader {
    /// Reads a whole file. What is wrong is among the errors afterwards.
    pub fn file(&mut self, table: &DeTable<'_>, span: Range<usize>) -> (Head, Vec<Operation>) {
        let given = Given { table, span, what: "a workload".into() };
        self.check_fields(&given, &[&head::FIELDS[..], &["operations"]].concat());
        (self.head(&given), self.operations(&given).unwrap_or_default())
    }

    fn operations(&mut self, given: &Given<'_>) -> Option<Vec<Operation>> {
        let list = self.required(given, "operations")?;
        let DeValue::Array(items) = list.get_ref() else {
            self.wrong_type("operations", list, "an array of operations", example("operations"));
            return None;
        };
        if items.is_empty() {
            let what = format!("{} without operations does nothing", given.what);
            self.wrong("empty", list.span(), what, format!("write for example {}", example("operations")));
        }
        Some(items.iter().filter_map(|item| self.operation(item)).collect())
    }

    fn operation(&mut self, value: &Value<'_>) -> Option<Operation> {
        let DeValue::Table(table) = value.get_ref() else {
            self.wrong_type("operations", value, "made of tables", example("operations"));
            return None;
        };
        let mut given = Given { table, span: value.span(), what: "an operation".into() };
        let op = self.required(&given, "op")?;
        let name = self.text("op", op)?;
        let Some(&(kind, fields)) = OPERATIONS.iter().find(|(kind, _)| *kind == name) else {
            let names = OPERATIONS.map(|(name, _)| name);
            let meant = self.meant(name, names, '`');
            let what = format!("there is no operation `{}`", short(name));
            self.wrong("unknown_operation", op.span(), what, format!("{meant}there are {}", names.join(", ")));
            return None;
        };
        given.what = format!("a {kind}");
        self.check_fields(&given, &[&["op"], fields].concat());
        let gpu = given_or(given.get("gpu").filter(|_| fields.contains(&"gpu")).map(|value| self.gpu(value)));
        let act = match kind {
            "copy" => self.copy(&given)?,
            "kernel" => self.kernel(&given)?,
            "graph" => self.graph(&given)?,
            "host" => Act::Host { duration: self.required(&given, "duration").and(self.time(&given, "duration"))?? },
            "thread" => Act::Thread { name: self.required_name(&given, "name")? },
            "collective" => self.collective(&given)?,
            "network" => self.network(&given)?,
            "ddp" => Act::Train(self.training(&given)?),
            "record" => {
                let (event, stream) = self.event(&given);
                Act::Record { event: event?, stream: stream? }
            }
            "wait" => {
                let (event, stream) = self.event(&given);
                Act::Wait { event: event?, stream: stream? }
            }
            "sync" => Act::Sync { stream: self.optional_name(&given, "stream")? },
            _ => self.repeat(&given)?,
        };
        let fields = fields.iter().filter_map(|field| Some((*field, given.get(field)?.span()))).collect();
        Some(Operation { act, gpu: gpu?, span: given.span, fields })
    }

    pub(super) fn required_name(&mut self, given: &Given<'_>, field: &str) -> Option<Name> {
        let value = self.required(given, field)?;
        self.name(field, value)
    }

    /// The outer is none if what is there is wrong.
    fn optional_name(&mut self, given: &Given<'_>, field: &str) -> Option<Option<Name>> {
        match given.get(field) {
            None => Some(None),
            Some(value) => self.name(field, value).map(Some),
        }
    }

    fn event(&mut self, given: &Given<'_>) -> (Option<Name>, Option<Name>) {
        (self.required_name(given, "event"), self.required_name(given, "stream"))
    }

    fn copy(&mut self, given: &Given<'_>) -> Option<Act> {
        let stream = self.required_name(given, "stream");
        let direction = self.required(given, "direction").and_then(|v| self.choice("direction", v, &DIRECTIONS));
        let bytes = given.get("size").map(|value| self.size(value));
        let memory = given.get("memory").map(|value| self.choice("memory", value, &MEMORIES));
        let pages = given.get("pages").map(|value| self.choice("pages", value, &PAGES));
        let blocking = given.get("blocking").map(|value| self.switch("blocking", value));
        let buffer = self.optional_name(given, "buffer");
        if direction == Some(Direction::D2d) {
            for field in ["memory", "buffer", "pages"] {
                let Some(value) = given.get(field) else { continue };
                let what = format!("a copy within the device has no `{field}`: it uses no memory of the host");
                self.wrong("senseless", value.span(), what, format!("leave out `{field}`"));
            }
        }
        Some(Act::Copy {
            direction: direction?,
            bytes: given_or(bytes)?,
            memory: given_or(memory)?.unwrap_or(Memory::Pinned),
            buffer: buffer?,
            pages: given_or(pages)?,
            blocking: given_or(blocking)?.unwrap_or(false),
            stream: stream?,
        })
    }

    fn size(&mut self, value: &Value<'_>) -> Option<u64> {
        let Bytes(bytes) = self.quantity("size", value)?;
        if (1..=MAX_BYTES).contains(&bytes) {
            return Some(bytes);
        }
        let what = format!("`size`: a copy of {}", Bytes(bytes));
        self.wrong("range", value.span(), what, format!("a copy has 1 B to {}", Bytes(MAX_BYTES)));
        None
    }

    fn kernel(&mut self, given: &Given<'_>) -> Option<Act> {
        let stream = self.required_name(given, "stream");
        self.required(given, "duration")?;
        let duration = self.time(given, "duration");
        let count = given.get("count").map(|value| self.count("count", value));
        let (call, host) = (self.time(given, "call"), self.time(given, "host"));
        let count = given_or(count)?.unwrap_or(1);
        Some(Act::Kernel { duration: duration??, count, call: call?, host: host?, stream: stream? })
    }

    /// A graph is launched with one call.
    fn graph(&mut self, given: &Given<'_>) -> Option<Act> {
        let stream = self.required_name(given, "stream");
        let value = self.required(given, "kernels");
        let kernels = value.and_then(|value| self.count("kernels", value));
        let (duration, call) =
            (self.required(given, "duration").and(self.time(given, "duration")), self.time(given, "call"));
        let (Some(kernels), Some(value)) = (kernels, value) else { return None };
        let Some(kernels) = u32::try_from(kernels).ok().filter(|kernels| *kernels as usize <= MAX_STEPS) else {
            let what = format!("`kernels`: a graph of {kernels} kernels");
            self.wrong("range", value.span(), what, format!("a graph has 1 to {MAX_STEPS} kernels"));
            return None;
        };
        Some(Act::Graph { kernels, duration: duration??, call: call?, stream: stream? })
    }

    /// A time that something takes, if it is written; the outer is none if it is wrong.
    fn time(&mut self, given: &Given<'_>, field: &str) -> Option<Option<Femtos>> {
        let Some(value) = given.get(field) else { return Some(None) };
        let duration: Femtos = self.quantity(field, value)?;
        if duration.0 == 0 || duration > MAX_KERNELS {
            let what = format!("`{field}`: {} of {duration}", given.what);
            self.wrong("range", value.span(), what, format!("it lasts 1 fs to {MAX_KERNELS}"));
            return None;
        }
        Some(Some(duration))
    }

    fn collective(&mut self, given: &Given<'_>) -> Option<Act> {
        let stream = self.required_name(given, "stream");
        let kinds = Collective::ALL.map(|kind| (kind.name(), kind));
        let kind = self.required(given, "kind").and_then(|value| self.choice("kind", value, &kinds));
        let ranks = self.required(given, "ranks").and_then(|value| self.count("ranks", value));
        let bytes = self.required(given, "size").and_then(|value| self.size(value));
        let ranks = usize::try_from(ranks?).unwrap_or(usize::MAX);
        Some(Act::Collective { call: CollectiveCall { kind: kind?, ranks, bytes: bytes? }, stream: stream? })
    }

    fn network(&mut self, given: &Given<'_>) -> Option<Act> {
        let stream = self.required_name(given, "stream");
        let bytes = self.required(given, "size").and_then(|value| self.size(value));
        let rate = self.required(given, "rate").and_then(|value| self.quantity::<ByteRate>("rate", value));
        let latency = given.get("latency").map(|value| self.quantity::<Femtos>("latency", value));
        let time = given_or(latency)?.unwrap_or(Femtos::ZERO).saturating_add(rate?.time_for(bytes?));
        if time > MAX_KERNELS {
            let what = format!("a transfer of {time}");
            self.wrong("range", given.span.clone(), what, format!("it takes at most {MAX_KERNELS}"));
            return None;
        }
        Some(Act::Network { duration: time, stream: stream? })
    }

    fn repeat(&mut self, given: &Given<'_>) -> Option<Act> {
        let count = self.required(given, "count").and_then(|value| self.count("count", value));
        let index = given.get("index").map(|value| self.index(value));
        // Where the index is wrong, names that use it are not: one message is enough.
        let known = match (&index, given.get("index").map(Spanned::get_ref)) {
            (None, _) => "i".to_owned(),
            (Some(Some(index)), _) => index.clone(),
            (Some(None), Some(DeValue::String(text))) => text.to_string(),
            (Some(None), _) => "i".to_owned(),
        };
        self.indices.push(known.clone());
        let operations = self.operations(given);
        self.indices.pop();
        given_or(index)?;
        Some(Act::Repeat { count: count?, index: known, operations: operations? })
    }

    fn index(&mut self, value: &Value<'_>) -> Option<String> {
        let text = self.text("index", value)?;
        if is_index(text) {
            return Some(text.to_owned());
        }
        let what = format!("`index` cannot be \"{}\"", short(text));
        self.wrong(
            "name",
            value.span(),
            what,
            "write a letter, then letters, digits and `_`, for example index = \"layer\"",
        );
        None
    }
}

/// What a field that may be left out says; the outer is none if it is there and wrong.
fn given_or<T>(field: Option<Option<T>>) -> Option<Option<T>> {
    match field {
        None => Some(None),
        Some(read) => read.map(Some),
    }
}
