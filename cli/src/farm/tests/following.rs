use std::sync::mpsc;

use evalfarm_coordinator::api::{JobState, JobStatus, TaskCounts};
use evalfarm_domain::JobId;

use super::fake::{Answer, Fake, client};
use crate::farm::{FarmError, Update, follow};

/// Returns a status with nothing in it but its state.
fn status(state: JobState) -> JobStatus {
    JobStatus {
        job: job(),
        name: "shop".to_owned(),
        submitter: "me".to_owned(),
        submitted: 0,
        state,
        step: None,
        tasks: TaskCounts::default(),
        notes: Vec::new(),
        end: None,
    }
}

fn job() -> JobId {
    JobId::try_from("j1").expect("it is an id")
}

fn events(states: &[JobState]) -> String {
    states.iter().fold(String::new(), |text, &state| {
        let json = serde_json::to_string(&status(state)).expect("a status is JSON");
        text + &format!(": alive\n\nevent: status\ndata: {json}\n\n")
    })
}

/// Returns what following says, in short.
fn followed(client: &crate::farm::Client) -> Vec<String> {
    let (sender, updates) = mpsc::channel();
    follow(client, &job(), &sender);
    drop(sender);
    updates
        .iter()
        .map(|update| match update {
            Update::Status(status) => format!("{:?}", status.state),
            Update::Lost => "lost".to_owned(),
            Update::Failed(error) => {
                format!("failed: {}", matches!(error, FarmError::Refused { .. }))
            }
        })
        .collect()
}

#[test]
fn a_job_is_followed_over_several_connections() {
    let mut answers = vec![
        Answer::new(200, events(&[JobState::Judged])),
        Answer::new(503, r#"{"code":"unavailable","message":"starting"}"#),
        Answer::new(404, r#"{"code":"not_found","message":"not taken up yet"}"#),
        Answer::new(502, "bad gateway"),
        Answer::new(200, ""),
        Answer::new(200, events(&[JobState::Queued, JobState::Running])),
    ];
    let fake = Fake::start(move |_| answers.pop().expect("it is asked no more"));
    assert_eq!(
        followed(&fake.client()),
        ["Queued", "Running", "lost", "lost", "lost", "Judged"]
    );
    assert!(
        fake.routes()
            .iter()
            .all(|route| route == "GET /v1/jobs/j1/events")
    );
}

#[test]
fn what_will_not_pass_ends_the_following() {
    let mut answers = vec![
        Answer::new(403, r#"{"code":"forbidden","message":"no longer"}"#),
        Answer::new(200, events(&[JobState::Running])),
    ];
    let fake = Fake::start(move |_| answers.pop().expect("it is asked no more"));
    assert_eq!(followed(&fake.client()), ["Running", "failed: true"]);
}

#[test]
fn a_coordinator_that_never_answered_is_not_waited_for() {
    assert_eq!(followed(&client("http://127.0.0.1:1")), ["failed: false"]);
}

#[test]
fn following_ends_when_nobody_listens() {
    let fake = Fake::start(|_| Answer::new(200, events(&[JobState::Running])));
    let (sender, updates) = mpsc::channel();
    drop(updates);
    follow(&fake.client(), &job(), &sender);
    assert_eq!(fake.asked().len(), 1);
}
