//! HyperQueue by its own command, `hq`, and what it says as JSON.

use crate::files::{excerpt, json_fault};
use serde::Deserialize;
use std::{
    ffi::OsStr,
    io,
    process::{Command, Stdio},
};
use thiserror::Error;

#[derive(Debug, Error)]
pub(super) enum HqError {
    #[error("hq: {0}")]
    Program(io::Error),
    #[error("`hq {command}`: {said}")]
    Refused { command: String, said: String },
    #[error("`hq {command}` answers what is not understood ({}): {said}", json_fault(error))]
    Form {
        command: String,
        error: serde_json::Error,
        /// The beginning of the answer.
        said: String,
    },
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Job {
    info: Info,
    #[serde(default)]
    tasks: Vec<Task>,
}

#[derive(Debug, Clone, Deserialize)]
struct Info {
    name: String,
    task_stats: Counts,
}

/// Tasks by state. The other states are ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) struct Counts {
    pub waiting: u64,
    pub running: u64,
    pub failed: u64,
    pub canceled: u64,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Task {
    pub id: u64,
    state: String,
    pub error: Option<String>,
}

impl Job {
    pub fn name(&self) -> &str {
        &self.info.name
    }

    pub const fn counts(&self) -> Counts {
        self.info.task_stats
    }

    pub const fn is_over(&self) -> bool {
        let counts = self.counts();
        counts.waiting == 0 && counts.running == 0
    }

    pub fn failed(&self) -> Option<&Task> {
        self.tasks.iter().find(|task| task.state == "failed")
    }
}

/// Asks whether a server is there, and how many workers it has.
pub(super) fn workers() -> Result<usize, HqError> {
    ask::<serde_json::Value>(&["server", "info"])?;
    Ok(ask::<Vec<serde_json::Value>>(&["worker", "list"])?.len())
}

/// A job by its number; nothing if the server does not know it.
pub(super) fn job(id: u64) -> Result<Option<Job>, HqError> {
    match ask::<Vec<Job>>(&["job", "info", &id.to_string()]) {
        Ok(jobs) => Ok(jobs.into_iter().next()),
        // A server that answers otherwise does not know the job.
        Err(HqError::Refused { .. }) => workers().map(|_| None),
        Err(error) => Err(error),
    }
}

/// Submits an array of tasks and gives the job's number.
pub(super) fn submit(arguments: &[&OsStr]) -> Result<u64, HqError> {
    #[derive(Deserialize)]
    struct Submitted {
        id: u64,
    }
    let arguments: Vec<&OsStr> = [OsStr::new("submit")].into_iter().chain(arguments.iter().copied()).collect();
    ask::<Submitted>(&arguments).map(|job| job.id)
}

fn ask<T: for<'a> Deserialize<'a>>(arguments: &[impl AsRef<OsStr>]) -> Result<T, HqError> {
    let mut hq = Command::new("hq");
    hq.args(["--output-mode", "json"]).args(arguments).stdin(Stdio::null());
    let output = hq.output().map_err(HqError::Program)?;
    let command = || {
        let words = arguments.iter().take(3).map(|word| word.as_ref().to_string_lossy().into_owned());
        words.collect::<Vec<_>>().join(" ")
    };
    let (said, also) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        return Err(HqError::Refused { command: command(), said: refusal(&said, &also) });
    }
    serde_json::from_str(&said).map_err(|error| match refused(&said) {
        Some(said) => HqError::Refused { command: command(), said },
        None => HqError::Form { command: command(), error, said: excerpt(&said, 200).into_owned() },
    })
}

/// An error that stands in the answer.
fn refused(said: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Refusal {
        error: String,
    }
    serde_json::from_str::<Refusal>(said).ok().map(|refusal| excerpt(&refusal.error, 600).into_owned())
}

fn refusal(said: &str, also: &str) -> String {
    let told = if also.trim().is_empty() { said } else { also };
    refused(said).unwrap_or_else(|| excerpt(told.trim(), 600).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_read_as_hyperqueue_prints_it() {
        let text = r#"[{"finished_at": null, "info": {"id": 1, "name": "n", "task_count": 3, "task_stats": {"canceled": 0,
            "failed": 1, "finished": 1, "running": 1, "waiting": 0}}, "max_fails": null, "submit_dir": "/",
            "tasks": [{"id": 4, "state": "finished"}, {"id": 7, "state": "failed", "error": "exit code 4"}]}]"#;
        let jobs: Vec<Job> = serde_json::from_str(text).unwrap();
        let job = &jobs[0];
        assert_eq!((job.name(), job.counts().failed, job.is_over()), ("n", 1, false));
        assert_eq!(job.failed().map(|task| (task.id, task.error.as_deref())), Some((7, Some("exit code 4"))));
        assert_eq!(refusal("{\"error\": \"no server\"}", ""), "no server");
        assert_eq!(refusal("", " lost\n"), "lost");
    }
}
