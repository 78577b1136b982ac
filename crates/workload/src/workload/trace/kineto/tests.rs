//! What is read out of the profiler's JSON, and what is refused.

use crate::workload::trace::{
    CallKind, DeviceKind, Direction, Memory, Place, Rank, Trace,
    testing::{KINETO, bytes, refused, says},
};
use std::{io::Write, num::NonZeroU64};

fn events(events: &[&str]) -> String {
    format!(r#"{{"traceEvents": [{}]}}"#, events.join(",\n"))
}

const COPY: &str = r#"{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "ts": 5, "dur": 1, "tid": 7, "args": {"bytes": 8}}"#;

fn changed(from: &str, to: &str) -> String {
    assert!(COPY.contains(from));
    events(&[&COPY.replace(from, to)])
}

fn sample() -> Trace {
    bytes(KINETO).unwrap()
}

#[test]
fn operations_keep_every_nanosecond_and_byte() {
    let trace = sample();
    assert_eq!((trace.format, trace.rank), (Some(super::FORMAT.name), Some(Rank { rank: 1, of: Some(8) })));
    assert_eq!(trace.gpu.as_deref(), Some("NVIDIA H100 PCIe"));
    let copy = &trace.device[0];
    assert_eq!((copy.start_ns, copy.duration_ns, copy.stream, copy.correlation), (8002, 3500, 7, NonZeroU64::new(14)));
    let kind =
        DeviceKind::Copy { direction: Direction::H2d, bytes: 92_928, source: Memory::Pinned, target: Memory::Device };
    assert_eq!((&copy.kind, trace.name(copy.name)), (&kind, "Memcpy HtoD (Pinned -> Device)"));
    assert_eq!(copy.place, Place::Event { event: 5, line: 13 });
    let DeviceKind::Collective(sent) = &trace.device[1].kind else { panic!("no collective") };
    assert_eq!(
        (trace.name(sent.op), sent.bytes_in, sent.bytes_out, sent.ranks),
        ("allreduce", Some(2048), Some(2048), Some(8))
    );
    assert_eq!(
        (trace.device[2].kind.clone(), trace.device[2].stream, trace.device[2].in_graph),
        (DeviceKind::Kernel, 7, true)
    );
    assert_eq!(trace.device[2].correlation, NonZeroU64::new(17));
    assert_eq!(trace.device[3].kind, DeviceKind::Memset { bytes: 8 });
    let DeviceKind::Copy { bytes, direction: Direction::D2h, .. } = trace.device[4].kind else { panic!("no copy") };
    assert!(bytes == 92_928 && says(&trace, "bandwidth times duration"));
}

#[test]
fn calls_and_waits_are_joined_and_the_rest_is_counted() {
    let trace = sample();
    let calls: Vec<_> =
        trace.calls.iter().map(|call| (call.start_ns, call.duration_ns, call.what, call.thread)).collect();
    assert_eq!(calls, [(0, 12_001, CallKind::Copy { blocking: false }, 0), (22_877, 5000, CallKind::Launch, 1)]);
    assert_eq!(trace.launches(), [Some(0), Some(1), None, None, None]);
    assert_eq!((trace.threads[1].process.as_str(), trace.threads[1].thread.as_str()), ("4037", "4038"));
    let wait = &trace.synchronizations[0];
    assert_eq!(
        (wait.waiting_stream, wait.host_waits_for, wait.stream, wait.record),
        (Some(7), None, Some(20), Some(12))
    );
    assert_eq!((trace.events.all, trace.events.used, trace.events.left_out.len()), (11, 8, 3));
    assert!(trace.events.add_up() && says(&trace, "3 of 5 operations have no call"));
}

#[test]
fn the_form_around_the_events_does_not_matter() {
    let late = format!(r#"{{"deviceProperties": [[[1]]], "distributedInfo": 5, "traceEvents": [{COPY}], "z": null}}"#);
    let marked = format!("\u{feff}\n [{COPY}]\n");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(events(&[COPY]).as_bytes()).unwrap();
    for content in [late.into_bytes(), marked.into_bytes(), packed.finish().unwrap()] {
        assert_eq!(bytes(&content).unwrap().device.len(), 1);
    }
}

#[test]
fn a_compressed_file_that_ends_early_says_where() {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    packed.write_all(events(&[COPY, COPY]).as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    assert!(
        refused(bytes(&packed[..packed.len() - 20]))
            .contains("the compressed file ends in the middle, after 1 whole events")
    );
}

#[test]
fn what_is_no_trace_is_refused_with_a_remedy() {
    for (text, what) in [
        ("{}", "without a list `traceEvents`"),
        (r#"{"schema": "1.0", "nodes": []}"#, "chakra_converter"),
        (r#"{"traceEvents": 5}"#, "is not JSON at line 1"),
        (r#"{"traceEvents": [], "traceEvents": []}"#, "given twice"),
        (r#"{"traceEvents": []} x"#, "trailing characters"),
        (r#"{"traceEvents": []}"#, "there is no event in it"),
        ("[", "ends in the middle, after 0 whole events"),
        (&events(&[r#"{"ph": "X", "cat": "cpu_op"}"#]), "ProfilerActivity.CUDA"),
        (&events(&["5"]), "not an event"),
        (&events(&[COPY, r#"{"ph": infinite}"#]), "after 1 whole events"),
        (&events(&[COPY]).replace("]}", ""), "after its last whole event and append `]`, and `}`"),
        (&events(&[COPY]).replace("]}", "]"), "after 1 whole events | profile again, or append `}`"),
        (&events(&[COPY])[..20], "ends in the middle"),
    ] {
        let refused = refused(bytes(text.as_bytes()));
        assert!(refused.contains(what), "{text}: {refused}");
    }
}

#[test]
fn an_event_that_says_nothing_true_is_refused() {
    for (from, to, what) in [
        (r#""ts": 5"#, r#""ts": "x""#, "`Memcpy HtoD (Pinned -> Device)` has a start (`ts`) that is no number"),
        (r#""ts": 5"#, r#""ts": 1e18"#, "is no date"),
        (r#""ts": 5"#, r#""ts": 1e400"#, "is no number"),
        (r#""ts": 5, "#, "", "has no start"),
        (r#""dur": 1"#, r#""dur": -2"#, "ends 2000 ns before it starts"),
        (r#""dur": 1"#, r#""dur": 1e14"#, "more than a year"),
        ("HtoD", "Unknown", "does not say which way"),
        (r#""bytes": 8"#, r#""bytes": -8"#, "no whole number"),
        (r#""bytes": 8"#, r#""bytes": 1e17"#, "more than any GPU holds"),
        (r#""bytes": 8"#, r#""bytes": 1099511627777"#, "more than any GPU holds"),
        (
            r#""bytes": 8"#,
            r#""memory bandwidth (GB/s)": 4294967303"#,
            "`Memcpy HtoD (Pinned -> Device)` has a bandwidth",
        ),
        (r#""bytes": 8"#, r#""memory bandwidth (GB/s)": 1000001"#, "1000001 GB/s, which no machine has"),
        (r#""bytes": 8"#, r#""bytes": 8, "bytes": 9"#, "duplicate field"),
        (r#""ph": "X""#, r#""ph": "B""#, "has the phase `B`"),
    ] {
        let refused = refused(bytes(changed(from, to).as_bytes()));
        assert!(refused.contains(what) && refused.starts_with("it, line 1 (event 1): "), "{refused}");
    }
}

#[test]
fn a_copy_without_a_size_is_kept_without_one() {
    let trace = bytes(changed(r#""bytes": 8"#, r#""byte": 8"#).as_bytes()).unwrap();
    assert!(matches!(trace.device[0].kind, DeviceKind::Copy { bytes: 0, direction: Direction::H2d, .. }));
}

#[test]
fn clocks_that_differ_by_years_are_refused() {
    let late = COPY.replace(r#""ts": 5"#, r#""ts": 1682725898236567"#);
    assert!(refused(bytes(events(&[COPY, &late]).as_bytes())).contains("19475 days apart"));
    assert!(bytes(changed(r#""ts": 5"#, r#""ts": -5.5"#).as_bytes()).is_ok());
}

#[test]
fn deep_and_long_json_ends_soon() {
    let deep = format!(r#"{{"a": {}"#, "[".repeat(1 << 20));
    assert!(refused(bytes(deep.as_bytes())).contains("ends in the middle"));
    let deep = events(&[COPY, &format!(r#"{{"ph": "X", "args": {}{}}}"#, "[".repeat(1 << 16), "]".repeat(1 << 16))]);
    assert_eq!(bytes(deep.as_bytes()).unwrap().events.all, 2);
    let long = format!(r#"[{{"name": "{}"}}]"#, "x".repeat((1 << 26) + (1 << 20)));
    assert!(refused(bytes(long.as_bytes())).contains("too long for any trace"));
}

#[test]
fn what_is_nearly_json_is_read_past() {
    let name = |name: &str| format!(r#"{{"ph": "X", "cat": "python_function", "name": "{name}", "ts": 1, "dur": 1}}"#);
    let number =
        |number: &str| COPY.replace(r#""bytes": 8"#, &format!(r#""bytes": 8, "memory bandwidth (GB/s)": {number}"#));
    let texts = ["a\u{1}b\nc", r"C:\Users\x\nn\py.py(1): <\u12>", r"C:\py", r#"say \"a\", \"b\"}"#];
    for (event, places) in texts.map(name).into_iter().zip([2, 4, 1, 0]).chain([
        (number("NaN"), 1),
        (number("-Infinity"), 1),
        (number("inf"), 1),
    ]) {
        let text = events(&[&event, COPY, &name("\u{7}\u{e4}")]);
        let trace = bytes(text.as_bytes()).unwrap();
        assert!(says(&trace, &format!("no JSON in {} places", places + 1)), "{text}: {:?}", trace.assumed);
        assert!(trace.events.all == 3 && trace.device.iter().all(|op| op.duration_ns == 1000), "{text}");
    }
    let mut latin = events(&[&name("cafX"), COPY]).into_bytes();
    let at = latin.windows(4).position(|bytes| bytes == b"cafX").unwrap();
    latin[at + 3] = 0xe9;
    assert!(says(&bytes(&latin).unwrap(), "no JSON in 1 places"));
    assert!(!says(&sample(), "no JSON"));
    assert!(refused(bytes(events(&[COPY, r#"{"name": "\q" x}"#]).as_bytes())).contains("after 1 whole events"));
}
