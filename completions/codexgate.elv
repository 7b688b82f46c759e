
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
            cand completions 'Print the completions of a shell'
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
