//! Which statements about a control can be built together.

use super::{ControlSpec, FirstCounter, Inputs, Keystream, Mask, Start};
use crate::gcm::spec::{GcmSpec, GhashSpec, LONGEST, SpecError, within};

const fn apart(what: &'static str, excludes: &'static str) -> Result<(), SpecError> {
    Err(SpecError::Apart { what, excludes })
}

impl ControlSpec {
    /// Says whether an engine can be controlled so.
    pub fn check(&self, engine: &GcmSpec) -> Result<(), SpecError> {
        within("control.passes", self.passes.into(), 0, 14)?;
        let latencies = [
            ("control.load", self.load),
            ("control.load_key_word", self.load_key_word),
            ("control.unload", self.unload),
            ("control.key_load", self.key_load),
            ("control.round_key", self.round_key),
            ("control.schedule_word", self.schedule_word),
            ("control.settle", self.settle),
            ("control.aad_start", self.aad_start),
            ("control.idle", self.idle),
            ("control.ghash_idle", self.ghash_idle),
            ("control.aad_idle", self.aad_idle),
            ("control.output_registers", self.output_registers),
            ("control.delay", self.delay),
            ("control.text_start", self.text_start),
            ("control.end_of_text", self.end_of_text),
        ];
        latencies.into_iter().try_for_each(|(name, cycles)| within(name, cycles.0, 0, LONGEST))?;
        within("the distance of control.offset from 0", self.offset.unsigned_abs().into(), 0, LONGEST)?;
        if let Some(phases) = self.phases {
            for (name, cycles) in [
                ("control.phases.aad", phases.aad),
                ("control.phases.text", phases.text),
                ("control.phases.length", phases.length),
                ("control.phases.empty_aad", phases.empty_aad),
                ("control.phases.empty_text", phases.empty_text),
            ] {
                within(name, cycles.0, 0, LONGEST)?;
            }
        }
        self.agree(engine)?;
        self.text_agrees()?;
        self.mask_and_counters_agree()?;
        self.inputs_agree(engine)
    }

    fn agree(&self, engine: &GcmSpec) -> Result<(), SpecError> {
        let (aes, rounds) = (&engine.aes, engine.rounds()?);
        if engine.ghash.messages() > 1 || engine.ghash.tags() > 1 {
            return apart("control", "an authenticator of several messages or tags at a time, which runs freely");
        }
        let enters_and_leaves = self.load_cycles(rounds) + self.unload.0 + self.round_key.0 > 0;
        if self.keystream != Keystream::Ahead && aes.lanes != 1 {
            return apart("control.keystream other than \"ahead\"", "more than one lane: one block is taken at a time");
        }
        if enters_and_leaves && !self.one_at_a_time && self.passes(aes, rounds) > 1 {
            return apart("control.load, unload or round_key", "a lane in which several blocks go round");
        }
        if self.passes > 0 && aes.rounds_in_hardware < rounds.div_ceil(self.passes) {
            return apart("control.passes", "aes.rounds_in_hardware: so few rounds need more passes");
        }
        if self.full_length && self.passes(aes, rounds) > 1 {
            return apart("control.full_length", "a lane in which blocks go round");
        }
        if self.idle.0 > 0 && !self.one_at_a_time {
            return apart("control.idle", "a lane of several blocks: set control.one_at_a_time, or aes.start_interval");
        }
        if let Some(bits) = self.datapath_bits
            && (![8, 16, 32, 64].contains(&bits)
                || !self.one_at_a_time
                || aes.rounds_in_hardware != 1
                || aes.registers_per_round < 128 / bits)
        {
            return apart(
                "control.datapath_bits",
                "all but 8, 16, 32 or 64 bits of one round, with one_at_a_time and at least 128 / bits aes.registers_per_round",
            );
        }
        if self.ghash_idle.0 + self.aad_idle.0 > 0 && !matches!(engine.ghash, GhashSpec::Serial { .. }) {
            return apart(
                "control.ghash_idle or aad_idle",
                "a GHASH unit of several products at a time: only a serial one rests",
            );
        }
        if self.delay.0 > 0 && (self.one_at_a_time || self.passes(aes, rounds) > 1) {
            return apart("control.delay", "a lane that is no pipeline: nothing follows a block through it");
        }
        Ok(())
    }

    fn text_agrees(&self) -> Result<(), SpecError> {
        let with_text = self.keystream == Keystream::WithText;
        if (self.delay.0 > 0 || self.take_turns || self.phases.is_some()) && !with_text {
            return apart(
                "control.delay, take_turns or phases",
                "keystream that is made ahead: set control.keystream to \"with_text\"",
            );
        }
        if self.text_register && with_text {
            return apart(
                "control.text_register",
                "keystream that is made with the text: it waits in the lane, or with control.delay behind it",
            );
        }
        if self.open_register && (with_text || self.leave_with_hash) {
            return apart(
                "control.open_register",
                "an engine without an output register, where opening takes the cycles of sealing without it",
            );
        }
        if self.waits_for_text() && self.phases.is_some() {
            return apart(
                "control.text_after_rest or text_start",
                "phases: control.phases.text says it, and each waits for GHASH",
            );
        }
        Ok(())
    }

    fn mask_and_counters_agree(&self) -> Result<(), SpecError> {
        let with_text = self.keystream == Keystream::WithText;
        if self.mask != Mask::First && self.inputs == Inputs::Mask {
            return apart(
                "control.mask other than \"first\"",
                "inputs that wait for the mask: no text could come before it",
            );
        }
        let waits = self.first_counter != FirstCounter::Free;
        if waits && self.inputs == Inputs::FirstKeystream {
            return apart(
                "control.first_counter",
                "inputs that wait for the first keystream block: neither could begin",
            );
        }
        match self.first_counter {
            FirstCounter::WithFirstText if with_text => apart(
                "control.first_counter = \"with_first_text\"",
                "keystream that is made with the text: every counter enters with its text, leave it \"free\"",
            ),
            FirstCounter::WithLastAad if with_text && self.shared_port => apart(
                "control.first_counter = \"with_last_aad\"",
                "a port that AAD and text share: text comes a cycle later",
            ),
            FirstCounter::WithLastAad if self.phases.is_some() || self.take_turns => apart(
                "control.first_counter = \"with_last_aad\"",
                "phases and take_turns: text waits until GHASH has taken the AAD and rests",
            ),
            FirstCounter::WithLastAad if with_text && self.waits_for_text() => apart(
                "control.first_counter = \"with_last_aad\"",
                "text_after_rest and text_start, where counters enter with their text",
            ),
            _ => Ok(()),
        }
    }

    fn inputs_agree(&self, engine: &GcmSpec) -> Result<(), SpecError> {
        let (with_text, rounds) = (self.keystream == Keystream::WithText, engine.rounds()?);
        if self.inputs == Inputs::FirstKeystream && with_text {
            return apart("control.inputs = \"first_keystream\"", "keystream that is made with the text");
        }
        if self.inputs != Inputs::Key {
            return Ok(());
        }
        let what = "control.inputs = \"key\"";
        if !with_text {
            return apart(what, "keystream that is made ahead: set control.keystream to \"with_text\"");
        }
        if self.start == Start::AfterPowers {
            return apart(what, "messages that wait for the powers of H: set control.start to \"behind_h\"");
        }
        if self.one_at_a_time || self.passes(&engine.aes, rounds) > 1 {
            return apart(what, "a lane that is no pipeline: registers beside it hold what comes in");
        }
        if self.take_turns || self.phases.is_some() {
            return apart(what, "phases and take_turns: nothing comes in before GHASH rests");
        }
        if !self.shared_port && self.first_counter != FirstCounter::WithLastAad {
            return apart(
                what,
                "text that comes before the last AAD: set control.shared_port, or control.first_counter to \"with_last_aad\"",
            );
        }
        Ok(())
    }
}
