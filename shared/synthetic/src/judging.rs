//! Which pairs somebody has judged: few, as in real collections.

use crate::draw::Draw;
use crate::intent::{Intent, Unwanted};
use crate::product::{Attribute, Product};

/// Weights of 1, 2, 3, 4 relevant judgments for a query: 1.7 on average.
const RELEVANT_COUNTS: [u32; 4] = [520, 300, 120, 60];
/// Weights of 0, 1, 2, 3 judgments of grade 0 for a query.
const IRRELEVANT_COUNTS: [u32; 4] = [150, 300, 300, 250];
/// Products of the kind that are looked at before the one that looks most right is judged to be of grade 0.
const LOOKS: u32 = 30;
/// How much likelier grades 1, 2, 3 are to be judged.
const GRADE_WEIGHTS: [u32; 3] = [1, 4, 40];

/// Draws the judged products of a query as (row, grade), at least one of them relevant.
///
/// `near` are the rows of the kind (or brand) asked for, `relevant` those with their grades of at least 1. As in collections
/// judged from the results of a search, products whose title and bullet points say what was asked for are likelier to
/// have been looked at.
pub(crate) fn draw(
    intent: &Intent,
    products: &[Product],
    near: &[u32],
    relevant: &[(u32, u8)],
    draw: &mut Draw,
) -> Vec<(u32, u8)> {
    let mut left: Vec<(u32, u8, u32)> = relevant
        .iter()
        .map(|&(row, grade)| {
            let seen = visibility(intent, &products[row as usize]);
            (row, grade, GRADE_WEIGHTS[usize::from(grade) - 1] * seen)
        })
        .collect();
    let mut judged = Vec::new();
    let count = 1 + draw.weighted(&RELEVANT_COUNTS);
    while judged.len() < count && !left.is_empty() {
        let place = heavy(&left, draw);
        let (row, grade, _) = left.swap_remove(place);
        judged.push((row, grade));
    }
    for _ in 0..draw.weighted(&IRRELEVANT_COUNTS) {
        // one that looks right, or any product at all
        let row = if draw.chance(800) {
            (0..LOOKS)
                .map(|_| *draw.pick(near))
                .filter(|&row| intent.grade(&products[row as usize]) == 0)
                .max_by_key(|&row| (visibility(intent, &products[row as usize]), row))
                .unwrap_or(near[0])
        } else {
            draw.below(u32::try_from(products.len()).unwrap_or(u32::MAX))
        };
        let new = judged.iter().all(|&(known, _)| known != row);
        if new && intent.grade(&products[row as usize]) == 0 {
            judged.push((row, 0));
        }
    }
    judged
}

/// Returns how visible a product is to whoever searches for the intent, at least 1.
fn visibility(intent: &Intent, product: &Product) -> u32 {
    let points: u32 = intent
        .wanted
        .iter()
        .map(|&attribute| {
            let matched = product.agrees(&intent.target, attribute);
            let title = u32::from(matched && product.in_title.has(attribute));
            let bullets = u32::from(matched && product.in_bullets.has(attribute));
            2 * title + 2 * bullets
        })
        .sum();
    let named = match (product.nameless, product.other_name) {
        (true, _) => 1,
        (false, true) => 2,
        (false, false) => 8,
    };
    // a page that names what is unwanted is found by the same words
    let spoilt = match intent.unwanted {
        Some(Unwanted::Feature(feature)) => product.in_title.has(Attribute::Feature(feature)),
        Some(Unwanted::Material(_)) | None => false,
    };
    let points = points + 3 * u32::from(spoilt);
    (1 + points) * (1 + points) * (1 + points) * named
}

/// Draws a position in proportion to the third number.
fn heavy(items: &[(u32, u8, u32)], draw: &mut Draw) -> usize {
    let total: u64 = items.iter().map(|&(_, _, weight)| u64::from(weight)).sum();
    let product = u128::from(draw.bits()) * u128::from(total);
    let mut left = product >> 64;
    for (place, &(_, _, weight)) in items.iter().enumerate() {
        if left < u128::from(weight) {
            return place;
        }
        left -= u128::from(weight);
    }
    items.len() - 1
}
