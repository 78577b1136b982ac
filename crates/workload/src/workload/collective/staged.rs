//! Hops through the host: there is no fabric to trust, so each is a sealed copy to the host and another one to the next GPU.
//!
//! A round has a transfer of each GPU that can send. All copies to the host of a round run side by side on the whole machine, each in its GPU's
//! session, then all copies to the GPUs. Then the host launches what adds or stores them.

use super::{
    data::input,
    judge::{is_right, launch, transfers},
    request::{CollectiveError, CollectiveOutcome, CollectiveRequest, Extent},
    schedule::{Passing, Plan, plan},
};
use crate::{
    config::MachineSpec,
    fabric::memory::Memory as Buffer,
    fabric::{
        protocol::Protocol,
        spec::{FabricMode, FabricSpec},
    },
    sim::Control,
    system::{DataMode, Direction, Outcome, Received, Request, run},
    units::Femtos,
};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hop {
    pub source: usize,
    pub send: usize,
    pub target: usize,
    pub receive: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rounds(pub Vec<Vec<Hop>>);

impl Rounds {
    /// Each GPU sends the first thing in each round that it can send.
    pub fn of(plan: &Plan) -> Self {
        let ranks = plan.programs.len();
        let mut sent: Vec<usize> = vec![0; ranks];
        let mut through: Vec<Vec<bool>> =
            plan.programs.iter().map(|program| vec![false; program.receives.len()]).collect();
        let mut came: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        let arrivals = arrivals(plan);
        let mut rounds = Vec::new();
        loop {
            let mut round = Vec::new();
            for (source, program) in plan.programs.iter().enumerate() {
                let Some(send) = program.sends.get(sent[source]) else { continue };
                if !send.after.iter().all(|&place| through[source][place]) {
                    continue;
                }
                let target = usize::from(send.target);
                let number = came.entry((source, target)).or_default();
                let from = arrivals.get(&(source, target));
                let Some(&receive) = from.and_then(|from| from.get(*number)) else { continue };
                *number += 1;
                round.push(Hop { source, send: sent[source], target, receive });
            }
            if round.is_empty() {
                return Self(rounds);
            }
            for hop in &round {
                sent[hop.source] += 1;
                through[hop.target][hop.receive] = true;
            }
            rounds.push(round);
        }
    }
}

/// By source and target: the places of what comes from there among the target's receives, in order.
fn arrivals(plan: &Plan) -> BTreeMap<(usize, usize), Vec<usize>> {
    let mut arrivals: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (target, program) in plan.programs.iter().enumerate() {
        for (place, receive) in program.receives.iter().enumerate() {
            arrivals.entry((usize::from(receive.source), target)).or_default().push(place);
        }
    }
    arrivals
}

/// A round as far as its time depends on it: which GPUs copy how much, and how much of it is added.
type Shape = Vec<(usize, usize, u64, bool)>;

/// A copy of a round: the number of its GPU, its bytes, and the text in a run with bytes.
type Staged = (usize, u64, Option<Vec<u8>>);

/// Makes copies side by side, each on its GPU.
fn copies_of_round(
    machine: &MachineSpec,
    request: &CollectiveRequest,
    (direction, copies): (Direction, Vec<Staged>),
    observer: &mut dyn FnMut(Femtos) -> Control,
) -> Result<(Outcome, Vec<Received>), CollectiveError> {
    let mut all: Option<Request> = None;
    let mut received = Vec::new();
    for (gpu, bytes, text) in copies {
        let sink = Received::new();
        let one = if direction == Direction::H2d { Request::h2d(bytes) } else { Request::d2h(bytes) };
        let one = match text {
            Some(text) => one.carrying(text).delivering_to(sink.clone()),
            None => one,
        };
        let one = one.on_gpu(gpu);
        received.push(sink);
        match &mut all {
            None => all = Some(one),
            Some(all) => all.copies.extend(one.copies),
        }
    }
    let mut all = all.ok_or(CollectiveError::Empty)?;
    all.data = if request.carries_bytes() { DataMode::Exact } else { DataMode::None };
    (all.seed, all.kernel) = (request.seed, request.kernel);
    Ok((run(machine, all, observer)?, received))
}

/// Why the copies of a run did not all arrive, if they did not.
fn refusal(outcome: &Outcome) -> Option<String> {
    let failed = outcome.copies.iter().find(|copy| !copy.delivered)?;
    Some(failed.reason.clone().unwrap_or_else(|| "a copy was not delivered".into()))
}

/// When the last copy of a run was over.
fn end(outcome: &Outcome) -> Femtos {
    outcome.copies.iter().map(|copy| copy.end).max().unwrap_or_default()
}

/// A collective through the host, as far as it has come.
struct Staging<'a> {
    machine: &'a MachineSpec,
    fabric: &'a FabricSpec,
    request: &'a CollectiveRequest,
    plan: &'a Plan,
    buffers: Vec<Buffer>,
    known: BTreeMap<Shape, Femtos>,
    simulated: u64,
    refused: Option<String>,
}

impl Staging<'_> {
    fn shape(&self, round: &[Hop]) -> Shape {
        let shape = round.iter().map(|hop| {
            let receive = &self.plan.programs[hop.target].receives[hop.receive];
            (hop.source, hop.target, receive.range.end - receive.range.start, receive.reduces)
        });
        shape.collect()
    }

    /// Makes the copies of a round, and what follows from them; gives how long it takes.
    fn round(&mut self, round: &[Hop], observer: &mut dyn FnMut(Femtos) -> Control) -> Result<Femtos, CollectiveError> {
        let shape = self.shape(round);
        let shares = !self.request.carries_bytes() && self.request.extent == Extent::Shared;
        if shares && let Some(&time) = self.known.get(&shape) {
            return Ok(time);
        }
        self.simulated += round.len() as u64;
        let send = |hop: &Hop| &self.plan.programs[hop.source].sends[hop.send];
        let text = |hop: &Hop| self.buffers[hop.source].read(&send(hop).range).bytes().map(<[u8]>::to_vec);
        let size = |hop: &Hop| send(hop).range.end - send(hop).range.start;
        let up = round.iter().map(|hop| (hop.source, size(hop), text(hop))).collect();
        let (out, sealed) = copies_of_round(self.machine, self.request, (Direction::D2h, up), observer)?;
        self.refused = refusal(&out);
        if self.refused.is_some() {
            return Ok(end(&out));
        }
        let carried = self.request.carries_bytes();
        let bytes = |sink: &Received| carried.then(|| sink.bytes().to_vec());
        let down = round.iter().zip(&sealed).map(|(hop, sink)| (hop.target, size(hop), bytes(sink))).collect();
        let (into, opened) = copies_of_round(self.machine, self.request, (Direction::H2d, down), observer)?;
        self.refused = refusal(&into);
        if self.refused.is_some() {
            return Ok(Femtos(end(&out).0 + end(&into).0));
        }
        for (hop, sink) in round.iter().zip(&opened) {
            let receive = &self.plan.programs[hop.target].receives[hop.receive];
            if carried {
                self.buffers[hop.target].write(&receive.range, &sink.bytes(), receive.reduces);
            }
        }
        let time = Femtos(end(&out).0 + end(&into).0 + self.launched(&shape).0);
        self.known.insert(shape, time);
        Ok(time)
    }

    /// The launch of what adds or stores, and its longest duration at a GPU.
    fn launched(&self, shape: &Shape) -> Femtos {
        let mut adds: BTreeMap<usize, u64> = BTreeMap::new();
        for (_, target, bytes, reduces) in shape {
            let cycles = if *reduces { self.fabric.reduce_rate.cycles_for(*bytes) } else { 0 };
            *adds.entry(*target).or_default() += cycles;
        }
        let cycles = adds.into_values().max().unwrap_or_default();
        let time = u128::from(cycles) * 1_000_000_000_000_000 / u128::from(self.fabric.clock.0.max(1));
        Femtos(launch(self.machine).0.saturating_add(time as u64))
    }
}

/// Runs a collective through the host.
pub(super) fn run_rounds(
    machine: &MachineSpec,
    request: &CollectiveRequest,
    observer: &mut dyn FnMut(Femtos) -> Control,
) -> Result<CollectiveOutcome, CollectiveError> {
    let fabric = machine.fabric.as_ref().ok_or(CollectiveError::NoFabric)?;
    let plan = plan(request.kind, request.ranks, request.bytes, Passing::COPIES);
    let buffer = |rank| {
        let bytes = || input(&plan, request.element, request.seed, rank);
        Buffer::new(request.carries_bytes().then(bytes), request.element)
    };
    let buffers = (0..request.ranks).map(buffer).collect();
    let mut staging =
        Staging { machine, fabric, request, plan: &plan, buffers, known: BTreeMap::new(), simulated: 0, refused: None };
    let mut time = launch(machine);
    for round in &Rounds::of(&plan).0 {
        time = Femtos(time.0.saturating_add(staging.round(round, observer)?.0));
        if staging.refused.is_some() {
            break;
        }
    }
    let Staging { buffers, simulated, refused, .. } = staging;
    let done = refused.is_none();
    let wrong = request.carries_bytes().then(|| {
        let right = |rank: &usize| is_right(request, &plan, *rank, buffers[*rank].bytes());
        if done { (0..request.ranks).filter(|rank| !right(rank)).count() } else { 0 }
    });
    Ok(CollectiveOutcome {
        mode: FabricMode::Staged,
        protocol: Protocol::Copies,
        time,
        launch: launch(machine),
        simulated,
        shared: if done { transfers(&plan) - simulated } else { 0 },
        buffer: plan.buffer,
        part: plan.part,
        finished: if done { request.ranks } else { 0 },
        wrong,
        refused,
    })
}
