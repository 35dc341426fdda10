//! What catalogue is wanted.

/// Fewest products of a catalogue.
pub const MIN_PRODUCTS: u32 = 50;
/// Most products of a catalogue.
pub const MAX_PRODUCTS: u32 = 1_000_000;
/// Most queries of a catalogue.
pub const MAX_QUERIES: u32 = 100_000;

/// A catalogue that cannot be generated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// Too few or too many products.
    #[error("`{products}` products: between {MIN_PRODUCTS} and {MAX_PRODUCTS} can be generated")]
    Products {
        /// The rejected number.
        products: u32,
    },
    /// No query, or too many.
    #[error("`{queries}` queries: between 1 and {MAX_QUERIES} can be generated")]
    Queries {
        /// The rejected number.
        queries: u32,
    },
    /// A share above 100 %.
    #[error("`{percent}` percent of the queries in clusters: at most 100 are possible")]
    Clustered {
        /// The rejected share.
        percent: u32,
    },
}

/// What catalogue is wanted: the same specification gives the same bytes on every machine.
///
/// Invariants: sizes within the limits of this module, shares at most 100 %.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogueSpec {
    seed: u64,
    products: u32,
    queries: u32,
    clustered_percent: u32,
    even_traffic: bool,
}

impl CatalogueSpec {
    /// Seed of the default catalogue; any other gives a catalogue of the same kind.
    pub const DEFAULT_SEED: u64 = 20_260_816;

    /// Returns the specification of a catalogue of that size, with the default share of clusters and uneven traffic.
    ///
    /// `products` lies between [`MIN_PRODUCTS`] and [`MAX_PRODUCTS`], `queries` between 1 and [`MAX_QUERIES`].
    pub fn new(seed: u64, products: u32, queries: u32) -> Result<Self, SpecError> {
        if !(MIN_PRODUCTS..=MAX_PRODUCTS).contains(&products) {
            return Err(SpecError::Products { products });
        }
        if !(1..=MAX_QUERIES).contains(&queries) {
            return Err(SpecError::Queries { queries });
        }
        Ok(Self {
            seed,
            products,
            queries,
            clustered_percent: 20,
            even_traffic: false,
        })
    }

    /// Sets the share of queries that are wordings of an intent which other queries have too, in percent.
    pub fn with_clustered_percent(mut self, percent: u32) -> Result<Self, SpecError> {
        if percent > 100 {
            return Err(SpecError::Clustered { percent });
        }
        self.clustered_percent = percent;
        Ok(self)
    }

    /// Gives every query the weight 1.
    #[must_use]
    pub fn with_even_traffic(mut self) -> Self {
        self.even_traffic = true;
        self
    }

    /// Returns the seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the number of products.
    pub fn products(&self) -> u32 {
        self.products
    }

    /// Returns the number of queries.
    pub fn queries(&self) -> u32 {
        self.queries
    }

    /// Returns the approximate share of queries that are in a cluster with others, in percent.
    pub fn clustered_percent(&self) -> u32 {
        self.clustered_percent
    }

    /// Whether every query has the weight 1.
    pub fn has_even_traffic(&self) -> bool {
        self.even_traffic
    }
}

impl Default for CatalogueSpec {
    /// Returns the catalogue at the scale of the published experiment: 20,000 products and 2,000 queries.
    fn default() -> Self {
        Self::new(Self::DEFAULT_SEED, 20_000, 2_000)
            .expect("the default sizes are within the limits")
    }
}
