//! An engine of one's own in a whole machine, in the place of the one that its copy engines share: a pipeline for each of them, with a rate and a latency.
//! `cargo run --release --example engine_of_your_own`

use sealsim::{
    config::{Layers, MachineSpec},
    gpu::shared_engine::Ports,
    gpu::work::{EngineReply, EngineRequest, JobId},
    sim::{Activity, Clock, Control, FaultKind, Injection, Kernel, Now, Rx, Stall, Unit, Wake},
    system::{Machine, Outcome, Request},
};
use std::{collections::VecDeque, error::Error};

/// A message whose bytes come.
struct Message {
    job: JobId,
    bytes: u64,
    come: u64,
}

/// The pipeline of a copy engine: its messages, and the cycle from which on it takes bytes.
#[derive(Default)]
struct Pipeline {
    messages: VecDeque<Message>,
    free: u64,
}

/// Engines that take `rate` bytes in a cycle and give them `latency` cycles later, the tag with the last of them.
struct Pipelines {
    clock: Clock,
    wire: u64,
    rate: u64,
    latency: u64,
    pipelines: Vec<Pipeline>,
}

impl Pipeline {
    /// Takes what a copy engine sends; gives the reply and its cycle, if there is one.
    fn take(&mut self, request: EngineRequest, cycle: u64, rate: u64, latency: u64) -> Option<(u64, EngineReply)> {
        let (job, offset, bytes) = match request {
            EngineRequest::Message { job, bytes, .. } => {
                self.messages.push_back(Message { job, bytes, come: 0 });
                return None;
            }
            EngineRequest::GivenUp { job } => {
                self.messages.retain(|message| message.job != job);
                return None;
            }
            EngineRequest::Beat { job, offset, bytes } => (job, offset, u64::from(bytes)),
        };
        let message = self.messages.iter_mut().find(|message| message.job == job);
        // The copy engine gives a message up of which bytes are missing.
        let Some(message) = message.filter(|message| message.come == offset) else {
            return Some((cycle, EngineReply { job, offset: None, tag: None }));
        };
        message.come += bytes;
        self.free = self.free.max(cycle) + bytes.div_ceil(rate);
        let out = self.free + latency;
        let ends = message.come == message.bytes;
        self.messages.retain(|message| message.come < message.bytes);
        Some((out, EngineReply { job, offset: Some(offset), tag: ends.then_some(out) }))
    }
}

impl Unit for Pipelines {
    type Ports = Ports;

    fn tick(&mut self, now: Now, ports: &mut Ports) -> Wake {
        self.pipelines.resize_with(ports.requests.len(), Pipeline::default);
        let ends = ports.requests.iter_mut().zip(&mut ports.replies);
        for (pipeline, (requests, replies)) in self.pipelines.iter_mut().zip(ends) {
            while let Some(request) = requests.arrive(now.time) {
                if let Some((cycle, reply)) = pipeline.take(request, now.cycle, self.rate, self.latency) {
                    replies.send(self.clock.edge(cycle + self.wire), reply);
                }
            }
        }
        let next = ports.requests.iter().filter_map(Rx::next_arrival).min();
        let waits = self.pipelines.iter().any(|pipeline| !pipeline.messages.is_empty());
        let then = if waits { Activity::Stall(Stall::ReadData) } else { Activity::Idle };
        let free = self.pipelines.iter().map(|pipeline| pipeline.free).max().unwrap_or_default();
        Wake::at_or_port(next.map_or(Wake::NEVER, |date| self.clock.first_from(date)), then).busy_until(free)
    }

    fn gauges(&self, show: &mut dyn FnMut(&'static str, u64)) {
        show("messages", self.pipelines.iter().map(|pipeline| pipeline.messages.len() as u64).sum());
    }
}

type Run = Result<Outcome, Box<dyn Error>>;

/// A copy on the machine, with a rate of one's own engine, and a fault if there is one.
fn copy(spec: &MachineSpec, kernel: Kernel, rate: Option<u64>, fault: Option<Injection>) -> Run {
    let injections = fault.into_iter().collect();
    let mut machine = Machine::new(spec, Request { kernel, injections, ..Request::h2d(1 << 20) })?;
    if let Some(rate) = rate {
        let (clock, wire) =
            (Clock::new(spec.copy_engine.clock)?, spec.copy_engine.engine_wire.map_or(1, |wire| wire.0));
        machine.replace("gpu.engine", Pipelines { clock, wire, rate, latency: 40, pipelines: Vec::new() })?;
    }
    Ok(machine.run(&mut |_| Control::Continue)?)
}

/// Shows which rate it takes, and what becomes of bytes that are lost before they reach it.
pub fn main() -> Result<(), Box<dyn Error>> {
    let spec = Layers::new("h100-nvl-tdx").overlay("shared-engine").resolve()?.machine;
    for rate in [None, Some(1), Some(4), Some(16)] {
        let [skip, every] = [Kernel::Skip, Kernel::EveryCycle].map(|kernel| copy(&spec, kernel, rate, None));
        let (skip, every) = (skip?, every?);
        assert!(skip.copies[0].delivered && skip.event_digest == every.event_digest && skip.end == every.end);
        let what = rate.map_or("the shipped engine".into(), |rate| format!("pipelines of {rate} B"));
        println!("{what:20} {:7.3} GB/s", skip.copies[0].gb_per_s());
    }
    let lost = Injection::nth("gpu.pce0.to_engine", FaultKind::Drop, 5);
    let reason = copy(&spec, Kernel::Skip, Some(16), Some(lost))?.copies.remove(0).reason;
    println!("a request that is lost: {}", reason.ok_or("the copy was delivered all the same")?);
    Ok(())
}
