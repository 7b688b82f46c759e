
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
            [CompletionResult]::new('lint', 'lint', [CompletionResultType]::ParameterValue, 'Find what opens the gate, or does not do what its author thinks')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completions of a shell')
            break
        }
        'codexgate;lint' {
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How findings are written')
            [CompletionResult]::new('--codex-home', '--codex-home', [CompletionResultType]::ParameterName, 'Codex''s home, in place of `$CODEX_HOME` or `~/.codex`')
            [CompletionResult]::new('--system-root', '--system-root', [CompletionResultType]::ParameterName, 'Put DIR before the paths of the system''s files, as when building an image')
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
