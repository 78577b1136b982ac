//! `--engine hq`: shards as an array of tasks of HyperQueue. Who runs when and where, and what runs again, is HyperQueue's business.

use super::{
    Failure,
    array::array,
    engine::{Shards, program},
    gathered,
    hq::{self, HqError, Job},
};
use crate::cli::{output::complain, run::Interruption};
use crate::explore::sweep::{Folder, ShardArray, Study};
use crate::files::excerpt;
use indicatif::ProgressBar;
use miette::miette;
use std::{
    ffi::{OsStr, OsString},
    fs, mem, thread,
    time::Duration,
};

/// How often HyperQueue is asked.
const POLL_EVERY: Duration = Duration::from_millis(250);
/// How often a folder is looked at for rows of tasks that have ended: shared file systems show what is new late.
const POLLS_AFTER_END: u32 = 40;
/// What a task runs: the program, its folder and the number of shards are arguments.
const TASK: &str = "exec \"$0\" sweep --out \"$1\" --shard \"$HQ_TASK_ID/$2\" --threads 1";

/// Shards of a study, in transit through HyperQueue.
pub(super) struct Submission<'a> {
    pub study: &'a Study,
    pub folder: &'a mut Folder,
    pub shards: Shards,
    pub interruption: &'a Interruption,
    pub bar: &'a ProgressBar,
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
    /// Runs the shards. What has rows stays if that fails or is interrupted.
    pub fn run(mut self) -> Result<(), Failure> {
        let mut id = match self.attached()? {
            Some(id) => {
                complain(format_args!("HyperQueue job {id} is at it: attached"));
                id
            }
            None => self.submit()?,
        };
        let mut said = Said::default();
        loop {
            if self.interruption.asked() {
                return self.leave(id);
            }
            match self.look(id, &mut said) {
                Ok(Some(job)) if job.is_over() => return self.end(id, &job),
                Ok(Some(job)) => self.show(&job),
                // Whatever has become of the server: nothing may be left for it.
                Ok(None) if self.gather()? => return Ok(()),
                Ok(None) => id = self.again(id, &mut said),
                Err(_) if !said.server && self.gather()? => return Ok(()),
                Err(error) => said.server(&error),
            }
            thread::sleep(POLL_EVERY);
        }
    }

    /// Takes the rows that are there. Whether that is the end of this job: no shard lacks any, or some came back damaged and run again.
    fn gather(&mut self) -> Result<bool, Failure> {
        let damaged = gathered(self.study, self.folder)?;
        self.shards.lacking = self.shards.array.lacking(self.study, |id| self.folder.has(id))?;
        Ok(damaged || self.shards.lacking.is_empty())
    }

    /// The job of before, if it is still in progress.
    fn attached(&self) -> Result<Option<u64>, Failure> {
        let Some(id) = self.shards.array.job else { return Ok(None) };
        let own = |job: &Job| job.name() == self.shards.name && !job.is_over();
        Ok(hq::job(id)?.filter(own).map(|_| id))
    }

    /// The number of a job that runs what is missing.
    fn submit(&mut self) -> Result<u64, Failure> {
        let here = std::env::current_dir().map_err(|error| Failure::input_output("this folder", &error))?;
        let Shards { name, array: ShardArray { of, .. }, lacking, folder } = &self.shards;
        let (count, wanted) = (lacking.len(), array(lacking));
        let mut arguments: Vec<OsString> =
            ["--name", name, "--array", &wanted, "--cpus", "1", "--cwd"].map(OsString::from).into();
        arguments.push(here.into());
        arguments.extend(["--stdout", "none", "--stderr"].map(OsString::from));
        arguments.push(folder.join("shards/%{TASK_ID}.stderr").into());
        arguments.extend(["--", "sh", "-c", TASK].map(OsString::from));
        arguments.extend([program()?.into(), folder.into(), of.to_string().into()]);
        let id = hq::submit(&arguments.iter().map(OsString::as_os_str).collect::<Vec<&OsStr>>())?;
        complain(format_args!("{count} of {of} shards are HyperQueue job {id}"));
        self.shards.array.job = Some(id);
        let told = |error| Failure::InputOutput(miette!("{error}; HyperQueue job {id} runs all the same"));
        self.shards.array.write(self.folder.path()).map_err(told)?;
        Ok(id)
    }

    /// Moves the bar to the part of the tasks that have ended.
    fn show(&self, job: &Job) {
        let (left, tasks) = (job.counts().waiting + job.counts().running, self.shards.lacking.len() as u64);
        let (all, before) = (self.bar.length().unwrap_or_default(), self.folder.len() as u64);
        let done = all.saturating_sub(before) * tasks.saturating_sub(left) / tasks.max(1);
        self.bar.set_position(before + done);
    }

    /// Submits what is missing to a server that does not know a job; if that fails, the next look tries it again.
    fn again(&mut self, id: u64, said: &mut Said) -> u64 {
        if !mem::replace(&mut said.job, true) {
            complain(format_args!("HyperQueue no longer knows job {id}: what is missing is submitted again"));
        }
        match self.submit() {
            Ok(new) => {
                said.job = false;
                new
            }
            Err(failure) => {
                if !mem::replace(&mut said.server, true) {
                    complain(format_args!("{}; waiting", failure.message()));
                }
                id
            }
        }
    }

    fn look(&self, id: u64, said: &mut Said) -> Result<Option<Job>, HqError> {
        let job = hq::job(id)?.filter(|job| job.name() == self.shards.name);
        if job.as_ref().is_some_and(|job| job.counts().running == 0 && !job.is_over()) {
            said.workers(hq::workers()?);
        }
        said.server &= job.is_none();
        Ok(job)
    }

    fn leave(&mut self, id: u64) -> Result<(), Failure> {
        self.gather()?;
        Err(Failure::Verification(miette!(
            help = "the same command attaches again and writes the table; `hq job cancel {id}` ends the job, and what has rows stays",
            "interrupted with {} of {} shards missing; HyperQueue job {id} goes on",
            self.shards.lacking.len(),
            self.shards.array.of
        )))
    }

    /// The job is over: either all rows are there, or it says why not.
    fn end(&mut self, id: u64, job: &Job) -> Result<(), Failure> {
        let counts = job.counts();
        for _ in 0..POLLS_AFTER_END {
            if self.gather()? {
                return Ok(());
            }
            if counts.failed + counts.canceled > 0 || self.interruption.asked() {
                break;
            }
            thread::sleep(POLL_EVERY);
        }
        let again = "what has rows stays; the same command submits what is missing";
        let count = self.shards.lacking.len();
        match job.failed() {
            Some(task) => {
                let why = self.complaint(task.id, task.error.as_deref());
                let failed = counts.failed;
                Err(Failure::InputOutput(miette!(
                    help = again,
                    "{count} shards are missing: {failed} tasks of HyperQueue job {id} failed, the first of shard {}: {why}",
                    task.id
                )))
            }
            None if counts.canceled > 0 => Err(Failure::Verification(miette!(
                help = again,
                "HyperQueue job {id} was cancelled: {count} shards are missing"
            ))),
            None => Err(Failure::InputOutput(miette!(
                help = "do workers see this folder, under this path, and does the disk keep what they write? The same command submits what is missing",
                "HyperQueue job {id} has ended, and {count} shards lack rows in {}",
                self.shards.folder.display()
            ))),
        }
    }

    /// What a task said on standard error, else what HyperQueue says of it.
    fn complaint(&self, task: u64, error: Option<&str>) -> String {
        let said = fs::read(self.shards.folder.join(format!("shards/{task}.stderr"))).unwrap_or_default();
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
