//! What the driver is asked to copy, and what became of it.

use super::{
    ahead::Coming,
    program::{Operation, Step},
};
use crate::units::{Fixed, fixed};
use crate::{
    host::{
        calls::{CallsSpec, LaunchCallSpec},
        error::HostError,
        map,
        spec::{AheadSpec, CipherWork, DriverSpec, PathSpec, StagingSpec},
        staging,
        work::{CopyPlan, Direction, JobKind, Memory, Pages},
    },
    units::{Bytes, Femtos},
};
use std::collections::HashMap;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CopyOutcome {
    pub start: Femtos,
    /// When the driver had seen it done, or knew that it had failed. Under eager release this is before the verdict.
    pub end: Femtos,
    /// When the call returned: the same as `verified` where it blocks its caller.
    pub returned: Femtos,
    /// When the driver had also seen all of its tags verified by the GPU; the same as `end` where it does not wait for that.
    pub verified: Femtos,
    /// Launches handed to the GPU: sealed messages, or chunks or pieces where nothing is sealed.
    pub messages: u64,
    /// Tags that the CPU found right.
    pub tags_verified: u64,
    /// Tags that the CPU found wrong.
    pub tags_failed: u64,
    /// Whether all of it arrived and nothing spoke against it.
    pub delivered: bool,
    pub reason: Option<String>,
}

impl CopyOutcome {
    /// That of a copy of which the program says nothing.
    pub(super) fn not_made() -> Self {
        Self { reason: Some("no step of the program makes it".to_owned()), ..Self::default() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DriverOptions {
    /// Confidential computing is on.
    pub secure: bool,
    /// The next copy starts only when the tags of the last one are verified too: eager release.
    pub waits_for_verified: bool,
    /// The thread that made the call does the cipher's work itself.
    pub on_caller: bool,
    pub work: CipherWork,
    /// What of it is done before the call, and after it.
    pub ahead: Option<AheadSpec>,
    /// The first launch of a push is pipelined too; it is not in the public driver.
    pub pipelined_pushes: bool,
    /// What calls cost with confidential computing that copy nothing; none: as any push and any completion.
    pub calls: Option<SealedCalls>,
    /// Between two kernels of a graph.
    pub gap: Femtos,
    /// Place of the GPU among those below its root complex.
    pub gpu: u8,
}

/// What calls take longer with confidential computing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SealedCalls {
    pub launch: LaunchCallSpec,
    pub record: Femtos,
    pub wait: Femtos,
    /// To see that a stream is done.
    pub completion: Femtos,
}

impl SealedCalls {
    /// Those of a table.
    pub fn of(calls: &CallsSpec) -> Self {
        Self {
            launch: calls.launch,
            record: calls.event_record.add,
            wait: calls.stream_wait.add,
            completion: calls.completion.secure.saturating_sub(calls.completion.off),
        }
    }
}

/// How the bytes of a copy move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    /// Through staging to the GPU: the cipher's job, then the push.
    Inward,
    /// Through staging from the GPU: the push, then the cipher's job.
    Outward,
    /// Without the CPU's help.
    Direct,
}

/// Bytes of a launch that needs no staging: what one line of the copy engine takes with room to spare.
pub(super) const PIECE: Bytes = Bytes(1 << 30);

/// Step of such a copy: many stripes of any copy engine, whole pages.
const DIRECT_STEP: Bytes = Bytes(1 << 20);

/// What of the driver no configuration changes.
pub const FIXED: &[Fixed] = fixed! {
    "driver.plain_launch" PIECE.0, "B",
        "longest launch of a copy that needs no staging: a copy engine takes more than this in one line";
};

impl CopyPlan {
    pub(super) const fn flow(&self, secure: bool) -> Flow {
        match (self.direction, self.memory) {
            (Direction::D2d, _) => Flow::Direct,
            (_, Memory::Pinned) if !secure => Flow::Direct,
            (Direction::H2d, _) => Flow::Inward,
            (Direction::D2h, _) => Flow::Outward,
        }
    }

    /// What the cipher does for a message of it, where it goes through staging.
    pub(super) const fn job(&self, secure: bool, work: CipherWork) -> JobKind {
        match (self.direction, work) {
            (Direction::D2h, _) if !secure => JobKind::CopyOut,
            (Direction::D2h, CipherWork::Seal) => JobKind::Open,
            (Direction::D2h, CipherWork::Reseal) => JobKind::ResealOut,
            (Direction::D2h, CipherWork::Forward | CipherWork::InPlace) => JobKind::ForwardOut,
            _ if !secure => JobKind::CopyIn,
            (_, CipherWork::Seal) => JobKind::Seal,
            (_, CipherWork::Reseal) => JobKind::ResealIn,
            (_, CipherWork::Forward | CipherWork::InPlace) => JobKind::ForwardIn,
        }
    }

    pub(super) const fn path<'a>(&self, spec: &'a DriverSpec, secure: bool) -> &'a PathSpec {
        match self.memory {
            Memory::Pinned => &spec.pinned,
            Memory::Pageable if secure => &spec.pageable,
            Memory::Pageable => &spec.pageable_plain,
        }
    }

    pub(super) const fn push(&self, spec: &DriverSpec, secure: bool) -> Bytes {
        match (self.direction, self.memory) {
            (Direction::D2h, Memory::Pinned) => spec.push_d2h.pinned,
            (Direction::D2h, Memory::Pageable) if secure => spec.push_d2h.pageable,
            (Direction::D2h, Memory::Pageable) => spec.push_d2h.pageable_plain,
            _ => self.path(spec, secure).push,
        }
    }

    /// Pushes of this copy that may be in flight.
    pub(super) fn in_flight(&self, spec: &DriverSpec, secure: bool) -> u64 {
        let limits = match self.memory {
            _ if !secure => &spec.in_flight_plain,
            Memory::Pinned => &spec.in_flight,
            Memory::Pageable => &spec.in_flight_pageable,
        };
        u64::from(if self.direction == Direction::D2h { limits.d2h } else { limits.h2d }).max(1)
    }
}

/// In what steps a copy is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stride {
    /// Bytes of a step, which is a push; copies whose lengths differ by whole steps end alike.
    pub step: Bytes,
    /// Bytes of a message, of which a step has one or several.
    pub message: Bytes,
    /// Bytes after which each part of staging has been used; none where copies need no staging.
    pub turn: Option<Bytes>,
    /// Bytes after which a copy that needs no staging takes one launch more.
    pub launch: Option<Bytes>,
}

impl Stride {
    /// Of copies in one direction, of one kind of host memory, where copies are sealed (`secure`) or not.
    pub fn of(
        (spec, staging): (&DriverSpec, &StagingSpec),
        secure: bool,
        (direction, memory): (Direction, Memory),
    ) -> Self {
        let (bytes, none) = (Bytes(0), Pages::Cold);
        let plan = CopyPlan { direction, bytes, memory, buffer: 0, buffer_bytes: bytes, pages: none };
        let message = plan.path(spec, secure).message;
        if plan.flow(secure) == Flow::Direct {
            return Self { step: DIRECT_STEP, message: DIRECT_STEP, turn: None, launch: Some(PIECE) };
        }
        let messages = plan.push(spec, secure).0.div_ceil(message.0.max(1)).max(1);
        let step = Bytes(message.0.saturating_mul(messages));
        let turn = staging.buffer.0.saturating_mul(u64::from(staging.buffers)).max(step.0);
        Self { step, message, turn: Some(Bytes(turn)), launch: None }
    }
}

/// The copies to the GPU that are sealed, in the order of the program.
pub(super) fn coming(spec: &DriverSpec, plans: &[CopyPlan], program: &[Step]) -> Vec<Coming> {
    let mut filled = HashMap::new();
    let mut coming = Vec::new();
    for step in program {
        let Operation::Copy { copy, .. } = step.operation else { continue };
        let plan = &plans[copy];
        match plan.direction {
            Direction::H2d => {
                let (message, after) = (plan.path(spec, true).message, filled.get(&plan.buffer).copied());
                coming.push(Coming { copy, bytes: plan.bytes.0, message, after });
            }
            Direction::D2h => {
                filled.insert(plan.buffer, copy);
            }
            Direction::D2d => {}
        }
    }
    coming
}

/// Refuses costs that never end, copies without a window and messages without a slot.
pub(super) fn check(
    spec: &DriverSpec,
    staging: &StagingSpec,
    secure: bool,
    plans: &[CopyPlan],
) -> Result<(), HostError> {
    for (what, cost) in [
        ("a call", spec.call),
        ("a push", spec.push),
        ("a launch", spec.launch),
        ("a cold call", spec.cold_call.h2d),
        ("a cold call", spec.cold_call.d2h),
        ("a secure cold call", spec.cold_call.secure),
        ("a secure push", spec.secure_push),
        ("a completion", spec.completion),
        ("a secure completion", spec.secure_completion),
    ] {
        HostError::check_cost(what, cost)?;
    }
    if plans.len() > map::MAX_COPIES {
        return Err(HostError::TooManyCopies { copies: plans.len() });
    }
    for (copy, plan) in plans.iter().enumerate() {
        if plan.bytes > map::WINDOW {
            return Err(HostError::CopyTooLong { copy, bytes: plan.bytes });
        }
        if plan.flow(secure) != Flow::Direct {
            staging::layout(staging, plan.path(spec, secure).message)?;
        }
    }
    Ok(())
}
