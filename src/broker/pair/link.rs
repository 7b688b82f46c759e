//! **S4**: a server's link, taken apart for the person who shall decide whether to open it.
//!
//! It is read as text, never opened, fetched or shortened. What a browser would make of a text that
//! is no plain `https` link is not guessed: the warning says what is odd about it.

/// A link and what is to be said about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Link {
    /// The host as it is written, without user and port; empty where there is none.
    pub(super) host: String,
    /// What a person should know before opening it.
    pub(super) warnings: Vec<&'static str>,
}

/// Reads a link; none where its scheme is neither `https` nor `http`.
pub(super) fn read(url: &str) -> Option<Link> {
    let (scheme, rest) = url.split_once("://")?;
    let secure = scheme.eq_ignore_ascii_case("https");
    if !secure && !scheme.eq_ignore_ascii_case("http") {
        return None;
    }
    let mut warnings = Vec::new();
    if !secure {
        warnings.push("not https: what is sent there can be read and changed on the way");
    }
    // A browser takes a backslash for a slash.
    let end = rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len());
    let authority = &rest[..end];
    let (user, place) = match authority.rsplit_once('@') {
        Some((user, place)) => (Some(user), place),
        None => (None, authority),
    };
    if user.is_some() {
        warnings.push("a user name stands before the host: the host is behind the @");
    }
    let host = match place.strip_prefix('[') {
        Some(six) => six.split_once(']').map_or(place, |(inner, _)| inner),
        None => place.split_once(':').map_or(place, |(host, _)| host),
    };
    if host.is_empty() {
        warnings.push("no host");
    }
    if !host.is_ascii() || host.contains('%') {
        warnings.push("the host has characters that are not ASCII");
    }
    let coded = |label: &str| {
        label
            .get(..4)
            .is_some_and(|l| l.eq_ignore_ascii_case("xn--"))
    };
    if host.split('.').any(coded) {
        warnings.push("the host is written in punycode: it may look like another one");
    }
    if url
        .chars()
        .any(|c| crate::text::visible::is_hidden(c) || c == ' ')
        || url.contains('\\')
    {
        warnings.push("control, invisible or white characters, or backslashes");
    }
    Some(Link {
        host: host.to_owned(),
        warnings,
    })
}

impl Link {
    /// A link that nobody looked at.
    pub(super) fn unread() -> Self {
        Self {
            host: String::new(),
            warnings: Vec::new(),
        }
    }
}
