//! The registers of the engines in PCEs, as far as they are shown.

use crate::{
    aead::spec::EngineSpec,
    gcm::message::SealOpen,
    gpu::pce::{EngineInput, MessageInput},
    observe::{
        Window,
        messages::{Tracker, Way, gpu_of},
        registers::{Followed, Follower, Name},
    },
    sim::{ChannelTransfer, Clock, Listener, Place, Places},
    units::Femtos,
};
use std::any::Any;

/// What seals and opens in a PCE, by the number of its GPU and its path.
pub type EngineOf = Box<dyn Fn(usize, &str) -> Option<EngineSpec>>;

/// A change of a signal: when, which one, its value.
pub(super) type Change = (Femtos, usize, Option<u128>);

/// What the path of a PCE's engine has behind that of the PCE.
const ENGINE: &str = ".engine";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    Message(u64),
    Window(Window),
}

struct EngineAt {
    account: usize,
    gpu: usize,
    clock: Clock,
    first: usize,
    follower: Follower,
}

pub(super) struct Engines {
    of: EngineOf,
    choice: Choice,
    engines: Vec<EngineAt>,
    tracker: Tracker,
    /// Whether the window has begun, and whether it has ended.
    begun: bool,
    ended: bool,
}

impl Engines {
    /// Shows one message, by its number in the run; without a number message 0, or all in a window.
    pub fn new(of: EngineOf, message: Option<u64>, window: Window) -> Self {
        let choice = match message {
            Some(number) => Choice::Message(number),
            None if window == Window::ALL => Choice::Message(0),
            None => Choice::Window(window),
        };
        Self { of, choice, engines: Vec::new(), tracker: Tracker::default(), begun: false, ended: false }
    }

    /// Finds the engines; `signal` makes a signal of a scope and a name.
    pub fn begin(&mut self, places: &Places, signal: &mut dyn FnMut(&str, &str) -> usize) {
        self.tracker.begin(places);
        for (account, part) in places.accounts.iter().enumerate().skip(places.units) {
            let gpu = gpu_of(&part.name);
            let engine = part.name.strip_suffix(ENGINE).and_then(|pce| (self.of)(gpu, pce));
            let Some(EngineSpec::Gcm(spec)) = engine else { continue };
            let Some(follower) = Follower::new(&spec, part.clock) else { continue };
            let mut first = None;
            for name in follower.names() {
                let number = signal(&format!("{}.{}", part.name, name.scope), &name.name);
                first.get_or_insert(number);
            }
            let first = first.unwrap_or(0);
            self.engines.push(EngineAt { account, gpu, clock: part.clock, first, follower });
        }
    }

    fn is_engine(path: &str) -> bool {
        path.ends_with(ENGINE)
    }

    pub fn hears(&self, place: Place<'_>) -> bool {
        match place {
            Place::Account(part) => Self::is_engine(&part.name),
            place => self.tracker.hears(place),
        }
    }

    pub fn passed(&mut self, transfer: ChannelTransfer<'_>) {
        self.tracker.passed(transfer);
    }

    /// The oldest item of a queue has been taken.
    pub fn taken(&mut self, channel: usize, time: Femtos) {
        self.tracker.taken(channel, time);
    }

    pub fn entered(&mut self, account: usize, cycle: u64, input: &dyn Any) {
        let engine = self.engines.iter_mut().find(|engine| engine.account == account);
        let (Some(engine), Some(input)) = (engine, input.downcast_ref::<EngineInput>()) else { return };
        let begins = match input {
            EngineInput::Message(message) => Some(number(&self.tracker, engine.gpu, message)),
            _ => None,
        };
        let alone = match self.choice {
            Choice::Message(wanted) => begins == Some(Some(wanted)),
            Choice::Window(_) => false,
        };
        engine.follower.take(cycle, input, alone);
        if begins.is_some() && self.begun && !self.ended {
            engine.follower.show_from(cycle);
        }
        // Nobody asks for messages that have gone their way.
        self.tracker.take();
    }

    /// What changes in cycles whose edges lie before `time`.
    pub fn reach(&mut self, time: Femtos, changes: &mut Vec<Change>) {
        if let Choice::Window(window) = self.choice {
            if !self.begun && time >= window.from {
                self.begun = true;
                for engine in &mut self.engines {
                    engine.follower.show_from(engine.clock.first_from(window.from));
                }
            }
            self.advance(time.min(window.to), changes);
            if !self.ended && time >= window.to {
                self.ended = true;
                self.engines.iter_mut().for_each(|engine| engine.follower.stop());
            }
        } else {
            self.advance(time, changes);
        }
    }

    fn advance(&mut self, before: Femtos, changes: &mut Vec<Change>) {
        for EngineAt { first, follower, .. } in &mut self.engines {
            follower.advance(before, &mut |time, place, value| changes.push((time, *first + place, value)));
        }
    }

    /// What changes until the last message is through.
    pub fn finish(&mut self, changes: &mut Vec<Change>) {
        for EngineAt { first, follower, .. } in &mut self.engines {
            follower.finish(&mut |time, place, value| changes.push((time, *first + place, value)));
        }
    }

    /// Messages that went through structural engines.
    pub fn followed(&self) -> Vec<Followed> {
        self.engines.iter().flat_map(|engine| engine.follower.followed()).copied().collect()
    }

    pub fn unknown(&self) -> Vec<Name> {
        self.engines.iter().flat_map(|engine| engine.follower.unknown()).cloned().collect()
    }
}

/// The number in the run of a message that starts.
fn number(tracker: &Tracker, gpu: usize, message: &MessageInput) -> Option<u64> {
    let way = match message.direction {
        SealOpen::Open => Way::H2d,
        SealOpen::Seal => Way::D2h,
    };
    tracker.number(gpu, way, message.nonce)
}
