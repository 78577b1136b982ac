//! `--engine hq`: chunks as an array of tasks of HyperQueue. Who runs when and where, and what runs again, is HyperQueue's business.

use super::{
    Failure,
    array::array,
    engine::program,
    hq::{self, HqError, Job},
};
use crate::cli::{output::complain, run::Interruption};
use crate::explore::sweep::Chunks;
use crate::files::{excerpt, write_whole};
use indicatif::ProgressBar;
use miette::miette;
use serde::{Deserialize, Serialize};
use std::{
    ffi::{OsStr, OsString},
    fs,
    path::PathBuf,
    thread,
    time::Duration,
};

/// How often the folder and HyperQueue are asked.
const POLL_EVERY: Duration = Duration::from_millis(250);
/// How often a folder is looked at for rows of tasks that have ended: shared file systems show new files late.
const POLLS_AFTER_END: u32 = 40;

/// The chunks of a study, in transit through HyperQueue.
pub(super) struct Submission<'a> {
    pub chunks: &'a Chunks,
    /// Absolute, for jobs that run elsewhere.
    pub folder: PathBuf,
    pub interruption: &'a Interruption,
    pub bar: &'a ProgressBar,
}

/// What `job.json` says: which job runs the chunks.
#[derive(Debug, Serialize, Deserialize)]
struct JobRecord {
    id: u64,
    plan: String,
}

/// What was complained of, so that it is said once.
#[derive(Default)]
struct Said {
    server: bool,
    job: bool,
    workers: bool,
}

impl From<HqError> for Failure {
    fn from(error: HqError) -> Self {
        let remedy = match &error {
            HqError::Program(_) => {
                "HyperQueue is one program: https://it4innovations.github.io/hyperqueue says where it is; put `hq` on the PATH"
            }
            HqError::Refused { .. } => {
                "start a server (`hq server start --journal hq.journal`) and workers (`hq worker start`), then the same command again"
            }
            HqError::Form { .. } => "this version of HyperQueue prints another form of JSON than its manual shows",
        };
        Self::InputOutput(miette!(help = remedy, "{error}"))
    }
}

impl Submission<'_> {
    /// Runs all chunks that are missing.
    ///
    /// # Errors
    /// If HyperQueue is not there, a task fails, or it was interrupted; what has rows stays.
    pub fn run(&self) -> Result<(), Failure> {
        hq::workers()?;
        let attached = self.attached()?;
        if let Some(id) = attached {
            complain(format_args!("HyperQueue job {id} is at it: attached"));
        }
        // None: a job of before has ended meanwhile, and left nothing.
        let Some(mut id) = attached.map_or_else(|| self.submit(), |id| Ok(Some(id)))? else { return Ok(()) };
        let mut said = Said::default();
        let mut done = 0;
        loop {
            if self.interruption.asked() {
                return Err(self.leave(id));
            }
            done = self.show(done);
            if self.chunks.missing().is_empty() {
                // Whatever has become of the server: nothing is left for it.
                let _ = fs::remove_file(self.record());
                return Ok(());
            }
            match self.look(id, &mut said) {
                Err(error) => said.server(&error),
                Ok(None) => {
                    id = self.again(id, &mut said);
                }
                Ok(Some(job)) if job.is_over() => return self.end(id, &job, done),
                Ok(Some(_)) => {}
            }
            thread::sleep(POLL_EVERY);
        }
    }

    /// The job of before, if it is still in progress.
    fn attached(&self) -> Result<Option<u64>, Failure> {
        let text = fs::read_to_string(self.record()).unwrap_or_default();
        let Ok(record) = serde_json::from_str::<JobRecord>(&text) else { return Ok(None) };
        let job = hq::job(record.id)?;
        let own = |job: &Job| record.plan == self.chunks.id() && job.name() == self.name() && !job.is_over();
        Ok(job.filter(own).map(|_| record.id))
    }

    fn record(&self) -> PathBuf {
        self.chunks.path().join("job.json")
    }

    /// What distinguishes the job from those of other servers that have its number.
    fn name(&self) -> String {
        format!("sealsim-{}", self.chunks.id())
    }

    /// The number of a job that runs what is missing, if anything is.
    fn submit(&self) -> Result<Option<u64>, Failure> {
        // Some may be done before the job's number is here.
        let missing = self.chunks.missing();
        if missing.is_empty() {
            return Ok(None);
        }
        let here = std::env::current_dir().map_err(|error| Failure::input_output("this folder", &error))?;
        let chunks = self.folder.join("chunks");
        let (name, wanted) = (self.name(), array(&missing));
        let mut arguments: Vec<OsString> =
            ["--name", &name, "--array", &wanted, "--cpus", "1", "--cwd"].map(OsString::from).into();
        arguments.push(here.into());
        arguments.extend(["--stdout", "none", "--stderr"].map(OsString::from));
        arguments.push(chunks.join("%{TASK_ID}.stderr").into());
        arguments.push("--".into());
        arguments.push(program()?.into());
        arguments.extend(["sweep", "chunk"].map(OsString::from));
        arguments.push(self.folder.clone().into());
        let id = hq::submit(&arguments.iter().map(OsString::as_os_str).collect::<Vec<&OsStr>>())?;
        let record = JobRecord { id, plan: self.chunks.id().to_owned() };
        let json = serde_json::to_string(&record).unwrap_or_default();
        write_whole(&self.record(), json.as_bytes())
            .map_err(|error| Failure::InputOutput(miette!("{error}; HyperQueue job {id} runs all the same")))?;
        let (count, all) = (missing.len(), self.chunks.len());
        complain(format_args!("{count} of {all} chunks are HyperQueue job {id}"));
        Ok(Some(id))
    }

    /// Moves the bar to the points of the chunks that are there.
    fn show(&self, before: u64) -> u64 {
        let missing: u64 = self.chunks.missing().into_iter().map(|chunk| self.chunks.points(chunk)).sum();
        let all: u64 = (0..self.chunks.len()).map(|chunk| self.chunks.points(chunk)).sum();
        let done = all - missing;
        self.bar.inc(done.saturating_sub(before));
        done
    }

    /// Submits what is missing to a server that does not know a job; if that fails, the next look tries it again.
    fn again(&self, id: u64, said: &mut Said) -> u64 {
        if !std::mem::replace(&mut said.job, true) {
            complain(format_args!("HyperQueue no longer knows job {id}: what is missing is submitted again"));
        }
        match self.submit() {
            Ok(new) => {
                said.job = false;
                new.unwrap_or(id)
            }
            Err(failure) => {
                if !std::mem::replace(&mut said.server, true) {
                    complain(format_args!("{}; waiting", failure.message()));
                }
                id
            }
        }
    }

    fn look(&self, id: u64, said: &mut Said) -> Result<Option<Job>, HqError> {
        let job = hq::job(id)?.filter(|job| job.name() == self.name());
        if job.as_ref().is_some_and(|job| job.counts().running == 0 && !job.is_over()) {
            said.workers(hq::workers()?);
        }
        said.server &= job.is_none();
        Ok(job)
    }

    fn leave(&self, id: u64) -> Failure {
        let missing = self.chunks.missing().len();
        Failure::Verification(miette!(
            help = "the same command attaches again and writes the table; `hq job cancel {id}` ends the job, and what has rows stays",
            "interrupted with {missing} of {} chunks missing; HyperQueue job {id} goes on",
            self.chunks.len()
        ))
    }

    /// The job is over: either all rows are there, or it says why not.
    fn end(&self, id: u64, job: &Job, done: u64) -> Result<(), Failure> {
        let counts = job.counts();
        for _ in 0..POLLS_AFTER_END {
            if self.chunks.missing().is_empty() || counts.failed + counts.canceled > 0 || self.interruption.asked() {
                break;
            }
            thread::sleep(POLL_EVERY);
        }
        self.show(done);
        let _ = fs::remove_file(self.record());
        let missing = self.chunks.missing();
        if missing.is_empty() {
            return Ok(());
        }
        let again = "what has rows stays; the same command submits what is missing";
        let count = missing.len();
        match job.failed() {
            Some(task) => {
                let why = self.complaint(task.id, task.error.as_deref());
                let failed = counts.failed;
                Err(Failure::InputOutput(miette!(
                    help = again,
                    "{count} chunks are missing: {failed} tasks of HyperQueue job {id} failed, the first of chunk {}: {why}",
                    task.id
                )))
            }
            None if counts.canceled > 0 => Err(Failure::Verification(miette!(
                help = again,
                "HyperQueue job {id} was cancelled: {count} chunks are missing"
            ))),
            None => Err(Failure::InputOutput(miette!(
                help = "do workers see this folder, under this path? The same command submits what is missing",
                "HyperQueue job {id} has ended, and {count} chunks have no rows in {}",
                self.folder.display()
            ))),
        }
    }

    /// What a task said on standard error, else what HyperQueue says of it.
    fn complaint(&self, task: u64, error: Option<&str>) -> String {
        let said = fs::read(self.chunks.path().join(format!("{task}.stderr"))).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let said = excerpt(said.trim(), 2000);
        let error = error.unwrap_or("it says nothing");
        if said.is_empty() { format!("{error}; its standard error is empty") } else { format!("{error}: {said}") }
    }
}

impl Said {
    fn server(&mut self, error: &HqError) {
        if !self.server {
            complain(format_args!(
                "{error}; waiting: start the server again, with its journal if it has one, and workers; Ctrl-C ends the waiting"
            ));
        }
        self.server = true;
    }

    fn workers(&mut self, count: usize) {
        if count == 0 && !self.workers {
            complain("HyperQueue has no worker; waiting: `hq worker start` starts one, here or on another machine");
        }
        self.workers = count == 0;
    }
}
