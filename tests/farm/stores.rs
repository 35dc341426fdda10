//! A farm whose store is in the cloud, as far as a test can have one.

use evalfarm_testkit::S3Server;
use evalfarm_tests::Bench;

use crate::identity::{embedded, submitted};
use crate::scene::{Farm, differences};

#[test]
fn the_sweep_of_the_readme_gives_the_same_bytes_on_s3() {
    let server = S3Server::start();
    let store = "s3://farm/one".to_owned();
    let mut farm = Farm::with("s3", Bench::new(), store, server.variables());
    let stored = submitted(&mut farm, 2);
    assert_eq!(differences(embedded(), &stored), [""; 0]);
}
