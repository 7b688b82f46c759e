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
complete -c codexgate -n "__fish_codexgate_needs_command" -f -a "lint" -d 'Find what opens the gate, or does not do what its author thinks'
complete -c codexgate -n "__fish_codexgate_needs_command" -f -a "completions" -d 'Print the completions of a shell'
complete -c codexgate -n "__fish_codexgate_using_subcommand lint" -l format -d 'How findings are written' -r -f -a "text\t'For a person: each with its line and the way out'
json\t'For a program'"
complete -c codexgate -n "__fish_codexgate_using_subcommand lint" -l codex-home -d 'Codex\'s home, in place of `$CODEX_HOME` or `~/.codex`' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand lint" -l system-root -d 'Put DIR before the paths of the system\'s files, as when building an image' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand lint" -s C -d 'Work as if started in DIR' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand lint" -l color -d 'When to use colours' -r -f -a "auto\t'Where the stream is a terminal; `NO_COLOR` and `CLICOLOR_FORCE` are followed'
always\t'Always'
never\t'Never'"
complete -c codexgate -n "__fish_codexgate_using_subcommand lint" -s q -l quiet -d 'Say only what went wrong'
complete -c codexgate -n "__fish_codexgate_using_subcommand lint" -s v -l verbose -d 'Say what was looked at, and why'
complete -c codexgate -n "__fish_codexgate_using_subcommand lint" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c codexgate -n "__fish_codexgate_using_subcommand completions" -s C -d 'Work as if started in DIR' -r -F
complete -c codexgate -n "__fish_codexgate_using_subcommand completions" -l color -d 'When to use colours' -r -f -a "auto\t'Where the stream is a terminal; `NO_COLOR` and `CLICOLOR_FORCE` are followed'
always\t'Always'
never\t'Never'"
complete -c codexgate -n "__fish_codexgate_using_subcommand completions" -s q -l quiet -d 'Say only what went wrong'
complete -c codexgate -n "__fish_codexgate_using_subcommand completions" -s v -l verbose -d 'Say what was looked at, and why'
complete -c codexgate -n "__fish_codexgate_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
