//! Broadcasts out. Each listener has a queue that lives as long as its connection.

use std::sync::Arc;
use std::time::Duration;

use lapin::options::{BasicConsumeOptions, QueueBindOptions, QueueDeclareOptions};
use lapin::types::FieldTable;
use lapin::{Channel, Connection};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::backoff::Backoff;
use super::link::{Link, next};
use super::properties;
use crate::consumer::LISTENER_BACKLOG;
use crate::{Letter, Listener};

/// Starts to listen, and returns at once.
pub(super) fn listen(link: Arc<Link>, exchange: String, limit: Duration) -> Listener {
    let (sender, letters) = mpsc::channel(LISTENER_BACKLOG);
    tokio::spawn(async move {
        tokio::select! {
            () = forward(&link, &exchange, limit, &sender) => {}
            () = sender.closed() => {}
        }
    });
    Listener { letters }
}

async fn forward(link: &Link, exchange: &str, limit: Duration, letters: &mpsc::Sender<Letter>) {
    let mut backoff = Backoff::new();
    while let Ok(connection) = link.up().await {
        if let Ok(Ok((_channel, mut stream))) = timeout(limit, bind(&connection, exchange)).await {
            backoff = Backoff::new();
            while let Some(Ok(delivery)) = next(&mut stream).await {
                let (letter, _) = properties::read(&delivery.properties, delivery.data);
                // Who is so far behind misses it.
                drop(letters.try_send(letter));
            }
        }
        sleep(backoff.wait()).await;
    }
}

async fn bind(
    connection: &Connection,
    exchange: &str,
) -> lapin::Result<(Channel, lapin::Consumer)> {
    let channel = connection.create_channel().await?;
    let options = QueueDeclareOptions {
        exclusive: true,
        auto_delete: true,
        ..QueueDeclareOptions::default()
    };
    let none = FieldTable::default;
    let queue = channel.queue_declare("".into(), options, none()).await?;
    let name = queue.name().clone();
    let options = QueueBindOptions::default();
    channel
        .queue_bind(name.clone(), exchange.into(), "".into(), options, none())
        .await?;
    let options = BasicConsumeOptions {
        no_ack: true,
        ..BasicConsumeOptions::default()
    };
    let stream = channel
        .basic_consume(name, "".into(), options, none())
        .await?;
    Ok((channel, stream))
}
