//! A replay from its arguments to its figures: what is read, what is played, what is drawn.

use super::{
    Arguments, Asked, Document, Failure, Run, failed, intervals,
    outputs::{Done, Drawn},
    play, shown,
};
use crate::{
    cli::{describe, profile::Progress},
    config::Resolved,
    replay::{End, Job, Node, Played, Session, Simulator, Steps, Timeline, Tried, costliest, written},
    report::{
        html::{self, Page, PageError, timeline::NamedTimeline},
        plot::{
            drawing::Drawing,
            timeline::{self, Part},
        },
    },
    workload::{WorkloadFile, sized, trace::Trace},
};
use miette::miette;

const OPERATIONS: usize = 10;

/// What is to be read, and on which machines it is to be played.
pub(super) struct Plan<'a> {
    arguments: &'a Arguments,
    workload: Option<WorkloadFile>,
    /// What the machine was found by.
    pub hw: String,
    pub machine: Resolved,
    pub designs: Vec<(&'a str, Resolved)>,
    tried: Vec<(&'a str, Resolved)>,
    names: Vec<String>,
}

pub(super) struct Read {
    traces: Vec<Trace>,
    jobs: Vec<Job>,
    node: Node,
}

pub(super) struct Found {
    runs: Vec<Run>,
    changed: Vec<Tried>,
    pub document: Document,
}

impl<'a> Plan<'a> {
    pub fn of(arguments: &'a Arguments) -> Result<Self, Failure> {
        let workload = arguments.workload()?;
        let hw = arguments.hw(workload.as_ref())?;
        let machine = arguments.machine(&hw, None)?;
        let designs = arguments.alternatives.design.iter();
        let designs = designs.map(|design| Ok((design.as_str(), arguments.machine(&hw, Some(design))?)));
        let designs = designs.collect::<Result<_, Failure>>()?;
        let tried = arguments.tried(&hw)?;
        let names = arguments.profile.ranks().iter().map(|file| file.display().to_string()).collect();
        Ok(Self { arguments, workload, hw, machine, designs, tried, names })
    }

    pub fn runs(&self) -> Vec<&str> {
        ["off", "cc"].into_iter().chain(self.designs.iter().map(|(name, _)| *name)).collect()
    }

    pub fn title(&self) -> String {
        let file = self.arguments.profile.file();
        let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
        format!("{name}, played on {}", self.machine.name())
    }

    pub fn read(&mut self, progress: &Progress, simulator: Simulator<'_>) -> Result<Read, Failure> {
        let (arguments, machine) = (self.arguments, &self.machine);
        let mut traces = match self.workload.take() {
            None => arguments.profile.read_all(usize::MAX, progress)?,
            Some(mut file) => {
                file.without_size.take().map_or(Ok(()), Err)?;
                let copies = sized(&file.copies, None).map_err(|error| Failure::Config(miette!("{error}")))?;
                vec![written(&file.steps, &copies, machine, simulator).map_err(failed)?]
            }
        };
        let of = arguments.sessions(traces.len(), machine)?;
        let keeps = traces.len() > 1 || arguments.outputs.shows_trace();
        let each = traces.iter_mut().zip(0..);
        let jobs = each.map(|(trace, gpu)| arguments.job(trace, keeps, machine, Session { gpu, of }));
        let jobs = jobs.collect::<Result<Vec<_>, _>>()?;
        let read = Read { traces, jobs, node: Node::default() };
        let node = if read.jobs.len() > 1 { Node::of(&read.ranks()) } else { Node::default() };
        Ok(Read { node, ..read })
    }

    /// Plays all of it: also with the least and the most that copies may take, where they are sampled.
    pub fn play(&self, read: &Read, watched: bool, draws: bool, simulator: Simulator<'_>) -> Result<Found, Failure> {
        let ranks = read.ranks();
        let asked = Asked {
            ranks: &ranks,
            names: &self.names,
            node: &read.node,
            machine: &self.machine,
            designs: &self.designs,
            what_if: &self.arguments.what_if,
            tried: &self.tried,
            off: self.arguments.off,
            elsewhere: self.arguments.elsewhere(&read.traces[0], &self.machine).is_some(),
            watched,
            draws,
        };
        let (runs, mut parts) = play(asked, simulator)?;
        let changed = std::mem::take(&mut parts.drawn);
        let listed = costliest(read.job(), &runs[0].answer.played, &runs[1].answer.played, OPERATIONS);
        let mut document = shown(asked, &runs, parts, &listed);
        if simulator.sample.is_some() {
            let ends = [End::Low, End::High].map(|end| play(asked, Simulator { end, ..simulator }));
            let [low, high] = ends.map(|played| played.map(|(runs, parts)| shown(asked, &runs, parts, &listed)));
            document.sampled = Some(intervals::told(simulator.known, &document, low?, high?));
        }
        Ok(Found { runs, changed, document })
    }
}

impl Read {
    fn ranks(&self) -> Vec<(&Trace, &Job)> {
        self.traces.iter().zip(&self.jobs).collect()
    }

    pub fn job(&self) -> &Job {
        &self.jobs[0]
    }

    pub fn trace(&self) -> &Trace {
        &self.traces[0]
    }
}

impl Found {
    pub fn done(&self) -> Vec<Done<'_>> {
        let done = self.runs.iter().zip(&self.document.runs);
        let done = done.map(|(run, figures)| Done {
            name: &run.name,
            slowdown: figures.slowdown_over_off,
            played: &run.answer.played,
        });
        done.collect()
    }

    /// The step of median length with confidential computing, counted from 0.
    pub fn step(&self, job: &Job) -> Option<usize> {
        job.steps.as_ref().map(|steps| steps.usual(job, &self.runs[1].answer.played))
    }

    /// A step of a replay of a job, which may be changed, and how many times as long it is as without confidential computing.
    pub fn of_step(&self, own: &Job, (job, played): (&Job, &Played), number: usize) -> Option<Drawn> {
        let span = |steps: &Steps, (job, played)| steps.span(job, played, number);
        let steps = own.steps.as_ref()?;
        let off = span(steps, (own, &self.runs[0].answer.played))?.duration().max(1);
        let span = span(steps, (job, played))?;
        let slowdown = (span.duration() > 0).then(|| span.duration() as f64 / off as f64);
        Some((Timeline::of_step(job, played, span), slowdown))
    }

    /// A page with what is drawn on it: the step where there is a loop, and the whole.
    pub fn shown(&self, page: Page, plan: &Plan<'_>, job: &Job) -> Result<Page, PageError> {
        let done = self.done();
        let drawn = |of: &dyn Fn(&Done<'_>) -> Option<Drawn>| -> Vec<NamedTimeline> {
            let named = done.iter().filter_map(|run| {
                let (timeline, slowdown) = of(run)?;
                let timeline = html::timeline::Timeline::of_replay(&timeline);
                Some(NamedTimeline { name: run.name.to_owned(), slowdown, timeline })
            });
            named.collect()
        };
        let step = job.steps.as_ref().zip(self.step(job)).map(|(steps, number)| html::Step {
            number: number + 1,
            of: steps.count(),
            timelines: drawn(&|run| self.of_step(job, (job, run.played), number)),
        });
        let whole = drawn(&|run| Some((Timeline::of(job, run.played), run.slowdown)));
        page.with_timelines(whole, step).with_configuration(&describe::to_json(&plan.machine))
    }

    /// The runs, and the changes that were asked for by name: the step where there is a loop.
    pub fn drawing(&self, title: &str, job: &Job) -> Drawing {
        let step = self.step(job);
        let off = self.runs[0].answer.played.device_time().max(1);
        let known = !job.no_slowdown;
        let runs = self.runs.iter().map(|run| (run.name.as_str(), job, &run.answer.played));
        let changed = self.changed.iter().map(|tried| (tried.row.name.as_str(), &tried.job, &tried.played));
        let drawn = runs.chain(changed).filter_map(|(name, changed, played)| {
            let (timeline, slowdown) = match step {
                Some(number) => self.of_step(job, (changed, played), number)?,
                None => {
                    let timeline = Timeline::of(changed, played);
                    let slowdown = timeline.end as f64 / off as f64;
                    (timeline, (known || name == "off").then_some(slowdown))
                }
            };
            Some(timeline::Run { name, slowdown, timeline })
        });
        let part = if step.is_some() { Part::Step } else { Part::Whole };
        timeline::draw(title, part, &drawn.collect::<Vec<_>>())
    }
}
