//! Decides whether one configuration is better than another or was only lucky, by resampling paired scores on the
//! same symbols and seeds.

use serde::{Deserialize, Serialize};

/// Number of resamples of the gains.
const RESAMPLES: usize = 10_000;
/// Share of the distribution below the 95 % interval of the mean.
const LEFT_OUT: f64 = 0.025;
/// A fixed seed, so that the same gains always give the same bound.
const SEED: u64 = 0x7465_7374_6765_6e31;

/// The comparison of candidate and incumbent on the same symbols.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Mean gain of the score, in points; `None` if a score is missing.
    pub mean_gain: Option<f64>,
    /// The lower end of the mean's 95 % interval.
    pub lower_bound: Option<f64>,
    pub accepted: bool,
    /// In words.
    pub reason: String,
}

/// Compares scores of incumbent and candidate, one pair for each symbol and seed. A candidate is accepted if the
/// lower bound of its gain is above zero; with a missing score it never is.
pub fn compare(pairs: &[(Option<u32>, Option<u32>)]) -> Comparison {
    let gain =
        |(before, after): &(Option<u32>, Option<u32>)| Some(f64::from((*after)?) - f64::from((*before)?));
    let gains: Vec<f64> = pairs.iter().filter_map(gain).collect();
    let refused = |reason: String| Comparison { mean_gain: None, lower_bound: None, accepted: false, reason };
    if gains.len() < pairs.len() {
        return refused(format!("{} of {} pairs lack a score", pairs.len() - gains.len(), pairs.len()));
    }
    // With one gain all resamples are equal, so the interval does not show luck.
    let Some(bound) = lower_bound(&gains).filter(|_| gains.len() > 1) else {
        return refused("fewer than two pairs were compared".into());
    };
    let mean = gains.iter().sum::<f64>() / gains.len() as f64;
    let accepted = bound > 0.0;
    let end = if accepted { "above zero" } else { "not above zero" };
    let reason = format!("mean gain {mean:.1} points, at least {bound:.1} with 95 % confidence: {end}");
    Comparison { mean_gain: Some(mean), lower_bound: Some(bound), accepted, reason }
}

/// The lower end of the 95 % interval of the gains' mean, by the percentile method (Efron 1979): 2.5 % of the
/// resamples have this mean or a smaller one. `None` without gains, or if one is not finite.
fn lower_bound(gains: &[f64]) -> Option<f64> {
    if gains.is_empty() || gains.iter().any(|gain| !gain.is_finite()) {
        return None;
    }
    let mut random = SplitMix(SEED);
    let mut means: Vec<f64> = (0..RESAMPLES).map(|_| resampled_mean(gains, &mut random)).collect();
    means.sort_by(f64::total_cmp);
    let rank = (LEFT_OUT * RESAMPLES as f64).ceil() as usize;
    means.get(rank.saturating_sub(1)).copied()
}

/// The mean of as many gains, each drawn from all.
fn resampled_mean(gains: &[f64], random: &mut SplitMix) -> f64 {
    let sum: f64 = (0..gains.len()).map(|_| gains[random.below(gains.len())]).sum();
    sum / gains.len() as f64
}

/// Reproducible random numbers: SplitMix64 (Steele, Lea, Flood 2014).
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `end` − 1, by the upper half of the product.
    fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_random_numbers_are_those_of_splitmix64() {
        // The first outputs for the seed 1234567, as published with the algorithm.
        let mut random = SplitMix(1_234_567);
        let found: Vec<u64> = (0..3).map(|_| random.next()).collect();
        assert_eq!(found, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
        let drawn: Vec<usize> = (0..1_000).map(|_| random.below(3)).collect();
        for value in 0..3 {
            let count = drawn.iter().filter(|drawn| **drawn == value).count();
            assert!((270..400).contains(&count), "{value}: {count}");
        }
        assert!(drawn.iter().all(|drawn| *drawn < 3));
    }

    #[test]
    fn the_bound_is_known_where_resamples_are() {
        for (gains, bound) in [
            (&[][..], None),
            (&[f64::NAN], None),
            (&[1.0, f64::INFINITY], None),
            (&[5.0], Some(5.0)),
            (&[-5.0], Some(-5.0)),
            (&[0.0, 0.0, 0.0], Some(0.0)),
            // A quarter of the resamples has the smaller one twice.
            (&[10.0, 20.0], Some(10.0)),
            // Five or more losses are in 3.3 % of the resamples, six or more in 0.6 %.
            (&[-1.0, -1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], Some(0.0)),
        ] {
            assert_eq!(lower_bound(gains), bound, "{gains:?}");
        }
    }

    #[test]
    fn the_bound_of_many_gains_is_that_of_the_normal_distribution() {
        // 0 and 2, fifty times each: mean 1, standard error 0.1, and 1 − 1.96 · 0.1 = 0.804.
        let gains: Vec<f64> = (0..100).map(|i| f64::from(i % 2) * 2.0).collect();
        let bound = lower_bound(&gains).unwrap();
        assert!((0.78..=0.82).contains(&bound), "{bound}");
        assert_eq!(lower_bound(&gains), Some(bound), "always the same");
    }

    #[test]
    fn only_a_gain_that_is_no_luck_is_accepted() {
        let all = |pairs: &[(u32, u32)]| pairs.iter().map(|(a, b)| (Some(*a), Some(*b))).collect::<Vec<_>>();
        for (pairs, accepted) in [
            (all(&[(500, 520), (400, 420), (300, 320)]), true),
            (all(&[(500, 500), (400, 400)]), false),
            (all(&[(500, 480), (400, 380)]), false),
            (all(&[(500, 900), (400, 390), (300, 290), (200, 190)]), false), // one lucky draw
            (all(&[(500, 510), (400, 409), (300, 312), (200, 207)]), true),
            (vec![], false),
            (all(&[(500, 900)]), false),
            (vec![(Some(500), None), (Some(400), Some(900))], false),
            (vec![(None, Some(500)), (Some(400), Some(900))], false),
            (vec![(None, None)], false),
        ] {
            let comparison = compare(&pairs);
            assert_eq!(comparison.accepted, accepted, "{pairs:?}: {comparison:?}");
            assert!(!comparison.reason.is_empty());
        }
        let told = compare(&all(&[(500, 520), (400, 430)]));
        assert_eq!((told.mean_gain, told.lower_bound), (Some(25.0), Some(20.0)));
        let lacking = compare(&[(Some(1), None), (Some(1), Some(2))]);
        assert_eq!((lacking.mean_gain, lacking.reason.as_str()), (None, "1 of 2 pairs lack a score"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn equal_gains_are_their_own_bound(gain in 1..1_000_u32, count in 1..12_usize) {
            let bound = lower_bound(&vec![f64::from(gain); count]).unwrap();
            prop_assert_eq!(bound, f64::from(gain));
        }

        #[test]
        fn the_bound_lies_between_the_least_gain_and_the_mean(gains in prop::collection::vec(-100.0..100.0_f64, 1..12)) {
            let bound = lower_bound(&gains).unwrap();
            let least = gains.iter().copied().fold(f64::INFINITY, f64::min);
            let mean = gains.iter().sum::<f64>() / gains.len() as f64;
            prop_assert!((least - 1e-9..=mean + 1e-9).contains(&bound), "{} {} {}", least, bound, mean);
        }
    }
}
