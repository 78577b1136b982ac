//! The campaign finds what is wrong, and nothing where nothing is.

use super::*;
use crate::{config::Layers, sim::Effect, system::planted, units::Femtos};
use std::collections::BTreeMap;

fn question(name: &str, sets: &[&str], copies: &[&str], count: u64) -> Question {
    let quick = ["copy_engine.completion_timeout=20 us", "driver.pinned={message=\"4 KiB\",push=\"8 KiB\"}"];
    let layers = quick.iter().chain(sets).fold(Layers::new(name), |layers, set| layers.set(*set));
    let arguments: Vec<_> = copies.iter().map(|copy| copy.parse().unwrap()).collect();
    let copies = crate::workload::sized(&arguments, None).unwrap();
    let (machine, workload) = (layers.resolve().unwrap().machine, Workload::timed(copies, None));
    Question { machine, workload, sets: count, most: 5, seed: 1, both_kernels: false }
}

fn go(question: &Question) -> Campaign {
    campaign(question, 1, &|| Control::Continue, &|| {}).unwrap()
}

#[test]
fn a_delivery_that_counts_sums_is_found() {
    let question = question("h100-nvl-tdx", &["confidential_computing=false"], &["d2h:16KiB"], 300);
    assert_eq!(go(&question).findings().next(), None);
    planted::count_sums(true);
    let found = go(&question);
    planted::count_sums(false);
    let finding = found.findings().next().expect("a hole beside bytes that came twice");
    assert!(finding.finding.as_ref().unwrap().contains("called delivered"), "{finding:?}");
    assert!(finding.faults.len() > 1);
}

#[test]
fn on_a_machine_that_seals_each_class_has_its_signal() {
    let campaign = go(&question("h100-nvl-tdx", &[], &["h2d:16KiB", "d2h:16KiB"], 80));
    assert_eq!(campaign.findings().next(), None);
    let by = |signal: &str| campaign.sets.iter().filter_map(|set| set.signal.as_ref()).any(|one| one.signal == signal);
    assert!(by("tag_mismatch") && by("cpu_tag") && by("lcrc"));
    for set in &campaign.sets {
        let detected = set.class == Some(FaultClass::Detected);
        assert_eq!((set.signal.is_some(), set.latency_ps.is_some()), (detected, detected), "{set:?}");
        // Hangs have activated faults too.
        assert_eq!(set.class.is_some(), set.struck > 0, "{set:?}");
    }
    assert!(campaign.sets.iter().any(|set| set.class == Some(FaultClass::Hang)));
    let counted: u64 = campaign.classes.iter().map(|share| share.sets).sum();
    assert_eq!(counted as usize, campaign.sets.iter().filter(|set| set.struck > 0).count());
}

/// The example of a burst that is lost behind the engine: its tag is right, its semaphore comes, and 512 B are missing.
#[test]
fn what_only_the_oracle_sees_is_silent_and_never_detected() {
    let question = Question { most: 1, ..question("h100-nvl-tdx", &[], &["h2d:64KiB", "d2h:64KiB"], 200) };
    let campaign = go(&question);
    let silent = campaign.sets.iter().filter(|set| set.class == Some(FaultClass::Silent));
    let (mut seen, mut lost) = (0, 0);
    for set in silent {
        assert!(set.signal.is_none() && set.delivered < 2, "{set:?}");
        seen += 1;
        lost += usize::from(set.faults[0].starts_with("gpu.pce0.writes.drop"));
    }
    assert!(seen > 0 && lost > 0, "{seen} silent, {lost} of them lost writes");
}

type Bounds = fn(u64, u64) -> [f64; 2];

/// Those of Wilson against the formula, computed apart; those of Clopper and Pearson against R's `binom.test`.
#[test]
fn bounds_are_those_that_are_known() {
    for (bounds, count, all, low, high) in [
        (wilson as Bounds, 0, 10, 0.0, 0.277_5),
        (wilson, 5, 10, 0.236_6, 0.763_4),
        (wilson, 33, 1000, 0.023_6, 0.045_9),
        (clopper_pearson, 0, 10, 0.0, 0.308_5),
        (clopper_pearson, 5, 10, 0.187_1, 0.812_9),
        (clopper_pearson, 10, 10, 0.691_5, 1.0),
    ] {
        let [a, b] = bounds(count, all);
        assert!((a - low).abs() < 1e-4 && (b - high).abs() < 1e-4, "{count} of {all}: {a} to {b}");
    }
    assert_eq!((wilson(0, 0), wilson(7, 7)[1]), ([0.0, 1.0], 1.0));
}

#[test]
fn copies_that_are_too_long_to_keep_are_refused() {
    let question = question("h100-nvl-tdx", &[], &["h2d:65MiB"], 1);
    let refused = campaign(&question, 1, &|| Control::Continue, &|| {});
    assert!(matches!(refused, Err(CampaignError::TooLong { .. })));
}

#[test]
fn an_interrupted_campaign_says_so() {
    let question = question("h100-nvl-tdx", &[], &["h2d:4KiB"], 1);
    assert!(matches!(campaign(&question, 1, &|| Control::Stop, &|| {}), Err(CampaignError::Stopped)));
}

fn every(question: &Question, per_point: usize, members: usize) -> Single {
    let extent = Extent { per_point: Some(per_point), members };
    single(question, extent, 2, &|| Control::Continue, (&|_| {}, &|| {})).unwrap()
}

/// GCM authenticates ciphertext: what is wrong in the keystream is not seen, on either side, and what is wrong in GHASH is.
#[test]
fn in_a_machine_the_keystream_is_silent_and_ghash_is_detected() {
    let question = question("h100-nvl-tdx", &[], &["h2d:4KiB", "d2h:4KiB"], 0);
    let all = every(&question, 1, 24);
    assert!(all.findings.is_empty(), "{:?}", all.findings);
    let mut seen = [0; 3];
    for PointTally { point, tally, .. } in all.points.iter().filter(|point| point.tally.struck > 0) {
        assert_eq!(tally.struck, tally.harmless + tally.detected + tally.silent + tally.hang, "{point}");
        let Some((_, register)) = point.split_once(".engine.") else { continue };
        assert_eq!(tally.hang, 0, "{point}");
        match register.split('.').next() {
            Some("keystream") => assert_eq!(tally.silent, tally.struck, "{point}"),
            Some("output") => assert_eq!(tally.detected, tally.struck, "{point}"),
            Some(unit) if unit.starts_with("ghash") || unit == "tag" => {
                assert_eq!(tally.silent, 0, "{point}");
                seen[0] += tally.detected;
            }
            Some("aes") => {
                assert_eq!(tally.harmless, 0, "{point}");
                (seen[1], seen[2]) = (seen[1] + tally.silent, seen[2] + tally.detected);
            }
            Some("key" | "counter") => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(seen[0] > 0 && seen[1] > 0, "{seen:?}");
    // The bit makes no difference to what is read in any case.
    let apart =
        all.disagreements.iter().filter(|(fault, ..)| fault.contains(".engine.aes") || fault.contains(".keystream."));
    assert_eq!(apart.count(), 0, "{:?}", all.disagreements);
}

#[test]
fn a_register_that_an_engine_does_not_have_is_refused_with_one_that_it_has() {
    let question = question("h100-nvl-tdx", &[], &["h2d:4KiB"], 0);
    let refused = |fault: &str| {
        let crate::workload::InjectionArgument(injection) = fault.parse().unwrap();
        let workload = Workload { injections: vec![injection], ..question.workload.clone() };
        let (request, _) = image::kept(&workload, &CollectiveTimes::default()).unwrap();
        system::run(&question.machine, request, &mut |_| Control::Continue).unwrap_err().to_string()
    };
    let all = crate::system::registers(&question.machine).unwrap();
    let round_key = all.iter().find(|name| name.ends_with("key.round3")).unwrap();
    let nearest = refused(&round_key.replace("round3", "rund3.flip"));
    assert!(nearest.contains("key.round"), "{nearest}");
    assert!(refused(&format!("{round_key}.drop")).contains("no fault point"));
    assert!(refused(&format!("{round_key}.flip:cycles=3")).contains("stuck0 or stuck1"));
    assert!(refused("link.h2d.flip:cycle=3").contains("only registers"));
}

/// By point of the tag queue: flips that were detected by each signal, and those that hang.
fn of_tag_queue(sets: &[&str]) -> BTreeMap<String, (BTreeMap<String, u64>, u64)> {
    let all = every(&question("h100-nvl-tdx", sets, &["h2d:4KiB"], 0), 1, 0);
    assert!(all.findings.is_empty(), "{:?}", all.findings);
    let own = all.points.into_iter().filter(|point| {
        point.point.starts_with("gpu.tag_queue.entry.") || point.point.starts_with("gpu.tag_queue.comparator")
    });
    own.map(|PointTally { point, tally, .. }| {
        assert_eq!((tally.struck, tally.detected + tally.hang), (tally.tried, tally.struck), "{point}: {tally:?}");
        let by = tally.detected_by.iter().map(|(signal, count)| (signal.replace("gpu.tag_queue ", ""), *count));
        let point = point.trim_start_matches("gpu.tag_queue.").trim_end_matches(".flip").to_owned();
        (point, (by.collect(), tally.hang))
    })
    .collect()
}

#[test]
fn parity_names_every_flip_of_an_entry_and_twins_every_flip_of_a_verdict_and_nothing_hangs() {
    let only = |signal: &str| (BTreeMap::from([(signal.to_owned(), 1)]), 0);
    let without = of_tag_queue(&[]);
    assert_eq!(without["entry.job"], (BTreeMap::new(), 1));
    for tag in ["entry.computed", "entry.fetched", "comparator0.verdict"] {
        assert_eq!(without[tag], only("tag_mismatch"), "{tag}");
    }
    let parity = of_tag_queue(&["tag_queue.parity=true"]);
    for register in ["entry.job", "entry.awaited", "entry.computed", "entry.fetched"] {
        assert_eq!(parity[register], only("tag_parity"), "{register}");
    }
    assert_eq!(parity["comparator0.verdict"], without["comparator0.verdict"]);
    let twins = of_tag_queue(&["tag_queue.twin_comparators=true"]);
    for register in ["comparator0.verdict", "comparator0.twin"] {
        assert_eq!(twins[register], only("comparators_differ"), "{register}");
    }
    assert_eq!(twins["entry.job"], without["entry.job"]);
}

fn struck(sets: &[&str], faults: &[&str], kernel: Kernel) -> system::FaultVerdict {
    let question = question("h100-nvl-tdx", sets, &["h2d:16KiB"], 0);
    let injections = faults.iter().map(|fault| fault.parse::<crate::workload::InjectionArgument>().unwrap().0);
    let workload =
        Workload { data: DataMode::Exact, kernel, injections: injections.collect(), ..question.workload.clone() };
    let none = CollectiveTimes::default();
    let ran = judge::Ran::of(&question.machine, (&workload, &none), Femtos(u64::MAX), &|| Control::Continue);
    let kinds = ran.faults().iter().filter(|effect| matches!(effect, Effect::Struck { .. }));
    assert_eq!(kinds.count(), faults.len());
    ran.came_to()
}

/// What an entry waits for is written twice: with it, when a share that is not waited for any more comes too early, and with the share, which hangs.
#[test]
fn an_entry_that_waits_for_too_little_is_detected_and_for_too_much_hangs_unless_parity_names_it() {
    for (parity, expected) in [(false, FaultClass::Hang), (true, FaultClass::Detected)] {
        let set = format!("tag_queue.parity={parity}");
        for kernel in [Kernel::Skip, Kernel::EveryCycle] {
            let of = |place: u32| struck(&[&set], &[&format!("gpu.tag_queue.entry.awaited.flip:{place}")], kernel);
            assert_eq!((of(1).class, of(8).class), (Some(FaultClass::Detected), Some(expected)), "{parity}");
            // Parity is looked at in the cycle behind the write.
            assert!(!parity || of(8).latency.is_some_and(|latency| latency.0.abs_diff(569_801) < 2), "{:?}", of(8));
        }
    }
}

/// What one fault leaves dormant a second one needs: a comparator that always agrees lets a message through that was changed on its way.
#[test]
fn a_comparator_that_always_agrees_is_seen_by_its_twin_and_without_one_a_changed_message_is_silent() {
    let stuck = "gpu.tag_queue.comparator0.verdict.stuck1:1";
    let changed = "staging.ciphertext.flip:2";
    for twins in [false, true] {
        let set = format!("tag_queue.twin_comparators={twins}");
        let class = |faults: &[&str]| struck(&[&set], faults, Kernel::Skip).class;
        assert_eq!(class(&[stuck]), Some(FaultClass::Harmless));
        assert_eq!(class(&[changed]), Some(FaultClass::Detected));
        let expected = if twins { FaultClass::Detected } else { FaultClass::Silent };
        assert_eq!(class(&[stuck, changed]), Some(expected), "{twins}");
    }
}

/// With a CRC of the text in the tag all that is silent in an engine is detected, and what is not is as without.
#[test]
fn in_a_machine_with_a_crc_of_the_text_nothing_in_an_engine_is_silent() {
    let ask = |sets: &[&str]| every(&question("h100-nvl-tdx", sets, &["h2d:4KiB", "d2h:4KiB"], 0), 1, 0);
    let (without, with) = (ask(&[]), ask(&["cipher.text_crc=8 B/cycle"]));
    let (mut silent, mut signals) = (0, BTreeMap::new());
    for (before, after) in without.points.iter().zip(&with.points) {
        assert_eq!(before.point, after.point);
        if !before.point.contains(".engine.") {
            continue;
        }
        let (old, new) = (&before.tally, &after.tally);
        silent += old.silent;
        let expected = (old.harmless, old.detected + old.silent, 0);
        assert_eq!((new.harmless, new.detected, new.silent), expected, "{}", before.point);
        new.detected_by.iter().for_each(|(by, count)| *signals.entry(by.clone()).or_insert(0) += count);
    }
    assert!(silent > 20 && with.findings.is_empty(), "{silent} {:?}", with.findings);
    assert!(signals.keys().all(|by| by.ends_with("tag_mismatch") || by.ends_with("cpu_tag")), "{signals:?}");
}

#[test]
fn with_a_timeout_of_hand_overs_nothing_hangs_and_all_else_is_as_without() {
    let ask =
        |sets: &[&str]| go(&Question { most: 1, ..question("h100-nvl-tdx", sets, &["h2d:16KiB", "d2h:16KiB"], 60) });
    let (without, with) = (ask(&[]), ask(&["copy_engine.handover_timeout=50 us"]));
    let mut hung = 0;
    for (before, after) in without.sets.iter().zip(&with.sets) {
        if before.class != Some(FaultClass::Hang) {
            assert_eq!(before, after);
            continue;
        }
        hung += 1;
        assert_eq!(after.class, Some(FaultClass::Detected), "{after:?}");
        let timeout = after.signal.as_ref().is_some_and(|signal| signal.signal == "handover_timeout");
        assert!(!timeout || after.latency_ps >= Some(50_000_000), "{after:?}");
    }
    assert!(hung > 0);
}
