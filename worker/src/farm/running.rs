//! The tasks that this worker works on now.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use evalfarm_domain::{JobId, TaskId};
use evalfarm_state::Lease;

use crate::Stop;

/// Tasks by slot.
#[derive(Debug, Default)]
pub(super) struct Running {
    slots: Mutex<BTreeMap<u32, Arc<Current>>>,
}

/// A task that is worked on.
#[derive(Debug)]
pub(super) struct Current {
    pub(super) job: JobId,
    pub(super) task: TaskId,
    /// Ends the computation.
    pub(super) stop: Stop,
    cancelled: AtomicBool,
    lease: Mutex<Option<Lease>>,
}

/// A slot, taken for as long as this value.
#[derive(Debug)]
pub(super) struct Slot {
    running: Arc<Running>,
    pub(super) number: u32,
    pub(super) current: Arc<Current>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.running.slots().remove(&self.number);
    }
}

impl Current {
    /// Ends the computation because the job is cancelled.
    pub(super) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
        self.stop.set();
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    pub(super) fn set_lease(&self, lease: Option<Lease>) {
        *self.lease.lock().unwrap_or_else(PoisonError::into_inner) = lease;
    }

    pub(super) fn lease(&self) -> Option<Lease> {
        self.lease
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Running {
    fn slots(&self) -> MutexGuard<'_, BTreeMap<u32, Arc<Current>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the lowest free slot.
    pub(super) fn take(self: &Arc<Self>, job: &JobId, task: &TaskId) -> Slot {
        let current = Arc::new(Current {
            job: job.clone(),
            task: task.clone(),
            stop: Stop::new(),
            cancelled: AtomicBool::new(false),
            lease: Mutex::default(),
        });
        let mut slots = self.slots();
        let taken = slots.keys().copied().zip(0..);
        let number = taken.take_while(|&(taken, number)| taken == number).count();
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        slots.insert(number, Arc::clone(&current));
        drop(slots);
        Slot {
            running: Arc::clone(self),
            number,
            current,
        }
    }

    /// Returns everything that is worked on, by slot.
    pub(super) fn all(&self) -> Vec<Arc<Current>> {
        self.slots().values().cloned().collect()
    }

    /// Returns the jobs that are worked on.
    pub(super) fn jobs(&self) -> BTreeSet<JobId> {
        let slots = self.slots();
        slots.values().map(|current| current.job.clone()).collect()
    }

    /// Ends the computation of a job's tasks and returns their number.
    pub(super) fn cancel(&self, job: &JobId) -> usize {
        let slots = self.slots();
        let of_job = slots.values().filter(|current| current.job == *job);
        of_job.map(|current| current.cancel()).count()
    }

    /// Ends every computation.
    pub(super) fn abandon(&self) {
        for current in self.slots().values() {
            current.stop.set();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_numbered_from_0_and_used_again() {
        let running = Arc::new(Running::default());
        let job = JobId::try_from("j1").unwrap();
        let task = TaskId::try_from("t1").unwrap();
        let (first, second) = (running.take(&job, &task), running.take(&job, &task));
        assert_eq!([first.number, second.number], [0, 1]);
        drop(first);
        let third = running.take(&job, &task);
        assert_eq!(third.number, 0);
        assert_eq!(running.cancel(&job), 2);
        assert!(second.current.is_cancelled() && second.current.stop.is_set());
        drop((second, third));
        assert!(running.all().is_empty());
    }
}
