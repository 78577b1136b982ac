//! What is served: the page, and answers to questions about states.
//!
//! ```text
//!   choices, fields           what there is to choose, and what each parameter means
//!   QUESTION?STATE            { command, answer }: the JSON of the command
//!   plot.svg?STATE, .pdf      the picture of the curve; plot.html and run.html are the pages of --report
//!   workload?STATE            the same for a workload; workload.svg, .pdf, .html
//!   program?STATE             the same for a profile; program.svg, .pdf, .html
//!   drop?name=NAME            keeps the profile in the body, and gives its name in states
//!   inside/                   a run to look inside: the page of `run --live`; inside/begin?STATE begins it
//!   machine.toml?STATE        the machine as a file
//! ```

use super::{
    answer::Answer as Found,
    dropped::{Dropped, LARGEST},
    inside::Inside,
    iteration::{IterationState, workloads},
    program::ProgramState,
    simulator::Simulator,
    state::{Question, State, StateError, pairs},
};
use crate::{
    cli::{
        list,
        loopback::{Answer, Asked, Site},
        page::shell_words,
    },
    config::{self, ConfigField},
    replay::CHANGES,
    report::{html::lab, plot::Format},
};
use hyper::{Method, StatusCode, body::Bytes};
use serde_json::{Value, json};
use std::sync::Arc;

pub struct LabSite {
    pub simulator: Arc<Simulator>,
    /// Machine files and designs that the command line names.
    pub offered: Vec<String>,
    /// Profiles that it names.
    pub programs: Vec<String>,
    /// The state that the page begins with.
    pub first: String,
    /// Profiles that were dropped on the page.
    pub dropped: Arc<Dropped>,
    /// The program that the page begins with, if it does.
    pub program: Option<String>,
    /// The run to look inside.
    pub inside: Inside,
}

impl Site for LabSite {
    fn takes(&self, Asked { method, path, .. }: Asked<'_>) -> usize {
        if (method, path) == (&Method::POST, "drop") { LARGEST } else { 0 }
    }

    async fn answer(&self, asked: Asked<'_>) -> Answer {
        let Asked { method, path, query, body } = asked;
        if let Some(path) = path.strip_prefix("inside/") {
            return self
                .inside
                .answer(Asked { path, ..asked }, |query| {
                    State::read(query, &self.offered).map(|state| state.watched()).map_err(wrong)
                })
                .await;
        }
        if (method, path) == (&Method::POST, "drop") {
            return self.keep(query, body.clone()).await;
        }
        if method != Method::GET {
            return Answer::text(StatusCode::METHOD_NOT_ALLOWED, "not by this method\n");
        }
        if let Some((sort, text)) = lab::file(path) {
            return Answer::new(StatusCode::OK, sort, text).with_policy(lab::POLICY);
        }
        let answered = match path {
            "choices" => Ok(object(&self.choices())),
            "fields" => Ok(object(&fields())),
            "plot.svg" => self.plot(self.command(query, Question::Curve), SVG).await,
            "plot.pdf" => self.plot(self.command(query, Question::Curve), PDF).await,
            "workload" => self.question(self.iteration(query)).await,
            "workload.svg" => self.plot(self.iteration(query), SVG).await,
            "workload.pdf" => self.plot(self.iteration(query), PDF).await,
            "run.html" => self.page(self.command(query, Question::Run), path).await,
            "plot.html" => self.page(self.command(query, Question::Curve), path).await,
            "workload.html" => self.page(self.iteration(query), path).await,
            "program.html" => self.page(self.program(query), path).await,
            "program" => self.question(self.program(query)).await,
            "program.svg" => self.plot(self.program(query), SVG).await,
            "program.pdf" => self.plot(self.program(query), PDF).await,
            "machine.toml" => self.toml(query).await,
            _ => match Question::ALL.into_iter().find(|question| question.name() == path) {
                Some(question) => self.question(self.command(query, question)).await,
                None => Err(Answer::none()),
            },
        };
        answered.unwrap_or_else(|refused| refused)
    }
}

/// A command, or why a query asks for none.
type Command = Result<Vec<String>, Answer>;

const SVG: (Format, &str) = (Format::Svg, "image/svg+xml");
const PDF: (Format, &str) = (Format::Pdf, "application/pdf");

impl LabSite {
    fn choices(&self) -> Value {
        json!({
            "first": self.first,
            "offered": self.offered,
            "shipped": list::shipped(),
            "workloads": workloads(),
            "program": self.program,
            "programs": self.programs,
            "changes": CHANGES.map(|(name, what, _)| json!({ "name": name, "what": what })),
            "version": env!("CARGO_PKG_VERSION"),
        })
    }

    fn command(&self, query: &str, question: Question) -> Command {
        State::read(query, &self.offered).map(|state| state.command(question)).map_err(wrong)
    }

    fn iteration(&self, query: &str) -> Command {
        IterationState::read(query, &self.offered).map(|state| state.command()).map_err(wrong)
    }

    fn program(&self, query: &str) -> Command {
        ProgramState::read(query, (&self.offered, &self.programs, &self.dropped))
            .map(|state| state.command())
            .map_err(wrong)
    }

    /// Keeps a file, aside: it may be large.
    async fn keep(&self, query: &str, body: Bytes) -> Answer {
        let name = pairs(query).ok().and_then(|pairs| pairs.into_iter().find(|(name, _)| name == "name"));
        let Some((_, name)) = name else { return wrong(StateError::Missing("name")) };
        let dropped = Arc::clone(&self.dropped);
        match tokio::task::spawn_blocking(move || dropped.keep(&name, &body)).await {
            Ok(Ok(name)) => object(&json!({ "program": name })),
            Ok(Err(failure)) => refused(StatusCode::UNPROCESSABLE_ENTITY, failure.told()),
            Err(_) => Answer::text(StatusCode::INTERNAL_SERVER_ERROR, "the file could not be kept\n"),
        }
    }

    async fn question(&self, command: Command) -> Result<Answer, Answer> {
        let command = command?;
        let words = json!(self.dropped.told(&shell_words(&command)));
        let found = self.found(command).await?;
        // The command's JSON as it is, but for temporary paths: nothing in between can change a figure.
        let body = self.dropped.told(&format!("{{\"command\":{words},\"answer\":{}}}", found.text));
        Ok(Answer::new(StatusCode::OK, "application/json", body))
    }

    async fn plot(&self, command: Command, (format, sort): (Format, &'static str)) -> Result<Answer, Answer> {
        let found = self.found(command?).await?;
        match found.drawing.as_ref().map(|drawing| format.write(drawing)) {
            Some(Ok(bytes)) => Ok(Answer::new(StatusCode::OK, sort, bytes)),
            _ => Err(Answer::text(StatusCode::INTERNAL_SERVER_ERROR, "there is no picture\n")),
        }
    }

    /// What `--report` writes.
    async fn page(&self, command: Command, name: &str) -> Result<Answer, Answer> {
        let mut command = command?;
        command.extend(["--report", name].map(str::to_owned));
        let html = self.dropped.told(&self.found(command).await?.text);
        Ok(Answer::new(StatusCode::OK, "text/html; charset=utf-8", html))
    }

    async fn toml(&self, query: &str) -> Result<Answer, Answer> {
        let found = self.found(self.command(query, Question::Describe)?).await?;
        Ok(Answer::new(StatusCode::OK, "application/toml", found.toml.clone().unwrap_or_default()))
    }

    async fn found(&self, command: Vec<String>) -> Result<Arc<Found>, Answer> {
        let found = self.simulator.ask(command).await;
        found.map_err(|why| refused(StatusCode::UNPROCESSABLE_ENTITY, self.dropped.told(&why)))
    }
}

fn wrong(error: StateError) -> Answer {
    refused(StatusCode::BAD_REQUEST, error.to_string())
}

fn refused(status: StatusCode, why: String) -> Answer {
    Answer::new(status, "text/plain; charset=utf-8", why)
}

fn object(value: &Value) -> Answer {
    Answer::new(StatusCode::OK, "application/json", value.to_string())
}

/// What each parameter means, by its path.
fn fields() -> Value {
    let field = |one: ConfigField| {
        let choices: Vec<_> = one.choices.iter().map(|(name, means)| json!({ "name": name, "means": means })).collect();
        let all = json!({ "words": one.words, "meaning": one.meaning, "takes": one.takes, "choices": choices });
        (one.path, all)
    };
    config::fields().into_iter().map(field).collect()
}
