//! From a specification to a catalogue.

use evalfarm_domain::{Corpus, DocId, Document, FieldName, Judgments, Query, QueryId};

use crate::draw::{Draw, Purpose, scramble};
use crate::intent::Intent;
use crate::product::{Product, product_code};
use crate::spec::CatalogueSpec;
use crate::truth::{Relevant, Truth, grade};
use crate::world::World;
use crate::{judging, text, wording, words};

/// Version of the recipe: rises whenever the same specification gives other bytes than before.
///
/// Whoever stores generated catalogues under the name of their specification has to put this number into the name, or an
/// old catalogue is taken for the new one. A test pins the bytes that belong to the number.
pub const RECIPE: u32 = 2;

/// Fields of a generated corpus, in this order.
pub const FIELDS: [&str; 5] = ["title", "brand", "bullet_point", "description", "category"];

/// A generated catalogue.
#[derive(Debug, Clone, PartialEq)]
pub struct Generated {
    /// Products with the fields [`FIELDS`], by id bytes.
    pub corpus: Corpus,
    /// Queries by id bytes, with weight, cluster and the columns `family`, `noise`, `negation`, `sized`, `branded`,
    /// `wanted` and `department`.
    pub queries: Vec<Query>,
    /// The few pairs that somebody judged; a subset of the truth. Every query has at least one of grade 1 or more.
    pub judgments: Judgments,
    /// The grade of every pair.
    pub truth: Truth,
}

/// Generates the catalogue of a specification: the same one on every machine.
///
/// # Panics
///
/// Never: every id and grade is within the limits of its type.
pub fn generate(spec: &CatalogueSpec) -> Generated {
    let seed = spec.seed();
    let world = World::new(seed, spec.products());
    let mut coded: Vec<(String, Product)> = (0..spec.products())
        .map(|number| {
            (
                product_code(seed, number),
                Product::draw(&world, seed, number),
            )
        })
        .collect();
    coded.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    let (codes, products): (Vec<String>, Vec<Product>) = coded.into_iter().unzip();
    let documents: Vec<Document> = codes
        .into_iter()
        .zip(&products)
        .map(|(code, product)| Document {
            id: DocId::try_from(code).expect("ten characters are an id"),
            fields: text::write(&world, seed, product),
        })
        .collect();
    let shelves = Shelves::new(&products);
    let mut asked = ask(spec, &products);
    asked.sort_unstable_by(|one, other| one.query.id.cmp(&other.query.id));
    let mut judgments = Judgments::default();
    let mut queries = Vec::with_capacity(asked.len());
    let mut truth = Vec::with_capacity(asked.len());
    for Asked {
        number,
        query,
        intent,
    } in asked
    {
        let near = shelves.near(&intent);
        let relevant: Vec<(u32, u8)> = near
            .iter()
            .map(|&row| (row, intent.grade(&products[row as usize])))
            .filter(|&(_, grade)| grade > 0)
            .collect();
        let mut draw = Draw::new(seed, Purpose::Judging, number);
        for (row, level) in judging::draw(&intent, &products, near, &relevant, &mut draw) {
            let document = documents[row as usize].id.clone();
            judgments.insert(query.id.clone(), document, grade(level));
        }
        truth.push(Relevant::new(&relevant));
        queries.push(query);
    }
    let fields =
        FIELDS.map(|name| FieldName::try_from(name).expect("a short word is a field name"));
    Generated {
        corpus: Corpus {
            fields: fields.into(),
            documents,
        },
        queries,
        judgments,
        truth: Truth::new(truth),
    }
}

/// Rows of the products of each kind and of each brand: a query looks at one shelf, not at the whole catalogue.
struct Shelves {
    kinds: Vec<Vec<u32>>,
    brands: Vec<Vec<u32>>,
}

impl Shelves {
    fn new(products: &[Product]) -> Self {
        let mut kinds = vec![Vec::new(); words::kind_count()];
        let mut brands = vec![Vec::new(); usize::from(words::BRAND_NAMES)];
        for (row, product) in (0..).zip(products) {
            kinds[usize::from(product.kind)].push(row);
            brands[usize::from(product.brand)].push(row);
        }
        Self { kinds, brands }
    }

    /// Returns the rows among which every product of grade 1 or more is.
    fn near(&self, intent: &Intent) -> &[u32] {
        if intent.names_kind {
            &self.kinds[usize::from(intent.target.kind)]
        } else {
            &self.brands[usize::from(intent.target.brand)]
        }
    }
}

/// A query before it is judged.
struct Asked {
    number: u64,
    query: Query,
    intent: Intent,
}

/// Draws intents and words each of them once, or several times as a cluster.
fn ask(spec: &CatalogueSpec, products: &[Product]) -> Vec<Asked> {
    let seed = spec.seed();
    // groups of 2 to 4, three on average: of the groups, p/(3 - 2p) are clusters when p of the queries are in one
    let percent = spec.clustered_percent();
    let clusters_per_mille = 1_000 * percent / (300 - 2 * percent);
    let wanted = spec.queries() as usize;
    let mut asked: Vec<Asked> = Vec::with_capacity(wanted);
    for group in 0.. {
        let left = wanted - asked.len();
        if left == 0 {
            break;
        }
        let draw = &mut Draw::new(seed, Purpose::Intent, group);
        let target = products[draw.index(products.len())].clone();
        let intent = Intent::draw(target, draw);
        let clustered = draw.chance(clusters_per_mille);
        let size = if clustered { 2 + draw.index(3) } else { 1 }.min(left);
        let cluster = (size > 1).then(|| format!("intent-{group}"));
        for _ in 0..size {
            let number = asked.len() as u64;
            let draw = &mut Draw::new(seed, Purpose::Wording, number);
            let wording = wording::word(&intent, draw);
            let traffic = [1.0, 2.0, 3.0, 5.0][draw.weighted(&[600, 250, 100, 50])];
            let query = Query {
                id: query_id(seed, number),
                text: wording.text,
                weight: if spec.has_even_traffic() {
                    1.0
                } else {
                    traffic
                },
                cluster: cluster.clone(),
                columns: wording.columns,
            };
            asked.push(Asked {
                number,
                query,
                intent: intent.clone(),
            });
        }
    }
    asked
}

/// Returns the id of a query: a number without leading zeros, different for every query number below 2^17.
fn query_id(seed: u64, number: u64) -> QueryId {
    let id = scramble(number, 17, seed);
    QueryId::try_from(id.to_string()).expect("a number is an id")
}
