// completion: scripts that complete commands, options and names in bash, zsh and fish.
import type { Command } from 'commander'
import { commandHint } from '../../../client/command-hint.ts'
import { SvcError } from '../../../errors.ts'
import type { CliContext } from '../../context.ts'

export function addCompletionCommand(program: Command, context: CliContext): void {
  program
    .command('completion <shell>')
    .description('print a completion script for bash, zsh or fish')
    .addHelpText(
      'after',
      `\nbash: source <(${commandHint('completion bash')})\nzsh:  source <(${commandHint('completion zsh')})\nfish: ${commandHint('completion fish')} | source`,
    )
    .action((shell: string) => context.terminal.print(findScript(shell)))
}

// Each passes the words up to the cursor to `svc __complete`, which prints one candidate per line; none means files.
const scripts: Record<string, string> = {
  bash: `_svc() {
  local IFS=$'\\n'
  COMPREPLY=($("\${COMP_WORDS[0]}" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _svc svc`,
  zsh: `#compdef svc
_svc() {
  local -a candidates
  candidates=("\${(@f)$("\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  candidates=(\${candidates:#})
  if (( \${#candidates} )); then compadd -a candidates; else _files; fi
}
compdef _svc svc`,
  fish: `function __svc_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found ($words[1] __complete $words[2..-1] 2>/dev/null)
  if test (count $found) -gt 0
    string join \\n $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c svc -f -a '(__svc_complete)'`,
}

function findScript(shell: string): string {
  const script = scripts[shell]
  if (script !== undefined) return script
  throw new SvcError(
    'InvalidRequest',
    `there is no completion for \`${shell}\`; use one of ${Object.keys(scripts).join(', ')}`,
  )
}
