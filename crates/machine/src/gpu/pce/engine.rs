//! The engine of a PCE, with the weight behind it, in cycles of the PCE.
//!
//! | contract | |
//! | --- | --- |
//! | clock | the PCE's, or one of its own: what goes in is there at the engine's first edge from then on, what comes out at the PCE's; synchronisers take no cycles of their own |

use super::{answers::Notes, weight::Weight};
use crate::{
    aead::timing::EngineTiming,
    gcm::{message::SealOpen, part::Part, timing::Accepted},
    sim::Clock,
};

/// The clocks of a PCE and of its engine; none where they have one. A clock is too large to be copied in each cycle.
#[derive(Debug, Clone, Copy)]
pub(super) struct Crossing(Option<[Clock; 2]>);

impl Crossing {
    /// From the clock of a PCE to that of its engine, if it has one of its own.
    pub fn new(pce: Clock, engine: Option<Clock>) -> Self {
        Self(engine.map(|engine| [pce, engine]))
    }

    /// The engine's cycle at or behind one of the PCE.
    #[inline]
    pub fn inward(&self, cycle: u64) -> u64 {
        self.0.as_ref().map_or(cycle, |[pce, engine]| engine.first_from(pce.edge(cycle)))
    }

    /// The PCE's cycle at or behind one of the engine.
    #[inline]
    pub fn outward(&self, cycle: u64) -> u64 {
        self.0.as_ref().map_or(cycle, |[pce, engine]| pce.first_from(engine.edge(cycle)))
    }
}

#[derive(Debug)]
pub(super) struct Engine {
    timing: Box<dyn EngineTiming>,
    weight: Weight,
    crossing: Crossing,
    /// The last stretch of its work that has been charged.
    charged: (u64, u64),
    /// What it was asked and has answered, where that is noted.
    notes: Option<Notes>,
}

impl Engine {
    /// An engine without messages, with a weight whose product takes so many cycles. Its key is loaded from cycle 0 on; a message that came before the
    /// powers of H stand would wait for them.
    pub fn new(mut timing: Box<dyn EngineTiming>, product: u64, crossing: Crossing) -> Self {
        timing.load_key(0);
        Self { timing, weight: Weight::new(product), crossing, charged: (0, 0), notes: None }
    }

    pub fn note_answers(&mut self) {
        self.notes = Some(Notes::new(self.crossing));
    }

    pub const fn notes(&self) -> Option<&Notes> {
        self.notes.as_ref()
    }

    /// Starts a message, or a part of one, in `cycle`.
    pub fn start(&mut self, cycle: u64, part: Part, direction: SealOpen) {
        let at = self.crossing.inward(cycle);
        self.timing.start(at, part, direction);
        if !part.is_last() {
            self.weight.prepare(part, at);
        }
        if let Some(notes) = &mut self.notes {
            notes.started(cycle, part, direction);
        }
    }

    /// The tag that came with a message to be opened is there in `cycle`.
    pub fn seed(&mut self, cycle: u64) {
        self.timing.seed(self.crossing.inward(cycle));
    }

    /// Takes the next `bytes` of text, which are there in `cycle`.
    #[inline]
    pub fn accept(&mut self, cycle: u64, bytes: u32) -> Accepted {
        let Accepted { consumed, out, limit } = self.timing.accept(self.crossing.inward(cycle), bytes);
        let answer = Accepted { consumed: self.crossing.outward(consumed), out: self.crossing.outward(out), limit };
        if let Some(notes) = &mut self.notes {
            notes.accepted((cycle, bytes), answer);
        }
        answer
    }

    /// Ends a part of a message; gives when its tag stands, and when its share of the message's tag does.
    pub fn finish(&mut self, part: Part) -> [u64; 2] {
        let tag = self.timing.finish().tag;
        let stand = [tag, self.weight.applied(part, tag)].map(|cycle| self.crossing.outward(cycle));
        if let Some(notes) = &mut self.notes {
            notes.finished(part, stand);
        }
        stand
    }

    /// Charges stretches of its work that have become known.
    #[inline]
    pub fn charge(&mut self, mut book: impl FnMut(u64, u64)) {
        if let Some(notes) = &mut self.notes {
            notes.charge(None);
        }
        for &(from, until) in self.timing.stretches() {
            let (from, until) = (self.crossing.outward(from), self.crossing.outward(until));
            if until > self.charged.1 {
                self.charged = (from.max(self.charged.0), until);
                book(self.charged.0, until);
                if let Some(notes) = &mut self.notes {
                    notes.charge(Some(self.charged));
                }
            }
        }
    }
}
