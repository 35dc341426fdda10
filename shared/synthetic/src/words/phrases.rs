//! Sentence patterns of bullet points and descriptions.
//!
//! `{word}` is a slot: `kind colour material feature audience purpose size design brand` are the product's own, `other
//! tint stuff part folk job` are somebody else's (another kind of product, another colour, material, part, audience,
//! purpose), `adj` is an adjective and `lack` a part that the product does not have.

/// Adjectives that say nothing.
pub(crate) const ADJECTIVES: [&str; 40] = [
    "durable",
    "premium",
    "stylish",
    "lightweight",
    "versatile",
    "classic",
    "modern",
    "sturdy",
    "elegant",
    "practical",
    "compact",
    "portable",
    "adjustable",
    "reliable",
    "beautiful",
    "heavy duty",
    "comfortable",
    "smooth",
    "soft",
    "strong",
    "professional",
    "essential",
    "original",
    "upgraded",
    "handmade",
    "vintage",
    "rustic",
    "sleek",
    "cozy",
    "breathable",
    "washable",
    "reusable",
    "waterproof",
    "foldable",
    "ergonomic",
    "multifunctional",
    "decorative",
    "luxury",
    "everyday",
    "improved",
];

/// Bullet points about one attribute each, in the order colour, material, feature, audience, purpose, size,
/// design.
pub(crate) const BULLETS: [[&str; 4]; 7] = [
    [
        "{adj} {colour} finish that does not fade",
        "comes in {colour}",
        "{colour} {kind} with a {adj} look",
        "the {colour} surface hides dirt and scratches",
    ],
    [
        "made of {material} for years of use",
        "{adj} {material} construction",
        "crafted from {material} that is easy to care for",
        "our {kind} uses only {material}",
    ],
    [
        "{kind} with {feature} included",
        "comes with {feature} for added convenience",
        "{adj} {feature} that you will use every day",
        "features {feature}",
    ],
    [
        "designed for {audience}",
        "a {adj} choice for {audience}",
        "sized and shaped for {audience}",
        "{audience} love this {kind}",
    ],
    [
        "ideal for {purpose}",
        "perfect {kind} for {purpose}",
        "tested for {purpose} and more",
        "a {adj} companion for {purpose}",
    ],
    [
        "size {size}",
        "measures {size}",
        "this {kind} is {size}",
        "{size} please check before ordering",
    ],
    [
        "{design} design that stands out",
        "a {adj} {design} pattern on your {kind}",
        "printed with a {design} motif",
        "{design} style for every season",
    ],
];

/// Bullet points about nothing in particular.
pub(crate) const LEAD_INS: [&str; 16] = [
    "satisfaction guaranteed contact us with any question about your {kind}",
    "easy to clean wipe with a damp cloth",
    "a {adj} gift for birthdays holidays and anniversaries",
    "ships in {adj} packaging ready to give",
    "{adj} and {adj} design by {brand}",
    "no assembly needed use your {kind} right away",
    "goes well with any {other}",
    "one year warranty on every {kind}",
    "tested by our own team before it leaves the house",
    "works with most {other} models",
    "save space and time with a {adj} {kind}",
    "set includes one {kind} and a care card",
    "colors may differ slightly from the picture",
    "a {adj} upgrade for your old {kind}",
    "not suitable for children under three years",
    "{brand} quality at a fair price",
];

/// Sentences of a description; most of them mention what the product is not.
pub(crate) const STORIES: [&str; 24] = [
    "customers who bought this also looked at {other} and {other}.",
    "also available in {tint}, {tint} and {tint}.",
    "our shop carries {other}, {other} and {other} for {folk}.",
    "unlike a {stuff} {other}, it keeps its shape.",
    "see our other listings for {job} and {job}.",
    "we started with a single {tint} {other} and never looked back.",
    "whether you need it for {job} or {job}, we have the right size.",
    "looking for {stuff}? search our store for {stuff} {other}.",
    "the package contains one item, other parts such as {part} or {part} are sold separately.",
    "{folk} and {folk} have trusted our family business for years.",
    "please note that the {part} in the picture is for display only.",
    "we love {adj} things and hope that you do too.",
    "every order is packed by hand and leaves our warehouse within two days.",
    "if anything is wrong with your order, write to us and we will make it right.",
    "color on your screen may differ from the {tint} or {tint} in real life.",
    "bring some {adj} style to your home, your work and your weekend.",
    "pair it with our {tint} {other} for a {adj} set.",
    "a {adj} present for {folk}, {folk} or anyone who has everything.",
    "made with care, tested with patience and priced with honesty.",
    "it replaces your old {other} with {part} and saves space.",
    "store in a dry place away from direct sun.",
    "our {stuff} and {stuff} lines follow the same standard.",
    "from {job} to {job}, life gets easier with the right {other}.",
    "thank you for supporting a small company.",
];

/// First sentences of a description, about the product itself.
pub(crate) const DESCRIPTIONS: [&str; 8] = [
    "the {brand} {kind} is a {adj} helper.",
    "meet your new {kind}, {adj} and {adj}.",
    "this {adj} {kind} from {brand} will not let you down.",
    "looking for a {kind}? {brand} has one for you.",
    "a {kind} should be {adj}, and this one is.",
    "{brand} presents a {adj} {material} {kind}.",
    "simple, {adj} and {adj}.",
    "you will wonder how you lived without it.",
];
