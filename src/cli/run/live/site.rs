//! What is served of a run: its page, its state, and orders to it.

use super::desk::{Desk, Order};
use crate::{
    cli::loopback::{Answer, Asked, Site},
    report::html::LivePage,
};
use hyper::StatusCode;
use std::sync::Arc;

pub(in crate::cli) struct LiveSite {
    pub page: LivePage,
    pub desk: Arc<Desk>,
}

impl Site for LiveSite {
    async fn answer(&self, Asked { method, path, .. }: Asked<'_>) -> Answer {
        let order = Order::ALL.into_iter().find(|order| order.name() == path);
        match (method.as_str(), path) {
            ("GET", "") => Answer::new(StatusCode::OK, "text/html; charset=utf-8", self.page.html.clone())
                .with_policy(&self.page.policy),
            ("GET", "state") => self.state().await,
            ("POST", _) => order.map_or_else(Answer::none, |order| {
                self.desk.order(order);
                Answer::done()
            }),
            (_, "" | "state") => Answer::refused_method(),
            _ => order.map_or_else(Answer::none, |_| Answer::refused_method()),
        }
    }
}

impl LiveSite {
    async fn state(&self) -> Answer {
        let state = self.desk.ask().await;
        let answer = match serde_json::to_string(&state) {
            Ok(json) => Answer::new(StatusCode::OK, "application/json", json),
            Err(_) => Answer::text(StatusCode::INTERNAL_SERVER_ERROR, "the state cannot be written\n"),
        };
        self.desk.told(&state);
        answer
    }
}
