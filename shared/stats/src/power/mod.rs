//! What a test could have found, and how many cases it needs.

mod goal;
mod normal;
mod paired_t;
mod shares;
mod simulated;

pub use goal::{PowerError, PowerGoal};
pub use normal::{minimum_detectable_effect, normal_quantile};
pub use paired_t::{
    paired_t_detectable, paired_t_power, paired_t_sample_size, standard_deviation_of_difference,
};
pub use shares::{PairedChange, ShareTest, TwoShares, two_shares_detectable};
pub use simulated::{PowerSimulation, simulated_detectable};
