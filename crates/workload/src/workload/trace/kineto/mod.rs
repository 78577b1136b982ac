//! JSON of the PyTorch profiler (Kineto), one event at a time.
//!
//! ```text
//!  { "schemaVersion": 1, ..., "traceEvents": [ {event}, {event}, ... ], ... }      or      [ {event}, {event}, ... ]
//!                                              |
//!                                              +--> one text each --> Event --> category --> Builder
//! ```

mod category;
mod event;
mod nearly;
mod take;
#[cfg(test)]
mod tests;

use super::{
    builder::Builder,
    decimal,
    error::refused,
    formats::Importer,
    input::{Input, Meter, Tape},
    model::{Rank, Trace},
};
use crate::files::{Refusal, excerpt};
use event::Event;
use nearly::Nearly;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use std::{cell::Cell, fmt, io, rc::Rc};
use take::Taken;

/// Bytes that one event may take.
const EVENT: u64 = 1 << 26;
/// Bytes that anything in addition to the events may take.
const BESIDE: u64 = 1 << 28;

pub(super) const FORMAT: Importer = Importer {
    name: "PyTorch profiler (Kineto) JSON",
    make: "JSON of the PyTorch profiler",
    idle: "profile with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]",
    is_one: |head| matches!(head.trim_ascii_start(), [b'{' | b'[', ..]),
    read,
    takes_calls: false,
};

fn read(tape: &mut Tape<'_>, _: Option<Input<'_>>) -> Result<Trace, Refusal> {
    let refusal = match events(tape, None) {
        Err(refusal) if ["trace::syntax", "trace::truncated"].iter().any(|kind| refusal.is(kind)) => refusal,
        read => return read,
    };
    let mut again = tape.next(tape.input())?;
    again.head()?;
    again.skip_mark();
    events(&mut again, Some(Rc::default())).map_err(|error| if error.is("trace::stopped") { error } else { refusal })
}

/// Reads all events of a file that is JSON or, if places are to be counted where it is not, nearly so.
fn events(tape: &mut Tape<'_>, places: Option<Rc<Cell<u64>>>) -> Result<Trace, Refusal> {
    let builder = Builder::new(tape.name(), tape.room(), &FORMAT);
    let mut state = State {
        builder,
        meter: tape.meter(),
        event: 0,
        taken: Taken::default(),
        found: false,
        closed: false,
        nodes: false,
    };
    let read = match &places {
        None => state.read(&mut *tape),
        Some(places) => state.read(Nearly::new(&mut *tape, Rc::clone(places))),
    };
    if let Err(error) = read {
        return Err(state.refused(error, tape));
    }
    if !state.found {
        let error = refused("missing", tape.name(), "is JSON without a list `traceEvents`");
        let convert = "this is an execution trace of PyTorch: convert it with `chakra_converter`, or give the profiler's own trace";
        let export = "give the file that `prof.export_chrome_trace` writes";
        return Err(error.remedy(if state.nodes { convert } else { export }));
    }
    if let Some(places) = places {
        let what = "control characters and bytes that are no text, lone backslashes, numbers that are none";
        state.builder.assume(format!("The file is no JSON in {} places ({what}): they are read past.", places.get()));
    }
    state.taken.finish(&mut state.builder);
    state.builder.finish(Vec::new())
}

struct State {
    builder: Builder,
    meter: Rc<Meter>,
    event: u64,
    taken: Taken,
    /// Whether the list of events was there.
    found: bool,
    /// Whether it was there to its end.
    closed: bool,
    /// Whether there was what an execution trace has instead.
    nodes: bool,
}

impl State {
    fn read<R: io::Read>(&mut self, source: R) -> serde_json::Result<()> {
        self.meter.allow(BESIDE);
        let mut json = serde_json::Deserializer::from_reader(source);
        Root(self).deserialize(&mut json)?;
        self.meter.allow(BESIDE);
        json.end()
    }

    fn event(&mut self, text: &str) {
        self.event += 1;
        let lines = text.bytes().filter(|byte| *byte == b'\n').count() as u64;
        let line = self.meter.line().saturating_sub(lines);
        let [event, line] = [self.event, line].map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        let place = super::Place::Event { event, line };
        self.builder.event();
        match serde_json::from_str::<Event<'_>>(text) {
            Ok(event) => self.taken.event(&event, place, &mut self.builder),
            Err(error) => {
                let what = format!("not an event: {}", plain(&error));
                self.builder.wrong(place, what, "correct it, or delete the event");
            }
        }
    }

    fn refused(&self, error: serde_json::Error, tape: &Tape<'_>) -> Refusal {
        let name = tape.name();
        let whole = self.event;
        match error.classify() {
            serde_json::error::Category::Io => {
                tape.failure_after(&format!(", after {whole} whole events"), &io::Error::from(error))
            }
            serde_json::error::Category::Eof => {
                let what = format!("ends in the middle, after {whole} whole events");
                let remedy = match (self.found, self.closed) {
                    (_, true) => "profile again, or append `}`",
                    (true, _) => {
                        "profile again, or cut the file after its last whole event and append `]`, and `}` if it begins with `{`"
                    }
                    _ => "profile again",
                };
                refused("truncated", name, what).remedy(remedy)
            }
            _ => {
                let what =
                    format!("is not JSON at line {}, after {whole} whole events: {}", self.meter.line(), plain(&error));
                refused("syntax", name, what).remedy("it is damaged there: profile again, or delete the event")
            }
        }
    }

    fn devices(&mut self, text: &str) {
        #[derive(Deserialize)]
        struct Device {
            name: String,
        }
        let devices = serde_json::from_str::<Vec<Device>>(text).unwrap_or_default();
        if let Some(device) = devices.first() {
            self.builder.gpu(&device.name);
        }
    }

    fn distributed(&mut self, text: &str) {
        #[derive(Deserialize)]
        struct Info<'a> {
            #[serde(borrow)]
            rank: Option<&'a RawValue>,
            #[serde(borrow)]
            world_size: Option<&'a RawValue>,
        }
        let number =
            |raw: Option<&RawValue>| decimal::scaled(raw?.get(), 0).and_then(|number| u32::try_from(number).ok());
        let info = serde_json::from_str::<Info<'_>>(text).ok();
        if let Some((rank, info)) = info.and_then(|info| Some((number(info.rank)?, info))) {
            self.builder.rank(Rank { rank, of: number(info.world_size) });
        }
    }
}

/// A message without the place that `serde_json` adds: it counts from the start of one event.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    excerpt(text.split(" at line ").next().unwrap_or(&text), 200).into_owned()
}

struct Root<'s>(&'s mut State);

impl<'de> DeserializeSeed<'de> for Root<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Root<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `traceEvents`, or a list of events")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        self.0.meter.allow(BESIDE);
        while let Some(key) = fields.next_key::<String>()? {
            match key.as_str() {
                "traceEvents" if self.0.found => return Err(A::Error::custom("`traceEvents` is given twice")),
                "traceEvents" => fields.next_value_seed(List(self.0))?,
                "distributedInfo" => {
                    let text = fields.next_value::<Box<RawValue>>()?;
                    self.0.distributed(text.get());
                }
                "deviceProperties" => {
                    let text = fields.next_value::<Box<RawValue>>()?;
                    self.0.devices(text.get());
                }
                other => {
                    self.0.nodes |= other == "nodes";
                    fields.next_value::<IgnoredAny>()?;
                }
            }
            self.0.meter.allow(BESIDE);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, events: A) -> Result<(), A::Error> {
        List(self.0).visit_seq(events)
    }
}

struct List<'s>(&'s mut State);

impl<'de> DeserializeSeed<'de> for List<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for List<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of events")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut events: A) -> Result<(), A::Error> {
        self.0.found = true;
        self.0.meter.allow(EVENT);
        while let Some(event) = events.next_element::<Box<RawValue>>()? {
            self.0.event(event.get());
            self.0.meter.allow(EVENT);
        }
        self.0.closed = true;
        Ok(())
    }
}
