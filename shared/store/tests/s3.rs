//! The suite over S3, spoken by a local server.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails as the test does"
)]

mod suite;

use evalfarm_results::TaskFile;
use evalfarm_store::{Creation, Limits, ObjectPath, Store, StoreError, Variables};
use evalfarm_testkit::S3Server;
use suite::{job, task, text};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s3_holds_the_contract() {
    let server = S3Server::start();
    let variables: Variables = server.variables().into_iter().collect();
    let open = |address| Store::open_with(address, &variables, Limits::default());
    suite::holds(&open("s3://farm").await.unwrap()).await;
    suite::holds(&open("s3://farm/deep/prefix/").await.unwrap()).await;
}

#[tokio::test]
async fn objects_above_the_limit_are_not_read_from_s3() {
    let server = S3Server::start();
    let variables: Variables = server.variables().into_iter().collect();
    let path = ObjectPath::task(&job("j"), TaskFile::Rows, &task("t")).unwrap();
    let open = |limits| Store::open_with("s3://farm/limits", &variables, limits);
    let wide = open(Limits::default()).await.unwrap();
    let created = wide
        .create(&path, text("twenty-one characters"))
        .await
        .unwrap();
    assert_eq!(created, Creation::Created);
    let small = Limits {
        max_object: 20,
        ..Limits::default()
    };
    let error = open(small).await.unwrap().read(&path).await.unwrap_err();
    assert!(
        matches!(error, StoreError::TooLarge { size: 21, .. }),
        "{error}"
    );
}

#[tokio::test]
async fn a_bucket_that_is_not_there_is_an_error_of_the_store() {
    let server = S3Server::start();
    let variables: Variables = server.variables().into_iter().collect();
    let opened = Store::open_with("s3://nowhere", &variables, Limits::default()).await;
    let error = opened.unwrap_err();
    assert!(matches!(error, StoreError::Refused { .. }), "{error:?}");
}
