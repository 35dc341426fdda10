//! Everything the catalogue's text is made of, written for this project.

mod brands;
mod departments;
mod home;
mod leisure;
mod phrases;
mod sizes;

pub(crate) use brands::{BRAND_NAMES, brand_name};
pub(crate) use departments::{
    COLOURS, DESIGNS, Department, KindName, department, department_count, department_number,
    kind_count, kind_name,
};
pub(crate) use phrases::{ADJECTIVES, BULLETS, DESCRIPTIONS, LEAD_INS, STORIES};
pub(crate) use sizes::SIZES;
