//! What a `.rules` file says, as far as it is written out in plain calls.
//!
//! Rules files are programs in Starlark. Nearly all of them are calls with nothing but literals,
//! and those are judged here as Codex judges them. Whatever needs running (a name, a loop, an
//! operator) is [`Verdict::NotJudged`]: then nothing is said, neither that the file is right nor
//! that it is broken. One broken file voids all rules of an app server, and `codex exec` does not
//! start with it (scenario `rules-broken-one-of-two`).

/// What a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Right, with its rules.
    Right(Vec<PrefixRule>),
    /// Codex refuses it.
    Broken {
        /// The line, from 1.
        line: usize,
        /// Why.
        why: &'static str,
    },
    /// A program that would have to be run.
    NotJudged {
        /// The line of the first such piece, from 1.
        line: usize,
    },
}

/// One `prefix_rule`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrefixRule {
    /// The words of the command's beginning, each with its alternatives.
    pub pattern: Vec<Vec<String>>,
    /// `allow`, `prompt` or `forbidden`.
    pub decision: String,
    /// The line of the call, from 1.
    pub line: usize,
}

/// How deep lists may nest: Codex itself takes two levels.
const DEPTH: usize = 16;

/// Functions of Starlark itself: a file that calls one is a program.
const BUILT_IN: [&str; 20] = [
    "all",
    "any",
    "bool",
    "dict",
    "dir",
    "enumerate",
    "fail",
    "float",
    "getattr",
    "hasattr",
    "int",
    "len",
    "list",
    "max",
    "min",
    "print",
    "range",
    "sorted",
    "str",
    "tuple",
];

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Name(String),
    Text(String),
    Number,
    Mark(char),
    Newline,
}

#[derive(Debug, Clone, PartialEq)]
enum Literal {
    Text(String),
    List(Vec<Literal>),
    Other,
}

enum Stop {
    Broken(usize, &'static str),
    NotJudged(usize),
}

/// Judges the text of a rules file.
pub fn judge(text: &str) -> Verdict {
    match read(text) {
        Ok(rules) => Verdict::Right(rules),
        Err(Stop::Broken(line, why)) => Verdict::Broken { line, why },
        Err(Stop::NotJudged(line)) => Verdict::NotJudged { line },
    }
}

fn read(text: &str) -> Result<Vec<PrefixRule>, Stop> {
    if text.starts_with('\u{feff}') {
        return Err(Stop::Broken(1, "a byte order mark"));
    }
    let tokens = scan(text)?;
    let mut reader = Reader {
        tokens: &tokens,
        at: 0,
        rules: Vec::new(),
        // A function of the file's own may have any name.
        defines: tokens.iter().any(
            |(token, _)| matches!(token, Token::Name(name) if name == "def" || name == "lambda"),
        ) || tokens.windows(2).any(|pair| {
            matches!((&pair[0].0, &pair[1].0), (Token::Name(_), Token::Mark('=')))
                && is_statement(&tokens, pair[0].1)
        }),
    };
    reader.file()?;
    Ok(reader.rules)
}

/// Whether the line begins with `NAME =`, and so is no argument.
fn is_statement(tokens: &[(Token, usize)], line: usize) -> bool {
    let mut of_line = tokens.iter().filter(|(_, at)| *at == line);
    matches!(
        (of_line.next(), of_line.next()),
        (Some((Token::Name(_), _)), Some((Token::Mark('='), _)))
    )
}

fn scan(text: &str) -> Result<Vec<(Token, usize)>, Stop> {
    let mut found = Vec::new();
    let mut letters = text.char_indices().peekable();
    let mut line = 1;
    let mut depth = 0_usize;
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\n' => {
                if depth == 0 {
                    found.push((Token::Newline, line));
                    if letters
                        .peek()
                        .is_some_and(|(_, next)| matches!(next, ' ' | '\t'))
                    {
                        let rest = text[at + 1..].trim_start_matches([' ', '\t']);
                        if !rest.is_empty() && !rest.starts_with(['\n', '\r', '#']) {
                            return Err(Stop::NotJudged(line + 1));
                        }
                    }
                }
                line += 1;
            }
            ' ' | '\t' | '\r' => {}
            '#' => while letters.next_if(|(_, next)| *next != '\n').is_some() {},
            '"' | '\'' => {
                let (token, lines) = quoted(text, &mut letters, letter, line)?;
                found.push((token, line));
                line += lines;
            }
            '(' | '[' | '{' => {
                depth += 1;
                found.push((Token::Mark(letter), line));
            }
            ')' | ']' | '}' => {
                depth = depth.saturating_sub(1);
                found.push((Token::Mark(letter), line));
            }
            letter if letter.is_alphabetic() || letter == '_' => {
                let mut name = String::from(letter);
                while let Some((_, next)) =
                    letters.next_if(|(_, next)| next.is_alphanumeric() || *next == '_')
                {
                    name.push(next);
                }
                let is_prefix = letters
                    .peek()
                    .is_some_and(|(_, next)| matches!(next, '"' | '\''));
                if is_prefix {
                    // r"…", b"…", f"…"
                    return Err(Stop::NotJudged(line));
                }
                found.push((Token::Name(name), line));
            }
            letter if letter.is_ascii_digit() => {
                while letters
                    .next_if(|(_, next)| next.is_ascii_alphanumeric() || *next == '.')
                    .is_some()
                {}
                found.push((Token::Number, line));
            }
            other => found.push((Token::Mark(other), line)),
        }
    }
    found.push((Token::Newline, line));
    Ok(found)
}

type Letters<'t> = std::iter::Peekable<std::str::CharIndices<'t>>;

/// A string after its first quote, and how many lines it has.
fn quoted(
    text: &str,
    letters: &mut Letters<'_>,
    quote: char,
    line: usize,
) -> Result<(Token, usize), Stop> {
    let rest = letters.peek().map_or("", |(at, _)| &text[*at..]);
    let pair: String = [quote, quote].iter().collect();
    if rest.starts_with(&pair) {
        // Three quotes: rare, and with rules of its own.
        return Err(Stop::NotJudged(line));
    }
    let mut found = String::new();
    loop {
        match letters.next() {
            None | Some((_, '\n')) => return Err(Stop::Broken(line, "a string without an end")),
            Some((_, letter)) if letter == quote => return Ok((Token::Text(found), 0)),
            Some((_, '\\')) => match letters.next() {
                Some((_, 'n')) => found.push('\n'),
                Some((_, 't')) => found.push('\t'),
                Some((_, letter)) if matches!(letter, '\\' | '"' | '\'') => found.push(letter),
                _ => return Err(Stop::NotJudged(line)),
            },
            Some((_, letter)) => found.push(letter),
        }
    }
}

struct Reader<'t> {
    tokens: &'t [(Token, usize)],
    at: usize,
    rules: Vec<PrefixRule>,
    defines: bool,
}

impl Reader<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    fn line(&self) -> usize {
        let last = self.tokens.last().map_or(1, |(_, line)| *line);
        self.tokens.get(self.at).map_or(last, |(_, line)| *line)
    }

    fn takes(&mut self, mark: char) -> bool {
        let takes = self.peek() == Some(&Token::Mark(mark));
        self.at += usize::from(takes);
        takes
    }

    fn file(&mut self) -> Result<(), Stop> {
        while let Some(token) = self.peek() {
            match token {
                Token::Newline | Token::Mark(';') => self.at += 1,
                Token::Name(_) => self.statement()?,
                _ => return Err(Stop::NotJudged(self.line())),
            }
        }
        Ok(())
    }

    fn statement(&mut self) -> Result<(), Stop> {
        let line = self.line();
        let Some(Token::Name(name)) = self.peek().cloned() else {
            return Err(Stop::NotJudged(line));
        };
        self.at += 1;
        if !self.takes('(') {
            return Err(Stop::NotJudged(line));
        }
        let arguments = self.arguments()?;
        if !matches!(self.peek(), Some(Token::Newline | Token::Mark(';')) | None) {
            return Err(Stop::NotJudged(line));
        }
        match name.as_str() {
            "prefix_rule" => {
                let rule = prefix_rule(arguments, line)?;
                self.rules.push(rule);
                Ok(())
            }
            "host_executable" => host_executable(&arguments, line),
            "network_rule" => network_rule(&arguments, line),
            "load" => Err(Stop::Broken(line, "`load` finds nothing")),
            other if self.defines || BUILT_IN.contains(&other) => Err(Stop::NotJudged(line)),
            _ => Err(Stop::Broken(line, "there is no such function")),
        }
    }

    fn arguments(&mut self) -> Result<Vec<(Option<String>, Literal)>, Stop> {
        let mut found = Vec::new();
        loop {
            if self.takes(')') {
                return Ok(found);
            }
            let mut name = None;
            if let (Some(Token::Name(word)), Some((Token::Mark('='), _))) =
                (self.peek().cloned(), self.tokens.get(self.at + 1))
            {
                if matches!(self.tokens.get(self.at + 2), Some((Token::Mark('='), _))) {
                    return Err(Stop::NotJudged(self.line()));
                }
                name = Some(word);
                self.at += 2;
            }
            let value = self.literal(0)?;
            found.push((name, value));
            if !self.takes(',') && self.peek() != Some(&Token::Mark(')')) {
                return Err(self.unexpected());
            }
        }
    }

    /// An end in the middle is broken, anything else may be an operator.
    fn unexpected(&self) -> Stop {
        match self.peek() {
            None | Some(Token::Newline) => Stop::Broken(self.line(), "the file ends in a call"),
            _ => Stop::NotJudged(self.line()),
        }
    }

    fn literal(&mut self, depth: usize) -> Result<Literal, Stop> {
        let line = self.line();
        if depth > DEPTH {
            return Err(Stop::NotJudged(line));
        }
        match self.peek().cloned() {
            Some(Token::Text(text)) => {
                self.at += 1;
                Ok(Literal::Text(text))
            }
            Some(Token::Number) => {
                self.at += 1;
                Ok(Literal::Other)
            }
            Some(Token::Name(name)) if matches!(name.as_str(), "None" | "True" | "False") => {
                self.at += 1;
                Ok(Literal::Other)
            }
            Some(Token::Mark('[')) => {
                self.at += 1;
                let mut items = Vec::new();
                loop {
                    if self.takes(']') {
                        return Ok(Literal::List(items));
                    }
                    items.push(self.literal(depth + 1)?);
                    if !self.takes(',') && self.peek() != Some(&Token::Mark(']')) {
                        return Err(self.unexpected());
                    }
                }
            }
            _ => Err(self.unexpected()),
        }
    }
}

/// The arguments by name: given ones by position first.
fn by_name(
    arguments: Vec<(Option<String>, Literal)>,
    names: &[&'static str],
    line: usize,
) -> Result<Vec<Option<Literal>>, Stop> {
    let mut found: Vec<Option<Literal>> = vec![None; names.len()];
    for (at, (name, value)) in arguments.into_iter().enumerate() {
        let place = match &name {
            None => at,
            Some(name) => names
                .iter()
                .position(|known| known == name)
                .ok_or(Stop::Broken(line, "there is no such argument"))?,
        };
        match found.get_mut(place) {
            Some(slot @ None) => *slot = Some(value),
            Some(Some(_)) => return Err(Stop::Broken(line, "an argument is there twice")),
            None => return Err(Stop::Broken(line, "there are too many arguments")),
        }
    }
    Ok(found)
}

fn prefix_rule(arguments: Vec<(Option<String>, Literal)>, line: usize) -> Result<PrefixRule, Stop> {
    const NAMES: [&str; 5] = ["pattern", "decision", "match", "not_match", "justification"];
    let broken = |why| Stop::Broken(line, why);
    let mut found = by_name(arguments, &NAMES, line)?.into_iter();
    let mut next = || found.next().flatten();
    let (pattern, decision, matches, not_matches, reason) =
        (next(), next(), next(), next(), next());
    let Some(Literal::List(elements)) = pattern else {
        return Err(broken("`pattern` is no list"));
    };
    if elements.is_empty() {
        return Err(broken("`pattern` is empty"));
    }
    let mut pattern = Vec::new();
    for element in elements {
        pattern.push(match element {
            Literal::Text(word) => vec![word],
            Literal::List(words) => {
                let words: Vec<String> = words
                    .into_iter()
                    .map(|word| match word {
                        Literal::Text(word) => Ok(word),
                        _ => Err(broken("an alternative is no string")),
                    })
                    .collect::<Result<_, _>>()?;
                if words.is_empty() {
                    return Err(broken("there are no alternatives"));
                }
                words
            }
            Literal::Other => return Err(broken("a word of the pattern is no string")),
        });
    }
    let decision = match decision {
        None => "allow".to_owned(),
        Some(Literal::Text(word)) if ["allow", "prompt", "forbidden"].contains(&word.as_str()) => {
            word
        }
        Some(_) => return Err(broken("there is no such decision")),
    };
    match reason {
        None | Some(Literal::Other) => {}
        Some(Literal::Text(text)) if !text.trim().is_empty() => {}
        Some(_) => return Err(broken("`justification` is empty or no string")),
    }
    let rule = PrefixRule {
        pattern,
        decision,
        line,
    };
    for (examples, wanted) in [(matches, true), (not_matches, false)] {
        for example in examples_of(examples, line)? {
            if rule.matches(&example) != wanted {
                return Err(broken("an example does not hold"));
            }
        }
    }
    Ok(rule)
}

impl PrefixRule {
    /// Whether the command begins with the pattern.
    pub fn matches(&self, argv: &[String]) -> bool {
        self.pattern.len() <= argv.len()
            && self
                .pattern
                .iter()
                .zip(argv)
                .all(|(words, word)| words.contains(word))
    }
}

fn examples_of(value: Option<Literal>, line: usize) -> Result<Vec<Vec<String>>, Stop> {
    let examples = match value {
        None | Some(Literal::Other) => return Ok(Vec::new()),
        Some(Literal::List(examples)) => examples,
        Some(Literal::Text(_)) => return Err(Stop::Broken(line, "examples are no list")),
    };
    examples
        .into_iter()
        .map(|example| match example {
            // A quoted example is split as a shell would: left to Codex.
            Literal::Text(text) if text.contains(['"', '\'', '\\']) => Err(Stop::NotJudged(line)),
            Literal::Text(text) => Ok(text.split_whitespace().map(str::to_owned).collect()),
            Literal::List(words) => words
                .into_iter()
                .map(|word| match word {
                    Literal::Text(word) => Ok(word),
                    _ => Err(Stop::Broken(line, "a word of an example is no string")),
                })
                .collect(),
            Literal::Other => Err(Stop::Broken(line, "an example is no string")),
        })
        .collect()
}

fn host_executable(arguments: &[(Option<String>, Literal)], line: usize) -> Result<(), Stop> {
    let broken = |why| Stop::Broken(line, why);
    let mut found = by_name(arguments.to_vec(), &["name", "paths"], line)?.into_iter();
    let (Some(Some(Literal::Text(name))), Some(Some(Literal::List(paths)))) =
        (found.next(), found.next())
    else {
        return Err(broken("`name` or `paths` is missing"));
    };
    for path in paths {
        let Literal::Text(path) = path else {
            return Err(broken("a path is no string"));
        };
        if !path.starts_with('/') {
            return Err(broken("a path is not absolute"));
        }
        if path.rsplit('/').next() != Some(name.as_str()) {
            return Err(broken("a path has another name"));
        }
    }
    Ok(())
}

fn network_rule(arguments: &[(Option<String>, Literal)], line: usize) -> Result<(), Stop> {
    const NAMES: [&str; 4] = ["host", "protocol", "decision", "justification"];
    let found = by_name(arguments.to_vec(), &NAMES, line)?;
    if found.iter().take(3).any(Option::is_none) {
        return Err(Stop::Broken(line, "an argument is missing"));
    }
    // Which hosts and protocols are right was not asked.
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_broken(text: &str) -> Option<bool> {
        match judge(text) {
            Verdict::Right(_) => Some(false),
            Verdict::Broken { .. } => Some(true),
            Verdict::NotJudged { .. } => None,
        }
    }

    /// Each text is a scenario `rules-…` or a piece of one.
    #[test]
    fn plain_calls_are_judged_as_codex_judges_them() {
        for text in [
            "",
            "# nothing\n",
            "prefix_rule(pattern=[\"ls\"])\r\n",
            "prefix_rule([\"ls\"], \"allow\")",
            "prefix_rule(\n    pattern = [\"git\", [\"pull\", \"fetch\"]],\n    decision = \"prompt\",\n)\n",
            "prefix_rule(pattern=[\"\"])\n",
            "prefix_rule(pattern=[\"ls\"], match=[[\"ls\",\"-l\"], \"ls -a\"], not_match=[\"lsof\"])\n",
            "host_executable(name=\"git\", paths=[\"/usr/bin/git\"])\n",
            "network_rule(host=\"example.com\", protocol=\"https\", decision=\"allow\")\n",
        ] {
            assert_eq!(is_broken(text), Some(false), "{text}");
        }
        for text in [
            "prefix_rule(\n",
            "\u{feff}prefix_rule(pattern=[\"ls\"])\n",
            "prefix_rule(pattern=[\"ls\"], decision=\"Allow\")\n",
            "prefix_rule(pattern=[\"ls\"], decision=\"prompt-user\")\n",
            "prefix_rule(pattern=[\"git\", []])\n",
            "prefix_rule(pattern=[])\n",
            "prefix_rule(pattern=[\"ls\"], match=[\"cat x\"])\n",
            "prefix_rule(pattern=[\"ls\"], not_match=[\"ls x\"])\n",
            "prefix_rule(pattern=[\"ls\", 1])\n",
            "prefix_rule(pattern=\"ls -l\")\n",
            "prefix_rule(pattern=[\"ls\"], reason=\"x\")\n",
            "prefix_rule(pattern=[\"ls\"], justification=\"\")\n",
            "host_executable(name=\"git\", paths=[\"git\"])\n",
            "host_executable(name=\"git\", paths=[\"/usr/bin/true\"])\n",
            "network_rule(host=\"example.com\", decision=\"allow\")\n",
            "load(\"other.rules\", \"x\")\n",
            "allow([\"ls\"])\n",
        ] {
            assert_eq!(is_broken(text), Some(true), "{text}");
        }
    }

    #[test]
    fn a_program_is_not_judged() {
        for text in [
            "xs = [\"a\"]\nfor x in xs:\n    prefix_rule(pattern=[x])\n",
            "x = \"git\"\nprefix_rule(pattern=[x, \"sta\" + \"tus\"])\n",
            "def f(x):\n    prefix_rule(pattern=[x])\n[f(x) for x in [\"a\"]]\n",
            "prefix_rule(pattern=[r\"ls\"])\n",
        ] {
            assert_eq!(is_broken(text), None, "{text}");
        }
    }
}
