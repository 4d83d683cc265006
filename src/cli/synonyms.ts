// Commands as other programs call them, and nouns before and after their verbs: read as the commands that are meant.
import { commandHint } from '../client/command-hint.ts'
import { SvcError } from '../errors.ts'

/** Groups by their plurals, which list where nothing follows. */
const plurals: Record<string, string> = {
  tasks: 'task',
  agents: 'agent',
  providers: 'provider',
  tools: 'tool',
  skills: 'skill',
  configmaps: 'configmap',
  secrets: 'secret',
  workspaces: 'workspace',
  sessions: 'session',
  memories: 'memory',
  proposals: 'proposal',
  monitors: 'monitor',
  scans: 'scan',
  tokens: 'token',
  budgets: 'budget',
}

const lines: Record<string, readonly string[]> = {
  version: ['--version'],
  ps: ['task', 'list'],
  ls: ['get', 'all'],
  start: ['up'],
  webhooks: ['webhook', 'deliveries'],
  ...Object.fromEntries(
    ['logs', 'events', 'result', 'cancel', 'retry', 'wait', 'diff', 'tree'].map((verb) => [verb, ['task', verb]]),
  ),
}

/** Verbs that stand behind their nouns here, as in `create agent x`. */
const verbs = ['create', 'update', 'edit', 'list']

/** What could be meant by a word that stands for no single command. */
const choices: Record<string, () => string> = {
  stop: () => `\`${commandHint('down')}\` stops the service, \`${commandHint('task cancel NAME')}\` a task`,
  init: () => `there is nothing to set up: \`${commandHint('run "say hello"')}\` starts a service and runs a task`,
}

const isOption = (word: string | undefined) => word === undefined || word.startsWith('-')

/** The line with the command that is meant; `at`: index of its first word that is no option. InvalidRequest where several could be. */
export function readSynonyms(argv: readonly string[], at: number): string[] {
  const before = argv.slice(0, at)
  const [word = '', ...rest] = argv.slice(at)
  const choice = choices[word]
  if (choice !== undefined) throw new SvcError('InvalidRequest', `there is no command \`${word}\`: ${choice()}`)
  const group = plurals[word]
  if (group !== undefined) return [...before, group, ...(isOption(rest[0]) ? ['list'] : []), ...rest]
  const [noun, ...others] = rest
  if (verbs.includes(word) && !isOption(noun)) {
    return [...before, plurals[noun ?? ''] ?? noun ?? '', word, ...others]
  }
  const line = lines[word]
  return line === undefined ? [...argv] : [...before, ...line, ...rest]
}
