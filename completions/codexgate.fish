# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_codexgate_global_optspecs
    string join \n C= color= q/quiet v/verbose h/help V/version
end

function __fish_codexgate_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_codexgate_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_codexgate_using_subcommand
    set -l cmd (__fish_codexgate_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c codexgate -n "__fish_codexgate_needs_command" -s C -d 'Work as if started in DIR' -r -F
complete -c codexgate -n "__fish_codexgate_needs_command" -l color -d 'When to use colours' -r -f -a "auto\t'Where the stream is a terminal; `NO_COLOR` and `CLICOLOR_FORCE` are followed'
always\t'Always'
never\t'Never'"
complete -c codexgate -n "__fish_codexgate_needs_command" -s q -l quiet -d 'Say only what went wrong'
complete -c codexgate -n "__fish_codexgate_needs_command" -s v -l verbose -d 'Say what was looked at, and why'
complete -c codexgate -n "__fish_codexgate_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c codexgate -n "__fish_codexgate_needs_command" -s V -l version -d 'Print version'
complete -c codexgate -n "__fish_codexgate_needs_command" -f -a "install" -d 'Put the gate, or MCP servers, into Codex\'s files'
complete -c codexgate -n "__fish_codexgate_needs_command" -f -a "uninstall" -d 'Take out what `install` put in'
complete -c codexgate -n "__fish_codexgate_needs_command" -f -a "lint" -d 'Find what opens the gate, or does not do what its author thinks'
complete -c codexgate -n "__fish_codexgate_needs_command" -f -a "show" -d 'Show what is in force in a folder, and which line decided it'
complete -c codexgate -n "__fish_codexgate_needs_command" -f -a "explain" -d 'Explain a rule of `lint`'
complete -c codexgate -n "__fish_codexgate_needs_command" -f -a "rules" -d 'List the rules of `lint`'
complete -c codexgate -n "__fish_codexgate_needs_command" -f -a "mcp" -d 'Ask the person inside Codex, as the MCP server that Codex starts'
complete -c codexgate -n "__fish_codexgate_needs_command" -f -a "broker" -d 'Drive Codex from another MCP client, with a gate on each approval'
complete -c codexgate -n "__fish_codexgate_needs_command" -f -a "apply" -d 'Propose a command or a change of files, or run what a person approved'
complete -c codexgate -n "__fish_codexgate_needs_command" -f -a "approve" -d 'Show a proposal and, if you say so, let it run once'
complete -c codexgate -n "__fish_codexgate_needs_command" -f -a "reject" -d 'Remove a proposal, so that nobody can approve or run it'
complete -c codexgate -n "__fish_codexgate_needs_command" -f -a "pending" -d 'List the proposals that wait'
complete -c codexgate -n "__fish_codexgate_needs_command" -f -a "journal" -d 'Read, check and tidy the record of what was proposed, decided and run'
complete -c codexgate -n "__fish_codexgate_needs_command" -f -a "hook" -d 'Answer Codex\'s hooks, so that the agent finds the gate'
complete -c codexgate -n "__fish_codexgate_needs_command" -f -a "schema" -d 'Print the JSON Schema of a file or an output'
complete -c codexgate -n "__fish_codexgate_needs_command" -f -a "completions" -d 'Print the completions of a shell'
complete -c codexgate -n "__fish_codexgate_using_subcommand install" -l scope -d 'Whose files to change; may be given several times [default: project]' -r -f -a "project\t'The project\'s `.codex`'
user\t'Codex\'s home'
system\t'The system\'s folder, `/etc/codex`'"
complete -c codexgate -n "__fish_codexgate_using_subcommand install" -l from -d 'Merge the servers of FILE: TOML with `[mcp_servers.*]`, or the JSON of other clients' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand install" -l server -d 'Merge a server of this name; give `--url`, or a command after `--`' -r
complete -c codexgate -n "__fish_codexgate_using_subcommand install" -l url -d 'The server\'s address (streamable HTTP)' -r
complete -c codexgate -n "__fish_codexgate_using_subcommand install" -l env-var -d 'Hand this variable of Codex\'s environment to the server' -r
complete -c codexgate -n "__fish_codexgate_using_subcommand install" -l bearer-token-env-var -d 'Take the server\'s bearer token from this variable' -r
complete -c codexgate -n "__fish_codexgate_using_subcommand install" -l command -d 'Start the approver and the hooks by this name, found on PATH, in place of this program\'s path' -r
complete -c codexgate -n "__fish_codexgate_using_subcommand install" -l codex -d 'The Codex to ask which digest trusts the hooks [default: $CODEX, else the one on PATH]' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand install" -l format -d 'How the result is written' -r -f -a "text\t'For people'
json\t'For programs'"
complete -c codexgate -n "__fish_codexgate_using_subcommand install" -l on-collision -d 'What to do where a key is there with another value' -r -f -a "refuse\t'Write nothing at all'
skip\t'Leave those keys as they are, and say so'
replace\t'Put the wanted value in their place'"
complete -c codexgate -n "__fish_codexgate_using_subcommand install" -l codex-home -d 'Codex\'s home, in place of `$CODEX_HOME` or `~/.codex`' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand install" -l system-root -d 'Put DIR before the paths of the system\'s files, as when building an image' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand install" -s C -d 'Work as if started in DIR' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand install" -l color -d 'When to use colours' -r -f -a "auto\t'Where the stream is a terminal; `NO_COLOR` and `CLICOLOR_FORCE` are followed'
always\t'Always'
never\t'Never'"
complete -c codexgate -n "__fish_codexgate_using_subcommand install" -l gate -d 'Install the gate as well as the servers'
complete -c codexgate -n "__fish_codexgate_using_subcommand install" -l no-approver -d 'Leave out the approver, and with it what lets servers ask'
complete -c codexgate -n "__fish_codexgate_using_subcommand install" -l no-pin -d 'Leave out the pin'
complete -c codexgate -n "__fish_codexgate_using_subcommand install" -l no-rule -d 'Leave out the rule that lets `apply` leave the sandbox'
complete -c codexgate -n "__fish_codexgate_using_subcommand install" -l no-hooks -d 'Leave out the hooks'
complete -c codexgate -n "__fish_codexgate_using_subcommand install" -l no-guide -d 'Leave out the section of AGENTS.md'
complete -c codexgate -n "__fish_codexgate_using_subcommand install" -l approver -d 'With `--scope user`: register the approver for all projects'
complete -c codexgate -n "__fish_codexgate_using_subcommand install" -l trust -d 'Say in Codex\'s home that the project is trusted, so that its files are in force'
complete -c codexgate -n "__fish_codexgate_using_subcommand install" -l dry-run -d 'Show what would change, write nothing, exit 0'
complete -c codexgate -n "__fish_codexgate_using_subcommand install" -l check -d 'Exit 1 if something would change, write nothing (to find drift in CI)'
complete -c codexgate -n "__fish_codexgate_using_subcommand install" -l yes -d 'Write without asking; needed where there is no terminal'
complete -c codexgate -n "__fish_codexgate_using_subcommand install" -s q -l quiet -d 'Say only what went wrong'
complete -c codexgate -n "__fish_codexgate_using_subcommand install" -s v -l verbose -d 'Say what was looked at, and why'
complete -c codexgate -n "__fish_codexgate_using_subcommand install" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c codexgate -n "__fish_codexgate_using_subcommand uninstall" -l scope -d 'Whose files to change; may be given several times [default: project]' -r -f -a "project\t'The project\'s `.codex`'
user\t'Codex\'s home'
system\t'The system\'s folder, `/etc/codex`'"
complete -c codexgate -n "__fish_codexgate_using_subcommand uninstall" -l server -d 'Take out this server alone; may be given several times' -r
complete -c codexgate -n "__fish_codexgate_using_subcommand uninstall" -l format -d 'How the result is written' -r -f -a "text\t'For people'
json\t'For programs'"
complete -c codexgate -n "__fish_codexgate_using_subcommand uninstall" -l on-collision -d 'What to do where a key is there with another value' -r -f -a "refuse\t'Write nothing at all'
skip\t'Leave those keys as they are, and say so'
replace\t'Put the wanted value in their place'"
complete -c codexgate -n "__fish_codexgate_using_subcommand uninstall" -l codex-home -d 'Codex\'s home, in place of `$CODEX_HOME` or `~/.codex`' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand uninstall" -l system-root -d 'Put DIR before the paths of the system\'s files, as when building an image' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand uninstall" -s C -d 'Work as if started in DIR' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand uninstall" -l color -d 'When to use colours' -r -f -a "auto\t'Where the stream is a terminal; `NO_COLOR` and `CLICOLOR_FORCE` are followed'
always\t'Always'
never\t'Never'"
complete -c codexgate -n "__fish_codexgate_using_subcommand uninstall" -l dry-run -d 'Show what would change, write nothing, exit 0'
complete -c codexgate -n "__fish_codexgate_using_subcommand uninstall" -l check -d 'Exit 1 if something would change, write nothing (to find drift in CI)'
complete -c codexgate -n "__fish_codexgate_using_subcommand uninstall" -l yes -d 'Write without asking; needed where there is no terminal'
complete -c codexgate -n "__fish_codexgate_using_subcommand uninstall" -s q -l quiet -d 'Say only what went wrong'
complete -c codexgate -n "__fish_codexgate_using_subcommand uninstall" -s v -l verbose -d 'Say what was looked at, and why'
complete -c codexgate -n "__fish_codexgate_using_subcommand uninstall" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c codexgate -n "__fish_codexgate_using_subcommand lint" -l scope -d 'Whose files are judged, beside those that are given' -r -f -a "project\t'The project\'s'
all\t'The user\'s and the system\'s, too, and what is in force when all are laid on each other'"
complete -c codexgate -n "__fish_codexgate_using_subcommand lint" -l format -d 'How findings are written' -r -f -a "text\t'For a person: each with its line and the way out'
json\t'For a program'
sarif\t'For code scanning: SARIF 2.1.0'
github\t'Annotations in a workflow of GitHub'
junit\t'For CI systems: JUnit\'s XML'"
complete -c codexgate -n "__fish_codexgate_using_subcommand lint" -l fail-on -d 'The mildest finding that makes the run fail' -r -f -a "error\t'Errors alone'
warning\t'Warnings and errors'
info\t'Every finding'"
complete -c codexgate -n "__fish_codexgate_using_subcommand lint" -l select -d 'Only these rules, in place of what the project selects' -r
complete -c codexgate -n "__fish_codexgate_using_subcommand lint" -l ignore -d 'Without these rules' -r
complete -c codexgate -n "__fish_codexgate_using_subcommand lint" -l stdin-filename -d 'Where the text of standard input would lie: its name and place say what it is' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand lint" -l baseline -d 'Leave out the findings of this file' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand lint" -l write-baseline -d 'Write the findings to this file, and succeed' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand lint" -l codex-version -d 'Judge for this version of Codex, in place of the newest known one' -r
complete -c codexgate -n "__fish_codexgate_using_subcommand lint" -l codex-home -d 'Codex\'s home, in place of `$CODEX_HOME` or `~/.codex`' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand lint" -l system-root -d 'Put DIR before the paths of the system\'s files, as when building an image' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand lint" -s C -d 'Work as if started in DIR' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand lint" -l color -d 'When to use colours' -r -f -a "auto\t'Where the stream is a terminal; `NO_COLOR` and `CLICOLOR_FORCE` are followed'
always\t'Always'
never\t'Never'"
complete -c codexgate -n "__fish_codexgate_using_subcommand lint" -l scripts -d 'Look into scripts that start Codex, too: workflows, shell scripts, Makefiles, `package.json`, Dockerfiles'
complete -c codexgate -n "__fish_codexgate_using_subcommand lint" -l no-ignore -d 'Show what the project silences or makes milder, too'
complete -c codexgate -n "__fish_codexgate_using_subcommand lint" -l fix -d 'Mend what has a safe fix: one that keeps the meaning of today, or the one plainly intended'
complete -c codexgate -n "__fish_codexgate_using_subcommand lint" -l unsafe-fixes -d 'Take fixes that may change what is meant, too'
complete -c codexgate -n "__fish_codexgate_using_subcommand lint" -l diff -d 'Show what the fixes would change, and write nothing'
complete -c codexgate -n "__fish_codexgate_using_subcommand lint" -s q -l quiet -d 'Say only what went wrong'
complete -c codexgate -n "__fish_codexgate_using_subcommand lint" -s v -l verbose -d 'Say what was looked at, and why'
complete -c codexgate -n "__fish_codexgate_using_subcommand lint" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c codexgate -n "__fish_codexgate_using_subcommand show" -l format -d 'How the answer is written' -r -f -a "text\t'For a person: each value with its file, line and column'
json\t'For a program'"
complete -c codexgate -n "__fish_codexgate_using_subcommand show" -l as -d 'Answer for this way into Codex' -r -f -a "app-server\t'Editors and other clients'
tui\t'The terminal interface'
exec\t'`codex exec`'"
complete -c codexgate -n "__fish_codexgate_using_subcommand show" -l codex-version -d 'Answer for this version of Codex, in place of the newest known one' -r
complete -c codexgate -n "__fish_codexgate_using_subcommand show" -s c -d 'A value over all files' -r
complete -c codexgate -n "__fish_codexgate_using_subcommand show" -l enable -d 'A feature switched on' -r
complete -c codexgate -n "__fish_codexgate_using_subcommand show" -l disable -d 'A feature switched off' -r
complete -c codexgate -n "__fish_codexgate_using_subcommand show" -s p -d 'A profile' -r
complete -c codexgate -n "__fish_codexgate_using_subcommand show" -s s -d 'A sandbox mode' -r
complete -c codexgate -n "__fish_codexgate_using_subcommand show" -s a -d 'An approval policy' -r
complete -c codexgate -n "__fish_codexgate_using_subcommand show" -l codex-home -d 'Codex\'s home, in place of `$CODEX_HOME` or `~/.codex`' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand show" -l system-root -d 'Put DIR before the paths of the system\'s files, as when building an image' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand show" -s C -d 'Work as if started in DIR' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand show" -l color -d 'When to use colours' -r -f -a "auto\t'Where the stream is a terminal; `NO_COLOR` and `CLICOLOR_FORCE` are followed'
always\t'Always'
never\t'Never'"
complete -c codexgate -n "__fish_codexgate_using_subcommand show" -l trusted -d 'Answer as if the user had trusted the folder'
complete -c codexgate -n "__fish_codexgate_using_subcommand show" -l untrusted -d 'Answer as if the user had marked the folder untrusted'
complete -c codexgate -n "__fish_codexgate_using_subcommand show" -l strict-config -d 'Unknown keys as errors'
complete -c codexgate -n "__fish_codexgate_using_subcommand show" -s q -l quiet -d 'Say only what went wrong'
complete -c codexgate -n "__fish_codexgate_using_subcommand show" -s v -l verbose -d 'Say what was looked at, and why'
complete -c codexgate -n "__fish_codexgate_using_subcommand show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c codexgate -n "__fish_codexgate_using_subcommand explain" -s C -d 'Work as if started in DIR' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand explain" -l color -d 'When to use colours' -r -f -a "auto\t'Where the stream is a terminal; `NO_COLOR` and `CLICOLOR_FORCE` are followed'
always\t'Always'
never\t'Never'"
complete -c codexgate -n "__fish_codexgate_using_subcommand explain" -s q -l quiet -d 'Say only what went wrong'
complete -c codexgate -n "__fish_codexgate_using_subcommand explain" -s v -l verbose -d 'Say what was looked at, and why'
complete -c codexgate -n "__fish_codexgate_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c codexgate -n "__fish_codexgate_using_subcommand rules" -l format -d 'How the list is written' -r -f -a "text\t'For people'
json\t'For programs'"
complete -c codexgate -n "__fish_codexgate_using_subcommand rules" -s C -d 'Work as if started in DIR' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand rules" -l color -d 'When to use colours' -r -f -a "auto\t'Where the stream is a terminal; `NO_COLOR` and `CLICOLOR_FORCE` are followed'
always\t'Always'
never\t'Never'"
complete -c codexgate -n "__fish_codexgate_using_subcommand rules" -s q -l quiet -d 'Say only what went wrong'
complete -c codexgate -n "__fish_codexgate_using_subcommand rules" -s v -l verbose -d 'Say what was looked at, and why'
complete -c codexgate -n "__fish_codexgate_using_subcommand rules" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c codexgate -n "__fish_codexgate_using_subcommand mcp" -s C -d 'Work as if started in DIR' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand mcp" -l color -d 'When to use colours' -r -f -a "auto\t'Where the stream is a terminal; `NO_COLOR` and `CLICOLOR_FORCE` are followed'
always\t'Always'
never\t'Never'"
complete -c codexgate -n "__fish_codexgate_using_subcommand mcp" -s q -l quiet -d 'Say only what went wrong'
complete -c codexgate -n "__fish_codexgate_using_subcommand mcp" -s v -l verbose -d 'Say what was looked at, and why'
complete -c codexgate -n "__fish_codexgate_using_subcommand mcp" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c codexgate -n "__fish_codexgate_using_subcommand broker" -l codex -d 'Codex\'s name or path' -r
complete -c codexgate -n "__fish_codexgate_using_subcommand broker" -l max-sandbox -d 'The most open sandbox that a caller may have' -r -f -a "read-only\t''
workspace-write\t''
danger-full-access\t''"
complete -c codexgate -n "__fish_codexgate_using_subcommand broker" -l approvals -d 'Who may accept: `client` takes it from a tool call, `human` only from a person' -r -f -a "client\t''
human\t''"
complete -c codexgate -n "__fish_codexgate_using_subcommand broker" -l allow-config -d 'Let callers set this key of config.toml, and what stands below it' -r
complete -c codexgate -n "__fish_codexgate_using_subcommand broker" -l allow-profile -d 'Let callers choose this profile, whatever it sets' -r
complete -c codexgate -n "__fish_codexgate_using_subcommand broker" -s C -d 'Work as if started in DIR' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand broker" -l color -d 'When to use colours' -r -f -a "auto\t'Where the stream is a terminal; `NO_COLOR` and `CLICOLOR_FORCE` are followed'
always\t'Always'
never\t'Never'"
complete -c codexgate -n "__fish_codexgate_using_subcommand broker" -l allow-amendments -d 'Take a rule for good (an amendment, an allowed host) from a tool call'
complete -c codexgate -n "__fish_codexgate_using_subcommand broker" -l no-elicit -d 'Never ask through the client\'s own forms'
complete -c codexgate -n "__fish_codexgate_using_subcommand broker" -s q -l quiet -d 'Say only what went wrong'
complete -c codexgate -n "__fish_codexgate_using_subcommand broker" -s v -l verbose -d 'Say what was looked at, and why'
complete -c codexgate -n "__fish_codexgate_using_subcommand broker" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c codexgate -n "__fish_codexgate_using_subcommand apply" -l confirm -d 'Run what was approved under this token' -r
complete -c codexgate -n "__fish_codexgate_using_subcommand apply" -l reason -d 'Why, in a few words for the person' -r
complete -c codexgate -n "__fish_codexgate_using_subcommand apply" -l input -d 'A file or folder that the program reads; its content becomes part of what is approved' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand apply" -l env -d 'Give the program this variable, too' -r
complete -c codexgate -n "__fish_codexgate_using_subcommand apply" -l stdin -d 'The program\'s standard input: a file of the project (`-`: this command\'s own, for people)' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand apply" -l timeout -d 'How long the program may run' -r
complete -c codexgate -n "__fish_codexgate_using_subcommand apply" -l expires -d 'How long the proposal waits, at most 24h' -r
complete -c codexgate -n "__fish_codexgate_using_subcommand apply" -l patch -d 'Change files as this unified diff says' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand apply" -l write -d 'Write this file' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand apply" -l content -d 'With the content of this file of the project' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand apply" -l format -d 'How the result is written' -r -f -a "text\t'For people'
json\t'For programs'"
complete -c codexgate -n "__fish_codexgate_using_subcommand apply" -s C -d 'Work as if started in DIR' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand apply" -l color -d 'When to use colours' -r -f -a "auto\t'Where the stream is a terminal; `NO_COLOR` and `CLICOLOR_FORCE` are followed'
always\t'Always'
never\t'Never'"
complete -c codexgate -n "__fish_codexgate_using_subcommand apply" -s q -l quiet -d 'Say only what went wrong'
complete -c codexgate -n "__fish_codexgate_using_subcommand apply" -s v -l verbose -d 'Say what was looked at, and why'
complete -c codexgate -n "__fish_codexgate_using_subcommand apply" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c codexgate -n "__fish_codexgate_using_subcommand approve" -s C -d 'Work as if started in DIR' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand approve" -l color -d 'When to use colours' -r -f -a "auto\t'Where the stream is a terminal; `NO_COLOR` and `CLICOLOR_FORCE` are followed'
always\t'Always'
never\t'Never'"
complete -c codexgate -n "__fish_codexgate_using_subcommand approve" -l card -d 'Only print the card'
complete -c codexgate -n "__fish_codexgate_using_subcommand approve" -s q -l quiet -d 'Say only what went wrong'
complete -c codexgate -n "__fish_codexgate_using_subcommand approve" -s v -l verbose -d 'Say what was looked at, and why'
complete -c codexgate -n "__fish_codexgate_using_subcommand approve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c codexgate -n "__fish_codexgate_using_subcommand reject" -l reason -d 'Why, for the journal' -r
complete -c codexgate -n "__fish_codexgate_using_subcommand reject" -s C -d 'Work as if started in DIR' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand reject" -l color -d 'When to use colours' -r -f -a "auto\t'Where the stream is a terminal; `NO_COLOR` and `CLICOLOR_FORCE` are followed'
always\t'Always'
never\t'Never'"
complete -c codexgate -n "__fish_codexgate_using_subcommand reject" -s q -l quiet -d 'Say only what went wrong'
complete -c codexgate -n "__fish_codexgate_using_subcommand reject" -s v -l verbose -d 'Say what was looked at, and why'
complete -c codexgate -n "__fish_codexgate_using_subcommand reject" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c codexgate -n "__fish_codexgate_using_subcommand pending" -l format -d 'How the list is written' -r -f -a "text\t'For people'
json\t'For programs'"
complete -c codexgate -n "__fish_codexgate_using_subcommand pending" -s C -d 'Work as if started in DIR' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand pending" -l color -d 'When to use colours' -r -f -a "auto\t'Where the stream is a terminal; `NO_COLOR` and `CLICOLOR_FORCE` are followed'
always\t'Always'
never\t'Never'"
complete -c codexgate -n "__fish_codexgate_using_subcommand pending" -s q -l quiet -d 'Say only what went wrong'
complete -c codexgate -n "__fish_codexgate_using_subcommand pending" -s v -l verbose -d 'Say what was looked at, and why'
complete -c codexgate -n "__fish_codexgate_using_subcommand pending" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and not __fish_seen_subcommand_from list show export restore prune verify" -s C -d 'Work as if started in DIR' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and not __fish_seen_subcommand_from list show export restore prune verify" -l color -d 'When to use colours' -r -f -a "auto\t'Where the stream is a terminal; `NO_COLOR` and `CLICOLOR_FORCE` are followed'
always\t'Always'
never\t'Never'"
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and not __fish_seen_subcommand_from list show export restore prune verify" -s q -l quiet -d 'Say only what went wrong'
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and not __fish_seen_subcommand_from list show export restore prune verify" -s v -l verbose -d 'Say what was looked at, and why'
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and not __fish_seen_subcommand_from list show export restore prune verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and not __fish_seen_subcommand_from list show export restore prune verify" -f -a "list" -d 'One line for each record'
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and not __fish_seen_subcommand_from list show export restore prune verify" -f -a "show" -d 'Everything about one proposal, with the changes of files'
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and not __fish_seen_subcommand_from list show export restore prune verify" -f -a "export" -d 'All records as JSON'
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and not __fish_seen_subcommand_from list show export restore prune verify" -f -a "restore" -d 'Bring back files that a run wrote, where nobody changed them since'
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and not __fish_seen_subcommand_from list show export restore prune verify" -f -a "prune" -d 'Remove old records; the chain stays whole'
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and not __fish_seen_subcommand_from list show export restore prune verify" -f -a "verify" -d 'Check that every record is what was written'
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and __fish_seen_subcommand_from list" -s C -d 'Work as if started in DIR' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and __fish_seen_subcommand_from list" -l color -d 'When to use colours' -r -f -a "auto\t'Where the stream is a terminal; `NO_COLOR` and `CLICOLOR_FORCE` are followed'
always\t'Always'
never\t'Never'"
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Say only what went wrong'
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Say what was looked at, and why'
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and __fish_seen_subcommand_from show" -s C -d 'Work as if started in DIR' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and __fish_seen_subcommand_from show" -l color -d 'When to use colours' -r -f -a "auto\t'Where the stream is a terminal; `NO_COLOR` and `CLICOLOR_FORCE` are followed'
always\t'Always'
never\t'Never'"
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and __fish_seen_subcommand_from show" -s q -l quiet -d 'Say only what went wrong'
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Say what was looked at, and why'
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and __fish_seen_subcommand_from export" -s C -d 'Work as if started in DIR' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and __fish_seen_subcommand_from export" -l color -d 'When to use colours' -r -f -a "auto\t'Where the stream is a terminal; `NO_COLOR` and `CLICOLOR_FORCE` are followed'
always\t'Always'
never\t'Never'"
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and __fish_seen_subcommand_from export" -s q -l quiet -d 'Say only what went wrong'
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and __fish_seen_subcommand_from export" -s v -l verbose -d 'Say what was looked at, and why'
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and __fish_seen_subcommand_from export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and __fish_seen_subcommand_from restore" -s C -d 'Work as if started in DIR' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and __fish_seen_subcommand_from restore" -l color -d 'When to use colours' -r -f -a "auto\t'Where the stream is a terminal; `NO_COLOR` and `CLICOLOR_FORCE` are followed'
always\t'Always'
never\t'Never'"
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and __fish_seen_subcommand_from restore" -s q -l quiet -d 'Say only what went wrong'
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and __fish_seen_subcommand_from restore" -s v -l verbose -d 'Say what was looked at, and why'
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and __fish_seen_subcommand_from restore" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and __fish_seen_subcommand_from prune" -l older-than -d 'Records older than this go' -r
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and __fish_seen_subcommand_from prune" -s C -d 'Work as if started in DIR' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and __fish_seen_subcommand_from prune" -l color -d 'When to use colours' -r -f -a "auto\t'Where the stream is a terminal; `NO_COLOR` and `CLICOLOR_FORCE` are followed'
always\t'Always'
never\t'Never'"
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and __fish_seen_subcommand_from prune" -s q -l quiet -d 'Say only what went wrong'
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and __fish_seen_subcommand_from prune" -s v -l verbose -d 'Say what was looked at, and why'
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and __fish_seen_subcommand_from prune" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and __fish_seen_subcommand_from verify" -s C -d 'Work as if started in DIR' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and __fish_seen_subcommand_from verify" -l color -d 'When to use colours' -r -f -a "auto\t'Where the stream is a terminal; `NO_COLOR` and `CLICOLOR_FORCE` are followed'
always\t'Always'
never\t'Never'"
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and __fish_seen_subcommand_from verify" -s q -l quiet -d 'Say only what went wrong'
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and __fish_seen_subcommand_from verify" -s v -l verbose -d 'Say what was looked at, and why'
complete -c codexgate -n "__fish_codexgate_using_subcommand journal; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c codexgate -n "__fish_codexgate_using_subcommand hook; and not __fish_seen_subcommand_from session-start pre-tool-use" -s C -d 'Work as if started in DIR' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand hook; and not __fish_seen_subcommand_from session-start pre-tool-use" -l color -d 'When to use colours' -r -f -a "auto\t'Where the stream is a terminal; `NO_COLOR` and `CLICOLOR_FORCE` are followed'
always\t'Always'
never\t'Never'"
complete -c codexgate -n "__fish_codexgate_using_subcommand hook; and not __fish_seen_subcommand_from session-start pre-tool-use" -s q -l quiet -d 'Say only what went wrong'
complete -c codexgate -n "__fish_codexgate_using_subcommand hook; and not __fish_seen_subcommand_from session-start pre-tool-use" -s v -l verbose -d 'Say what was looked at, and why'
complete -c codexgate -n "__fish_codexgate_using_subcommand hook; and not __fish_seen_subcommand_from session-start pre-tool-use" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c codexgate -n "__fish_codexgate_using_subcommand hook; and not __fish_seen_subcommand_from session-start pre-tool-use" -f -a "session-start" -d 'Tell the agent how the gate works here, and whether it holds'
complete -c codexgate -n "__fish_codexgate_using_subcommand hook; and not __fish_seen_subcommand_from session-start pre-tool-use" -f -a "pre-tool-use" -d 'Deny a shell command that a `confirm` or `deny` line of the policy files matches'
complete -c codexgate -n "__fish_codexgate_using_subcommand hook; and __fish_seen_subcommand_from session-start" -s C -d 'Work as if started in DIR' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand hook; and __fish_seen_subcommand_from session-start" -l color -d 'When to use colours' -r -f -a "auto\t'Where the stream is a terminal; `NO_COLOR` and `CLICOLOR_FORCE` are followed'
always\t'Always'
never\t'Never'"
complete -c codexgate -n "__fish_codexgate_using_subcommand hook; and __fish_seen_subcommand_from session-start" -s q -l quiet -d 'Say only what went wrong'
complete -c codexgate -n "__fish_codexgate_using_subcommand hook; and __fish_seen_subcommand_from session-start" -s v -l verbose -d 'Say what was looked at, and why'
complete -c codexgate -n "__fish_codexgate_using_subcommand hook; and __fish_seen_subcommand_from session-start" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c codexgate -n "__fish_codexgate_using_subcommand hook; and __fish_seen_subcommand_from pre-tool-use" -s C -d 'Work as if started in DIR' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand hook; and __fish_seen_subcommand_from pre-tool-use" -l color -d 'When to use colours' -r -f -a "auto\t'Where the stream is a terminal; `NO_COLOR` and `CLICOLOR_FORCE` are followed'
always\t'Always'
never\t'Never'"
complete -c codexgate -n "__fish_codexgate_using_subcommand hook; and __fish_seen_subcommand_from pre-tool-use" -s q -l quiet -d 'Say only what went wrong'
complete -c codexgate -n "__fish_codexgate_using_subcommand hook; and __fish_seen_subcommand_from pre-tool-use" -s v -l verbose -d 'Say what was looked at, and why'
complete -c codexgate -n "__fish_codexgate_using_subcommand hook; and __fish_seen_subcommand_from pre-tool-use" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c codexgate -n "__fish_codexgate_using_subcommand schema" -s C -d 'Work as if started in DIR' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand schema" -l color -d 'When to use colours' -r -f -a "auto\t'Where the stream is a terminal; `NO_COLOR` and `CLICOLOR_FORCE` are followed'
always\t'Always'
never\t'Never'"
complete -c codexgate -n "__fish_codexgate_using_subcommand schema" -s q -l quiet -d 'Say only what went wrong'
complete -c codexgate -n "__fish_codexgate_using_subcommand schema" -s v -l verbose -d 'Say what was looked at, and why'
complete -c codexgate -n "__fish_codexgate_using_subcommand schema" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c codexgate -n "__fish_codexgate_using_subcommand completions" -s C -d 'Work as if started in DIR' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand completions" -l color -d 'When to use colours' -r -f -a "auto\t'Where the stream is a terminal; `NO_COLOR` and `CLICOLOR_FORCE` are followed'
always\t'Always'
never\t'Never'"
complete -c codexgate -n "__fish_codexgate_using_subcommand completions" -s q -l quiet -d 'Say only what went wrong'
complete -c codexgate -n "__fish_codexgate_using_subcommand completions" -s v -l verbose -d 'Say what was looked at, and why'
complete -c codexgate -n "__fish_codexgate_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
