//! The arguments that choose a machine, shared by all verbs that need one.

use super::{Failure, places::Named};
use crate::{
    config::{Layers, Refusal, Resolved},
    files::Explained,
    workload::WorkloadFile,
};
use clap::{Args, ValueEnum};
use miette::miette;
use std::path::Path;

/// Which machine, with designs one on the other.
#[derive(Debug, Clone, Args)]
pub struct MachineArguments {
    /// The machine: a TOML file, or the name of a shipped one (see `sealsim list`). A file takes precedence
    #[arg(value_name = "CONFIG")]
    pub config: String,
    /// What lies over it.
    #[command(flatten)]
    pub overlays: OverlayArguments,
}

/// Designs one on the other, and what is set.
#[derive(Debug, Clone, Default, Args)]
pub struct OverlayArguments {
    /// A design that overrides values of the machine: a TOML file, the name of a shipped one, or several joined by `+`. May be given several
    /// times; later ones override earlier ones
    #[arg(long, value_name = "DESIGN[+DESIGN]")]
    pub design: Vec<String>,
    /// What is set.
    #[command(flatten)]
    pub settings: SettingArguments,
}

/// Designs side by side, and what is set for all of them.
#[derive(Debug, Clone, Default, Args)]
pub struct AlternativeArguments {
    /// A design to compare with the others: a TOML file, the name of a shipped one, or several joined by `+`, of which the last takes precedence. May
    /// be given several times, for one answer each
    #[arg(long, value_name = "DESIGN[+DESIGN]")]
    pub design: Vec<String>,
    /// What is set.
    #[command(flatten)]
    pub settings: SettingArguments,
}

/// Single values of a machine.
#[derive(Debug, Clone, Default, Args)]
pub struct SettingArguments {
    /// Set one value, above all files and designs, for example `link.max_payload=512B` or `tag_queue.release=hold`. May be given
    /// several times
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Confidential computing of the machine on or off, regardless of its file; designs override it
    #[arg(long, value_enum, value_name = "MODE")]
    pub cc: Option<Switch>,
}

crate::units::named! {
    /// On or off.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
    pub enum Switch {
        /// On.
        On = "on",
        /// Off.
        Off = "off",
    }
}

impl MachineArguments {
    pub fn resolve(&self) -> Result<Resolved, Failure> {
        self.overlays.resolve(&self.config)
    }
}

impl OverlayArguments {
    /// The machine with all that lies over it.
    pub fn layers(&self, machine: &str) -> Layers {
        self.design.iter().fold(self.settings.layers(machine), Layers::overlay)
    }

    /// Reads and checks the machine with all that lies over it.
    pub fn resolve(&self, machine: &str) -> Result<Resolved, Failure> {
        Ok(self.layers(machine).resolve()?)
    }

    pub fn is_empty(&self) -> bool {
        self.design.is_empty() && self.settings.set.is_empty() && self.settings.cc.is_none()
    }
}

impl AlternativeArguments {
    /// The machine without any of the designs.
    pub fn machine(&self, machine: &str) -> Layers {
        self.settings.layers(machine)
    }

    /// The designs that are files, as the command line calls them.
    pub(super) fn files(&self) -> impl Iterator<Item = Named<'_>> {
        design_files(&self.design)
    }
}

impl SettingArguments {
    /// The machine with these values; designs laid over it lie below them.
    pub fn layers(&self, machine: &str) -> Layers {
        let layers = match self.cc {
            None => Layers::new(machine),
            Some(cc) => Layers::new(machine).confidential_computing(cc == Switch::On),
        };
        self.set.iter().fold(layers, Layers::set)
    }
}

/// What may be the files of designs, as the command line calls them.
pub(super) fn design_files(designs: &[String]) -> impl Iterator<Item = Named<'_>> {
    let paths = designs.iter().flat_map(|design| design.split('+').chain([design.as_str()]));
    paths.map(|path| ("--design", Some(Path::new(path))))
}

/// The machine that is asked for, else the one that a workload names.
pub(super) fn machine_of(config: Option<&str>, workload: Option<&WorkloadFile>) -> Result<String, Failure> {
    if let Some(config) = config {
        return Ok(config.to_owned());
    }
    let named = workload.map(|file| file.head.machine()).transpose()?.flatten();
    named.ok_or_else(|| {
        let help = "name one before --workload, as h100-nvl-tdx (`sealsim list`), or write machine = \"h100-nvl-tdx\" \
                    at the top of the workload";
        Failure::Usage(miette!(help = help, "no machine: there is no CONFIG, and the workload names none"))
    })
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        match &*refusal.code() {
            "trace::stopped" => Self::Verification(miette!("interrupted: the trace was not read to its end")),
            "measured" | "workload::unreadable" | "trace::unreadable" => Self::InputOutput(refusal.into()),
            _ => Self::Config(refusal.into()),
        }
    }
}
