//! Faults around a job that is under way cost time, and no result.

use evalfarm_broker::{AmqpBroker, AmqpSettings, Broker as _, Letter, Trace};
use evalfarm_proto::{DEFAULT_DELAYS, Queue, Topology};
use evalfarm_testkit::{PrivateRabbit, PrivateRedis};
use evalfarm_tests::wait_until;

use crate::jobs::{undisturbed, with_seed};
use crate::scene::{Farm, SWEEP, differences, shared_broker, token};

/// Starts a farm with further variables for its processes and a slow engine.
fn farm_with(name: &str, variables: &[(&str, String)], latency_ms: u32) -> Farm {
    let farm = Farm::set(name, variables);
    let lines = format!("kind = \"delay\"\nlatency_ms = {latency_ms}");
    farm.engine("slow", &lines);
    farm
}

fn start_worker(farm: &mut Farm, slots: &str) {
    farm.start_worker(&["--config", "worker.toml", "--slots", slots]);
}

/// The next job of a farm on which something happened is evaluated as ever.
fn is_usable(farm: &Farm) {
    let job = farm.submit(&with_seed(8));
    assert_eq!(farm.ended(&job)["state"], "judged");
}

#[test]
fn a_task_that_outlives_the_patience_of_the_broker_is_committed_once() {
    let rabbit = PrivateRabbit::impatient();
    let broker = ("EVALFARM_BROKER", rabbit.uri());
    // 208 requests of 45 ms are 9.4 s; the broker waits 5 to 7 s.
    let mut farm = farm_with("impatient", &[broker], 45);
    start_worker(&mut farm, "12");
    let job = farm.submit(SWEEP);
    let tree = farm.judged(&job);
    assert_eq!(differences(undisturbed(), &tree), [""; 0]);
    let lost = farm.measured(0, "farm_ack_lost_total", "");
    assert!(lost >= 1, "no acknowledgement came too late");
    let tasks = &farm.status(&job)["tasks"];
    let won = farm.measured(0, "farm_results_committed_total", "outcome=\"won\"");
    assert_eq!(Some(won), tasks["done"].as_u64(), "each is committed once");
    let differ = farm.measured(0, "farm_results_committed_total", "outcome=\"mismatch\"");
    assert_eq!((differ, &tasks["dead"]), (0, &0.into()));
    // The same worker goes on.
    farm.bench.write("worker.toml", "");
    let quick = with_seed(9).replace("[engine]\nname = \"slow\"\n", "");
    let job = farm.submit(&quick);
    assert_eq!(farm.ended(&job)["state"], "judged");
}

#[test]
fn heartbeats_that_come_too_late_fail_nothing() {
    // A worker is taken for dead a second after its only heartbeat.
    let mut farm = farm_with("silent", &[("EVALFARM_ALIVE", "1".to_owned())], 5);
    farm.start_worker(&[
        "--config",
        "worker.toml",
        "--slots",
        "2",
        "--heartbeat",
        "30m",
    ]);
    let job = farm.submit(SWEEP);
    let silent = wait_until("the worker's silence", || {
        let list = farm.run(&["workers", "--format", "json"]).json();
        let worker = list["workers"].get(0)?.clone();
        (worker["alive"] == false).then_some(worker)
    });
    assert!(silent["silent_seconds"].as_f64() > Some(1.0), "{silent}");
    assert!(farm.status(&job)["end"].is_null(), "it ended too soon");
    let tree = farm.judged(&job);
    assert_eq!(differences(undisturbed(), &tree), [""; 0]);
    let tasks = &farm.status(&job)["tasks"];
    assert_eq!((&tasks["retried"], &tasks["dead"]), (&0.into(), &0.into()));
}

#[test]
fn a_redis_that_goes_away_fails_nothing() {
    let mut redis = PrivateRedis::start();
    let mut farm = farm_with("redis", &[("EVALFARM_REDIS", redis.url())], 5);
    start_worker(&mut farm, "2");
    let job = farm.submit(SWEEP);
    farm.wait_for_the_middle(&job);
    redis.kill();
    let tree = farm.judged(&job);
    assert_eq!(differences(undisturbed(), &tree), [""; 0]);
    let tasks = &farm.status(&job)["tasks"];
    assert_eq!((&tasks["retried"], &tasks["dead"]), (&0.into(), &0.into()));
    redis.restart();
    redis.flush();
    is_usable(&farm);
    wait_until("heartbeats", || {
        let list = farm.run(&["workers", "--format", "json"]).json();
        (list["workers"].get(0)?["alive"] == true).then_some(())
    });
}

#[test]
fn the_last_task_of_a_worker_that_stands_still_is_done_by_another() {
    let mut farm = farm_with("straggler", &[("EVALFARM_STRAGGLER", "2".to_owned())], 2);
    start_worker(&mut farm, "1");
    let job = farm.submit(SWEEP);
    wait_until("a task in the worker's hands", || {
        (farm.measured(0, "farm_inflight_tasks", "") > 0).then_some(())
    });
    farm.workers[0].signal("STOP");
    start_worker(&mut farm, "1");
    let tree = farm.judged(&job);
    assert_eq!(differences(undisturbed(), &tree), [""; 0]);
    let tasks = &farm.status(&job)["tasks"];
    assert!(tasks["offered_again"].as_u64() >= Some(1), "{tasks}");
    assert_eq!((&tasks["retried"], &tasks["dead"]), (&0.into(), &0.into()));
    farm.workers[0].signal("CONT");
    // It finishes what it had, and finds that this is there.
    let handled = |outcome: &str| farm.measured(0, "farm_results_committed_total", outcome);
    wait_until("the end of the first offer", || {
        (handled("outcome=\"duplicate\"") > 0).then_some(())
    });
    assert_eq!(handled("outcome=\"mismatch\""), 0);
    assert_eq!(differences(&tree, &farm.fetched(&job)), [""; 0]);
    is_usable(&farm);
}

#[test]
fn a_message_of_a_newer_release_is_kept_and_disturbs_nobody() {
    let mut farm = farm_with("newer", &[], 1);
    start_worker(&mut farm, "2");
    let job = farm.submit(SWEEP);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be started");
    let topology = Topology::new(farm.prefix(), &DEFAULT_DELAYS).expect("the prefix is valid");
    let settings = AmqpSettings::new(shared_broker(), "test".to_owned());
    runtime.block_on(async {
        let broker = AmqpBroker::connect(settings, topology).await;
        let broker = broker.expect("the broker is there");
        // Magic, version 9, and whatever that release writes.
        let letter = Letter {
            id: "of-the-future".to_owned(),
            job: None,
            trace: Trace::default(),
            body: b"EVFM\x09 bytes of another layout".to_vec(),
        };
        let published = broker.publish(Queue::Tasks, &letter).await;
        published.expect("it can be published");
        broker.close().await;
    });
    let tree = farm.judged(&job);
    assert_eq!(differences(undisturbed(), &tree), [""; 0]);
    wait_until("the message's postponement", || {
        (farm.measured(0, "farm_postponed_total", "reason=\"newer\"") > 0).then_some(())
    });
    is_usable(&farm);
    assert_eq!(farm.measured(0, "farm_dead_lettered_total", ""), 0);
    let dead = farm.ask("GET", "/v1/dead", Some(&token("rita")));
    assert_eq!(dead.as_deref(), Ok("{\"dead\":[]}"));
    // Nobody takes it any more, so it is where it can be counted.
    farm.workers.clear();
    wait_until("the message", || {
        let held: u32 = farm.queues().values().sum();
        (held == 1).then_some(())
    });
}
