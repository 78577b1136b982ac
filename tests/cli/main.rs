//! The command line as its users meet it: one binary, so that it is linked once.

#[cfg(target_os = "linux")]
mod cluster;
mod collective;
mod compare;
#[cfg(unix)]
mod completions;
mod config;
mod cost_agreement;
mod engine;
mod engines;
mod example;
mod faults;
mod files;
mod headlines;
mod hostile;
mod input;
mod inside;
mod instructions;
mod lab;
mod live;
mod named;
mod options;
mod output;
mod plots;
mod predictions;
mod readme;
mod reference;
mod replay;
mod report;
mod risk;
mod rtl;
mod run;
mod sample;
#[cfg(unix)]
mod search;
mod sensitivity;
mod signals;
mod stages;
mod sweep;
mod tlp;
mod tutorials;
mod validate;
mod vectors;
mod verify;
mod width;
mod words;
mod workload;
mod workload_refused;

/// Whether what takes minutes is done in full: `tests/campaigns` has files of this folder too.
const CAMPAIGN: bool = false;
