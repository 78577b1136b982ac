//! HTTP on the loopback, for pages of this program.
//!
//! ```text
//!   listener --- at most CONNECTIONS at once, each a task --- token and names checked --- Site
//! ```
//!
//! One thread serves all. Whoever does not know the address, which holds a random token, finds nothing. A request that calls the server by another name
//! than the loopback's is refused, so that no page of the web can reach it by a name of its own; so is one that another page sends. What a stranger may take of the program is bounded:
//! connections, bytes and number of headers, the time until they are there, the time of a connection. A request has a body where its site takes one, of as many
//! bytes as it says; none waits for another. Where there are too many connections, one goes that has said nothing for a while, or is idle; where all are at work, the
//! next waits. A handler that panics ends its connection, and nothing else.

use super::Failure;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::{
    HeaderMap, Method, Request, Response, StatusCode,
    body::{Body, Bytes, Incoming},
    header::{self, HeaderName, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use miette::miette;
use std::{
    convert::Infallible,
    future::Future,
    hash::{BuildHasher, RandomState},
    io,
    net::{Ipv4Addr, TcpListener},
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};
use tokio::{
    net::TcpStream,
    runtime::Builder,
    sync::Notify,
    task::{AbortHandle, JoinHandle as Task, yield_now},
    time::{self, sleep, timeout},
};

/// Connections at once: a browser has six. So many leave descriptors for the files of a run where a process may have forty.
const CONNECTIONS: usize = 16;
/// Bytes of a request before its body.
const HEAD: usize = 16 << 10;
const HEADERS: usize = 64;
/// So long a request may take to come, from the connection's begin or the answer before it.
const GIVE_UP_AFTER: Duration = Duration::from_secs(10);
/// A connection that is older takes leave with its next answer.
const OLD: Duration = Duration::from_secs(60);
/// No connection is older.
const OLDEST: Duration = Duration::from_secs(120);
/// So long a body may take to come.
const BODY: Duration = Duration::from_secs(60);
/// So long nothing is accepted after the system has refused: it has no descriptors left, most likely.
const PAUSE: Duration = Duration::from_millis(50);
/// So long the last answers have to be sent.
const LAST: Duration = Duration::from_millis(300);
/// A connection that has been idle for so long ends.
const IDLE: Duration = Duration::from_secs(2);
/// One that says nothing for so long is the first to make room.
const SILENT: Duration = Duration::from_secs(1);

pub(super) trait Site: Send + Sync + 'static {
    /// How many bytes the body of such a request may have.
    fn takes(&self, _asked: Asked<'_>) -> usize {
        0
    }

    /// The answer to a request below the address. It must not block.
    fn answer(&self, asked: Asked<'_>) -> impl Future<Output = Answer> + Send;
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub method: &'a Method,
    /// What follows the address.
    pub path: &'a str,
    pub query: &'a str,
    pub body: &'a Bytes,
}

#[derive(Debug)]
pub(super) struct Answer {
    status: StatusCode,
    sort: &'static str,
    body: Bytes,
    policy: Option<String>,
}

impl Answer {
    /// With this body, of this media type.
    pub fn new(status: StatusCode, sort: &'static str, body: impl Into<Bytes>) -> Self {
        Self { status, sort, body: body.into(), policy: None }
    }

    pub fn text(status: StatusCode, text: &'static str) -> Self {
        Self::new(status, "text/plain; charset=utf-8", text)
    }

    pub fn done() -> Self {
        Self::new(StatusCode::NO_CONTENT, "text/plain", "")
    }

    /// There is no such thing.
    pub fn none() -> Self {
        Self::text(StatusCode::NOT_FOUND, "not found\n")
    }

    pub fn refused_method() -> Self {
        Self::text(StatusCode::METHOD_NOT_ALLOWED, "not by this method\n")
    }

    pub fn with_policy(self, policy: &str) -> Self {
        Self { policy: Some(policy.to_owned()), ..self }
    }

    fn response(self, closes: bool) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::new(self.body));
        *response.status_mut() = self.status;
        let mut headers = vec![
            (header::CONTENT_TYPE, self.sort),
            (header::CACHE_CONTROL, "no-store"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::REFERRER_POLICY, "no-referrer"),
            (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        ];
        headers.extend(self.policy.as_deref().map(|policy| (header::CONTENT_SECURITY_POLICY, policy)));
        headers.extend(closes.then_some((header::CONNECTION, "close")));
        let values = headers.into_iter().filter_map(|(name, value)| Some((name, HeaderValue::from_str(value).ok()?)));
        response.headers_mut().extend(values.collect::<HeaderMap>());
        response
    }
}

pub(super) struct Server {
    address: String,
    end: Arc<Notify>,
    thread: JoinHandle<()>,
}

struct ServerState<S> {
    /// By these names it may be called.
    hosts: [String; 2],
    /// What each path begins with.
    root: String,
    site: S,
}

struct Connection {
    state: Arc<Mutex<ConnectionState>>,
    /// Has it end with the answer that it gives; none if that has begun.
    graceful: Option<GracefulShutdown>,
    task: AbortHandle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConnectionState {
    /// It has not shown the token, since it is there.
    Stranger(Instant),
    Busy,
    /// It has had its last answer then.
    Idle(Instant),
}

impl Server {
    /// Serves a site from now on; at a free port if `port` is 0.
    pub fn begin(port: u16, site: impl Site) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let port = listener.local_addr()?.port();
        let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{port}"));
        let root = format!("/{}/", token());
        let address = format!("http://{}{root}", hosts[0]);
        let state = Arc::new(ServerState { hosts, root, site });
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        listener.set_nonblocking(true)?;
        let listener = {
            let _within = runtime.enter();
            tokio::net::TcpListener::from_std(listener)?
        };
        let end = Arc::new(Notify::new());
        let ended = Arc::clone(&end);
        let serve = move || {
            runtime.block_on(async move {
                let connections = Arc::default();
                let accepting = tokio::spawn(accept(listener, state, Arc::clone(&connections)));
                ended.notified().await;
                accepting.abort();
                _ = accepting.await;
                let ending: Vec<_> = locked(&connections).iter_mut().filter_map(Connection::end).collect();
                let last = time::Instant::now() + LAST;
                for one in ending {
                    _ = time::timeout_at(last, one).await;
                }
            });
            // A file that is still being kept is not waited for.
            runtime.shutdown_background();
        };
        let thread = thread::Builder::new().name("page".to_owned()).spawn(serve)?;
        Ok(Self { address, end, thread })
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    /// Serves what has come, and then nothing more. Whoever does not take an answer is not waited for.
    pub fn end(self) {
        self.end.notify_one();
        _ = self.thread.join();
    }
}

/// Takes connections for ever.
async fn accept<S: Site>(
    listener: tokio::net::TcpListener,
    state: Arc<ServerState<S>>,
    connections: Arc<Mutex<Vec<Connection>>>,
) {
    loop {
        while !has_room(&mut locked(&connections)) {
            sleep(PAUSE).await;
        }
        match timeout(SILENT, listener.accept()).await {
            Ok(Ok((stream, _))) => {
                make_room(&mut locked(&connections), CONNECTIONS);
                locked(&connections).push(receive(stream, Arc::clone(&state)));
                // Those that have been there get their turn, or their end.
                yield_now().await;
            }
            Ok(Err(_)) => {
                make_room(&mut locked(&connections), 1);
                sleep(PAUSE).await;
            }
            Err(_) => {}
        }
    }
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether one more may come, now or in the place of another. Those end that have been idle for long.
fn has_room(connections: &mut Vec<Connection>) -> bool {
    connections.retain(|connection| !connection.task.is_finished());
    for connection in connections.iter_mut() {
        if matches!(*locked(&connection.state), ConnectionState::Idle(since) if since.elapsed() > IDLE) {
            connection.end();
        }
    }
    connections.len() < CONNECTIONS || next_to_go(connections).is_some()
}

/// Lets one go if there are so many.
fn make_room(connections: &mut Vec<Connection>, most: usize) {
    let place = if connections.len() >= most { next_to_go(connections) } else { None };
    let Some(mut gone) = place.map(|place| connections.remove(place)) else { return };
    if matches!(*locked(&gone.state), ConnectionState::Stranger(_)) {
        gone.task.abort();
    } else {
        gone.end();
    }
}

/// One that has long said nothing, then the one that has been idle longest, then any that has not shown the token.
fn next_to_go(connections: &[Connection]) -> Option<usize> {
    let rank = |connection: &Connection| match *locked(&connection.state) {
        ConnectionState::Stranger(since) if since.elapsed() > SILENT => Some((0, since)),
        ConnectionState::Idle(since) => Some((1, since)),
        ConnectionState::Stranger(since) => Some((2, since)),
        ConnectionState::Busy => None,
    };
    let ranks = connections.iter().enumerate().filter_map(|(place, connection)| Some((rank(connection)?, place)));
    ranks.min().map(|(_, place)| place)
}

impl Connection {
    /// Has it end with the answer that it gives, unless that has begun.
    fn end(&mut self) -> Option<Task<()>> {
        self.graceful.take().map(|graceful| tokio::spawn(graceful.shutdown()))
    }
}

/// Serves a connection as a task of its own.
fn receive<S: Site>(stream: TcpStream, state: Arc<ServerState<S>>) -> Connection {
    let since = Instant::now();
    let shown = Arc::new(Mutex::new(ConnectionState::Stranger(since)));
    let shared = Arc::clone(&shown);
    let service = service_fn(move |request: Request<Incoming>| {
        let (state, shown) = (Arc::clone(&state), Arc::clone(&shared));
        async move {
            let answer = state.answer(request, &shown).await;
            let mut shown = locked(&shown);
            let is_stranger = matches!(*shown, ConnectionState::Stranger(_));
            if !is_stranger {
                *shown = ConnectionState::Idle(Instant::now());
            }
            Ok::<_, Infallible>(answer.response(is_stranger || since.elapsed() > OLD))
        }
    });
    let graceful = GracefulShutdown::new();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(GIVE_UP_AFTER).max_headers(HEADERS).max_buf_size(HEAD);
    let connection = graceful.watcher().watch(http.serve_connection(TokioIo::new(stream), service));
    let task = tokio::spawn(async move {
        // A peer that has gone, or does not talk HTTP, wants no answer.
        _ = timeout(OLDEST, pin!(connection)).await;
    });
    Connection { state: shown, graceful: Some(graceful), task: task.abort_handle() }
}

impl<S: Site> ServerState<S> {
    async fn answer(&self, request: Request<Incoming>, connection: &Mutex<ConnectionState>) -> Answer {
        // With two of them, whoever stands in between may have looked at the other one.
        let values = |name| request.headers().get_all(name).iter().map(HeaderValue::as_bytes).collect::<Vec<_>>();
        let is_own = |host: &[u8]| self.hosts.iter().any(|name| host == name.as_bytes());
        if !matches!(values(header::HOST)[..], [host] if is_own(host)) {
            return Answer::text(StatusCode::FORBIDDEN, "this server answers to the loopback's names only\n");
        }
        // A browser says which page a request comes from, if it is another one than the server's.
        let origins = values(header::ORIGIN);
        if origins.len() > 1 || !origins.iter().all(|origin| origin.strip_prefix(b"http://").is_some_and(is_own)) {
            return Answer::text(StatusCode::FORBIDDEN, "this server answers to its own page only\n");
        }
        let (head, body) = request.into_parts();
        let Some(path) = head.uri.path().strip_prefix(&self.root) else { return Answer::none() };
        *locked(connection) = ConnectionState::Busy;
        let query = head.uri.query().unwrap_or_default();
        let asked = Asked { method: &head.method, path, query, body: &Bytes::new() };
        if body.is_end_stream() {
            return self.site.answer(asked).await;
        }
        match self.site.takes(asked) {
            0 => Answer::text(StatusCode::PAYLOAD_TOO_LARGE, "requests have no body here\n"),
            most => match received(body, most).await {
                Ok(body) => self.site.answer(Asked { body: &body, ..asked }).await,
                Err(refused) => refused,
            },
        }
    }
}

/// A body of at most so many bytes.
async fn received(body: Incoming, most: usize) -> Result<Bytes, Answer> {
    let large = || Answer::text(StatusCode::PAYLOAD_TOO_LARGE, "the file is too large for this page\n");
    if body.size_hint().lower() > most as u64 {
        return Err(large());
    }
    match timeout(BODY, Limited::new(body, most).collect()).await {
        Ok(Ok(all)) => Ok(all.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(large()),
        Ok(Err(_)) => Err(Answer::text(StatusCode::BAD_REQUEST, "the file did not come to its end\n")),
        Err(_) => Err(Answer::text(StatusCode::REQUEST_TIMEOUT, "the file took too long to come\n")),
    }
}

/// A port that cannot be had. `names` are what asks for it, what to write for a free one, and for another one.
pub(super) fn refused((what, free, other): (&str, &str, &str), port: u16, error: &io::Error) -> Failure {
    let help = format!("{free} for a free port, or give another one as {other}");
    let text = match error.kind() {
        io::ErrorKind::AddrInUse => format!("{what}: port {port} is in use"),
        io::ErrorKind::PermissionDenied => format!("{what}: port {port} is not for everybody: {error}"),
        _ => format!("{what}: nothing can be served on 127.0.0.1: {error}"),
    };
    Failure::InputOutput(miette!(help = help, "{text}"))
}

/// 128 random bits in hexadecimal: a keyed hash whose key the system has drawn.
fn token() -> String {
    let random = RandomState::new();
    format!("{:016x}{:016x}", random.hash_one(0), random.hash_one(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        io::{Read, Write},
        net::TcpStream as Client,
    };

    struct Fragile;

    impl Site for Fragile {
        fn takes(&self, Asked { path, .. }: Asked<'_>) -> usize {
            if path == "five" { 5 } else { 0 }
        }

        async fn answer(&self, Asked { path, body, .. }: Asked<'_>) -> Answer {
            assert!(path != "panic", "as asked for");
            Answer::new(
                StatusCode::OK,
                "text/plain",
                if body.is_empty() { Bytes::from_static(b"well\n") } else { body.clone() },
            )
        }
    }

    /// What a server answers to this; nothing if it hangs up.
    fn ask(server: &Server, request: &str) -> String {
        let host = server.address().trim_start_matches("http://").split('/').next().unwrap();
        let mut client = Client::connect(host).unwrap();
        client.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // A server may hang up before all is sent.
        let _ = client.write_all(request.replace("HOST", host).as_bytes());
        let mut answer = Vec::new();
        let _ = client.read_to_end(&mut answer);
        String::from_utf8(answer).unwrap()
    }

    fn get(server: &Server, path: &str, more: &str) -> String {
        let root = server.address().rsplit('/').nth(1).unwrap();
        ask(server, &format!("GET /{root}/{path} HTTP/1.1\r\nHost: HOST\r\n{more}Connection: close\r\n\r\n"))
    }

    fn status(answer: &str) -> Option<u16> {
        answer.split(' ').nth(1)?.parse().ok()
    }

    #[test]
    fn a_handler_that_panics_ends_its_connection_only() {
        let server = Server::begin(0, Fragile).unwrap();
        for _ in 0..2 * CONNECTIONS {
            assert_eq!(get(&server, "panic", ""), "");
        }
        assert_eq!(status(&get(&server, "", "")), Some(200));
        server.end();
    }

    #[test]
    fn heads_and_bodies_are_bounded() {
        let server = Server::begin(0, Fragile).unwrap();
        let header = |length: usize| format!("X: {}\r\n", "a".repeat(length));
        assert_eq!(status(&get(&server, "", &header(HEAD / 2))), Some(200));
        assert_eq!(status(&get(&server, "", &header(HEAD))), Some(431));
        assert_eq!(status(&get(&server, "", &header(1).repeat(HEADERS))), Some(431));
        assert_eq!(status(&get(&server, "", "Content-Length: 0\r\n")), Some(200));
        assert_eq!(status(&get(&server, "", "Content-Length: 99999999999999\r\n")), Some(413));
        assert_eq!(status(&get(&server, "", "Content-Length: 99999999999999999999\r\n")), Some(400));
        assert_eq!(status(&get(&server, "", "Transfer-Encoding: chunked\r\n")), Some(413));
        assert_eq!(status(&ask(&server, "nonsense\r\n\r\n")), Some(400));
        let sent = |body: &str| get(&server, "five", body);
        assert!(sent("Content-Length: 5\r\nConnection: close\r\n\r\nabcde").ends_with("\r\n\r\nabcde"));
        assert!(sent("Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\nab\r\n0\r\n").ends_with("ab"));
        assert_eq!(status(&sent("Content-Length: 6\r\nConnection: close\r\n\r\nabcdef")), Some(413));
        assert_eq!(
            status(&sent("Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n6\r\nabcdef\r\n0\r\n")),
            Some(413)
        );
        server.end();
    }

    #[test]
    fn connections_that_say_nothing_make_room_for_those_that_know_the_token() {
        let server = Server::begin(0, Fragile).unwrap();
        let host = server.address().trim_start_matches("http://").split('/').next().unwrap();
        let idle: Vec<_> = (0..10 * CONNECTIONS).map(|_| Client::connect(host).unwrap()).collect();
        let begun = Instant::now();
        assert_eq!(status(&get(&server, "", "")), Some(200));
        assert!(begun.elapsed() < GIVE_UP_AFTER / 2);
        drop(idle);
        server.end();
    }

    #[test]
    fn an_end_does_not_wait_for_those_who_take_nothing() {
        let server = Server::begin(0, Fragile).unwrap();
        let host = server.address().trim_start_matches("http://").split('/').next().unwrap();
        let mut slow = Client::connect(host).unwrap();
        slow.write_all(b"GET / HTTP/1.1\r\n").unwrap();
        let begun = Instant::now();
        server.end();
        assert!(begun.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn tokens_differ_and_are_long() {
        let tokens = [token(), token()];
        assert!(tokens[0] != tokens[1] && tokens.iter().all(|token| token.len() == 32));
    }

    #[test]
    fn a_port_that_is_taken_is_an_error() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let begun = Server::begin(taken.local_addr().unwrap().port(), Fragile);
        assert_eq!(begun.err().map(|error| error.kind()), Some(io::ErrorKind::AddrInUse));
    }
}
