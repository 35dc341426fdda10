use evalfarm_coordinator::api::{JobList, Problem, ProblemCode};
use evalfarm_process::ErrorChain;

use super::fake::{Answer, Fake, client};
use crate::exit_code::{INFRASTRUCTURE, INVALID_INPUT};
use crate::failure::Failure;
use crate::farm::FarmError;

fn problem(code: ProblemCode, hint: Option<&str>) -> Vec<u8> {
    let problem = Problem {
        code,
        message: "because".to_owned(),
        hint: hint.map(str::to_owned),
    };
    serde_json::to_vec(&problem).expect("a problem is JSON")
}

/// Returns exit code, message and hint of asking a server that gives this answer.
fn asked(answer: Answer) -> (u8, String, String) {
    let fake = Fake::start(move |_| answer.clone());
    let error = fake
        .client()
        .get::<JobList>(&["jobs"])
        .expect_err("it says no");
    said(error, &fake.address)
}

fn said(error: FarmError, address: &str) -> (u8, String, String) {
    let failure = Failure::from(error);
    let code = failure.exit_code();
    match failure {
        Failure::Input { error, hint } | Failure::Infrastructure { error, hint } => (
            code,
            ErrorChain(error.as_ref())
                .to_string()
                .replace(address, "ADDRESS"),
            hint.unwrap_or_default(),
        ),
        Failure::Interrupted { .. } => panic!("nobody interrupted"),
    }
}

#[test]
fn each_refusal_says_what_to_do() {
    for (status, code, exit, message, hint) in [
        (
            401,
            ProblemCode::Unauthorized,
            INVALID_INPUT,
            "does not know this token",
            "EVALFARM_TOKEN",
        ),
        (
            403,
            ProblemCode::Forbidden,
            INVALID_INPUT,
            "does not allow this token to do that",
            "role reader",
        ),
        (
            404,
            ProblemCode::NotFound,
            INVALID_INPUT,
            "does not have that",
            "evalfarm status",
        ),
        (
            409,
            ProblemCode::Conflict,
            INVALID_INPUT,
            "cannot do that now",
            "evalfarm status JOB",
        ),
        (
            422,
            ProblemCode::Invalid,
            INVALID_INPUT,
            "does not accept the request",
            "",
        ),
        (
            413,
            ProblemCode::TooLarge,
            INVALID_INPUT,
            "does not take that much",
            "",
        ),
        (
            503,
            ProblemCode::Unavailable,
            INFRASTRUCTURE,
            "cannot answer now",
            "may work later",
        ),
    ] {
        let (seen, text, advice) = asked(Answer::new(status, problem(code, None)));
        assert_eq!(seen, exit, "{status}");
        assert_eq!(text, format!("the coordinator {message}: because"));
        assert!(
            advice.contains(hint) && advice.is_empty() == hint.is_empty(),
            "{status}: {advice}"
        );
    }
    let (_, _, hint) = asked(Answer::new(
        409,
        problem(ProblemCode::Conflict, Some("wait")),
    ));
    assert_eq!(
        hint, "wait",
        "what the coordinator advises is worth more than a guess"
    );
}

#[test]
fn a_code_of_a_newer_coordinator_is_a_refusal() {
    let body = r#"{"code":"teapot","message":"no coffee","more":1}"#;
    let (code, text, _) = asked(Answer::new(418, body));
    assert_eq!(code, INFRASTRUCTURE);
    assert_eq!(text, "the coordinator refuses: no coffee");
}

#[test]
fn what_is_no_coordinator_is_said_to_be_none() {
    for (status, body) in [(404, "<html>not here</html>"), (500, ""), (302, "")] {
        let answer = Answer::new(status, body).header("location: http://127.0.0.1:1/elsewhere");
        let (code, text, hint) = asked(answer);
        assert_eq!(code, INFRASTRUCTURE);
        assert_eq!(
            text,
            format!(
                "what answers at `ADDRESS` is not a coordinator: it says {status} to a request that every coordinator knows"
            )
        );
        assert!(hint.contains("--coordinator"), "{hint}");
    }
    let (code, text, _) = asked(Answer::new(401, "proxy"));
    assert_eq!(code, INVALID_INPUT);
    assert_eq!(
        text,
        "the coordinator does not know this token: 401 without a reason"
    );
}

#[test]
fn an_answer_that_makes_no_sense_is_the_coordinators() {
    for body in ["", "[]", "{\"jobs\":[{}]}", "\u{1b}[31m"] {
        let (code, text, hint) = asked(Answer::new(200, body));
        assert_eq!(code, INFRASTRUCTURE);
        let start =
            "the coordinator at `ADDRESS` gave an answer that this release does not understand";
        assert!(text.starts_with(start), "{text}");
        assert!(hint.contains("--version"), "{hint}");
    }
}

#[test]
fn nobody_there_is_infrastructure() {
    let error = client("http://127.0.0.1:1")
        .get::<JobList>(&["jobs"])
        .expect_err("nobody is there");
    assert!(error.may_pass());
    let (code, text, hint) = said(error, "http://127.0.0.1:1");
    assert_eq!(code, INFRASTRUCTURE);
    assert!(
        text.starts_with("the coordinator at `ADDRESS` cannot be reached"),
        "{text}"
    );
    assert!(text.contains("refused"), "{text}");
    assert!(hint.contains("/livez"), "{hint}");
}

#[test]
fn the_token_goes_into_its_header_and_nowhere_else() {
    let fake = Fake::start(|_| Answer::new(200, "{\"jobs\":[]}"));
    fake.client().get::<JobList>(&["jobs"]).expect("it answers");
    let asked = &fake.asked()[0];
    assert_eq!(asked.authorization, "Bearer s3cret");
    assert_eq!(asked.path, "/v1/jobs");
    assert!(asked.body.is_empty());
}
