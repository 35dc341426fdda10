//! Which tasks of a step are offered to workers, and which are offered again: a pure state machine.
//!
//! A driver asks it what to publish, publishes that, and tells it what came back. It decides nothing about results: whichever
//! attempt commits first counts, and every other has to be identical.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::num::NonZeroUsize;
use std::time::Duration;

use evalfarm_domain::TaskId;

/// A time on the driver's monotonic clock: what has passed since it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub Duration);

impl Moment {
    /// Returns what has passed since an earlier moment; nothing when that is later.
    pub(crate) fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

/// How a schedule hands out work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Tasks that are offered at once. A job never has more in the queue than this, so that a small job that is submitted
    /// behind a large one waits for one window of it and not for all of it.
    pub window: NonZeroUsize,
    /// After this time without an answer a task is offered again: its message may be lost.
    pub overdue: Duration,
    /// At the end of a step a task that takes longer than this many times the median of the finished ones is offered a second
    /// time, while workers have nothing else to do.
    pub straggler: u32,
}

/// What has been offered and not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Offer {
    first: Moment,
    last: Moment,
    copied: bool,
}

/// What the answer to a task was worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The first: the task is done.
    First,
    /// The task was answered before.
    Again,
    /// No task of this step.
    Unknown,
}

/// The tasks of one step of a job.
///
/// ```
/// use std::num::NonZeroUsize;
/// use std::time::Duration;
///
/// use evalfarm_coordinator::farm::{Answer, Moment, Pace, Schedule};
/// use evalfarm_domain::TaskId;
///
/// let tasks = ["t1", "t2", "t3"].map(|id| TaskId::try_from(id).unwrap());
/// let pace = Pace { window: NonZeroUsize::new(2).unwrap(), overdue: Duration::from_secs(60), straggler: 3 };
/// let mut schedule = Schedule::new(tasks.clone(), pace);
/// let start = Moment(Duration::ZERO);
/// assert_eq!(schedule.offers(start), tasks[..2]);
/// assert_eq!(schedule.answered(&tasks[0], start), Answer::First);
/// assert_eq!(schedule.offers(start), tasks[2..]);
/// ```
#[derive(Debug)]
pub struct Schedule {
    pace: Pace,
    /// The order of offers. A task that was answered before it was offered keeps its place and is passed over: to look for it
    /// takes as many steps as there are tasks, for each of as many results of an earlier coordinator.
    queue: VecDeque<TaskId>,
    /// Of the queue, the tasks that are still to be offered.
    waiting: BTreeSet<TaskId>,
    offered: BTreeMap<TaskId, Offer>,
    done: BTreeSet<TaskId>,
    /// How long the finished ones took, ascending.
    took: Vec<Duration>,
    last_answer: Option<Moment>,
}

impl Schedule {
    /// Returns the schedule of a step: its tasks in the order of the plan, each once.
    pub fn new(tasks: impl IntoIterator<Item = TaskId>, pace: Pace) -> Self {
        let queue: VecDeque<TaskId> = tasks.into_iter().collect();
        Self {
            pace,
            waiting: queue.iter().cloned().collect(),
            queue,
            offered: BTreeMap::new(),
            done: BTreeSet::new(),
            took: Vec::new(),
            last_answer: None,
        }
    }

    /// Changes how many tasks are offered at once, from the next offer on.
    pub fn set_window(&mut self, window: NonZeroUsize) {
        self.pace.window = window;
    }

    /// Returns what is to be published now, in this order: tasks never offered as far as the window has room, then those
    /// without an answer for too long, then second copies of stragglers when nothing else is left to offer.
    pub fn offers(&mut self, now: Moment) -> Vec<TaskId> {
        let mut offers = Vec::new();
        while self.offered.len() < self.pace.window.get() {
            let Some(task) = self.queue.pop_front() else {
                break;
            };
            if !self.waiting.remove(&task) {
                continue;
            }
            let offer = Offer {
                first: now,
                last: now,
                copied: false,
            };
            self.offered.insert(task.clone(), offer);
            offers.push(task);
        }
        let straggling = self.straggling();
        for (task, offer) in &mut self.offered {
            let overdue = now.since(offer.last) >= self.pace.overdue;
            let straggles =
                !offer.copied && straggling.is_some_and(|limit| now.since(offer.first) > limit);
            if overdue || straggles {
                offer.last = now;
                offer.copied |= straggles;
                offers.push(task.clone());
            }
        }
        offers
    }

    /// Says that an attempt at a task failed and comes again by itself. Such a task is no straggler: a second copy would fail as
    /// well, and end a worker more where it ends workers.
    pub fn retried(&mut self, task: &TaskId) {
        if let Some(offer) = self.offered.get_mut(task) {
            offer.copied = true;
        }
    }

    /// Takes back the offer of a task that could not be published: it waits again, before all others.
    pub fn unpublished(&mut self, task: TaskId) {
        if self.offered.remove(&task).is_some() {
            self.waiting.insert(task.clone());
            self.queue.push_front(task);
        }
    }

    /// Takes the answer to a task: its result is committed, or it has failed for good and its queries are counted as failed.
    pub fn answered(&mut self, task: &TaskId, now: Moment) -> Answer {
        if self.done.contains(task) {
            return Answer::Again;
        }
        let offer = self.offered.remove(task);
        // A result of an earlier coordinator may be found before the task was offered by this one.
        if offer.is_none() && !self.waiting.remove(task) {
            return Answer::Unknown;
        }
        if let Some(offer) = offer {
            let took = now.since(offer.first);
            let at = self.took.partition_point(|&other| other <= took);
            self.took.insert(at, took);
        }
        self.last_answer = Some(now);
        self.done.insert(task.clone());
        Answer::First
    }

    /// Returns the tasks that have been offered and not answered, in bytewise order: where to look for results whose message
    /// was lost.
    pub fn open(&self) -> impl Iterator<Item = &TaskId> {
        self.offered.keys()
    }

    /// Returns whether every task has been answered.
    pub fn is_complete(&self) -> bool {
        self.waiting.is_empty() && self.offered.is_empty()
    }

    /// Returns for how long nothing has come back although tasks were on offer.
    pub fn silence(&self, now: Moment) -> Duration {
        let first_offer = self.offered.values().map(|offer| offer.first).min();
        match (first_offer, self.last_answer) {
            (None, _) => Duration::ZERO,
            (Some(first), None) => now.since(first),
            (Some(first), Some(answer)) => now.since(first.max(answer)),
        }
    }

    /// Returns the time from which a task straggles; nothing while others wait, or when none has finished.
    fn straggling(&self) -> Option<Duration> {
        if !self.waiting.is_empty() || self.offered.len() >= self.pace.window.get() {
            return None;
        }
        let median = self.took.get(self.took.len() / 2)?;
        Some(median.saturating_mul(self.pace.straggler))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn task(number: usize) -> TaskId {
        TaskId::try_from(format!("t{number:04}")).unwrap()
    }

    fn tasks(count: usize) -> Vec<TaskId> {
        (0..count).map(task).collect()
    }

    fn at(seconds: u64) -> Moment {
        Moment(Duration::from_secs(seconds))
    }

    fn schedule(count: usize, window: usize) -> Schedule {
        let pace = Pace {
            window: NonZeroUsize::new(window).unwrap(),
            overdue: Duration::from_secs(100),
            straggler: 3,
        };
        Schedule::new(tasks(count), pace)
    }

    #[test]
    fn a_task_that_failed_is_not_offered_as_a_straggler() {
        for fails in [false, true] {
            let mut schedule = schedule(2, 4);
            assert_eq!(schedule.offers(at(0)), [task(0), task(1)]);
            assert_eq!(schedule.answered(&task(0), at(1)), Answer::First);
            if fails {
                schedule.retried(&task(1));
            }
            let copies = schedule.offers(at(50));
            assert_eq!(copies.len(), usize::from(!fails));
        }
    }

    #[test]
    fn no_more_is_offered_than_the_window_holds() {
        let mut schedule = schedule(5, 2);
        assert_eq!(schedule.offers(at(0)), [task(0), task(1)]);
        assert_eq!(schedule.offers(at(1)), []);
        assert_eq!(schedule.answered(&task(1), at(2)), Answer::First);
        assert_eq!(schedule.offers(at(2)), [task(2)]);
        schedule.set_window(NonZeroUsize::new(4).unwrap());
        assert_eq!(schedule.offers(at(3)), [task(3), task(4)]);
    }

    #[test]
    fn a_lost_message_is_offered_again_and_a_second_answer_counts_once() {
        let mut schedule = schedule(2, 2);
        schedule.offers(at(0));
        assert_eq!(schedule.offers(at(99)), []);
        assert_eq!(schedule.offers(at(100)), [task(0), task(1)]);
        assert_eq!(schedule.offers(at(150)), []);
        assert_eq!(schedule.answered(&task(0), at(160)), Answer::First);
        assert_eq!(schedule.answered(&task(0), at(161)), Answer::Again);
        assert_eq!(schedule.answered(&task(7), at(161)), Answer::Unknown);
        assert!(!schedule.is_complete());
        schedule.answered(&task(1), at(162));
        assert!(schedule.is_complete());
    }

    #[test]
    fn a_result_that_is_found_before_it_was_asked_for_is_not_asked_for() {
        let mut schedule = schedule(3, 1);
        assert_eq!(schedule.answered(&task(1), at(0)), Answer::First);
        assert_eq!(schedule.offers(at(0)), [task(0)]);
        schedule.answered(&task(0), at(1));
        assert_eq!(schedule.offers(at(1)), [task(2)]);
    }

    #[test]
    fn a_hundred_thousand_results_that_are_found_in_any_order_take_no_time() {
        let mut found = tasks(100_000);
        let mut schedule = schedule(found.len(), 4);
        found.reverse();
        // Kept small in steps and not in seconds: a search for each would be 5 · 10⁹ comparisons.
        for task in &found[4..] {
            assert_eq!(schedule.answered(task, at(0)), Answer::First);
        }
        assert_eq!(schedule.offers(at(0)).len(), 4);
        assert_eq!(schedule.offers(at(1)), []);
        assert!(!schedule.is_complete());
    }

    #[test]
    fn what_could_not_be_published_comes_first() {
        let mut schedule = schedule(3, 2);
        schedule.offers(at(0));
        schedule.unpublished(task(1));
        assert_eq!(schedule.offers(at(1)), [task(1)]);
    }

    #[test]
    fn the_slowest_task_is_copied_once_when_nothing_else_is_left() {
        let mut schedule = schedule(3, 3);
        schedule.offers(at(0));
        schedule.answered(&task(0), at(10));
        schedule.answered(&task(1), at(10));
        assert_eq!(schedule.offers(at(30)), []);
        assert_eq!(schedule.offers(at(31)), [task(2)]);
        assert_eq!(schedule.offers(at(60)), []);
    }

    #[test]
    fn silence_is_counted_from_the_last_answer_or_offer() {
        let mut schedule = schedule(3, 1);
        assert_eq!(schedule.silence(at(50)), Duration::ZERO);
        schedule.offers(at(50));
        assert_eq!(schedule.silence(at(70)), Duration::from_secs(20));
        schedule.answered(&task(0), at(80));
        assert_eq!(schedule.silence(at(90)), Duration::ZERO);
        schedule.offers(at(90));
        assert_eq!(schedule.silence(at(95)), Duration::from_secs(5));
    }

    proptest! {
        #[test]
        fn every_task_is_offered_and_ends_whatever_is_lost(
            count in 0_usize..40,
            window in 1_usize..8,
            lost in prop::collection::vec(any::<bool>(), 200),
        ) {
            let mut schedule = schedule(count, window);
            let mut lost = lost.into_iter();
            let mut answered = BTreeSet::new();
            for step in 0..400_u64 {
                let now = at(step * 50);
                let offers = schedule.offers(now);
                prop_assert!(schedule.open().count() <= window);
                for task in offers {
                    if !lost.next().unwrap_or(false) {
                        schedule.answered(&task, now);
                        answered.insert(task);
                    }
                }
            }
            prop_assert!(schedule.is_complete());
            prop_assert_eq!(answered.into_iter().collect::<Vec<_>>(), tasks(count));
        }
    }
}
