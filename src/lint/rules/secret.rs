//! `secret-inline`, `secret-as-variable-name`: a secret in a file.
//! Source: opinions about values; Codex takes them as they are. Where a variable's name belongs:
//! scenarios mcp-env-vars-table, mcp-stdio-bearer-env. No message quotes a value.

use crate::lint::secret::{Role, Secret};
use crate::lint::{Check, Confidence, Findings, Rule, Severity, Source, case};
use crate::text::redact;

pub const INLINE: Rule = Rule {
    id: "secret-inline",
    severity: Severity::Error,
    confidence: Confidence::Medium,
    since: (0, 134),
    says: "a secret stands in this file",
    why: "A configuration is copied, committed, synced and read by the agent, which sends it to \
          the model. Codex can take the secret from the environment: name the variable in \
          `env_vars`, `bearer_token_env_var` or `env_http_headers`.",
    bad: &[
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\nenv = { A_TOKEN = ‹\"Zp4nV8sQ1yKt6MwR3xHb\"› }\n"),
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\nargs = [‹\"--api-key=kX83hdQz71LmPw02VbTy\"›]\n"),
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\nargs = [\"--token\", ‹\"kX83hdQz71LmPw02VbTy\"›]\n"),
        case("[mcp_servers.a]\ncommand = \"docker\"\nargs = [\"run\", \"-e\", ‹\"D_TOKEN=Zp4nV8sQ1yKt6MwR3xHb\"›, \"x@sha256:4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f\"]\n"),
        case("[mcp_servers.a]\nurl = \"https://a.example/mcp\"\nhttp_headers = { Authorization = ‹\"Bearer 7hQ2vXk9TzLm4RpWc8Ns\"› }\n"),
        case("[mcp_servers.a]\nurl = ‹\"https://a.example/mcp?api_key=kX83hdQz71LmPw02\"›\n"),
        case("[mcp_servers.a]\nurl = \"https://a.example/mcp\"\nbearer_token = ‹\"tok_9fK2mQ7xT4vB8nL1cZ6w\"›\n")
            .also(&["server-key-wrong-transport"]),
        case("[model_providers.x]\nname = \"x\"\nexperimental_bearer_token = ‹\"hunter2hunter2\"›\n"),
        case("[shell_environment_policy.set]\nGH_TOKEN = ‹\"ghp_0123456789abcdefghijABCDEFGHIJ0123\"›\n"),
    ],
    good: &[
        case("[mcp_servers.e]\ncommand = \"e-mcp\"\nenv_vars = [\"E_API_KEY\"]\nenv.E_TOKEN_FILE = \"/run/secrets/e-token\"\nenv.E_PASSWORD = \"\"\nenv.E_SECRET = \"<your-secret-here>\"\n"),
        case("[mcp_servers.a]\nurl = \"https://a.example/mcp\"\nbearer_token_env_var = \"A_TOKEN\"\n"),
        case("[mcp_servers.a]\ncommand = \"a-mcp\"\nargs = [\"--model\", \"claude-3-5-sonnet-20241022\", \"--commit\", \"0123456789abcdef0123456789abcdef01234567\"]\n"),
        case("[model_providers.x]\nname = \"x\"\nenv_key = \"X_API_KEY\"\n"),
    ],
    check: Check::Source(inline),
};

pub const AS_NAME: Rule = Rule {
    id: "secret-as-variable-name",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 134),
    says: "this is the secret itself, where a variable's name belongs",
    why: "Codex looks for a variable of that name, finds none, and sends nothing; the secret \
          stands in the file all the same.",
    bad: &[
        case(
            "[mcp_servers.a]\nurl = \"https://a.example/mcp\"\nbearer_token_env_var = ‹\"ghp_0123456789abcdefghijABCDEFGHIJ0123\"›\n",
        ),
        case(
            "[mcp_servers.a]\ncommand = \"a-mcp\"\nenv_vars = [\"HOME\", ‹\"sk-proj-a1b2c3d4e5f6g7h8i9j0k1l2\"›]\n",
        ),
        case(
            "[mcp_servers.a]\nurl = \"https://a.example/mcp\"\nenv_http_headers = { X-Key = ‹\"Bearer 7hQ2vXk9TzLm4RpWc8Ns\"› }\n",
        ),
        case(
            "[model_providers.x]\nname = \"x\"\nenv_key = ‹\"sk-proj-a1b2c3d4e5f6g7h8i9j0k1l2\"›\n",
        ),
    ],
    good: &[
        case(
            "[mcp_servers.a]\nurl = \"https://a.example/mcp\"\nbearer_token_env_var = \"GITHUB_TOKEN\"\n",
        ),
        case(
            "[mcp_servers.a]\ncommand = \"a-mcp\"\nenv_vars = [{ name = \"A_TOKEN\", source = \"local\" }]\n",
        ),
    ],
    check: Check::Source(as_name),
};

fn inline(source: &Source, found: &mut Findings) {
    if !source.subject.kind.is_toml() && source.subject.kind != crate::lint::Kind::Hooks {
        return;
    }
    for secret in &source.secrets {
        let (what, help) = match secret.role {
            Role::InPlaceOfName => continue,
            Role::Remark => ("in a comment", "take it out"),
            Role::Variable => (
                "in a variable",
                "name the variable in `env_vars`, and set it in the environment",
            ),
            Role::Header => (
                "in a header",
                "use `bearer_token_env_var`, or `env_http_headers` with the variable's name",
            ),
            Role::Argument => (
                "in an argument",
                "let the program read it from a variable, named in `env_vars`",
            ),
            Role::Address => (
                "in an address",
                "send it in a header, with `bearer_token_env_var` or `env_http_headers`",
            ),
            Role::Key => (
                "in this value",
                "keep it in the environment, and name the variable here",
            ),
        };
        let finding = found.add(&INLINE, secret.value);
        let of = secret
            .name
            .as_deref()
            .map(|name| format!(" (`{name}`)"))
            .unwrap_or_default();
        finding
            .says(format!("a secret stands {what}{of}"))
            .label(stand_in(source, secret))
            .help(help)
            .note("whoever has seen the file has the secret: replace it, too");
    }
}

fn as_name(source: &Source, found: &mut Findings) {
    for secret in &source.secrets {
        if secret.role == Role::InPlaceOfName {
            found
                .add(&AS_NAME, secret.value)
                .label(stand_in(source, secret))
                .help("set a variable to it, and write that variable's name here");
        }
    }
}

fn stand_in(source: &Source, secret: &Secret) -> String {
    redact::secret(source.text().get(secret.span.range()).unwrap_or_default())
}
