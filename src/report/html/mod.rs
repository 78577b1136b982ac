//! A page of results: one HTML file that opens offline, with the JSON of a verb within it and plots that the page draws from it, or that are in it.
//!
//! ```text
//!  JSON of run, compare, replay, validate --+
//!  a sweep's table ---> StudyReport --------+--> Page --> shell + style + scripts + data island --> one file
//!  Timeline, messages, configuration -------+
//! ```
//!
//! The page fetches nothing and runs no script but its own: its policy names the digests of both. The data lie in an island,
//! `<script type="application/json" id="data">`, in which there is no `<`, so that no text can end it.

mod error;
mod island;
pub mod lab;
mod live;
mod looked;
mod shape;
pub mod study;
pub mod timeline;

pub use error::PageError;
pub use live::LivePage;
pub use shape::Kind;

use crate::{
    observe::{messages, path::Recorder},
    report::plot::{measured::Panel, svg},
};
use serde::Serialize;
use serde_json::value::RawValue;
use shape::Told;
use timeline::{NamedTimeline, Timeline};

/// What a page shows. It serialises to the data island.
#[derive(Debug, Clone, Serialize)]
pub struct Page {
    kind: Kind,
    /// Heading, and name of the window.
    title: String,
    sealsim_version: &'static str,
    command: String,
    report: Box<RawValue>,
    /// Of a run: what its units, streams and messages did.
    #[serde(skip_serializing_if = "Option::is_none")]
    timeline: Option<Timeline>,
    /// Of a replay: one for each of its runs, over one axis.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    timelines: Vec<NamedTimeline>,
    /// Of a replay with a loop: one step, which is what the page opens on.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<Step>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    messages: Vec<Message>,
    /// Of a validation: its plots as SVG.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    curves: Vec<String>,
    /// The machine's parameters, as `sealsim describe --format json` gives them.
    #[serde(skip_serializing_if = "Option::is_none")]
    configuration: Option<Box<RawValue>>,
}

/// A step of the loop of a replay.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// Its number, from 1.
    pub number: usize,
    pub of: usize,
    pub timelines: Vec<NamedTimeline>,
}

/// From the first work on a message to its verdict, or to its last byte if it has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Message {
    /// Its number in its copy, from 1.
    pub number: u64,
    /// Number of its copy, from 1.
    pub copy: u64,
    pub start_ps: u64,
    pub end_ps: u64,
}

impl Page {
    /// A page of what a verb printed as JSON. The copies of a run are its timeline until another is given.
    pub fn of_json(json: &str, command: String) -> Result<Self, PageError> {
        let Told { kind, title, timeline } = shape::told(json)?;
        let report = serde_json::from_str(json).map_err(PageError::not_json)?;
        Ok(Self {
            kind,
            title,
            sealsim_version: env!("CARGO_PKG_VERSION"),
            command,
            report,
            timeline,
            timelines: Vec::new(),
            step: None,
            messages: Vec::new(),
            curves: Vec::new(),
            configuration: None,
        })
    }

    /// A page of what a verb prints as JSON, before it is printed.
    pub fn of(report: &impl Serialize, command: String) -> Result<Self, PageError> {
        let json = serde_json::to_string(report).map_err(PageError::not_json)?;
        Self::of_json(&json, command)
    }

    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// The same with what was heard of a run: its units and its messages.
    pub fn with_look(self, record: &Recorder, messages: &[messages::Message]) -> Self {
        let (timeline, messages) = looked::looked(self.timeline.unwrap_or_default(), record, messages);
        Self { timeline: Some(timeline), messages, ..self }
    }

    /// The same with timelines that are drawn one over the other, opened on a step of the loop if there is one.
    pub fn with_timelines(self, timelines: Vec<NamedTimeline>, step: Option<Step>) -> Self {
        Self { timelines, step, ..self }
    }

    /// The same with curves over what was measured.
    pub fn with_curves(self, panels: &[Panel]) -> Self {
        let drawn = |panel: &Panel| svg::write(&panel.figure().draw());
        Self { curves: panels.iter().map(drawn).collect(), ..self }
    }

    /// The same with a machine's parameters, as `sealsim describe --format json` gives them.
    pub fn with_configuration(self, configuration: &impl Serialize) -> Result<Self, PageError> {
        let configuration = serde_json::value::to_raw_value(configuration).map_err(PageError::not_json)?;
        Ok(Self { configuration: Some(configuration), ..self })
    }

    pub fn html(&self) -> Result<String, PageError> {
        let data = serde_json::to_string(self).map_err(PageError::not_json)?;
        Ok(island::page(&self.title, &data))
    }
}

#[cfg(test)]
mod tests;
