//! The jobs that are open here: a bounded number, those used last.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use evalfarm_domain::{Digest, EngineName, EngineSettings, JobId, JobSettings};
use evalfarm_retrieval::{Bm25Index, IndexError};
use evalfarm_store::{CachedDataset, LocalCache, Room, Store, StoreError};

use super::bench::{Bench, KeptIndex, Kit, Served};
use super::budget::Permits;
use super::engine::Engine;
use super::opening::{OpenError, Opened, Opening};

/// What jobs are opened from.
#[derive(Debug)]
pub(super) struct Sources {
    pub(super) store: Store,
    pub(super) cache: LocalCache,
    pub(super) engines: BTreeMap<EngineName, Engine>,
    pub(super) permits: Arc<Permits>,
    shelves: Mutex<Shelves>,
}

/// What jobs share for as long as one of them is open: jobs of one dataset have it in memory once.
#[derive(Debug, Default)]
struct Shelves {
    datasets: BTreeMap<Digest, Weak<Opening<CachedDataset>>>,
    indexes: BTreeMap<String, Weak<Opening<KeptIndex>>>,
}

/// Jobs by id.
#[derive(Debug)]
pub(super) struct Jobs {
    sources: Arc<Sources>,
    /// How many stay open.
    most: usize,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    clock: u64,
    jobs: BTreeMap<JobId, Entry>,
}

#[derive(Debug)]
struct Entry {
    opening: Arc<Opening<Job>>,
    used: u64,
}

type SharedParts = (Arc<Opening<CachedDataset>>, Arc<Opening<KeptIndex>>);

/// A job's settings, and where its tasks are computed once one of them has to be.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) served: Served,
    settings: Arc<JobSettings>,
    bench: Opening<Bench>,
    /// What its bench is made of stays shared for as long as this.
    parts: Mutex<Option<SharedParts>>,
    sources: Arc<Sources>,
}

/// A job in use, which is closed last.
#[derive(Debug)]
pub(super) struct InUse {
    job: Arc<Job>,
    _opening: Arc<Opening<Job>>,
}

impl Deref for InUse {
    type Target = Job;

    fn deref(&self) -> &Job {
        &self.job
    }
}

impl Sources {
    pub(super) fn new(
        store: Store,
        cache: LocalCache,
        engines: BTreeMap<EngineName, Engine>,
        permits: Arc<Permits>,
    ) -> Self {
        Self {
            store,
            cache,
            engines,
            permits,
            shelves: Mutex::default(),
        }
    }

    fn shelves(&self) -> MutexGuard<'_, Shelves> {
        self.shelves.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn served(&self, settings: &JobSettings) -> Result<Served, OpenError> {
        let Some(name) = &settings.served_by else {
            return Ok(Served::Embedded);
        };
        match self.engines.get(name) {
            Some(engine) => Ok(Served::Named(name.clone(), engine.clone())),
            None => Err(OpenError::UnknownEngine(name.clone())),
        }
    }
}

/// Returns what is on a shelf under a key, and forgets what nobody uses.
fn on_shelf<K: Ord, T>(shelf: &mut BTreeMap<K, Weak<Opening<T>>>, key: K) -> Arc<Opening<T>> {
    shelf.retain(|_, opening| opening.strong_count() > 0);
    if let Some(opening) = shelf.get(&key).and_then(Weak::upgrade) {
        return opening;
    }
    let opening = Arc::new(Opening::default());
    shelf.insert(key, Arc::downgrade(&opening));
    opening
}

impl Jobs {
    pub(super) fn new(sources: Sources, most: usize) -> Self {
        Self {
            sources: Arc::new(sources),
            most,
            known: Mutex::default(),
        }
    }

    pub(super) fn store(&self) -> &Store {
        &self.sources.store
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a job, whose settings are read if nobody did so yet.
    pub(super) async fn job(&self, id: &JobId) -> Result<InUse, OpenError> {
        let opening = self.known().entry(id, self.most);
        let (sources, wanted) = (Arc::clone(&self.sources), id.clone());
        let opened = opening.get(|| async move {
            let settings = sources.store.settings(&wanted).await;
            let settings = settings.map_err(|error| OpenError::Settings(Arc::new(error)))?;
            Ok(Job {
                served: sources.served(&settings)?,
                settings: Arc::new(settings),
                bench: Opening::default(),
                parts: Mutex::default(),
                sources,
            })
        });
        match opened.await {
            Ok(job) => Ok(InUse {
                job,
                _opening: opening,
            }),
            Err(error) => {
                self.close(id);
                Err(error)
            }
        }
    }

    /// Forgets a job: its tasks are finished as they are, later ones open it again.
    pub(super) fn close(&self, id: &JobId) {
        self.known().jobs.remove(id);
    }
}

impl Known {
    fn entry(&mut self, id: &JobId, most: usize) -> Arc<Opening<Job>> {
        self.clock += 1;
        let used = self.clock;
        if let Some(entry) = self.jobs.get_mut(id) {
            entry.used = used;
            return Arc::clone(&entry.opening);
        }
        while self.jobs.len() >= most {
            // One that nobody uses, else there are more for a while: never more than slots.
            let idle = self.jobs.iter();
            let idle = idle.filter(|(_, entry)| Arc::strong_count(&entry.opening) == 1);
            let oldest = idle.min_by_key(|(_, entry)| entry.used);
            let Some(oldest) = oldest.map(|(id, _)| id.clone()) else {
                break;
            };
            self.jobs.remove(&oldest);
        }
        let opening = Arc::new(Opening::default());
        let entry = Entry {
            opening: Arc::clone(&opening),
            used,
        };
        self.jobs.insert(id.clone(), entry);
        opening
    }
}

impl Job {
    /// Returns where the job's tasks are computed: dataset and index are fetched, verified and built if need be.
    pub(super) async fn bench(&self) -> Opened<Bench> {
        let (sources, settings) = (Arc::clone(&self.sources), Arc::clone(&self.settings));
        let (served, shared) = (self.served.clone(), self.shared_parts());
        self.bench
            .get(|| async move {
                let (dataset, index) = shared;
                let dataset = dataset.get(|| fetch(Arc::clone(&sources), settings.dataset));
                let dataset = dataset.await?;
                let open =
                    || open_index(Arc::clone(&sources), Arc::clone(&dataset), settings.engine);
                let index = index.get(open).await?;
                let kit = Kit {
                    settings,
                    dataset,
                    index,
                    served,
                    permits: Arc::clone(&sources.permits),
                };
                Bench::open(kit).await
            })
            .await
    }

    fn shared_parts(&self) -> SharedParts {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let (dataset, index) = parts.get_or_insert_with(|| {
            let fingerprint = self.settings.dataset;
            let mut shelves = self.sources.shelves();
            let key = index_name(fingerprint, &self.settings.engine);
            (
                on_shelf(&mut shelves.datasets, fingerprint),
                on_shelf(&mut shelves.indexes, key),
            )
        });
        (Arc::clone(dataset), Arc::clone(index))
    }
}

async fn fetch(sources: Arc<Sources>, fingerprint: Digest) -> Result<CachedDataset, OpenError> {
    let dataset = sources.cache.dataset(&sources.store, fingerprint).await;
    dataset.map_err(|error| OpenError::Dataset(Arc::new(error)))
}

/// Returns the name of an index in the cache. Another release may write another format, and has its own.
fn index_name(corpus: Digest, engine: &EngineSettings) -> String {
    let engine = serde_json::to_vec(engine).expect("settings have a JSON form");
    let release = env!("CARGO_PKG_VERSION").as_bytes();
    let digest = Digest::of_parts([corpus.as_bytes(), engine.as_slice(), release]);
    format!("index-{}", digest.short(32))
}

async fn open_index(
    sources: Arc<Sources>,
    dataset: Arc<CachedDataset>,
    engine: EngineSettings,
) -> Result<KeptIndex, OpenError> {
    let corpus = dataset.dataset.manifest.corpus_digest;
    let name = index_name(corpus, &engine);
    let at = move |folder: &Path| -> Result<Bm25Index, IndexError> {
        let corpus = &dataset.dataset.corpus;
        Ok(Bm25Index::open_or_build(
            folder,
            dataset.dataset.manifest.corpus_digest,
            corpus,
            &engine,
        )?
        .index)
    };
    let build = at.clone();
    let make = |room: Room| {
        let build = build.clone();
        async move {
            // Fails again, with the reason, when what was made is opened.
            let made = tokio::task::spawn_blocking(move || drop(build(room.folder())));
            made.await.map_err(|_| StoreError::ShuttingDown)
        }
    };
    // The cache knows no errors of indexes: they pass through as a value.
    let opened = sources
        .cache
        .keep(&name, move |folder: &Path| Ok(at(folder)), make);
    let (index, kept) = opened
        .await
        .map_err(|error| OpenError::KeepIndex(Arc::new(error)))?;
    Ok(KeptIndex {
        index: index.map_err(|error| OpenError::Index(Arc::new(error)))?,
        _kept: kept,
    })
}
