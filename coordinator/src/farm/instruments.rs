//! What a coordinator counts about itself. No job, task or candidate is ever a label.

use evalfarm_state::TaskEnd;
use evalfarm_telemetry::{Counter, Gauge, KeyValue, Meter};

/// Counters of the coordinator.
#[derive(Debug, Clone)]
pub(crate) struct Instruments {
    offered: Counter<u64>,
    answered: Counter<u64>,
    retried: Counter<u64>,
    jobs: Counter<u64>,
    slots: Gauge<u64>,
}

impl Instruments {
    pub(crate) fn new(meter: &Meter) -> Self {
        let counter = |name, text| meter.u64_counter(name).with_description(text).build();
        Self {
            offered: counter(
                "farm.tasks.offered",
                "Tasks published, second offers among them",
            ),
            answered: counter("farm.tasks.answered", "Tasks that are done or given up"),
            retried: counter(
                "farm.tasks.retried",
                "Attempts that failed and are tried again",
            ),
            jobs: counter("farm.jobs.ended", "Jobs that are over"),
            slots: meter
                .u64_gauge("farm.slots")
                .with_description("Tasks that all living workers take at a time")
                .build(),
        }
    }

    pub(crate) fn offered(&self, tasks: usize) {
        self.offered.add(tasks as u64, &[]);
    }

    pub(crate) fn answered(&self, end: TaskEnd) {
        let outcome = match end {
            TaskEnd::Done => "done",
            TaskEnd::Dead => "dead",
        };
        self.answered.add(1, &[KeyValue::new("outcome", outcome)]);
    }

    pub(crate) fn retried(&self) {
        self.retried.add(1, &[]);
    }

    pub(crate) fn slots(&self, slots: usize) {
        self.slots.record(slots as u64, &[]);
    }

    pub(crate) fn job_ended(&self, how: &'static str) {
        self.jobs.add(1, &[KeyValue::new("how", how)]);
    }
}
