//! Profiles for tests: a loop of an upload, a kernel and a wait.

use super::job::Job;
use crate::{sim::Control, workload::trace};

/// When the profile begins, us.
pub(super) const BEGIN: u64 = 1_700_000_000_000_000;

pub(super) fn call(name: &str, number: usize, start: u64, takes: u64) -> String {
    format!(
        r#"{{"ph":"X","cat":"cuda_runtime","name":"{name}","pid":1,"tid":1,"ts":{start},"dur":{takes},"args":{{"correlation":{number}}}}}"#
    )
}

/// A kernel, or a copy by its name.
pub(super) fn op(name: &str, number: usize, stream: u32, (start, takes): (u64, u64)) -> String {
    let (cat, more) = if name.starts_with("Mem") { ("gpu_memcpy", ",\"bytes\":1048576") } else { ("kernel", "") };
    format!(
        r#"{{"ph":"X","cat":"{cat}","name":"{name}","ts":{start},"dur":{takes},"args":{{"correlation":{number},"stream":{stream}{more}}}}}"#
    )
}

/// So many turns of 600 us, of five events each: the kernel, which is the fourth, begins after 33 us and takes 500; the wait returns after 536.
pub(super) fn turns(count: usize) -> Vec<String> {
    let turn = |turn: usize| {
        let (start, number) = (BEGIN + 600 * turn as u64, 3 * turn + 1);
        [
            call("cudaMemcpyAsync", number, start, 5),
            op("Memcpy HtoD (Pinned -> Device)", number, 7, (start + 6, 26)),
            call("cudaLaunchKernel", number + 1, start + 8, 4),
            op("gemm", number + 1, 7, (start + 33, 500)),
            call("cudaStreamSynchronize", number + 2, start + 13, 523),
        ]
    };
    (0..count).flat_map(turn).collect()
}

/// The job of these events on a GPU.
pub(super) fn job(gpu: &str, events: &[String]) -> Job {
    let text = format!(r#"{{"deviceProperties":[{{"name":"{gpu}"}}],"traceEvents":[{}]}}"#, events.join(","));
    let input = trace::Input::Bytes { name: "it", bytes: text.as_bytes() };
    Job::of(&trace::read(input, None, &mut |_, _| Control::Continue).unwrap(), 1_400)
}
