//! Every register of an engine, by name, to be shown or changed.

use super::{Element, Engine, Purpose};
use crate::gcm::aes::see_block;
use crate::gcm::ghash::Datapath;
use crate::gcm::register::Field;

/// A register as an engine calls it: the unit, the name, its [index](crate::gcm::register) among those of that name.
pub type Register = (&'static str, &'static str, usize);

impl Engine {
    /// Shows every register of the datapath that holds a value, and the value, which may be changed.
    pub fn registers(&mut self, see: &mut dyn FnMut(&'static str, &'static str, usize, &mut u128)) {
        self.datapath(&mut |(unit, name, index), _, value| see(unit, name, index, value));
    }

    /// The same, and what lies beside the datapath: round keys, the counter that a message's blocks follow, the tag that waits to be given.
    pub fn all_registers(&mut self, see: &mut dyn FnMut(Register, Option<Purpose>, &mut u128)) {
        if let Some((keys, _)) = &mut self.keys {
            keys.registers(|round, value| see(("key", "round", round), None, value));
        }
        for (index, message) in self.open.iter_mut().enumerate() {
            if let Some(j0) = &mut message.j0 {
                see_block(j0, |value| see(("counter", "first", index), None, value));
            }
            let values = message.values.iter_mut().flatten().enumerate();
            values.for_each(|(chain, value)| see(("tag", "hash", Field::Part.put(chain) | index), None, &mut value.0));
            for (chain, tag) in message.tags.iter_mut().flat_map(|(_, tags)| tags).enumerate() {
                see_block(tag, |value| see(("tag", "tag", Field::Part.put(chain) | index), None, value));
            }
        }
        self.datapath(see);
    }

    fn datapath(&mut self, see: &mut dyn FnMut(Register, Option<Purpose>, &mut u128)) {
        for (index, lane) in self.lanes.iter_mut().enumerate() {
            lane.registers(&mut |place, _, &purpose, value| {
                see(("aes", "state", Field::Part.put(index) | place), Some(purpose), value);
            });
        }
        for (index, value) in self.keystream.iter_mut().enumerate() {
            see(("keystream", "block", index), None, &mut value.0);
        }
        for (index, value) in self.sequence.delayed().enumerate() {
            see(("delay", "aad", index), None, &mut value.0);
        }
        for (index, value) in self.sequence.keystream_behind().enumerate() {
            see(("delay", "keystream", index), None, &mut value.0);
        }
        for (index, text) in self.sequence.at_xor.iter_mut().enumerate() {
            let mut value = Element::from_partial(text);
            see(("input", "block", index), None, &mut value.0);
            text.iter_mut().zip(value.to_bytes()).for_each(|(byte, now)| *byte = now);
        }
        for (index, value) in self.output.iter_mut().enumerate() {
            see(("output", "block", index), None, &mut value.0);
        }
        for (index, message) in self.open.iter_mut().enumerate() {
            for (chain, mask) in message.masks.iter_mut().enumerate() {
                mask.iter_mut()
                    .for_each(|mask| see(("tag", "mask", Field::Part.put(chain) | index), None, &mut mask.0));
            }
        }
        for (place, hasher) in self.hashers.iter_mut().enumerate() {
            hasher
                .unit
                .registers(&mut |name, index, value| see(("ghash", name, Field::Unit.put(place) | index), None, value));
        }
    }
}
