//! What a workload file says about itself: its machine, a line of what it is, where its sizes come from.

use super::DOCUMENT;
use crate::{
    config::{Role, Shipped, nearest},
    files::{Place, Refusal, excerpt},
};
use std::path::{Path, PathBuf};

#[derive(Debug, Default)]
pub struct Head {
    pub summary: Option<String>,
    /// Where its sizes come from.
    pub source: Vec<String>,
    pub(super) machine: Option<Machine>,
}

/// A machine that is named, and where.
#[derive(Debug)]
pub(super) struct Machine {
    pub name: String,
    pub place: Option<Place>,
    /// Of the workload's file.
    pub folder: Option<PathBuf>,
}

impl Head {
    /// Its machine as [`Layers`](crate::config::Layers) take it: a file next to the workload's, else one from here, else a shipped one.
    pub fn machine(&self) -> Result<Option<String>, Refusal> {
        self.machine.as_ref().map(Machine::find).transpose()
    }

    /// The file that says all this lies in this folder.
    pub(super) fn lies_in(&mut self, folder: Option<&Path>) {
        if let Some(machine) = &mut self.machine {
            machine.folder = folder.map(Path::to_owned);
        }
    }
}

impl Machine {
    fn find(&self) -> Result<String, Refusal> {
        let beside = self.folder.as_ref().map(|folder| folder.join(&self.name)).filter(|path| path.is_file());
        if let Some(path) = beside.as_deref().and_then(Path::to_str) {
            return Ok(path.to_owned());
        }
        if Path::new(&self.name).is_file() || Shipped::find(Role::Machine, &self.name).is_some() {
            return Ok(self.name.clone());
        }
        let meant = nearest(&self.name, Shipped::names(Role::Machine));
        let meant = meant.map_or_else(String::new, |name| format!("did you mean \"{name}\"? "));
        let what = format!("`machine`: there is no machine \"{}\"", excerpt(&self.name, 100));
        let remedy = format!("{meant}it is a file beside this one or a shipped machine (`sealsim list`)");
        Err(DOCUMENT.refused("no_machine", what).at(self.place.as_ref()).remedy(remedy))
    }
}
