//! A server's own form: which schemas are shown (**S2**), and which content fits one (**S3**).
//!
//! Codex passes any content on unchecked, so what is not held here is held nowhere. Defaults are
//! shown, never filled in.

use serde_json::{Map, Value};

/// The most fields of a form: more is no question to a person.
const FIELDS_LIMIT: usize = 1000;

/// Members of a schema, beside those of its type, that change nothing of what fits.
const NOTES: [&str; 3] = ["title", "description", "default"];

/// Says what of `schema` is not shown to a person, if anything.
pub(super) fn unsupported(schema: Option<&Value>) -> Result<(), String> {
    let Some(Value::Object(schema)) = schema else {
        return Err("it has no schema".into());
    };
    only(
        schema,
        &[
            "$schema",
            "type",
            "properties",
            "required",
            "title",
            "description",
        ],
        "the form",
    )?;
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err("the form is no object".into());
    }
    let Some(Value::Object(fields)) = schema.get("properties") else {
        return Err("the form has no properties".into());
    };
    if fields.len() > FIELDS_LIMIT {
        return Err(format!("the form has more than {FIELDS_LIMIT} fields"));
    }
    for name in required(schema).ok_or("`required` is no list of names")? {
        if !fields.contains_key(name) {
            return Err(format!("the required field `{name}` is not there"));
        }
    }
    for (name, field) in fields {
        shape(field).map_err(|what| format!("the field `{name}`: {what}"))?;
    }
    Ok(())
}

/// The names that must be there; none if the list is malformed.
fn required(schema: &Map<String, Value>) -> Option<Vec<&str>> {
    match schema.get("required") {
        None | Some(Value::Null) => Some(Vec::new()),
        Some(Value::Array(names)) => names.iter().map(Value::as_str).collect(),
        Some(_) => None,
    }
}

/// Refuses a member that is not in `known` nor a note.
fn only(schema: &Map<String, Value>, known: &[&str], what: &str) -> Result<(), String> {
    match schema.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(format!("{what} has a member `{name}` that is not known")),
        None => Ok(()),
    }
}

/// One field's type.
enum Shape<'a> {
    Text {
        options: Option<Vec<&'a str>>,
        min: Option<u64>,
        max: Option<u64>,
        format: Option<&'a str>,
    },
    Number {
        whole: bool,
        min: Option<f64>,
        max: Option<f64>,
    },
    Truth,
    Several {
        options: Vec<&'a str>,
        min: Option<u64>,
        max: Option<u64>,
    },
}

/// A member that is a `T`, or absent, or null.
fn optional<'a, T>(
    field: &'a Map<String, Value>,
    name: &str,
    read: impl Fn(&'a Value) -> Option<T>,
) -> Result<Option<T>, String> {
    match field.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => read(value)
            .map(Some)
            .ok_or(format!("`{name}` has another type")),
    }
}

fn words(value: &Value) -> Option<Vec<&str>> {
    value.as_array()?.iter().map(Value::as_str).collect()
}

/// `[{"const": "a", "title": "A"}]`.
fn consts(value: &Value) -> Option<Vec<&str>> {
    let one = |option: &'_ Value| {
        let plain = option
            .as_object()?
            .keys()
            .all(|k| k == "const" || k == "title");
        let title = option.get("title").is_none_or(Value::is_string);
        (plain && title).then_some(())
    };
    let list = value.as_array()?;
    list.iter().try_for_each(one)?;
    list.iter()
        .map(|option| option.get("const")?.as_str())
        .collect()
}

fn shape(field: &Value) -> Result<Shape<'_>, String> {
    let Value::Object(map) = field else {
        return Err("it is no object".into());
    };
    let own: &[&str] = match map.get("type").and_then(Value::as_str) {
        Some("string") => &[
            "enum",
            "enumNames",
            "oneOf",
            "format",
            "minLength",
            "maxLength",
        ],
        Some("number" | "integer") => &["minimum", "maximum"],
        Some("boolean") => &[],
        Some("array") => &["items", "minItems", "maxItems"],
        _ => return Err("its type is not one of string, number, integer, boolean, array".into()),
    };
    let known: Vec<&str> = own.iter().copied().chain(NOTES).chain(["type"]).collect();
    only(map, &known, "it")?;
    optional(map, "title", Value::as_str)?;
    optional(map, "description", Value::as_str)?;
    Ok(match map.get("type").and_then(Value::as_str) {
        Some("string") => {
            let plain = optional(map, "enum", words)?;
            let titled = optional(map, "oneOf", consts)?;
            if plain.is_some() && titled.is_some() {
                return Err("it has `enum` and `oneOf`".into());
            }
            optional(map, "enumNames", words)?;
            Shape::Text {
                options: plain.or(titled),
                min: optional(map, "minLength", Value::as_u64)?,
                max: optional(map, "maxLength", Value::as_u64)?,
                format: optional(map, "format", Value::as_str)?,
            }
        }
        Some("boolean") => Shape::Truth,
        Some("array") => {
            let Some(Value::Object(items)) = map.get("items") else {
                return Err("`items` is no object".into());
            };
            only(items, &["type", "enum", "anyOf", "oneOf"], "`items`")?;
            if !items.get("type").is_none_or(|kind| kind == "string") {
                return Err("its items are no strings".into());
            }
            let lists = [
                optional(items, "enum", words)?,
                optional(items, "anyOf", consts)?,
                optional(items, "oneOf", consts)?,
            ];
            let mut lists = lists.into_iter().flatten();
            let (Some(options), None) = (lists.next(), lists.next()) else {
                return Err("its items have no list of choices".into());
            };
            Shape::Several {
                options,
                min: optional(map, "minItems", Value::as_u64)?,
                max: optional(map, "maxItems", Value::as_u64)?,
            }
        }
        kind => Shape::Number {
            whole: kind == Some("integer"),
            min: optional(map, "minimum", Value::as_f64)?,
            max: optional(map, "maximum", Value::as_f64)?,
        },
    })
}

/// Says why `content` does not fit `schema`, which [`unsupported`] let pass.
pub(super) fn misfit(schema: &Value, content: &Value) -> Result<(), String> {
    let Value::Object(content) = content else {
        return Err("content: must be an object".into());
    };
    let empty = Map::new();
    let schema = schema.as_object().unwrap_or(&empty);
    let fields = schema
        .get("properties")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    if let Some(name) = content.keys().find(|name| !fields.contains_key(*name)) {
        return Err(format!("content.{name}: the form has no such field"));
    }
    for name in required(schema).unwrap_or_default() {
        if !content.contains_key(name) {
            return Err(format!("content.{name}: it is required"));
        }
    }
    for (name, value) in content {
        let shape = shape(&fields[name]).map_err(|what| format!("content.{name}: {what}"))?;
        fits(&shape, value).map_err(|what| format!("content.{name}: {what}"))?;
    }
    Ok(())
}

fn fits(shape: &Shape<'_>, value: &Value) -> Result<(), String> {
    match shape {
        Shape::Text {
            options,
            min,
            max,
            format,
        } => {
            let text = value.as_str().ok_or("must be a string")?;
            if options
                .as_ref()
                .is_some_and(|options| !options.contains(&text))
            {
                return Err("is none of the choices".into());
            }
            within(text.chars().count(), *min, *max, "characters")?;
            match format {
                Some(format) if !has_format(format, text) => Err(format!("is no {format}")),
                _ => Ok(()),
            }
        }
        Shape::Truth if value.is_boolean() => Ok(()),
        Shape::Truth => Err("must be true or false".into()),
        Shape::Number { whole, min, max } => {
            let number = value.as_f64().ok_or("must be a number")?;
            if *whole && !(value.is_i64() || value.is_u64()) {
                return Err("must be a whole number".into());
            }
            if min.is_some_and(|min| number < min) || max.is_some_and(|max| number > max) {
                return Err("is out of bounds".into());
            }
            Ok(())
        }
        Shape::Several { options, min, max } => {
            let list = value.as_array().ok_or("must be a list")?;
            let chosen = words(value).ok_or("must be a list of strings")?;
            if chosen.iter().any(|word| !options.contains(word)) {
                return Err("holds something that is none of the choices".into());
            }
            within(list.len(), *min, *max, "choices")
        }
    }
}

fn within(count: usize, min: Option<u64>, max: Option<u64>, unit: &str) -> Result<(), String> {
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    if min.is_some_and(|min| count < min) || max.is_some_and(|max| count > max) {
        return Err(format!("has {count} {unit}, out of bounds"));
    }
    Ok(())
}

/// The formats that a form may ask for, as far as a person can be held to them; one that is not
/// known holds nothing.
fn has_format(format: &str, text: &str) -> bool {
    let digits = |part: &str, n: usize| part.len() == n && part.bytes().all(|b| b.is_ascii_digit());
    let date = |text: &str| {
        let parts: Vec<&str> = text.split('-').collect();
        matches!(parts[..], [y, m, d] if digits(y, 4) && digits(m, 2) && digits(d, 2)
            && ("01"..="12").contains(&m) && ("01"..="31").contains(&d))
    };
    match format {
        "email" => text.split_once('@').is_some_and(|(name, host)| {
            !name.is_empty()
                && !host.is_empty()
                && !host.contains('@')
                && !text.contains(char::is_whitespace)
        }),
        "uri" => text.split_once(':').is_some_and(|(scheme, rest)| {
            let plain = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
            scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme.chars().all(plain)
                && !rest.is_empty()
                && !text.contains(char::is_whitespace)
        }),
        "date" => date(text),
        "date-time" => text.split_once(['T', 't']).is_some_and(|(day, time)| {
            let clock = time.get(..8).is_some_and(|clock| {
                let parts: Vec<&str> = clock.split(':').collect();
                parts.len() == 3 && parts.iter().all(|part| digits(part, 2))
            });
            let zone =
                time.ends_with(['Z', 'z']) || time.get(8..).is_some_and(|z| z.contains(['+', '-']));
            date(day) && clock && zone
        }),
        _ => true,
    }
}
