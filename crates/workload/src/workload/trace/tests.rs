//! Whatever is given, a trace comes out whose events add up, or an error.

use super::{
    Input, Trace, chakra, read, read_up_to,
    testing::{API, GPU, KINETO, both, bytes},
};
use crate::{
    files::{Explained, Refusal},
    sim::Control,
};
use proptest::prelude::*;

/// What a reader may not do, whatever it was given.
fn holds(read: Result<Trace, Refusal>) {
    match read {
        Ok(trace) => {
            assert!(trace.events.add_up());
            let entries = trace.device.len() + trace.calls.len() + trace.synchronizations.len();
            assert_eq!(trace.events.used, entries as u64);
            assert!(trace.device.iter().all(|op| (op.name as usize) < trace.names.len()));
            assert!(trace.calls.iter().all(|call| (call.thread as usize) < trace.threads.len()));
            assert_eq!(trace.launches().len(), trace.device.len());
            assert!(trace.device.iter().all(|op| op.start_ns + op.duration_ns < 1 << 62));
            assert!(trace.calls.iter().all(|call| call.start_ns + call.duration_ns < 1 << 62));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn samples() -> Vec<Vec<u8>> {
    vec![KINETO.to_vec(), GPU.to_vec(), [GPU, API].concat(), chakra::tests::sample()]
}

#[test]
fn any_truncation_is_refused_or_adds_up() {
    for sample in samples() {
        (0..sample.len()).for_each(|length| holds(bytes(&sample[..length])));
    }
    (0..API.len()).for_each(|length| holds(both(GPU, &API[..length])));
}

#[test]
fn the_caller_is_told_how_far_it_is_and_may_stop() {
    let many = GPU
        .iter()
        .chain(b"430927939,1600,130,,,,,,,,,,0.066,40960.000,Device,,GPU (0),1,,7,[CUDA memset]\n".repeat(9000).iter())
        .copied()
        .collect::<Vec<_>>();
    let input = Input::Bytes { name: "it", bytes: &many };
    let mut told = Vec::new();
    let whole = read(input, None, &mut |read, of| {
        told.push((read, of));
        Control::Continue
    });
    assert_eq!(whole.unwrap().device.len(), 9005);
    let length = many.len() as u64;
    assert!(told.is_sorted() && told.iter().all(|(read, of)| *read <= length && *of == Some(length)));
    assert!(read(input, None, &mut |_, _| Control::Stop).unwrap_err().is("trace::stopped"));
}

#[test]
fn a_trace_of_too_many_operations_is_refused_where_they_end() {
    for sample in samples() {
        let input = Input::Bytes { name: "it", bytes: &sample };
        let up_to = |operations| read_up_to(operations, input, None, &mut |_, _| Control::Continue);
        let whole = up_to(usize::MAX).unwrap();
        assert_eq!(up_to(whole.device.len()).unwrap(), whole);
        let refused = up_to(whole.device.len() - 1).unwrap_err();
        assert!(refused.is("trace::too_many") && refused.help().is_some(), "{refused}");
    }
    let row = "430927939,1600,130,,,,,,,,,,0.066,40960.000,Device,,GPU (0),1,,7,[CUDA memset]\n";
    let many = [GPU, row.repeat(20_000).as_bytes()].concat();
    let mut furthest = 0;
    let read = read_up_to(100, Input::Bytes { name: "it", bytes: &many }, None, &mut |read, _| {
        furthest = read;
        Control::Continue
    });
    let refused = read.unwrap_err().to_string();
    assert!(refused.starts_with("it, line 103: more than 100 operations of the GPU"), "{refused}");
    assert!(furthest < many.len() as u64 / 2);
}

#[test]
fn files_that_cannot_be_opened_are_named() {
    let refused = |path: &str| {
        let error = read(Input::Path(path.as_ref()), None, &mut |_, _| Control::Continue).unwrap_err();
        (error.is("trace::unreadable"), error.to_string())
    };
    assert!(refused("/absent/file").0);
    assert_eq!(refused("/"), (true, "/: is a directory, not a file".to_owned()));
}

proptest! {
    #[test]
    fn any_change_is_refused_or_adds_up(
        which in 0_usize..4,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_usize..9), 1..6),
    ) {
        let mut sample = samples().swap_remove(which);
        for (place, byte, removed) in changes {
            let place = place.index(sample.len());
            let end = (place + removed).min(sample.len());
            sample.splice(place..end, [byte]);
        }
        holds(bytes(&sample));
    }
}
