//! A sweep in progress: asks its strategy, evaluates each candidate once, and remembers in which order.
//!
//! It is pure: the driver evaluates what [`Sweep::ask`] returns and tells what came out. An interrupted sweep is
//! resumed by asking a new one and telling it the stored values again: the same values lead to the same candidates.

use std::collections::BTreeMap;

use evalfarm_domain::{CandidateId, Direction};
use serde::Serialize;

use super::strategy::{Batch, Configuration, Proposal, Stage, Strategy};
use super::{Observation, ObservationError, Observations, Observed};

/// A candidate that the sweep evaluates, in the order in which it does.
#[derive(Debug, Clone, PartialEq)]
pub struct Visit {
    /// Identity of the candidate.
    pub id: CandidateId,
    /// The stage that proposed it first.
    pub stage: Stage,
    /// The first configuration that turned out to be this candidate.
    pub configuration: Configuration,
}

/// A configuration that is the same candidate as one proposed before, and was not evaluated again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Alias {
    /// What people call the configuration.
    pub label: String,
    /// The stage that proposed it.
    pub stage: Stage,
    /// The candidate that it is.
    pub candidate: CandidateId,
    /// What people call the configuration that was evaluated.
    pub same_as: String,
}

/// What the driver has to do next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ask<'a> {
    /// Evaluate these, and tell one observation each, in this order.
    Evaluate(&'a [Visit]),
    /// The sweep is over.
    Finished,
}

/// A sweep in progress.
#[derive(Debug)]
pub struct Sweep {
    strategy: Box<dyn Strategy>,
    visits: Vec<Visit>,
    by_id: BTreeMap<CandidateId, usize>,
    aliases: Vec<Alias>,
    seen: Observations,
    finished: bool,
}

/// What people call the baseline, and the stage that proposes it.
pub const BASELINE: &str = "baseline";

impl Sweep {
    /// Returns a sweep that evaluates `baseline` first and then follows the strategy; `direction` is that of the primary
    /// metric.
    pub fn new(baseline: Configuration, strategy: Box<dyn Strategy>, direction: Direction) -> Self {
        let mut sweep = Self {
            strategy,
            visits: Vec::new(),
            by_id: BTreeMap::new(),
            aliases: Vec::new(),
            seen: Observations::new(direction),
            finished: false,
        };
        sweep.add(vec![Proposal {
            stage: Stage::new(BASELINE),
            configuration: Configuration {
                label: BASELINE.to_owned(),
                ..baseline
            },
        }]);
        sweep
    }

    /// Returns the candidates whose values the sweep needs next; the same ones until they are told.
    pub fn ask(&mut self) -> Ask<'_> {
        while self.pending().is_empty() && !self.finished {
            match self.strategy.next_batch(&self.seen) {
                Batch::Evaluate(proposals) => self.add(proposals),
                Batch::Finished => self.finished = true,
            }
        }
        if self.pending().is_empty() {
            Ask::Finished
        } else {
            Ask::Evaluate(self.pending())
        }
    }

    /// Records what the candidates of the last [`Self::ask`] gave, one observation each, in their order. Nothing is
    /// recorded when an observation cannot be.
    pub fn tell(&mut self, observations: &[Observation]) -> Result<(), ObservationError> {
        let asked = self.pending().len();
        if observations.len() != asked {
            let told = observations.len();
            return Err(ObservationError::Count { asked, told });
        }
        let first = self.seen.iter().map(|entry| entry.observation).next();
        if let Some(fold) = first
            .or(observations.first().copied())
            .map(Observation::fold)
            && observations.iter().any(|other| other.fold() != fold)
        {
            return Err(ObservationError::MixedFolds);
        }
        let observed: Vec<Observed> = self
            .pending()
            .iter()
            .zip(observations)
            .map(|(visit, &observation)| Observed {
                candidate: visit.id.clone(),
                point: visit.configuration.point.clone(),
                observation,
            })
            .collect();
        for entry in observed {
            self.seen.push(entry);
        }
        Ok(())
    }

    /// Returns every candidate proposed so far, in evaluation order, the baseline first.
    pub fn visits(&self) -> &[Visit] {
        &self.visits
    }

    /// Returns the configurations that were proposed and not evaluated, because they are candidates proposed before.
    pub fn aliases(&self) -> &[Alias] {
        &self.aliases
    }

    /// Returns what was observed, in evaluation order.
    pub fn observations(&self) -> &Observations {
        &self.seen
    }

    fn pending(&self) -> &[Visit] {
        self.visits
            .get(self.seen.iter().len()..)
            .unwrap_or_default()
    }

    fn add(&mut self, proposals: Vec<Proposal>) {
        let batch_start = self.visits.len();
        for Proposal {
            stage,
            configuration,
        } in proposals
        {
            let id = configuration.candidate.id();
            match self.by_id.get(&id) {
                None => {
                    self.by_id.insert(id.clone(), self.visits.len());
                    self.visits.push(Visit {
                        id,
                        stage,
                        configuration,
                    });
                }
                Some(&index) => {
                    let first = &self.visits[index].configuration;
                    // A strategy that comes back to a point is no second spelling of it; one that is written
                    // twice in a batch is.
                    let revisited = index < batch_start
                        && configuration.point.is_some()
                        && configuration.point == first.point;
                    if !revisited {
                        self.aliases.push(Alias {
                            label: configuration.label,
                            stage,
                            candidate: id,
                            same_as: first.label.clone(),
                        });
                    }
                }
            }
        }
    }
}
