//! What is read out of the tables of `nsys stats`, and what is refused.

use crate::{
    files::Explained,
    workload::trace::{
        CallKind, DeviceKind, Direction, Memory, Place,
        testing::{API, GPU, both, bytes, refused, says},
    },
};

fn gpu() -> String {
    String::from_utf8(GPU.to_vec()).unwrap()
}

#[test]
fn operations_are_read_with_their_exact_sizes() {
    let trace = both(GPU, API).unwrap();
    let copy = &trace.device[0];
    let kind =
        DeviceKind::Copy { direction: Direction::H2d, bytes: 1 << 24, source: Memory::Pinned, target: Memory::Device };
    assert_eq!((copy.kind.clone(), copy.start_ns, copy.place), (kind, 411_834_153 - 207_246_156, Place::Line(3)));
    assert_eq!(
        (trace.device[1].kind.clone(), trace.name(trace.device[1].name)),
        (DeviceKind::Kernel, "gemm(float *, float *, int)")
    );
    assert_eq!(trace.device[2].kind, DeviceKind::Memset { bytes: 65_536 });
    let kind =
        DeviceKind::Copy { direction: Direction::D2h, bytes: 12, source: Memory::Device, target: Memory::Pageable };
    assert_eq!((trace.device[3].kind.clone(), trace.device[3].device, trace.device[3].stream), (kind, 1, 13));
    let DeviceKind::Collective(sent) = &trace.device[4].kind else { panic!("no collective") };
    assert_eq!(trace.name(sent.op), "AllGather");
}

#[test]
fn calls_are_joined_and_lines_counted() {
    let trace = both(GPU, API).unwrap();
    let kinds: Vec<_> = trace.calls.iter().map(|call| call.what).collect();
    let copy = |blocking| CallKind::Copy { blocking };
    assert_eq!(kinds, [CallKind::Query, copy(true), CallKind::Launch, CallKind::Memset, copy(false)]);
    assert_eq!(trace.launches(), [Some(1), Some(2), Some(3), Some(4), None]);
    assert_eq!((trace.threads.len(), trace.calls[1].place), (2, Place::CallLine(3)));
    assert_eq!((trace.events.all, trace.events.used), (11, 10));
    assert!(says(&trace, "1 of 5 operations have no call") && says(&trace, "1 operations start before the call"));
    assert!(says(&bytes(GPU).unwrap(), "There are no calls"));
}

#[test]
fn both_tables_may_be_in_one_file_between_others() {
    let third = "\n ** OS runtime (osrt_sum):\n\nTime,Calls\n5,6\n";
    let one = [GPU, b"\n", third.as_bytes(), b"\nProcessing [r] with [a]...\n", API].concat();
    let trace = bytes(&one).unwrap();
    assert_eq!((trace.device.len(), trace.calls.len()), (5, 5));
    assert!(trace.events.add_up());
    assert_eq!(trace.events.all, 10 + 1 + 3 + 1);
    assert!(refused(both(&one, API)).contains("a second table of calls"));
    assert!(refused(bytes(&[GPU, GPU].concat())).contains("a second table of GPU operations"));
}

#[test]
fn units_and_names_of_older_versions_are_read() {
    let old = "Start (sec),Duration (usec),CorrId,Bytes (KiB),Throughput (GBps),SrcMemKd,DstMemKd,Device,Strm,Name\n\
               0.411834153,405.708,127,16384,41.339060,Pinned,Device,0,7,[CUDA memcpy HtoD]\n";
    let trace = bytes(old.as_bytes()).unwrap();
    assert!(matches!(trace.device[0].kind, DeviceKind::Copy { bytes: 16_777_216, .. }));
    assert_eq!((trace.device[0].duration_ns, says(&trace, "rounded")), (405_708, false));
    let windows = gpu().replace('\n', "\r\n").replace(',', "\t").replace("float *\t", "float *,");
    assert_eq!(bytes(windows.as_bytes()).unwrap().device.len(), 5);
}

#[test]
fn files_in_the_wrong_place_are_named() {
    assert!(
        refused(bytes(API))
            .contains("holds no table of GPU operations | give the table that `nsys stats --report cuda_gpu")
    );
    assert!(refused(both(GPU, b"[]")).contains("calls: is a PyTorch profiler (Kineto) JSON, not a table of calls"));
    assert!(refused(both(GPU, GPU)).contains("a second table of GPU operations"));
    assert!(refused(both(b"[]", API)).contains("calls: a table of calls does not belong to a PyTorch"));
    assert!(
        refused(bytes(b"Start (ns),Duration (ns),Name,Throughput (MB/s)\n")).contains("the column `Strm` is missing")
    );
    assert!(refused(bytes(b"Start,Duration (ns),Name,Strm\n")).contains("a column without a unit"));
    assert!(refused(bytes(b"Start (min),Duration (ns),Name,Strm\n")).contains("`min` is no unit"));
}

#[test]
fn a_wrong_line_is_shown() {
    for (from, to, what) in [
        ("411834153", "x", "line 3: `x` is no number"),
        ("405708", "-5", "line 3: ends 5 ns before it starts"),
        ("41339.060", "99.000", "the size of this copy is missing, or contradicts its throughput"),
        ("16.777,", ",", ""),
        ("16.777", "1e3", "`1e3` is no number"),
        ("41339.060", "4294967303000.000", "line 3: a throughput that no machine has"),
        ("16.777,41339.060", "1200000.000,", "1200000000000 bytes, more than any GPU holds"),
        ("Host-to-Device", "Unknown", "does not say which way"),
        ("memcpy Host", "dance Host", "neither a copy, a fill nor a kernel"),
        (",13,", ",,", "line 6: `` is no number"),
        (",13,", ",", "line 6: 20 cells, but the head has 21 columns"),
    ] {
        let read = bytes(gpu().replacen(from, to, 1).as_bytes());
        // Throughput says a size too.
        if from == "16.777," {
            assert!(matches!(read.unwrap().device[0].kind, DeviceKind::Copy { bytes: 16_777_216, .. }));
        } else {
            let refused = refused(read);
            assert!(refused.contains(what), "{refused}");
        }
    }
}

#[test]
fn many_errors_are_told_at_once_and_point_at_their_cells() {
    let error = bytes(gpu().replace("NVL (0),1,,7,", "NVL (0),1,,seven,").as_bytes()).unwrap_err();
    assert_eq!((error.others.len(), error.place().unwrap().line_and_column().0), (2, 3));
    let (snippet, _) = error.marked().unwrap();
    assert_eq!((&snippet.shown()[snippet.marked()], snippet.line_and_column().0), ("seven", 3));
}

#[test]
fn numbers_that_several_processes_use_join_nothing() {
    let other = "411800000,9,cudaMemcpy,2,127,3800,3800,20,gemm\n";
    let trace = both(GPU, &[API, other.as_bytes()].concat()).unwrap();
    assert_eq!(trace.launches(), [None, Some(3), Some(4), Some(5), None]);
    assert!(says(&trace, "2 processes made the calls") && says(&trace, "1 calls returned an error"));
}

#[test]
fn a_line_without_end_is_refused() {
    let long = [GPU, &vec![b'x'; 3 << 20]].concat();
    assert!(refused(bytes(&long)).contains("too long for any trace"));
}
