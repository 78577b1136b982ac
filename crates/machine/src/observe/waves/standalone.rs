//! Waves of an engine alone: its registers, and the stages of the message that goes through it.
//!
//! | signal | shows |
//! | --- | --- |
//! | `engine.`..., a register's name | its value from the cycle on in which it holds it, unknown where it holds none |
//! | `message.j0`, `message.ghash`, `message.tag` | the value, from the cycle on in which it is valid |
//! | `message.text_in`, `message.text_out`, `message.ghash_in` | the last block of the cycle; a short one is padded with zeros |
//!
//! A cycle is shown as 1 ns.

use super::{
    TAG,
    file::{self, Signal, Values, named},
};
use crate::{
    gcm::{
        engine::Engine,
        field::Element,
        spec::GcmSpec,
        stages::{Stage, StageValue},
    },
    observe::registers::Names,
};
use fst_writer::FstWriteError;
use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

/// The exponent of a time unit.
const NANOSECOND: i8 = -9;

/// The stages that have a signal.
const STAGES: [Stage; 6] = [Stage::J0, Stage::TextIn, Stage::TextOut, Stage::GhashIn, Stage::Ghash, Stage::Tag];

/// A file of waves that is being written.
pub struct EngineWaves {
    shown: PathBuf,
    names: Names,
    /// The registers by their numbers, then the stages.
    signals: Vec<Signal>,
    values: Values,
    trouble: Option<io::Error>,
}

impl EngineWaves {
    /// Writes the waves of an engine of `spec` to a file at `path`.
    pub fn create(path: &Path, spec: &GcmSpec) -> io::Result<Self> {
        let names = Names::of(spec).ok_or_else(|| io::Error::other("no such engine can be built"))?;
        let signal = |scope: String, name: &str| Signal { scope, name: name.to_owned(), bits: TAG, value: None };
        let registers = names.names().iter().map(|one| signal(format!("engine.{}", one.scope), &one.name));
        let stages = STAGES.map(|stage| signal("message".to_owned(), stage.name()));
        let signals: Vec<_> = registers.chain(stages).collect();
        let header = file::create(path, NANOSECOND)?;
        let mut values = file::describe(header, &signals).map_err(|error| named(path, error))?;
        values.begin(&signals, 0).map_err(|error| named(path, error))?;
        Ok(Self { shown: path.to_owned(), names, signals, values, trouble: None })
    }

    /// Shows an engine after a cycle, and the stages of that cycle.
    pub fn look(&mut self, engine: &mut Engine, stages: &[StageValue]) {
        if self.trouble.is_none()
            && let Err(error) = self.write(engine, stages)
        {
            self.trouble = Some(named(&self.shown, error));
        }
    }

    fn write(&mut self, engine: &mut Engine, stages: &[StageValue]) -> Result<(), FstWriteError> {
        let next = engine.cycle();
        self.stages(stages, |cycle| cycle < next)?;
        let mut now = vec![None; self.names.names().len()];
        engine.registers(&mut |unit, register, index, value| {
            if let Some(place) = self.names.place((unit, register, index)) {
                now[place] = Some(*value);
            }
        });
        for (signal, value) in now.into_iter().enumerate() {
            self.set(next, signal, value)?;
        }
        self.stages(stages, |cycle| cycle >= next)
    }

    fn stages(&mut self, stages: &[StageValue], of: impl Fn(u64) -> bool) -> Result<(), FstWriteError> {
        let first = self.names.names().len();
        let place = |stage: &StageValue| STAGES.iter().position(|known| *known == stage.stage);
        let own = stages.iter().filter(|stage| of(stage.cycle) && stage.unit.unwrap_or_default() == 0);
        let last: BTreeMap<(u64, usize), &StageValue> =
            own.filter_map(|stage| Some(((stage.cycle, place(stage)?), stage))).collect();
        last.into_iter().try_for_each(|((cycle, place), stage)| {
            self.set(cycle, first + place, Some(Element::from_partial(&stage.value).0))
        })
    }

    fn set(&mut self, cycle: u64, signal: usize, value: Option<u128>) -> Result<(), FstWriteError> {
        if self.signals[signal].value == value {
            return Ok(());
        }
        self.signals[signal].value = value;
        self.values.write(signal, &self.signals[signal], cycle)
    }

    /// Writes what is left; the waves reach to the cycle behind `end`.
    pub fn close(mut self, end: u64) -> io::Result<()> {
        if let Some(error) = self.trouble {
            return Err(error);
        }
        self.values.reach(end + 1).map_err(|error| named(&self.shown, error))?;
        self.values.finish(&self.shown)
    }
}
