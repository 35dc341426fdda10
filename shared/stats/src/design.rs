//! How the queries of one job count, and which of them hang together.

use std::collections::BTreeMap;

/// Weights and clusters of the rows of a job; the same for all its candidates and metrics.
///
/// A *unit* is what is resampled: a cluster, or a single row when the design has none. Invariants: at least one row; weights
/// positive and finite.
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    weights: Option<Vec<f64>>,
    /// Unit of each row, below `units`; absent when each row is its own unit.
    unit_of: Option<Vec<usize>>,
    rows: usize,
    units: usize,
}

/// Weights or clusters that do not fit the rows.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DesignError {
    /// There are no rows.
    #[error("a design needs at least one row")]
    Empty,
    /// A column does not have one entry for each row.
    #[error("the {column} have `{found}` entries for `{rows}` rows")]
    Length {
        /// `weights` or `clusters`.
        column: &'static str,
        /// Entries found.
        found: usize,
        /// Rows of the design.
        rows: usize,
    },
    /// A weight is not positive and finite.
    #[error("weight `{weight}` of row `{row}` is not positive and finite")]
    Weight {
        /// Zero-based row.
        row: usize,
        /// The rejected weight.
        weight: f64,
    },
}

impl Design {
    /// Returns a design of `rows` independent rows that count the same.
    pub fn independent(rows: usize) -> Result<Self, DesignError> {
        Self::new(rows, None, None)
    }

    /// Returns a design with a weight and a cluster label for each row, where given.
    ///
    /// Rows with the same label are resampled together. Clusters are numbered by their first row.
    pub fn new(
        rows: usize,
        weights: Option<Vec<f64>>,
        clusters: Option<&[u32]>,
    ) -> Result<Self, DesignError> {
        if rows == 0 {
            return Err(DesignError::Empty);
        }
        let check = |column, found| {
            if found == rows {
                Ok(())
            } else {
                Err(DesignError::Length {
                    column,
                    found,
                    rows,
                })
            }
        };
        if let Some(weights) = &weights {
            check("weights", weights.len())?;
            let bad = weights.iter().position(|w| !(w.is_finite() && *w > 0.0));
            if let Some(row) = bad {
                return Err(DesignError::Weight {
                    row,
                    weight: weights[row],
                });
            }
        }
        let Some(clusters) = clusters else {
            return Ok(Self {
                weights,
                unit_of: None,
                rows,
                units: rows,
            });
        };
        check("clusters", clusters.len())?;
        let mut numbers = BTreeMap::new();
        let unit_of = clusters
            .iter()
            .map(|label| {
                let next = numbers.len();
                *numbers.entry(*label).or_insert(next)
            })
            .collect();
        Ok(Self {
            weights,
            unit_of: Some(unit_of),
            rows,
            units: numbers.len(),
        })
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of units that are resampled.
    pub fn units(&self) -> usize {
        self.units
    }

    /// Returns the weight of a row; 1 without weights.
    pub fn weight(&self, row: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[row])
    }

    /// Returns the unit of a row.
    pub fn unit(&self, row: usize) -> usize {
        self.unit_of.as_ref().map_or(row, |unit_of| unit_of[row])
    }

    /// Whether every unit has the same mass, so that the mass of a bootstrap sample is always that of the data.
    pub(crate) fn is_uniform(&self) -> bool {
        self.weights.is_none() && self.unit_of.is_none()
    }

    /// Returns the mass of each unit: the sum of its rows' weights.
    pub(crate) fn masses(&self) -> Vec<f64> {
        let mut masses = vec![0.0; self.units];
        for row in 0..self.rows {
            masses[self.unit(row)] += self.weight(row);
        }
        masses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_are_numbered_by_their_first_row() {
        let design = Design::new(4, None, Some(&[7, 3, 7, 9])).unwrap();
        assert_eq!(design.units(), 3);
        let units: Vec<usize> = (0..4).map(|row| design.unit(row)).collect();
        assert_eq!(units, [0, 1, 0, 2]);
        assert_eq!(design.masses(), [2.0, 1.0, 1.0]);
    }

    #[test]
    fn weights_that_are_not_positive_are_refused() {
        for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(
                Design::new(2, Some(vec![1.0, weight]), None),
                Err(DesignError::Weight { row: 1, .. })
            ));
        }
        assert_eq!(Design::independent(0), Err(DesignError::Empty));
        assert!(matches!(
            Design::new(2, None, Some(&[1])),
            Err(DesignError::Length { found: 1, .. })
        ));
    }
}
