//! Profiles made by hand, played again: overlapping nodes, operations without calls, managed memory, many streams, and times that would wrap.

use super::replay::{asked, device_time, figures};
use sealsim::{
    replay::{Causes, what_if},
    sim::Control,
    workload::trace::{self, Input, Trace},
};

/// Events of a profile: those of the host with a thread, those of the GPU with a stream; in us.
fn host_event(name: &str, thread: u32, start: f64, duration: f64, correlation: u32) -> String {
    format!(
        "{{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"{name}\",\"pid\":1,\"tid\":{thread},\"ts\":{start},\"dur\":{duration},\"args\":{{\"correlation\":{correlation}}}}}"
    )
}

fn gpu_event(name: &str, stream: u32, start: f64, duration: f64, correlation: u32) -> String {
    let (category, more) = if name.contains("Memcpy") { ("gpu_memcpy", ",\"bytes\":65536") } else { ("kernel", "") };
    format!(
        "{{\"ph\":\"X\",\"cat\":\"{category}\",\"name\":\"{name}\",\"pid\":0,\"tid\":{stream},\"ts\":{start},\"dur\":{duration},\"args\":{{\"device\":0,\"stream\":{stream},\"correlation\":{correlation}{more}}}}}"
    )
}

fn of_events(events: &[String]) -> Trace {
    let text = format!("{{\"traceEvents\":[{}]}}", events.join(","));
    let input = Input::Bytes { name: "events", bytes: text.as_bytes() };
    trace::read(input, None, &mut |_, _| Control::Continue).unwrap()
}

/// A graph whose nodes overlap in one stream, then launches, one of whose kernels has no call, and waits for events that are not the last.
fn awkward() -> Trace {
    let mut events = vec![host_event("cudaGraphLaunch", 1, 0.0, 12.0, 1)];
    events.extend((0..40).map(|node| gpu_event("node", 7, 20.0 + 5.0 * f64::from(node), 30.0, 1)));
    for turn in 0..30 {
        let (at, number) = (300.0 + 100.0 * f64::from(turn), 100 + 10 * turn);
        events.push(host_event("cudaLaunchKernel", 1, at, 5.0, number));
        events.push(host_event("cudaLaunchKernel", 1, at + 6.0, 5.0, number + 1));
        events.push(host_event("cudaEventRecord", 2, at + 12.0, 2.0, number + 2));
        // One whose call is not in the profile runs between the two.
        events.push(gpu_event("first", 7, at + 10.0, 20.0, number));
        events.push(gpu_event("foreign", 7, at + 31.0, 25.0, 90_000 + number));
        events.push(gpu_event("second", 7, at + 57.0, 30.0, number + 1));
        events.push(host_event("cudaEventSynchronize", 2, at + 15.0, 17.0, number + 3));
        events.push(host_event("cudaFree", 2, at + 33.0, 6.0, number + 4));
    }
    of_events(&events)
}

#[test]
fn an_awkward_profile_is_played_off_as_it_was_to_the_nanosecond() {
    let trace = awkward();
    asked(&trace, |question, machine| {
        let off = question.off(machine).unwrap().played;
        assert_eq!(question.job.device_time(), device_time(&trace));
        for (op, span) in question.job.ops.iter().zip(&off.ops) {
            let name = question.job.name(op.name);
            assert_eq!((span.start, span.end), (op.start, op.end()), "{name}");
        }
        assert_eq!(question.job.notices(off.device_time()), Vec::<String>::new());
        let late = question.job.notices(off.device_time() * 103 / 100);
        assert!(late[0].contains("3.0 % later than the profile itself"), "{late:?}");
    });
}

#[test]
fn an_operation_whose_call_lies_in_a_synchronisation_has_its_dates() {
    let events = [
        host_event("cudaLaunchKernel", 1, 0.0, 5.0, 1),
        gpu_event("first", 7, 10.0, 20.0, 1),
        host_event("cudaDeviceSynchronize", 1, 6.0, 100.0, 2),
        host_event("cuLaunchKernel", 1, 40.0, 5.0, 3),
        gpu_event("second", 7, 50.0, 40.0, 3),
    ];
    asked(&of_events(&events), |question, machine| {
        for answer in [question.off(machine).unwrap(), question.secure(machine, Causes::default()).unwrap()] {
            let [first, second] = answer.played.ops[..] else { panic!("{:?}", answer.played.ops) };
            assert!(second.start >= first.end && second.duration() == 40_000, "{first:?} {second:?}");
            assert!(answer.played.calls[1].end >= second.end, "{:?}", answer.played.calls);
        }
    });
}

/// A program with managed memory: a migration within each kernel, which has no call.
fn managed(migration: &str) -> Vec<String> {
    let mut events = vec![host_event("cudaMalloc", 1, 0.0, 5.0, 1)];
    for turn in 0..20 {
        let at = 20.0 + 6.0 * f64::from(turn);
        events.push(host_event("cudaLaunchKernel", 1, at, 5.0, 10 + turn));
        let begins = 30.0 + 200.0 * f64::from(turn);
        events.push(gpu_event("k", 7, begins, 190.0, 10 + turn));
        events.push(gpu_event(migration, 9, begins + 50.0, 20.0, 9_000 + turn));
    }
    events.push(host_event("cudaDeviceSynchronize", 1, 150.0, 4_000.0, 99));
    events
}

#[test]
fn a_program_with_managed_memory_gets_no_slow_down_and_the_reason() {
    let allocates = || host_event("cudaMallocManaged", 1, 10.0, 5.0, 2);
    let pinned = "Memcpy HtoD (Pinned -> Device)";
    let plain = managed(pinned);
    let with_call: Vec<String> = plain.iter().cloned().chain([allocates()]).collect();
    // Copies of pinned memory, as a profile shows them that was itself taken with confidential computing.
    let secure = managed("Memcpy DtoD (Managed -> Device)");
    let migrates = managed("Memcpy HtoD (Managed -> Device)");
    for (events, expected) in [(plain, false), (secure, true), (with_call, true), (migrates, true)] {
        let trace = of_events(&events);
        let [off, cc] = figures(&trace);
        assert_eq!((off.slowdown_over_off, off.end_ns.is_some()), (Some(1.0), true));
        assert_eq!((cc.slowdown_over_off.is_none(), cc.end_ns.is_none()), (expected, expected));
        let notices = asked(&trace, |question, _| question.job.notices(device_time(&trace)));
        assert_eq!(notices.len(), usize::from(expected), "{notices:?}");
        assert!(notices.iter().all(|notice| notice.contains("No slow-down is given")), "{notices:?}");
        assert_eq!(cc.host_calls.iter().any(|call| call.name == "cudaDeviceSynchronize"), !expected);
        assert!(cc.host_calls.iter().any(|call| call.name == "cudaLaunchKernel"));
    }
}

#[test]
fn a_migration_moves_with_the_kernel_within_which_it_is() {
    let trace = of_events(&managed("Memcpy HtoD (Managed -> Device)"));
    asked(&trace, |question, machine| {
        let played = question.secure(machine, Causes::default()).unwrap().played;
        let named = |name: &str| {
            let ops = question.job.ops.iter().zip(&played.ops);
            ops.filter(|(op, _)| question.job.name(op.name).starts_with(name))
                .map(|(op, span)| (op.start, span.start))
                .collect::<Vec<_>>()
        };
        for ((kernel, played_kernel), (copy, played_copy)) in named("k").into_iter().zip(named("Memcpy")) {
            assert!(played_copy - played_kernel >= copy - kernel, "{played_copy} {played_kernel}");
        }
        assert!(named("k").iter().any(|(traced, played)| played > traced));
    });
}

#[test]
fn synchronisations_take_no_time_for_streams_that_they_do_not_wait_for() {
    // One kernel in each of 20,000 streams, and a wait behind each: a scan of all streams at each wait takes minutes.
    let mut events = Vec::new();
    for turn in 0..20_000_u32 {
        let at = 100.0 * f64::from(turn);
        events.push(host_event("cudaLaunchKernel", 1, at, 5.0, 2 * turn));
        events.push(gpu_event("k", turn, at + 7.0, 50.0, 2 * turn));
        events.push(gpu_event("long", 100_000, at + 8.0, 99.0, 90_000_000 + turn));
        events.push(host_event("cudaStreamSynchronize", 1, at + 6.0, 60.0, 2 * turn + 1));
    }
    let trace = of_events(&events);
    let begun = std::time::Instant::now();
    asked(&trace, |question, machine| {
        let off = question.off(machine).unwrap().played;
        assert_eq!(off.device_time(), device_time(&trace));
    });
    assert!(begun.elapsed().as_secs() < 10, "{:?}", begun.elapsed());
}

#[test]
fn sums_of_times_do_not_wrap() {
    // 700 threads in a call of ten months each.
    let mut events = vec![host_event("cudaLaunchKernel", 0, 0.0, 5.0, 1), gpu_event("k", 7, 9.0, 5.0, 1)];
    events.extend((1..700).map(|thread| host_event("cudaMalloc", thread, 1.0, 2.7e13, 10 + thread)));
    let [off, _] = figures(&of_events(&events));
    assert_eq!(off.host_call_ns, Some(u64::MAX));
}

/// A loop that reads a token back, on the stream of its kernels or on one of its own behind them; half of the host's work needs no token.
fn token_loop(stream: u32) -> Trace {
    let turns = (0..10).map(|turn| (10_036.0 * f64::from(turn), 10 * turn));
    let events = turns.flat_map(|(at, number)| {
        [
            host_event("cudaLaunchKernel", 1, at, 4.0, number + 1),
            gpu_event("forward", 7, at + 8.0, 10_000.0, number + 1),
            host_event("cudaMemcpyAsync", 1, at + 20.0, 4.0, number + 2),
            gpu_event("Memcpy DtoH (Device -> Pinned)", stream, at + 10_010.0, 3.0, number + 2),
            host_event("cudaStreamSynchronize", 1, at + 5_024.0, 4_991.0, number + 3),
        ]
    });
    of_events(&events.collect::<Vec<_>>())
}

#[test]
fn a_read_back_behind_another_stream_holds_its_caller_as_one_on_the_same_stream_does() {
    let slowdown = |stream| figures(&token_loop(stream))[1].slowdown_over_off.unwrap();
    let (same, own) = (slowdown(7), slowdown(20));
    // By hand: 5 ms of the host's work come behind 10 ms of the GPU's, in all steps but the last.
    assert!((own / same - 1.0).abs() < 1e-3 && own > 1.4, "{own} {same}");
    asked(&token_loop(20), |question, machine| {
        let cc = question.secure(machine, Causes::default()).unwrap().played;
        let rows = what_if(question, machine, &cc, |name| name == "copy-thread").unwrap();
        assert!(rows[0].gain > 0.28, "{:?}", rows[0]);
    });
}

#[test]
fn a_read_back_that_waits_for_its_kernel_does_not_hold_the_session() {
    let events = [
        host_event("cudaLaunchKernel", 1, 0.0, 4.0, 1),
        gpu_event("forward", 7, 8.0, 10_000.0, 1),
        host_event("cudaMemcpyAsync", 2, 20.0, 4.0, 2),
        gpu_event("Memcpy DtoH (Device -> Pinned)", 7, 10_010.0, 3.0, 2),
        host_event("cudaStreamSynchronize", 2, 26.0, 9_990.0, 3),
        host_event("cudaMemcpyAsync", 1, 100.0, 4.0, 4),
        gpu_event("Memcpy HtoD (Pinned -> Device)", 9, 106.0, 3.0, 4),
    ];
    asked(&of_events(&events), |question, machine| {
        let played = question.secure(machine, Causes::default()).unwrap().played;
        let upload = question.job.calls.iter().zip(&played.calls).find(|(call, _)| call.start == 100_000).unwrap().1;
        assert!(upload.duration() < 200_000, "{upload:?}");
    });
}

#[test]
fn launches_of_many_functions_cost_in_a_warm_profile_what_those_of_one_do() {
    let launches = |distinct: bool| {
        let events = (0..100).flat_map(|number| {
            let (at, name) = (10.0 * f64::from(number), if distinct { format!("k{number}") } else { "k".to_owned() });
            [host_event("cudaLaunchKernel", 1, at, 5.0, number + 1), gpu_event(&name, 7, at + 7.0, 3.0, number + 1)]
        });
        figures(&of_events(&events.collect::<Vec<_>>()))[1].slowdown_over_off.unwrap()
    };
    let (one, many) = (launches(false), launches(true));
    assert!((many / one - 1.0).abs() < 1e-3 && many > 1.5, "{many} {one}");
}
