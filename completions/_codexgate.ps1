
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'codexgate' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'codexgate'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'codexgate' {
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work as if started in DIR')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('install', 'install', [CompletionResultType]::ParameterValue, 'Put the gate, or MCP servers, into Codex''s files')
            [CompletionResult]::new('uninstall', 'uninstall', [CompletionResultType]::ParameterValue, 'Take out what `install` put in')
            [CompletionResult]::new('lint', 'lint', [CompletionResultType]::ParameterValue, 'Find what opens the gate, or does not do what its author thinks')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show what is in force in a folder, and which line decided it')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Explain a rule of `lint`')
            [CompletionResult]::new('rules', 'rules', [CompletionResultType]::ParameterValue, 'List the rules of `lint`')
            [CompletionResult]::new('mcp', 'mcp', [CompletionResultType]::ParameterValue, 'Ask the person inside Codex, as the MCP server that Codex starts')
            [CompletionResult]::new('broker', 'broker', [CompletionResultType]::ParameterValue, 'Drive Codex from another MCP client, with a gate on each approval')
            [CompletionResult]::new('apply', 'apply', [CompletionResultType]::ParameterValue, 'Propose a command or a change of files, or run what a person approved')
            [CompletionResult]::new('approve', 'approve', [CompletionResultType]::ParameterValue, 'Show a proposal and, if you say so, let it run once')
            [CompletionResult]::new('reject', 'reject', [CompletionResultType]::ParameterValue, 'Remove a proposal, so that nobody can approve or run it')
            [CompletionResult]::new('pending', 'pending', [CompletionResultType]::ParameterValue, 'List the proposals that wait')
            [CompletionResult]::new('journal', 'journal', [CompletionResultType]::ParameterValue, 'Read, check and tidy the record of what was proposed, decided and run')
            [CompletionResult]::new('hook', 'hook', [CompletionResultType]::ParameterValue, 'Answer Codex''s hooks, so that the agent finds the gate')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON Schema of a file or an output')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completions of a shell')
            break
        }
        'codexgate;install' {
            [CompletionResult]::new('--scope', '--scope', [CompletionResultType]::ParameterName, 'Whose files to change; may be given several times [default: project]')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Merge the servers of FILE: TOML with `[mcp_servers.*]`, or the JSON of other clients')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Merge a server of this name; give `--url`, or a command after `--`')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'The server''s address (streamable HTTP)')
            [CompletionResult]::new('--env-var', '--env-var', [CompletionResultType]::ParameterName, 'Hand this variable of Codex''s environment to the server')
            [CompletionResult]::new('--bearer-token-env-var', '--bearer-token-env-var', [CompletionResultType]::ParameterName, 'Take the server''s bearer token from this variable')
            [CompletionResult]::new('--command', '--command', [CompletionResultType]::ParameterName, 'Start the approver and the hooks by this name, found on PATH, in place of this program''s path')
            [CompletionResult]::new('--codex', '--codex', [CompletionResultType]::ParameterName, 'The Codex to ask which digest trusts the hooks [default: $CODEX, else the one on PATH]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the result is written')
            [CompletionResult]::new('--on-collision', '--on-collision', [CompletionResultType]::ParameterName, 'What to do where a key is there with another value')
            [CompletionResult]::new('--codex-home', '--codex-home', [CompletionResultType]::ParameterName, 'Codex''s home, in place of `$CODEX_HOME` or `~/.codex`')
            [CompletionResult]::new('--system-root', '--system-root', [CompletionResultType]::ParameterName, 'Put DIR before the paths of the system''s files, as when building an image')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work as if started in DIR')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--gate', '--gate', [CompletionResultType]::ParameterName, 'Install the gate as well as the servers')
            [CompletionResult]::new('--no-approver', '--no-approver', [CompletionResultType]::ParameterName, 'Leave out the approver, and with it what lets servers ask')
            [CompletionResult]::new('--no-pin', '--no-pin', [CompletionResultType]::ParameterName, 'Leave out the pin')
            [CompletionResult]::new('--no-rule', '--no-rule', [CompletionResultType]::ParameterName, 'Leave out the rule that lets `apply` leave the sandbox')
            [CompletionResult]::new('--no-hooks', '--no-hooks', [CompletionResultType]::ParameterName, 'Leave out the hooks')
            [CompletionResult]::new('--no-guide', '--no-guide', [CompletionResultType]::ParameterName, 'Leave out the section of AGENTS.md')
            [CompletionResult]::new('--approver', '--approver', [CompletionResultType]::ParameterName, 'With `--scope user`: register the approver for all projects')
            [CompletionResult]::new('--trust', '--trust', [CompletionResultType]::ParameterName, 'Say in Codex''s home that the project is trusted, so that its files are in force')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show what would change, write nothing, exit 0')
            [CompletionResult]::new('--check', '--check', [CompletionResultType]::ParameterName, 'Exit 1 if something would change, write nothing (to find drift in CI)')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Write without asking; needed where there is no terminal')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'codexgate;uninstall' {
            [CompletionResult]::new('--scope', '--scope', [CompletionResultType]::ParameterName, 'Whose files to change; may be given several times [default: project]')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Take out this server alone; may be given several times')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the result is written')
            [CompletionResult]::new('--on-collision', '--on-collision', [CompletionResultType]::ParameterName, 'What to do where a key is there with another value')
            [CompletionResult]::new('--codex-home', '--codex-home', [CompletionResultType]::ParameterName, 'Codex''s home, in place of `$CODEX_HOME` or `~/.codex`')
            [CompletionResult]::new('--system-root', '--system-root', [CompletionResultType]::ParameterName, 'Put DIR before the paths of the system''s files, as when building an image')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work as if started in DIR')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show what would change, write nothing, exit 0')
            [CompletionResult]::new('--check', '--check', [CompletionResultType]::ParameterName, 'Exit 1 if something would change, write nothing (to find drift in CI)')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Write without asking; needed where there is no terminal')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'codexgate;lint' {
            [CompletionResult]::new('--scope', '--scope', [CompletionResultType]::ParameterName, 'Whose files are judged, beside those that are given')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How findings are written')
            [CompletionResult]::new('--fail-on', '--fail-on', [CompletionResultType]::ParameterName, 'The mildest finding that makes the run fail')
            [CompletionResult]::new('--select', '--select', [CompletionResultType]::ParameterName, 'Only these rules, in place of what the project selects')
            [CompletionResult]::new('--ignore', '--ignore', [CompletionResultType]::ParameterName, 'Without these rules')
            [CompletionResult]::new('--stdin-filename', '--stdin-filename', [CompletionResultType]::ParameterName, 'Where the text of standard input would lie: its name and place say what it is')
            [CompletionResult]::new('--baseline', '--baseline', [CompletionResultType]::ParameterName, 'Leave out the findings of this file')
            [CompletionResult]::new('--write-baseline', '--write-baseline', [CompletionResultType]::ParameterName, 'Write the findings to this file, and succeed')
            [CompletionResult]::new('--codex-version', '--codex-version', [CompletionResultType]::ParameterName, 'Judge for this version of Codex, in place of the newest known one')
            [CompletionResult]::new('--codex-home', '--codex-home', [CompletionResultType]::ParameterName, 'Codex''s home, in place of `$CODEX_HOME` or `~/.codex`')
            [CompletionResult]::new('--system-root', '--system-root', [CompletionResultType]::ParameterName, 'Put DIR before the paths of the system''s files, as when building an image')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work as if started in DIR')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--scripts', '--scripts', [CompletionResultType]::ParameterName, 'Look into scripts that start Codex, too: workflows, shell scripts, Makefiles, `package.json`, Dockerfiles')
            [CompletionResult]::new('--no-ignore', '--no-ignore', [CompletionResultType]::ParameterName, 'Show what the project silences or makes milder, too')
            [CompletionResult]::new('--fix', '--fix', [CompletionResultType]::ParameterName, 'Mend what has a safe fix: one that keeps the meaning of today, or the one plainly intended')
            [CompletionResult]::new('--unsafe-fixes', '--unsafe-fixes', [CompletionResultType]::ParameterName, 'Take fixes that may change what is meant, too')
            [CompletionResult]::new('--diff', '--diff', [CompletionResultType]::ParameterName, 'Show what the fixes would change, and write nothing')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'codexgate;show' {
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Answer for this way into Codex')
            [CompletionResult]::new('--codex-version', '--codex-version', [CompletionResultType]::ParameterName, 'Answer for this version of Codex, in place of the newest known one')
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'A value over all files')
            [CompletionResult]::new('--enable', '--enable', [CompletionResultType]::ParameterName, 'A feature switched on')
            [CompletionResult]::new('--disable', '--disable', [CompletionResultType]::ParameterName, 'A feature switched off')
            [CompletionResult]::new('-p', '-p', [CompletionResultType]::ParameterName, 'A profile')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'A sandbox mode')
            [CompletionResult]::new('-a', '-a', [CompletionResultType]::ParameterName, 'An approval policy')
            [CompletionResult]::new('--codex-home', '--codex-home', [CompletionResultType]::ParameterName, 'Codex''s home, in place of `$CODEX_HOME` or `~/.codex`')
            [CompletionResult]::new('--system-root', '--system-root', [CompletionResultType]::ParameterName, 'Put DIR before the paths of the system''s files, as when building an image')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work as if started in DIR')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--trusted', '--trusted', [CompletionResultType]::ParameterName, 'Answer as if the user had trusted the folder')
            [CompletionResult]::new('--untrusted', '--untrusted', [CompletionResultType]::ParameterName, 'Answer as if the user had marked the folder untrusted')
            [CompletionResult]::new('--strict-config', '--strict-config', [CompletionResultType]::ParameterName, 'Unknown keys as errors')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'codexgate;explain' {
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work as if started in DIR')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'codexgate;rules' {
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the list is written')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work as if started in DIR')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'codexgate;mcp' {
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work as if started in DIR')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'codexgate;broker' {
            [CompletionResult]::new('--codex', '--codex', [CompletionResultType]::ParameterName, 'Codex''s name or path')
            [CompletionResult]::new('--max-sandbox', '--max-sandbox', [CompletionResultType]::ParameterName, 'The most open sandbox that a caller may have')
            [CompletionResult]::new('--approvals', '--approvals', [CompletionResultType]::ParameterName, 'Who may accept: `client` takes it from a tool call, `human` only from a person')
            [CompletionResult]::new('--allow-config', '--allow-config', [CompletionResultType]::ParameterName, 'Let callers set this key of config.toml, and what stands below it')
            [CompletionResult]::new('--allow-profile', '--allow-profile', [CompletionResultType]::ParameterName, 'Let callers choose this profile, whatever it sets')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work as if started in DIR')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--allow-amendments', '--allow-amendments', [CompletionResultType]::ParameterName, 'Take a rule for good (an amendment, an allowed host) from a tool call')
            [CompletionResult]::new('--no-elicit', '--no-elicit', [CompletionResultType]::ParameterName, 'Never ask through the client''s own forms')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'codexgate;apply' {
            [CompletionResult]::new('--confirm', '--confirm', [CompletionResultType]::ParameterName, 'Run what was approved under this token')
            [CompletionResult]::new('--reason', '--reason', [CompletionResultType]::ParameterName, 'Why, in a few words for the person')
            [CompletionResult]::new('--input', '--input', [CompletionResultType]::ParameterName, 'A file or folder that the program reads; its content becomes part of what is approved')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Give the program this variable, too')
            [CompletionResult]::new('--stdin', '--stdin', [CompletionResultType]::ParameterName, 'The program''s standard input: a file of the project (`-`: this command''s own, for people)')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long the program may run')
            [CompletionResult]::new('--expires', '--expires', [CompletionResultType]::ParameterName, 'How long the proposal waits, at most 24h')
            [CompletionResult]::new('--patch', '--patch', [CompletionResultType]::ParameterName, 'Change files as this unified diff says')
            [CompletionResult]::new('--write', '--write', [CompletionResultType]::ParameterName, 'Write this file')
            [CompletionResult]::new('--content', '--content', [CompletionResultType]::ParameterName, 'With the content of this file of the project')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the result is written')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work as if started in DIR')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'codexgate;approve' {
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work as if started in DIR')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--card', '--card', [CompletionResultType]::ParameterName, 'Only print the card')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'codexgate;reject' {
            [CompletionResult]::new('--reason', '--reason', [CompletionResultType]::ParameterName, 'Why, for the journal')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work as if started in DIR')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'codexgate;pending' {
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the list is written')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work as if started in DIR')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'codexgate;journal' {
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work as if started in DIR')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'One line for each record')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Everything about one proposal, with the changes of files')
            [CompletionResult]::new('export', 'export', [CompletionResultType]::ParameterValue, 'All records as JSON')
            [CompletionResult]::new('restore', 'restore', [CompletionResultType]::ParameterValue, 'Bring back files that a run wrote, where nobody changed them since')
            [CompletionResult]::new('prune', 'prune', [CompletionResultType]::ParameterValue, 'Remove old records; the chain stays whole')
            [CompletionResult]::new('verify', 'verify', [CompletionResultType]::ParameterValue, 'Check that every record is what was written')
            break
        }
        'codexgate;journal;list' {
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work as if started in DIR')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'codexgate;journal;show' {
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work as if started in DIR')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'codexgate;journal;export' {
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work as if started in DIR')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'codexgate;journal;restore' {
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work as if started in DIR')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'codexgate;journal;prune' {
            [CompletionResult]::new('--older-than', '--older-than', [CompletionResultType]::ParameterName, 'Records older than this go')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work as if started in DIR')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'codexgate;journal;verify' {
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work as if started in DIR')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'codexgate;hook' {
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work as if started in DIR')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('session-start', 'session-start', [CompletionResultType]::ParameterValue, 'Tell the agent how the gate works here, and whether it holds')
            [CompletionResult]::new('pre-tool-use', 'pre-tool-use', [CompletionResultType]::ParameterValue, 'Deny a shell command that a `confirm` or `deny` line of the policy files matches')
            break
        }
        'codexgate;hook;session-start' {
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work as if started in DIR')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'codexgate;hook;pre-tool-use' {
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work as if started in DIR')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'codexgate;schema' {
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work as if started in DIR')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'codexgate;completions' {
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work as if started in DIR')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was looked at, and why')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
