//! IDE at a port: which TLP ends an aggregate, and when what has come may leave.
//!
//! ```text
//!             +----------+                                  +------------------+
//!  TLPs In   >| Outgoing |> marked TLPs ~ link ~ TLPs In   >| Incoming, in     |> TLPs Out, verified
//!             +----------+                                  | order of arrival |
//!                                                           +------------------+
//! ```
//!
//! | contract | |
//! | --- | --- |
//! | MAC | on the last TLP of an aggregate: the `aggregation`-th, or one that no TLP of its sub-stream with credits stands behind |
//! | flush | a TLP that would end its aggregate early waits for company `flush` cycles, and with it what is behind it on its input |
//! | engine | `lanes` AES blocks and `multipliers` GHASH products per cycle, in each direction; a TLP starts when both are free |
//! | release | latency of both sides after the MAC has come and the engine is done; nothing overtakes |
//! | failure | a wrong MAC makes the stream insecure: what is held and what comes later is discarded, and its credits return |
//! | stalls | `aggregate`, `aes_busy`, `ghash_busy` |
//!
//! A TLP is left without a MAC only while the next of its sub-stream stands ready with its credits, so every aggregate is closed by
//! traffic that is already there, and no credit that a receiver holds back can keep it open.
//!
//! Time in the sender's pipeline is counted at the receiver, so that Acks, which do not pass it, are not delayed.

use super::{CLASSES, pool::TransmitPool, pool_of};
use crate::{
    pcie::{
        credit::Credits,
        ide::{Aggregate, Lanes, Work, authentic},
        mark::Mark,
        packet::Tlp,
        spec::{IdeEngineSpec, IdeSpec},
    },
    sim::{Activity, Stall, Wake},
};
use std::collections::VecDeque;

/// AES lanes and multipliers of one way.
#[derive(Debug)]
struct Engine {
    aes: Lanes,
    ghash: Lanes,
}

impl Engine {
    fn new(spec: &IdeEngineSpec) -> Self {
        Self { aes: Lanes::new(spec.lanes), ghash: Lanes::new(spec.multipliers) }
    }

    /// The cycle in which both are free, and what is waited for until then.
    fn free_in(&self) -> (u64, Activity) {
        let (aes, ghash) = (self.aes.free_in(), self.ghash.free_in());
        if aes >= ghash { (aes, Activity::Stall(Stall::AesBusy)) } else { (ghash, Activity::Stall(Stall::GhashBusy)) }
    }

    fn start(&mut self, cycle: u64, work: Work) {
        self.aes.start(cycle, work.aes);
        self.ghash.start(cycle, work.ghash);
    }

    fn follow(&mut self, cycle: u64, work: Work) -> u64 {
        self.aes.follow(cycle, work.aes).max(self.ghash.follow(cycle, work.ghash))
    }
}

/// Whether a TLP can go now.
pub(super) enum Verdict {
    Go,
    /// It waits for company; others may go.
    Wait(Activity),
    /// All wait for the engine.
    Busy(Activity),
}

#[derive(Debug)]
pub(super) struct Outgoing {
    aggregation: u32,
    with_pcrc: bool,
    flush: u64,
    engine: Engine,
    open: [Aggregate; CLASSES.len()],
    /// By class: the cycle from which on a TLP waits for company no longer.
    patience: [u64; CLASSES.len()],
    /// Whether the TLP that goes next gets a MAC.
    closing: bool,
    /// When what waits can go although nothing else changes; never, before the inputs are looked at.
    pub deadline: u64,
}

impl Outgoing {
    pub fn new(spec: &IdeSpec, engine: &IdeEngineSpec) -> Self {
        Self {
            aggregation: spec.aggregation,
            with_pcrc: spec.pcrc,
            flush: spec.flush.0,
            engine: Engine::new(engine),
            open: [Aggregate::default(); CLASSES.len()],
            patience: [Wake::NEVER; CLASSES.len()],
            closing: false,
            deadline: Wake::NEVER,
        }
    }

    /// Whether a TLP that needs `need`, and has it, can go; `next` are the TLPs that would then stand at the head of their inputs.
    pub fn admit(
        &mut self,
        cycle: u64,
        need: Credits,
        pool: &TransmitPool,
        mut next: impl Iterator<Item = Credits>,
    ) -> Verdict {
        let (free, stall) = self.engine.free_in();
        if free > cycle {
            self.deadline = free;
            return Verdict::Busy(stall);
        }
        let place = pool_of(need.class);
        let full = self.open[place].tlps + 1 >= self.aggregation;
        let company = !full
            && next.any(|more| {
                let both = Credits { headers: need.headers + more.headers, data: need.data + more.data, ..need };
                more.class == need.class && pool.allows(both)
            });
        self.closing = !company;
        if full || company {
            return Verdict::Go;
        }
        let patience = &mut self.patience[place];
        *patience = (*patience).min(cycle + self.flush);
        if *patience <= cycle {
            return Verdict::Go;
        }
        self.deadline = self.deadline.min(*patience);
        Verdict::Wait(Activity::Stall(Stall::Aggregate))
    }

    /// Marks the TLP that was admitted last.
    pub fn mark(&mut self, tlp: &mut Tlp, cycle: u64) {
        let place = pool_of(tlp.credits().class);
        let open = &mut self.open[place];
        tlp.ide = Mark::new(self.closing, self.with_pcrc && open.has_data_with(tlp));
        let work = open.add(tlp);
        self.engine.start(cycle, work);
        self.patience[place] = Wake::NEVER;
    }
}

/// A TLP that has come and has not left.
#[derive(Debug)]
struct Held {
    tlp: Tlp,
    /// The cycle from which on it may leave; never while its MAC has not come.
    release: u64,
    verified: bool,
}

/// What leaves the receiving half.
pub(super) enum Left {
    /// A verified TLP, as it was sent.
    Tlp(Tlp),
    /// The stream has become insecure with a wrong MAC; this is what it discards.
    Discarded(Vec<Tlp>),
}

#[derive(Debug)]
pub(super) struct Incoming {
    engine: Engine,
    latency: u64,
    from_host: bool,
    open: [Aggregate; CLASSES.len()],
    /// By class: invocation counter of the message that comes.
    counters: [u64; CLASSES.len()],
    held: VecDeque<Held>,
    pub secure: bool,
}

impl Incoming {
    /// `latency` is that of both sides.
    pub fn new(engine: &IdeEngineSpec, latency: u64, from_host: bool) -> Self {
        Self {
            engine: Engine::new(engine),
            latency,
            from_host,
            open: [Aggregate::default(); CLASSES.len()],
            counters: [1; CLASSES.len()],
            held: VecDeque::new(),
            secure: true,
        }
    }

    /// Takes a TLP that the link has delivered; with its MAC all of its aggregate may leave.
    pub fn take(&mut self, tlp: Tlp, cycle: u64) {
        let class = tlp.credits().class;
        let place = pool_of(class);
        let work = self.open[place].add(&tlp);
        let done = self.engine.follow(cycle, work);
        let closes = tlp.ide.mac();
        self.held.push_back(Held { tlp, release: Wake::NEVER, verified: true });
        if !closes {
            return;
        }
        let counter = self.counters[place];
        self.counters[place] += 1;
        let (release, from_host) = (done + self.latency, self.from_host);
        let covered = |held: &&mut Held| held.release == Wake::NEVER && held.tlp.credits().class == class;
        let mut aggregate: Vec<_> = self.held.iter_mut().filter(covered).collect();
        let touched = aggregate.iter().any(|held| held.tlp.ide.flipped());
        let right = !touched || {
            let tlps: Vec<_> = aggregate.iter().map(|held| &held.tlp).collect();
            authentic(&tlps, from_host, counter)
        };
        for held in &mut aggregate {
            held.release = release;
            held.verified = right;
        }
    }

    /// The cycle from which on the next TLP may leave.
    pub fn next_release(&self) -> u64 {
        self.held.front().map_or(Wake::NEVER, |held| held.release)
    }

    /// The next TLP that may leave by `cycle`.
    pub fn leave(&mut self, cycle: u64) -> Option<Left> {
        if self.next_release() > cycle {
            return None;
        }
        let held = self.held.pop_front()?;
        if held.verified {
            return Some(Left::Tlp(Tlp { ide: Mark::NONE, ..held.tlp }));
        }
        self.secure = false;
        let rest = self.held.drain(..).map(|held| held.tlp);
        Some(Left::Discarded(std::iter::once(held.tlp).chain(rest).collect()))
    }
}
