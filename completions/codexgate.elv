
use builtin;
use str;

set edit:completion:arg-completer[codexgate] = {|@words|
    fn spaces {|n|
        builtin:repeat $n ' ' | str:join ''
    }
    fn cand {|text desc|
        edit:complex-candidate $text &display=$text' '(spaces (- 14 (wcswidth $text)))$desc
    }
    var command = 'codexgate'
    for word $words[1..-1] {
        if (str:has-prefix $word '-') {
            break
        }
        set command = $command';'$word
    }
    var completions = [
        &'codexgate'= {
            cand -C 'Work as if started in DIR'
            cand --color 'When to use colours'
            cand -q 'Say only what went wrong'
            cand --quiet 'Say only what went wrong'
            cand -v 'Say what was looked at, and why'
            cand --verbose 'Say what was looked at, and why'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand install 'Put the gate, or MCP servers, into Codex''s files'
            cand uninstall 'Take out what `install` put in'
            cand lint 'Find what opens the gate, or does not do what its author thinks'
            cand mcp 'Ask the person inside Codex, as the MCP server that Codex starts'
            cand apply 'Propose a command or a change of files, or run what a person approved'
            cand approve 'Show a proposal and, if you say so, let it run once'
            cand reject 'Remove a proposal, so that nobody can approve or run it'
            cand pending 'List the proposals that wait'
            cand journal 'Read, check and tidy the record of what was proposed, decided and run'
            cand show 'Show what is in force in a folder, and which line decided it'
            cand explain 'Explain a rule of `lint`'
            cand rules 'List the rules of `lint`'
            cand completions 'Print the completions of a shell'
        }
        &'codexgate;install'= {
            cand --scope 'Whose files to change; may be given several times [default: project]'
            cand --from 'Merge the servers of FILE: TOML with `[mcp_servers.*]`, or the JSON of other clients'
            cand --server 'Merge a server of this name; give `--url`, or a command after `--`'
            cand --url 'The server''s address (streamable HTTP)'
            cand --env-var 'Hand this variable of Codex''s environment to the server'
            cand --bearer-token-env-var 'Take the server''s bearer token from this variable'
            cand --format 'How the result is written'
            cand --on-collision 'What to do where a key is there with another value'
            cand --codex-home 'Codex''s home, in place of `$CODEX_HOME` or `~/.codex`'
            cand --system-root 'Put DIR before the paths of the system''s files, as when building an image'
            cand -C 'Work as if started in DIR'
            cand --color 'When to use colours'
            cand --gate 'Install the gate as well as the servers'
            cand --no-approver 'Leave out the approver, and with it what lets servers ask'
            cand --no-pin 'Leave out the pin'
            cand --trust 'Say in Codex''s home that the project is trusted, so that its files are in force'
            cand --dry-run 'Show what would change, write nothing, exit 0'
            cand --check 'Exit 1 if something would change, write nothing (to find drift in CI)'
            cand --yes 'Write without asking; needed where there is no terminal'
            cand -q 'Say only what went wrong'
            cand --quiet 'Say only what went wrong'
            cand -v 'Say what was looked at, and why'
            cand --verbose 'Say what was looked at, and why'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'codexgate;uninstall'= {
            cand --scope 'Whose files to change; may be given several times [default: project]'
            cand --server 'Take out this server alone; may be given several times'
            cand --format 'How the result is written'
            cand --on-collision 'What to do where a key is there with another value'
            cand --codex-home 'Codex''s home, in place of `$CODEX_HOME` or `~/.codex`'
            cand --system-root 'Put DIR before the paths of the system''s files, as when building an image'
            cand -C 'Work as if started in DIR'
            cand --color 'When to use colours'
            cand --dry-run 'Show what would change, write nothing, exit 0'
            cand --check 'Exit 1 if something would change, write nothing (to find drift in CI)'
            cand --yes 'Write without asking; needed where there is no terminal'
            cand -q 'Say only what went wrong'
            cand --quiet 'Say only what went wrong'
            cand -v 'Say what was looked at, and why'
            cand --verbose 'Say what was looked at, and why'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'codexgate;lint'= {
            cand --format 'How findings are written'
            cand --codex-version 'Judge for this version of Codex, in place of the newest known one'
            cand --codex-home 'Codex''s home, in place of `$CODEX_HOME` or `~/.codex`'
            cand --system-root 'Put DIR before the paths of the system''s files, as when building an image'
            cand -C 'Work as if started in DIR'
            cand --color 'When to use colours'
            cand -q 'Say only what went wrong'
            cand --quiet 'Say only what went wrong'
            cand -v 'Say what was looked at, and why'
            cand --verbose 'Say what was looked at, and why'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'codexgate;mcp'= {
            cand -C 'Work as if started in DIR'
            cand --color 'When to use colours'
            cand -q 'Say only what went wrong'
            cand --quiet 'Say only what went wrong'
            cand -v 'Say what was looked at, and why'
            cand --verbose 'Say what was looked at, and why'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'codexgate;apply'= {
            cand --confirm 'Run what was approved under this token'
            cand --reason 'Why, in a few words for the person'
            cand --input 'A file or folder that the program reads; its content becomes part of what is approved'
            cand --env 'Give the program this variable, too'
            cand --stdin 'The program''s standard input: a file of the project (`-`: this command''s own, for people)'
            cand --timeout 'How long the program may run'
            cand --expires 'How long the proposal waits, at most 24h'
            cand --patch 'Change files as this unified diff says'
            cand --write 'Write this file'
            cand --content 'With the content of this file of the project'
            cand --format 'How the result is written'
            cand -C 'Work as if started in DIR'
            cand --color 'When to use colours'
            cand -q 'Say only what went wrong'
            cand --quiet 'Say only what went wrong'
            cand -v 'Say what was looked at, and why'
            cand --verbose 'Say what was looked at, and why'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'codexgate;approve'= {
            cand -C 'Work as if started in DIR'
            cand --color 'When to use colours'
            cand --card 'Only print the card'
            cand -q 'Say only what went wrong'
            cand --quiet 'Say only what went wrong'
            cand -v 'Say what was looked at, and why'
            cand --verbose 'Say what was looked at, and why'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'codexgate;reject'= {
            cand --reason 'Why, for the journal'
            cand -C 'Work as if started in DIR'
            cand --color 'When to use colours'
            cand -q 'Say only what went wrong'
            cand --quiet 'Say only what went wrong'
            cand -v 'Say what was looked at, and why'
            cand --verbose 'Say what was looked at, and why'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'codexgate;pending'= {
            cand --format 'How the list is written'
            cand -C 'Work as if started in DIR'
            cand --color 'When to use colours'
            cand -q 'Say only what went wrong'
            cand --quiet 'Say only what went wrong'
            cand -v 'Say what was looked at, and why'
            cand --verbose 'Say what was looked at, and why'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'codexgate;journal'= {
            cand -C 'Work as if started in DIR'
            cand --color 'When to use colours'
            cand -q 'Say only what went wrong'
            cand --quiet 'Say only what went wrong'
            cand -v 'Say what was looked at, and why'
            cand --verbose 'Say what was looked at, and why'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand list 'One line for each record'
            cand show 'Everything about one proposal, with the changes of files'
            cand export 'All records as JSON'
            cand restore 'Bring back files that a run wrote, where nobody changed them since'
            cand prune 'Remove old records; the chain stays whole'
            cand verify 'Check that every record is what was written'
        }
        &'codexgate;journal;list'= {
            cand -C 'Work as if started in DIR'
            cand --color 'When to use colours'
            cand -q 'Say only what went wrong'
            cand --quiet 'Say only what went wrong'
            cand -v 'Say what was looked at, and why'
            cand --verbose 'Say what was looked at, and why'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'codexgate;journal;show'= {
            cand -C 'Work as if started in DIR'
            cand --color 'When to use colours'
            cand -q 'Say only what went wrong'
            cand --quiet 'Say only what went wrong'
            cand -v 'Say what was looked at, and why'
            cand --verbose 'Say what was looked at, and why'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'codexgate;journal;export'= {
            cand -C 'Work as if started in DIR'
            cand --color 'When to use colours'
            cand -q 'Say only what went wrong'
            cand --quiet 'Say only what went wrong'
            cand -v 'Say what was looked at, and why'
            cand --verbose 'Say what was looked at, and why'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'codexgate;journal;restore'= {
            cand -C 'Work as if started in DIR'
            cand --color 'When to use colours'
            cand -q 'Say only what went wrong'
            cand --quiet 'Say only what went wrong'
            cand -v 'Say what was looked at, and why'
            cand --verbose 'Say what was looked at, and why'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'codexgate;journal;prune'= {
            cand --older-than 'Records older than this go'
            cand -C 'Work as if started in DIR'
            cand --color 'When to use colours'
            cand -q 'Say only what went wrong'
            cand --quiet 'Say only what went wrong'
            cand -v 'Say what was looked at, and why'
            cand --verbose 'Say what was looked at, and why'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'codexgate;journal;verify'= {
            cand -C 'Work as if started in DIR'
            cand --color 'When to use colours'
            cand -q 'Say only what went wrong'
            cand --quiet 'Say only what went wrong'
            cand -v 'Say what was looked at, and why'
            cand --verbose 'Say what was looked at, and why'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'codexgate;show'= {
            cand --format 'How the answer is written'
            cand --as 'Answer for this way into Codex'
            cand --codex-version 'Answer for this version of Codex, in place of the newest known one'
            cand -c 'A value over all files'
            cand --enable 'A feature switched on'
            cand --disable 'A feature switched off'
            cand -p 'A profile'
            cand -s 'A sandbox mode'
            cand -a 'An approval policy'
            cand --codex-home 'Codex''s home, in place of `$CODEX_HOME` or `~/.codex`'
            cand --system-root 'Put DIR before the paths of the system''s files, as when building an image'
            cand -C 'Work as if started in DIR'
            cand --color 'When to use colours'
            cand --trusted 'Answer as if the user had trusted the folder'
            cand --untrusted 'Answer as if the user had marked the folder untrusted'
            cand --strict-config 'Unknown keys as errors'
            cand -q 'Say only what went wrong'
            cand --quiet 'Say only what went wrong'
            cand -v 'Say what was looked at, and why'
            cand --verbose 'Say what was looked at, and why'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'codexgate;explain'= {
            cand -C 'Work as if started in DIR'
            cand --color 'When to use colours'
            cand -q 'Say only what went wrong'
            cand --quiet 'Say only what went wrong'
            cand -v 'Say what was looked at, and why'
            cand --verbose 'Say what was looked at, and why'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'codexgate;rules'= {
            cand --format 'How the list is written'
            cand -C 'Work as if started in DIR'
            cand --color 'When to use colours'
            cand -q 'Say only what went wrong'
            cand --quiet 'Say only what went wrong'
            cand -v 'Say what was looked at, and why'
            cand --verbose 'Say what was looked at, and why'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'codexgate;completions'= {
            cand -C 'Work as if started in DIR'
            cand --color 'When to use colours'
            cand -q 'Say only what went wrong'
            cand --quiet 'Say only what went wrong'
            cand -v 'Say what was looked at, and why'
            cand --verbose 'Say what was looked at, and why'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
    ]
    $completions[$command]
}
