//! Whether an engine's stages settle within a clock period.
//!
//! Delays are from flip-flop to flip-flop, before layout ([`super::library`]), so there are three answers, with the margin stated:
//!
//! | answer | the period holds |
//! | --- | --- |
//! | closes | the delay with the assumed wire at each pin |
//! | marginal | the delay without wires, not the one with them |
//! | does not close | neither |

use super::library::{Block, Delay, Library};
use super::parts::{self, AGGREGATED_MOST, CUTS, Cut, PLAIN, Part};
use crate::aead::model::Hardware;
use crate::gcm::spec::{AesSpec, GhashSpec, MultiplierSpec};
use crate::units::{Cycles, Frequency};
use serde::Serialize;
use std::fmt;

/// What every figure of such a design carries.
pub const DOES_NOT_CLOSE: &str = "does not close";

/// Whether a period holds a delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Closes,
    Marginal,
    DoesNotClose,
}

impl Verdict {
    pub const fn text(self) -> &'static str {
        match self {
            Self::Closes => "closes",
            Self::Marginal => "marginal",
            Self::DoesNotClose => DOES_NOT_CLOSE,
        }
    }
}

/// S-boxes of AES rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sboxes {
    /// Of 115 gates.
    Compact,
    /// From the truth table.
    Table,
    /// Either closes.
    Either,
}

/// A stage that a clock has to hold.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stage {
    pub name: &'static str,
    /// The parameters that cut it, as they are.
    pub cut: String,
    #[serde(flatten)]
    pub delay: Delay,
    /// Rows of `rtl/results.toml` that the delay is made of.
    pub rows: Vec<Block>,
    /// Other cuts of it, the fewest registers first; none is looked for where it settles within the period.
    #[serde(skip)]
    pub others: Vec<(String, Delay)>,
    /// Its clock, where it is not that of the engines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<Frequency>,
}

pub fn period_ps(clock: Frequency) -> f64 {
    1e12 / clock.0 as f64
}

impl Delay {
    /// Whether a period in ps holds it.
    pub fn within(self, period: f64) -> Verdict {
        match () {
            () if self.ps_wired <= period => Verdict::Closes,
            () if self.ps <= period => Verdict::Marginal,
            () => Verdict::DoesNotClose,
        }
    }
}

impl Stage {
    fn new(name: &'static str, cut: String, delay: Delay, rows: &[Block]) -> Self {
        Self { name, cut, delay, rows: rows.to_vec(), others: Vec::new(), clock: None }
    }

    /// With the other cuts, where it does not settle.
    fn or_else(mut self, clock: Frequency, others: impl FnOnce() -> Vec<(String, Delay)>) -> Self {
        if self.delay.within(period_ps(clock)) == Verdict::DoesNotClose {
            self.others = others();
        }
        self
    }

    /// The cut with the fewest registers that closes at a clock, else that is marginal, with its answer.
    pub fn closing(&self, clock: Frequency) -> Option<(&str, Verdict)> {
        let period = period_ps(clock);
        let first = |wanted| self.others.iter().find(|(_, delay)| delay.within(period) == wanted);
        let found =
            [Verdict::Closes, Verdict::Marginal].map(|wanted| first(wanted).map(|(cut, _)| (cut.as_str(), wanted)));
        found.into_iter().flatten().next()
    }
}

/// The stages of an engine at a clock.
#[derive(Debug, Clone, PartialEq)]
pub struct Timing {
    pub clock: Frequency,
    pub stages: Vec<Stage>,
}

impl Timing {
    fn clock_of(&self, stage: &Stage) -> Frequency {
        stage.clock.unwrap_or(self.clock)
    }

    /// The period of a stage's clock in ps.
    pub fn period_of(&self, stage: &Stage) -> f64 {
        period_ps(self.clock_of(stage))
    }

    /// That of the stage that is worst off.
    pub fn verdict(&self) -> Verdict {
        self.stages.iter().map(|stage| stage.delay.within(self.period_of(stage))).max().unwrap_or(Verdict::Closes)
    }

    /// What is to be said of every figure of a design that does not close, with the cycles that do.
    pub fn refusal(&self) -> Option<String> {
        let open: Vec<&Stage> = self
            .stages
            .iter()
            .filter(|stage| stage.delay.within(self.period_of(stage)) == Verdict::DoesNotClose)
            .collect();
        let beyond = |stage: &Stage| stage.delay.ps / self.period_of(stage);
        let worst = open.iter().max_by(|one, other| beyond(one).total_cmp(&beyond(other)))?;
        let (needs, period, clock) = (worst.delay.ps, self.period_of(worst), self.clock_of(worst).0 as f64 / 1e9);
        let each = open.iter().map(|stage| {
            let remedy = match stage.closing(self.clock_of(stage)) {
                Some((cut, Verdict::Closes)) => format!("{cut} closes"),
                Some((cut, _)) => format!("{cut} is marginal"),
                None => "no cut that was synthesised closes".to_owned(),
            };
            format!("{} with {}: {remedy}", stage.name, stage.cut)
        });
        let each: Vec<String> = each.collect();
        Some(format!("{DOES_NOT_CLOSE} at {clock} GHz (needs {needs:.0} ps, has {period:.0}): {}", each.join("; ")))
    }

    /// The highest clock that all stages hold, without wires and with them, in Hz.
    pub fn fastest(&self) -> [f64; 2] {
        [|delay: Delay| delay.ps, |delay: Delay| delay.ps_wired]
            .map(|of: fn(Delay) -> f64| 1e12 / self.stages.iter().map(|stage| of(stage.delay)).fold(0.0, f64::max))
    }
}

impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (period, clock) = (period_ps(self.clock), self.clock.0 as f64 / 1e9);
        let all = self.stages.iter().filter(|stage| stage.clock.is_none()).map(|stage| stage.delay);
        let worst =
            all.reduce(|one, other| Delay { ps: one.ps.max(other.ps), ps_wired: one.ps_wired.max(other.ps_wired) });
        let Delay { ps, ps_wired } = worst.unwrap_or_default();
        let verdict = self.verdict().text();
        write!(f, "{verdict} at {clock} GHz ({ps:.0} ps without wires, {ps_wired:.0} ps with them, has {period:.0})")
    }
}

/// The stages of an engine, in the S-box that its clock asks for, if its parts were synthesised.
pub fn engine(hardware: &Hardware, clock: Frequency, library: &Library) -> Option<Timing> {
    built(hardware, sboxes(hardware, clock, library)? != Sboxes::Table, clock, library)
}

/// The stages of an engine with the compact S-box or the table.
pub fn built(hardware: &Hardware, compact: bool, clock: Frequency, library: &Library) -> Option<Timing> {
    let stages = match hardware {
        Hardware::Lanes { aes: lanes, rounds, ghash: unit, .. } => {
            vec![aes(lanes, *rounds, compact, clock, library), ghash(unit, clock, library)]
        }
        Hardware::State { rounds, round, .. } => {
            vec![Stage { cut: format!("aead.round = {} cycles", round.0), ..aes(rounds, 1, compact, clock, library) }]
        }
        Hardware::Unknown(_) => return None,
    };
    Some(Timing { clock, stages })
}

/// A tag queue of so many messages.
pub fn tag_queue(depth: u32, skid: bool, part: &Part) -> Stage {
    let cut = if skid { format!("depth = {depth} and units ahead") } else { format!("depth = {depth}") };
    Stage::new("tag queue", cut, part.delay, &part.rows)
}

/// Those with which an engine closes at a clock: the compact ones where they do, or are marginal where the table is too.
pub fn sboxes(hardware: &Hardware, clock: Frequency, library: &Library) -> Option<Sboxes> {
    let period = period_ps(clock);
    let (spec, rounds) = match hardware {
        Hardware::Lanes { aes, rounds, .. } => (aes, *rounds),
        Hardware::State { rounds, .. } => (rounds, 1),
        Hardware::Unknown(_) => return None,
    };
    let [table, compact] =
        [false, true].map(|compact| parts::lane(spec, rounds, PLAIN, compact, library).delay.within(period));
    Some(match compact {
        Verdict::Closes if table == Verdict::Closes => Sboxes::Either,
        Verdict::Closes | Verdict::Marginal if compact <= table => Sboxes::Compact,
        _ => Sboxes::Table,
    })
}

fn aes(spec: &AesSpec, rounds: u32, small: bool, clock: Frequency, library: &Library) -> Stage {
    let cut = |registers: u32| format!("registers_per_round = {registers}");
    let lane = parts::lane(spec, rounds, PLAIN, small, library);
    let name = if small { "AES, 115-gate S-boxes" } else { "AES, S-boxes from the table" };
    let stage = Stage::new(name, cut(spec.registers_per_round), lane.delay, &lane.rows);
    stage.or_else(clock, || {
        let other = |registers| {
            let spec = AesSpec { registers_per_round: registers, ..spec.clone() };
            (cut(registers), parts::lane(&spec, rounds, PLAIN, false, library).delay)
        };
        (0..3).map(other).collect()
    })
}

fn ghash(spec: &GhashSpec, clock: Frequency, library: &Library) -> Stage {
    let multiplier = spec.multiplier();
    let part = parts::ghash(spec, library);
    if multiplier.digit_bits < 128 {
        let cut = |bits: u32| format!("digit_bits = {bits}");
        let stage = Stage::new("GHASH, a digit", cut(multiplier.digit_bits), part.delay, &part.rows);
        // Fewer bits per digit take less; the widest that does has the fewest cycles.
        let other = |bits| {
            let spec = MultiplierSpec { digit_bits: bits, ..multiplier.clone() };
            (format!("{} in {} cycles", cut(bits), spec.interval()), parts::multiplier(&spec, library).delay)
        };
        let fewer = |bits: &u32| *bits < multiplier.digit_bits;
        return stage.or_else(clock, || [64, 32, 16, 8, 4, 2, 1].into_iter().filter(fewer).map(other).collect());
    }
    let text = |(product, reduction): Cut| format!("product = {product} and reduction = {reduction}");
    let own = (multiplier.product.0, multiplier.reduction.0);
    Stage::new("GHASH", text(own), part.delay, &part.rows).or_else(clock, || {
        let other = |cut: Cut| {
            let mut spec = spec.clone();
            let multiplier = spec.multiplier_mut();
            (multiplier.product, multiplier.reduction) = (Cycles(cut.0), Cycles(cut.1));
            (text(cut), parts::ghash(&spec, library).delay)
        };
        CUTS.into_iter().chain([AGGREGATED_MOST]).map(other).collect()
    })
}
