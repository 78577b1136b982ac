//! What a failing tag leaves behind under each release policy, measured: one message of a copy fails at a time.
//!
//! ```text
//!  machine, release policies --> a machine each --> a run without a fault: how many messages
//!                                              +--> a run for each message that fails: its tag inverted in staging, copy simulated
//!                                                   to its end --> who saw what, who had started, what is lost
//! ```
//!
//! A consumer on the GPU waits for the semaphore of a message's push. Under `eager` that is released when the bytes have landed, so the
//! consumer works until the verdict and is then squashed; under `withhold_completion` bytes are visible by then, but nobody has started;
//! under `hold` nothing is visible. The host is no such consumer: its call returns when all is verified, under every policy.

use super::candidate::{Skipped, copy};
use crate::figures::price::{Risk, risk};
use crate::{
    config::{Layers, MachineSpec, Refusal, Resolved},
    gpu::release::Release,
    pool,
    sim::{Control, FaultKind, Injection},
    system::{self, CopyRequest, Direction, FailedMessage, Memory, Outcome, Request, RunError},
    units::Femtos,
    workload::Generator,
};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::collections::BTreeSet;
use thiserror::Error;

#[derive(Debug, Clone)]
pub struct Question {
    /// The machine with its designs and settings; policies go on top.
    pub layers: Layers,
    pub policies: Vec<Release>,
    pub bytes: u64,
    /// Its end on the host.
    pub memory: Memory,
    /// Most messages that fail, each in a run of its own; drawn if there are more.
    pub failures: u32,
    /// Of the draw, and of the bits that faults invert.
    pub seed: u64,
}

/// What was measured. Every field is described in `docs/results.md`.
#[derive(Debug, Clone, Serialize)]
pub struct Failures {
    /// The machine, with its designs.
    pub machine: String,
    pub bytes: u64,
    /// Its end on the host.
    pub host_memory: Memory,
    pub seed: u64,
    /// What the copy's tags and keys leave open, under whichever policy.
    pub risk: Risk,
    pub policies: Vec<PolicyFigures>,
    pub skipped: Vec<Skipped>,
}

#[derive(Debug, Clone, Serialize)]
pub struct PolicyFigures {
    pub release: Release,
    pub own: bool,
    /// Room for plaintext that waits.
    pub quarantine_capacity_bytes: u64,
    /// Time of the copy without a failure, in ps.
    pub time_ps: u64,
    pub messages: u64,
    /// Longest time that plaintext of a message is visible without a verdict when nothing fails, in ps.
    pub exposure_ps: u64,
    pub failures: Vec<FailureFigures>,
}

#[derive(Debug, Clone, Serialize)]
pub struct FailureFigures {
    /// Its place among the messages of the copy, from 1.
    pub position: u64,
    /// From the call to its verdict, in ps.
    pub verdict_ps: u64,
    /// From its first visible byte to its verdict, in ps; none if nothing of it was visible.
    pub visible_ps: Option<u64>,
    pub visible_bytes: u64,
    /// Other messages that were visible without a verdict.
    pub other_visible_messages: u64,
    pub other_visible_bytes: u64,
    /// How long its consumers had worked when the verdict squashed them, in ps; none if they had not started.
    pub squashed_work_ps: Option<u64>,
    /// Messages whose consumers are squashed: the failed one, and others without a verdict whose consumers had started.
    pub squashed_messages: u64,
    /// What the consumers of the failed message can have read of it at most, as fast as device memory gives.
    pub consumed_bytes_at_most: u64,
    /// From the verdict until the host knew, in ps.
    pub host_knows_ps: u64,
    /// From the call until the host knew, in ps: all of it is lost, since the channel has failed.
    pub lost_ps: u64,
}

#[derive(Debug, Error)]
pub enum FailuresError {
    /// The machine is invalid, or not with this policy.
    #[error(transparent)]
    Config(#[from] Refusal),
    #[error("release policy {release}: {error}")]
    Run { release: &'static str, error: RunError },
    /// There is no tag of a message that could fail.
    #[error("{machine}: {reason}")]
    NoTags { machine: String, reason: &'static str },
    #[error("release policy {release}: message {position} did not fail although its tag was inverted")]
    NoFailure { release: &'static str, position: u64 },
}

/// A run: a policy's place, and which message fails in it, if one does.
struct Task {
    policy: usize,
    position: Option<u64>,
}

/// Measures on so many threads; the answer does not depend on how many. `observer` is asked now and then whether to go on, `progress` called with the
/// part of the whole that each run is at least.
pub fn failures(
    question: &Question,
    threads: usize,
    observer: &(dyn Fn() -> Control + Sync),
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Failures, FailuresError> {
    let own = question.layers.resolve()?;
    check(&own)?;
    let (policies, skipped) = possible(question, &own)?;
    let part = 1.0 / (policies.len() as f64 * f64::from(question.failures.saturating_add(1)));
    let run = |task: &Task| {
        let (release, machine) = &policies[task.policy];
        let outcome = simulate(question, machine, task.position, observer);
        progress(part);
        outcome.map_err(|error| FailuresError::Run { release: release.name(), error })
    };
    let alike = |_: &Task| 1;
    let sound: Vec<_> = (0..policies.len()).map(|policy| Task { policy, position: None }).collect();
    let sound = pool::map(&sound, threads, alike, run)?;
    let broken: Vec<_> = sound
        .iter()
        .enumerate()
        .flat_map(|(policy, outcome)| {
            let chosen = positions(messages(outcome), question.failures, question.seed);
            chosen.into_iter().map(move |position| Task { policy, position: Some(position) })
        })
        .collect();
    let measured = pool::map(&broken, threads, alike, |task| {
        let position = task.position.unwrap_or_default();
        let (release, machine) = &policies[task.policy];
        let figures = figures(machine, position, &run(task)?);
        figures.ok_or(FailuresError::NoFailure { release: release.name(), position })
    })?;
    let figures = policies.iter().zip(&sound).enumerate().map(|(place, ((release, machine), outcome))| {
        let own_failures = broken.iter().zip(&measured).filter(|(task, _)| task.policy == place);
        PolicyFigures {
            release: *release,
            own: *release == own.machine.tag_queue.release,
            quarantine_capacity_bytes: super::price(machine).quarantine_capacity_bytes,
            time_ps: outcome.copies.first().map_or(0, |copy| copy.time().picos()),
            messages: messages(outcome),
            exposure_ps: outcome.gpus[0].tag_queue.longest_exposure.picos(),
            failures: own_failures.map(|(_, failure)| failure.clone()).collect(),
        }
    });
    let messages = sound.first().map_or(0, messages);
    Ok(Failures {
        risk: risk(&own.machine, question.bytes, messages, 0),
        machine: own.name(),
        bytes: question.bytes,
        host_memory: question.memory,
        seed: question.seed,
        policies: figures.collect(),
        skipped,
    })
}

type Policies = Vec<(Release, MachineSpec)>;

/// The machine with each policy that it can have.
fn possible(question: &Question, own: &Resolved) -> Result<(Policies, Vec<Skipped>), Refusal> {
    let (mut policies, mut skipped, mut first) = (Vec::new(), Vec::new(), None);
    for release in question.policies.iter().copied() {
        match with_policy(question, own, release) {
            Ok(resolved) => policies.push((release, resolved.machine)),
            Err(error) => {
                skipped.push(Skipped { name: release.name().to_owned(), reason: error.to_string() });
                first.get_or_insert(error);
            }
        }
    }
    match first {
        Some(error) if policies.is_empty() => Err(error),
        _ => Ok((policies, skipped)),
    }
}

fn messages(outcome: &Outcome) -> u64 {
    outcome.copies.first().map_or(0, |copy| copy.messages)
}

fn check(resolved: &Resolved) -> Result<(), FailuresError> {
    let machine = &resolved.machine;
    let refused = |reason| Err(FailuresError::NoTags { machine: resolved.name(), reason });
    if !machine.confidential_computing {
        return refused("confidential computing is off, so there are no tags that could fail");
    }
    if !machine.sealed_path() {
        return refused("IDE protects TLPs, not messages: a wrong MAC ends the stream before a byte is visible");
    }
    Ok(())
}

/// The machine with a policy. Where the policy holds plaintext its quarantine has room for at least two of the longest messages.
fn with_policy(question: &Question, own: &Resolved, release: Release) -> Result<Resolved, Refusal> {
    let layers = question.layers.clone().set(format!("tag_queue.release={}", release.name()));
    let driver = &own.machine.driver;
    let longest = driver.pinned.message.0.max(driver.pageable.message.0);
    let room = own.machine.tag_queue.quarantine.0.max(longest.saturating_mul(2));
    let layers = if release.quarantines() { layers.set(format!("tag_queue.quarantine={room} B")) } else { layers };
    layers.resolve()
}

/// Places from 1, in order: all of them, or so many drawn.
fn positions(messages: u64, most: u32, seed: u64) -> Vec<u64> {
    let most = u64::from(most);
    if messages <= most {
        return (1..=messages).collect();
    }
    // Floyd's draw: each set of places is as likely as any other.
    let (mut random, mut drawn) = (ChaCha8Rng::seed_from_u64(seed), BTreeSet::new());
    for last in messages - most + 1..=messages {
        let place = random.random_range(1..=last);
        if !drawn.insert(place) {
            drawn.insert(last);
        }
    }
    drawn.into_iter().collect()
}

fn simulate(
    question: &Question,
    machine: &MachineSpec,
    position: Option<u64>,
    observer: &(dyn Fn() -> Control + Sync),
) -> Result<Outcome, RunError> {
    let inverted = |transfer| Injection::nth("staging.tag", FaultKind::Flip, transfer);
    let request = Request {
        copies: vec![CopyRequest {
            source: Box::new(Generator::new(question.seed, 0)),
            ..copy(Direction::H2d, question.bytes, question.memory)
        }],
        seed: question.seed,
        injections: position.map(inverted).into_iter().collect(),
        ..Request::none()
    };
    system::run(machine, request, &mut |_| observer())
}

/// What came of a run in which a message failed; none if none did.
fn figures(machine: &MachineSpec, position: u64, outcome: &Outcome) -> Option<FailureFigures> {
    let (copy, failed) = (outcome.copies.first()?, outcome.gpus[0].failed_messages.first()?);
    let between = |from: Femtos, to: Femtos| to.saturating_sub(from).picos();
    let FailedMessage { verdict, visible_bytes, other_visible_messages, other_visible_bytes, .. } = *failed;
    let squashed_work_ps = failed.consumers_started.map(|start| between(start, verdict));
    let read = |work_ps: u64| {
        let cycles = u128::from(work_ps) * u128::from(machine.hbm.clock.0) / 1_000_000_000_000;
        let bytes = u128::from(machine.hbm.read_rate.0) * cycles / 1000;
        u64::try_from(bytes).unwrap_or(u64::MAX).min(visible_bytes)
    };
    Some(FailureFigures {
        position,
        verdict_ps: between(copy.start, verdict),
        visible_ps: failed.first_visible.map(|first| between(first, verdict)),
        visible_bytes,
        other_visible_messages,
        other_visible_bytes,
        squashed_work_ps,
        squashed_messages: failed.other_started_messages + u64::from(squashed_work_ps.is_some()),
        consumed_bytes_at_most: squashed_work_ps.map_or(0, read),
        host_knows_ps: between(verdict, copy.end),
        lost_ps: between(copy.start, copy.end),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::spec::SKID;

    fn question(policies: &[Release], bytes: u64, settings: &[&str]) -> Question {
        let layers = settings.iter().fold(Layers::new("h100-nvl-tdx"), |layers, setting| layers.set(*setting));
        Question { layers, policies: policies.to_vec(), bytes, memory: Memory::Pinned, failures: 8, seed: 3 }
    }

    fn ask(question: &Question, threads: usize) -> Failures {
        failures(question, threads, &|| Control::Continue, &|_| ()).unwrap()
    }

    const POLICIES: [Release; Release::ALL.len()] = Release::ALL;

    #[test]
    fn every_position_fails_once_and_the_answer_does_not_depend_on_the_threads() {
        let question = question(&POLICIES, 300_000, &["driver.pinned.message=64 KiB"]);
        let (one, many) = (ask(&question, 1), ask(&question, 5));
        assert_eq!(serde_json::to_value(&one).unwrap(), serde_json::to_value(many).unwrap());
        for policy in &one.policies {
            let places: Vec<_> = policy.failures.iter().map(|failure| failure.position).collect();
            assert_eq!(places, (1..=policy.messages).collect::<Vec<_>>(), "{:?}", policy.release);
            assert!(policy.messages >= 5 && policy.own == (policy.release == Release::WithholdCompletion));
        }
    }

    #[test]
    fn hold_shows_nothing_skid_its_bytes_the_machines_policy_all_and_eager_lets_consumers_start() {
        // A slow comparator, so that the verdict comes well after the bytes.
        let answer = ask(&question(&POLICIES, 300_000, &["engine.compare=5000 cycles"]), 2);
        let [hold, skid, withhold, eager] = [0, 1, 2, 3].map(|place| &answer.policies[place].failures[0]);
        assert_eq!((hold.visible_ps, hold.visible_bytes, hold.squashed_messages), (None, 0, 0));
        assert!(withhold.visible_ps > Some(0) && withhold.visible_bytes == 300_000);
        assert!(skid.visible_ps > Some(0) && skid.visible_bytes == SKID.0 && skid.squashed_messages == 0);
        assert_eq!((withhold.squashed_work_ps, withhold.squashed_messages), (None, 0));
        // 5000 cycles of 1.755 GHz: the comparison alone, of which release takes a few.
        let compare = 5000.0 / 1.755e9 * 1e12;
        let work = eager.squashed_work_ps.unwrap() as f64;
        assert!(work > 0.9 * compare && work < 2.0 * compare, "{work} {compare}");
        assert_eq!((eager.squashed_messages, eager.consumed_bytes_at_most), (1, 300_000));
        assert!(eager.visible_ps.unwrap() as f64 > work);
        for failure in [hold, skid, withhold, eager] {
            // Each is rounded down by itself.
            assert!((failure.lost_ps - failure.verdict_ps).abs_diff(failure.host_knows_ps) <= 1, "{failure:?}");
        }
    }

    #[test]
    fn what_can_have_been_read_is_bounded_by_what_device_memory_gives() {
        let slow = ["engine.compare=5000 cycles", "hbm.read_rate=8 B/cycle"];
        let eager = &ask(&question(&[Release::Eager], 300_000, &slow), 1).policies[0].failures[0];
        let bound = 8.0 * eager.squashed_work_ps.unwrap() as f64 * 1.755e-3;
        assert!((eager.consumed_bytes_at_most as f64 - bound).abs() <= 8.0, "{eager:?}");
        assert!(eager.consumed_bytes_at_most < eager.visible_bytes);
    }

    #[test]
    fn a_policy_that_the_machine_cannot_have_is_skipped_unless_it_is_the_only_one() {
        let layers = Layers::new("h100-nvl-tdx").overlay("sm");
        let asked = |policies: &[Release]| Question { layers: layers.clone(), ..question(policies, 65_536, &[]) };
        let answer = ask(&asked(&POLICIES), 2);
        let skipped: Vec<_> = answer.skipped.iter().map(|one| one.name.as_str()).collect();
        assert_eq!((answer.policies.len(), skipped), (2, vec!["hold", "skid"]));
        assert!(answer.skipped[0].reason.contains("nothing holds it"), "{:?}", answer.skipped);
        let alone = failures(&asked(&[Release::Hold]), 1, &|| Control::Continue, &|_| ());
        assert!(matches!(alone, Err(FailuresError::Config(_))), "{alone:?}");
    }

    #[test]
    fn positions_are_all_of_them_or_a_draw_by_its_seed() {
        assert_eq!(positions(3, 8, 1), [1, 2, 3]);
        let draw = |seed| positions(1000, 8, seed);
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        assert!(draw(1).windows(2).all(|pair| pair[0] < pair[1]) && draw(1).len() == 8);
        assert!(draw(1).iter().all(|place| (1..=1000).contains(place)));
    }

    #[test]
    fn a_machine_without_tags_of_messages_is_refused_with_its_reason() {
        let refused = |layers: Layers| {
            let question = Question { layers, ..question(&POLICIES, 4096, &[]) };
            failures(&question, 1, &|| Control::Continue, &|_| ()).unwrap_err().to_string()
        };
        assert!(refused(Layers::new("h100-nvl-tdx").overlay("off")).contains("confidential computing is off"));
        assert!(refused(Layers::new("h100-nvl-tdx").overlay("ide")).contains("IDE protects TLPs"));
    }
}
