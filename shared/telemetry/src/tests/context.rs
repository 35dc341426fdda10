use tracing::info_span;

use crate::configuration::Configuration;
use crate::{TraceContext, continue_trace, current};

// The example of W3C Trace Context, section 3.2.3.
const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

#[test]
fn a_trace_keeps_its_id_through_a_process() {
    let (_telemetry, dispatch) = super::build(&Configuration::default());
    tracing::dispatcher::with_default(&dispatch, || {
        let received = TraceContext::new(Some(PARENT), Some("congo=t61rcWkgMzE"));
        let span = info_span!(target: "evalfarm", "process farm.tasks");
        continue_trace(&span, &received);
        let passed_on = span
            .in_scope(|| info_span!(target: "evalfarm", "publish farm.results").in_scope(current));
        assert_eq!(passed_on.trace_id(), Some(TRACE));
        assert_ne!(passed_on.parent(), Some(PARENT), "the span is a new one");
        assert_eq!(passed_on.state(), Some("congo=t61rcWkgMzE"));
    });
}

#[test]
fn a_trace_begins_where_there_is_none() {
    let (_telemetry, dispatch) = super::build(&Configuration::default());
    tracing::dispatcher::with_default(&dispatch, || {
        assert_eq!(current(), TraceContext::default(), "outside of any span");
        let first = info_span!(target: "evalfarm", "submit").in_scope(current);
        let second = info_span!(target: "evalfarm", "submit").in_scope(current);
        assert!(first.trace_id().is_some(), "{first:?}");
        assert_ne!(first.trace_id(), second.trace_id());
        assert_eq!(first.state(), None);
    });
}

#[test]
fn without_telemetry_there_is_no_trace() {
    let span = info_span!(target: "evalfarm", "submit");
    continue_trace(&span, &TraceContext::new(Some(PARENT), None));
    assert_eq!(span.in_scope(current), TraceContext::default());
}

#[test]
fn a_span_that_cannot_join_begins_a_trace_of_its_own() {
    let (_telemetry, dispatch) = super::build(&Configuration::default());
    tracing::dispatcher::with_default(&dispatch, || {
        let span = info_span!(target: "evalfarm", "process farm.tasks");
        continue_trace(&span, &TraceContext::new(Some("nonsense"), None));
        let own = span.in_scope(current);
        assert!(own.trace_id().is_some(), "{own:?}");

        continue_trace(&span, &TraceContext::new(Some(PARENT), None));
        let still = span.in_scope(current);
        assert_eq!(still, own, "a span that has begun keeps its parent");
    });
}

#[test]
fn malformed_contexts_are_left_out() {
    let long = format!("01-{TRACE}-00f067aa0ba902b7-01-{}", "a".repeat(300));
    for parent in [
        "",
        "nonsense",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01more",
        "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7a-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473\u{e9}-00f067aa0ba902b-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0\u{e9}",
        &long,
    ] {
        let context = TraceContext::new(Some(parent), Some("congo=t61rcWkgMzE"));
        assert_eq!(context, TraceContext::default(), "{parent:?}");
    }
    let members: Vec<String> = (0..33).map(|index| format!("v{index}=1")).collect();
    for state in [
        "",
        "nonsense",
        "congo=t61\nset-cookie: a=b",
        &members.join(","),
        &format!("congo={}", "a".repeat(512)),
    ] {
        let context = TraceContext::new(Some(PARENT), Some(state));
        assert_eq!(context.parent(), Some(PARENT));
        assert_eq!(context.state(), None, "{state:?}");
    }
}

#[test]
fn a_later_version_is_read_as_far_as_it_is_known() {
    let later = format!(
        "cc{}-what-the-future-brings",
        PARENT.strip_prefix("00").unwrap()
    );
    assert_eq!(TraceContext::new(Some(&later), None).parent(), Some(PARENT));
}
