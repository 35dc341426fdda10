//! Following a job to its end, over as many connections as it takes.

use std::io::{self, BufReader};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use evalfarm_coordinator::api::JobStatus;
use evalfarm_domain::JobId;

use super::client::Client;
use super::error::FarmError;
use super::events::Events;

/// A coordinator that cannot be reached for this long is given up. It is longer than a restart takes.
const GIVE_UP: Duration = Duration::from_mins(10);
/// A coordinator that is starting again may not know its jobs yet. One that does not know them for this long will not.
const FORGOTTEN: Duration = Duration::from_mins(1);
/// Pauses between attempts to reach it: the first, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));

/// What is known of a followed job.
#[derive(Debug)]
pub(crate) enum Update {
    /// How far it is.
    Status(Box<JobStatus>),
    /// The connection is gone and is being made again.
    Lost,
    /// It cannot be followed any longer.
    Failed(FarmError),
}

/// Sends updates of a job until it is over, until it cannot be followed, or until nobody listens.
pub(crate) fn follow(client: &Client, job: &JobId, updates: &Sender<Update>) {
    let mut met = false;
    let mut heard = Instant::now();
    let mut pause = PAUSES.0;
    loop {
        let before = heard;
        let ended = listen(client, job, &mut heard, updates);
        met |= heard > before;
        let gone = match ended {
            Ok(Ending::Over | Ending::NobodyListens) => return,
            Ok(Ending::Closed) if heard.elapsed() < GIVE_UP => None,
            Ok(Ending::Closed) => Some(client.broken_off(io::ErrorKind::UnexpectedEof.into())),
            Err(error) => Some(error),
        };
        if heard > before {
            pause = PAUSES.0;
        }
        if let Some(error) = gone {
            // A first attempt that fails is a mistake in the address more often than a restart.
            let passes = met && heard.elapsed() < patience(&error);
            let update = if passes {
                Update::Lost
            } else {
                Update::Failed(error)
            };
            if updates.send(update).is_err() || !passes {
                return;
            }
        }
        thread::sleep(pause);
        pause = (pause * 2).min(PAUSES.1);
    }
}

/// Returns how long an error is taken for one that passes.
fn patience(error: &FarmError) -> Duration {
    if error.may_pass() {
        GIVE_UP
    } else if error.is_not_found() {
        FORGOTTEN
    } else {
        Duration::ZERO
    }
}

enum Ending {
    /// The job is over.
    Over,
    /// The stream ended before the job.
    Closed,
    /// The receiver is gone.
    NobodyListens,
}

/// Listens over one connection. `heard` becomes the time of the last status.
fn listen(
    client: &Client,
    job: &JobId,
    heard: &mut Instant,
    updates: &Sender<Update>,
) -> Result<Ending, FarmError> {
    let stream = client.open(&["jobs", job.as_str(), "events"], u64::MAX)?;
    let mut events = Events::new(BufReader::new(stream));
    while let Some(event) = events.next().map_err(|error| client.broken_off(error))? {
        if event.kind != "status" {
            continue;
        }
        let status: JobStatus =
            serde_json::from_str(&event.data).map_err(|error| client.misunderstood(error))?;
        *heard = Instant::now();
        let over = status.state.is_over();
        if updates.send(Update::Status(Box::new(status))).is_err() {
            return Ok(Ending::NobodyListens);
        }
        if over {
            return Ok(Ending::Over);
        }
    }
    Ok(Ending::Closed)
}
