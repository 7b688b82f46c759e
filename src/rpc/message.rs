//! One message: read strictly, written in one line.
//!
//! Reading refuses what two readers could understand in two ways: a member that is there twice, a
//! message that answers and asks, an answer with a result and an error, a list of messages (MCP
//! has none since 2025-06-18). Nesting is bounded by `serde_json`, at 128.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::error::Category;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Not JSON.
pub const PARSE_ERROR: i64 = -32700;
/// JSON, and no message.
pub const INVALID_REQUEST: i64 = -32600;
/// A request for something that is not there.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// A request whose parameters are wrong.
pub const INVALID_PARAMS: i64 = -32602;

/// The id of a request: a string, any number or null, kept as it came to the last character.
#[derive(Debug, Clone)]
pub struct Id {
    text: Box<RawValue>,
    value: Value,
}

impl Id {
    /// An id of our own.
    pub fn new(name: &str) -> Self {
        let value = Value::from(name);
        let text = serde_json::value::to_raw_value(&value).expect("a string is JSON");
        Self { text, value }
    }

    /// What stands for an id where none could be read.
    pub fn null() -> Self {
        Self {
            text: RawValue::NULL.to_owned(),
            value: Value::Null,
        }
    }

    /// The id in an answer, a request or a cancellation.
    pub fn of(value: &Value) -> Option<Self> {
        let text = serde_json::value::to_raw_value(value).ok()?;
        Self::read(&text)
    }

    fn read(text: &RawValue) -> Option<Self> {
        let value: Value = serde_json::from_str(text.get()).ok()?;
        matches!(value, Value::Null | Value::Number(_) | Value::String(_)).then(|| Self {
            text: text.to_owned(),
            value,
        })
    }

    /// The id as a value.
    pub const fn value(&self) -> &Value {
        &self.value
    }

    /// The id, where it is a text.
    pub fn as_str(&self) -> Option<&str> {
        self.value.as_str()
    }
}

/// `"a"` and `"\u0061"` are one id; `1`, `1.0` and `"1"` are three.
impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

/// Says in an answer why there is no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RpcError {
    /// One of the constants here, or one of the application's.
    pub code: i64,
    /// For a person.
    pub message: String,
}

impl RpcError {
    /// An error with its words.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }
}

/// What an answer says.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It worked.
    Result(Value),
    /// It did not.
    Error(RpcError),
    /// It has the right id and no clear meaning: what is wrong with it.
    Malformed(&'static str),
}

/// One message of the other side.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// Wants an answer with the same id.
    Request {
        /// To answer with.
        id: Id,
        /// What is asked.
        method: String,
        /// An object or a list; null where there are none.
        params: Value,
    },
    /// Wants no answer.
    Notification {
        /// What is told.
        method: String,
        /// An object or a list; null where there are none.
        params: Value,
    },
    /// Answers one of our requests.
    Response {
        /// Of our request, so it says.
        id: Id,
        /// What it says.
        outcome: Outcome,
    },
}

/// A line that is no message, with what to answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Unreadable {
    /// Of the line, where it has a readable one.
    pub id: Id,
    /// [`PARSE_ERROR`] or [`INVALID_REQUEST`], in words.
    pub error: RpcError,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "present")]
    params: Option<Unique>,
    #[serde(default, deserialize_with = "present")]
    result: Option<Unique>,
    #[serde(default, deserialize_with = "present")]
    error: Option<Unique>,
}

impl Message {
    /// Reads one line. `header` says whether `"jsonrpc": "2.0"` must be there.
    ///
    /// # Errors
    /// It is no message.
    pub fn read(line: &str, header: bool) -> Result<Self, Unreadable> {
        // A derived reader would take a list as the members in their order.
        if line.trim_start().starts_with('[') {
            return Err(unreadable(
                INVALID_REQUEST,
                "a list of messages is not taken",
                None,
            ));
        }
        let envelope: Envelope = serde_json::from_str(line).map_err(|error| {
            let (code, what) = match error.classify() {
                Category::Data => (INVALID_REQUEST, "not a JSON-RPC message"),
                _ => (PARSE_ERROR, "not JSON"),
            };
            unreadable(code, &format!("{what}: {error}"), id_alone(line))
        })?;
        let id = match envelope.id.map(Id::read) {
            Some(None) => {
                let what = "the id is neither a string nor a number";
                return Err(unreadable(INVALID_REQUEST, what, None));
            }
            Some(Some(id)) => Some(id),
            None => None,
        };
        let version = envelope.jsonrpc.as_deref();
        let version_fault = header && version != Some("2.0");
        if envelope.result.is_some() || envelope.error.is_some() {
            let Some(id) = id else {
                return Err(unreadable(INVALID_REQUEST, "an answer without an id", None));
            };
            let outcome = if version_fault {
                Outcome::Malformed("it is no JSON-RPC 2.0")
            } else if envelope.method.is_some() {
                Outcome::Malformed("it asks and answers at once")
            } else {
                outcome(envelope.result, envelope.error)
            };
            return Ok(Self::Response { id, outcome });
        }
        let Some(method) = envelope.method else {
            // Maybe an answer that lost its content: whoever waits for it shall not wait on.
            return match id {
                Some(id) => Ok(Self::Response {
                    id,
                    outcome: Outcome::Malformed("it has neither a result nor an error"),
                }),
                None => Err(unreadable(
                    INVALID_REQUEST,
                    "no method, result or error",
                    None,
                )),
            };
        };
        if version_fault {
            return Err(unreadable(INVALID_REQUEST, "`jsonrpc` must be \"2.0\"", id));
        }
        let params = match envelope.params {
            None => Value::Null,
            Some(Unique(params @ (Value::Object(_) | Value::Array(_)))) => params,
            Some(_) => {
                let what = "`params` must be an object or a list";
                return Err(unreadable(INVALID_REQUEST, what, id));
            }
        };
        let method = method.into_owned();
        Ok(match id {
            Some(id) => Self::Request { id, method, params },
            None => Self::Notification { method, params },
        })
    }
}

fn outcome(result: Option<Unique>, error: Option<Unique>) -> Outcome {
    match (result, error) {
        (Some(Unique(result)), None) => Outcome::Result(result),
        (None, Some(Unique(error))) => match serde_json::from_value(error) {
            Ok(error) => Outcome::Error(error),
            Err(_) => Outcome::Malformed("its error has no code or no message"),
        },
        _ => Outcome::Malformed("it has a result and an error"),
    }
}

fn unreadable(code: i64, message: &str, id: Option<Id>) -> Unreadable {
    Unreadable {
        id: id.unwrap_or_else(Id::null),
        error: RpcError::new(code, message),
    }
}

/// The id of a line whose other members are wrong.
fn id_alone(line: &str) -> Option<Id> {
    #[derive(Deserialize)]
    struct Alone<'a> {
        #[serde(borrow)]
        id: &'a RawValue,
    }
    let alone: Alone = serde_json::from_str(line).ok()?;
    Id::read(alone.id)
}

/// Tells `null` apart from a member that is not there.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

/// A JSON value in which no object has a member twice: of two `decision`s, one reader takes the
/// first and another the last.
struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(UniqueVisitor).map(Self)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Unique(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some((name, Unique(value))) = members.next_entry::<String, Unique>()? {
            if map.insert(name, value).is_some() {
                return Err(de::Error::custom("a member is there twice"));
            }
        }
        Ok(Value::Object(map))
    }
}

/// A message on its way out. Without a method it is an answer.
#[derive(Debug, Default, Serialize)]
pub(super) struct Outgoing<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jsonrpc: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'a RpcError>,
}

impl<'a> Outgoing<'a> {
    pub(super) fn with_id(id: &'a Id) -> Self {
        Self {
            id: Some(&id.text),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn read(line: &str) -> Result<Message, Unreadable> {
        Message::read(line, true)
    }

    fn code(line: &str) -> i64 {
        read(line).expect_err("no message").error.code
    }

    fn outcome_of(members: &str) -> Outcome {
        match read(&format!(r#"{{"jsonrpc":"2.0",{members}}}"#)) {
            Ok(Message::Response { outcome, .. }) => outcome,
            other => panic!("an answer: {other:?}"),
        }
    }

    #[test]
    fn ids_of_every_kind_come_back_as_they_came() {
        for id in [
            "0",
            "-1",
            "1.0",
            "1e2",
            "18446744073709551616",
            "null",
            r#""x""#,
            r#""\u0061\/""#,
            r#""""#,
        ] {
            let line = format!(r#"{{"jsonrpc":"2.0","id": {id} ,"method":"m"}}"#);
            let Ok(Message::Request { id: read, .. }) = read(&line) else {
                panic!("{id} is an id");
            };
            let back = serde_json::to_string(&Outgoing::with_id(&read)).expect("JSON");
            assert_eq!(back, format!(r#"{{"id":{id}}}"#));
        }
        for id in ["true", "[]", "{}", r#""\ud800""#, "1e999"] {
            assert_eq!(
                code(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#)),
                INVALID_REQUEST,
                "{id}"
            );
        }
    }

    #[test]
    fn ids_are_equal_by_value() {
        let id = |text: &str| Id::of(&serde_json::from_str(text).expect("JSON")).expect("an id");
        assert_eq!(id(r#""\u0061""#), Id::new("a"));
        assert_ne!(id("1"), id("1.0"));
        assert_ne!(id("1"), Id::new("1"));
        assert_eq!(Id::of(&json!([])), None);
    }

    #[test]
    fn what_is_no_json_is_a_parse_error() {
        let deep = format!(
            r#"{{"jsonrpc":"2.0","method":"m","params":{}"#,
            "[".repeat(200)
        );
        for line in ["{", "garbage", "{}x", "{\"a\":\"\0\"}", "\u{feff}{}", &deep] {
            assert_eq!(code(line), PARSE_ERROR, "{line:.40}");
        }
    }

    #[test]
    fn what_is_no_message_is_an_invalid_request() {
        for line in [
            "5",
            "{}",
            r#"["2.0",1,"ping"]"#,
            r#" [{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
            r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":null}"#,
            r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#,
            r#"{"jsonrpc":null,"id":1,"method":"m"}"#,
            r#"{"id":1,"method":"m"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":5}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":null}"#,
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1,"b":{"c":1,"c":2}}}"#,
            r#"{"jsonrpc":"2.0","result":{}}"#,
        ] {
            assert_eq!(code(line), INVALID_REQUEST, "{line}");
        }
    }

    #[test]
    fn an_error_names_the_id_where_there_is_one() {
        let id = |line: &str| read(line).expect_err("no message").id;
        assert_eq!(id(r#"{"jsonrpc":"2.0","id":"a","method":7}"#), Id::new("a"));
        assert_eq!(
            id(r#"{"jsonrpc":"2.0","id":"a","method":"m","params":5}"#),
            Id::new("a")
        );
        assert_eq!(id(r#"{"jsonrpc":"2.0","method":7}"#), Id::null());
        assert_eq!(id(r#"{"jsonrpc":"2.0","id":"a","#), Id::null());
    }

    #[test]
    fn the_app_servers_dialect_has_no_header() {
        let read = Message::read(r#"{"id":1,"result":{}}"#, false).expect("a message");
        assert!(matches!(
            read,
            Message::Response {
                outcome: Outcome::Result(_),
                ..
            }
        ));
    }

    #[test]
    fn an_answer_is_a_result_or_an_error() {
        assert_eq!(
            outcome_of(r#""id":1,"result":null"#),
            Outcome::Result(Value::Null)
        );
        assert_eq!(
            outcome_of(r#""id":1,"error":{"code":-1,"message":"no","data":[]}"#),
            Outcome::Error(RpcError::new(-1, "no"))
        );
    }

    #[test]
    fn an_answer_that_can_be_read_in_two_ways_is_malformed() {
        for members in [
            r#""id":1,"result":{},"error":{"code":1,"message":"no"}"#,
            r#""id":1,"result":{},"error":null"#,
            r#""id":1,"error":null"#,
            r#""id":1,"error":{"message":"no"}"#,
            r#""id":1,"error":{"code":"1","message":"no"}"#,
            r#""id":1,"result":{},"method":"m""#,
            r#""id":1"#,
        ] {
            assert!(
                matches!(outcome_of(members), Outcome::Malformed(_)),
                "{members}"
            );
        }
        let read = read(r#"{"id":1,"result":{}}"#).expect("it has an id");
        assert!(matches!(
            read,
            Message::Response {
                outcome: Outcome::Malformed(_),
                ..
            }
        ));
    }

    proptest! {
        #[test]
        fn no_text_is_a_panic(line in ".*", header: bool) {
            let _ = Message::read(&line, header);
        }

        #[test]
        fn a_value_reads_as_serde_json_reads_it(value in values()) {
            let text = value.to_string();
            let Unique(read) = serde_json::from_str(&text).expect("it is JSON");
            prop_assert_eq!(read, value);
        }
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            ".{0,5}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(".{0,3}", inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }
}
