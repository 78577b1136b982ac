//! Every fault point of a machine: a run with a fault ends, and nothing wrong is ever called delivered.
//!
//! With `SEALSIM_TRANSFERS=n` every fault strikes at each of the first n transfers, one run each.

use crate::{
    CAMPAIGN,
    common::{Delivered, Pattern, QUICK, copy, machine, request},
};
use sealsim::{
    config::MachineSpec,
    sim::{Control, FaultKind, Injection, Kernel, Order, SimulationError},
    system::{self, DataMode, Direction, FaultPoint, Memory, Outcome, RunError, fault_points},
    workload::InjectionArgument,
};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Small messages and pushes, so that a few dozen KiB make a history.
const SMALL: &[&str] = &[
    "driver.pinned={message=\"4 KiB\",push=\"8 KiB\"}",
    "driver.pageable={message=\"4 KiB\",push=\"8 KiB\"}",
    "copy_engine.completion_timeout=20 us",
    "link.credit_update=3000 cycles",
];

const COPIES: [(Direction, u64); 3] = [(Direction::H2d, 30_000), (Direction::D2h, 30_000), (Direction::D2d, 5_000)];

/// At which transfers faults strike.
fn transfers() -> Vec<u64> {
    match std::env::var("SEALSIM_TRANSFERS").ok().and_then(|n| n.parse().ok()) {
        Some(all) => (1..=all).collect(),
        None if CAMPAIGN => vec![1, 2, 3, 8, 22, 60],
        None => vec![1],
    }
}

/// Looks of the observer after which a run counts as one that does not end.
const GIVE_UP_AFTER: u32 = 400;

struct Ran {
    result: Result<Outcome, RunError>,
    delivered: Vec<Delivered>,
    stopped: bool,
}

fn run(machine: &MachineSpec, memory: Memory, data: DataMode, injections: &[Injection]) -> Ran {
    let delivered: Vec<_> = COPIES.iter().map(|_| Delivered::default()).collect();
    let copies = COPIES.iter().zip(&delivered).map(|(&(direction, bytes), sink)| {
        let mut copy = copy(direction, bytes, memory);
        copy.sink = Some(Box::new(sink.clone()));
        copy
    });
    let mut request = request(copies.collect(), data, Kernel::Skip, Order::Ascending);
    request.injections = injections.to_vec();
    let mut looks = 0;
    let result = system::run(machine, request, &mut |_| {
        looks += 1;
        if looks > GIVE_UP_AFTER { Control::Stop } else { Control::Continue }
    });
    Ran { result, delivered, stopped: looks > GIVE_UP_AFTER }
}

/// What both data modes must agree on.
fn verdict(ran: &Ran) -> String {
    match &ran.result {
        Err(error) => format!("{error}"),
        Ok(outcome) => {
            let copies = outcome
                .copies
                .iter()
                .map(|c| format!("delivered {} verified {} failed {}; ", c.delivered, c.tags_verified, c.tags_failed));
            let copies: String = copies.collect();
            let ways = [&outcome.gpus[0].link.h2d, &outcome.gpus[0].link.d2h];
            let link: Vec<_> =
                ways.iter().map(|t| (t.bad_lcrc, t.bad_tokens, t.replays, t.recoveries, t.duplicates)).collect();
            format!(
                "{copies} struck {:?} link {link:?} end {:?} {}",
                outcome.faults_struck(),
                outcome.end,
                outcome.event_digest
            )
        }
    }
}

/// What is wrong with the end of a run.
fn complaint(exact: &Ran, none: &Ran, secure: bool) -> Option<String> {
    if exact.stopped || none.stopped {
        return Some("the run does not end".into());
    }
    for (&(_, bytes), delivered) in COPIES.iter().zip(&exact.delivered) {
        if secure && !delivered.agrees(&mut Pattern(bytes)) {
            return Some("unverified bytes were delivered".into());
        }
    }
    match &exact.result {
        Ok(outcome) => {
            for ((copy, delivered), (_, bytes)) in outcome.copies.iter().zip(&exact.delivered).zip(COPIES) {
                let right = delivered.leave(&mut Pattern(bytes), bytes);
                if copy.delivered && !right {
                    return Some(format!("{:?} is called delivered and is not right", copy.direction));
                }
                if !copy.delivered && copy.reason.is_none() {
                    return Some(format!("{:?} is not delivered without a reason", copy.direction));
                }
            }
            let all = outcome.copies.iter().all(|copy| copy.delivered);
            if outcome.faults_struck().0 == 0 && !all {
                return Some("no fault has struck, and yet something is not delivered".into());
            }
        }
        Err(RunError::Simulation(SimulationError::Deadlock { waits, .. })) if !waits.is_empty() => {}
        Err(RunError::Simulation(SimulationError::Fault { .. })) => {}
        Err(error) => return Some(error.to_string()),
    }
    let (one, other) = (verdict(exact), verdict(none));
    (one != other).then(|| format!("data modes differ:\n    exact {one}\n    none  {other}"))
}

/// Injects everything everywhere; gives what went wrong.
fn campaign(name: &str, sets: &[&str], memory: Memory) -> Vec<String> {
    let sets: Vec<_> = QUICK.iter().chain(SMALL).chain(sets).copied().collect();
    let machine = machine(name, &sets);
    let mut complaints = Vec::new();
    for point in fault_points(&machine).unwrap() {
        for &kind in &point.kinds {
            for transfer in transfers() {
                let injections = [Injection::nth(point.place.clone(), kind, transfer)];
                let both = catch_unwind(AssertUnwindSafe(|| {
                    [DataMode::Exact, DataMode::None].map(|data| run(&machine, memory, data, &injections))
                }));
                let trouble = match &both {
                    Ok([exact, none]) => complaint(exact, none, machine.sealed_path()),
                    Err(_) => Some("panic".into()),
                };
                if let Some(trouble) = trouble {
                    complaints.push(format!("{}.{}#{transfer}: {trouble}", point.place, kind.name()));
                }
            }
        }
    }
    complaints
}

/// Injects every fault that can be chosen: by time, sort, message, field and bit.
fn chosen(name: &str, sets: &[&str]) -> Vec<String> {
    let sets: Vec<_> = QUICK.iter().chain(SMALL).chain(sets).copied().collect();
    let machine = machine(name, &sets);
    let mut texts = Vec::new();
    for FaultPoint { place, kinds, selectors } in fault_points(&machine).unwrap() {
        let mut when = vec!["@3us".to_owned(), "@11us".to_owned()];
        when.extend(selectors.sorts.iter().flat_map(|sort| [1, 5].map(|n| format!(":{sort}={n}"))));
        when.extend(selectors.messages.then_some(":message=2".to_owned()));
        texts.extend(kinds.iter().flat_map(|kind| when.iter().map(|when| format!("{place}.{}{when}", kind.name()))));
        if kinds.contains(&FaultKind::Flip) {
            let fields = selectors.fields.iter().map(|field| format!("field={field},"));
            let bits =
                fields.chain([String::new()]).flat_map(|field| [0, 9, 37].map(|bit| format!("{field}bit={bit}")));
            texts.extend(bits.flat_map(|aim| [2, 5].map(|n| format!("{place}.flip:{n},{aim}"))));
        }
    }
    let mut complaints = Vec::new();
    for text in texts.into_iter().step_by(if CAMPAIGN { 1 } else { 7 }) {
        let injections = [text.parse::<InjectionArgument>().unwrap().0];
        let both = catch_unwind(AssertUnwindSafe(|| {
            [DataMode::Exact, DataMode::None].map(|data| run(&machine, Memory::Pinned, data, &injections))
        }));
        let trouble = match &both {
            Ok([exact, none]) => complaint(exact, none, machine.sealed_path()),
            Err(_) => Some("panic".into()),
        };
        complaints.extend(trouble.map(|trouble| format!("{text}: {trouble}")));
    }
    complaints
}

#[test]
fn whatever_bit_time_or_message_is_chosen_nothing_wrong_is_delivered() {
    for (name, sets) in [("h100-nvl-tdx", &[][..]), ("h100-nvl-tdx", &["link.ecrc=true"]), ("h100-sxm5-off", &[])] {
        let complaints = chosen(name, sets);
        assert!(complaints.is_empty(), "{name}: {} complaints\n{}", complaints.len(), complaints.join("\n"));
    }
}

fn assert_holds(name: &str, sets: &[&str], memory: Memory) {
    let complaints = campaign(name, sets, memory);
    assert!(complaints.is_empty(), "{} complaints\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn whatever_goes_wrong_on_a_secure_machine_nothing_wrong_is_delivered() {
    assert_holds("h100-nvl-tdx", &[], Memory::Pinned);
}

#[test]
fn whatever_goes_wrong_on_a_secure_machine_with_ecrc_nothing_wrong_is_delivered() {
    assert_holds("h100-nvl-tdx", &["link.ecrc=true"], Memory::Pageable);
}

#[test]
fn whatever_goes_wrong_under_hold_nothing_wrong_is_delivered() {
    let sets = ["tag_queue.release=hold", "tag_queue.quarantine=8 KiB", "tag_queue.retirement=out_of_order"];
    assert_holds("h100-nvl-tdx", &sets, Memory::Pinned);
}

#[test]
fn whatever_goes_wrong_under_eager_release_nothing_wrong_is_delivered() {
    assert_holds("h100-nvl-tdx", &["tag_queue.release=eager", "tag_queue.fetch=before_data"], Memory::Pageable);
}

#[test]
fn whatever_goes_wrong_with_inline_tags_nothing_wrong_is_delivered() {
    assert_holds("h100-nvl-tdx", &["tag_queue.placement=inline"], Memory::Pinned);
}

#[test]
fn whatever_goes_wrong_with_messages_in_parts_nothing_wrong_is_delivered() {
    let sets = ["copy_engine.sharing=split", "copy_engine.pces_secure=2"];
    assert_holds("h100-nvl-tdx", &sets, Memory::Pinned);
    let held = ["tag_queue.release=hold", "tag_queue.quarantine=8 KiB"];
    assert_holds("h100-nvl-tdx", &[sets, held].concat(), Memory::Pinned);
}

#[test]
fn whatever_goes_wrong_with_a_shared_engine_nothing_wrong_is_delivered() {
    let sets = ["copy_engine.sharing=shared", "copy_engine.pces_secure=2"];
    assert_holds("h100-nvl-tdx", &sets, Memory::Pinned);
    let turns = ["copy_engine.engine_turn=1 KiB", "copy_engine.engine_wire=5 cycles", "tag_queue.release=eager"];
    assert_holds("h100-nvl-tdx", &[sets.as_slice(), &turns].concat(), Memory::Pinned);
    let pools = "copy_engine.pools={ghash=\"gpu\",turns=\"need\",quarantine=\"gpu\"}";
    let held = ["tag_queue.release=hold", "tag_queue.quarantine=8 KiB", "copy_engine.pces_secure=2", pools];
    assert_holds("h100-nvl-tdx", &held, Memory::Pinned);
}

#[test]
fn whatever_goes_wrong_where_sms_seal_and_open_nothing_wrong_is_delivered() {
    let sm = "sm={clock=\"1.755 GHz\",count=132,used=2,sub_cores=4,lanes=64,banks=32,shared_memory=\"227 KiB\",registers=65536,\
              warps=4,integer_latency=\"4 cycles\",shared_latency=\"30 cycles\",load_latency=\"30 cycles\",\
              aes=\"t_tables\",ghash=\"four_bit_tables\"}";
    assert_holds("h100-nvl-tdx", &[sm, "gpu_crypto.place=sm", "compute.launch=20 cycles"], Memory::Pinned);
}

#[test]
fn whatever_goes_wrong_on_a_plain_machine_nothing_wrong_is_called_delivered() {
    assert_holds("h100-sxm5-off", &[], Memory::Pinned);
}

#[test]
fn whatever_goes_wrong_on_a_plain_machine_with_staging_nothing_wrong_is_called_delivered() {
    // Four tags for each PCE, so that a tag is soon used again.
    let sets = ["link.read_tags=32", "copy_engine.pces_plain=8", "link.max_read_request=128 B"];
    assert_holds("h100-sxm5-off", &sets, Memory::Pageable);
}

#[test]
fn whatever_goes_wrong_on_a_plain_machine_with_ecrc_nothing_wrong_is_called_delivered() {
    assert_holds("h100-sxm5-off", &["link.ecrc=true"], Memory::Pinned);
}

#[test]
fn whatever_goes_wrong_on_a_machine_with_ide_nothing_wrong_is_called_delivered() {
    for (aggregation, memory) in [(1, Memory::Pinned), (8, Memory::Pageable)] {
        let engine = "{lanes=4,multipliers=5,latency=\"10 cycles\"}";
        let ide =
            format!("link.ide={{aggregation={aggregation},pcrc=true,flush=\"8 cycles\",host={engine},gpu={engine}}}");
        assert_holds("h100-nvl-tdx", &["link.ide_capable=true", &ide], memory);
    }
}

/// One copy towards the GPU with one fault.
fn one(name: &str, sets: &[&str], place: &str, kind: FaultKind, transfer: u64) -> Outcome {
    let sets: Vec<_> = QUICK.iter().chain(SMALL).chain(sets).copied().collect();
    let machine = machine(name, &sets);
    let copies = vec![copy(Direction::H2d, 30_000, Memory::Pinned)];
    let mut request = request(copies, DataMode::Exact, Kernel::Skip, Order::Ascending);
    request.injections = vec![Injection::nth(place, kind, transfer)];
    system::run(&machine, request, &mut |_| Control::Continue).unwrap()
}

#[test]
fn what_is_damaged_on_the_wire_is_sent_again_and_delivered() {
    for name in ["h100-nvl-tdx", "h100-sxm5-off"] {
        let (mut lcrc, mut tokens) = (0, 0);
        for transfer in 1..20 {
            let flipped = one(name, &[], "link.h2d", FaultKind::Flip, transfer);
            let token = one(name, &[], "link.h2d", FaultKind::FlipToken, transfer);
            assert!(flipped.copies[0].delivered && token.copies[0].delivered, "{name} {transfer}");
            assert_eq!(flipped.gpus[0].link.d2h.bad_lcrc, flipped.gpus[0].link.h2d.replays.min(1));
            assert_eq!(token.gpus[0].link.d2h.bad_tokens, token.gpus[0].link.d2h.recoveries.min(1));
            lcrc += flipped.gpus[0].link.d2h.bad_lcrc;
            tokens += token.gpus[0].link.d2h.bad_tokens;
        }
        assert!(lcrc > 0 && tokens > 0, "{name}");
    }
}

#[test]
fn behind_the_link_a_flipped_bit_is_found_by_the_digest_or_the_tag_or_by_comparing() {
    let place = |name| if name == "h100-nvl-tdx" { "gpu.pce0.completions" } else { "gpu.pce12.completions" };
    for (name, ecrc, words) in [
        ("h100-nvl-tdx", false, "the tags differ"),
        ("h100-nvl-tdx", true, "the ECRC of a completion is wrong"),
        ("h100-sxm5-off", false, "is not what was sent"),
        ("h100-sxm5-off", true, "the ECRC of a completion is wrong"),
    ] {
        for transfer in [1, 2, 30] {
            let outcome = one(name, &[&format!("link.ecrc={ecrc}")], place(name), FaultKind::Flip, transfer);
            let copy = &outcome.copies[0];
            assert!(!copy.delivered, "{name} {ecrc} {transfer}");
            assert!(copy.reason.as_ref().is_some_and(|reason| reason.contains(words)), "{name} {ecrc}: {copy:?}");
            assert_eq!(outcome.faults_struck(), (1, 1));
        }
    }
}

#[test]
fn a_lost_semaphore_is_a_deadlock_that_names_who_waits() {
    for sets in [&[][..], &["link.credit_update=30000 cycles"], &["link.credit_update=50 cycles"]] {
        let sets: Vec<_> = QUICK.iter().chain(sets).copied().collect();
        let machine = machine("h100-sxm5-off", &sets);
        let injection = Injection::nth("host.writes", FaultKind::Drop, 1);
        for kernel in [Kernel::Skip, Kernel::EveryCycle] {
            let copies = vec![copy(Direction::H2d, 1, Memory::Pinned)];
            let mut request = request(copies, DataMode::Exact, kernel, Order::Ascending);
            request.injections = vec![injection.clone()];
            let mut looks = 0;
            let error = system::run(&machine, request, &mut |_| {
                looks += 1;
                if looks > GIVE_UP_AFTER { Control::Stop } else { Control::Continue }
            });
            let error = error.unwrap_err().to_string();
            assert!(error.starts_with("deadlock") && error.contains("host.driver (completion)"), "{error}");
        }
    }
}

#[test]
fn a_lost_completion_is_given_up_after_its_time() {
    for (name, place) in [("h100-nvl-tdx", "gpu.pce0.completions"), ("h100-sxm5-off", "gpu.pce14.completions")] {
        // Of the last read nothing more comes that could show the gap.
        let outcome = one(name, &["link.max_read_request=128 B"], place, FaultKind::Drop, 3);
        let copy = &outcome.copies[0];
        assert!(!copy.delivered);
        assert!(copy.reason.as_ref().is_some_and(|reason| reason.contains("timed out")), "{copy:?}");
        assert!(copy.end.0 - copy.start.0 > 20_000_000_000, "{copy:?}");
    }
}
