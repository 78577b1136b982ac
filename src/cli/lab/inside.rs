//! A run to look inside, begun from the page: one at a time, in a thread of its own, with the page and the orders of `run --live`.

use super::simulator::Waits;
use crate::{
    cli::{
        Arguments, Verb,
        loopback::{Answer, Asked, Site},
        run::{self, Desk, LiveSite},
    },
    report::html::LivePage,
};
use clap::Parser;
use hyper::{Method, StatusCode};
use std::{
    sync::{Arc, Mutex, PoisonError},
    thread,
};

/// The run that was begun last, if there is one.
#[derive(Default)]
pub struct Inside(Mutex<Option<Running>>);

struct Running {
    site: Arc<LiveSite>,
    _stop: Waits,
}

impl Inside {
    /// The answer to a request; `command` makes one of a state's query.
    pub async fn answer(&self, asked: Asked<'_>, command: impl FnOnce(&str) -> Result<Vec<String>, Answer>) -> Answer {
        if (asked.method, asked.path) == (&Method::POST, "begin") {
            return match command(asked.query) {
                Ok(command) => self.begin(command),
                Err(refused) => refused,
            };
        }
        let site = {
            let running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            running.as_ref().map(|running| Arc::clone(&running.site))
        };
        match site {
            Some(site) => site.answer(asked).await,
            None => Answer::none(),
        }
    }

    /// Begins a run, paused. The one before is stopped.
    fn begin(&self, command: Vec<String>) -> Answer {
        let failed = Answer::text(StatusCode::INTERNAL_SERVER_ERROR, "no run could be begun\n");
        let parsed = Arguments::try_parse_from(&command).map(|arguments| arguments.verb);
        let Ok(Some(Verb::Run(arguments))) = parsed else { return failed };
        let (desk, stop) = (Arc::new(Desk::new(true)), Waits::default());
        let page = LivePage::new(command.get(2).map_or("", String::as_str));
        let site = Arc::new(LiveSite { page, desk: Arc::clone(&desk) });
        let stopped = stop.0.clone();
        let thread = thread::Builder::new().name("inside".to_owned());
        if thread.spawn(move || run::watched(&arguments, &desk, &stopped)).is_err() {
            return failed;
        }
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Running { site, _stop: stop });
        Answer::done()
    }
}
