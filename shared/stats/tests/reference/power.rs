//! Power and sample sizes against statsmodels and exact sums by scipy.

use std::num::{NonZeroU32, NonZeroUsize};

use evalfarm_stats::{
    PairedChange, PowerError, PowerGoal, PowerSimulation, Resamples, ShareTest, TwoShares,
    minimum_detectable_effect, paired_t_detectable, paired_t_power, paired_t_sample_size,
    simulated_detectable, standard_deviation_of_difference, two_shares_detectable,
};

use crate::{assert_close, count, grid, number, plan, reference_cases};

#[test]
fn paired_t_power_equals_statsmodels() {
    let Some(cases) = reference_cases("paired_t_power") else {
        // statsmodels 0.15.0: TTestPower().power(.2, 600, .05).
        return assert_close(
            paired_t_power(600, 0.2, 0.05),
            0.998_311_437_166_968_7,
            1e-8,
            "600",
        );
    };
    for case in cases {
        let input = &case["input"];
        let power = paired_t_power(
            count(&input["n"]),
            number(&input["d"]),
            number(&input["alpha"]),
        );
        // scipy's noncentral t gives NaN for 600 pairs and d = .5, where the power is 1 − 3e-24.
        let expected = case["expected"]["power"].as_f64().unwrap_or(1.0);
        assert_close(power, expected, 1e-8, case["name"].as_str().unwrap());
    }
}

#[test]
fn detectable_effects_equal_statsmodels() {
    let Some(cases) = reference_cases("paired_t_mde") else {
        // statsmodels 0.15.0: TTestPower().solve_power(nobs=600, alpha=.05, power=.9).
        let goal = PowerGoal::new(0.05, 0.9).unwrap();
        let effect = paired_t_detectable(600, goal).unwrap();
        return assert_close(effect, 0.132_546_985_342_107_35, 1e-6, "600");
    };
    for case in cases {
        let input = &case["input"];
        let name = case["name"].as_str().unwrap();
        let (alpha, power) = (number(&input["alpha"]), number(&input["power"]));
        let goal = PowerGoal::new(alpha, power).unwrap();
        let pairs = count(&input["n"]);
        let effect = paired_t_detectable(pairs, goal).unwrap();
        let expected = match name {
            // statsmodels' solver stopped early here: its .4676809 has a power of .9000018. mpmath 1.3, 30 digits: the root.
            "50-0.9" => 0.467_679_394_325_527_1,
            _ => number(&case["expected"]["d"]),
        };
        assert_close(effect, expected, 1e-6, name);
        let normal = minimum_detectable_effect(1.0 / (pairs as f64).sqrt(), alpha, power);
        assert_close(
            normal,
            number(&case["expected"]["normal_approx"]),
            1e-6,
            name,
        );
    }
}

#[test]
fn sample_sizes_of_means_equal_statsmodels() {
    // statsmodels 0.15.0: solve_power(...) = 198.15 and 33.37 pairs, rounded up. At .05/872 it says 380.47, whose power is .436;
    // mpmath 1.3 (30 digits) has .799058 for 599 pairs and .800210 for 600.
    let goal = PowerGoal::DEFAULT;
    assert_eq!(paired_t_sample_size(0.2, goal), Ok(199));
    assert_eq!(paired_t_sample_size(-0.5, goal), Ok(34));
    let corrected = goal.corrected_for(NonZeroUsize::new(872).unwrap());
    assert_eq!(paired_t_sample_size(0.2, corrected), Ok(600));
    assert_eq!(paired_t_sample_size(0.0, goal), Err(PowerError::NoEffect));
    // statsmodels 0.15.0: TTestPower().power for 2 and 3 pairs.
    assert_close(
        paired_t_power(2, 1.0, 0.05),
        0.092_809_155_056_335_97,
        1e-8,
        "2",
    );
    assert_close(
        paired_t_power(3, 3.0, 0.001),
        0.027_598_992_392_194_537,
        1e-8,
        "3",
    );
    assert_close(paired_t_power(1, 3.0, 0.05), 0.0, 0.0, "a single pair");
    // By hand: .3·√(2·.1).
    assert_close(
        standard_deviation_of_difference(0.3, 0.9),
        0.134_164_078_649_987_4,
        1e-15,
        "sd",
    );
}

#[test]
fn ten_points_need_388_by_z_and_404_by_fisher_not_194() {
    // 388: the pooled z formula by hand, ((1.95996·√.495 + .84162·√.49)/.1)² = 387.3. 404 and the power .80125 there: an exact
    // sum over all tables with scipy 1.17.1. The second document has 194, and 782 for five points.
    let shares = TwoShares::new(0.5, 0.6).unwrap();
    assert_eq!(
        shares.sample_size(ShareTest::Z, PowerGoal::DEFAULT),
        Ok(388)
    );
    assert_eq!(
        shares.sample_size(ShareTest::Fisher, PowerGoal::DEFAULT),
        Ok(404)
    );
    let power = |n| shares.power(ShareTest::Fisher, n, 0.05);
    assert_close(power(404), 0.801_250_732_051_112_2, 1e-9, "404");
    assert_close(power(403), 0.799_557_765_038_465, 1e-9, "403");
    assert_close(
        power(194),
        shares.power(ShareTest::Fisher, 194, 0.05),
        0.0,
        "194",
    );
    assert!(power(194) < 0.5, "194 per arm find less than half");
    let five = TwoShares::new(0.5, 0.55).unwrap();
    assert_eq!(five.sample_size(ShareTest::Z, PowerGoal::DEFAULT), Ok(1565));
}

#[test]
fn fisher_needs_what_exact_sums_say() {
    // scipy 1.17.1, exact sums over all tables; the first number of cases that reaches 80 %.
    for (first, second, expected) in [(0.02, 0.10, 150), (0.0, 0.3, 21)] {
        let shares = TwoShares::new(first, second).unwrap();
        assert_eq!(
            shares.sample_size(ShareTest::Fisher, PowerGoal::DEFAULT),
            Ok(expected)
        );
    }
    for (second, expected) in [
        (0.8, 0.409_456_898_033_138_45),
        (0.9, 0.742_388_783_914_070_1),
    ] {
        let power = TwoShares::new(0.5, second)
            .unwrap()
            .power(ShareTest::Fisher, 20, 0.05);
        assert_close(power, expected, 1e-10, "20 per arm");
    }
    let detectable = |per_arm| {
        two_shares_detectable(ShareTest::Fisher, 0.5, per_arm, PowerGoal::DEFAULT).unwrap()
    };
    // Between .9, found with .74, and 1; five per arm: even 1 is found only when the other arm has at most one success.
    assert!(detectable(20).is_some_and(|share| share > 0.9 && share < 0.95));
    assert_eq!(detectable(5), None);
    let same = TwoShares::new(0.3, 0.3).unwrap();
    assert_eq!(
        same.sample_size(ShareTest::Fisher, PowerGoal::DEFAULT),
        Err(PowerError::NoEffect)
    );
}

#[test]
fn mcnemar_power_equals_exact_sums() {
    // scipy 1.17.1: sum over the binomial number of changes, each with binomtest's exact p.
    for (gained, lost, pairs, expected) in [
        (0.1, 0.05, 600, 0.872_823_487_133_266_7),
        (0.1, 0.02, 135, 0.737_147_371_999_070_4),
        (0.03, 0.0, 200, 0.556_770_787_671_599_2),
    ] {
        let change = PairedChange::new(gained, lost).unwrap();
        assert_close(change.power(pairs, 0.05), expected, 1e-9, "power");
    }
    for (gained, lost, expected) in [(0.1, 0.02, 153), (0.03, 0.0, 263), (0.1, 0.05, 498)] {
        let change = PairedChange::new(gained, lost).unwrap();
        assert_eq!(change.sample_size(PowerGoal::DEFAULT), Ok(expected));
    }
    assert_eq!(PairedChange::new(0.75, 0.5), Err(PowerError::Shares(1.25)));
}

fn simulation(pilot: &evalfarm_stats::GridDifferences, units: usize) -> PowerSimulation<'_> {
    PowerSimulation {
        pilot,
        units,
        simulations: 400,
        resamples: Resamples {
            count: NonZeroU32::new(500).unwrap(),
            seed: 11,
        },
    }
}

#[test]
fn simulated_power_agrees_with_theory_where_theory_holds() {
    // 80 queries that all changed, nearly normal: the t-test's power is that of the permutation test.
    let values: Vec<f64> = (0..80)
        .map(|i| evalfarm_stats::normal_quantile((f64::from(i) + 0.5) / 80.0))
        .collect();
    let plan = plan(80, 500);
    let pilot = grid(&plan, &values);
    let simulation = simulation(&pilot, 80);
    let found = simulation.power(0.3, 0.05).unwrap().value();
    let theory = paired_t_power(80, 0.3, 0.05);
    // Three standard errors of 400 samples.
    let error = 3.0 * (theory * (1.0 - theory) / 400.0).sqrt();
    assert_close(found, theory, error, "power");
    // Without an effect it is the level.
    assert!(simulation.power(0.0, 0.05).unwrap().value() < 0.05 + 3.0 * 0.011);
}

#[test]
fn too_few_changes_find_no_effect_however_large() {
    // Three of 200 queries change: 2^(1−3) = .25, whatever the effect.
    let mut values = vec![0.0; 200];
    values[..3].copy_from_slice(&[0.2, -0.1, 0.3]);
    let plan = plan(200, 500);
    let pilot = grid(&plan, &values);
    let simulation = simulation(&pilot, 200);
    assert_eq!(simulated_detectable(&simulation, PowerGoal::DEFAULT), None);
    // Twelve of them do, and more would be needed than the normal approximation says.
    let mut values = vec![0.0; 200];
    for (index, value) in values.iter_mut().take(12).enumerate() {
        *value = if index % 2 == 0 { 0.1 } else { -0.08 };
    }
    let pilot = grid(&plan, &values);
    let effect = simulated_detectable(
        &PowerSimulation {
            pilot: &pilot,
            ..simulation
        },
        PowerGoal::DEFAULT,
    );
    let normal = minimum_detectable_effect(pilot.standard_error().unwrap(), 0.05, 0.80);
    assert!(
        effect.is_some_and(|effect| effect > normal * 0.8),
        "{effect:?} {normal}"
    );
}
