//! Where the time goes: one cause after the other is left out, and each is charged with what the end then gains. So the parts sum to the difference.

use super::{
    Ns,
    error::ReplayError,
    play::Played,
    question::{Baseline, Question},
    rules::Causes,
};
use crate::config::Resolved;
use serde::Serialize;

crate::units::named! {
    /// A cause, in the order in which they are left out.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Cause {
        /// One session for each GPU: copies wait for each other.
        LostOverlap = "lost overlap: copies of a GPU share one cipher",
        Synchrony = "synchrony: copies hold the host until they are done",
        Cipher = "cipher: the CPU seals and opens",
        Staging = "staging: memory that sealed copies pass",
        /// Submission of copies, and the notice that they are done.
        CopySubmission = "submission and completion of copies",
        Authentication = "authentication: tags fetched and checked",
        /// The link and the copy engine as confidential computing has them.
        Link = "link and copy engine with CC",
        /// What simulated copies take longer than those of the trace, without confidential computing.
        CopyModel = "model: simulated copies against those of the trace, off",
        Collectives = "collectives: what their hops take longer",
        Launches = "launches and fills",
        /// Waits for the GPU, in addition to what they wait for.
        Waits = "waits: completions take longer to be seen",
        OtherCalls = "other calls",
        Context = "creation of the context",
    }
}

impl Cause {
    /// Settings that leave out a cause that is in the copies themselves.
    const fn settings(self) -> &'static [&'static str] {
        match self {
            Self::Cipher => {
                &["cipher.seal_rate=4096 B/cycle", "cipher.open_rate=4096 B/cycle", "cipher.per_message=0 cycles"]
            }
            Self::Staging => &[
                "memory.dram_rate=4096 B/cycle",
                "memory.llc_rate=4096 B/cycle",
                "memory.first_touch_pinned=0 cycles",
                "driver.small.secure_cold_line=0 cycles",
                "driver.small.secure_cold_rate=4096 B/cycle",
            ],
            Self::CopySubmission => &[
                "driver.secure_push=0 cycles",
                "driver.secure_completion=0 cycles",
                "driver.cold_call.secure=0 cycles",
            ],
            Self::Authentication => {
                &["tag_queue.fetch=before_data", "engine.compare=1 cycle", "engine.key_setup=1 cycle"]
            }
            _ => &[],
        }
    }
}

/// What a cause costs. A part may be negative: what is left out before it may have hidden more than it cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Share {
    pub cause: Cause,
    /// What the end gains without it, if those before it are left out too.
    pub ns: i64,
    /// The same of one step of the program's loop, where steps are looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_step_ns: Option<i64>,
}

/// One of the causes that are in calls.
type Switch = fn(&mut Causes) -> &mut bool;

/// Shares the difference between two ends out among the causes.
pub fn breakdown(question: &Question<'_>, machine: &Resolved, secure: &Played) -> Result<Vec<Share>, ReplayError> {
    let mut shares = Vec::new();
    let steps = question.job.steps.as_ref();
    let looped = |played: &Played| steps.map(|steps| (steps.length(question.job, played), steps.count().max(1) as i64));
    let mut end = (secure.device_time(), looped(secure));
    let mut charge = |cause: Cause, played: &Played| {
        let next = (played.device_time(), looped(played));
        let per_step_ns = end.1.zip(next.1).map(|(one, (other, count))| difference(one.0, other) / count);
        shares.push(Share { cause, ns: difference(end.0, next.0), per_step_ns });
        end = next;
    };
    let mut free = Causes { overlap: true, ..Causes::default() };
    charge(Cause::LostOverlap, &question.secure(machine, free)?.played);
    free.synchrony = true;
    charge(Cause::Synchrony, &question.secure(machine, free)?.played);
    let mut settings = Vec::new();
    for cause in [Cause::Cipher, Cause::Staging, Cause::CopySubmission, Cause::Authentication] {
        settings.extend(possible(machine, &settings, cause));
        let faster = machine.with(&settings).map_err(Box::new)?;
        charge(cause, &question.secure(&faster, free)?.played);
    }
    charge(Cause::Link, &question.with_plain_copies(machine, free)?);
    let last: [(Cause, Switch); 6] = [
        (Cause::CopyModel, |free| &mut free.copies),
        (Cause::Collectives, |free| &mut free.collectives),
        (Cause::Launches, |free| &mut free.launches),
        (Cause::Waits, |free| &mut free.waits),
        (Cause::OtherCalls, |free| &mut free.calls),
        (Cause::Context, |free| &mut free.context),
    ];
    let own = question.baseline == Baseline::Machine;
    for (cause, of) in last.into_iter().filter(|(cause, _)| !own || *cause != Cause::CopyModel) {
        *of(&mut free) = true;
        charge(cause, &question.with_plain_copies(machine, free)?);
    }
    if own {
        // What is left where copies are the machine's on both sides.
        charge(Cause::CopyModel, &question.off(machine)?.played);
    }
    Ok(shares)
}

/// The settings of a cause that the machine takes, one by one: a design may lack what one of them changes.
fn possible(machine: &Resolved, before: &[String], cause: Cause) -> Vec<String> {
    let mut taken = Vec::new();
    for setting in cause.settings() {
        let all: Vec<String> = before.iter().chain(&taken).cloned().chain([(*setting).to_owned()]).collect();
        if machine.with(&all).is_ok() {
            taken.push((*setting).to_owned());
        }
    }
    taken
}

fn difference(one: Ns, other: Ns) -> i64 {
    i64::try_from(i128::from(one) - i128::from(other)).unwrap_or(if one > other { i64::MAX } else { i64::MIN })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Layers;

    #[test]
    fn every_setting_of_a_cause_is_taken_by_the_machine_and_changes_it() {
        let machine = Layers::new("h100-nvl-tdx").resolve().unwrap();
        let mut settings = Vec::new();
        for cause in [Cause::Cipher, Cause::Staging, Cause::CopySubmission, Cause::Authentication] {
            let taken = possible(&machine, &settings, cause);
            assert_eq!(taken, cause.settings(), "{cause:?}");
            for setting in &taken {
                let alone = machine.with(std::slice::from_ref(setting)).unwrap();
                assert_ne!(alone.digest, machine.digest, "{setting}");
            }
            settings.extend(taken);
        }
    }
}
