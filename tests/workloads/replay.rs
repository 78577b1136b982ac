//! Profiles of real programs, played again: off as it was, and with confidential computing against what was measured.
//!
//! The profiles with confidential computing were seen while the table of calls was made: they are informed.

use sealsim::{
    config::{Layers, Resolved},
    replay::{
        Answer, Causes, End, Figures, Job, Known, Node, Op, Question, Simulator, Start, Work, breakdown, write_chakra,
    },
    sim::Control,
    workload::{
        collective::{CollectiveCall, CollectiveRequest, run_collective},
        trace::{self, DeviceKind, Direction, Input, Memory, Step, Trace},
    },
};
use std::{
    collections::{BTreeMap, HashMap},
    path::PathBuf,
};

const PROGRAMS: [&str; 5] = ["GRAMSCHM", "hotspot3D", "kmeans", "particlefilter", "streamcluster"];
const JOBS: [&str; 3] = ["a100-2gpu-allreduce-rank0", "a100-8gpu-sampled-rank0", "a100-alexnet"];

fn file(name: &str) -> PathBuf {
    PathBuf::from("validation/traces").join(name)
}

/// A program's profile from Nsight Systems.
fn program(name: &str, mode: &str) -> Trace {
    let [gpu, api] = ["gpu", "api"].map(|table| file(&format!("{name}-{mode}-cuda_{table}_trace.csv.gz")));
    trace::read(Input::Path(&gpu), Some(Input::Path(&api)), &mut |_, _| Control::Continue).unwrap()
}

fn job(name: &str) -> Trace {
    trace::read(Input::Path(&file(&format!("{name}.json.gz"))), None, &mut |_, _| Control::Continue).unwrap()
}

fn machine() -> Resolved {
    Layers::new("h100-nvl-tdx").resolve().unwrap()
}

/// Calls what is to be found out with a question about a trace.
pub fn asked<T>(trace: &Trace, answer: impl FnOnce(&Question<'_>, &Resolved) -> T) -> T {
    asked_on(machine(), trace, answer)
}

fn asked_on<T>(machine: Resolved, trace: &Trace, answer: impl FnOnce(&Question<'_>, &Resolved) -> T) -> T {
    let known = Known::default();
    let submission = machine.machine.calls.as_ref().unwrap().submission.off.0 / 1_000_000;
    let job = Job::of(trace, submission);
    let simulator = Simulator {
        threads: 2,
        go_on: &|| Control::Continue,
        progress: &|| (),
        known: &known,
        sample: None,
        end: End::Middle,
    };
    answer(&Question::new(&job, &machine, simulator).unwrap(), &machine)
}

/// The figures off and with confidential computing.
pub fn figures(trace: &Trace) -> [Figures; 2] {
    asked(trace, |question, machine| {
        let off = question.off(machine).unwrap();
        let cc = question.secure(machine, Causes::default()).unwrap();
        let of = |name: &str, answer: &Answer| question.figures(name, answer, &off.played);
        [of("off", &off), of("cc", &cc)]
    })
}

/// From the start of the first operation to the end of the last, in the trace.
pub fn device_time(trace: &Trace) -> u64 {
    let first = trace.device.iter().map(|op| op.start_ns).min().unwrap();
    trace.device.iter().map(|op| op.start_ns + op.duration_ns).max().unwrap() - first
}

fn error(found: u64, truth: u64) -> f64 {
    100.0 * (found as f64 / truth as f64 - 1.0)
}

#[test]
fn what_was_profiled_off_is_played_off_as_it_was() {
    let traces = PROGRAMS.map(|name| (name, program(name, "off"))).into_iter();
    for (name, trace) in traces.chain(JOBS.map(|name| (name, job(name)))) {
        let [off, _] = figures(&trace);
        let error = error(off.end_ns.unwrap(), device_time(&trace));
        assert!(error.abs() < 3.0, "{name}: {error:+.2} %");
    }
}

/// Time in calls of a trace by name, without each name's first: none that synchronise.
fn calls(trace: &Trace) -> BTreeMap<&str, u64> {
    let (mut sums, mut seen) = (BTreeMap::new(), std::collections::BTreeSet::new());
    for call in &trace.calls {
        let name = trace.name(call.name);
        if seen.insert(name) || name.contains("ynchronize") {
            continue;
        }
        *sums.entry(name).or_insert(0) += call.duration_ns;
    }
    sums
}

#[test]
fn calls_with_confidential_computing_take_what_was_measured() {
    for name in PROGRAMS {
        let [_, cc] = figures(&program(name, "off"));
        let measured = program(name, "cc");
        let measured = calls(&measured);
        let found: BTreeMap<&str, u64> =
            cc.host_calls.iter().map(|call| (call.name.as_str(), call.total_ns - call.first_ns)).collect();
        let of_these = |name: &&str| found.get(*name).copied().unwrap_or(0);
        let total = error(measured.keys().map(of_these).sum(), measured.values().sum());
        assert!(total.abs() < 10.0, "{name}: calls in all {total:+.1} %");
        for (call, truth) in measured.iter().filter(|(_, truth)| **truth > 1_000_000) {
            let error = error(of_these(call), *truth);
            assert!(error.abs() < 20.0, "{name} {call}: {error:+.1} %");
        }
    }
}

/// Device time of copies to and from the host that take 5 us or more.
fn copies(trace: &Trace, to_host: bool) -> u64 {
    let host = |memory| matches!(memory, Memory::Pinned | Memory::Pageable | Memory::Managed);
    let copies = trace.device.iter().filter(|op| match op.kind {
        DeviceKind::Copy { source, target, .. } => {
            if to_host {
                host(target)
            } else {
                host(source) && !host(target)
            }
        }
        _ => false,
    });
    copies.map(|op| op.duration_ns).filter(|ns| *ns >= 5_000).sum()
}

#[test]
fn copies_with_confidential_computing_take_what_was_measured_on_the_device() {
    for name in PROGRAMS {
        let [_, cc] = figures(&program(name, "off"));
        let measured = program(name, "cc");
        let found = cc.device_copy_ns.unwrap();
        for (way, found, to_host) in [("h2d", found.h2d, false), ("d2h", found.d2h, true)] {
            let truth = copies(&measured, to_host);
            // What is shorter than 5 us is in what was found, and is little: some microseconds of each program.
            if truth > 100_000 {
                let error = error(found, truth);
                assert!(error.abs() < 10.0, "{name} {way}: {error:+.1} %");
            }
        }
    }
}

/// The end of the last operation without host time outside calls and without the first call of each name: of one thread.
fn own_time(trace: &Trace) -> u64 {
    let last = trace.device.iter().map(|op| op.start_ns + op.duration_ns).max().unwrap();
    let (mut rest, mut until, mut seen) = (0, trace.calls[0].start_ns, std::collections::BTreeSet::new());
    for call in trace.calls.iter().filter(|call| call.start_ns < last) {
        let end = (call.start_ns + call.duration_ns).min(last);
        rest += call.start_ns.saturating_sub(until);
        until = until.max(end);
        if seen.insert(call.name) {
            rest += end - call.start_ns;
        }
    }
    last - trace.calls[0].start_ns - rest
}

#[test]
fn programs_end_with_confidential_computing_when_they_did() {
    for name in PROGRAMS {
        let off = program(name, "off");
        let found = asked(&off, |question, machine| {
            let played = question.secure(machine, Causes::default()).unwrap().played;
            // As a trace of its own, so that both sides are computed alike.
            let mut trace = off.clone();
            for (call, span) in trace.calls.iter_mut().zip(&played.calls) {
                (call.start_ns, call.duration_ns) = (span.start, span.duration());
            }
            for (op, span) in trace.device.iter_mut().zip(&played.ops) {
                (op.start_ns, op.duration_ns) = (span.start, span.duration());
            }
            own_time(&trace)
        });
        let error = error(found, own_time(&program(name, "cc")));
        println!("{name}: end {error:+.1} %");
        assert!(error.abs() < 10.0, "{name}: {error:+.1} %");
    }
}

#[test]
fn the_parts_of_a_breakdown_sum_to_the_difference() {
    for trace in [program("hotspot3D", "off"), program("kmeans", "off"), job("a100-8gpu-sampled-rank0")] {
        asked(&trace, |question, machine| {
            let off = question.off(machine).unwrap().played;
            let cc = question.secure(machine, Causes::default()).unwrap().played;
            let shares = breakdown(question, machine, &cc).unwrap();
            let sum: i64 = shares.iter().map(|share| share.ns).sum();
            assert_eq!(sum, cc.device_time() as i64 - off.device_time() as i64, "{shares:?}");
        });
    }
}

#[test]
fn copies_that_share_a_simulation_take_what_each_takes_by_itself() {
    let trace = job("a100-8gpu-sampled-rank0");
    asked(&trace, |question, machine| {
        let shared = question.secure(machine, Causes::default()).unwrap();
        assert!(shared.counts.shared > 0);
        let mut full = shared.played.clone();
        for place in question.keys.0.iter().map(|(place, _)| *place as usize).collect::<Vec<_>>() {
            let known = Known::default();
            let simulator = Simulator { known: &known, ..question.simulator };
            let keys = question.keys.filter_map(|other, key| (other == place).then_some(key));
            let alone = Question {
                keys,
                off: question.off.clone(),
                simulator,
                mates: Vec::new(),
                node: Node::default(),
                ..*question
            };
            let alone = alone.secure(machine, Causes::default()).unwrap();
            assert_eq!(alone.counts.simulated, 1);
            full.ops[place] = sealsim::replay::Span {
                start: shared.played.ops[place].start,
                end: shared.played.ops[place].start + alone.played.ops[place].duration(),
            };
        }
        assert_eq!(full.ops, shared.played.ops);
    });
}

/// What an operation is to the format, its bytes, and its duration in whole microseconds.
fn written(trace: &Trace) -> Vec<(u8, Option<u64>, u64)> {
    let of = |op: &trace::DeviceOp| {
        let (kind, bytes) = match &op.kind {
            DeviceKind::Copy { direction: Direction::H2d, bytes, .. } => (0, Some(*bytes)),
            DeviceKind::Copy { direction: Direction::D2h, bytes, .. } => (1, Some(*bytes)),
            DeviceKind::Collective(sent) => (2, sent.bytes_in.or(sent.bytes_out)),
            _ => (3, None),
        };
        (kind, bytes, (op.duration_ns + 500) / 1000)
    };
    let mut all: Vec<_> = trace.device.iter().map(of).collect();
    all.sort_unstable();
    all
}

#[test]
fn a_replay_written_as_a_chakra_trace_is_read_as_it_was_played() {
    for trace in [program("kmeans", "off"), program("particlefilter", "off"), job("a100-8gpu-sampled-rank0")] {
        let (bytes, played) = asked(&trace, |question, machine| {
            let played = question.secure(machine, Causes::default()).unwrap().played;
            let mut bytes = Vec::new();
            write_chakra(&trace, question.job, &played, &mut bytes).unwrap();
            let mut dated = trace.clone();
            for (op, span) in question.job.ops.iter().zip(&played.ops) {
                dated.device[op.traced as usize].duration_ns = span.duration();
            }
            (bytes, dated)
        });
        // The reader refuses circles, and numbers that come twice.
        let input = Input::Bytes { name: "written", bytes: &bytes };
        let read = trace::read(input, None, &mut |_, _| Control::Continue).unwrap();
        assert_eq!(written(&read), written(&played));
        assert_eq!(read.events.left_out, []);
        let span = |step: &Step| match step {
            Step::Device(place) => (read.device[*place as usize].start_ns, read.device[*place as usize].duration_ns),
            Step::Call(place) => (read.calls[*place as usize].start_ns, read.calls[*place as usize].duration_ns),
        };
        assert!(read.dependencies.len() > read.device.len());
        for (before, after) in &read.dependencies {
            let (start, duration) = span(before);
            // Three times are rounded by half a microsecond at most, to whole ones.
            assert!(start + duration <= span(after).0 + 1_000, "{before:?} {after:?}");
        }
    }
}

/// Launches in a row of kernels, ns of each launch and of each kernel.
fn launches(calls: &[u64], kernel: u64) -> Trace {
    let mut text = String::from("{\"traceEvents\":[");
    let (mut start, mut free) = (0_u64, 0_u64);
    for (number, duration) in calls.iter().enumerate() {
        let begins = (start + duration + 1_400).max(free + 1_100);
        let us = |ns: u64| format!("{}.{:03}", ns / 1000, ns % 1000);
        let comma = if number == 0 { "" } else { "," };
        text += &format!(
            "{comma}{{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":{},\"dur\":{},\"args\":{{\"correlation\":{n}}}}},\
             {{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":{},\"dur\":{},\"args\":{{\"device\":0,\"stream\":7,\"correlation\":{n}}}}}",
            us(start),
            us(*duration),
            us(begins),
            us(kernel),
            n = number + 1,
        );
        start += duration;
        free = begins + kernel;
    }
    text += "]}";
    let input = Input::Bytes { name: "launches", bytes: text.as_bytes() };
    trace::read(input, None, &mut |_, _| Control::Continue).unwrap()
}

/// Off durations of so many launches in a row, as the machine has them.
fn row(count: usize) -> Vec<u64> {
    (0..count).map(|place| [30_000, 7_100, 4_750][place.min(2)]).collect()
}

#[test]
fn launches_in_a_row_take_what_was_published_in_both_modes() {
    // ISPASS 2025, figure 12: mean of all launches but the first, us, without and with confidential computing.
    let published = [
        (2, 7.1, 15.6),
        (4, 5.1, 12.5),
        (8, 5.3, 11.1),
        (16, 5.0, 10.4),
        (32, 4.9, 10.1),
        (64, 5.0, 10.0),
        (128, 4.91, 9.99),
    ];
    for (count, off, cc) in published {
        let machine = Layers::new("h100-nvl-tdx").set("calls.launch.profiled=0 ns").resolve().unwrap();
        let (trace, known) = (launches(&row(count), 1_000), Known::default());
        let job = Job::of(&trace, 1_400);
        let simulator = Simulator {
            threads: 1,
            go_on: &|| Control::Continue,
            progress: &|| (),
            known: &known,
            sample: None,
            end: End::Middle,
        };
        let question = Question::new(&job, &machine, simulator).unwrap();
        let mean = |answer: &Answer| {
            let later = answer.played.calls.iter().skip(1).map(|call| call.duration()).sum::<u64>();
            later as f64 / (count - 1) as f64 / 1e3
        };
        let found = [question.off(&machine).unwrap(), question.secure(&machine, Causes::default()).unwrap()];
        for (found, published) in found.iter().map(mean).zip([off, cc]) {
            assert!((found / published - 1.0).abs() < 0.1, "{count} launches: {found:.2} us against {published} us");
        }
    }
}

#[test]
fn launches_hide_behind_kernels_that_take_longer_and_starve_the_gpu_behind_shorter_ones() {
    let slowdown = |kernel| {
        let [_, cc] = figures(&launches(&row(3000), kernel));
        cc.slowdown_over_off.unwrap()
    };
    // A launch takes twice as long and the profiler's part more: (2 x 4.75 + 0.4 + 1.2) / 4.75.
    assert!((slowdown(1_000) / (11.1 / 4.75) - 1.0).abs() < 0.02, "{}", slowdown(1_000));
    assert!(slowdown(100_000) < 1.01, "{}", slowdown(100_000));
    assert!(slowdown(8_000) > 1.1 && slowdown(8_000) < slowdown(4_000));
}

/// Of each collective, what it takes longer in the replay than in the trace; and what the fabric says, in ns.
fn longer(trace: &Trace, design: &str) -> Vec<(u64, u64)> {
    let laid = |design: &str| Layers::new("hgx-h100-8gpu").overlay(design).resolve().unwrap();
    let plain = Layers::new("hgx-h100-8gpu").overlay("off").overlay("plain").resolve().unwrap();
    asked_on(laid(design), trace, |question, machine| {
        let played = question.secure(machine, Causes::default()).unwrap().played;
        let ops = question.job.ops.iter().zip(&played.ops).filter_map(|(op, span)| match op.work {
            Work::Collective(call) => Some((call, span.duration() - op.duration)),
            _ => None,
        });
        let time = |machine: &Resolved, call: &CollectiveCall| {
            let request = CollectiveRequest::new(call.kind, call.ranks, call.bytes);
            let outcome = run_collective(&machine.machine, &request, &mut |_| Control::Continue).unwrap();
            (outcome.time.0 - outcome.launch.0) / 1_000_000
        };
        let mut told = HashMap::new();
        let ops = ops.map(|(call, longer)| {
            (longer, *told.entry(call).or_insert_with(|| time(machine, &call) - time(&plain, &call)))
        });
        ops.collect()
    })
}

#[test]
fn collectives_of_a_profile_take_longer_by_what_the_fabric_says() {
    let trace = job("a100-2gpu-allreduce-rank0");
    for design in ["link", "direct", "staged"] {
        let all = longer(&trace, design);
        assert!(!all.is_empty(), "{design}");
        for (longer, expected) in all {
            assert!(expected > 0 && longer.abs_diff(expected) <= 1, "{design}: {longer} {expected}");
        }
    }
}

#[test]
fn collectives_keep_their_length_where_there_is_no_fabric_for_them() {
    let trace = job("a100-2gpu-allreduce-rank0");
    let alone = Layers::new("h100-nvl-tdx").overlay("staged").resolve().unwrap();
    asked_on(alone, &trace, |question, machine| {
        let answer = question.secure(machine, Causes::default()).unwrap();
        let of_collective = |op: &&Op| matches!(op.work, Work::Collective(_));
        assert_eq!(answer.collectives_kept, question.job.ops.iter().filter(of_collective).count() as u64);
        assert!(answer.collectives_kept > 0);
        let played = answer.played;
        for (op, span) in question.job.ops.iter().zip(&played.ops) {
            if matches!(op.work, Work::Collective(_)) {
                assert_eq!(span.duration(), op.duration);
            }
        }
    });
}

/// Events of a profile of one process: calls are (name, start, duration in ms), each with a kernel of 1 ms behind it if it launches.
fn begun(calls: &[(&str, f64, f64)], marks: &str) -> Job {
    let events = calls.iter().enumerate().map(|(number, (name, start, duration))| {
        let (ts, dur) = (start * 1e3, duration * 1e3);
        let call = format!(
            "{{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"{name}\",\"pid\":1,\"tid\":1,\"ts\":{ts},\"dur\":{dur},\"args\":{{\"correlation\":{number}}}}}"
        );
        let kernel = format!(
            ",{{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":{},\"dur\":1000,\"args\":{{\"device\":0,\"stream\":7,\"correlation\":{number}}}}}",
            ts + dur + 5.0
        );
        if name.contains("Launch") || name.contains("Memcpy") { call + &kernel } else { call }
    });
    let events: Vec<String> = events.collect();
    let text = format!("{{\"traceEvents\":[{marks}{}]}}", events.join(","));
    let input = Input::Bytes { name: "t", bytes: text.as_bytes() };
    Job::of(&trace::read(input, None, &mut |_, _| Control::Continue).unwrap(), 1_400)
}

fn creator_of(job: &Job) -> Option<&str> {
    job.beginning.creates.first().map(|place| job.name(job.calls[*place as usize].name))
}

#[test]
fn a_context_is_created_only_where_the_profile_shows_it() {
    let launch = ("cudaLaunchKernel", 300.0, 0.02);
    let cold = [
        ("cudaFree", 0.0, 120.0),
        ("cuDevicePrimaryCtxRetain", 0.0, 80.0),
        ("cudaSetDevice", 0.0, 200.0),
        ("cudaMallocHost", 3.0, 170.0),
        ("cudaMallocManaged", 3.0, 190.0),
        ("cudaStreamCreateWithFlags", 3.0, 90.0),
        ("hipMalloc", 3.0, 90.0),
        ("cudaMemcpyToSymbol", 3.0, 90.0),
    ];
    for call in cold {
        let query = ("cuModuleGetLoadingMode", 0.0, 0.004);
        let job = begun(&[query, call, launch], "");
        assert_eq!(creator_of(&job), Some(call.0));
        assert!(job.begun.contains("begins with its program"), "{}", job.begun);
        assert_eq!(creator_of(&job.begins(Start::Warm)), None);
    }
    // A wait, a copy or a launch of as long, and a call that asks.
    for name in [
        "cudaDeviceSynchronize",
        "cudaStreamSynchronize",
        "cudaMemcpyAsync",
        "hipMemcpyWithStream",
        "cudaLaunchKernel",
        "cudaGetDeviceCount",
        "cuInit",
        "cudaEventSynchronize",
    ] {
        let job = begun(&[(name, 3.0, 463.0), ("cudaLaunchKernel", 500.0, 0.02)], "");
        assert_eq!(creator_of(&job), None, "{name}");
        assert!(job.begun.contains("in the middle"), "{}", job.begun);
        assert_eq!(creator_of(&job.begins(Start::Cold)), Some(name));
    }
}

#[test]
fn a_long_call_behind_work_or_behind_a_context_creates_none() {
    let long = ("cudaMalloc", 10.0, 90.0);
    for before in [("cudaLaunchKernel", 0.0, 0.02), ("cudaMalloc", 0.0, 0.02), ("cudaEventCreate", 0.0, 0.01)] {
        assert_eq!(creator_of(&begun(&[before, long, ("cudaLaunchKernel", 300.0, 0.02)], "")), None, "{}", before.0);
    }
    for before in [("cudaSetDevice", 0.0, 0.002), ("cudaGetDeviceProperties", 0.0, 2.0)] {
        let job = begun(&[before, long, ("cudaLaunchKernel", 300.0, 0.02)], "");
        assert_eq!(creator_of(&job), Some("cudaMalloc"), "{}", before.0);
    }
}

#[test]
fn marks_of_later_steps_say_that_the_program_was_there_before() {
    let calls = [("cudaMalloc", 10.0, 90.0), ("cudaLaunchKernel", 300.0, 0.02)];
    let mark = |step: u32| {
        format!(
            "{{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#{step}\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":9}},"
        )
    };
    assert_eq!(creator_of(&begun(&calls, &mark(0))), Some("cudaMalloc"));
    assert_eq!(creator_of(&begun(&calls, &(mark(6) + &mark(5)))), None);
    assert!(begun(&calls, &(mark(6) + &mark(5))).begun.contains("begin with 5"));
}
