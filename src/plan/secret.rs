//! Which values look like secrets.
//!
//! Pure functions over a name and a value, used where a file of a stranger becomes configuration:
//! a secret must end in the environment, not in a file that is committed. They lean to "yes" on
//! environment variables and headers, where a wrong yes costs one variable to set.
//!
//! They do not know every provider: a short password under a harmless name is not found. A
//! placeholder (`<your-key>`) is no secret, and [`is_placeholder`] tells it apart.

/// Beginnings of well-known tokens, each with the least length of a whole one.
const TOKEN_BEGINNINGS: &[(&str, usize)] = &[
    ("sk-", 20),
    ("sk_live_", 20),
    ("sk_test_", 20),
    ("rk_live_", 20),
    ("pk_live_", 20),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 30),
    ("glpat-", 20),
    ("gldt-", 20),
    ("xoxb-", 20),
    ("xoxp-", 20),
    ("xoxa-", 20),
    ("xoxr-", 20),
    ("xoxs-", 20),
    ("xoxc-", 20),
    ("xoxd-", 20),
    ("xapp-", 20),
    ("AKIA", 20),
    ("ASIA", 20),
    ("AIza", 35),
    ("ya29.", 20),
    ("npm_", 36),
    ("pypi-", 40),
    ("hf_", 30),
    ("gsk_", 30),
    ("tvly-", 20),
    ("sntrys_", 30),
    ("sntryu_", 30),
    ("shpat_", 30),
    ("SG.", 40),
    ("dop_v1_", 40),
    ("lin_api_", 30),
    ("ntn_", 30),
    ("secret_", 40),
    ("fc-", 30),
    ("figd_", 30),
    ("pplx-", 30),
    ("r8_", 30),
    ("whsec_", 20),
    ("dapi", 36),
    ("pat-", 30),
    ("vercel_", 24),
    ("sbp_", 40),
    ("ctx7sk", 20),
];

/// Words of a name that make any value under it a secret.
const STRONG_WORDS: &[&str] = &[
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "pass",
    "apikey",
    "authorization",
    "credential",
    "credentials",
    "cookie",
    "jwt",
    "bearer",
    "pat",
];

/// Words that do so unless the value is a plain word (`AUTH=oauth`).
const WEAK_WORDS: &[&str] = &["auth", "key", "session", "signature", "private", "pin"];

/// Last words of a name that speak about a secret and hold none: `TOKEN_URL`, `KEY_FILE`.
const HARMLESS_ENDINGS: &[&str] = &[
    "url",
    "uri",
    "endpoint",
    "host",
    "type",
    "method",
    "mode",
    "header",
    "name",
    "file",
    "path",
    "dir",
    "directory",
    "enabled",
    "disabled",
    "ttl",
    "expiry",
    "timeout",
    "limit",
    "count",
    "size",
    "length",
    "format",
    "prefix",
    "region",
    "version",
    "id",
    "scope",
    "scopes",
    "issuer",
    "audience",
    "provider",
    "algorithm",
    "cache",
    "storage",
    "store",
    "env",
    "var",
];

/// Whether `value`, under `name` where it has one, is a secret that must not be written to a file.
/// Placeholders are none.
pub fn looks_secret(name: Option<&str>, value: &str) -> bool {
    let value = value.trim();
    if is_placeholder(value) {
        return false;
    }
    has_token(value)
        || url_has_secret(value)
        || is_random(value)
        || name.is_some_and(|name| match strength(name) {
            Strength::None => false,
            Strength::Weak => !is_harmless(value) && !is_plain_word(value),
            Strength::Strong => !is_harmless(value),
        })
}

/// Whether a value under `name` is a secret by its name alone: `API_KEY`, `x-api-key`, `--token`.
pub fn is_secret_name(name: &str) -> bool {
    strength(name) != Strength::None
}

/// Whether a person is meant to put something else here: `<your-key>`, `YOUR_API_KEY`, `xxx`,
/// `...`, nothing at all.
pub fn is_placeholder(value: &str) -> bool {
    let value = value.trim();
    // A scheme in front of it does not make it real.
    let value = without_scheme(value).unwrap_or(value);
    if value.is_empty() {
        return true;
    }
    let open = value.find('<');
    if open.is_some_and(|open| value[open..].contains('>')) {
        return true;
    }
    if value.contains("{{") && value.contains("}}") {
        return true;
    }
    if value.contains(char::is_whitespace) {
        return false;
    }
    let lower = value.to_ascii_lowercase();
    value.starts_with('[') && value.ends_with(']')
        || lower.contains("xxxx")
        || lower.contains("***")
        || lower.contains("...")
        || lower.contains('…')
        || lower
            .chars()
            .all(|letter| matches!(letter, 'x' | '*' | '-' | '_' | '.'))
        || lower.starts_with("/path/to")
        || words(&lower).any(|word| {
            matches!(
                word,
                "your" | "changeme" | "placeholder" | "replace" | "replaceme" | "insert" | "todo"
            )
        })
        || [
            "your_",
            "your-",
            "my-api-key",
            "my_api_key",
            "yourapi",
            "yourtoken",
        ]
        .iter()
        .any(|start| lower.starts_with(start))
}

/// Whether a well-known token stands anywhere in `text`.
pub fn has_token(text: &str) -> bool {
    if text.contains("-----BEGIN ") {
        return true;
    }
    if let Some(rest) = without_scheme(text)
        && rest.len() >= 8
        && !rest.contains(char::is_whitespace)
        && !is_placeholder(rest)
    {
        return true;
    }
    let in_token =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.' | '+');
    text.split(|letter| !in_token(letter)).any(|piece| {
        let known = TOKEN_BEGINNINGS
            .iter()
            .any(|(start, least)| piece.len() >= *least && piece.starts_with(start));
        let jwt = piece.starts_with("eyJ") && piece.len() >= 30;
        (known || jwt) && piece.bytes().any(|byte| byte.is_ascii_digit()) && !is_placeholder(piece)
    })
}

/// Whether a URL in `text` has a password, or a query member that is a secret by its name.
pub fn url_has_secret(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        rest = &rest[at + 3..];
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        // A URL inside this one is a member of its query and is looked at there.
        let url = &rest[..end];
        rest = &rest[end..];
        let authority_end = url.find(['/', '?', '#']).unwrap_or(url.len());
        let (authority, tail) = url.split_at(authority_end);
        if let Some((user, _)) = authority.rsplit_once('@') {
            // A user alone is a token as often as a name; `git@` and `user@` are not.
            if user.contains(':') || looks_secret(None, user) {
                return true;
            }
        }
        let query = tail.split(['?', '&', '#', ';']).skip(1);
        for member in query {
            let (name, value) = member.split_once('=').unwrap_or((member, ""));
            if looks_secret(Some(name), value)
                || (is_secret_name(name) && !value.is_empty() && !is_harmless(value))
            {
                return true;
            }
        }
    }
    false
}

/// `Bearer X`, `Basic X`, `Token X`: what stands behind the scheme.
pub fn without_scheme(value: &str) -> Option<&str> {
    ["bearer", "basic", "token"].iter().find_map(|scheme| {
        let (first, rest) = (value.get(..scheme.len())?, value.get(scheme.len()..)?);
        (first.eq_ignore_ascii_case(scheme) && rest.starts_with([' ', '\t']))
            .then(|| rest.trim_start())
    })
}

#[derive(PartialEq, Eq)]
enum Strength {
    None,
    Weak,
    Strong,
}

fn strength(name: &str) -> Strength {
    let split = split_camel(name);
    let parts: Vec<&str> = words(&split).collect();
    let Some(last) = parts.last() else {
        return Strength::None;
    };
    if HARMLESS_ENDINGS.contains(last) || parts.iter().any(|word| matches!(*word, "max" | "min")) {
        return Strength::None;
    }
    let glued = |word: &str| {
        [
            "apikey",
            "token",
            "secret",
            "password",
            "passwd",
            "accesskey",
        ]
        .iter()
        .any(|end| word.ends_with(end))
    };
    if parts
        .iter()
        .any(|word| STRONG_WORDS.contains(word) || glued(word))
    {
        return Strength::Strong;
    }
    let key_of = parts.windows(2).any(|pair| {
        pair[1] == "key" && matches!(pair[0], "api" | "access" | "secret" | "private" | "auth")
    });
    if key_of {
        Strength::Strong
    } else if parts.iter().any(|word| WEAK_WORDS.contains(word)) {
        Strength::Weak
    } else {
        Strength::None
    }
}

/// Lower case, with a mark where a capital follows a small letter: `accessToken` is two words.
fn split_camel(name: &str) -> String {
    let mut split = String::with_capacity(name.len() + 4);
    let mut before_small = false;
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && before_small {
            split.push('_');
        }
        before_small = letter.is_ascii_lowercase() || letter.is_ascii_digit();
        split.push(letter.to_ascii_lowercase());
    }
    split
}

fn words(lower: &str) -> impl Iterator<Item = &str> {
    lower
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
}

/// A switch, a path or a plain URL: no secret under any name.
fn is_harmless(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let switch = matches!(
        lower.as_str(),
        "true" | "false" | "yes" | "no" | "on" | "off" | "none" | "null" | "0" | "1"
    );
    switch || is_path(value) || (lower.starts_with("http") && value.contains("://"))
}

fn is_path(value: &str) -> bool {
    let bytes = value.as_bytes();
    let drive = bytes.len() > 3 && bytes[0].is_ascii_alphabetic() && &bytes[1..3] == b":\\";
    let rooted = ["./", "../", "~/"]
        .iter()
        .any(|start| value.starts_with(start));
    // A lone slash in front may be base64; a second one or an extension makes it a path.
    let absolute = value.starts_with('/') && (value[1..].contains('/') || value.contains('.'));
    drive || ((rooted || absolute) && !value.ends_with('='))
}

fn is_plain_word(value: &str) -> bool {
    value.len() < 16
        && value
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte == b'-')
}

/// Whether `value` looks drawn at random: one long run of letters and digits that change often.
/// UUIDs do not count: they name projects and workspaces.
fn is_random(value: &str) -> bool {
    const LEAST: usize = 20;
    if value.len() < LEAST || is_path(value) || value.contains("://") || is_uuid(value) {
        return false;
    }
    let fitting = |letter: char| {
        letter.is_ascii_alphanumeric() || matches!(letter, '+' | '/' | '=' | '_' | '-' | '.' | '~')
    };
    if !value.chars().all(fitting) {
        return false;
    }
    value
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|run| run.len() >= 16)
        .any(|run| {
            let changes = run
                .as_bytes()
                .windows(2)
                .filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit())
                .count();
            changes >= 4
        })
}

fn is_uuid(value: &str) -> bool {
    value.len() == 36
        && value.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    // Made up for these tests; each is no one's.
    const GITHUB: &str = "ghp_0123456789abcdefghijABCDEFGHIJ0123";
    const OPENAI: &str = "sk-proj-a1b2c3d4e5f6g7h8i9j0k1l2";

    #[test]
    fn known_tokens_are_secrets_under_any_name() {
        for value in [
            GITHUB,
            OPENAI,
            "AKIAIOSFODNN7ABCDEFG",
            "xoxb-123456789012-abcdefghijkl",
            "github_pat_11ABCDEFG0abcdefghijkl_mnopqrs",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc123def456",
            "Bearer abcdefghijkl",
            "Basic dXNlcjpwYXNz",
            "-----BEGIN PRIVATE KEY-----\nMIIE",
            "postgres://admin:hunter2@db.example.com/app",
            "https://api.example.com/mcp?api_key=abcd1234",
            "a8f5f167f44f4964e6c998dee827110c",
        ] {
            assert!(looks_secret(None, value), "{value}");
            assert!(looks_secret(Some("FOO"), value), "{value}");
        }
    }

    #[test]
    fn names_make_secrets() {
        for name in [
            "API_KEY",
            "OPENAI_API_KEY",
            "x-api-key",
            "accessToken",
            "DB_PASSWORD",
            "Authorization",
            "GITHUB_PERSONAL_ACCESS_TOKEN",
            "APIKEY",
            "client_secret",
            "--token",
            "Cookie",
        ] {
            assert!(is_secret_name(name), "{name}");
            assert!(looks_secret(Some(name), "hunter2"), "{name}");
        }
        for name in [
            "MONKEY",
            "AUTHOR",
            "KEYBOARD",
            "TOKENIZER",
            "MAX_TOKENS",
            "TOKEN_URL",
            "API_KEY_FILE",
            "PATH",
            "AUTH_TYPE",
            "LOG_LEVEL",
        ] {
            assert!(!looks_secret(Some(name), "hunter2"), "{name}");
        }
    }

    #[test]
    fn harmless_values_are_no_secrets() {
        for (name, value) in [
            ("AUTH", "oauth"),
            ("USE_TOKEN", "true"),
            ("SSL_KEY", "/etc/ssl/private/server.pem"),
            ("PROJECT", "550e8400-e29b-41d4-a716-446655440000"),
            ("MODEL", "claude-3-5-sonnet-20241022-thinking"),
            ("BASE_URL", "https://api.example.com/v1?limit=10"),
            ("TOKEN_URL", "https://login.example.com/token"),
            (
                "PACKAGE",
                "@modelcontextprotocol/server-filesystem@2025.1.14",
            ),
            ("NODE_ENV", "production"),
            ("REPO", "git@github.com:owner/name.git"),
        ] {
            assert!(!looks_secret(Some(name), value), "{name}={value}");
        }
    }

    #[test]
    fn placeholders_are_told_apart() {
        for value in [
            "",
            "<your-key>",
            "YOUR_API_KEY",
            "your-token-here",
            "xxx",
            "...",
            "sk-...",
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "Bearer <token>",
            "Bearer YOUR_TOKEN",
            "{{API_KEY}}",
            "[API_KEY]",
            "changeme",
            "/path/to/file",
        ] {
            assert!(is_placeholder(value), "{value}");
            assert!(!looks_secret(Some("API_KEY"), value), "{value}");
        }
        for value in [GITHUB, OPENAI, "hunter2", "true", "what is yours"] {
            assert!(!is_placeholder(value), "{value}");
        }
    }
}
