// The lines of a log as they come, and where a text stands in them: pure, so that ten mebibytes can be tried.
import type { FollowedPosition } from '../../../../src/client/task-log.ts'
import type { LogPart } from '../../../../src/contract/api/tasks/task-records.ts'
import { visible } from '../../parts/visible-text.ts'

/** Lines that are kept; of a longer log the beginning is let go, a piece at a time. */
const mostLines = 600_000
const letGo = 100_000
/** Characters of a line that are shown at once. */
export const longestShown = 4000

export type LogLines = {
  /** How many are kept, the one that is being written included. */
  count(): number
  /** How many were let go before the first that is kept. */
  dropped(): number
  at(index: number): string
  add(item: string | LogPart): void
  text(): string
  /** Where reading goes on. */
  position: FollowedPosition
}

export function createLogLines(most = mostLines, less = letGo): LogLines {
  let lines: string[] = []
  let open: string | undefined
  let dropped = 0

  function add(item: string | LogPart): void {
    if (typeof item !== 'string') {
      open = (open ?? '').slice(0, item.offset) + item.text
      return
    }
    open = undefined
    for (const line of item.split('\n')) lines.push(line)
    if (lines.length <= most) return
    lines = lines.slice(less)
    dropped += less
  }

  return {
    add,
    count: () => lines.length + (open === undefined ? 0 : 1),
    dropped: () => dropped,
    at: (index) => lines[index] ?? open ?? '',
    text: () => [...lines, ...(open === undefined ? [] : [open])].map((line) => `${line}\n`).join(''),
    position: {},
  }
}

const esc = String.fromCharCode(27)

/** A line without terminal sequences, where it has any: most have none. */
function plain(line: string): string {
  return line.includes(esc) ? visible(line) : line
}

/** Finds the numbers of lines with a text in any case. Looks only at what has come since. */
export function createFinder(wanted: string) {
  const searched = wanted.toLowerCase()
  let found: number[] = []
  let next = 0
  /** The numbers count from the beginning of the log, dropped lines included. The last line may grow: it is looked at again. */
  return function find(log: LogLines): readonly number[] {
    if (searched === '') return []
    const [first, end] = [log.dropped(), log.dropped() + log.count()]
    const again = Math.max(first, next - 1)
    const kept = found.filter((line) => line >= first && line < again)
    for (let line = again; line < end; line += 1) {
      if (
        plain(log.at(line - first))
          .toLowerCase()
          .includes(searched)
      )
        kept.push(line)
    }
    next = end
    found = kept
    return found
  }
}

/** The text in pieces: those with an odd index are what was looked for. */
export function splitFound(text: string, wanted: string): string[] {
  if (wanted === '') return [text]
  const literal = wanted.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return text.split(new RegExp(`(${literal})`, 'gi'))
}
