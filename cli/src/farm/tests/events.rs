use std::io::Cursor;

use crate::farm::events::{Event, Events};

fn read(stream: &[u8]) -> Vec<Event> {
    let mut events = Events::new(Cursor::new(stream.to_vec()));
    let mut read = Vec::new();
    while let Some(event) = events.next().expect("memory can be read") {
        read.push(event);
    }
    read
}

fn event(kind: &str, data: &str) -> Event {
    Event {
        kind: kind.to_owned(),
        data: data.to_owned(),
    }
}

// The cases are the examples of the HTML Standard, section 9.2.6, and the rules above them.
#[test]
fn events_are_read_as_the_standard_asks() {
    let stream = ": alive\n\ndata: YHOO\ndata: +2\ndata: 10\n\nevent: status\ndata: {}\n\ndata\n\ndata:x\r\nid: 1\r\nretry: 2\r\n\r\n";
    assert_eq!(
        read(stream.as_bytes()),
        [
            event("message", "YHOO\n+2\n10"),
            event("status", "{}"),
            event("message", ""),
            event("message", "x"),
        ]
    );
}

#[test]
fn an_event_without_data_is_none_and_its_type_is_forgotten() {
    assert_eq!(
        read(b"event: status\n\ndata: a\n\n"),
        [event("message", "a")]
    );
}

#[test]
fn an_event_that_is_cut_off_is_dropped() {
    assert_eq!(
        read(b"data: a\n\nevent: status\ndata: {\"jo"),
        [event("message", "a")]
    );
    assert_eq!(read(b"data: a\n"), []);
    assert_eq!(read(b""), []);
}

#[test]
fn a_line_without_an_end_is_refused() {
    let endless = vec![b'a'; 17 * 1024 * 1024];
    assert!(Events::new(Cursor::new(endless)).next().is_err());
}
