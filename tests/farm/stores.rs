//! A farm whose store is in the cloud, as far as a test can have one.

use evalfarm_testkit::S3Server;
use evalfarm_tests::{Bench, Data, Sweep};

use crate::scene::{Farm, differences, results};

#[test]
fn a_farm_on_s3_gives_the_bytes_of_a_run() {
    let server = S3Server::start();
    let store = "s3://farm/one".to_owned();
    let mut farm = Farm::with("s3", Bench::new(), store, server.variables());
    farm.start_worker(&["--slots", "2"]);
    let strategy = "strategy = \"axis_scan\"\nfields = [\"brand\"]\nlevels = [0.5, 1.0, 2.0]";
    let sweep = Sweep::new(Data::Generated(300, 80), 40, 40, strategy);
    farm.bench.write("sweep.toml", sweep.toml());
    farm.run(&["submit", "sweep.toml", "--wait"])
        .expect_verdict();
    let list = farm.run(&["status", "--format", "json"]).json();
    let job = list["jobs"][0]["job"].as_str().expect("a job has an id");
    let stored = farm.fetched(job);
    farm.run(&["run", "sweep.toml", "--out", "embedded"])
        .expect_verdict();
    let embedded = results(&farm.bench.at("embedded"));
    assert!(embedded.contains_key("verdict.json"));
    assert_eq!(differences(&embedded, &stored), [""; 0]);
}
