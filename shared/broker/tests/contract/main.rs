//! What every [`Broker`] owes, asked of both; and what the one over AMQP owes when queues vanish or settings differ.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails as the test does"
)]

mod amqp;
mod suite;

use std::sync::Arc;

use evalfarm_broker::{Broker, InProcessBroker};

fn in_process(prefix: &str) -> Arc<dyn Broker> {
    Arc::new(InProcessBroker::new(suite::topology(prefix)))
}

macro_rules! contract {
    ($($case:ident),+ $(,)?) => {
        mod in_process {
            $(#[tokio::test] async fn $case() {
                super::suite::$case(&super::in_process(stringify!($case))).await
            })+
        }
        mod over_amqp {
            $(#[tokio::test] async fn $case() {
                super::suite::$case(&super::amqp::broker(stringify!($case)).await).await
            })+
        }
    };
}

contract!(
    what_is_published_is_delivered_until_acknowledged,
    a_message_of_the_protocol_arrives_whole,
    what_a_dropped_consumer_held_goes_to_the_next,
    a_dropped_delivery_comes_again,
    a_retry_comes_back_after_its_delay_as_the_next_attempt,
    a_postponed_message_keeps_its_attempt,
    a_message_of_a_newer_release_is_postponed_until_somebody_reads_it,
    a_long_delay_does_not_hold_up_a_short_one,
    a_dead_letter_keeps_its_reason_until_it_is_revived,
    a_message_that_every_holder_drops_is_given_up,
    no_more_is_given_out_than_was_asked_for,
    a_duplicate_is_another_delivery_of_the_same_message,
    a_stopped_consumer_returns_what_was_not_given_out,
    a_broadcast_reaches_everyone_who_listens,
    too_much_is_refused_before_it_is_sent,
    many_messages_arrive_once_each_when_nothing_fails,
    a_closed_broker_delivers_and_takes_nothing,
);
