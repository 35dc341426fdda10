//! Small sweep files.

use std::fmt::Write as _;

/// Where the data of a sweep comes from.
#[derive(Debug, Clone)]
pub enum Data {
    /// A dataset folder.
    Stored(String),
    /// A generated catalogue of so many products and queries.
    Generated(u32, u32),
}

/// A sweep file, over the five fields of the generated catalogue unless the test chooses others.
#[derive(Debug, Clone)]
pub struct Sweep {
    /// The data.
    pub data: Data,
    /// Queries to select on and to judge on; nothing when every candidate is judged on every query.
    pub split: Option<(u32, u32)>,
    /// Seed of the strategy.
    pub seed: u64,
    /// The lines of the `[sweep]` table.
    pub strategy: String,
    /// Lines of the `[policy]` table.
    pub policy: String,
    /// Weights of the baseline, an inline table.
    pub baseline: String,
}

impl Sweep {
    /// Returns a sweep with that strategy that selects on half of the queries and judges on the other.
    pub fn new(data: Data, train: u32, holdout: u32, strategy: &str) -> Self {
        Self {
            data,
            split: Some((train, holdout)),
            seed: 7,
            strategy: strategy.to_owned(),
            policy: String::new(),
            baseline:
                "{ title = 4.0, brand = 2.5, bullet_point = 1.5, description = 1.0, category = 1.2 }"
                    .to_owned(),
        }
    }

    /// Returns the file.
    ///
    /// # Panics
    ///
    /// Never: text can always be appended to.
    pub fn toml(&self) -> String {
        let mut text = format!("name = \"small\"\nseed = {}\n\n[dataset]\n", self.seed);
        match &self.data {
            Data::Stored(path) => writeln!(text, "path = '{path}'"),
            Data::Generated(products, queries) => writeln!(
                text,
                "generate = {{ catalogue = \"shop\", seed = 20260816, products = {products}, queries = {queries} }}"
            ),
        }
        .expect("text can be appended to");
        if let Some((train, holdout)) = self.split {
            write!(
                text,
                "\n[split]\nseed = 20260816\ntrain = {train}\nholdout = {holdout}\n"
            )
            .expect("text can be appended to");
        }
        text + "\n[metrics]\nprimary = \"nDCG@10\"\nguards = [\"RR@10\", \"R@10\", \"P@10\"]\n"
            + "\n[baseline]\nweights = "
            + &self.baseline
            + "\n\n[policy]\n"
            + &self.policy
            + "\n[sweep]\n"
            + &self.strategy
            + "\n"
    }
}
