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
    dropped::LARGEST,
    inside::Inside,
    query::{Offered, StateError, pairs},
    simulator::Simulator,
    state::{Question, State},
    workloads::workloads,
};
use crate::{
    cli::{
        list,
        loopback::{Answer, Asked, Site},
        page::shell_words,
    },
    config::{self, ConfigField},
    explore::levers::LEAST,
    replay::CHANGES,
    report::{html::lab, plot::Format},
};
use hyper::{Method, StatusCode, body::Bytes};
use serde_json::{Value, json};
use std::sync::Arc;

pub struct LabSite {
    pub simulator: Arc<Simulator>,
    pub offered: Offered,
    /// The state that the page begins with.
    pub first: String,
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
                    State::read(Question::Quick, query, &self.offered).map(|state| state.watched()).map_err(wrong)
                })
                .await;
        }
        if (method, path) == (&Method::POST, "drop") {
            return self.keep(query, body.clone()).await;
        }
        if method != Method::GET {
            return Answer::refused_method();
        }
        if let Some((sort, text)) = lab::file(path) {
            return Answer::new(StatusCode::OK, sort, text).with_policy(lab::POLICY);
        }
        match path {
            "choices" => object(&self.choices()),
            "fields" => object(&fields()),
            _ => self.told(path, query).await.unwrap_or_else(|refused| refused),
        }
    }
}

impl LabSite {
    fn choices(&self) -> Value {
        json!({
            "first": self.first,
            "offered": self.offered.files,
            "shipped": list::shipped(),
            "libraries": config::libraries().collect::<Vec<_>>(),
            "least_gain": LEAST,
            "workloads": workloads(),
            "program": self.program,
            "programs": self.offered.programs,
            "changes": CHANGES.map(|(name, what, _)| json!({ "name": name, "what": what })),
            "version": env!("CARGO_PKG_VERSION"),
        })
    }

    /// Keeps a file, aside: it may be large.
    async fn keep(&self, query: &str, body: Bytes) -> Answer {
        let name = pairs(query).ok().and_then(|pairs| pairs.into_iter().find(|(name, _)| name == "name"));
        let Some((_, name)) = name else { return wrong(StateError::Missing("name")) };
        let dropped = Arc::clone(&self.offered.dropped);
        match tokio::task::spawn_blocking(move || dropped.keep(&name, &body)).await {
            Ok(Ok(name)) => object(&json!({ "program": name })),
            Ok(Err(failure)) => refused(StatusCode::UNPROCESSABLE_ENTITY, failure.told()),
            Err(_) => Answer::text(StatusCode::INTERNAL_SERVER_ERROR, "the file could not be kept\n"),
        }
    }

    /// The answer to a question, in the form that the ending of its name says.
    async fn told(&self, path: &str, query: &str) -> Result<Answer, Answer> {
        let (name, form) = path.split_once('.').unwrap_or((path, ""));
        let question = match (name, form) {
            ("plot", "svg" | "pdf" | "html") => Question::Curve,
            ("machine", "toml") => Question::Describe,
            ("workload" | "program", "svg" | "pdf" | "html") | ("run", "html") | (_, "") => {
                Question::ALL.into_iter().find(|question| question.name() == name).ok_or_else(Answer::none)?
            }
            _ => return Err(Answer::none()),
        };
        let mut command = State::read(question, query, &self.offered).map_err(wrong)?.command();
        // What `--report` writes.
        if form == "html" {
            command.extend(["--report", path].map(str::to_owned));
        }
        let words = json!(self.dropped(&shell_words(&command)));
        let found = self.found(command).await?;
        let (sort, body) = match form {
            "svg" => ("image/svg+xml", drawn(&found, Format::Svg)?),
            "pdf" => ("application/pdf", drawn(&found, Format::Pdf)?),
            "html" => ("text/html; charset=utf-8", self.dropped(&found.text).into()),
            "toml" => ("application/toml", found.toml.clone().unwrap_or_default().into()),
            // The command's JSON as it is, but for temporary paths: nothing in between can change a figure.
            _ => {
                ("application/json", self.dropped(&format!("{{\"command\":{words},\"answer\":{}}}", found.text)).into())
            }
        };
        Ok(Answer::new(StatusCode::OK, sort, body))
    }

    /// A text with own names in the place of temporary paths.
    fn dropped(&self, text: &str) -> String {
        self.offered.dropped.told(text)
    }

    async fn found(&self, command: Vec<String>) -> Result<Arc<Found>, Answer> {
        let found = self.simulator.ask(command).await;
        found.map_err(|why| refused(StatusCode::UNPROCESSABLE_ENTITY, self.dropped(&why)))
    }
}

fn drawn(found: &Found, format: Format) -> Result<Bytes, Answer> {
    match found.drawing.as_ref().map(|drawing| format.write(drawing)) {
        Some(Ok(bytes)) => Ok(bytes.into()),
        _ => Err(Answer::text(StatusCode::INTERNAL_SERVER_ERROR, "there is no picture\n")),
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
