mod errors;
mod events;
pub(crate) mod fake;
mod following;

use super::connection::{Address, Token};

#[test]
fn addresses_are_those_of_web_servers() {
    for (text, route) in [
        ("http://localhost:8080", "http://localhost:8080/v1/jobs"),
        ("http://[::1]:8080/", "http://[::1]:8080/v1/jobs"),
        (
            "https://farm.example.org/a/b//",
            "https://farm.example.org/a/b/v1/jobs",
        ),
    ] {
        let address: Address = text.parse().expect(text);
        assert_eq!(address.route(&["jobs"]), route);
    }
    for text in [
        "",
        "localhost",
        "localhost:8080",
        "/v1",
        "ftp://host",
        "file:///etc/passwd",
        "http://",
        "http://user:secret@host",
        "http://host/?a=b",
        "http://host/#a",
        "http://ho st",
    ] {
        assert!(text.parse::<Address>().is_err(), "{text}");
    }
}

#[test]
fn a_part_of_a_route_stays_one_part() {
    let address: Address = "http://host".parse().expect("it is an address");
    for (part, written) in [
        ("j1", "j1"),
        ("t1.parquet", "t1.parquet"),
        ("../workers", "..%2Fworkers"),
        ("..", "%2E%2E"),
        (".", "%2E"),
        ("a?b#c%20", "a%3Fb%23c%2520"),
        ("a\r\nb", "a%0D%0Ab"),
        ("\u{e9}", "%C3%A9"),
    ] {
        assert_eq!(
            address.route(&["jobs", part]),
            format!("http://host/v1/jobs/{written}")
        );
    }
}

#[test]
fn a_token_is_one_visible_word_and_is_never_shown() {
    let token = Token::new(" s3cret\n").expect("blanks around it do not count");
    assert_eq!(token.header(), "Bearer s3cret");
    assert!(!format!("{token:?}").contains("s3cret"));
    for text in ["", " \n", "two words", "a\r\nb", "\u{e9}"] {
        assert!(Token::new(text).is_none(), "{text:?}");
    }
}
