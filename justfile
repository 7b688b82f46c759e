# The daily commands; `just` alone lists them.

# List the recipes
default:
    @just --list --unsorted

# Formatting, lints and tests: what each commit passes
check: fmt-check lint test

# All tests, or those named: `just test --test layers`
test *ARGS:
    cargo test {{ARGS}}

# Clippy as CI runs it
lint:
    cargo clippy --all-targets -- -D warnings

# Format the sources
fmt:
    cargo fmt

[private]
fmt-check:
    cargo fmt --check

# Licences, bans and sources of the dependencies
deny:
    cargo deny check bans licenses sources

# Install the pinned Codex that tests/codex runs against
codex:
    npm ci --prefix tests/codex --no-audit --no-fund

# Install the pinned MCP SDK that tests/broker runs as a client
broker-sdk:
    npm ci --prefix tests/broker/sdk --no-audit --no-fund

# Ask the pinned Codex all recorded scenarios, and the model and Codex N random configurations
oracle N="300":
    CODEXGATE_CONFIGURATIONS={{N}} cargo test --test codex -- --include-ignored every_scenario the_model_agrees

# Record what the pinned Codex answers to the scenarios of a folder that have no answer yet
record FOLDER="tests/fixtures/scenarios":
    CODEXGATE_SCENARIOS={{absolute_path(FOLDER)}} cargo test --test codex -- --include-ignored record_the_scenarios

# Ask other versions of Codex, those of the table or those given: `just versions "0.172.0"`
versions VERSIONS="":
    {{ if VERSIONS == "" { "" } else { "CODEXGATE_VERSIONS=" + quote(VERSIONS) } }} cargo test --test codex -- --include-ignored other_versions

# Take one rule of pairing away after the other: each must be missed by a test that names it
rules-off:
    cargo test --lib -- --ignored --nocapture broker::pair::tests::rules_off

# Make completions and other generated files anew
generate:
    UPDATE=1 cargo test --test generated

# The whole check, as CI runs it
ci:
    bash .ci/run

# How long lint takes, beside a minimal program, agnix and taplo
bench:
    [ -x target/bench/venv/bin/agnix ] || (python3 -m venv target/bench/venv && target/bench/venv/bin/pip install -q agnix)
    [ -x target/bench/node_modules/.bin/taplo ] || npm install --prefix target/bench --no-audit --no-fund --silent @taplo/cli
    cargo bench --bench lint

# What the broker takes: time and memory, beside codex-mcp's figures
bench-broker: codex
    cargo bench --bench broker

# How soon the approver answers, and how much memory it takes
bench-mcp:
    cargo bench --bench mcp

# cargo install --locked cargo-mutants --version 27.1.0; an hour on two cores.
# Change the core of the approving side, one condition at a time, and list what no unit test notices
mutants FILES="approval":
    PROPTEST_CASES=64 cargo mutants -j1 --output target {{ if FILES == "approval" { APPROVAL } else { "--file " + FILES } }}

# What `just mutants approval` changes
APPROVAL := "--file src/approval/decision.rs --file src/approval/grant.rs --file src/approval/token.rs --file src/approval/execute.rs --file src/mcp/elicit.rs --file src/mcp/server.rs"
