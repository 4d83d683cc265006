// completion: scripts that complete commands and options in bash, zsh and fish.
import type { Command } from 'commander'
import { SvcError } from '../../errors.ts'
import type { CliContext } from '../context.ts'

export function addCompletionCommand(program: Command, context: CliContext): void {
  program
    .command('completion <shell>')
    .description('print a completion script for bash, zsh or fish')
    .addHelpText(
      'after',
      '\nbash: source <(svc completion bash)\nzsh:  source <(svc completion zsh)\nfish: svc completion fish | source',
    )
    .action((shell: string) => context.terminal.print(buildScript(shell, collectWords(program))))
}

type Words = { path: string; words: string[] }

/** For each command path, what may follow it. */
function collectWords(command: Command, path: string[] = []): Words[] {
  const options = command.options.map((option) => option.long ?? option.short ?? '')
  const words = [...command.commands.map((child) => child.name()), ...options]
  const here = { path: path.join(' '), words }
  return [here, ...command.commands.flatMap((child) => collectWords(child, [...path, child.name()]))]
}

function buildScript(shell: string, all: Words[]): string {
  if (shell === 'bash') return buildBash(all)
  if (shell === 'zsh') return `autoload -U +X bashcompinit && bashcompinit\n${buildBash(all)}`
  if (shell === 'fish') return buildFish(all)
  throw new SvcError('InvalidRequest', `there is no completion for \`${shell}\`; take bash, zsh or fish`)
}

function buildBash(all: Words[]): string {
  const cases = all.map(({ path, words }) => `    "${path}") words="${words.join(' ')}" ;;`).join('\n')
  return `_svc() {
  local path="" word words
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) path="\${path:+$path }$word" ;; esac
  done
  case "$path" in
${cases}
    *) words="" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _svc svc`
}

function buildFish(all: Words[]): string {
  const lines = all.flatMap(({ path, words }) => {
    const seen = path === '' ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${path.split(' ').at(-1)}`
    return words.filter((word) => !word.startsWith('-')).map((word) => `complete -c svc -n '${seen}' -f -a '${word}'`)
  })
  return lines.join('\n')
}
