//! What a `.rules` file says, as far as it is written out in plain calls.
//!
//! Rules files are programs in Starlark. Nearly all of them are calls with nothing but literals,
//! and those are judged here as Codex judges them. Whatever needs running (a name, a loop, an
//! operator) is [`Verdict::NotJudged`]: then nothing is said, neither that the file is right nor
//! that it is broken. One broken file voids all rules of an app server, and `codex exec` does not
//! start with it (scenario `rules-broken-one-of-two`).

use crate::document::Span;

/// What a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Right, with its rules.
    Right(Rules),
    /// Codex refuses it.
    Broken {
        /// The line, from 1.
        line: usize,
        /// Why.
        why: &'static str,
        /// The piece that is wrong.
        span: Span,
        /// For an example that does not hold: a word of the pattern with a space in it, so that no
        /// command can have it where a shell splits its words.
        word: Option<Span>,
    },
    /// A program that would have to be run, or an example that a shell would have to split.
    NotJudged {
        /// The line of the first such piece, from 1.
        line: usize,
        /// That piece.
        span: Span,
        /// Whether it is an example: then all rules are told.
        example: bool,
        /// The plain calls before it.
        before: Rules,
    },
}

/// What the calls of a file say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// The prefix rules, in the order of the file.
    pub prefixes: Vec<PrefixRule>,
    /// The names whose paths a `host_executable` limits.
    pub hosts: Vec<String>,
}

/// A word of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// What it says.
    pub text: String,
    /// The string with its quotes.
    pub span: Span,
}

/// One `prefix_rule`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrefixRule {
    /// The words of the command's beginning, each with its alternatives.
    pub pattern: Vec<Vec<Word>>,
    /// `allow`, `prompt` or `forbidden`.
    pub decision: String,
    /// Whether the decision is written, or is `allow` because none is.
    pub written: bool,
    /// The name of the function, where the call starts.
    pub call: Span,
    /// The argument that is the pattern, with its name where it has one.
    pub argument: Span,
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
    Text(Word),
    List(Vec<Literal>, Span),
    Other(Span),
}

impl Literal {
    const fn span(&self) -> Span {
        match self {
            Self::Text(word) => word.span,
            Self::List(_, span) | Self::Other(span) => *span,
        }
    }
}

/// An argument: its name, where it has one, what it is, and both together.
#[derive(Debug, Clone)]
struct Argument {
    name: Option<String>,
    value: Literal,
    span: Span,
}

/// Where something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    line: usize,
    span: Span,
}

impl Place {
    /// Another piece of the same call: Codex names the line of the call.
    const fn piece(self, span: Span) -> Self {
        Self { span, ..self }
    }
}

enum Stop {
    Broken {
        at: Place,
        why: &'static str,
        word: Option<Span>,
    },
    NotJudged(Place),
    /// An example with quotes: split as a shell would, which is left to Codex.
    Example(Place),
}

const fn broken(at: Place, why: &'static str) -> Stop {
    Stop::Broken {
        at,
        why,
        word: None,
    }
}

/// Judges the text of a rules file.
pub fn judge(text: &str) -> Verdict {
    let mut rules = Rules::default();
    match read(text, &mut rules) {
        Ok(()) => Verdict::Right(rules),
        Err(Stop::Broken { at, why, word }) => Verdict::Broken {
            line: at.line,
            why,
            span: at.span,
            word,
        },
        Err(Stop::NotJudged(at)) => Verdict::NotJudged {
            line: at.line,
            span: at.span,
            example: false,
            before: rules,
        },
        Err(Stop::Example(at)) => Verdict::NotJudged {
            line: at.line,
            span: at.span,
            example: true,
            before: rules,
        },
    }
}

fn read(text: &str, rules: &mut Rules) -> Result<(), Stop> {
    if text.starts_with('\u{feff}') {
        let span = Span::new(0, '\u{feff}'.len_utf8());
        return Err(broken(Place { line: 1, span }, "a byte order mark"));
    }
    let mut tokens = Vec::new();
    let scanned = scan(text, &mut tokens);
    if let Err(stop @ Stop::Broken { .. }) = scanned {
        return Err(stop);
    }
    // A function of the file's own may have any name.
    let defines = tokens
        .iter()
        .any(|(token, _)| matches!(token, Token::Name(name) if name == "def" || name == "lambda"))
        || (0..tokens.len()).any(|at| is_statement(&tokens, at));
    let mut reader = Reader {
        tokens: &tokens,
        at: 0,
        rules,
        defines,
        example: None,
    };
    let read = reader.file();
    // What is read up to a piece that cannot be told may seem broken by its sudden end.
    scanned.and(read)
}

/// Whether a line begins at token `at` with `NAME =`, and so is no argument.
fn is_statement(tokens: &[(Token, Place)], at: usize) -> bool {
    let line = |at: usize| tokens.get(at).map(|(_, place)| place.line);
    let is_first = at == 0 || line(at - 1) != line(at);
    is_first
        && line(at + 1) == line(at)
        && matches!(
            (&tokens[at].0, tokens.get(at + 1)),
            (Token::Name(_), Some((Token::Mark('='), _)))
        )
}

fn scan(text: &str, found: &mut Vec<(Token, Place)>) -> Result<(), Stop> {
    let mut letters = text.char_indices().peekable();
    let mut line = 1;
    let mut depth = 0_usize;
    while let Some((at, letter)) = letters.next() {
        let one = Place {
            line,
            span: Span::new(at, at + letter.len_utf8()),
        };
        match letter {
            '\n' => {
                if depth == 0 {
                    found.push((Token::Newline, one));
                    if letters
                        .peek()
                        .is_some_and(|(_, next)| matches!(next, ' ' | '\t'))
                    {
                        let rest = text[at + 1..].trim_start_matches([' ', '\t']);
                        if !rest.is_empty() && !rest.starts_with(['\n', '\r', '#']) {
                            let start = text.len() - rest.len();
                            return Err(Stop::NotJudged(Place {
                                line: line + 1,
                                span: Span::new(
                                    start,
                                    start + rest.lines().next().map_or(0, str::len),
                                ),
                            }));
                        }
                    }
                }
                line += 1;
            }
            ' ' | '\t' | '\r' => {}
            '#' => while letters.next_if(|(_, next)| *next != '\n').is_some() {},
            '"' | '\'' => {
                let content = quoted(text, &mut letters, letter, one)?;
                let span = Span::new(at, offset(text, &mut letters));
                let token = Token::Text(content);
                found.push((token, Place { line, span }));
            }
            '(' | '[' | '{' => {
                depth += 1;
                found.push((Token::Mark(letter), one));
            }
            ')' | ']' | '}' => {
                depth = depth.saturating_sub(1);
                found.push((Token::Mark(letter), one));
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
                    return Err(Stop::NotJudged(one));
                }
                let span = Span::new(at, at + name.len());
                found.push((Token::Name(name), Place { line, span }));
            }
            letter if letter.is_ascii_digit() => {
                while letters
                    .next_if(|(_, next)| next.is_ascii_alphanumeric() || *next == '.')
                    .is_some()
                {}
                let span = Span::new(at, offset(text, &mut letters));
                found.push((Token::Number, Place { line, span }));
            }
            other => found.push((Token::Mark(other), one)),
        }
    }
    let span = Span::at(text.len());
    found.push((Token::Newline, Place { line, span }));
    Ok(())
}

type Letters<'t> = std::iter::Peekable<std::str::CharIndices<'t>>;

/// Where the next letter starts.
fn offset(text: &str, letters: &mut Letters<'_>) -> usize {
    letters.peek().map_or(text.len(), |(at, _)| *at)
}

/// A string after its first quote, which is at `at`.
fn quoted(text: &str, letters: &mut Letters<'_>, quote: char, at: Place) -> Result<String, Stop> {
    let rest = &text[at.span.end..];
    let pair: String = [quote, quote].iter().collect();
    if rest.starts_with(&pair) {
        // Three quotes: rare, and with rules of its own.
        return Err(Stop::NotJudged(at));
    }
    let mut found = String::new();
    loop {
        match letters.next() {
            None | Some((_, '\n')) => {
                let line = rest.lines().next().map_or(0, str::len);
                let span = Span::new(at.span.start, at.span.end + line);
                return Err(broken(at.piece(span), "a string without an end"));
            }
            Some((_, letter)) if letter == quote => return Ok(found),
            Some((_, '\\')) => match letters.next() {
                Some((_, 'n')) => found.push('\n'),
                Some((_, 't')) => found.push('\t'),
                Some((_, letter)) if matches!(letter, '\\' | '"' | '\'') => found.push(letter),
                _ => return Err(Stop::NotJudged(at)),
            },
            Some((_, letter)) => found.push(letter),
        }
    }
}

struct Reader<'t> {
    tokens: &'t [(Token, Place)],
    at: usize,
    rules: &'t mut Rules,
    /// The first example that is left to Codex.
    example: Option<Place>,
    defines: bool,
}

impl Reader<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    /// Where the next token is, or the last one.
    fn place(&self) -> Place {
        let token = self.tokens.get(self.at).or(self.tokens.last());
        token.expect("whoever asks for a place has seen a token").1
    }

    /// From `start` to the end of what was read last.
    fn since(&self, start: usize) -> Span {
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        Span::new(start, before.map_or(start, |(_, place)| place.span.end))
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
                _ => return Err(Stop::NotJudged(self.place())),
            }
        }
        self.example.map_or(Ok(()), |at| Err(Stop::Example(at)))
    }

    fn statement(&mut self) -> Result<(), Stop> {
        let place = self.place();
        let Some(Token::Name(name)) = self.peek().cloned() else {
            return Err(Stop::NotJudged(place));
        };
        self.at += 1;
        if !self.takes('(') {
            return Err(Stop::NotJudged(place));
        }
        let arguments = self.arguments(place)?;
        if !matches!(self.peek(), Some(Token::Newline | Token::Mark(';')) | None) {
            return Err(Stop::NotJudged(place));
        }
        match name.as_str() {
            "prefix_rule" => {
                let rule = prefix_rule(arguments, place, &mut self.example)?;
                self.rules.prefixes.push(rule);
                Ok(())
            }
            "host_executable" => {
                let host = host_executable(arguments, place)?;
                self.rules.hosts.push(host);
                Ok(())
            }
            "network_rule" => network_rule(arguments, place),
            "load" => Err(broken(place, "`load` finds nothing")),
            other if self.defines || BUILT_IN.contains(&other) => Err(Stop::NotJudged(place)),
            _ => Err(broken(place, "there is no such function")),
        }
    }

    fn arguments(&mut self, call: Place) -> Result<Vec<Argument>, Stop> {
        let mut found = Vec::new();
        loop {
            if self.takes(')') {
                return Ok(found);
            }
            let start = self.place().span.start;
            let mut name = None;
            if let (Some(Token::Name(word)), Some((Token::Mark('='), _))) =
                (self.peek().cloned(), self.tokens.get(self.at + 1))
            {
                if matches!(self.tokens.get(self.at + 2), Some((Token::Mark('='), _))) {
                    return Err(Stop::NotJudged(self.place()));
                }
                name = Some(word);
                self.at += 2;
            }
            let value = self.literal(0, call)?;
            let span = self.since(start);
            found.push(Argument { name, value, span });
            if !self.takes(',') && self.peek() != Some(&Token::Mark(')')) {
                return Err(self.unexpected(call));
            }
        }
    }

    /// An end in the middle is broken, anything else may be an operator.
    fn unexpected(&self, call: Place) -> Stop {
        match self.peek() {
            None | Some(Token::Newline) => {
                let line = self.place().line;
                broken(Place { line, ..call }, "the file ends in a call")
            }
            _ => Stop::NotJudged(self.place()),
        }
    }

    fn literal(&mut self, depth: usize, call: Place) -> Result<Literal, Stop> {
        let place = self.place();
        if depth > DEPTH {
            return Err(Stop::NotJudged(place));
        }
        match self.peek().cloned() {
            Some(Token::Text(text)) => {
                self.at += 1;
                let span = place.span;
                Ok(Literal::Text(Word { text, span }))
            }
            Some(Token::Number) => {
                self.at += 1;
                Ok(Literal::Other(place.span))
            }
            Some(Token::Name(name)) if matches!(name.as_str(), "None" | "True" | "False") => {
                self.at += 1;
                Ok(Literal::Other(place.span))
            }
            Some(Token::Mark('[')) => {
                self.at += 1;
                let mut items = Vec::new();
                loop {
                    if self.takes(']') {
                        return Ok(Literal::List(items, self.since(place.span.start)));
                    }
                    items.push(self.literal(depth + 1, call)?);
                    if !self.takes(',') && self.peek() != Some(&Token::Mark(']')) {
                        return Err(self.unexpected(call));
                    }
                }
            }
            _ => Err(self.unexpected(call)),
        }
    }
}

/// The arguments by name: given ones by position first.
fn by_name<const N: usize>(
    arguments: Vec<Argument>,
    names: [&'static str; N],
    call: Place,
) -> Result<[Option<Argument>; N], Stop> {
    let mut found = [const { None }; N];
    for (at, argument) in arguments.into_iter().enumerate() {
        let here = call.piece(argument.span);
        let place = match &argument.name {
            None => at,
            Some(name) => names
                .iter()
                .position(|known| known == name)
                .ok_or(broken(here, "there is no such argument"))?,
        };
        match found.get_mut(place) {
            Some(slot @ None) => *slot = Some(argument),
            Some(Some(_)) => return Err(broken(here, "an argument is there twice")),
            None => return Err(broken(here, "there are too many arguments")),
        }
    }
    Ok(found)
}

fn prefix_rule(
    arguments: Vec<Argument>,
    call: Place,
    left: &mut Option<Place>,
) -> Result<PrefixRule, Stop> {
    const NAMES: [&str; 5] = ["pattern", "decision", "match", "not_match", "justification"];
    let wrong = |at: Span, why| broken(call.piece(at), why);
    let [pattern, decision, matches, not_matches, reason] = by_name(arguments, NAMES, call)?;
    let Some(pattern) = pattern else {
        return Err(wrong(call.span, "there is no `pattern`"));
    };
    let argument = pattern.span;
    let Literal::List(elements, list) = pattern.value else {
        return Err(wrong(argument, "`pattern` is no list"));
    };
    if elements.is_empty() {
        return Err(wrong(list, "`pattern` is empty"));
    }
    let mut pattern = Vec::new();
    for element in elements {
        pattern.push(match element {
            Literal::Text(word) => vec![word],
            Literal::List(words, span) => {
                let words: Vec<Word> = words
                    .into_iter()
                    .map(|word| match word {
                        Literal::Text(word) => Ok(word),
                        other => Err(wrong(other.span(), "an alternative is no string")),
                    })
                    .collect::<Result<_, _>>()?;
                if words.is_empty() {
                    return Err(wrong(span, "there are no alternatives"));
                }
                words
            }
            Literal::Other(span) => {
                return Err(wrong(span, "a word of the pattern is no string"));
            }
        });
    }
    let written = decision.is_some();
    let decision = match decision.map(|argument| argument.value) {
        None => "allow".to_owned(),
        Some(Literal::Text(word))
            if ["allow", "prompt", "forbidden"].contains(&word.text.as_str()) =>
        {
            word.text
        }
        Some(other) => return Err(wrong(other.span(), "there is no such decision")),
    };
    match reason.map(|argument| argument.value) {
        None | Some(Literal::Other(_)) => {}
        Some(Literal::Text(word)) if !word.text.trim().is_empty() => {}
        Some(other) => return Err(wrong(other.span(), "`justification` is empty or no string")),
    }
    let rule = PrefixRule {
        pattern,
        decision,
        written,
        call: call.span,
        argument,
        line: call.line,
    };
    for (examples, wanted) in [(matches, true), (not_matches, false)] {
        let why = if wanted {
            "this example does not match the pattern"
        } else {
            "this example matches the pattern"
        };
        for (example, span) in examples_of(examples.map(|argument| argument.value), call)? {
            let Some(example) = example else {
                left.get_or_insert(call.piece(span));
                continue;
            };
            if rule.matches(&example) != wanted {
                let words = rule.pattern.iter().flatten();
                let mut spaced = words.filter(|word| wanted && word.text.contains(' '));
                return Err(Stop::Broken {
                    at: call.piece(span),
                    why,
                    word: spaced.next().map(|word| word.span),
                });
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
                .all(|(words, word)| words.iter().any(|one| one.text == *word))
    }
}

/// Each example with its words; without them, where a shell would have to split it.
fn examples_of(value: Option<Literal>, call: Place) -> Result<Vec<Example>, Stop> {
    let wrong = |at: Span, why| broken(call.piece(at), why);
    let examples = match value {
        None | Some(Literal::Other(_)) => return Ok(Vec::new()),
        Some(Literal::List(examples, _)) => examples,
        Some(Literal::Text(word)) => return Err(wrong(word.span, "examples are no list")),
    };
    examples
        .into_iter()
        .map(|example| match example {
            // A quoted example is split as a shell would: left to Codex.
            Literal::Text(Word { text, span }) if text.contains(['"', '\'', '\\']) => {
                Ok((None, span))
            }
            Literal::Text(Word { text, span }) => Ok((
                Some(text.split_whitespace().map(str::to_owned).collect()),
                span,
            )),
            Literal::List(words, span) => words
                .into_iter()
                .map(|word| match word {
                    Literal::Text(word) => Ok(word.text),
                    other => Err(wrong(other.span(), "a word of an example is no string")),
                })
                .collect::<Result<_, _>>()
                .map(|words| (Some(words), span)),
            Literal::Other(span) => Err(wrong(span, "an example is no string")),
        })
        .collect()
}

type Example = (Option<Vec<String>>, Span);

/// The name that is limited to some paths.
fn host_executable(arguments: Vec<Argument>, call: Place) -> Result<String, Stop> {
    let wrong = |at: Span, why| broken(call.piece(at), why);
    let found = by_name(arguments, ["name", "paths"], call)?;
    let [Some(Literal::Text(name)), Some(Literal::List(paths, _))] =
        found.map(|argument| argument.map(|argument| argument.value))
    else {
        return Err(wrong(call.span, "`name` or `paths` is missing"));
    };
    for path in paths {
        let Literal::Text(path) = path else {
            return Err(wrong(path.span(), "a path is no string"));
        };
        if !path.text.starts_with('/') {
            return Err(wrong(path.span, "a path is not absolute"));
        }
        if path.text.rsplit('/').next() != Some(name.text.as_str()) {
            return Err(wrong(path.span, "a path has another name"));
        }
    }
    Ok(name.text)
}

fn network_rule(arguments: Vec<Argument>, call: Place) -> Result<(), Stop> {
    const NAMES: [&str; 4] = ["host", "protocol", "decision", "justification"];
    let found = by_name(arguments, NAMES, call)?;
    if found.iter().take(3).any(Option::is_none) {
        return Err(broken(call, "an argument is missing"));
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
            "prefix_rule(pattern=[\"ls\"], match=[\"ls 'a b'\"])\n",
        ] {
            assert_eq!(is_broken(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_not_judged_keeps_the_plain_calls_around_it() {
        for (text, rules) in [
            (
                "prefix_rule([\"a\"])\nfor x in y:\n    f(x)\nprefix_rule([\"b\"])\n",
                1,
            ),
            ("prefix_rule([\"a\"])\nprefix_rule([r\"b\"])\n", 1),
            (
                "prefix_rule([\"a\"], match=[\"a 'b c'\"])\nprefix_rule([\"b\"])\n",
                2,
            ),
        ] {
            let Verdict::NotJudged { before, .. } = judge(text) else {
                panic!("{text} is judged");
            };
            assert_eq!(before.prefixes.len(), rules, "{text}");
        }
    }
}
