use evalfarm_coordinator::api::{EndOfJob, JobState, JobStatus, Stage, TaskCounts, WorkerEntry};
use evalfarm_domain::{JobId, TaskId, WorkerId};

use crate::commands::farm::text::{job, jobs, workers};

/// Returns a status of job `j1`, with a step given by name, done and total.
pub(super) fn status(state: JobState, step: Option<(&str, u64, u64)>) -> JobStatus {
    JobStatus {
        job: JobId::try_from("j1").expect("it is an id"),
        name: "shop".to_owned(),
        submitter: "me".to_owned(),
        submitted: 0,
        state,
        step: step.map(|(name, done, total)| Stage {
            name: name.to_owned(),
            done,
            total,
            rate: 1234.5,
            eta_seconds: Some(3725.0),
        }),
        tasks: TaskCounts {
            planned: 1200,
            done: 7,
            retried: 1,
            dead: 0,
            offered_again: 2,
        },
        notes: Vec::new(),
        end: None,
    }
}

#[test]
fn a_job_is_told_line_by_line() {
    let running = status(JobState::Running, Some(("train scan", 1000, 20_000)));
    assert_eq!(
        job(&running),
        "\
job           j1
name          shop
submitted by  me
state         running
step          train scan
done          1,000/20,000 query evaluations
rate          1,235/s
left          1 h 2 min
tasks         7 of 1,200 tasks, 1 tried again after a failure, 2 offered a second time
"
    );
    let mut failed = status(JobState::Failed, None);
    failed.end = Some(EndOfJob::Failed {
        error: "no\nluck\u{1b}]0;x\u{7}".to_owned(),
        input: false,
    });
    let text = job(&failed);
    assert!(
        text.contains("\nerror         no luck\\u{1b}]0;x\\u{7}\n"),
        "{text}"
    );
}

#[test]
fn jobs_are_a_table_that_no_name_can_break() {
    let mut odd = status(JobState::Queued, None);
    odd.name = "a\n  j2  forged\u{9b}2J".to_owned();
    let text = jobs(&[status(JobState::Running, Some(("train scan", 1, 2))), odd]);
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(!text.contains('\u{9b}'), "{text}");
    assert!(text.contains("running"), "{text}");
    assert!(jobs(&[]).contains("evalfarm submit"));
}

#[test]
fn numbers_that_make_no_sense_are_still_shown() {
    let mut odd = status(JobState::Running, Some(("x", u64::MAX, 0)));
    let step = odd.step.as_mut().expect("it has a step");
    step.rate = -1.0;
    step.eta_seconds = Some(f64::INFINITY);
    let text = job(&odd);
    assert!(
        text.contains("rate          0/s\nleft          -\n"),
        "{text}"
    );
}

#[test]
fn workers_are_told_with_their_last_beat() {
    let worker = WorkerEntry {
        worker: WorkerId::try_from("node7-1-2").expect("it is an id"),
        release: "0.1.0".to_owned(),
        slots: 4,
        current: ["t1", "t2", "t3"]
            .map(|id| TaskId::try_from(id).expect("it is an id"))
            .to_vec(),
        up_seconds: 90_061.0,
        silent_seconds: 3.2,
        alive: true,
    };
    assert_eq!(
        workers(&[worker]),
        "  worker     release  state  busy  last beat       up  works on
  node7-1-2  0.1.0    alive   3/4    3 s ago  1 d 1 h  t1, t2, and 1 more
"
    );
    assert!(workers(&[]).contains("evalfarm-worker"));
}
