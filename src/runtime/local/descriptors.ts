// How many more files and connections this process may open: new work waits for them, as it does for room on the disk.
import { readdirSync, readFileSync } from 'node:fs'

/** Pipes, connections and files that the service holds for an attempt with a process of its own, or in one of many. */
const perAttempt = { own: 8, shared: 1 }
/** For requests, the store and what runs already; at most an eighth of the limit. */
const reserved = 128

/** Above it nothing is counted: the machine has no memory for so many. */
const ample = 100_000

/** Undefined: not known here, as on systems without /proc. */
function readLimit(): number | undefined {
  try {
    const [, soft = ''] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === '' ? undefined : Number(soft)
  } catch {
    return undefined
  }
}

let known: { limit: number | undefined } | undefined

/** It does not change while the process runs. */
function processLimit(): number | undefined {
  known ??= { limit: readLimit() }
  return known.limit
}

/** The list is long where much runs, and asked for with every task that waits; what opens meanwhile is within the reserve. */
const countedMs = 100
let counted = { at: Number.NEGATIVE_INFINITY, open: 0 }

function countOpen(limit: number): number {
  const at = performance.now()
  if (at - counted.at < countedMs) return counted.open
  try {
    counted = { at, open: readdirSync('/proc/self/fd').length }
    return counted.open
  } catch {
    // Even the list takes one.
    return limit
  }
}

/** How many more attempts may start; `starting` have not opened theirs yet. */
export function countStartable({
  limit = processLimit(),
  open = countOpen,
  starting = 0,
  mode = 'own' as 'own' | 'shared',
} = {}): number {
  if (limit === undefined || limit > ample) return Number.POSITIVE_INFINITY
  const free = limit - open(limit) - Math.min(reserved, limit / 8) - starting * perAttempt[mode]
  return Math.max(0, Math.floor(free / perAttempt[mode]))
}

const exhausted = /\b(EMFILE|ENFILE|EAGAIN|ENOMEM)\b/

/** Whether a start failed for want of descriptors, processes or memory, of which others may soon give some back. */
export function isExhaustion(message: string): boolean {
  return exhausted.test(message)
}
