//! Files that a crash, a disk or a stranger spoiled: an error each time, never a panic, never a wrong value.

use std::fs;

use proptest::prelude::*;

use super::sample;
use crate::seal::seal;
use crate::{ColumnarError, read_bytes, read_foreign, to_bytes};

#[test]
fn q8_every_truncation_is_an_error() {
    let table = sample();
    let whole = to_bytes(&table).unwrap();
    for len in 0..whole.len() {
        let error = read_bytes(whole[..len].to_vec(), table.schema()).unwrap_err();
        assert!(
            matches!(error, ColumnarError::NotParquet { .. }),
            "{len} bytes: {error}"
        );
    }
}

#[test]
fn every_flipped_bit_is_an_error() {
    // Found here: without the checksum over the footer, bit 1 of one of its bytes moves a column's offset, and the file
    // reads without complaint as other numbers.
    let table = sample();
    let whole = to_bytes(&table).unwrap();
    for at in 0..whole.len() {
        for bit in 0..8 {
            let mut spoiled = whole.clone();
            spoiled[at] ^= 1 << bit;
            let result = read_bytes(spoiled, table.schema());
            assert!(result.is_err(), "byte {at}, bit {bit}");
        }
    }
}

#[test]
fn damage_under_a_new_seal_does_not_panic() {
    let table = sample();
    let whole = to_bytes(&table).unwrap();
    let mut errors = 0;
    for at in 0..whole.len() {
        let mut spoiled = whole.clone();
        spoiled[at] ^= 0x41;
        if seal(&mut spoiled).is_ok() {
            errors += usize::from(read_bytes(spoiled, table.schema()).is_err());
        }
    }
    assert!(errors > whole.len() / 4, "only {errors} errors");
}

#[test]
fn a_flipped_bit_does_not_make_the_lenient_reader_panic() {
    let table = sample();
    let whole = to_bytes(&table).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spoiled.parquet");
    let mut errors = 0;
    for at in 0..whole.len() {
        let mut spoiled = whole.clone();
        spoiled[at] ^= 0x41;
        fs::write(&path, spoiled).unwrap();
        errors += usize::from(read_foreign(&path, None).is_err());
    }
    assert!(errors > whole.len() / 4, "only {errors} errors");
}

#[test]
fn a_footer_longer_than_the_file_is_an_error() {
    let table = sample();
    let whole = to_bytes(&table).unwrap();
    let at = whole.len() - 8;
    for length in [
        u32::MAX,
        i32::MAX as u32,
        u32::try_from(whole.len()).unwrap(),
        0,
    ] {
        let mut spoiled = whole.clone();
        spoiled[at..at + 4].copy_from_slice(&length.to_le_bytes());
        assert!(read_bytes(spoiled, table.schema()).is_err(), "{length}");
    }
}

proptest! {
    #[test]
    fn any_footer_is_an_error(footer in prop::collection::vec(any::<u8>(), 0..200)) {
        let table = sample();
        let mut bytes = b"PAR1".to_vec();
        bytes.extend_from_slice(&footer);
        bytes.extend_from_slice(&u32::try_from(footer.len()).unwrap().to_le_bytes());
        bytes.extend_from_slice(b"PAR1");
        prop_assert!(read_bytes(bytes, table.schema()).is_err());
    }
}
