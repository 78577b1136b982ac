//! Operations and calls out of events.

use super::{
    category::{self, Category},
    event::{Args, Event, id, last_number, number, text},
};
use crate::workload::trace::{
    builder::Builder,
    calls,
    model::{Communication, DeviceKind, DeviceOp, HostCall, Synchronization, Waited},
    names,
    place::Place,
    size::MOST_RATE,
    time::Time,
};
use serde_json::value::RawValue;
use std::num::NonZeroU64;

/// What to do about an event that is wrong.
const REMEDY: &str = "correct it, or delete the event";

/// What is noted on the way.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// Operations of the GPU without the number of a stream.
    no_stream: u64,
    /// Collectives, and those of them without a size.
    collectives: (u64, u64),
}

/// An event in transit to the trace.
struct Here<'e, 'b> {
    event: &'e Event<'e>,
    args: Args<'e>,
    time: Time,
    place: Place,
    builder: &'b mut Builder,
}

impl Taken {
    /// Takes an event that is counted already.
    pub fn event(&mut self, event: &Event<'_>, place: Place, builder: &mut Builder) {
        let (phase, cat) = (text(event.ph), text(event.cat));
        let what = category::of(&phase, &cat);
        match what {
            Category::Left(reason) => {
                // Marks of the GPU's side stand for the same steps.
                if cat != "gpu_user_annotation" {
                    let own = ["user_annotation", "record_function"].contains(&&*cat);
                    let thread = own.then(|| last_number(&text(event.tid)).unwrap_or(0));
                    builder.marks.take(&text(event.name), thread, || time(event).ok());
                }
                return builder.leave_out(reason);
            }
            Category::Unknown => return builder.leave_out(&format!("category `{cat}` is not read")),
            _ => {}
        }
        if phase != "X" {
            let wrong = format!("an event of category `{cat}` has the phase `{phase}`, not `X`");
            return builder.wrong(place, wrong, "give the trace as the profiler writes it");
        }
        let name = text(event.name);
        let wrong = |what: &str| format!("`{}` {what}", crate::files::excerpt(&name, 80));
        let args = event.args.map(|args| serde_json::from_str::<Args<'_>>(args.get())).transpose();
        let args = match args {
            Ok(args) => args.unwrap_or_default(),
            Err(error) => {
                return builder.wrong(
                    place,
                    wrong(&format!("has `args` that are not: {}", super::plain(&error))),
                    REMEDY,
                );
            }
        };
        let time = match time(event) {
            Ok(time) => time,
            Err(what) => return builder.wrong(place, wrong(&what), REMEDY),
        };
        let mut here = Here { event, args, time, place, builder };
        let taken = match what {
            Category::Call => {
                here.call(&name);
                Ok(())
            }
            Category::Wait => here.wait(&name),
            Category::Copy => self.operation(&mut here, &name, |here, name| here.copy(name)),
            Category::Memset => {
                self.operation(&mut here, &name, |here, _| Ok(DeviceKind::Memset { bytes: here.bytes()?.unwrap_or(0) }))
            }
            _ => {
                let collective = names::collective(&name);
                self.operation(&mut here, &name, |here, _| {
                    Ok(collective.map_or(DeviceKind::Kernel, |op| here.collective(op)))
                })
            }
        };
        if let Err(what) = taken {
            builder.wrong(place, wrong(&what), REMEDY);
        }
    }

    fn operation(
        &mut self,
        here: &mut Here<'_, '_>,
        name: &str,
        kind: impl FnOnce(&mut Here<'_, '_>, &str) -> Result<DeviceKind, String>,
    ) -> Result<(), String> {
        let kind = kind(here, name)?;
        if let DeviceKind::Collective(sent) = &kind {
            self.collectives.0 += 1;
            self.collectives.1 += u64::from(sent.bytes_in.is_none());
        }
        let written = |raw: Option<&RawValue>, otherwise| last_number(&text(raw.or(otherwise)));
        let stream = written(here.args.stream, here.event.tid);
        self.no_stream += u64::from(stream.is_none());
        let op = DeviceOp {
            start_ns: here.time.start,
            duration_ns: here.time.duration,
            kind,
            device: written(here.args.device, here.event.pid).unwrap_or(0),
            stream: stream.unwrap_or(0),
            correlation: here.correlation(),
            in_graph: id(here.args.graph_node).is_some_and(|node| node > 0),
            name: here.builder.name(name),
            place: here.place,
        };
        here.builder.device(op);
        Ok(())
    }

    /// Says what the events lacked.
    pub fn finish(&self, builder: &mut Builder) {
        if self.no_stream > 0 {
            builder.assume(format!("{} operations name no stream: stream 0 is taken.", self.no_stream));
        }
        let (all, without) = self.collectives;
        if without > 0 {
            builder.assume(format!("{without} of {all} collectives do not say how many bytes they move."));
        }
    }
}

/// Start and duration, which are written in microseconds.
fn time(event: &Event<'_>) -> Result<Time, String> {
    let read = |raw: Option<&RawValue>, what: &str| match raw {
        None => Err(format!("has no {what}")),
        Some(_) => number(raw, 3).ok_or_else(|| format!("has a {what} that is no number")),
    };
    Time::new(read(event.ts, "start (`ts`)")?, read(event.dur, "duration (`dur`)")?)
}

impl Here<'_, '_> {
    /// Number that calls and operations share; 0 stands for none.
    fn correlation(&self) -> Option<NonZeroU64> {
        id(self.args.correlation).and_then(NonZeroU64::new)
    }

    fn bytes(&self) -> Result<Option<u64>, String> {
        match self.args.bytes {
            None => Ok(None),
            raw => id(raw).map(Some).ok_or_else(|| "has a size (`bytes`) that is no whole number".to_owned()),
        }
    }

    fn copy(&mut self, name: &str) -> Result<DeviceKind, String> {
        let direction = names::direction(name).ok_or("does not say which way it copies")?;
        let (source, target) = names::completed(direction, names::memories(name));
        // Profilers of AMD give some copies neither a size nor a bandwidth.
        let bytes = match self.bytes()? {
            Some(bytes) => bytes,
            None => self.by_bandwidth()?.unwrap_or(0),
        };
        Ok(DeviceKind::Copy { direction, bytes, source, target })
    }

    /// The size of a copy by its bandwidth.
    fn by_bandwidth(&mut self) -> Result<Option<u64>, String> {
        let per_second = number(self.args.bandwidth, 9).and_then(|bandwidth| u64::try_from(bandwidth).ok());
        let Some(per_second) = per_second else { return Ok(None) };
        if per_second > MOST_RATE {
            return Err(format!("has a bandwidth of {} GB/s, which no machine has", per_second / 1_000_000_000));
        }
        let bytes = (u128::from(per_second) * u128::from(self.time.duration) + 500_000_000) / 1_000_000_000;
        self.builder.by_bandwidth();
        Ok(u64::try_from(bytes).ok().filter(|bytes| *bytes > 0))
    }

    fn collective(&mut self, op: &str) -> DeviceKind {
        let written = text(self.args.collective);
        let op = self.builder.name(if written.is_empty() { op } else { &written });
        let size = names::element_bytes(&text(self.args.dtype));
        let bytes = |elements| size.and_then(|size| id(elements)?.checked_mul(size));
        let ranks = id(self.args.group).and_then(|ranks| u32::try_from(ranks).ok());
        let (bytes_in, bytes_out) = (bytes(self.args.elements_in), bytes(self.args.elements_out));
        let written = [self.args.group_name, self.args.group_ranks].map(|raw| text(raw));
        let group = written.iter().any(|one| !one.is_empty()).then(|| self.builder.name(written.join(" ").trim()));
        Communication { op, bytes_in, bytes_out, ranks, group }.into()
    }

    fn call(&mut self, name: &str) {
        let call = HostCall {
            start_ns: self.time.start,
            duration_ns: self.time.duration,
            name: self.builder.name(name),
            thread: self.builder.thread(&text(self.event.pid), &text(self.event.tid)),
            correlation: self.correlation(),
            failed: false,
            what: calls::kind(name),
            place: self.place,
        };
        self.builder.call(call);
    }

    fn wait(&mut self, name: &str) -> Result<(), String> {
        let kind = text(self.args.wait);
        let kind = if kind.is_empty() { name } else { &kind };
        let host_waits_for = match kind {
            "Stream Wait Event" => None,
            "Stream Sync" | "Stream Synchronize" => Some(Waited::Stream),
            "Event Sync" | "Event Synchronize" => Some(Waited::Event),
            "Context Sync" | "Context Synchronize" | "Device Sync" => Some(Waited::Device),
            other => return Err(format!("is a wait of an unknown kind, `{}`", crate::files::excerpt(other, 40))),
        };
        // A stream that is none is written as -1, also without its sign.
        let stream = |raw| id(raw).and_then(|stream| u32::try_from(stream).ok()).filter(|stream| *stream < u32::MAX);
        let (own, other) = (stream(self.args.stream), stream(self.args.wait_stream));
        let by_stream = host_waits_for.is_none();
        self.builder.synchronization(Synchronization {
            correlation: self.correlation(),
            waiting_stream: own.filter(|_| by_stream),
            host_waits_for,
            stream: if by_stream { other } else { other.or(own) },
            record: id(self.args.wait_record).filter(|record| (1..u64::from(u32::MAX)).contains(record)),
            place: self.place,
        });
        Ok(())
    }
}
