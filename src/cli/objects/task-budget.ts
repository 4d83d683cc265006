// `--budget`: what a task may use in all, each limit in the form that tells which one it is.
import { tryParseDuration } from '../../contract/values/duration.ts'
import { SvcError } from '../../errors.ts'

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
export function readBudget(given: string | string[]): object {
  return Object.assign({}, ...[given].flat().map(readLimit)) as object
}
