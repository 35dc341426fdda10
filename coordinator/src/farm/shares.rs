//! How many tasks each job has on offer, so that jobs share the workers.
//!
//! The broker hands out tasks in the order in which they were offered, so a job's share of the workers is its share of
//! what is on offer. The job with the least left to do comes first: it has as much on offer as the farm takes, the k-th after
//! it an eighth of that for each job before it, and none less than one. What those before leave on offer, at the end of their
//! steps, goes to those behind, so that no slot is idle. Tasks of a huge job may take longer than those of a small one, which
//! waits for what is on offer when each of its steps begins: at an eighth it still ends within twice the time that it would
//! take alone.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Mutex;

use evalfarm_domain::JobId;

/// Slots that the farm is taken to have while nothing is known of its workers.
const UNKNOWN_SLOTS: usize = 8;

/// A job has this part on offer of what the one before it may have.
const BEHIND: usize = 8;

/// What jobs have left, and how many tasks the farm works on at a time.
#[derive(Debug)]
pub(crate) struct Shares {
    offers_per_slot: NonZeroUsize,
    known: Mutex<Known>,
}

#[derive(Debug)]
struct Known {
    slots: usize,
    left: BTreeMap<JobId, usize>,
}

impl Shares {
    pub(crate) fn new(offers_per_slot: NonZeroUsize) -> Self {
        Self {
            offers_per_slot,
            known: Mutex::new(Known {
                slots: UNKNOWN_SLOTS,
                left: BTreeMap::new(),
            }),
        }
    }

    /// Says how many tasks all workers work on at a time; none means that nothing is known.
    pub(crate) fn set_slots(&self, slots: usize) {
        self.lock().slots = match slots {
            0 => UNKNOWN_SLOTS,
            slots => slots,
        };
    }

    /// Says how many tasks a job has left in its step, and returns how many it may have on offer.
    pub(crate) fn window(&self, job: &JobId, left: usize) -> NonZeroUsize {
        let mut known = self.lock();
        known.left.insert(job.clone(), left);
        let most = known.slots.saturating_mul(self.offers_per_slot.get());
        let (mut share, mut free) = (most, most);
        for (_, &others) in known
            .left
            .iter()
            .filter(|&(other, &others)| (others, other) < (left, job))
        {
            share /= BEHIND;
            free = free.saturating_sub(others);
        }
        NonZeroUsize::new(share.max(free)).unwrap_or(NonZeroUsize::MIN)
    }

    /// Says that a job needs nobody for now.
    pub(crate) fn leave(&self, job: &JobId) {
        self.lock().left.remove(job);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Known> {
        // Every change is one assignment, so a panic elsewhere leaves nothing half done.
        self.known
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(name: &str) -> JobId {
        JobId::try_from(name).unwrap()
    }

    fn shares() -> Shares {
        let shares = Shares::new(NonZeroUsize::new(2).unwrap());
        shares.set_slots(4);
        shares
    }

    #[test]
    fn a_job_alone_has_a_few_offers_for_each_slot() {
        let shares = shares();
        assert_eq!(shares.window(&job("big"), 200_000).get(), 8);
        shares.set_slots(64);
        assert_eq!(shares.window(&job("big"), 200_000).get(), 128);
        shares.set_slots(0);
        assert_eq!(shares.window(&job("big"), 200_000).get(), 16);
    }

    #[test]
    fn the_job_with_less_left_has_the_larger_share_and_nobody_has_none() {
        let shares = shares();
        shares.window(&job("big"), 200_000);
        assert_eq!(shares.window(&job("small"), 200).get(), 8);
        assert_eq!(shares.window(&job("big"), 199_990).get(), 1);
        for other in 0..100 {
            shares.window(&job(&format!("other-{other}")), 300);
        }
        assert_eq!(shares.window(&job("big"), 199_990).get(), 1);
        shares.leave(&job("small"));
        assert_eq!(shares.window(&job("other-0"), 300).get(), 8);
    }

    #[test]
    fn what_a_job_leaves_goes_to_those_behind_it() {
        let shares = shares();
        shares.window(&job("big"), 200_000);
        assert_eq!(shares.window(&job("small"), 3).get(), 8);
        assert_eq!(shares.window(&job("big"), 200_000).get(), 5);
        shares.window(&job("small"), 0);
        assert_eq!(shares.window(&job("big"), 200_000).get(), 8);
    }

    #[test]
    fn equal_jobs_take_turns_by_their_ids() {
        let shares = shares();
        shares.window(&job("a"), 10);
        shares.window(&job("b"), 10);
        let windows = ["a", "b"].map(|name| shares.window(&job(name), 10).get());
        assert_eq!(windows, [8, 1]);
    }
}
