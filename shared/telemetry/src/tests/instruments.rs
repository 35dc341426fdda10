use crate::KeyValue;
use crate::configuration::Configuration;

#[test]
fn prometheus_text_holds_what_was_counted() {
    let (telemetry, _dispatch) = super::build(&Configuration {
        service: Some("mine".to_owned()),
        ..Configuration::default()
    });
    let meter = telemetry.meter();
    let tasks = meter
        .u64_counter("farm.tasks")
        .with_description("Tasks that ended.")
        .build();
    tasks.add(2, &[KeyValue::new("outcome", "finished")]);
    tasks.add(1, &[KeyValue::new("outcome", "finished")]);
    let duration = meter
        .f64_histogram("farm.task.duration")
        .with_unit("s")
        .with_boundaries(vec![0.5, 1.0])
        .build();
    duration.record(0.75, &[]);

    let text = telemetry.prometheus();
    for line in [
        "# HELP farm_tasks_total Tasks that ended.",
        "# TYPE farm_tasks_total counter",
        "farm_tasks_total{outcome=\"finished\"} 3",
        "farm_task_duration_seconds_bucket{le=\"0.5\"} 0",
        "farm_task_duration_seconds_bucket{le=\"1\"} 1",
        "farm_task_duration_seconds_sum 0.75",
    ] {
        assert!(
            text.lines().any(|found| found == line),
            "no `{line}` in\n{text}"
        );
    }
    let target = text
        .lines()
        .find(|line| line.starts_with("target_info{"))
        .expect("the text says who it is from");
    assert!(target.contains("service_name=\"mine\""), "{target}");
    assert!(target.contains("service_instance_id=\"here\""), "{target}");
}
