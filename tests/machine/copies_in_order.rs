//! Copies of a profile take the same in a replay as in a run of the workload that is made of it, on any machine: where they depend on those before them,
//! and where equal ones share a simulation.

use proptest::{prelude::*, sample::select};
use sealsim::{
    config::{Layers, Resolved, Role, SHIPPED},
    replay::{Causes, CopyKey, End, Job, Known, Question, Simulator, import, times},
    sim::Control,
    system::{self, CopyOutcome, Pages},
    workload::{
        Arrival, Workload, WorkloadFile,
        collective::CollectiveTimes,
        sized,
        trace::{self, Input, Trace},
    },
};

const MACHINE: &str = "h100-nvl-tdx";

/// A copy of a profile: the direction and memory that the profiler names, bytes, and its stream.
type Copy = (&'static str, u64, u32);

/// A profile of copies, one call right behind the other, and of kernels behind them that last so many microseconds.
fn profile(copies: &[Copy], kernels: &[u64]) -> Trace {
    let (mut at, mut events) = (0, Vec::new());
    for (place, (what, bytes, stream)) in copies.iter().enumerate() {
        let mut event = |cat: &str, name: &str, (from, length): (u64, u64), number: usize, more: &str| {
            events.push(format!(
                "{{\"ph\":\"X\",\"cat\":\"{cat}\",\"name\":\"{name}\",\"pid\":0,\"tid\":1,\"ts\":{from},\"dur\":{length},\
                 \"args\":{{\"correlation\":{number},\"device\":0,\"stream\":{stream}{more}}}}}"
            ));
        };
        // As short as profiles have them at most, so that nothing of a call is left that no copy explains.
        event("cuda_runtime", "cudaMemcpy", (at, 3), 2 * place + 1, "");
        event("gpu_memcpy", what, (at + 1, 1), 2 * place + 1, &format!(",\"bytes\":{bytes}"));
        at += 3;
        if let Some(length) = kernels.get(place) {
            event("cuda_runtime", "cudaLaunchKernel", (at, 2), 2 * place + 2, "");
            event("kernel", "k", (at + 2, *length), 2 * place + 2, "");
            at += 2;
        }
    }
    let text = format!("{{\"traceEvents\":[{}]}}", events.join(","));
    let input = Input::Bytes { name: "profile", bytes: text.as_bytes() };
    trace::read(input, None, &mut |_, _| Control::Continue).unwrap()
}

fn machine(design: &str) -> Resolved {
    let machine = Layers::new(MACHINE).confidential_computing(true);
    if design.is_empty() { machine.resolve().unwrap() } else { machine.overlay(design).resolve().unwrap() }
}

/// All machines that a replay plays with confidential computing: the machine as it is, and with each shipped design.
fn secure() -> Vec<Resolved> {
    let designs = SHIPPED.iter().filter(|one| one.role == Role::Design).map(|one| one.name());
    let all = std::iter::once("").chain(designs).map(machine);
    all.filter(|machine| machine.machine.confidential_computing).collect()
}

/// Asks about a profile: what a replay gives each copy on these machines as time on the device and in its call, ns, and the time of all; the workload; and
/// what the caches can make of a copy at most.
struct Asked {
    replayed: Vec<(Vec<(u64, u64)>, u64)>,
    workload: String,
    caches: Vec<Vec<u64>>,
}

fn ask(trace: &Trace, machines: &[Resolved]) -> Asked {
    let (known, base) = (Known::default(), machine(""));
    let job = Job::of(trace, base.machine.calls.as_ref().unwrap().submission.off.0 / 1_000_000);
    let go_on = || Control::Continue;
    let simulator =
        Simulator { threads: 2, go_on: &go_on, progress: &|| (), known: &known, sample: None, end: End::Middle };
    let question = Question::new(&job, &base, simulator).unwrap();
    let copies: Vec<usize> = question.keys.0.iter().map(|(place, _)| *place as usize).collect();
    let mut asked = Asked { replayed: Vec::new(), workload: String::new(), caches: Vec::new() };
    asked.workload = import(&job, &question.keys, "it").unwrap();
    for machine in machines {
        let played = question.secure(machine, Causes::default()).unwrap().played;
        let call = |place: usize| {
            let of = job.calls.iter().position(|call| call.ops.contains(&(place as u32))).unwrap();
            played.calls[of].duration()
        };
        let each = copies.iter().map(|place| (played.ops[*place].duration(), call(*place)));
        asked.replayed.push((each.collect(), played.device_time()));
        let alone = |pages: Pages| {
            let keys = question.keys.filter_map(|_, key| Some(CopyKey { pages, ..key }));
            let (all, _) = times((&machine.digest, &machine.machine.of_gpu(0)), &keys, simulator).unwrap();
            all.0.into_iter().map(|(_, time)| time.call()).collect::<Vec<_>>()
        };
        let (warm, cold) = (alone(Pages::Warm), alone(Pages::Cold));
        asked.caches.push(warm.iter().zip(cold).map(|(warm, cold)| warm.abs_diff(cold)).collect());
    }
    asked
}

/// The copies of a run of a workload.
fn run(machine: &Resolved, workload: &str) -> Vec<CopyOutcome> {
    let file = WorkloadFile::parse("it", workload.to_owned()).unwrap();
    let workload = Workload::timed(sized(&file.copies, None).unwrap(), Some(file.steps));
    let arrivals: Vec<_> = workload.copies.iter().map(|_| Arrival::new(false, None)).collect();
    let request = workload.request(&arrivals, &CollectiveTimes::default()).unwrap();
    system::run(&machine.machine, request, &mut |_| Control::Continue).unwrap().copies
}

/// Time on the device and in the call, ns.
fn spans(copy: &CopyOutcome) -> (u64, u64) {
    let [start, returned] = [copy.start, copy.returned].map(|date| date.0 / 1_000_000);
    let (first, last) = copy.device.unwrap();
    (last.0 / 1_000_000 - first.0 / 1_000_000, returned - start)
}

fn copies(most: u64, count: usize) -> impl Strategy<Value = Vec<Copy>> {
    let what = select(vec![
        "Memcpy HtoD (Pinned -> Device)",
        "Memcpy HtoD (Pageable -> Device)",
        "Memcpy DtoH (Device -> Pinned)",
        "Memcpy DtoH (Device -> Pageable)",
    ]);
    let bytes = (0..most.ilog2(), 0_u64..1 << 20).prop_map(|(power, more)| (1 << power) + more % (1 << power));
    // Few kinds of copies, so that they repeat.
    prop::collection::vec((what, bytes, 1_u32..3), 1..4)
        .prop_flat_map(move |kinds| prop::collection::vec(select(kinds), 1..count))
}

/// What dates of a profile are worth: profilers write microseconds.
const MICROSECOND: u64 = 1_000;

fn all_agree(machines: &[Resolved], trace: &Trace) {
    let asked = ask(trace, machines);
    for ((machine, (replayed, end)), caches) in machines.iter().zip(&asked.replayed).zip(&asked.caches) {
        let own = run(machine, &asked.workload);
        let (first, last) = (own.first().unwrap().device.unwrap().0, own.last().unwrap().device.unwrap().1);
        let whole = last.0 / 1_000_000 - first.0 / 1_000_000;
        let found: Vec<_> = own.iter().map(spans).collect();
        if machine.machine.history().is_some() {
            assert_eq!((replayed, *end), (&found, whole), "{}", machine.name());
            continue;
        }
        // Equal copies share a simulation: caches and the phases of clocks are then those of a copy by itself.
        for (((device, call), own), caches) in replayed.iter().zip(&found).zip(caches) {
            let most = caches + MICROSECOND;
            let off = device.abs_diff(own.0).max(call.abs_diff(own.1));
            assert!(off <= most, "{}: {device} and {call} ns against {own:?}, {off} of {most} ns off", machine.name());
        }
        let most: u64 = caches.iter().map(|caches| caches + MICROSECOND).sum();
        assert!(end.abs_diff(whole) <= most, "{}: ends at {end} against {whole} ns", machine.name());
    }
}

#[test]
fn guessed_copies_gain_in_a_replay_what_they_gain_in_a_run() {
    let trace = profile(&[("Memcpy HtoD (Pinned -> Device)", 16 << 20, 7); 20], &[]);
    let machines = ["", "pipellm"].map(machine);
    all_agree(&machines, &trace);
    let asked = ask(&trace, &machines);
    let [cc, guessed] = [0, 1].map(|place| asked.replayed[place].1);
    assert!(2 * guessed < cc, "{guessed} of {cc} ns");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn copies_take_the_same_with_every_design(copies in copies(1 << 21, 6)) {
        all_agree(&secure(), &profile(&copies, &[]));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn guessed_copies_take_the_same(copies in copies(1 << 23, 10)) {
        all_agree(&[machine("pipellm")], &profile(&copies, &[]));
    }

    /// Behind kernels too a copy's time on the device is that of the run; how long its call waits for them is found when it is played.
    #[test]
    fn guessed_copies_behind_kernels_take_the_same_on_the_device(
        copies in copies(1 << 22, 8),
        kernels in prop::collection::vec(1_u64..3_000, 0..8),
    ) {
        let machines = [machine("pipellm")];
        let asked = ask(&profile(&copies, &kernels), &machines);
        let own: Vec<_> = run(&machines[0], &asked.workload).iter().map(|copy| spans(copy).0).collect();
        let replayed: Vec<_> = asked.replayed[0].0.iter().map(|(device, _)| *device).collect();
        prop_assert_eq!(replayed, own);
    }
}
