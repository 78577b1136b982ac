//! What queues and wires have in common, and what the machine asks of any of them.

use super::{
    board::Board,
    fault::{Armed, FaultKind, Selectors},
    probe::Probe,
    wake::UnitId,
};
use crate::units::Femtos;
use std::{cell::Cell, fmt, rc::Rc};

/// How a channel carries what is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    /// A registered queue of so many places.
    Queue { depth: usize },
    /// A wire, on which nothing arrives sooner than so long after what caused it.
    Wire { flight: Femtos },
}

/// One of the two ends of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Sending,
    Receiving,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sending => "sending",
            Self::Receiving => "receiving",
        })
    }
}

/// What the machine and its reports may ask of any queue or wire.
pub trait Channel {
    fn path(&self) -> &str;
    /// The unit that sends into it, and the one that receives, as far as they are known.
    fn ends(&self) -> (Option<UnitId>, Option<UnitId>);
    fn carrier(&self) -> Carrier;
    /// The type of its items.
    fn item(&self) -> &'static str;
    /// Items in it, and how many it can hold.
    fn fill(&self) -> (usize, usize);
    fn transfers(&self) -> u64;
    fn digest(&self) -> u64;
    fn fault_kinds(&self) -> &'static [FaultKind];
    /// What an injection can choose among its items.
    fn selectors(&self) -> Selectors;
    fn arm(&self, armed: Armed);
    /// The faults that were armed here, and what became of them.
    fn armed(&self) -> Vec<Armed>;
    /// Tells `probe` of each item from now on.
    fn listen(&self, probe: Probe);
}

/// What queues and wires answer alike as a [`Channel`]: by their link, their watch, and the type of their items.
macro_rules! answers_alike {
    ($item:ident) => {
        fn path(&self) -> &str {
            &self.link.path
        }
        fn ends(&self) -> (Option<UnitId>, Option<UnitId>) {
            self.link.ends()
        }
        fn item(&self) -> &'static str {
            short_name::<$item>()
        }
        fn transfers(&self) -> u64 {
            self.watch.transfers()
        }
        fn digest(&self) -> u64 {
            self.watch.value()
        }
        fn fault_kinds(&self) -> &'static [FaultKind] {
            $item::FAULTS
        }
        fn selectors(&self) -> Selectors {
            $item::SELECTORS
        }
        fn armed(&self) -> Vec<Armed> {
            self.watch.armed()
        }
    };
}
pub(super) use answers_alike;

/// A type's name without its modules.
pub(super) fn short_name<T>() -> &'static str {
    let name = std::any::type_name::<T>();
    name.rsplit("::").next().unwrap_or(name)
}

/// Where a channel lies: its path, the units at its ends, and the board that wakes them.
#[derive(Debug)]
pub(super) struct Link {
    pub path: String,
    sender: Cell<UnitId>,
    receiver: Cell<UnitId>,
    pub board: Rc<Board>,
}

impl Link {
    pub const fn new(path: String, board: Rc<Board>) -> Self {
        Self { path, sender: Cell::new(UnitId::NONE), receiver: Cell::new(UnitId::NONE), board }
    }

    /// The unit at an end is this one.
    pub fn attach(&self, side: Side, unit: UnitId) {
        match side {
            Side::Sending => self.sender.set(unit),
            Side::Receiving => self.receiver.set(unit),
        }
    }

    pub fn ends(&self) -> (Option<UnitId>, Option<UnitId>) {
        let known = |unit: UnitId| Some(unit).filter(|&unit| unit != UnitId::NONE);
        (known(self.sender.get()), known(self.receiver.get()))
    }

    #[inline(always)]
    pub fn touch_sender(&self) {
        self.board.touch(self.sender.get());
    }

    #[inline(always)]
    pub fn touch_receiver(&self) {
        self.board.touch(self.receiver.get());
    }

    #[inline(always)]
    pub fn touch_receiver_at(&self, date: Femtos) {
        self.board.touch_at(self.receiver.get(), date);
    }
}
