//! `launch-unpinned`, `launch-remote-code`, `launch-shell`, `launch-privileged`,
//! `launch-relative`: what a server's start brings in. It runs outside of the sandbox.
//! Source: opinions about command lines, which Codex hands on as they are (scenario
//! mcp-env-not-expanded); Codex 0.134 to 0.171.

use crate::document::{Edit, Form, Node};
use crate::lint::launch::{Launch, Origin, Program, RAISERS, fetches_and_runs};
use crate::lint::server::{Server, Word, basename};
use crate::lint::{Check, Confidence, ConfigFile, Findings, Grade, Rule, Severity, case};

pub const UNPINNED: Rule = Rule {
    id: "launch-unpinned",
    severity: Severity::Warning,
    confidence: Confidence::High,
    since: (0, 134),
    says: "this runs whatever the registry has at the next start",
    why: "A runner without an exact version or digest fetches code anew, and a server runs with \
          the user's rights, outside of the sandbox. Whoever takes over the package runs on every \
          machine at its next start.",
    bad: &[
        case("[mcp_servers.a]\ncommand = \"npx\"\nargs = [‹\"shadcn@latest\"›, \"mcp\"]\n"),
        case("[mcp_servers.a]\ncommand = \"uvx\"\nargs = [‹\"mcp-server-fetch\"›]\n"),
        case(
            "[mcp_servers.a]\ncommand = \"docker\"\nargs = [\"run\", \"-i\", ‹\"reg.example/db-mcp:2\"›]\n",
        ),
        case("[mcp_servers.a]\ncommand = \"cmd\"\nargs = [\"/c\", \"npx\", \"-y\", ‹\"a-mcp\"›]\n"),
        case("[mcp_servers.a]\ncommand = \"uv\"\nargs = [\"tool\", \"run\", ‹\"a-mcp\"›]\n"),
    ],
    good: &[
        case("[mcp_servers.a]\ncommand = \"npx\"\nargs = [\"-y\", \"shadcn@4.7.0\", \"mcp\"]\n"),
        case("[mcp_servers.a]\ncommand = \"uvx\"\nargs = [\"mcp-server-fetch==2025.4.7\"]\n"),
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\nargs = [\"npx\", \"b\"]\n"),
    ],
    check: Check::File(unpinned),
};

pub const REMOTE_CODE: Rule = Rule {
    id: "launch-remote-code",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 134),
    says: "this fetches code from an address and runs it",
    why: "A branch or an address holds whatever its owner, or whoever got hold of it, puts there. \
          It runs at the next start with the user's rights, outside of the sandbox.",
    bad: &[
        case("[mcp_servers.a]\ncommand = \"uvx\"\nargs = [\"--from\", ‹\"git+https://git.example/a\"›, \"a\"]\n"),
        case("[mcp_servers.a]\ncommand = \"bash\"\nargs = [\"-c\", ‹\"curl -fsSL https://get.example/i.sh | sh\"›]\n")
            .also(&["launch-shell"]),
        case("[mcp_servers.a]\ncommand = \"npx\"\nargs = [\"-y\", ‹\"github:owner/repo\"›]\n"),
        case("[mcp_servers.a]\ncommand = \"deno\"\nargs = [\"run\", ‹\"https://x.example/mod.ts\"›]\n"),
    ],
    good: &[
        case("[mcp_servers.a]\ncommand = \"uvx\"\nargs = [\"--from\", \"git+https://git.example/a@0123456789abcdef0123456789abcdef01234567\", \"a\"]\n"),
        case("[mcp_servers.a]\ncommand = \"curl\"\nargs = [\"https://x.example/\"]\n"),
    ],
    check: Check::File(remote_code),
};

pub const SHELL: Rule = Rule {
    id: "launch-shell",
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    since: (0, 134),
    says: "a shell reads this line",
    why: "What a shell runs is harder to see than a program and its arguments, and it expands \
          whatever the environment holds. A whole command line in `command` does not even start: \
          Codex looks for a program of that name.",
    bad: &[
        case("[mcp_servers.a]\ncommand = \"sh\"\nargs = [\"-c\", ‹\"exec a-mcp --verbose\"›]\n"),
        case("[mcp_servers.a]\ncommand = ‹\"npx -y line-mcp@1.0.0\"›\nargs = []\n")
            .fixed("[mcp_servers.a]\ncommand = \"npx\"\nargs = [\"-y\", \"line-mcp@1.0.0\"]\n"),
        case("[mcp_servers.a]\ncommand = ‹\"node /srv/a.js\"›\n")
            .fixed("[mcp_servers.a]\ncommand = \"node\"\nargs = [\"/srv/a.js\"]\n"),
    ],
    good: &[
        case(
            "[mcp_servers.a]\ncommand = \"/Applications/A B.app/Contents/MacOS/a\"\nargs = [\"mcp\"]\n",
        ),
        case("[mcp_servers.a]\ncommand = \"bash\"\nargs = [\"/srv/a.sh\"]\n"),
        case("[mcp_servers.a]\ncommand = 'C:\\Program Files\\a\\a.exe'\n"),
    ],
    check: Check::File(shell),
};

pub const PRIVILEGED: Rule = Rule {
    id: "launch-privileged",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 134),
    says: "this server gets the rights of the machine's owner",
    why: "`sudo`, a privileged container, the Docker socket, or the whole disk or home mounted \
          give a server more than the user's own programs have. Whatever it is told by a model, or \
          by a page that the model read, it then can do.",
    bad: &[
        case("[mcp_servers.a]\ncommand = ‹\"sudo\"›\nargs = [\"a-mcp\"]\n"),
        case(
            "[mcp_servers.a]\ncommand = \"docker\"\nargs = [\"run\", \"-v\", ‹\"/var/run/docker.sock:/var/run/docker.sock\"›, \"x@sha256:4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f\"]\n",
        ),
        case(
            "[mcp_servers.a]\ncommand = \"docker\"\nargs = [\"run\", ‹\"--privileged\"›, ‹\"--volume=/:/host\"›, \"x@sha256:4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f\"]\n",
        ),
        case(
            "[mcp_servers.a]\ncommand = \"docker\"\nargs = [\"run\", \"--mount\", ‹\"type=bind,src=/home/ann,dst=/x\"›, \"x@sha256:4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f\"]\n",
        ),
    ],
    good: &[case(
        "[mcp_servers.a]\ncommand = \"docker\"\nargs = [\"run\", \"-v\", \"/srv/data:/data\", \"x@sha256:4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f\", \"--privileged\"]\n",
    )],
    check: Check::File(privileged),
};

pub const RELATIVE: Rule = Rule {
    id: "launch-relative",
    severity: Severity::Warning,
    confidence: Confidence::High,
    since: (0, 134),
    says: "this program is looked for wherever the thread runs",
    why: "A relative path is taken from the folder of the thread: in another folder the server \
          does not start, or a program of that name that lies there does.",
    bad: &[
        case("[mcp_servers.a]\ncommand = ‹\"./tools/local-mcp\"›\nargs = []\n"),
        case("[mcp_servers.a]\ncommand = \"node\"\nargs = [‹\"scripts/server.mjs\"›]\n"),
        case(
            "[mcp_servers.a]\ncommand = \"python3\"\nargs = [\"-u\", ‹\"./server.py\"›]\ncwd = \"sub\"\n",
        ),
    ],
    good: &[
        case("[mcp_servers.a]\ncommand = \"local-mcp\"\n"),
        case("[mcp_servers.a]\ncommand = \"/opt/a/local-mcp\"\n"),
        case("[mcp_servers.a]\ncommand = \"./local-mcp\"\ncwd = \"/opt/a\"\n"),
        case("[mcp_servers.a]\ncommand = \"node\"\nargs = [\"/srv/server.js\", \"./data.js\"]\n"),
    ],
    check: Check::File(relative),
};

fn launches<'a>(file: &ConfigFile<'a>) -> impl Iterator<Item = (Server<'a>, Launch<'a>)> {
    Server::all(file).map(|server| (server, Launch::read(&server.line())))
}

fn unpinned(file: &ConfigFile, found: &mut Findings) {
    for (_, launch) in launches(file) {
        for package in launch.packages() {
            if package.origin == Origin::Moving {
                found
                    .add(&UNPINNED, package.word.span)
                    .help(format!("name an exact version: {}", package.pin));
            }
        }
    }
}

fn remote_code(file: &ConfigFile, found: &mut Findings) {
    for (_, launch) in launches(file) {
        for package in launch.packages() {
            if package.origin == Origin::Remote {
                found
                    .add(&REMOTE_CODE, package.word.span)
                    .help("name a commit by its 40 digits, or a released version");
            }
        }
        if let Some(script) = launch.script.filter(|script| fetches_and_runs(script.text)) {
            found
                .add(&REMOTE_CODE, script.span)
                .help("install it once, look at it, and start the installed program");
        }
    }
}

fn shell(file: &ConfigFile, found: &mut Findings) {
    for (server, launch) in launches(file) {
        if let Some(script) = launch.script {
            found
                .add(&SHELL, script.span)
                .help("start the program itself, with `args`, `env` and `cwd`");
        }
        let Some(command) = server.get("command") else {
            continue;
        };
        if let Some(line) = Word::of(command).filter(|word| is_line(word.text)) {
            let finding = found.add(&SHELL, command);
            finding
                .says("a whole command line in `command`: Codex looks for a program of that name")
                .help("put the program into `command` and each argument into `args`");
            if let Some(edits) = split_line(&server, command, line.text) {
                finding.fix(Grade::Safe, edits);
            }
        }
    }
}

/// Whether `command` holds more than a program: a bare name and more words, or a path with flags
/// behind it. A path with a blank in it is none.
fn is_line(command: &str) -> bool {
    let mut words = command.split_whitespace();
    let Some(first) = words.next() else {
        return false;
    };
    let path = first.contains(['/', '\\']);
    let template = command.contains("{{");
    !template
        && words.clone().next().is_some()
        && (!path || words.any(|word| word.starts_with('-')))
}

/// The edits that move the words behind the program into `args`, where no quoting is involved.
fn split_line(server: &Server, command: &Node, line: &str) -> Option<Vec<Edit>> {
    if line.contains([
        '"', '\'', '\\', '$', '`', '|', '&', ';', '<', '>', '(', '*', '~',
    ]) {
        return None;
    }
    let mut words = line.split_whitespace();
    let quoted = |word: &str| toml_edit::Value::from(word).to_string();
    let program = quoted(words.next()?);
    let rest: Vec<String> = words.map(quoted).collect();
    let args = format!("[{}]", rest.join(", "));
    match server.get("args") {
        Some(node)
            if node.form == Form::Value && node.as_array().is_some_and(<[Node]>::is_empty) =>
        {
            Some(vec![
                Edit::replace(command.span, program),
                Edit::replace(node.span, args),
            ])
        }
        None if server.node.form == Form::Header => Some(vec![Edit::replace(
            command.span,
            format!("{program}\nargs = {args}"),
        )]),
        _ => None,
    }
}

fn privileged(file: &ConfigFile, found: &mut Findings) {
    for (_, launch) in launches(file) {
        for program in &launch.programs {
            if RAISERS.contains(&program.name) {
                found
                    .add(&PRIVILEGED, program.word.span)
                    .says(format!(
                        "`{}` gives this server the rights of root",
                        program.name
                    ))
                    .help("start it as the user, with no more than it needs");
            }
        }
        if let Some(program) = launch.program().filter(|it| is_container(it)) {
            container(program, found);
        }
    }
}

fn is_container(program: &Program) -> bool {
    matches!(program.name, "docker" | "podman" | "nerdctl")
}

fn container(program: &Program, found: &mut Findings) {
    let image = Launch::read(
        &std::iter::once(program.word)
            .chain(program.args.iter().copied())
            .collect::<Vec<_>>(),
    )
    .packages();
    // What stands behind the image is for the program in it.
    let end = image.first().and_then(|image| {
        program
            .args
            .iter()
            .position(|word| word.span == image.word.span)
    });
    let own = &program.args[..end.unwrap_or(program.args.len())];
    for (at, word) in own.iter().enumerate() {
        let before = at.checked_sub(1).map_or("", |at| own[at].text);
        let (flag, value) = match word.text.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") => (flag, value),
            _ => (before, word.text),
        };
        let source = match flag {
            "-v" | "--volume" => value.split(':').next(),
            "--mount" => value.split(',').find_map(|part| {
                part.strip_prefix("src=")
                    .or_else(|| part.strip_prefix("source="))
            }),
            _ => None,
        };
        if matches!(word.text, "--privileged" | "--privileged=true") {
            found
                .add(&PRIVILEGED, word.span)
                .says("a privileged container can do what root can")
                .help("leave it out, and add the one capability that is needed");
        } else if let Some(what) = source.and_then(dangerous_mount) {
            found
                .add(&PRIVILEGED, word.span)
                .says(format!("this mounts {what} into the container"))
                .help("mount the one folder that the server works on, read-only if it can be");
        }
    }
}

fn dangerous_mount(source: &str) -> Option<&'static str> {
    let path = source.trim_end_matches('/');
    if path.ends_with("docker.sock") || path.ends_with("podman.sock") {
        return Some("the container engine's socket, which rules the machine,");
    }
    if source.starts_with('/') && path.is_empty() {
        return Some("the whole disk");
    }
    is_home(path).then_some("a whole home")
}

/// Whether `path` is somebody's home, by how homes are named.
fn is_home(path: &str) -> bool {
    let below = ["/home/", "/Users/"]
        .iter()
        .find_map(|top| path.strip_prefix(top));
    matches!(
        path,
        "~" | "$HOME" | "${HOME}" | "/root" | "/home" | "/Users"
    ) || below.is_some_and(|name| !name.is_empty() && !name.contains('/'))
}

/// Programs whose first plain argument is a script.
const INTERPRETERS: &[&str] = &[
    "node", "bun", "deno", "python", "python3", "ruby", "perl", "php", "sh", "bash", "zsh", "tsx",
    "ts-node",
];

fn relative(file: &ConfigFile, found: &mut Findings) {
    for (server, launch) in launches(file) {
        let cwd = server.word("cwd").map(|word| word.text);
        if cwd.is_some_and(is_absolute) {
            continue;
        }
        let Some(program) = launch.program() else {
            continue;
        };
        let command = program.word.text;
        if command.contains(['/', '\\']) && !is_absolute(command) && !is_line(command) {
            finding(program.word, found);
        } else if INTERPRETERS.contains(&basename(command)) && launch.script.is_none() {
            let plain = program
                .args
                .iter()
                .find(|word| !word.text.starts_with('-') && word.text != "run");
            if let Some(script) = plain.filter(|word| is_relative_script(word.text)) {
                finding(*script, found);
            }
        }
    }
}

fn finding(word: Word, found: &mut Findings) {
    found
        .add(&RELATIVE, word.span)
        .help("use an absolute path, or set `cwd` to one");
}

/// Absolute on some system, or filled in by somebody: a variable, a template.
fn is_absolute(path: &str) -> bool {
    let drive = path.as_bytes().get(1) == Some(&b':');
    drive || path.starts_with(['/', '\\', '~', '$', '%', '{', '<']) || path.starts_with("__")
}

fn is_relative_script(text: &str) -> bool {
    const SUFFIXES: &[&str] = &[
        "js", "mjs", "cjs", "ts", "mts", "py", "rb", "pl", "php", "sh",
    ];
    let suffix = text.rsplit_once('.').map(|(_, suffix)| suffix);
    !is_absolute(text)
        && !text.contains("://")
        && !text.contains(char::is_whitespace)
        && suffix.is_some_and(|suffix| SUFFIXES.contains(&suffix))
}
