//! Reads how a server is started: through which wrappers, by which runner, which package.
//!
//! It knows command lines as server READMEs write them. It follows `env`, `sudo`, `timeout` and
//! their like to the program behind them, `cmd /c` too, since that is how Windows starts `npx`. A
//! string that a shell reads is kept as a whole: it is split at blanks and operators, without a
//! shell's quoting, which is enough to see what is named in it.

use super::server::{Word, basename};

/// What a command line amounts to.
#[derive(Debug, Default)]
pub struct Launch<'a> {
    /// Each program on the way, outermost first, with the words behind it.
    pub programs: Vec<Program<'a>>,
    /// The string that a shell is told to run.
    pub script: Option<Word<'a>>,
}

/// One program of a command line.
#[derive(Debug, Clone)]
pub struct Program<'a> {
    /// The word that names it.
    pub word: Word<'a>,
    /// Its name without folder and suffix.
    pub name: &'a str,
    /// What it is told.
    pub args: Vec<Word<'a>>,
}

/// Where the code of a package comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A registry, at exactly this version or digest.
    Pinned,
    /// A registry, at whatever it has today.
    Moving,
    /// An address or a repository, not at one commit.
    Remote,
}

/// A package that a runner fetches and runs.
#[derive(Debug, Clone, Copy)]
pub struct Package<'a> {
    /// The word that names it.
    pub word: Word<'a>,
    /// Where its code comes from.
    pub origin: Origin,
    /// How a version of it is written, for a hint.
    pub pin: &'static str,
}

const SHELLS: &[&str] = &[
    "sh",
    "bash",
    "zsh",
    "dash",
    "fish",
    "ksh",
    "pwsh",
    "powershell",
];

/// Programs around one another: more than anybody writes, and each one copies the line.
const MAX_WRAPPERS: usize = 16;
/// Bytes of a script that is looked into. A longer one is taken for the worst: nobody reads it.
const LONGEST_SCRIPT: usize = 64 * 1024;

/// Bytes before what is handed over in which the command that takes it is looked for.
const LONGEST_COMMAND: usize = 200;

/// Programs that run the rest of their line, each with its flags that take a value.
const WRAPPERS: &[(&str, &[&str])] = &[
    ("env", &["-u", "--unset", "-C", "--chdir"]),
    ("sudo", &["-u", "--user", "-g", "--group", "-h", "-p", "-C"]),
    ("doas", &["-u", "-C"]),
    ("pkexec", &["--user"]),
    ("nice", &["-n", "--adjustment"]),
    ("ionice", &["-c", "-n"]),
    ("nohup", &[]),
    ("stdbuf", &["-i", "-o", "-e"]),
    ("setsid", &[]),
    ("time", &[]),
    ("exec", &[]),
    ("command", &[]),
];

/// Programs that raise the rights of what they run.
pub const RAISERS: &[&str] = &["sudo", "doas", "pkexec"];

impl<'a> Launch<'a> {
    /// Reads `line`: the command, then its arguments.
    pub fn read(line: &[Word<'a>]) -> Self {
        let mut launch = Self::default();
        let mut rest = line.to_vec();
        while let Some((first, args)) = rest.split_first() {
            if launch.programs.len() == MAX_WRAPPERS {
                break;
            }
            let name = basename(first.text);
            let args = args.to_vec();
            let next = if SHELLS.contains(&name) {
                launch.script = shell_string(&args);
                Vec::new()
            } else if name.eq_ignore_ascii_case("cmd") {
                after_switch(&args)
            } else if name == "timeout" {
                without_flags(&args, &["-s", "--signal", "-k", "--kill-after"])
                    .into_iter()
                    .skip(1)
                    .collect()
            } else if let Some((_, valued)) = WRAPPERS.iter().find(|(wrapper, _)| *wrapper == name)
            {
                let behind = without_flags(&args, valued);
                let program = behind.iter().position(|word| !is_assignment(word.text));
                program.map(|at| behind[at..].to_vec()).unwrap_or_default()
            } else {
                Vec::new()
            };
            launch.programs.push(Program {
                word: *first,
                name,
                args,
            });
            rest = next;
        }
        launch
    }

    /// The program that does the work: the innermost one.
    pub fn program(&self) -> Option<&Program<'a>> {
        self.programs.last()
    }

    /// The packages that the innermost program fetches.
    pub fn packages(&self) -> Vec<Package<'a>> {
        self.program().map(packages).unwrap_or_default()
    }
}

/// The string behind `-c` and its like.
fn shell_string<'a>(args: &[Word<'a>]) -> Option<Word<'a>> {
    let at = args.iter().position(|word| {
        let flag = word.text;
        let short = flag.starts_with('-')
            && !flag.starts_with("--")
            && flag.len() <= 5
            && flag.ends_with('c');
        short || ["-command", "-Command", "-encodedcommand"].contains(&flag)
    })?;
    args.get(at + 1).copied()
}

/// What stands behind `/c` or `/k` of `cmd`.
fn after_switch<'a>(args: &[Word<'a>]) -> Vec<Word<'a>> {
    let at = args
        .iter()
        .position(|word| matches!(word.text, "/c" | "/C" | "/k" | "/K" | "//c"));
    at.map(|at| args[at + 1..].to_vec()).unwrap_or_default()
}

/// What stands behind a program's own flags.
fn without_flags<'a>(args: &[Word<'a>], valued: &[&str]) -> Vec<Word<'a>> {
    let mut rest = args;
    while let Some((first, after)) = rest.split_first() {
        let text = first.text;
        if text == "--" {
            return after.to_vec();
        } else if valued.contains(&text) {
            rest = after.get(1..).unwrap_or_default();
        } else if text.starts_with('-') {
            rest = after;
        } else {
            break;
        }
    }
    rest.to_vec()
}

fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}

const NPX_VALUED: &[&str] = &[
    "-c",
    "--call",
    "-w",
    "--workspace",
    "--registry",
    "--cache",
    "--userconfig",
    "--prefix",
];
const UV_VALUED: &[&str] = &[
    "-p",
    "--python",
    "--index",
    "--index-url",
    "-i",
    "--extra-index-url",
    "--directory",
    "--project",
    "--with-editable",
    "--with-requirements",
    "--env-file",
    "--cache-dir",
    "--config-file",
    "-c",
    "--constraints",
    "--overrides",
    "--prerelease",
    "--resolution",
    "--refresh-package",
    "--exclude-newer",
];
const DOCKER_VALUED: &[&str] = &[
    "-e",
    "--env",
    "--env-file",
    "-v",
    "--volume",
    "--mount",
    "-p",
    "--publish",
    "--name",
    "--network",
    "--net",
    "-w",
    "--workdir",
    "-u",
    "--user",
    "--entrypoint",
    "-l",
    "--label",
    "-h",
    "--hostname",
    "--add-host",
    "--platform",
    "-m",
    "--memory",
    "--cpus",
    "--gpus",
    "--pull",
    "--restart",
    "--cap-add",
    "--cap-drop",
    "--security-opt",
    "--tmpfs",
    "--device",
    "--ipc",
    "--pid",
    "--shm-size",
    "--ulimit",
    "--log-driver",
    "--log-opt",
    "--dns",
    "-a",
    "--attach",
    "--cidfile",
    "--group-add",
    "--volumes-from",
    "--runtime",
    "--userns",
    "--uts",
    "--stop-signal",
    "--stop-timeout",
    "--memory-swap",
    "--pids-limit",
    "-c",
    "--cpu-shares",
    "--cgroupns",
    "--expose",
    "--ip",
    "--isolation",
    "--init-path",
    "--annotation",
];

fn packages<'a>(program: &Program<'a>) -> Vec<Package<'a>> {
    let args = program.args.as_slice();
    let second = args.first().map(|word| word.text);
    let behind = |count: usize| args.get(count..).unwrap_or_default();
    match (program.name, second) {
        ("npx" | "bunx" | "pnpx", _) => node(args),
        ("pnpm" | "yarn", Some("dlx")) | ("npm", Some("exec" | "x")) | ("bun", Some("x")) => {
            node(behind(1))
        }
        ("uvx", _) => python(args),
        ("uv", Some("tool")) if args.get(1).is_some_and(|word| word.text == "run") => {
            python(behind(2))
        }
        ("uv", Some("run")) => with_packages(behind(1)),
        ("pipx", Some("run")) => python(behind(1)),
        ("docker" | "podman" | "nerdctl", Some("run")) => image(behind(1)),
        ("docker" | "podman" | "nerdctl", Some("container"))
            if args.get(1).is_some_and(|word| word.text == "run") =>
        {
            image(behind(2))
        }
        ("go", Some("run")) => go(behind(1)),
        ("deno", Some("run")) => deno(behind(1)),
        _ => Vec::new(),
    }
}

/// The first word that is no flag, and its place.
fn first_plain<'a>(args: &[Word<'a>], valued: &[&str]) -> Option<Word<'a>> {
    without_flags(args, valued).first().copied()
}

/// The values of a flag, written apart or with `=`.
fn flag_values<'a>(args: &[Word<'a>], flags: &[&str]) -> Vec<Word<'a>> {
    let mut found = Vec::new();
    for (at, word) in args.iter().enumerate() {
        if flags.contains(&word.text) {
            found.extend(args.get(at + 1).copied());
        } else if let Some((flag, value)) = word.text.split_once('=')
            && flags.contains(&flag)
        {
            found.push(Word {
                text: value,
                span: word.span,
            });
        }
    }
    found
}

fn node<'a>(args: &[Word<'a>]) -> Vec<Package<'a>> {
    if args
        .iter()
        .any(|word| matches!(word.text, "--no-install" | "--no" | "--offline"))
    {
        return Vec::new();
    }
    // Flags of the package itself stand behind it and are not ours.
    let own = flags_before_plain(args, &[NPX_VALUED, &["-p", "--package"]].concat());
    let mut named = flag_values(own, &["-p", "--package"]);
    if named.is_empty() {
        named.extend(first_plain(args, NPX_VALUED));
    }
    named
        .into_iter()
        .filter(|word| !is_local(word.text))
        .map(|word| Package {
            origin: node_origin(word.text),
            pin: "`NAME@1.2.3`",
            word,
        })
        .collect()
}

/// The words up to the first that is neither a flag nor its value.
fn flags_before_plain<'b, 'a>(args: &'b [Word<'a>], valued: &[&str]) -> &'b [Word<'a>] {
    let behind = without_flags(args, valued).len();
    &args[..args.len() - behind]
}

fn node_origin(spec: &str) -> Origin {
    let remote = [
        "git+",
        "git:",
        "git@",
        "github:",
        "gitlab:",
        "bitbucket:",
        "gist:",
        "http:",
        "https:",
        "ssh:",
    ];
    let short_git = !spec.starts_with('@') && spec.contains('/') && !spec.contains(':');
    if short_git || remote.iter().any(|start| spec.starts_with(start)) {
        let commit = spec.rsplit_once('#').map(|(_, commit)| commit);
        return if commit.is_some_and(is_commit) {
            Origin::Pinned
        } else {
            Origin::Remote
        };
    }
    let version = spec
        .get(1..)
        .and_then(|rest| rest.rsplit_once('@'))
        .map(|(_, it)| it);
    exact(version)
}

fn python<'a>(args: &[Word<'a>]) -> Vec<Package<'a>> {
    let valued = [UV_VALUED, &["--from", "--with", "--spec"]].concat();
    let own = flags_before_plain(args, &valued);
    if own.iter().any(|word| word.text == "--offline") {
        return Vec::new();
    }
    let mut named = flag_values(own, &["--from", "--spec"]);
    if named.is_empty() {
        named.extend(first_plain(args, &valued));
    }
    named.extend(flag_values(own, &["--with"]));
    named.into_iter().filter_map(python_package).collect()
}

fn with_packages<'a>(args: &[Word<'a>]) -> Vec<Package<'a>> {
    let own = flags_before_plain(args, &[UV_VALUED, &["--with"]].concat());
    flag_values(own, &["--with"])
        .into_iter()
        .filter_map(python_package)
        .collect()
}

fn python_package(word: Word) -> Option<Package> {
    let spec = word.text;
    if is_local(spec) {
        return None;
    }
    // `name @ git+…` names the same as `git+…`.
    let source = spec
        .split_once(" @ ")
        .map_or(spec, |(_, source)| source.trim());
    let origin = if source.contains("git+") || source.contains("://") {
        let commit = source.rsplit_once('@').map(|(_, commit)| commit);
        if commit.is_some_and(|it| is_commit(it.split('#').next().unwrap_or(it))) {
            Origin::Pinned
        } else {
            Origin::Remote
        }
    } else if let Some((_, version)) = spec.split_once("==") {
        exact(Some(version))
    } else {
        exact(spec.rsplit_once('@').map(|(_, version)| version))
    };
    Some(Package {
        word,
        origin,
        pin: "`NAME==1.2.3`",
    })
}

fn image<'a>(args: &[Word<'a>]) -> Vec<Package<'a>> {
    let Some(word) = first_plain(args, DOCKER_VALUED) else {
        return Vec::new();
    };
    let digest = word.text.rsplit_once("@sha256:").map(|(_, digest)| digest);
    let pinned =
        digest.is_some_and(|it| it.len() == 64 && it.bytes().all(|b| b.is_ascii_hexdigit()));
    vec![Package {
        word,
        origin: if pinned {
            Origin::Pinned
        } else {
            Origin::Moving
        },
        pin: "`IMAGE@sha256:…`",
    }]
}

fn go<'a>(args: &[Word<'a>]) -> Vec<Package<'a>> {
    let Some(word) = first_plain(args, &["-C", "-exec", "-tags", "-ldflags", "-mod"]) else {
        return Vec::new();
    };
    // Without a version it is a package of the module at hand.
    let Some((_, version)) = word.text.rsplit_once('@') else {
        return Vec::new();
    };
    vec![Package {
        word,
        origin: exact(version.strip_prefix('v').or(Some(version))),
        pin: "`MODULE@v1.2.3`",
    }]
}

fn deno<'a>(args: &[Word<'a>]) -> Vec<Package<'a>> {
    let Some(word) = first_plain(
        args,
        &["--config", "-c", "--import-map", "--lock", "--env-file"],
    ) else {
        return Vec::new();
    };
    let origin = if word.text.starts_with("http://") || word.text.starts_with("https://") {
        Origin::Remote
    } else if let Some(name) = word
        .text
        .strip_prefix("npm:")
        .or_else(|| word.text.strip_prefix("jsr:"))
    {
        let version = name
            .trim_start_matches('/')
            .get(1..)
            .and_then(|rest| rest.split_once('@'));
        exact(version.map(|(_, version)| version.split('/').next().unwrap_or(version)))
    } else {
        return Vec::new();
    };
    vec![Package {
        word,
        origin,
        pin: "`npm:NAME@1.2.3`",
    }]
}

/// A registry's package at exactly this version, or at whatever it has.
fn exact(version: Option<&str>) -> Origin {
    let is_exact = version.is_some_and(|version| {
        let core = version.split(['-', '+']).next().unwrap_or(version);
        let parts: Vec<&str> = core.split('.').collect();
        parts.len() >= 2
            && parts[..2]
                .iter()
                .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
            && parts[2..].iter().all(|part| {
                part.starts_with(|c: char| c.is_ascii_digit())
                    && part.bytes().all(|b| b.is_ascii_alphanumeric())
            })
    });
    if is_exact {
        Origin::Pinned
    } else {
        Origin::Moving
    }
}

fn is_commit(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// A path on this machine, or what a template will put there.
fn is_local(spec: &str) -> bool {
    let drive = spec.as_bytes().get(1) == Some(&b':')
        && spec.starts_with(|c: char| c.is_ascii_alphabetic());
    drive
        || ["./", "../", "/", "~", "file:", "\\", "{{", "<", "$"]
            .iter()
            .any(|start| spec.starts_with(start))
        || spec == "."
}

/// Whether a script fetches something and runs it: a fetcher piped or handed to an interpreter.
pub fn fetches_and_runs(script: &str) -> bool {
    const FETCH: &[&str] = &[
        "curl",
        "wget",
        "iwr",
        "irm",
        "invoke-webrequest",
        "invoke-restmethod",
    ];
    const RUN: &[&str] = &[
        "sh",
        "bash",
        "zsh",
        "dash",
        "fish",
        "python",
        "python3",
        "node",
        "perl",
        "ruby",
        "sudo",
        "iex",
        "invoke-expression",
        "pwsh",
        "powershell",
        "deno",
        "bun",
    ];
    if script.len() > LONGEST_SCRIPT {
        return true;
    }
    let lower = script.to_ascii_lowercase();
    let is = |list: &[&str], word: &str| {
        list.contains(&basename(word.trim_matches(['"', '\'', '(', '`'])))
    };
    let first_word = |piece: &str, list: &[&str]| {
        piece
            .split_whitespace()
            .find(|word| !is_assignment(word))
            .is_some_and(|word| is(list, word))
    };
    // `fetch … | run`: a pipe, not the operator `||`.
    let mut fetched = false;
    for piece in lower.replace("||", ";").split([';', '&', '\n']) {
        for (index, part) in piece.split('|').enumerate() {
            if index > 0 && fetched && first_word(part, RUN) {
                return true;
            }
            fetched = first_word(part, FETCH) || (index > 0 && fetched);
        }
        fetched = false;
    }
    // `run <(fetch …)`, `run -c "$(fetch …)"`, `eval "$(fetch …)"`, `iex (fetch …)`.
    ["<(", "$(", "`", "("].iter().any(|open| {
        lower.match_indices(open).any(|(at, _)| {
            let mut from = at.saturating_sub(LONGEST_COMMAND);
            while !lower.is_char_boundary(from) {
                from += 1;
            }
            let before = lower[from..at].trim_end_matches([' ', '"', '\'', '$', '<', '&']);
            let command = before
                .rsplit([';', '|', '&', '\n', '('])
                .next()
                .unwrap_or(before);
            let runner = command
                .split_whitespace()
                .next()
                .is_some_and(|word| is(RUN, word) || matches!(word, "eval" | "source" | "."));
            runner && first_word(&lower[at + open.len()..], FETCH)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Span;

    fn line(text: &str) -> Vec<Word<'_>> {
        text.split(' ')
            .map(|text| Word {
                text,
                span: Span::default(),
            })
            .collect()
    }

    fn origins(text: &str) -> Vec<(String, Origin)> {
        Launch::read(&line(text))
            .packages()
            .iter()
            .map(|package| (package.word.text.to_owned(), package.origin))
            .collect()
    }

    #[test]
    fn each_runner_names_its_package() {
        use Origin::{Moving, Pinned, Remote};
        let commit = "0123456789abcdef0123456789abcdef01234567";
        let digest = format!("registry.example/x@sha256:{}", "4f".repeat(32));
        for (text, name, origin) in [
            ("npx shadcn@latest mcp", "shadcn@latest", Moving),
            ("npx -y shadcn@4.7.0 mcp", "shadcn@4.7.0", Pinned),
            ("npx -y @scope/pkg", "@scope/pkg", Moving),
            (
                "npx -y @scope/pkg@1.2.3-beta.1",
                "@scope/pkg@1.2.3-beta.1",
                Pinned,
            ),
            ("npx --package=a@1.2.3 run -p b", "a@1.2.3", Pinned),
            ("npx -y github:o/r", "github:o/r", Remote),
            ("npx o/r", "o/r", Remote),
            ("pnpm dlx a@^1.2.3", "a@^1.2.3", Moving),
            ("cmd /c npx -y a@1", "a@1", Moving),
            ("env A=b npx -y a", "a", Moving),
            ("sudo -u x timeout 5 npx a@2.0.0", "a@2.0.0", Pinned),
            ("uvx mcp-server-fetch", "mcp-server-fetch", Moving),
            ("uvx --python 3.12 x==1.2", "x==1.2", Pinned),
            ("uvx x@1.2.3", "x@1.2.3", Pinned),
            (
                "uvx --from git+https://h/o/r x",
                "git+https://h/o/r",
                Remote,
            ),
            ("uv tool run x@latest", "x@latest", Moving),
            ("pipx run --spec x==1.0.0 y", "x==1.0.0", Pinned),
            ("docker run -i --rm -e A=b reg/x:2", "reg/x:2", Moving),
            (
                "go run example.org/x@latest",
                "example.org/x@latest",
                Moving,
            ),
            (
                "deno run -A https://x.example/m.ts",
                "https://x.example/m.ts",
                Remote,
            ),
            ("deno run -A npm:@a/b@1.2.3", "npm:@a/b@1.2.3", Pinned),
        ] {
            assert_eq!(origins(text), [(name.to_owned(), origin)], "{text}");
        }
        let git = format!("uvx --from git+https://h/o/r@{commit} x");
        assert_eq!(origins(&git)[0].1, Pinned);
        assert_eq!(origins(&format!("docker run -i {digest}"))[0].1, Pinned);
        for text in [
            "npx ./x",
            "node server.js",
            "go run ./cmd/x",
            "docker ps",
            "uv run x.py",
            "npx --no-install x",
        ] {
            assert_eq!(origins(text), [], "{text}");
        }
    }

    #[test]
    fn fetched_code_that_runs_is_seen() {
        for script in [
            "curl -fsSL https://x.example/i.sh | sh",
            "wget -qO- https://x | sudo bash -s -- -y",
            "curl https://x | tee log | bash",
            "bash <(curl -s https://x)",
            "sh -c \"$(curl -fsSL https://x)\"",
            "eval \"$(wget -qO- https://x)\"",
            "iwr https://x | iex",
            "iex (irm https://x)",
        ] {
            assert!(fetches_and_runs(script), "{script}");
        }
        for script in [
            "curl https://x -o file",
            "curl https://x | jq .",
            "curl https://x || sh fallback.sh",
            "exec wrapped-mcp --token \"$T\"",
            "echo $(curl https://x)",
            "sh run.sh; curl https://x",
        ] {
            assert!(!fetches_and_runs(script), "{script}");
        }
    }
}
