//! The arguments that say what is run, shared by all verbs that run copies or a workload.

use super::Failure;
use crate::workload::{CopyArgument, Setting, Workload, WorkloadFile, sized};
use clap::Args;
use miette::miette;
use std::path::PathBuf;

/// Copies, or a workload.
#[derive(Debug, Clone, Default, Args)]
pub struct WorkArguments {
    /// A copy: DIR is h2d, d2h or d2d; SIZE as 64MiB, or a bare number of bytes; MEM is pinned (default) or pageable, and left out for
    /// d2d. May be given several times
    #[arg(long = "copy", value_name = "DIR[:SIZE[:MEM]]")]
    pub copies: Vec<CopyArgument>,
    /// What the host does, from this TOML file or shipped workload: copies, kernels and events on several streams, and repeats. In place
    /// of --copy. A file takes precedence
    #[arg(long, value_name = "FILE|NAME", conflicts_with = "copies")]
    pub workload: Option<PathBuf>,
    /// Set a parameter of the workload, as bucket_cap=100MiB. May be given several times
    #[arg(long, value_name = "NAME=VALUE", requires = "workload")]
    pub param: Vec<Setting>,
}

impl WorkArguments {
    pub fn is_given(&self) -> bool {
        !self.copies.is_empty() || self.workload.is_some()
    }

    /// The workload file, if one is asked for.
    pub fn file(&self) -> Result<Option<WorkloadFile>, Failure> {
        if !self.is_given() {
            let help = "give --copy h2d:64MiB, or --workload with a file or a name (`sealsim list`)";
            return Err(Failure::Usage(miette!(help = help, "nothing to run: there is no --copy and no --workload")));
        }
        let find = |name| WorkloadFile::find(name, &self.param)?.of_one_thread();
        Ok(self.workload.as_deref().map(find).transpose()?)
    }

    /// All of it, for the sake of its timing. `file` is what [`Self::file`] has read.
    pub fn timed(&self, file: Option<WorkloadFile>) -> Result<Workload, Failure> {
        let (copies, steps) = match file {
            None => (self.copies.clone(), None),
            Some(mut file) => {
                file.without_size.take().map_or(Ok(()), Err)?;
                (file.copies, Some(file.steps))
            }
        };
        let copies = sized(&copies, None).map_err(|error| Failure::Usage(miette!("--copy: {error}")))?;
        Ok(Workload::timed(copies, steps))
    }
}
