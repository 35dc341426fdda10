//! The embedded mode as a user has it: the real command, its exit codes, its folder.

use evalfarm_tests::Bench;

#[test]
fn smoke() {
    let bench = Bench::new();
    bench.generate("shop", 300, 40);
}
