use evalfarm_coordinator::api::{EndOfJob, JobState};
use evalfarm_gate::Verdict;

use super::text::status;
use crate::commands::farm::following::{fresh_notes, news};

fn notes(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

#[test]
fn only_new_notes_are_said() {
    for (before, now, fresh) in [
        (&[][..], &["a", "b"][..], &["a", "b"][..]),
        (&["a", "b"], &["a", "b"], &[]),
        (&["a", "b"], &["a", "b", "c"], &["c"]),
        (&["a", "b"], &["b", "c"], &["c"]),
        (&["a", "b"], &["c", "d"], &["c", "d"]),
        (&["a", "a"], &["a", "a", "a"], &["a"]),
        (&["a"], &[], &[]),
    ] {
        assert_eq!(
            fresh_notes(&notes(before), &notes(now)),
            notes(fresh),
            "{before:?} {now:?}"
        );
    }
}

#[test]
fn each_thing_is_said_once() {
    let queued = status(JobState::Queued, None);
    let scan = status(JobState::Running, Some(("train scan", 10, 100)));
    let more = status(JobState::Running, Some(("train scan", 60, 100)));
    let next = status(JobState::Running, Some(("holdout", 0, 40)));
    let mut over = status(JobState::Judged, None);
    over.end = Some(EndOfJob::Judged {
        verdict: Verdict::Block,
    });
    over.notes = notes(&["one\u{1b}[2Jline\nafter"]);
    assert_eq!(news(None, &queued), ["shop (j1): queued"]);
    assert_eq!(news(Some(&queued), &scan), ["shop (j1): running"]);
    assert!(news(Some(&scan), &more).is_empty(), "bars show that");
    assert_eq!(
        news(Some(&more), &next),
        ["shop (j1): train scan done, 100 query evaluations at 1,235/s"]
    );
    assert_eq!(
        news(Some(&next), &over),
        [
            "shop (j1): holdout done, 40 query evaluations at 1,235/s",
            "shop (j1): one\\u{1b}[2Jline after",
            "shop (j1): BLOCK",
        ]
    );
}
