//! Traces that come with letters and go on with events.

use evalfarm_broker::{Letter, Trace};
use evalfarm_telemetry::{TraceContext, continue_trace, current};
use tracing::Span;

/// Returns the span in which a letter is handled, a child of the one that published it.
pub(super) fn process(queue: &str, letter: &Letter) -> Span {
    let span = tracing::info_span!(
        "process",
        otel.name = format!("process {queue}"),
        otel.kind = "consumer",
        messaging.system = "rabbitmq",
        messaging.operation.name = "process",
        messaging.operation.type = "process",
        messaging.destination.name = queue,
        messaging.message.id = letter.id,
        job = letter.job,
        outcome = tracing::field::Empty,
    );
    let trace = &letter.trace;
    let context = TraceContext::new(trace.parent.as_deref(), trace.state.as_deref());
    continue_trace(&span, &context);
    span
}

/// Returns the context of the current span, for a letter.
pub(super) fn carried() -> Trace {
    let context = current();
    Trace {
        parent: context.parent().map(str::to_owned),
        state: context.state().map(str::to_owned),
    }
}
