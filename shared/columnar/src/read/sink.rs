//! Where decoded cells are collected.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array as _, ArrayRef, StringArray};
use arrow_schema::DataType;

use crate::{Column, ColumnType, LabelsBuilder};

/// A column while it is being read.
pub(super) enum Sink {
    Text(Vec<Option<Box<str>>>),
    Labels(LabelsBuilder),
    F64(Vec<Option<f64>>),
    F32(Vec<Option<f32>>),
    I64(Vec<Option<i64>>),
    U64(Vec<Option<u64>>),
    Bool(Vec<Option<bool>>),
}

impl Sink {
    pub(super) fn new(kind: ColumnType, as_labels: bool) -> Self {
        match kind {
            ColumnType::Text if as_labels => Self::Labels(LabelsBuilder::default()),
            ColumnType::Text => Self::Text(Vec::new()),
            ColumnType::F64 => Self::F64(Vec::new()),
            ColumnType::F32 => Self::F32(Vec::new()),
            ColumnType::I64 => Self::I64(Vec::new()),
            ColumnType::U64 => Self::U64(Vec::new()),
            ColumnType::Bool => Self::Bool(Vec::new()),
        }
    }

    /// Adds the cells of a decoded array, widening numbers. Returns whether the array is of a type that the column takes.
    pub(super) fn take(&mut self, array: &ArrayRef) -> bool {
        match self {
            Self::Text(cells) => match array.as_string_opt::<i32>() {
                Some(texts) => cells.extend(texts.iter().map(|text| text.map(Box::from))),
                None => return false,
            },
            Self::Labels(builder) => return take_labels(builder, array),
            Self::F64(cells) => return take_f64(cells, array),
            Self::F32(cells) => return extend::<Float32Type, f32>(cells, array, |value| value),
            Self::I64(cells) => return take_i64(cells, array),
            Self::U64(cells) => return take_u64(cells, array),
            Self::Bool(cells) => match array.as_boolean_opt() {
                Some(values) => cells.extend(values.iter()),
                None => return false,
            },
        }
        true
    }

    pub(super) fn finish(self) -> Column {
        match self {
            Self::Text(cells) => Column::Text(cells),
            Self::Labels(builder) => Column::Labels(builder.finish()),
            Self::F64(cells) => Column::F64(cells),
            Self::F32(cells) => Column::F32(cells),
            Self::I64(cells) => Column::I64(cells),
            Self::U64(cells) => Column::U64(cells),
            Self::Bool(cells) => Column::Bool(cells),
        }
    }
}

fn take_labels(builder: &mut LabelsBuilder, array: &ArrayRef) -> bool {
    let Some(dictionary) = array.as_dictionary_opt::<Int32Type>() else {
        return false;
    };
    let Some(texts) = dictionary.values().as_any().downcast_ref::<StringArray>() else {
        return false;
    };
    // Each label that the rows use is looked up once an array, however often they use it.
    let mut codes: Vec<Option<u32>> = vec![None; texts.len()];
    for key in dictionary.keys() {
        let Some(key) = key else {
            builder.push_code(None);
            continue;
        };
        let Some(at) = usize::try_from(key).ok().filter(|&at| at < codes.len()) else {
            return false;
        };
        let code = *codes[at].get_or_insert_with(|| builder.code(texts.value(at)));
        builder.push_code(Some(code));
    }
    true
}

fn take_f64(cells: &mut Vec<Option<f64>>, array: &ArrayRef) -> bool {
    match array.data_type() {
        DataType::Float16 => extend::<Float16Type, f64>(cells, array, f64::from),
        DataType::Float32 => extend::<Float32Type, f64>(cells, array, f64::from),
        _ => extend::<Float64Type, f64>(cells, array, |value| value),
    }
}

fn take_i64(cells: &mut Vec<Option<i64>>, array: &ArrayRef) -> bool {
    match array.data_type() {
        DataType::Int8 => extend::<Int8Type, i64>(cells, array, i64::from),
        DataType::Int16 => extend::<Int16Type, i64>(cells, array, i64::from),
        DataType::Int32 => extend::<Int32Type, i64>(cells, array, i64::from),
        _ => extend::<Int64Type, i64>(cells, array, |value| value),
    }
}

fn take_u64(cells: &mut Vec<Option<u64>>, array: &ArrayRef) -> bool {
    match array.data_type() {
        DataType::UInt8 => extend::<UInt8Type, u64>(cells, array, u64::from),
        DataType::UInt16 => extend::<UInt16Type, u64>(cells, array, u64::from),
        DataType::UInt32 => extend::<UInt32Type, u64>(cells, array, u64::from),
        _ => extend::<UInt64Type, u64>(cells, array, |value| value),
    }
}

fn extend<T: ArrowPrimitiveType, V>(
    cells: &mut Vec<Option<V>>,
    array: &ArrayRef,
    widen: impl Fn(T::Native) -> V,
) -> bool {
    let Some(values) = array.as_primitive_opt::<T>() else {
        return false;
    };
    if values.null_count() == 0 {
        cells.extend(values.values().iter().map(|&value| Some(widen(value))));
    } else {
        cells.extend(values.iter().map(|value| value.map(&widen)));
    }
    true
}
