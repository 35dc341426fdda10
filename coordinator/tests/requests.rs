//! Requests that clients of earlier releases send stay valid: the fixtures never change.

use evalfarm_coordinator::api::{CancelRequest, Submission};
use evalfarm_coordinator::sweep::SweepFile;

#[test]
fn submissions_of_earlier_releases_are_read() {
    let full: Submission =
        serde_json::from_str(include_str!("fixtures/v1/submission.json")).unwrap();
    assert_eq!(full.split_manifest.as_deref(), Some("{\"version\": 1}"));
    let bare: Submission =
        serde_json::from_str(include_str!("fixtures/v1/submission-bare.json")).unwrap();
    assert_eq!(bare.split_manifest, None);
    for submission in [full, bare] {
        let sweep = SweepFile::parse(&submission.sweep, std::path::Path::new("")).unwrap();
        assert_eq!(sweep.name.to_string(), "shop");
        assert!(submission.dataset.to_string().starts_with("5feceb66"));
    }
}

#[test]
fn cancellations_of_earlier_releases_are_read() {
    let read = |text: &str| serde_json::from_str::<CancelRequest>(text).unwrap().reason;
    assert_eq!(read(include_str!("fixtures/v1/cancel.json")), "wrong split");
    assert_eq!(read(include_str!("fixtures/v1/cancel-bare.json")), "");
}

#[test]
fn what_clients_send_today_is_the_form_of_the_fixtures() {
    let texts = [
        include_str!("fixtures/v1/submission.json"),
        include_str!("fixtures/v1/submission-bare.json"),
    ];
    for text in texts {
        let fixture: serde_json::Value = serde_json::from_str(text).unwrap();
        let submission: Submission = serde_json::from_value(fixture.clone()).unwrap();
        assert_eq!(serde_json::to_value(submission).unwrap(), fixture);
    }
}

#[test]
fn a_request_with_an_unknown_key_is_refused() {
    let with = |text: &str| text.replacen('{', "{\"submitter\":\"mia\",", 1);
    let submission = with(include_str!("fixtures/v1/submission.json"));
    assert!(serde_json::from_str::<Submission>(&submission).is_err());
    let cancel = with(include_str!("fixtures/v1/cancel.json"));
    assert!(serde_json::from_str::<CancelRequest>(&cancel).is_err());
}
