//! A random TOML text: root keys first, then tables, in a random hand.

use super::random::Random;

/// A file that is being written.
pub struct Sheet {
    root: Vec<String>,
    tables: Vec<String>,
}

impl Sheet {
    /// An empty one.
    pub const fn new() -> Self {
        Self {
            root: Vec::new(),
            tables: Vec::new(),
        }
    }

    /// Adds `key = value` to the root, the key in a random spelling.
    pub fn root(&mut self, random: &mut Random, key: &str, value: &str) {
        let key = spell_key(random, key);
        self.root_line(format!("{key} = {value}"));
    }

    /// Adds a line to the root.
    pub fn root_line(&mut self, line: String) {
        self.root.push(line);
    }

    /// Adds the table at `path` with `members`: under a header, as dotted keys or inline.
    pub fn table(&mut self, random: &mut Random, path: &str, members: &[(String, String)]) {
        let lines = |before: &str| {
            let line = |(key, value): &(String, String)| format!("{before}{key} = {value}");
            members.iter().map(line).collect::<Vec<_>>()
        };
        match random.below(10) {
            0..=5 => self
                .tables
                .push(format!("[{path}]\n{}", lines("").join("\n"))),
            6 | 7 => self.root.extend(lines(&format!("{path}."))),
            _ => self
                .root
                .push(format!("{path} = {{ {} }}", lines("").join(", "))),
        }
    }

    /// Adds a table as it is, header and all.
    pub fn table_text(&mut self, text: String) {
        self.tables.push(text);
    }

    /// The text, with the marks of one hand or another.
    pub fn text(self, random: &mut Random) -> String {
        let mut lines: Vec<String> = self.root;
        lines.extend(self.tables);
        if random.chance(10) {
            let at = random.below(lines.len() + 1);
            lines.insert(at, "# a comment with [brackets] and \"quotes\"".to_owned());
        }
        let mut text = lines.join("\n");
        if !text.is_empty() && random.chance(90) {
            text.push('\n');
        }
        if random.chance(5) {
            text = text.replace('\n', "\r\n");
        }
        if random.chance(4) {
            text.insert(0, '\u{feff}');
        }
        text
    }
}

/// `word` as a TOML string, mostly a plain one.
pub fn quote(random: &mut Random, word: &str) -> String {
    let last = word.chars().last();
    match (random.below(24), last) {
        (0, _) => format!("'{word}'"),
        (1, _) => format!("\"\"\"{word}\"\"\""),
        (2, _) => format!("'''{word}'''"),
        (3, _) => format!("\"\"\"\n{word}\"\"\""),
        (4, Some(last)) => format!(
            "\"{}\\u{:04x}\"",
            &word[..word.len() - last.len_utf8()],
            u32::from(last)
        ),
        (5, Some(last)) if last.is_ascii() => {
            format!("\"{}\\x{:02x}\"", &word[..word.len() - 1], u32::from(last))
        }
        _ => format!("\"{word}\""),
    }
}

/// `key`, which is a bare one, in a random spelling: mostly as it is.
pub fn spell_key(random: &mut Random, key: &str) -> String {
    let (head, tail) = key.split_at(key.len() - 1);
    match random.below(30) {
        0 => format!("\"{key}\""),
        1 => format!("'{key}'"),
        2 => format!("\"{head}\\u{:04x}\"", u32::from(tail.as_bytes()[0])),
        _ => key.to_owned(),
    }
}

/// A list of strings.
pub fn list(random: &mut Random, words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| quote(random, word)).collect();
    if random.chance(20) {
        let lines: Vec<String> = words
            .iter()
            .map(|word| format!("  {word}, # one"))
            .collect();
        return format!("[\n{}\n]", lines.join("\n"));
    }
    format!("[{}]", words.join(", "))
}
