//! What is measured of the service itself. Labels have few values: never a job, a task, a candidate or a query.

use std::time::Duration;

use evalfarm_telemetry::{Counter, Gauge, Histogram, KeyValue, Meter, UpDownCounter};

/// Counters and histograms, in Prometheus text under the names given here, dots as underscores.
#[derive(Debug)]
pub(super) struct Instruments {
    tasks: Counter<u64>,
    duration: Histogram<f64>,
    redeliveries: Counter<u64>,
    ack_lost: Counter<u64>,
    retries: Counter<u64>,
    postponed: Counter<u64>,
    dead_lettered: Counter<u64>,
    committed: Counter<u64>,
    inflight: UpDownCounter<i64>,
    consumer_active: Gauge<u64>,
}

/// From a millisecond to the default deadline, in seconds.
const BOUNDARIES: [f64; 13] = [
    0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0, 600.0,
];

impl Instruments {
    pub(super) fn new(meter: &Meter) -> Self {
        Self {
            tasks: meter
                .u64_counter("farm.tasks")
                .with_description("Tasks by how their handling ended.")
                .build(),
            duration: meter
                .f64_histogram("farm.task.duration")
                .with_unit("s")
                .with_description("From taking a task to settling it.")
                .with_boundaries(BOUNDARIES.to_vec())
                .build(),
            redeliveries: meter
                .u64_counter("farm.redeliveries")
                .with_description("Deliveries whose former holder was lost.")
                .build(),
            ack_lost: meter
                .u64_counter("farm.ack.lost")
                .with_description("Acknowledgements that came too late: the task comes again.")
                .build(),
            retries: meter
                .u64_counter("farm.retries")
                .with_description("Failed attempts that are made again.")
                .build(),
            postponed: meter
                .u64_counter("farm.postponed")
                .with_description("Deliveries put back without using up an attempt.")
                .build(),
            dead_lettered: meter
                .u64_counter("farm.dead.lettered")
                .with_description("Messages that nobody will try again.")
                .build(),
            committed: meter
                .u64_counter("farm.results.committed")
                .with_description("Results by what the store said.")
                .build(),
            inflight: meter
                .i64_up_down_counter("farm.inflight.tasks")
                .with_description("Tasks in the hands of this worker.")
                .build(),
            consumer_active: meter
                .u64_gauge("farm.consumer.active")
                .with_description("1 while the broker knows this worker's consumer.")
                .build(),
        }
    }

    pub(super) fn taken(&self, returned: u32) {
        self.inflight.add(1, &[]);
        if returned > 0 {
            self.redeliveries.add(1, &[]);
        }
    }

    /// Counts a delivery that was settled or given up. `kind` is that of its task.
    pub(super) fn ended(&self, kind: &'static str, outcome: &'static str, time: Duration) {
        self.inflight.add(-1, &[]);
        let labels = [
            KeyValue::new("kind", kind),
            KeyValue::new("outcome", outcome),
        ];
        self.tasks.add(1, &labels);
        self.duration.record(time.as_secs_f64(), &labels);
    }

    pub(super) fn ack_lost(&self) {
        self.ack_lost.add(1, &[]);
    }

    pub(super) fn retried(&self, class: &'static str) {
        self.retries.add(1, &[KeyValue::new("class", class)]);
    }

    pub(super) fn postponed(&self, reason: &'static str) {
        self.postponed.add(1, &[KeyValue::new("reason", reason)]);
    }

    pub(super) fn dead_lettered(&self, class: &'static str) {
        self.dead_lettered.add(1, &[KeyValue::new("class", class)]);
    }

    pub(super) fn committed(&self, outcome: &'static str) {
        self.committed.add(1, &[KeyValue::new("outcome", outcome)]);
    }

    pub(super) fn consumer_active(&self, active: bool) {
        self.consumer_active.record(u64::from(active), &[]);
    }
}
