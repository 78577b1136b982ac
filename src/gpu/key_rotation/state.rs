//! The state machine of one key pair. Pure: the caller tells the time and what has happened.

use super::{TIMEOUT, Thresholds, Work};
use crate::units::Femtos;
use thiserror::Error;

/// KEY_ROTATION_STATUS of a key pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nothing to do. Only now may new secure channels be made.
    Idle,
    /// Channels have been asked to become idle.
    Pending {
        /// When patience ends; `None` for kernel keys, whose time-out is not enforced.
        deadline: Option<Femtos>,
    },
    /// Pending, while a rotation of kernel keys holds the clock.
    PendingTimerSuspended {
        /// What was left of the time-out. (That the rest, and not all of it, runs on is assumed.)
        left: Option<Femtos>,
    },
    /// Keys are being replaced.
    InProgress,
    /// The deadline has passed: channels that are not idle are to be killed.
    FailedTimeout,
    /// The upper threshold was crossed: the same.
    FailedThreshold,
    /// The keys could not be replaced. The session is over.
    FailedRotation,
}

/// What the caller has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Nothing.
    None,
    /// Write the notifier of every channel of the pair, and send the event.
    Notify,
    /// Kill the channels that are not idle, then call [`KeyPair::begin`].
    KillBusyChannels,
}

/// A step that the state does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{step} is not possible in state {state:?}")]
pub struct RotationError {
    /// What was tried.
    pub step: &'static str,
    /// The state.
    pub state: State,
}

/// A key pair (H2D and D2H), its work and its rotation. Both keys rotate together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPair {
    thresholds: Thresholds,
    user: bool,
    state: State,
    /// Work of the CPU-to-GPU key since the last rotation.
    pub h2d: Work,
    /// Work of the GPU-to-CPU key since the last rotation.
    pub d2h: Work,
    rotations: u32,
}

impl KeyPair {
    /// A fresh pair. `user` is whether user channels use it; the time-out holds for those only.
    #[must_use]
    pub fn new(thresholds: Thresholds, user: bool) -> Self {
        Self { thresholds, user, state: State::Idle, h2d: Work::default(), d2h: Work::default(), rotations: 0 }
    }

    /// Where the pair stands.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// Key version: rotations done so far.
    #[must_use]
    pub fn version(&self) -> u32 {
        self.rotations
    }

    /// Whether a new secure channel may be made on this pair.
    #[must_use]
    pub fn admits_channels(&self) -> bool {
        self.state == State::Idle
    }

    /// The next date at which [`KeyPair::poll`] acts by itself.
    #[must_use]
    pub fn deadline(&self) -> Option<Femtos> {
        match self.state {
            State::Pending { deadline } => deadline,
            _ => None,
        }
    }

    /// Looks at the statistics and the clock; to be called once a second and at the deadline.
    pub fn poll(&mut self, now: Femtos) -> Action {
        let waiting = match self.state {
            State::Idle | State::Pending { .. } | State::PendingTimerSuspended { .. } => true,
            State::InProgress | State::FailedTimeout | State::FailedThreshold | State::FailedRotation => false,
        };
        if waiting && self.crossed(self.thresholds.upper) {
            self.state = State::FailedThreshold;
            return Action::KillBusyChannels;
        }
        if self.deadline().is_some_and(|deadline| now >= deadline) {
            self.state = State::FailedTimeout;
            return Action::KillBusyChannels;
        }
        if self.state == State::Idle && self.crossed(self.thresholds.lower) {
            self.state = State::Pending { deadline: self.after(now, TIMEOUT) };
            return Action::Notify;
        }
        Action::None
    }

    /// Starts the replacement: when all channels are idle, or when the busy ones have been killed.
    ///
    /// # Errors
    /// If no rotation is waiting.
    pub fn begin(&mut self) -> Result<(), RotationError> {
        match self.state {
            State::Pending { .. }
            | State::PendingTimerSuspended { .. }
            | State::FailedTimeout
            | State::FailedThreshold => {
                self.state = State::InProgress;
                Ok(())
            }
            _ => self.refuse("starting a rotation"),
        }
    }

    /// Ends the replacement: with new keys the work starts at zero, without them the session is over.
    ///
    /// # Errors
    /// If no replacement is under way.
    pub fn finish(&mut self, replaced: bool) -> Result<(), RotationError> {
        if self.state != State::InProgress {
            return self.refuse("ending a rotation");
        }
        if !replaced {
            self.state = State::FailedRotation;
            return Ok(());
        }
        *self = Self { rotations: self.rotations.saturating_add(1), ..Self::new(self.thresholds, self.user) };
        Ok(())
    }

    /// Stops the clock while kernel keys are rotated.
    ///
    /// # Errors
    /// If no rotation is pending.
    pub fn suspend(&mut self, now: Femtos) -> Result<(), RotationError> {
        let State::Pending { deadline } = self.state else { return self.refuse("suspending the time-out") };
        let left = deadline.map(|deadline| Femtos(deadline.0.saturating_sub(now.0)));
        self.state = State::PendingTimerSuspended { left };
        Ok(())
    }

    /// Lets the clock run on.
    ///
    /// # Errors
    /// If it does not stand.
    pub fn resume(&mut self, now: Femtos) -> Result<(), RotationError> {
        let State::PendingTimerSuspended { left } = self.state else { return self.refuse("resuming the time-out") };
        self.state = State::Pending { deadline: left.and_then(|left| self.after(now, left)) };
        Ok(())
    }

    fn crossed(&self, threshold: u64) -> bool {
        self.h2d.units() > threshold || self.d2h.units() > threshold
    }

    fn after(&self, now: Femtos, time: Femtos) -> Option<Femtos> {
        self.user.then(|| Femtos(now.0.saturating_add(time.0)))
    }

    fn refuse<T>(&self, step: &'static str) -> Result<T, RotationError> {
        Err(RotationError { step, state: self.state })
    }
}
