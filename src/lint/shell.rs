//! Command lines as a shell takes them apart, as far as that can be told without running one.
//!
//! Quotes go, operators end a command, a comment ends a line, a backslash at the end of a line
//! joins it with the next. What a shell would put in place of `$NAME`, `$(…)` or `*` is not known:
//! such a word says so. Here-documents and keywords are not understood: a line of them is a command
//! like another.

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellWord {
    /// The word without its quotes.
    pub text: String,
    /// Where it starts in the line.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// Whether a shell puts something else in place of part of it.
    pub expands: bool,
}

/// The commands of `line`, which may be several lines, in order. None is empty.
pub fn commands(line: &str) -> Vec<Vec<ShellWord>> {
    let mut reader = Reader {
        line,
        commands: Vec::new(),
        words: Vec::new(),
        word: None,
    };
    reader.read();
    reader.commands
}

struct Reader<'a> {
    line: &'a str,
    commands: Vec<Vec<ShellWord>>,
    words: Vec<ShellWord>,
    word: Option<ShellWord>,
}

impl Reader<'_> {
    fn read(&mut self) {
        let mut chars = self.line.char_indices().peekable();
        let mut quote = None;
        while let Some((at, c)) = chars.next() {
            let end = at + c.len_utf8();
            match (quote, c) {
                (Some('\''), '\'') | (Some('"'), '"') => {
                    quote = None;
                    self.word(at).end = end;
                }
                (Some('\''), _) => self.push(at, end, c),
                (None, '\'' | '"') => {
                    quote = Some(c);
                    self.word(at).end = end;
                }
                (_, '\\') => match chars.next() {
                    None => self.push(at, end, c),
                    // The next line goes on.
                    Some((_, '\n')) => {}
                    Some((_, '\r')) if chars.next_if(|(_, c)| *c == '\n').is_some() => {}
                    Some((_, escaped)) => {
                        if quote.is_some() && !matches!(escaped, '"' | '\\' | '$' | '`') {
                            self.push(at, end, '\\');
                        }
                        self.push(at, end + escaped.len_utf8(), escaped);
                    }
                },
                (_, '$' | '`') => {
                    self.push(at, end, c);
                    self.word(at).expands = true;
                }
                (Some(_), _) => self.push(at, end, c),
                (None, '#') if self.word.is_none() => {
                    while chars.next_if(|(_, c)| *c != '\n').is_some() {}
                }
                (None, ';' | '&' | '|' | '\n' | '(' | ')') => self.end_command(),
                (None, c) if c.is_whitespace() => self.end_word(),
                (None, '*' | '?' | '[' | '{') => {
                    self.push(at, end, c);
                    self.word(at).expands = true;
                }
                (None, c) => self.push(at, end, c),
            }
        }
        self.end_command();
    }

    fn word(&mut self, at: usize) -> &mut ShellWord {
        self.word.get_or_insert_with(|| ShellWord {
            text: String::new(),
            start: at,
            end: at,
            expands: false,
        })
    }

    fn push(&mut self, at: usize, end: usize, c: char) {
        let word = self.word(at);
        word.text.push(c);
        word.end = end;
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    fn end_command(&mut self) {
        self.end_word();
        if !self.words.is_empty() {
            self.commands.push(std::mem::take(&mut self.words));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Vec<Vec<String>> {
        let text = |word: ShellWord| {
            let mark = if word.expands { "*" } else { "" };
            format!("{}{mark}", word.text)
        };
        let commands = commands(line).into_iter();
        commands
            .map(|words| words.into_iter().map(text).collect())
            .collect()
    }

    #[test]
    fn quotes_go_and_operators_end_a_command() {
        assert_eq!(
            texts("a 'b c' d\"e f\" \\g;h&&i|j\nk # l m\n\"n"),
            [
                vec!["a", "b c", "de f", "g"],
                vec!["h"],
                vec!["i"],
                vec!["j"],
                vec!["k"],
                vec!["n"]
            ]
        );
        assert_eq!(texts("a \\\n b \\\r\n c#d ''"), [vec!["a", "b", "c#d", ""]]);
        assert_eq!(texts("\"a\\\"b\\c\" 'd\\'"), [vec!["a\"b\\c", "d\\"]]);
        assert!(texts(" ; # x").is_empty());
    }

    #[test]
    fn what_a_shell_would_replace_is_marked() {
        assert_eq!(
            texts("$A/b \"${C}\" '$D' e* `f`"),
            [vec!["$A/b*", "${C}*", "$D", "e**", "`f`*"]]
        );
    }

    #[test]
    fn words_know_where_they_stand() {
        let line = "é 'b c' d";
        let words = &commands(line)[0];
        let marked: Vec<&str> = words.iter().map(|w| &line[w.start..w.end]).collect();
        assert_eq!(marked, ["é", "'b c'", "d"]);
    }
}
