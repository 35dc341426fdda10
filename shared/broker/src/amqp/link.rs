//! One connection that comes back. lapin's own recovery is not used: each of its last releases fixed a fault in it.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_core::Stream;
use lapin::uri::AMQPUri;
use lapin::{Connection, ConnectionProperties, Event};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::backoff::{Backoff, HEALTHY};
use super::settings::AmqpSettings;
use crate::error::Cause;

/// How often a connection is looked at, beside the events it sends.
const TICK: Duration = Duration::from_millis(500);

/// A supervised connection.
#[derive(Debug)]
pub(super) struct Link {
    state: watch::Receiver<State>,
    blocked: watch::Receiver<Option<String>>,
    /// Dropping it stops the supervisor too.
    stop: watch::Sender<bool>,
    close_limit: Duration,
}

#[derive(Debug, Clone)]
enum State {
    Down(Option<Arc<lapin::Error>>),
    Up(Arc<Connection>),
    Closed,
}

/// The link was closed on this side.
#[derive(Debug)]
pub(super) struct LinkClosed;

struct Supervisor {
    uri: AMQPUri,
    name: String,
    settings: AmqpSettings,
    state: watch::Sender<State>,
    blocked: watch::Sender<Option<String>>,
    stop: watch::Receiver<bool>,
}

impl Link {
    /// Starts to connect, and returns at once.
    pub(super) fn start(uri: AMQPUri, settings: &AmqpSettings, role: &str) -> Self {
        let (state_sender, state) = watch::channel(State::Down(None));
        let (blocked_sender, blocked) = watch::channel(None);
        let (stop, stop_receiver) = watch::channel(false);
        let supervisor = Supervisor {
            uri,
            name: format!("{} ({role})", settings.name),
            settings: settings.clone(),
            state: state_sender,
            blocked: blocked_sender,
            stop: stop_receiver,
        };
        tokio::spawn(supervisor.run());
        Self {
            state,
            blocked,
            stop,
            close_limit: settings.close_limit,
        }
    }

    /// Waits until there is a connection.
    pub(super) async fn up(&self) -> Result<Arc<Connection>, LinkClosed> {
        let mut state = self.state.clone();
        let settled = state
            .wait_for(|state| !matches!(state, State::Down(_)))
            .await;
        match settled.as_deref() {
            Ok(State::Up(connection)) => Ok(Arc::clone(connection)),
            _ => Err(LinkClosed),
        }
    }

    /// Returns why the last try to connect failed, if it did and no later one succeeded.
    pub(super) fn trouble(&self) -> Option<Cause> {
        match &*self.state.borrow() {
            State::Down(Some(error)) => Some(Box::new(Arc::clone(error))),
            State::Down(None) | State::Up(_) | State::Closed => None,
        }
    }

    /// Returns why the broker accepts no messages on this connection, if it said so.
    pub(super) fn blocked(&self) -> Option<String> {
        self.blocked.borrow().clone()
    }

    /// Closes the connection and waits for that, up to the limit.
    pub(super) async fn close(&self) {
        self.stop.send_replace(true);
        let mut state = self.state.clone();
        let closed = state.wait_for(|state| matches!(state, State::Closed));
        // A connection that does not close in time is dropped with its process.
        drop(timeout(self.close_limit, closed).await);
    }
}

impl Supervisor {
    async fn run(mut self) {
        let mut backoff = Backoff::new();
        while !self.stopped() {
            let started = Instant::now();
            if let Some(connection) = self.connect().await {
                self.watch(&connection).await;
                if self.stopped() {
                    let close = connection.close(200, "closed".into());
                    // An error here says that the connection is gone already.
                    drop(timeout(self.settings.close_limit, close).await);
                    break;
                }
                self.state.send_replace(State::Down(None));
            }
            self.blocked.send_replace(None);
            if started.elapsed() > HEALTHY {
                backoff = Backoff::new();
            }
            let mut stop = self.stop.clone();
            tokio::select! {
                () = sleep(backoff.wait()) => {}
                () = reached(&mut stop, |&stop| stop) => {}
            }
        }
        self.state.send_replace(State::Closed);
    }

    fn stopped(&self) -> bool {
        *self.stop.borrow() || self.stop.has_changed().is_err()
    }

    async fn connect(&self) -> Option<Arc<Connection>> {
        let properties =
            ConnectionProperties::default().with_connection_name(self.name.as_str().into());
        let connect = Connection::connect_uri(self.uri.clone(), properties);
        let mut stop = self.stop.clone();
        let connected = tokio::select! {
            connected = timeout(self.settings.connect_limit, connect) => connected,
            () = reached(&mut stop, |&stop| stop) => return None,
        };
        match connected {
            Ok(Ok(connection)) => Some(Arc::new(connection)),
            Ok(Err(error)) => {
                self.state.send_replace(State::Down(Some(Arc::new(error))));
                None
            }
            Err(_) => {
                self.state.send_replace(State::Down(None));
                None
            }
        }
    }

    /// Returns when the connection is lost or the link is stopped.
    async fn watch(&mut self, connection: &Arc<Connection>) {
        let mut events = Box::pin(connection.events_listener());
        self.state.send_replace(State::Up(Arc::clone(connection)));
        let mut stop = self.stop.clone();
        while connection.status().connected() {
            tokio::select! {
                event = next(&mut events) => match event {
                    Some(Event::ConnectionBlocked(reason)) => { self.blocked.send_replace(Some(reason)); }
                    Some(Event::ConnectionUnblocked) => { self.blocked.send_replace(None); }
                    Some(_) => {}
                    None => return,
                },
                () = sleep(TICK) => {}
                () = reached(&mut stop, |&stop| stop) => return,
            }
        }
    }
}

/// Waits until a watched value is as wanted, or nobody can change it any more.
pub(super) async fn reached<T>(watched: &mut watch::Receiver<T>, wanted: impl FnMut(&T) -> bool) {
    drop(watched.wait_for(wanted).await);
}

/// Waits for the next item of a stream.
pub(super) async fn next<S: Stream + Unpin>(stream: &mut S) -> Option<S::Item> {
    std::future::poll_fn(|context| Pin::new(&mut *stream).poll_next(context)).await
}
