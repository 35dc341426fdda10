//! The broker of one process: embedded mode and tests. Nothing leaves the process, and nothing outlives it.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::num::NonZeroU16;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use evalfarm_proto::{DELIVERY_LIMIT, Queue, Topology};
use tokio::sync::{Notify, mpsc};

use crate::consumer::{LISTENER_BACKLOG, Source};
use crate::delivery::{Hold, Onward};
use crate::{
    Broker, BrokerError, Consumer, DeadLetter, Delivery, Letter, Listener, PublishError, Settled,
};

/// Carries messages within one process. Waits need a tokio runtime with a timer.
#[derive(Debug, Clone)]
pub struct InProcessBroker {
    shared: Arc<Shared>,
}

struct Shared {
    topology: Topology,
    state: Mutex<State>,
    /// Something became ready, was settled, or everything was closed.
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    closed: bool,
    ready: BTreeMap<Queue, VecDeque<Entry>>,
    held: BTreeMap<u64, Held>,
    dead: VecDeque<DeadLetter>,
    listeners: Vec<mpsc::Sender<Letter>>,
    last_number: u64,
}

#[derive(Debug, Clone)]
struct Entry {
    letter: Letter,
    attempt: u32,
    returned: u32,
}

#[derive(Debug)]
struct Held {
    consumer: u64,
    queue: Queue,
    entry: Entry,
}

impl InProcessBroker {
    /// Returns a broker with empty queues and the topology's delays.
    pub fn new(topology: Topology) -> Self {
        let shared = Shared {
            topology,
            state: Mutex::default(),
            changed: Notify::new(),
        };
        let shared = Arc::new(shared);
        Self { shared }
    }
}

impl Shared {
    // No call leaves the state half changed, so a panic elsewhere does not spoil it.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, queue: Queue, entry: Entry) -> Result<(), PublishError> {
        let mut state = self.state();
        if state.closed {
            return Err(PublishError::Closed);
        }
        state.ready.entry(queue).or_default().push_back(entry);
        drop(state);
        self.changed.notify_waiters();
        Ok(())
    }

    fn give_back(&self, number: u64) {
        self.state().give_back(number);
        self.changed.notify_waiters();
    }
}

impl State {
    fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    fn give_back(&mut self, number: u64) {
        let Some(Held {
            queue, mut entry, ..
        }) = self.held.remove(&number)
        else {
            return;
        };
        entry.returned += 1;
        if entry.returned > DELIVERY_LIMIT {
            self.dead.push_back(DeadLetter {
                letter: entry.letter,
                attempt: entry.attempt,
                reason: "delivery_limit".to_owned(),
                queue: Some(queue),
            });
        } else {
            self.ready.entry(queue).or_default().push_front(entry);
        }
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

#[async_trait]
impl Broker for InProcessBroker {
    async fn publish(&self, queue: Queue, letter: &Letter) -> Result<(), PublishError> {
        letter.check()?;
        let entry = Entry {
            letter: letter.clone(),
            attempt: 1,
            returned: 0,
        };
        self.shared.push(queue, entry)
    }

    fn consume(&self, queue: Queue, prefetch: NonZeroU16) -> Consumer {
        let number = self.shared.state().next_number();
        Consumer(Box::new(InProcessSource {
            shared: Arc::clone(&self.shared),
            queue,
            prefetch: usize::from(prefetch.get()),
            number,
            stopped: false,
        }))
    }

    async fn broadcast(&self, letter: &Letter) -> Result<(), PublishError> {
        letter.check()?;
        let mut state = self.shared.state();
        if state.closed {
            return Err(PublishError::Closed);
        }
        // A full listener misses the message, a dropped one is forgotten.
        state.listeners.retain(|listener| {
            !matches!(
                listener.try_send(letter.clone()),
                Err(mpsc::error::TrySendError::Closed(_))
            )
        });
        Ok(())
    }

    fn listen(&self) -> Listener {
        let (sender, letters) = mpsc::channel(LISTENER_BACKLOG);
        let mut state = self.shared.state();
        if !state.closed {
            state.listeners.push(sender);
        }
        Listener { letters }
    }

    async fn declare(&self) -> Result<(), BrokerError> {
        Ok(())
    }

    async fn dead_letters(&self, most: usize) -> Result<Vec<DeadLetter>, BrokerError> {
        let state = self.shared.state();
        Ok(state.dead.iter().take(most).cloned().collect())
    }

    async fn revive(&self, id: &str) -> Result<usize, BrokerError> {
        let mut state = self.shared.state();
        let (revived, dead): (Vec<_>, Vec<_>) = std::mem::take(&mut state.dead)
            .into_iter()
            .partition(|dead| dead.letter.id == id);
        state.dead = dead.into();
        let count = revived.len();
        for dead in revived {
            let entry = Entry {
                letter: dead.letter,
                attempt: 1,
                returned: 0,
            };
            let queue = dead.queue.unwrap_or(Queue::Tasks);
            state.ready.entry(queue).or_default().push_back(entry);
        }
        drop(state);
        self.shared.changed.notify_waiters();
        Ok(count)
    }

    async fn close(&self) {
        let mut state = self.shared.state();
        state.closed = true;
        state.listeners.clear();
        drop(state);
        self.shared.changed.notify_waiters();
    }
}

#[derive(Debug)]
struct InProcessSource {
    shared: Arc<Shared>,
    queue: Queue,
    prefetch: usize,
    number: u64,
    stopped: bool,
}

impl InProcessSource {
    fn take(&self, state: &mut State) -> Option<Delivery> {
        let held = state
            .held
            .values()
            .filter(|held| held.consumer == self.number);
        if held.count() >= self.prefetch {
            return None;
        }
        let entry = state.ready.get_mut(&self.queue)?.pop_front()?;
        let number = state.next_number();
        let held = Held {
            consumer: self.number,
            queue: self.queue,
            entry: entry.clone(),
        };
        state.held.insert(number, held);
        let hold = InProcessHold {
            shared: Arc::clone(&self.shared),
            queue: self.queue,
            number,
        };
        let Entry {
            letter,
            attempt,
            returned,
        } = entry;
        Some(Delivery::new(letter, attempt, returned, Box::new(hold)))
    }
}

#[async_trait]
impl Source for InProcessSource {
    async fn next(&mut self) -> Option<Delivery> {
        loop {
            // Registered before looking, so that a change between looking and waiting is not missed.
            let changed = self.shared.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            {
                let mut state = self.shared.state();
                if self.stopped || state.closed {
                    return None;
                }
                if let Some(delivery) = self.take(&mut state) {
                    return Some(delivery);
                }
            }
            changed.await;
        }
    }

    async fn stop(&mut self) {
        self.stopped = true;
    }

    fn subscribed(&self) -> bool {
        !self.stopped && !self.shared.state().closed
    }
}

impl Drop for InProcessSource {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        let held = state.held.iter();
        let mine: Vec<u64> = held
            .filter(|(_, held)| held.consumer == self.number)
            .map(|(&number, _)| number)
            .collect();
        // The oldest ends in front.
        for number in mine.into_iter().rev() {
            state.give_back(number);
        }
        drop(state);
        self.shared.changed.notify_waiters();
    }
}

#[derive(Debug)]
struct InProcessHold {
    shared: Arc<Shared>,
    queue: Queue,
    number: u64,
}

#[async_trait]
impl Hold for InProcessHold {
    async fn ack(&self) -> Settled {
        let held = self.shared.state().held.remove(&self.number);
        self.shared.changed.notify_waiters();
        match held {
            Some(_) => Settled::Done,
            None => Settled::Lost,
        }
    }

    async fn pass_on(
        &self,
        letter: &Letter,
        attempt: u32,
        to: Onward<'_>,
    ) -> Result<(), PublishError> {
        let entry = Entry {
            letter: letter.clone(),
            attempt,
            returned: 0,
        };
        match to {
            Onward::Later(wait) => {
                let delay = self.shared.topology.tier(wait).delay;
                push_later(Arc::clone(&self.shared), self.queue, entry, delay);
            }
            Onward::Dead(reason) => self.shared.state().dead.push_back(DeadLetter {
                letter: entry.letter,
                attempt,
                reason: reason.to_owned(),
                queue: Some(self.queue),
            }),
        }
        Ok(())
    }

    fn give_back(&self) {
        self.shared.give_back(self.number);
    }
}

fn push_later(shared: Arc<Shared>, queue: Queue, entry: Entry, delay: Duration) {
    tokio::spawn(async move {
        tokio::time::sleep(delay).await;
        // A broker that was closed meanwhile delivers nothing any more.
        drop(shared.push(queue, entry));
    });
}
