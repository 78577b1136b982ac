//! HTTP on the loopback, for one page.
//!
//! Whoever does not know the address, which holds a random token, finds nothing. A request that calls the server by another name than the loopback's is
//! refused, so that no page of the web can reach it by a name of its own.

use super::desk::{Desk, Order};
use crate::report::html::LivePage;
use std::{
    hash::{BuildHasher, RandomState},
    io,
    net::{Ipv4Addr, TcpListener},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};
use tiny_http::{Header, Method, Request, Response, ResponseBox, StatusCode};

/// So long the last answers have to be sent.
const LAST: Duration = Duration::from_millis(300);

/// A server at work.
pub struct Server {
    http: Arc<tiny_http::Server>,
    address: String,
    site: Arc<Site>,
}

/// What its threads share.
struct Site {
    /// By these names it may be called.
    hosts: [String; 2],
    /// What each path begins with.
    root: String,
    page: LivePage,
    desk: Arc<Desk>,
}

impl Server {
    /// Serves a page from now on; at a free port if `port` is 0.
    ///
    /// # Errors
    /// If the port cannot be had.
    pub fn begin(port: u16, page: LivePage, desk: &Arc<Desk>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let port = listener.local_addr()?.port();
        let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{port}"));
        let root = format!("/{}/", token());
        let address = format!("http://{}{root}", hosts[0]);
        let http = Arc::new(tiny_http::Server::from_listener(listener, None).map_err(io::Error::other)?);
        let site = Arc::new(Site { hosts, root, page, desk: Arc::clone(desk) });
        let server = Self { http, address, site };
        let (http, site) = (Arc::clone(&server.http), Arc::clone(&server.site));
        thread::Builder::new().name("live".to_owned()).spawn(move || serve(&http, &site))?;
        Ok(server)
    }

    /// Where the page is.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Serves what has come, and then nothing more. Whoever does not take an answer is not waited for.
    pub fn end(self) {
        self.http.unblock();
        let begun = Instant::now();
        while Arc::strong_count(&self.site) > 1 && begun.elapsed() < LAST {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Serves each request on a thread of its own: one may wait for the run, or for a client that sends no more.
fn serve(http: &tiny_http::Server, site: &Arc<Site>) {
    for request in http.incoming_requests() {
        let site = Arc::clone(site);
        // Without a thread there is no answer.
        _ = thread::Builder::new().spawn(move || site.serve(request));
    }
}

/// 128 random bits in hexadecimal: a keyed hash whose key the system has drawn.
fn token() -> String {
    let random = RandomState::new();
    format!("{:016x}{:016x}", random.hash_one(0), random.hash_one(1))
}

impl Site {
    fn serve(&self, request: Request) {
        let host = request.headers().iter().find(|header| header.field.equiv("Host"));
        let is_known = host.is_some_and(|host| self.hosts.iter().any(|known| known == host.value.as_str()));
        let path = request.url().strip_prefix(&self.root).map(str::to_owned);
        match (is_known, path) {
            (false, _) => answer(request, text(403, "this server answers to the loopback's names only\n")),
            (true, None) => answer(request, text(404, "not found\n")),
            (true, Some(path)) => self.route(&path, request),
        }
    }

    fn route(&self, path: &str, request: Request) {
        match (request.method(), path) {
            (Method::Get, "") => {
                let page = sized(200, "text/html; charset=utf-8", self.page.html.clone());
                answer(request, with(page, "Content-Security-Policy", &self.page.policy));
            }
            (Method::Get, "state") => self.state(request),
            (Method::Post, path) => match order(path) {
                // The program may end with the last order, and is not to take its answer along.
                Some(Order::Close) => {
                    answer(request, done());
                    self.desk.order(Order::Close);
                }
                Some(order) => {
                    self.desk.order(order);
                    answer(request, done());
                }
                None => answer(request, text(404, "not found\n")),
            },
            _ if path.is_empty() || path == "state" || order(path).is_some() => {
                answer(request, text(405, "not by this method\n"));
            }
            _ => answer(request, text(404, "not found\n")),
        }
    }

    fn state(&self, request: Request) {
        let state = self.desk.ask();
        match serde_json::to_string(&state) {
            Ok(json) => answer(request, sized(200, "application/json", json)),
            Err(error) => answer(request, text(500, &format!("{error}\n"))),
        }
        self.desk.told(&state);
    }
}

fn order(path: &str) -> Option<Order> {
    Some(match path {
        "pause" => Order::Pause,
        "go" => Order::Go,
        "step" => Order::Step,
        "record" => Order::Record,
        "close" => Order::Close,
        _ => return None,
    })
}

fn done() -> ResponseBox {
    sized(204, "text/plain", String::new())
}

fn text(status: u16, text: &str) -> ResponseBox {
    sized(status, "text/plain; charset=utf-8", text.to_owned())
}

fn sized(status: u16, sort: &str, body: String) -> ResponseBox {
    let response = Response::from_string(body).with_status_code(StatusCode(status)).boxed();
    let headers = [
        ("Content-Type", sort),
        ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    ];
    headers.into_iter().fold(response, |response, (name, value)| with(response, name, value))
}

fn with(response: ResponseBox, name: &str, value: &str) -> ResponseBox {
    match Header::from_bytes(name, value) {
        Ok(header) => response.with_header(header),
        Err(()) => response,
    }
}

/// A reader that has gone wants no answer.
fn answer(request: Request, response: ResponseBox) {
    _ = request.respond(response);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ_and_are_long() {
        let tokens = [token(), token()];
        assert!(tokens[0] != tokens[1] && tokens.iter().all(|token| token.len() == 32));
    }

    #[test]
    fn a_port_that_is_taken_is_an_error() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        let begun = Server::begin(port, LivePage::new("m"), &Arc::new(Desk::new(false)));
        assert_eq!(begun.err().map(|error| error.kind()), Some(io::ErrorKind::AddrInUse));
    }
}
