//! Ranks of one job, replayed together.

use proptest::prelude::*;
use sealsim::{
    config::{Layers, Resolved},
    replay::{Answer, Causes, End, Job, Known, Node, Played, Question, Session, Simulator},
    sim::Control,
    workload::trace::{self, Input, Trace},
};
use std::path::Path;

/// What a collective takes on the rank that comes last, us.
const TAKES: u32 = 100;

/// An operation of a rank: a kernel of so many us, or a collective of a communicator.
#[derive(Debug, Clone, Copy)]
enum Does {
    Kernel(u32),
    Collective(u32),
}

/// A profile of a rank that never waited for the others: launches far ahead of the GPU, each operation 1 us after the one before in its stream.
fn rank(number: u32, later: u32, does: &[(u32, Does)]) -> Trace {
    let mut events = Vec::new();
    let mut ends = [50, 50];
    for (place, (stream, what)) in does.iter().enumerate() {
        let mut event = |cat: &str, name: &str, start: u32, takes: u32, more: &str| {
            events.push(format!(
                r#"{{"ph":"X","cat":"{cat}","name":"{name}","pid":{number},"tid":1,"ts":{},"dur":{takes},"args":{{"correlation":{}{more}}}}}"#,
                start + later,
                place + 1
            ));
        };
        event("cuda_runtime", "cudaLaunchKernel", 4 * place as u32, 3, "");
        let on = format!(r#","device":0,"stream":{stream}"#);
        let end = &mut ends[*stream as usize];
        let (takes, name, more) = match what {
            Does::Kernel(takes) => (*takes, "k", String::new()),
            Does::Collective(group) => (
                TAKES,
                "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
                format!(
                    r#","Collective name":"allreduce","In msg nelems":262144,"Out msg nelems":262144,"dtype":"Float","Group size":2,"Process Group Name":"{group}","Process Group Ranks":"[0, 1]""#
                ),
            ),
        };
        event("kernel", name, *end + 1, takes, &(on + &more));
        *end += 1 + takes;
    }
    let info = format!(r#""distributedInfo":{{"rank":{number},"world_size":2}}"#);
    let text = format!(r#"{{{info},"traceEvents":[{}]}}"#, events.join(","));
    let input = Input::Bytes { name: "rank", bytes: text.as_bytes() };
    trace::read(input, None, &mut |_, _| Control::Continue).unwrap()
}

fn together<T>(machine: &str, traces: &[Trace], found: impl FnOnce(&Question<'_>, &Resolved, &[Job]) -> T) -> T {
    beside(machine, traces, traces.len(), found)
}

/// These ranks, of as many sessions that share the host.
fn beside<T>(
    machine: &str,
    traces: &[Trace],
    of: usize,
    found: impl FnOnce(&Question<'_>, &Resolved, &[Job]) -> T,
) -> T {
    let machine = Layers::new(machine).confidential_computing(true).resolve().unwrap();
    let submission = machine.machine.calls.as_ref().unwrap().submission.off.0 / 1_000_000;
    let job = |(trace, gpu): (&Trace, usize)| Job { session: Session { gpu, of }, ..Job::of(trace, submission) };
    let jobs: Vec<Job> = traces.iter().zip(0..).map(job).collect();
    let known = Known::default();
    let (go_on, one_more) = (|| Control::Continue, || ());
    let simulator =
        Simulator { threads: 1, go_on: &go_on, progress: &one_more, known: &known, sample: None, end: End::Middle };
    let ranks: Vec<_> = traces.iter().zip(&jobs).collect();
    let mut questions = jobs.iter().map(|job| Question::new(job, &machine, simulator).unwrap());
    let own = questions.next().unwrap().beside(questions.collect(), Node::of(&ranks));
    found(&own, &machine, &jobs)
}

/// The dates at which collectives end, from the first one on, us.
fn ends(trace: &Trace, job: &Job, played: &Played) -> Vec<u64> {
    let mut ends: Vec<u64> = job
        .ops
        .iter()
        .zip(&played.ops)
        .filter(|(op, _)| trace.name(trace.device[op.traced as usize].name).starts_with("nccl"))
        .map(|(_, span)| span.end / 1000)
        .collect();
    ends.sort_unstable();
    ends.iter().map(|end| end - ends[0]).collect()
}

fn all(answer: &Answer) -> Vec<&Played> {
    [&answer.played].into_iter().chain(&answer.mates).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Closed form: from one collective to the next it takes the longer of the two kernels, two gaps of 1 us, and the collective.
    #[test]
    fn collectives_wait_for_the_last_rank(
        kernels in prop::collection::vec((200_u32..2_000, 200_u32..2_000), 2..12),
        later in 0_u32..1_000_000,
    ) {
        let of = |number: u32| {
            let own = |both: &(u32, u32)| if number == 0 { both.0 } else { both.1 };
            let does = kernels.iter().flat_map(|both| [(0, Does::Kernel(own(both))), (0, Does::Collective(0))]);
            rank(number, number * later, &does.collect::<Vec<_>>())
        };
        let traces = [of(0), of(1)];
        together("hgx-h100-8gpu", &traces, |question, machine, jobs| {
            let off = question.off(machine).unwrap();
            let mut sum = 0;
            let expected: Vec<u64> = kernels.iter().enumerate().map(|(place, both)| {
                sum += if place == 0 { 0 } else { u64::from(both.0.max(both.1) + 2 + TAKES) };
                sum
            }).collect();
            let found: Vec<_> = (0..2).map(|rank| ends(&traces[rank], &jobs[rank], all(&off)[rank])).collect();
            prop_assert_eq!(&found[0], &expected);
            prop_assert_eq!(&found[1], &expected);
            // With confidential computing the ranks still leave each collective together, and neither sooner than alone.
            let cc = question.secure(machine, Causes::default()).unwrap();
            let found: Vec<_> = (0..2).map(|rank| ends(&traces[rank], &jobs[rank], all(&cc)[rank])).collect();
            prop_assert_eq!(&found[0], &found[1]);
            prop_assert!(found[0].iter().zip(&expected).all(|(cc, off)| cc >= off));
            let node = Node::of(&[(&traces[0], &jobs[0]), (&traces[1], &jobs[1])]);
            let both = |answer: &Answer| all(answer).into_iter().cloned().collect::<Vec<_>>();
            let names = ["a".to_owned(), "b".to_owned()];
            let ranks = [(&traces[0], &jobs[0]), (&traces[1], &jobs[1])];
            let figures = node.figures(&names, &ranks, &both(&off), &both(&cc));
            // The one waits where the other's kernel is longer. The first collective aligns clocks.
            let waits = |own: fn(&(u32, u32)) -> (u32, u32)| -> u64 {
                kernels[1..].iter().map(own).map(|(own, other)| u64::from(other.saturating_sub(own))).sum()
            };
            let least = [waits(|both| *both), waits(|both| (both.1, both.0))];
            for (figures, least) in figures.iter().zip(least) {
                prop_assert!(figures.waits_off_ns >= 1_000 * least, "{:?} {}", figures, least);
            }
            Ok(())
        })?;
    }
}

#[test]
fn ranks_that_share_no_collective_are_played_as_each_alone() {
    let read = |name: &str| {
        let [gpu, api] = ["gpu", "api"].map(|table| format!("validation/traces/{name}-off-cuda_{table}_trace.csv.gz"));
        let api = Input::Path(Path::new(&api));
        trace::read(Input::Path(Path::new(&gpu)), Some(api), &mut |_, _| Control::Continue).unwrap()
    };
    let traces = [read("kmeans"), read("hotspot3D")];
    let both = together("h100-nvl-tdx", &traces, |question, machine, _| {
        let answers = [question.off(machine).unwrap(), question.secure(machine, Causes::default()).unwrap()];
        answers.map(|answer| all(&answer).into_iter().cloned().collect::<Vec<_>>())
    });
    for (rank, trace) in traces.iter().enumerate() {
        let alone = together("h100-nvl-tdx", std::slice::from_ref(trace), |question, machine, _| {
            [question.off(machine).unwrap().played, question.secure(machine, Causes::default()).unwrap().played]
        });
        for (both, alone) in both.iter().zip(&alone) {
            assert_eq!((&both[rank].calls, &both[rank].ops), (&alone.calls, &alone.ops));
        }
    }
}

#[test]
fn equal_ranks_are_played_as_one_of_them_expanded_and_share_the_host() {
    let [gpu, api] = ["gpu", "api"].map(|table| format!("validation/traces/kmeans-off-cuda_{table}_trace.csv.gz"));
    let read = || {
        let api = Input::Path(Path::new(&api));
        trace::read(Input::Path(Path::new(&gpu)), Some(api), &mut |_, _| Control::Continue).unwrap()
    };
    let secure = |question: &Question<'_>, machine: &Resolved| question.secure(machine, Causes::default()).unwrap();
    let name = "hgx-h100-8gpu";
    let of = |sessions| beside(name, &[read()], sessions, |question, machine, _| secure(question, machine).played);
    let expanded: Vec<Played> = [1, 2, 8].map(of).into();
    let two = together(name, &[read(), read()], |question, machine, _| secure(question, machine));
    assert_eq!((&two.played.calls, &two.played.ops), (&expanded[1].calls, &expanded[1].ops));
    let copies = expanded.iter().map(Played::device_time).collect::<Vec<_>>();
    assert!(copies.is_sorted() && copies[2] > copies[0], "{copies:?}");
}

#[test]
fn ranks_that_wait_for_each_other_in_a_circle_go_on_and_it_is_counted() {
    let of = |number: u32, first: u32| {
        let does = [(0, Does::Kernel(300)), (0, Does::Collective(first)), (0, Does::Collective(1 - first))];
        rank(number, 0, &does)
    };
    let early = |traces: [Trace; 2]| {
        together("hgx-h100-8gpu", &traces, |question, machine, _| question.off(machine).unwrap().early)
    };
    assert_eq!(early([of(0, 0), of(1, 0)]), 0);
    assert!(early([of(0, 0), of(1, 1)]) > 0);
}
