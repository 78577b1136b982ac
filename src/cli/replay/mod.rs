//! `sealsim replay`: a profile of a program, replayed with confidential computing.

mod document;
mod effort;
mod intervals;
mod outputs;
mod plan;

use super::{
    AlternativeArguments, Failure, Switch, page,
    places::Named,
    profile::{ProfileArguments, Progress},
    run::Interruption,
    sample::SampleArgument,
};
use crate::{
    config::{Layers, Resolved, Role, Shipped, nearest},
    pool,
    replay::{
        Advice, Answer, Baseline, CHANGES, Causes, End, Figures, Job, KernelScale, Known, Node, Played, Question,
        RankFigures, ReplayError, Session, Share, Simulator, Start, StepFigures, StepTimeError, Steps, Tried, WHOLE,
        WhatIf, Work, advice, breakdown, doubts, in_step_time, known_as, operations, row, try_change,
    },
    report::{
        SCHEMA_VERSION,
        plot::drawing::Drawing,
        replay::{Document, LoopedRun},
    },
    sim::Control,
    system::RunError,
    units::Femtos,
    validate::summary::{self, Part},
    workload::{Setting, ShippedWorkload, WorkloadFile, trace::Trace},
};
use clap::{Args, ValueEnum};
use document::ReplayFormat;
use effort::{offer, work};
use miette::miette;
use outputs::Outputs;
use plan::Plan;
use std::path::Path;

/// Says what confidential computing costs a program, from a profile that was taken without it.
#[derive(Debug, Args)]
#[command(after_long_help = "\
FILE is what a profiler wrote while the program ran without confidential computing:

  PyTorch profiler   prof.export_chrome_trace(\"trace.json.gz\")
  Nsight Systems     nsys profile --trace cuda PROGRAM, then one of
                       nsys stats --report cuda_gpu_trace --report cuda_api_trace --format csv --output job report.nsys-rep
                       nsys export --type sqlite --output report.sqlite report.nsys-rep
  Chakra             an execution trace (protobuf)

Each may be packed with gzip, and is recognised by its content. Several files are the ranks of one job: their collectives are matched by \
communicator, order and size, and begin when the last rank has come. The report is about the first rank; a table has all.

The program's calls, copies and kernels get new times on the machine of --hw: copies are simulated, each distinct one once; other calls cost \
what its table `calls` says; host time between calls and kernels stay as they are. The first run, off, is the trace with its own latencies: it \
shows the error of the replay itself. docs/replay.md has the rules, and what is not modelled.

Exit status: 0 replayed; 1 interrupted; 2 wrong arguments; 3 a trace, machine or design that cannot be used; 4 a file cannot be read, or the \
output not written; 5 a fault of the simulation.

Examples:
  sealsim replay trace.json.gz
  sealsim replay job_cuda_gpu_trace.csv --api job_cuda_api_trace.csv --hw h100-tdx-gen5
  sealsim replay report.sqlite --design fastrack --design direct+overlap --plot timeline.svg
  sealsim replay trace.json.gz --sample auto            # long copies in seconds, with intervals
  sealsim replay rank0.json.gz rank1.json.gz --hw hgx-h100-8gpu   # ranks wait for each other in collectives
  sealsim replay rank0.json.gz --expand 8 --hw hgx-h100-8gpu      # eight ranks like this one
  sealsim replay trace.json.gz --step-time 11.2ms       # measured without the profiler, whose time is left out
  sealsim replay trace.json.gz --chakra with-cc.et
  sealsim replay trace.json.gz --report replay.html     # a page with a step of both runs over one axis
  sealsim replay trace.json.gz --trace step.pftrace     # the same step for ui.perfetto.dev
  sealsim replay trace.json.gz --format json | jq '.runs[] | {name, slowdown_over_off}'")]
pub struct Arguments {
    #[command(flatten)]
    profile: ProfileArguments,
    /// The machine: a TOML file, or the name of a shipped one. A file takes precedence
    /// [default: h100-nvl-tdx, or what a workload names]
    #[arg(long, value_name = "CONFIG")]
    hw: Option<String>,
    /// Set a parameter of the workload, as kernel=17us. May be given several times
    #[arg(long, value_name = "NAME=VALUE")]
    param: Vec<Setting>,
    /// Change the program, and replay it again: a change or shipped design by name, several changes at once as graph+pinned, `changes` for each change, or
    /// `all`. May be given several times
    #[arg(long, value_name = "CHANGE")]
    what_if: Vec<String>,
    /// Fail if the profile has no loop: without --whole-profile, steps of the program's loop are reported where it has one
    #[arg(long, conflicts_with = "whole_profile")]
    steps: bool,
    /// Report on the whole profile alone, with its start
    #[arg(long)]
    whole_profile: bool,
    /// Let kernels take so many times as long: 0.6, or softmax=0.6 for those whose names contain `softmax`. May be given several times; the last that fits counts
    #[arg(long, value_name = "[NAME=]FACTOR")]
    kernel_scale: Vec<KernelScale>,
    /// What a step takes without the profiler, as measured: 11.2ms. The host's own time is shortened until a step without confidential computing takes that
    #[arg(long, value_name = "TIME", conflicts_with = "whole_profile")]
    step_time: Option<Femtos>,
    /// Replay the profile as this many equal ranks, one for each GPU of the machine
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    expand: Option<u16>,
    #[command(flatten)]
    alternatives: AlternativeArguments,
    /// Whether the profile begins with its program, which then creates its context and loads its functions, or in the middle
    #[arg(long, value_enum, default_value_t)]
    start: StartArgument,
    /// What the program without CC has its copies from: the profile, or the machine. Left out: the machine, where the GPU of the profile is another or
    /// its copies differ by 5 % of its time or more
    #[arg(long, value_enum)]
    off: Option<OffArgument>,
    /// Copies simulated at the same time (default: as many as there are cores); the figures do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    #[command(flatten)]
    sample: SampleArgument,
    /// Names of calls that have a row in the text with --all; of ranks and of --what-if 40 have one at least
    #[arg(long, value_name = "N", default_value_t = 10)]
    rows: usize,
    /// Tables for people, or one JSON object
    #[arg(long, value_enum, default_value_t = ReplayFormat::Text)]
    format: ReplayFormat,
    /// In text, give all tables: runs, steps, ranks, calls, and what became of the profile's events
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    outputs: Outputs,
}

/// Whose copies the program has without confidential computing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OffArgument {
    /// Those of the profile
    Profile,
    /// Those of the machine, as simulated
    Machine,
}

/// How the profile is taken to begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum StartArgument {
    /// Cold where a call creates a context before anything is on the GPU, warm otherwise
    #[default]
    Auto,
    /// With its program: the context is created, functions are loaded
    Cold,
    /// In the middle of its program: the context and the functions are there
    Warm,
}

impl From<StartArgument> for Start {
    fn from(start: StartArgument) -> Self {
        match start {
            StartArgument::Auto => Self::Auto,
            StartArgument::Cold => Self::Cold,
            StartArgument::Warm => Self::Warm,
        }
    }
}

struct Run {
    name: String,
    answer: Answer,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut plan = Plan::of(arguments)?;
    let mut begun = arguments.outputs.begin(&arguments.files(&plan.hw), &plan.runs())?;
    let progress = Progress::listen();
    let (known, one_more) = (Known::default(), || ());
    let go_on = || {
        progress.is_at(known.far());
        progress.go_on()
    };
    let simulator = arguments.simulator(&go_on, &one_more, &known);
    let read = plan.read(&progress, simulator)?;
    let job = read.job();
    begun.show_step(arguments.outputs.step_file(job)?);
    offer(job, plan.designs.len(), arguments.sample.sample.is_some());
    progress.count_bytes("of copies simulated");
    let found = plan.play(&read, progress.is_seen(), arguments.outputs.draws(), simulator)?;
    drop(progress);
    document::print(arguments.format, &found.document, arguments.all.then_some(arguments.rows))?;
    let done = found.done();
    let number = found.step(job);
    let page = begun.page.take();
    let page = page.map(|page| page.write(&found.document, |page| found.shown(page, &plan, job)));
    arguments.outputs.write(begun, || found.drawing(&plan.title(), job), (read.trace(), job), &done, number)?;
    page.unwrap_or(Ok(()))
}

/// What `--format json` prints or, made by a command, what `--report` writes; and what `--plot` draws. Nothing is printed or written. `known` keeps times of
/// copies from one answer to the next about the same files.
pub fn answer(
    arguments: &Arguments,
    page: Option<String>,
    interruption: &Interruption,
    known: &Known,
) -> Result<(String, Drawing), Failure> {
    let mut plan = Plan::of(arguments)?;
    let (progress, one_more) = (Progress::hidden(interruption), || ());
    let go_on = || progress.go_on();
    let simulator = arguments.simulator(&go_on, &one_more, known);
    let read = plan.read(&progress, simulator)?;
    let found = plan.play(&read, false, true, simulator)?;
    let text = page::answer(&found.document, page, |page| found.shown(page, &plan, read.job()));
    Ok((text?, found.drawing(&plan.title(), read.job())))
}

/// From the return of a launch to its operation on an idle stream, ns.
pub(super) fn submission(machine: &Resolved) -> Result<u64, Failure> {
    let calls = machine.machine.calls.as_ref();
    let calls = calls.ok_or_else(|| failed(ReplayError::NoCalls { machine: machine.name() }))?;
    Ok(calls.submission.off.0 / 1_000_000)
}

/// From this share of the time on by which copies of the profile and of the machine differ, they are those of another machine: assumed.
const APART: f64 = 0.05;

#[derive(Clone, Copy)]
struct Asked<'a> {
    /// The profile that is reported on, and those of other ranks.
    ranks: &'a [(&'a Trace, &'a Job)],
    names: &'a [String],
    node: &'a Node,
    machine: &'a Resolved,
    designs: &'a [(&'a str, Resolved)],
    what_if: &'a [String],
    tried: &'a [(&'a str, Resolved)],
    off: Option<OffArgument>,
    /// Whether the GPU of the profile is another than the machine's.
    elsewhere: bool,
    /// Whether anybody sees how far it is.
    watched: bool,
    /// Whether changes that are asked for by name are drawn.
    draws: bool,
}

/// Where the difference comes from, and what would give time back.
struct Parts {
    shares: Vec<Share>,
    advice: Vec<Advice>,
    what_if: Vec<WhatIf>,
    assumed: Vec<String>,
    /// What is to be known before any figure.
    notices: Vec<String>,
    drawn: Vec<Tried>,
}

/// Off, CC, and the designs, in this order.
fn play(asked: Asked<'_>, simulator: Simulator<'_>) -> Result<(Vec<Run>, Parts), Failure> {
    let Asked { ranks, machine, designs, .. } = asked;
    let job = ranks[0].1;
    let mut questions = ranks.iter().map(|(_, job)| Question::new(job, machine, simulator).map_err(failed));
    let question = questions.next().unwrap_or_else(|| Question::new(job, machine, simulator).map_err(failed))?;
    let mut question = question.beside(questions.collect::<Result<_, _>>()?, asked.node.clone());
    question.baseline = asked.baseline(&question);
    if asked.watched {
        simulator.known.watch(work(&question, machine, designs));
    }
    let cc = question.secure(machine, Causes::default()).map_err(failed)?;
    let shares = breakdown(&question, machine, &cc.played).map_err(failed)?;
    let (mut rows, mut drawn) = (Vec::new(), Vec::new());
    for name in asked.changes() {
        let Some(tried) = try_change(&question, machine, &cc.played, name).map_err(failed)? else { continue };
        rows.push(tried.row.clone());
        drawn.extend(Some(tried).filter(|_| asked.draws && asked.names(name)));
    }
    // Not before: a changed program and its replay are what takes most memory.
    let (off, mut notices) = without(&question, machine)?;
    if !job.no_slowdown {
        notices.extend(doubts(&question, machine, (&off.played, &cc.played)).map_err(failed)?);
    }
    let mut runs = vec![Run { name: "off".to_owned(), answer: off }, Run { name: "cc".to_owned(), answer: cc }];
    for (name, design) in designs {
        let secure = design.machine.confidential_computing;
        let answer =
            if secure { question.secure(design, Causes::default()) } else { question.off(design) }.map_err(failed)?;
        rows.push(design_row(job, &runs[1].answer.played, &answer.played, name, &question));
        runs.push(Run { name: (*name).to_owned(), answer });
    }
    for (name, design) in asked.tried {
        let played = question.secure(design, Causes::default()).map_err(failed)?.played;
        rows.push(design_row(job, &runs[1].answer.played, &played, name, &question));
    }
    rows.sort_by(|one, other| other.gain.total_cmp(&one.gain));
    let advice = advice(job, &rows, &shares);
    let machines =
        [("cc", &machine.machine)].into_iter().chain(designs.iter().map(|(name, one)| (*name, &one.machine)));
    let secure: Vec<_> = machines.filter(|(_, machine)| machine.confidential_computing).collect();
    let assumed = question.assumed(&secure);
    let what_if = if asked.what_if.is_empty() { Vec::new() } else { rows };
    Ok((runs, Parts { shares, advice, what_if, assumed, notices, drawn }))
}

/// The program without confidential computing, and what is to be known before any figure.
fn without(question: &Question<'_>, machine: &Resolved) -> Result<(Answer, Vec<String>), Failure> {
    let job = question.job;
    let as_it_was = question.as_it_was(machine).map_err(failed)?;
    let mut notices = job.notices(as_it_was.played.device_time());
    if question.baseline == Baseline::Profile {
        return Ok((as_it_was, notices));
    }
    if job.profiled {
        let why = "Without CC, too, copies are those of the machine, as the profile comes from another one; --off profile takes its own.";
        notices.push(why.to_owned());
    }
    Ok((question.off(machine).map_err(failed)?, notices))
}

fn design_row(job: &Job, cc: &Played, played: &Played, name: &str, question: &Question<'_>) -> WhatIf {
    let copies = question.keys.0.len();
    row(job, (cc, played), name, &format!("use the design {name}"), ("copies on that machine".to_owned(), copies))
}

impl<'a> Asked<'a> {
    /// What the program with confidential computing is compared with.
    fn baseline(&self, question: &Question<'_>) -> Baseline {
        let machine = self.elsewhere || question.copies_apart() > APART;
        match self.off {
            _ if !question.job.profiled => question.baseline,
            Some(OffArgument::Machine) => Baseline::Machine,
            None if machine => Baseline::Machine,
            _ => Baseline::Profile,
        }
    }

    /// What is taken for true of several ranks.
    fn together(&self, runs: &[Run]) -> Vec<String> {
        if self.ranks.len() < 2 {
            return Vec::new();
        }
        let early = runs.iter().map(|run| run.answer.early).max().unwrap_or(0);
        let of = self.ranks.iter().filter_map(|(trace, _)| trace.rank?.of).max();
        self.node.assumed(early, of)
    }

    /// The ranks, if there are several.
    fn figures(&self, runs: &[Run]) -> Vec<RankFigures> {
        let all = |run: &Run| -> Vec<Played> {
            std::iter::once(&run.answer.played).chain(&run.answer.mates).cloned().collect()
        };
        match (self.ranks.len(), runs) {
            (2.., [off, cc, ..]) => self.node.figures(self.names, self.ranks, &all(off), &all(cc)),
            _ => Vec::new(),
        }
    }

    /// The changes of the program that are to be played: all, unless some are named.
    fn changes(&self) -> impl Iterator<Item = &'a str> {
        let all = self.what_if.is_empty() || self.what_if.iter().any(|one| one == "all" || one == "changes");
        let what_if = self.what_if;
        let named = move |name: &str| what_if.iter().any(|one| known_as(one) == name);
        let single = CHANGES.iter().map(|(name, ..)| *name).filter(move |name| all || named(name));
        single.chain(what_if.iter().map(String::as_str).filter(|names| names.contains('+')))
    }

    fn names(&self, name: &str) -> bool {
        self.what_if.iter().any(|one| one == name)
    }
}

/// What is said of a step that the host decides.
const INFLATED: &str = "The host decides how long a step is, and the time of the profiler is in the host's: the program alone is faster, and what \
                        shortens the host gains less. --step-time TIME, measured without the profiler, leaves it out.";

/// Whether a mean says little of steps: it is four times the median.
const fn uneven(step: &StepFigures) -> bool {
    step.median_ns > 0 && step.mean_ns / 4 >= step.median_ns
}

/// What is printed of these runs; of calls, those at the places `listed`.
fn shown(asked: Asked<'_>, runs: &[Run], parts: Parts, listed: &[usize]) -> Document {
    let Asked { ranks, machine, designs, tried, .. } = asked;
    let (trace, job) = ranks[0];
    let (off, cc) = (&runs[0].answer.played, &runs[1].answer.played);
    // What calls that wait or copy cost, and so what the whole is made of, is not always known.
    let known = ranks.iter().all(|(_, job)| !job.no_slowdown);
    let mut notices = parts.notices;
    let collectives = job.ops.iter().any(|op| matches!(op.work, Work::Collective(_)));
    let rests_on: &[_] = if collectives { &[Part::Copies, Part::Collectives] } else { &[Part::Copies] };
    let cautions = summary::cautions(&machine.machine.name, rests_on);
    notices.extend(cautions.into_iter().map(|caution| format!("These figures rest on {caution} (docs/accuracy.md).")));
    let machines = designs.iter().chain(tried).map(|(name, design)| (*name, &design.machine));
    for (name, machine) in [("cc", &machine.machine)].into_iter().chain(machines) {
        notices.extend(machine.does_not_close().map(|sentence| format!("{name} {sentence}")));
    }
    let steps = job.steps.as_ref().filter(|_| known).map(|steps| document::looped(steps, job, runs));
    let uneven = steps.iter().flat_map(|steps| &steps.runs).find(|run| uneven(&run.figures));
    notices.extend(uneven.map(|LoopedRun { name, figures: step }| {
        let [mean, median] = [step.mean_ns, step.median_ns].map(|ns| ns as f64 / 1e6);
        format!(
            "A few steps are much longer than the others: in the run {name} a step takes {mean:.3} ms in the mean, and {median:.3} ms in the median. \
             Slow-downs of steps are those of the mean; pictures show the step of median length."
        )
    }));
    let inflated = steps.as_ref().and_then(|steps| steps.runs.first()).is_some_and(|off| off.figures.host_bound)
        && job.profiled
        && job.host_ppm == WHOLE;
    Document {
        notices,
        steps,
        profile_end_ns: job.device_time(),
        schema_version: SCHEMA_VERSION,
        machine: machine.name(),
        trace: trace.format.unwrap_or("workload file"),
        events: document::events(trace),
        assumed: asked
            .together(runs)
            .into_iter()
            .chain([job.begun.clone()])
            .chain(job.assumed.clone())
            .chain(parts.assumed)
            .chain(inflated.then(|| INFLATED.to_owned()))
            .collect(),
        ranks: if known { asked.figures(runs) } else { Vec::new() },
        sampled: None,
        runs: runs.iter().map(|run| Figures::of(job, &run.name, &run.answer, off)).collect(),
        breakdown: if known { parts.shares } else { Vec::new() },
        operations: operations(job, off, cc, if known { listed } else { &[] }),
        what_if: if known { parts.what_if } else { Vec::new() },
        advice: if known { parts.advice } else { Vec::new() },
    }
}

impl Arguments {
    /// How many sessions copy at the same time.
    fn sessions(&self, files: usize, machine: &Resolved) -> Result<usize, Failure> {
        let Some(ranks) = self.expand.map(usize::from) else { return Ok(files) };
        let gpus = machine.machine.gpus();
        let (what, help) = match (files, ranks) {
            (2.., _) => {
                (format!("--expand with {files} profiles"), "give one profile, or leave out --expand".to_owned())
            }
            (_, ranks) if ranks > gpus => (
                format!(
                    "--expand {ranks}: {} has {gpus} GPU{}",
                    machine.machine.name,
                    if gpus == 1 { "" } else { "s" }
                ),
                "name a machine with as many, as --hw hgx-h100-8gpu".to_owned(),
            ),
            _ => return Ok(ranks),
        };
        Err(Failure::Usage(miette!(help = help, "{what}")))
    }

    /// A profile as a job; only what else there is to say of it is kept, unless `keeps`.
    fn job(&self, trace: &mut Trace, keeps: bool, machine: &Resolved, session: Session) -> Result<Job, Failure> {
        let mut job = Job::of(trace, submission(machine)?).begins(self.start.into()).scaled(&self.kernel_scale);
        if !keeps {
            // What follows is about the job; a long profile takes as much memory.
            (trace.device, trace.calls) = (Vec::new(), Vec::new());
        }
        job.session = session;
        job.assumed.extend(self.elsewhere(trace, machine));
        job.assumed.extend(self.expand.filter(|ranks| *ranks > 1).map(|ranks| {
            format!(
                "--expand: {ranks} equal ranks, of which one is shown. They come to each collective at once, and their sessions share the host at all times."
            )
        }));
        job.steps = if self.whole_profile { None } else { Steps::of(&job) };
        if job.ops.is_empty() {
            let help = "profile with CUDA activities: `--trace cuda` of nsys, ProfilerActivity.CUDA of PyTorch";
            return Err(Failure::Config(miette!(help = help, "the trace has no operation of a GPU: nothing to play")));
        }
        if self.steps && job.steps.is_none() {
            let help = "leave out --steps: without a loop the profile is reported as a whole";
            return Err(Failure::Config(miette!(help = help, "--steps: no loop was found in the profile")));
        }
        match self.step_time {
            Some(step) => in_step_time(job, machine, step.0 / 1_000_000).map_err(apart),
            None => Ok(job),
        }
    }

    /// What a profile of another GPU says of this one, in a sentence.
    fn elsewhere(&self, trace: &Trace, machine: &Resolved) -> Option<String> {
        let gpu = trace.gpu.as_ref().filter(|gpu| self.kernel_scale.is_empty() && !gpu.trim().is_empty())?;
        let here = machine.machine.name.to_lowercase();
        let model = gpu
            .split(|one: char| !one.is_ascii_alphanumeric())
            .find(|word| word.bytes().any(|one| one.is_ascii_digit()));
        let same = model.is_some_and(|model| here.contains(&model.to_lowercase()));
        let sentence =
            format!("Kernels take what they took on the GPU of the profile, {gpu}: --kernel-scale changes that.");
        (!same).then_some(sentence)
    }

    /// The files that are read, each with what the command line calls it.
    fn files<'s>(&'s self, hw: &'s str) -> Vec<Named<'s>> {
        let designs = self.alternatives.files();
        self.profile.files().chain([("--hw", Some(Path::new(hw)))]).chain(designs).collect()
    }

    /// The workload, if it is one and no profile: a file of TOML, or the name of a shipped one.
    fn workload(&self) -> Result<Option<WorkloadFile>, Failure> {
        let file = self.profile.file();
        let shipped = !file.exists() && ShippedWorkload::find(&file.to_string_lossy()).is_some();
        if shipped || file.extension().is_some_and(|ending| ending == "toml") {
            if self.step_time.is_some() {
                let help = "leave out --step-time: no profiler's time is in a workload's `host`";
                return Err(Failure::Usage(miette!(help = help, "--step-time: a workload says what its host takes")));
            }
            return Ok(Some(WorkloadFile::find(file, &self.param)?));
        }
        if self.param.is_empty() {
            return Ok(None);
        }
        let help = "leave out --param, or give a workload";
        Err(Failure::Usage(miette!(help = help, "--param: a profile has no parameters")))
    }

    /// The designs that --what-if asks for, each on the machine.
    fn tried(&self, hw: &str) -> Result<Vec<(&'static str, Resolved)>, Failure> {
        let designs: Vec<&'static str> = Shipped::names(Role::Design).collect();
        for name in &self.what_if {
            let changes = CHANGES.iter().map(|(name, ..)| *name).chain(["read-back-worker"]);
            let known: Vec<&str> = changes.clone().chain(designs.iter().copied()).chain(["changes", "all"]).collect();
            let is_known = |part: &str| changes.clone().any(|change| change == part);
            if !known.contains(&name.as_str()) && !name.split('+').all(is_known) {
                let meant = nearest(name, known.iter().copied());
                let meant = meant.map_or_else(String::new, |meant| format!("did you mean `{meant}`? "));
                let help = format!("{meant}there are {}", known.join(", "));
                return Err(Failure::Usage(miette!(help = help, "--what-if {name}: no such change")));
            }
        }
        let all = self.what_if.iter().any(|name| name == "all");
        let mut tried = Vec::new();
        for name in designs.into_iter().filter(|design| all || self.what_if.iter().any(|name| name == design)) {
            match self.machine(hw, Some(name)) {
                // One that is no change of confidential computing says nothing here.
                Ok(design) if design.machine.confidential_computing => tried.push((name, design)),
                Ok(_) => {}
                // Of all designs some do not fit each machine.
                Err(_) if all => {}
                Err(error) => return Err(error),
            }
        }
        Ok(tried)
    }

    /// The machine that is asked for, or the one that a workload names.
    fn hw(&self, workload: Option<&WorkloadFile>) -> Result<String, Failure> {
        let named = match (&self.hw, workload) {
            (Some(hw), _) => Some(hw.clone()),
            (None, Some(workload)) => workload.head.machine()?,
            (None, None) => None,
        };
        Ok(named.unwrap_or_else(|| "h100-nvl-tdx".to_owned()))
    }

    /// `known` keeps times of copies.
    fn simulator<'s>(
        &self,
        go_on: &'s (dyn Fn() -> Control + Sync),
        progress: &'s (dyn Fn() + Sync),
        known: &'s Known,
    ) -> Simulator<'s> {
        let threads = self.threads.map_or_else(pool::threads, usize::from);
        Simulator { threads, go_on, progress, known, sample: self.sample.sample, end: End::Middle }
    }

    /// The machine with a design on it, or with none. Confidential computing is on unless the design says otherwise.
    fn machine(&self, hw: &str, design: Option<&str>) -> Result<Resolved, Failure> {
        if self.alternatives.settings.cc == Some(Switch::Off) {
            let help = "leave out --cc: the run off is always there, and the others are what it costs";
            return Err(Failure::Usage(miette!(help = help, "--cc off: a replay is about confidential computing")));
        }
        let machine = self.alternatives.machine(hw).confidential_computing(true);
        Ok(design.into_iter().fold(machine, Layers::overlay).resolve()?)
    }
}

/// The failure of a step that cannot take what it is said to.
fn apart(error: StepTimeError) -> Failure {
    let help = match error {
        StepTimeError::Replay(error) => return failed(error),
        StepTimeError::NoSteps => "leave out --step-time, or profile several steps of the loop",
        StepTimeError::Longer(_) => "give the mean of steps of the same program that ran without a profiler",
        StepTimeError::Shorter(_) => "the GPU alone takes that: is the time one of the same batch and GPU?",
    };
    Failure::Usage(miette!(help = help, "--step-time: {error}"))
}

pub(super) fn failed(error: ReplayError) -> Failure {
    match error {
        _ if error.is_stopped() => Failure::Verification(miette!("interrupted: nothing was played")),
        ReplayError::Config(error) => (*error).into(),
        ReplayError::NoCalls { .. } => Failure::Config(miette!(
            help = "write `extends = \"h100-nvl-tdx\"` in the machine's file, or a table [calls] of its own",
            "{error}"
        )),
        ReplayError::Run(ref run) if matches!(**run, RunError::Build(_)) => Failure::Config(miette!("{error}")),
        ReplayError::Collective(_) | ReplayError::Written | ReplayError::Kernels { .. } => {
            Failure::Config(miette!("{error}"))
        }
        ReplayError::Run(_) => Failure::Simulation(miette!("{error}")),
        ReplayError::Lost { .. } => Failure::Verification(miette!("{error}")),
    }
}
