//! Every combination of the values of each axis.

use evalfarm_domain::{Candidate, Combine};
use serde::Serialize;

use super::{Batch, Configuration, Proposal, Stage, Strategy};
use crate::sweep::{Observations, Space};

/// Most combinations that a grid may have.
pub const MAX_GRID: usize = 100_000;

/// The axes of a grid.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GridSettings {
    /// For each field of the space, in its order, the ratios; at least one each, within the space.
    pub ratios: Vec<Vec<f64>>,
    /// Ways to combine fields; at least one.
    pub combines: Vec<Combine>,
}

impl GridSettings {
    /// Returns the number of combinations, equal ones counted as often as they occur; `usize::MAX` when it does not
    /// fit.
    pub fn combinations(&self) -> usize {
        self.ratios
            .iter()
            .map(Vec::len)
            .fold(self.combines.len(), usize::saturating_mul)
    }
}

/// Proposes every combination in one batch: the last field changes fastest, the way to combine fields slowest.
#[derive(Debug)]
pub struct Grid {
    space: Space,
    settings: Option<GridSettings>,
}

impl Grid {
    /// Returns the strategy that walks this grid.
    pub fn new(space: Space, settings: GridSettings) -> Self {
        Self {
            space,
            settings: Some(settings),
        }
    }

    fn configuration(&self, ratios: &[f64], combine: Combine) -> Option<Configuration> {
        let point = self.space.point(ratios).ok()?;
        let mut configuration = Configuration::at(&self.space, point);
        if combine != self.space.combine() {
            configuration.candidate = Candidate {
                combine,
                weights: configuration.candidate.weights,
            };
            configuration.label = format!("{} {}", configuration.label, describe(combine));
            configuration.point = None; // points are comparable only under one way to combine
        }
        Some(configuration)
    }
}

fn describe(combine: Combine) -> String {
    match combine {
        Combine::BestFields { tie_breaker } => format!("best_fields {tie_breaker}"),
        Combine::MostFields => "most_fields".to_owned(),
    }
}

impl Strategy for Grid {
    fn next_batch(&mut self, _seen: &Observations) -> Batch {
        let Some(settings) = self.settings.take() else {
            return Batch::Finished;
        };
        let mut points: Vec<Vec<f64>> = vec![Vec::new()];
        for values in &settings.ratios {
            points = points
                .iter()
                .flat_map(|point| values.iter().map(|&v| [point.as_slice(), &[v]].concat()))
                .collect();
        }
        let combines = settings.combines.iter();
        let pairs = combines.flat_map(|&combine| points.iter().map(move |point| (point, combine)));
        let proposals = pairs
            .filter_map(|(ratios, combine)| self.configuration(ratios, combine))
            .map(|configuration| Proposal {
                stage: Stage::new("grid"),
                configuration,
            });
        Batch::Evaluate(proposals.collect())
    }
}
