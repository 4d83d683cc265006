// What a command line may say of a task, its budget included: of one that is made, and of one that has not started.
import { tryParseDuration } from '../../contract/values/duration.ts'
import { SvcError } from '../../errors.ts'
import { readOne, readSchema, type SpecOption } from './spec-options.ts'

const factors: Record<string, number> = { '': 1, k: 1000, m: 1_000_000, g: 1_000_000_000 }

/** A number of tokens such as `500k` or `2M`; undefined for any other text. */
export function tryReadTokens(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d+(?:\.\d+)?)([kmg]?)$/i.exec(text) ?? []
  return count === undefined ? undefined : Math.round(Number(count) * (factors[unit.toLowerCase()] ?? 1))
}

// A duration has its unit in small letters; `5M` are tokens, `5m` are minutes.
function readLimit(text: string): object {
  if (/[smh]$/.test(text) && tryParseDuration(text) !== undefined) return { maxDuration: text }
  const tokens = tryReadTokens(text)
  if (tokens !== undefined) return { maxTokens: tokens }
  const [, amount, currency] = /^(\d+(?:\.\d+)?) ?([A-Z]{3})$/.exec(text) ?? []
  if (amount !== undefined) return { maxCost: Number(amount), currency }
  throw new SvcError(
    'InvalidRequest',
    `--budget ${text}: must be tokens (500k, 2M), money (5USD, 0.5EUR) or time (90m, 24h)`,
  )
}

/** The budget of several limits, the last of each sort. */
export function readBudget(limits: string | string[]): object {
  return Object.assign({}, ...[limits].flat().map(readLimit)) as object
}

/** Of tasks with a prompt; `svc run` takes these. */
export const promptTaskOptions: readonly SpecOption[] = [
  {
    flags: '--agent <name>',
    description: 'agent that supplies model, prompt and tools',
    path: 'agentRef.name',
    names: 'agent',
  },
  {
    flags: '--provider <name>',
    description: 'provider to ask (default: that of the namespace, or the only usable one)',
    path: 'ai.providerRef.name',
    names: 'provider',
  },
  { flags: '--model <name>', description: 'model of the provider', path: 'ai.model' },
  {
    flags: '--session <name>',
    description: 'session to continue; made when missing',
    path: 'sessionRef',
    read: readOne((name) => ({ name, create: true })),
  },
  { flags: '--system <text>', description: 'system prompt', path: 'ai.systemPrompt' },
  {
    flags: '--schema <file>',
    description: 'JSON Schema that the answer must match, `-` for standard input; the result is JSON',
    path: 'ai.outputSchema',
    read: (value, { context }) => readSchema(String(value), context),
  },
  {
    flags: '--budget <limit>',
    description: 'most that it may use in all: tokens (500k), money (5USD) or time (24h)',
    path: 'budget',
    isRepeated: true,
    read: readBudget,
  },
  { flags: '--timeout <duration>', description: 'give up after this long, such as 10m', path: 'timeout' },
]

/** Of tasks that work in a git repository; `svc run` takes these. */
export const repositoryOptions: readonly SpecOption[] = [
  { flags: '--repo <url>', description: 'git repository to work in', path: 'workspace.gitRepo' },
  { flags: '--branch <name>', description: 'branch of it (default: its own default)', path: 'workspace.branch' },
  {
    flags: '--git-secret <name>',
    description: 'Secret that git logs in with: an entry token or password, and username',
    path: 'workspace.gitSecretRef',
    names: 'secret',
    read: readOne((name) => ({ name })),
  },
  { flags: '--push <branch>', description: 'branch that what it changes is pushed to', path: 'workspace.pushBranch' },
]

function readPriority(text: string): number {
  if (/^-?\d{1,6}$/.test(text)) return Number(text)
  throw new SvcError('InvalidRequest', `--priority ${text}: must be a whole number`)
}

/** Of tasks that have not started, and of schedules. */
export const taskOptions: readonly SpecOption[] = [
  { flags: '--prompt <text>', description: 'what is to be done', path: 'prompt' },
  ...promptTaskOptions,
  { flags: '--schedule <cron>', description: "when runs are made, such as '0 3 * * *'", path: 'schedule' },
  { flags: '--time-zone <zone>', description: 'time zone of the schedule, such as Europe/Berlin', path: 'timeZone' },
  {
    flags: '--priority <number>',
    description: 'tasks with a higher one start first',
    path: 'priority',
    read: readOne(readPriority),
  },
]
