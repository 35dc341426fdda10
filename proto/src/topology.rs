//! Which queues there are, what they are called and what a broker has to be told about them.
//!
//! ```text
//! P.tasks.v1      coordinator → workers    quorum; deliveries are bounded; what exceeds the bound → P.dead.v1
//! P.events.v1     workers → coordinator    the same
//! P.retry.D.v1    a queue for each delay D (and an exchange of its name): after D back to the queue it came from
//! P.dead.v1       what nobody will try again, until an operator looks
//! P.control.v1    coordinator → every worker: an exchange that copies to one short-lived queue for each worker
//! ```
//!
//! `P` is a prefix, `evalfarm` unless several farms or tests share a broker. Arguments of a queue are part of its version: a
//! broker refuses to declare a queue again with others, so a change of arguments is a new name.
//!
//! **One lane for all jobs.** A job of 200,000 tasks must not stand before a job of 200. Priorities do not help (quorum
//! queues ignore them before RabbitMQ 4, and starve from 4.3), and a queue for each job would have every worker
//! consume from queues that come and go. So the queue is kept short instead: the coordinator publishes a bounded window of
//! each job's tasks, a few for each slot of the farm, and refills it as events come in; what it publishes next is its
//! choice, and that is where jobs share. Names `P.tasks.LANE.v1` stay free for lanes, should one ever be needed.
//!
//! **One queue for each delay**, because a message's own time to live is only looked at when it is at the head: a short delay
//! would wait behind a long one.

use std::time::Duration;

/// Deliveries of one message that the broker allows beyond the first before it gives up: the backstop for messages that
/// kill whoever takes them. Ordinary retries are counted by us, in a header.
pub const DELIVERY_LIMIT: u32 = 10;

/// Of the dead-letter queue, which operators read by taking and returning: high enough to never matter. RabbitMQ 4's
/// default of 20 would drop what was looked at too often, and RabbitMQ 3.10 refuses -1.
const DEAD_DELIVERY_LIMIT: u32 = 1_000_000_000;

/// Delays of the retry queues unless others are asked for. Every process of a farm has to have the same.
pub const DEFAULT_DELAYS: [Duration; 3] = [
    Duration::from_secs(1),
    Duration::from_secs(10),
    Duration::from_mins(1),
];

/// A queue that processes consume from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Queue {
    /// Work for whichever worker is free.
    Tasks,
    /// News for the coordinator.
    Events,
}

/// A topology that cannot be declared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TopologyError {
    /// The prefix has other characters than `a-z0-9._-`, or is empty or longer than 100 bytes.
    #[error("queue prefix `{prefix}` is not 1 to 100 of the characters `a-z0-9._-`")]
    Prefix {
        /// The rejected prefix.
        prefix: String,
    },
    /// The delays are empty, not ascending, or not between 1 ms and one day.
    #[error("delays {delays:?} are not ascending, from 1 ms to one day, at least one")]
    Delays {
        /// The rejected delays.
        delays: Vec<Duration>,
    },
}

/// One delay after which messages come back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryTier {
    /// Name of its queue, and of the exchange before it.
    pub name: String,
    /// How long messages stay.
    pub delay: Duration,
}

/// What a broker is told about a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueSpec {
    /// Its name.
    pub name: String,
    /// Deliveries beyond the first, where they are bounded.
    pub delivery_limit: Option<u32>,
    /// How long messages stay, where they leave by themselves.
    pub ttl: Option<Duration>,
    /// Where messages go that leave without being acknowledged. Always by way of the default exchange, which cannot be missing.
    pub dead_letter: Option<DeadLetterTo>,
}

/// Where dead-lettered messages go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeadLetterTo {
    /// To this queue.
    Queue(String),
    /// To the queue named by the routing key with which they were published.
    RoutingKey,
}

/// What a broker is told about an exchange; all of ours copy to every queue bound to them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExchangeSpec {
    /// Its name.
    pub name: String,
    /// The durable queue bound to it, if any.
    pub queue: Option<String>,
}

/// The queues of one farm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology {
    prefix: String,
    tiers: Vec<RetryTier>,
}

impl Default for Topology {
    /// Returns the farm `evalfarm`, with delays of 1, 10 and 60 seconds.
    fn default() -> Self {
        Self::new("evalfarm", &DEFAULT_DELAYS).expect("the defaults are checked by a test")
    }
}

impl Topology {
    /// Returns the topology of a prefix with ascending retry delays, in whole milliseconds.
    pub fn new(prefix: &str, delays: &[Duration]) -> Result<Self, TopologyError> {
        let allowed =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(&byte);
        if prefix.is_empty() || prefix.len() > 100 || !prefix.bytes().all(allowed) {
            let prefix = prefix.to_owned();
            return Err(TopologyError::Prefix { prefix });
        }
        let bounds = Duration::from_millis(1)..=Duration::from_hours(24);
        let whole = |delay: &Duration| delay.subsec_nanos().is_multiple_of(1_000_000);
        let ascending = delays.is_sorted_by(|one, next| one < next);
        let each = delays
            .iter()
            .all(|delay| bounds.contains(delay) && whole(delay));
        if delays.is_empty() || !ascending || !each {
            let delays = delays.to_vec();
            return Err(TopologyError::Delays { delays });
        }
        let tier = |&delay: &Duration| RetryTier {
            name: format!("{prefix}.retry.{}.v1", label(delay)),
            delay,
        };
        Ok(Self {
            prefix: prefix.to_owned(),
            tiers: delays.iter().map(tier).collect(),
        })
    }

    /// Returns the name of a queue.
    pub fn queue(&self, queue: Queue) -> String {
        match queue {
            Queue::Tasks => format!("{}.tasks.v1", self.prefix),
            Queue::Events => format!("{}.events.v1", self.prefix),
        }
    }

    /// Returns the queue of a name.
    pub fn queue_of(&self, name: &str) -> Option<Queue> {
        [Queue::Tasks, Queue::Events]
            .into_iter()
            .find(|&queue| self.queue(queue) == name)
    }

    /// Returns the name of the dead-letter queue.
    pub fn dead(&self) -> String {
        format!("{}.dead.v1", self.prefix)
    }

    /// Returns the name of the exchange that copies to every worker.
    pub fn control(&self) -> String {
        format!("{}.control.v1", self.prefix)
    }

    /// Returns the retry tiers, shortest delay first; at least one.
    pub fn tiers(&self) -> &[RetryTier] {
        &self.tiers
    }

    /// Returns the tier for a wait of at least `wait`; the longest when none is that long.
    pub fn tier(&self, wait: Duration) -> &RetryTier {
        let index = self.tiers.partition_point(|tier| tier.delay < wait);
        &self.tiers[index.min(self.tiers.len() - 1)]
    }

    /// Returns the queues in the order in which they are declared: each after the one it dead-letters to.
    pub fn queues(&self) -> Vec<QueueSpec> {
        let dead = QueueSpec {
            name: self.dead(),
            delivery_limit: Some(DEAD_DELIVERY_LIMIT),
            ttl: None,
            dead_letter: None,
        };
        let work = [Queue::Tasks, Queue::Events].map(|queue| QueueSpec {
            name: self.queue(queue),
            delivery_limit: Some(DELIVERY_LIMIT),
            ttl: None,
            dead_letter: Some(DeadLetterTo::Queue(self.dead())),
        });
        let retry = self.tiers.iter().map(|tier| QueueSpec {
            name: tier.name.clone(),
            delivery_limit: None,
            ttl: Some(tier.delay),
            dead_letter: Some(DeadLetterTo::RoutingKey),
        });
        [dead].into_iter().chain(work).chain(retry).collect()
    }

    /// Returns the exchanges.
    pub fn exchanges(&self) -> Vec<ExchangeSpec> {
        let control = ExchangeSpec {
            name: self.control(),
            queue: None,
        };
        let retry = self.tiers.iter().map(|tier| ExchangeSpec {
            name: tier.name.clone(),
            queue: Some(tier.name.clone()),
        });
        [control].into_iter().chain(retry).collect()
    }
}

fn label(delay: Duration) -> String {
    if delay.subsec_nanos() == 0 {
        format!("{}s", delay.as_secs())
    } else {
        format!("{}ms", delay.as_millis())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_version_1_are_pinned() {
        let topology = Topology::default();
        let names: Vec<String> = topology
            .queues()
            .into_iter()
            .map(|spec| spec.name)
            .collect();
        let expected = [
            "evalfarm.dead.v1",
            "evalfarm.tasks.v1",
            "evalfarm.events.v1",
            "evalfarm.retry.1s.v1",
            "evalfarm.retry.10s.v1",
            "evalfarm.retry.60s.v1",
        ];
        assert_eq!(names, expected);
        assert_eq!(topology.control(), "evalfarm.control.v1");
        assert_eq!(topology.queue_of("evalfarm.tasks.v1"), Some(Queue::Tasks));
        assert_eq!(topology.queue_of("evalfarm.tasks"), None);
    }

    #[test]
    fn a_wait_takes_the_next_longer_tier() {
        let topology = Topology::default();
        let delay = |millis| topology.tier(Duration::from_millis(millis)).delay.as_secs();
        assert_eq!([delay(0), delay(1_000), delay(1_001)], [1, 1, 10]);
        assert_eq!([delay(60_000), delay(3_600_000)], [60, 60]);
    }

    #[test]
    fn names_that_a_broker_would_misread_are_refused() {
        let second = Duration::from_secs(1);
        for prefix in ["", "Farm", "a b", "amq/x", &"p".repeat(101)] {
            let error = Topology::new(prefix, &[second]).unwrap_err();
            assert!(matches!(error, TopologyError::Prefix { .. }), "{prefix}");
        }
        let delays: [&[Duration]; 4] = [
            &[],
            &[second, second],
            &[Duration::from_micros(1_500)],
            &[Duration::from_hours(25)],
        ];
        for delays in delays {
            let error = Topology::new("farm", delays).unwrap_err();
            assert!(matches!(error, TopologyError::Delays { .. }), "{delays:?}");
        }
    }
}
