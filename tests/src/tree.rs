//! The content of a folder, to be compared with that of another.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The bytes of every file, by its path below the folder.
pub type Tree = BTreeMap<String, Vec<u8>>;

/// Reads every file below `root` whose path begins with one of `wanted`: names of files, or of folders with a `/`. There are
/// none when there is no such folder.
///
/// # Panics
///
/// When something cannot be read.
pub fn tree(root: &Path, wanted: &[&str]) -> Tree {
    let mut found = Tree::new();
    if root.is_dir() {
        gather(root, root, &mut found);
    }
    found.retain(|name, _| wanted.iter().any(|wanted| name.starts_with(wanted)));
    found
}

fn gather(root: &Path, folder: &Path, found: &mut Tree) {
    for entry in fs::read_dir(folder).expect("a folder can be listed") {
        let path = entry.expect("an entry can be read").path();
        if path.is_dir() {
            gather(root, &path, found);
        } else {
            let name = path.strip_prefix(root).expect("it lies below the root");
            let name = name.to_string_lossy().into_owned();
            found.insert(name, fs::read(&path).expect("a file can be read"));
        }
    }
}
