//! Messages out. A task for each consumer keeps its subscription alive; the consumer hears only of deliveries.

use std::num::NonZeroU16;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use lapin::options::{BasicCancelOptions, BasicConsumeOptions, BasicNackOptions, BasicQosOptions};
use lapin::types::FieldTable;
use lapin::{Acker, Channel, Connection};
use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};

use super::backoff::{Backoff, HEALTHY};
use super::hold::{AmqpHold, Desk};
use super::link::{Link, next, reached};
use super::properties;
use crate::Delivery;
use crate::consumer::Source;

#[derive(Debug)]
pub(super) struct AmqpSource {
    deliveries: mpsc::Receiver<Delivery>,
    order: watch::Sender<Order>,
    subscribed: watch::Receiver<bool>,
    limit: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Run,
    /// Take no more; what is given out stays valid.
    Stop,
    /// Return everything.
    Abandon,
}

/// Why a subscription ended.
enum End {
    Lost,
    Ordered,
}

struct Supervisor {
    link: Arc<Link>,
    desk: Arc<Desk>,
    prefetch: NonZeroU16,
    deliveries: mpsc::Sender<Delivery>,
    returns: mpsc::UnboundedReceiver<Acker>,
    order: watch::Receiver<Order>,
    subscribed: watch::Sender<bool>,
}

impl AmqpSource {
    /// Starts to subscribe, and returns at once. `desk` makes what deliveries have in common of the way back for those that
    /// are dropped.
    pub(super) fn start(
        link: Arc<Link>,
        prefetch: NonZeroU16,
        desk: impl FnOnce(mpsc::UnboundedSender<Acker>) -> Desk,
    ) -> Self {
        // The broker sends no more than `prefetch` before one is settled, so the channel is never full.
        let (deliveries_sender, deliveries) = mpsc::channel(usize::from(prefetch.get()));
        let (returns_sender, returns) = mpsc::unbounded_channel();
        let (order, order_receiver) = watch::channel(Order::Run);
        let (subscribed_sender, subscribed) = watch::channel(false);
        let desk = desk(returns_sender);
        let limit = desk.limit;
        let supervisor = Supervisor {
            link,
            desk: Arc::new(desk),
            prefetch,
            deliveries: deliveries_sender,
            returns,
            order: order_receiver,
            subscribed: subscribed_sender,
        };
        tokio::spawn(supervisor.run());
        Self {
            deliveries,
            order,
            subscribed,
            limit,
        }
    }
}

#[async_trait]
impl Source for AmqpSource {
    async fn next(&mut self) -> Option<Delivery> {
        if *self.order.borrow() != Order::Run {
            return None;
        }
        self.deliveries.recv().await
    }

    async fn stop(&mut self) {
        self.order.send_replace(Order::Stop);
        // A subscription that does not end in time ends with its channel.
        drop(
            timeout(
                self.limit,
                self.subscribed.wait_for(|subscribed| !subscribed),
            )
            .await,
        );
        self.deliveries.close();
        while let Ok(waiting) = self.deliveries.try_recv() {
            drop(waiting);
        }
    }

    fn subscribed(&self) -> bool {
        *self.subscribed.borrow()
    }
}

impl Drop for AmqpSource {
    fn drop(&mut self) {
        self.order.send_replace(Order::Abandon);
    }
}

impl Supervisor {
    async fn run(mut self) {
        let mut backoff = Backoff::new();
        let mut order = self.order.clone();
        loop {
            let connection = tokio::select! {
                connection = self.link.up() => connection,
                () = reached(&mut order, |&order| order != Order::Run) => return,
            };
            let Ok(connection) = connection else { return };
            let started = Instant::now();
            let subscribe = subscribe(&connection, &self.desk.queue, self.prefetch);
            if let Ok(Ok((channel, stream))) = timeout(self.desk.limit, subscribe).await {
                self.subscribed.send_replace(true);
                let end = self.pump(&channel, stream).await;
                self.subscribed.send_replace(false);
                match end {
                    End::Lost => {}
                    End::Ordered => return,
                }
            }
            if started.elapsed() > HEALTHY {
                backoff = Backoff::new();
            }
            tokio::select! {
                () = sleep(backoff.wait()) => {}
                () = reached(&mut order, |&order| order != Order::Run) => return,
            }
        }
    }

    /// Hands out deliveries until the subscription is lost: a queue that is deleted ends the stream, an acknowledgement
    /// that came too late ends the channel, and both are the same to us.
    async fn pump(&mut self, channel: &Channel, mut stream: lapin::Consumer) -> End {
        loop {
            tokio::select! {
                order = self.order.changed() => {
                    if order.is_ok() && *self.order.borrow_and_update() == Order::Stop {
                        self.drain(channel, stream).await;
                    }
                    // Whatever is not settled goes back with its channel.
                    drop(timeout(self.desk.limit, channel.close(200, "done".into())).await);
                    return End::Ordered;
                }
                Some(acker) = self.returns.recv() => give_back(&acker, self.desk.limit).await,
                delivery = next(&mut stream) => match delivery {
                    Some(Ok(delivery)) => self.hand_out(delivery),
                    Some(Err(_)) | None => return End::Lost,
                },
            }
        }
    }

    /// Cancels the subscription and returns what had not been handed out; then waits until the consumer is dropped.
    async fn drain(&mut self, channel: &Channel, mut stream: lapin::Consumer) {
        let limit = self.desk.limit;
        let cancel = channel.basic_cancel(stream.tag(), BasicCancelOptions::default());
        if let Ok(Ok(())) = timeout(limit, cancel).await {
            while let Ok(Some(Ok(delivery))) = timeout(limit, next(&mut stream)).await {
                give_back(&delivery.acker, limit).await;
            }
        }
        self.subscribed.send_replace(false);
        let mut order = self.order.clone();
        loop {
            tokio::select! {
                () = reached(&mut order, |&order| order == Order::Abandon) => return,
                Some(acker) = self.returns.recv() => give_back(&acker, limit).await,
            }
        }
    }

    fn hand_out(&self, delivery: lapin::message::Delivery) {
        let (letter, headers) = properties::read(&delivery.properties, delivery.data);
        let hold = AmqpHold {
            desk: Arc::clone(&self.desk),
            acker: delivery.acker,
        };
        let delivery = Delivery::new(letter, headers.attempt, headers.returned, Box::new(hold));
        // When the consumer is gone, dropping the delivery returns it.
        drop(self.deliveries.try_send(delivery));
    }
}

async fn subscribe(
    connection: &Connection,
    queue: &str,
    prefetch: NonZeroU16,
) -> lapin::Result<(Channel, lapin::Consumer)> {
    let channel = connection.create_channel().await?;
    // For each consumer, never global: a quorum queue answers that by closing the connection.
    channel
        .basic_qos(prefetch.get(), BasicQosOptions { global: false })
        .await?;
    let options = BasicConsumeOptions::default();
    let stream = channel
        .basic_consume(queue.into(), "".into(), options, FieldTable::default())
        .await?;
    Ok((channel, stream))
}

async fn give_back(acker: &Acker, limit: Duration) {
    let options = BasicNackOptions {
        multiple: false,
        requeue: true,
    };
    // A channel that is gone has returned it already.
    drop(timeout(limit, acker.nack(options)).await);
}
