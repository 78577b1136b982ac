//! The wish that work stops. Whoever works asks for it every few milliseconds.

use crate::Control;
use std::sync::{
    Arc, LazyLock,
    atomic::{AtomicBool, Ordering},
};

/// Whether somebody has asked to stop. Clones are of the same wish, so that any thread, or what a library calls back, may ask.
#[derive(Debug, Clone, Default)]
pub struct Interruption(Arc<AtomicBool>);

impl Interruption {
    /// The one of the process: a program asks for it when a signal comes.
    pub fn listen() -> Self {
        static OF_PROCESS: LazyLock<Interruption> = LazyLock::new(Interruption::default);
        OF_PROCESS.clone()
    }

    /// Asks for it, as a signal does.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn control(&self) -> Control {
        if self.asked() { Control::Stop } else { Control::Continue }
    }

    pub fn asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
