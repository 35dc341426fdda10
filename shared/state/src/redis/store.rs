//! [`JobStore`] over Redis.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use evalfarm_domain::{EngineName, JobId, TaskId, WorkerId};
use redis::Script;

use super::keys::Keys;
use super::link::{Link, RedisSettings};
use super::scripts;
use crate::{
    Budget, Claim, Claimant, JobStore, Lease, Permit, PermitId, Progress, StateError, TaskEnd,
    WorkerReport,
};

/// Counts in Redis, by the server's clock.
pub struct RedisStore {
    link: Link,
    keys: Keys,
    retention: u64,
    scripts: Scripts,
}

struct Scripts {
    expect: Script,
    end: Script,
    progress: Script,
    claim: Script,
    renew: Script,
    beat: Script,
    acquire: Script,
}

impl RedisStore {
    /// Prepares a store; the first call connects, and so does the first call after a connection was lost. Needs a tokio
    /// runtime.
    pub fn open(settings: &RedisSettings) -> Result<Self, StateError> {
        Ok(Self {
            link: Link::new(settings)?,
            keys: Keys::new(&settings.prefix),
            retention: settings.retention.as_secs().max(1),
            scripts: Scripts {
                expect: Script::new(scripts::EXPECT),
                end: Script::new(scripts::END),
                progress: Script::new(scripts::PROGRESS),
                claim: Script::new(scripts::CLAIM),
                renew: Script::new(scripts::RENEW),
                beat: Script::new(scripts::BEAT),
                acquire: Script::new(scripts::ACQUIRE),
            },
        })
    }

    async fn change_lease(&self, lease: &Lease, millis: i64) -> Result<bool, StateError> {
        let mut script = self.scripts.renew.prepare_invoke();
        script
            .key(self.keys.job(&lease.job, "leases"))
            .arg(lease.task.as_str())
            .arg(written(&lease.claimant))
            .arg(lease.fence)
            .arg(millis);
        self.link.run(&script).await
    }
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore")
            .field("keys", &self.keys)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl JobStore for RedisStore {
    async fn expect(&self, job: &JobId, step: u32, tasks: u64) -> Result<(), StateError> {
        let mut script = self.scripts.expect.prepare_invoke();
        script
            .key(self.keys.job(job, "steps"))
            .arg(step)
            .arg(tasks)
            .arg(self.retention);
        self.link.run(&script).await
    }

    async fn end(&self, job: &JobId, task: &TaskId, end: TaskEnd) -> Result<(), StateError> {
        let end = match end {
            TaskEnd::Done => "done",
            TaskEnd::Dead => "dead",
        };
        let mut script = self.scripts.end.prepare_invoke();
        script
            .key(self.keys.job(job, "ends"))
            .key(self.keys.job(job, "counts"))
            .arg(task.as_str())
            .arg(end)
            .arg(self.retention);
        self.link.run(&script).await
    }

    async fn progress(&self, job: &JobId) -> Result<Option<Progress>, StateError> {
        let mut script = self.scripts.progress.prepare_invoke();
        script
            .key(self.keys.job(job, "steps"))
            .key(self.keys.job(job, "counts"));
        let (known, planned, done, dead): (u64, u64, u64, u64) = self.link.run(&script).await?;
        let progress = Progress {
            planned,
            done,
            dead,
        };
        Ok((known > 0).then_some(progress))
    }

    async fn claim(
        &self,
        job: &JobId,
        task: &TaskId,
        claimant: &Claimant,
        lease: Duration,
    ) -> Result<Claim, StateError> {
        let key = self.keys.job(job, "leases");
        let mut script = self.scripts.claim.prepare_invoke();
        script
            .key(&key)
            .key(self.keys.job(job, "fences"))
            .arg(task.as_str())
            .arg(written(claimant))
            .arg(millis(lease))
            .arg(self.retention);
        let (granted, fence, holder): (bool, u64, String) = self.link.run(&script).await?;
        if granted {
            return Ok(Claim::Granted(Lease {
                job: job.clone(),
                task: task.clone(),
                claimant: claimant.clone(),
                fence,
            }));
        }
        let by = read(&key, &holder)?;
        Ok(Claim::Held { by, fence })
    }

    async fn renew(&self, lease: &Lease, time: Duration) -> Result<bool, StateError> {
        self.change_lease(lease, millis(time)).await
    }

    async fn release(&self, lease: &Lease) -> Result<(), StateError> {
        self.change_lease(lease, -1).await.map(drop)
    }

    async fn attempts(&self, job: &JobId, task: &TaskId) -> Result<u64, StateError> {
        let key = self.keys.job(job, "fences");
        let fence: Option<u64> = self
            .link
            .send(redis::cmd("HGET").arg(key).arg(task.as_str()))
            .await?;
        Ok(fence.unwrap_or(0))
    }

    async fn cancel(&self, job: &JobId, reason: &str) -> Result<(), StateError> {
        let key = self.keys.job(job, "cancelled");
        let mut command = redis::cmd("SET");
        command
            .arg(key)
            .arg(reason)
            .arg("NX")
            .arg("EX")
            .arg(self.retention);
        let _set: Option<String> = self.link.send(&command).await?;
        Ok(())
    }

    async fn cancelled(&self, job: &JobId) -> Result<Option<String>, StateError> {
        let key = self.keys.job(job, "cancelled");
        self.link.send(redis::cmd("GET").arg(key)).await
    }

    async fn forget_job(&self, job: &JobId) -> Result<(), StateError> {
        let mut command = redis::cmd("DEL");
        for part in ["steps", "ends", "counts", "leases", "fences", "cancelled"] {
            command.arg(self.keys.job(job, part));
        }
        let _removed: u64 = self.link.send(&command).await?;
        Ok(())
    }

    async fn beat(&self, report: &WorkerReport) -> Result<(), StateError> {
        let json = serde_json::to_string(report).expect("a report has a JSON form");
        let mut script = self.scripts.beat.prepare_invoke();
        script
            .key(self.keys.workers())
            .arg(report.worker.as_str())
            .arg(report.seen.0)
            .arg(json);
        let _stored: bool = self.link.run(&script).await?;
        Ok(())
    }

    async fn workers(&self) -> Result<Vec<WorkerReport>, StateError> {
        let key = self.keys.workers();
        let stored: Vec<(String, String)> = self.link.send(redis::cmd("HGETALL").arg(&key)).await?;
        let mut reports = Vec::with_capacity(stored.len());
        for (_, value) in stored {
            let report = value
                .split_once(' ')
                .and_then(|(_, json)| serde_json::from_str::<WorkerReport>(json).ok());
            let Some(report) = report else {
                return Err(StateError::Stored { key, value });
            };
            reports.push(report);
        }
        reports.sort_by(|one, other| one.worker.cmp(&other.worker));
        Ok(reports)
    }

    async fn forget_worker(&self, worker: &WorkerId) -> Result<(), StateError> {
        let key = self.keys.workers();
        let _removed: u64 = self
            .link
            .send(redis::cmd("HDEL").arg(key).arg(worker.as_str()))
            .await?;
        Ok(())
    }

    async fn acquire(
        &self,
        engine: &EngineName,
        budget: &Budget,
        permit: &PermitId,
        hold: Duration,
    ) -> Result<Permit, StateError> {
        let key = self.keys.engine(engine, "permits");
        let (interval, burst) = budget.pace.map_or((0, 1), |pace| {
            (micros(pace.interval).max(1), pace.burst.get())
        });
        let mut script = self.scripts.acquire.prepare_invoke();
        script
            .key(&key)
            .key(self.keys.engine(engine, "next"))
            .arg(permit.0.as_str())
            .arg(micros(hold).max(1))
            .arg(budget.concurrent.get())
            .arg(interval)
            .arg(burst);
        let (answer, wait): (u8, u64) = self.link.run(&script).await?;
        let wait = Duration::from_micros(wait);
        match answer {
            1 => Ok(Permit::Granted),
            2 => Ok(Permit::AllHeld { expires_in: wait }),
            3 => Ok(Permit::TooSoon { wait }),
            other => {
                let value = other.to_string();
                Err(StateError::Stored { key, value })
            }
        }
    }

    async fn give_back(&self, engine: &EngineName, permit: &PermitId) -> Result<(), StateError> {
        let key = self.keys.engine(engine, "permits");
        let _removed: u64 = self
            .link
            .send(redis::cmd("ZREM").arg(key).arg(permit.0.as_str()))
            .await?;
        Ok(())
    }
}

fn written(claimant: &Claimant) -> String {
    format!("{} {}", claimant.slot, claimant.worker)
}

fn read(key: &str, text: &str) -> Result<Claimant, StateError> {
    let parts = text
        .split_once(' ')
        .and_then(|(slot, worker)| Some((slot.parse().ok()?, worker)));
    let Some((slot, worker)) = parts else {
        let (key, value) = (key.to_owned(), text.to_owned());
        return Err(StateError::Stored { key, value });
    };
    let worker = WorkerId::try_from(worker)?;
    Ok(Claimant { worker, slot })
}

// Capped far below where the scripts' doubles lose whole numbers: 2^53 µs are 285 years.
fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).map_or(LONGEST_MICROS, |micros| micros.min(LONGEST_MICROS))
}

fn millis(duration: Duration) -> i64 {
    micros(duration) / 1000
}

/// A hundred years.
const LONGEST_MICROS: i64 = 100 * 365 * 86_400 * 1_000_000;
