
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
            cand lint 'Find what opens the gate, or does not do what its author thinks'
            cand completions 'Print the completions of a shell'
        }
        &'codexgate;lint'= {
            cand --format 'How findings are written'
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
