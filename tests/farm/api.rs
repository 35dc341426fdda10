//! Who may ask for what.

use evalfarm_coordinator::farm::{ROUTES, Role};

use crate::scene::{Farm, token};

/// Fills the parameters of a route with something that is not there.
fn filled(path: &str) -> String {
    path.replace("{job}", "j00000000000000000000")
        .replace("{*path}", "rows/t1.parquet")
        .replace("{id}", "t1")
        .replace("{fingerprint}", &"0".repeat(64))
        .replace("{sha256}", &"1".repeat(64))
}

#[test]
fn every_route_refuses_who_is_not_known_or_may_not() {
    let farm = Farm::start("api");
    for route in ROUTES {
        let path = filled(route.path);
        let method = route.method.to_uppercase();
        let ask = |token: Option<&str>| farm.send(&method, &path, token, Some("{}"));
        assert_eq!(ask(None), Err(401), "{method} {path} without a token");
        assert_eq!(ask(Some("wrong")), Err(401), "{method} {path}, wrong token");
        let weaker: &[&str] = match route.role {
            Role::Reader => &[],
            Role::Proposer => &["rita"],
            // An automated actor is never an operator, whatever its credential says.
            Role::Operator => &["rita", "paul", "agent"],
        };
        for user in weaker {
            assert_eq!(ask(Some(&token(user))), Err(403), "{method} {path}, {user}");
        }
        let allowed = ask(Some(&token("olga")));
        assert!(
            !matches!(allowed, Err(401 | 403)),
            "{method} {path} as operator: {allowed:?}"
        );
    }
    for probe in ["/livez", "/readyz", "/metrics"] {
        assert!(farm.ask("GET", probe, None).is_ok(), "{probe}");
    }
    assert_eq!(farm.ask("GET", "/v2/jobs", Some(&token("olga"))), Err(404));
}

#[test]
fn a_body_names_no_actor_and_has_no_unknown_key() {
    let farm = Farm::start("bodies");
    let paul = token("paul");
    let ask = |body: &str| farm.send("POST", "/v1/jobs", Some(&paul), Some(body));
    let dataset = "0".repeat(64);
    let submission = format!(r#"{{"sweep":"name = 1","dataset":"{dataset}""#);
    for (body, why) in [
        (
            format!(r#"{submission},"actor":"olga"}}"#),
            "names an actor",
        ),
        (
            format!(r#"{submission},"submitter":{{"name":"olga"}}}}"#),
            "names a submitter",
        ),
        (format!("{submission}}}"), "is no sweep"),
        ("{".to_owned(), "is no JSON"),
        (r#"{"sweep":"x","dataset":"y"}"#.to_owned(), "has no digest"),
    ] {
        assert_eq!(ask(&body), Err(422), "a body that {why}");
    }
}
