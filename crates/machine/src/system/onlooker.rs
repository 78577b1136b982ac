//! Who looks at the run of a machine.

use crate::{
    sim::{Control, Observer},
    units::Femtos,
};

/// An observer that also hears when copies begin and end, by their places in the request.
pub trait Onlooker: Observer {
    /// A copy has begun at this date: its call.
    fn copy_begun(&mut self, _copy: usize, _at: Femtos) {}

    /// A copy has ended at this date, delivered or not.
    fn copy_ended(&mut self, _copy: usize, _at: Femtos) {}
}

impl<F: FnMut(Femtos) -> Control> Onlooker for F {}
