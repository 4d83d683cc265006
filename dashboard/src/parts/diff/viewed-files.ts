// Which changed files somebody has looked at, in this browser. Only sums of their contents are stored: a file that changes is new again.
import { useState } from 'react'
import { tryParseJson } from '../../../../src/lib/json.ts'
import { browserStore } from '../../session/browser-store.ts'
import type { DiffFile } from './diff.ts'

const key = 'svc.viewed-files'
const maxStored = 2000

/** FNV-1a, twice with different beginnings. */
function sum(text: string): string {
  let [first, second] = [0x811c9dc5, 0x1000193]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    first = Math.imul(first ^ code, 0x1000193)
    second = Math.imul(second ^ code, 0x5bd1e995)
  }
  return `${(first >>> 0).toString(36)}${(second >>> 0).toString(36)}`
}

export function sumOfFile({ path, hunks, change }: DiffFile): string {
  const lines = hunks.flatMap(({ head, lines }) => [head, ...lines.map(({ sign, text }) => sign + text)])
  return sum([change, path, ...lines].join('\n'))
}

function readStored(): string[] {
  const stored = tryParseJson(browserStore.get(key) ?? '')
  return Array.isArray(stored) ? stored.filter((one) => typeof one === 'string') : []
}

export function useViewedFiles() {
  const [viewed, setViewed] = useState<ReadonlySet<string>>(() => new Set(readStored()))
  function mark(file: string, isViewed: boolean): void {
    const others = readStored().filter((one) => one !== file)
    const next = isViewed ? [...others, file] : others
    browserStore.set(key, JSON.stringify(next.slice(-maxStored)))
    setViewed(new Set(next))
  }
  return { viewed, mark }
}
