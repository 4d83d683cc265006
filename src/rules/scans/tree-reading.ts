// A tree that is read once, file by file, and then cut: the caller does the reading.
import { type FileFacts, type LeftOut, leaveOut, readFileFacts, type TreeFile } from './file-facts.ts'
import { cutSlices, type SlicedTree } from './slices.ts'

export type TreeReading = {
  /** Paths to read, sorted. */
  wanted: string[]
  /** For each of them once; without content: it could not be read. */
  take(path: string, content: Uint8Array | undefined): void
  /** When all were taken. `scanName` is part of the ids; `removed`: what an incremental run no longer finds. */
  cut(scanName: string, removed?: readonly string[]): SlicedTree
}

const isWithin = (path: string, folder: string) => folder === '' || path.startsWith(`${folder}/`)

/** `entries`: in any order. `subPath`: only what lies in this folder; its paths stay those of the repository. */
export function startReading(entries: readonly TreeFile[], subPath = ''): TreeReading {
  const folder = subPath.replace(/^\.?\/+|\/+$/g, '').replace(/^\.$/, '')
  const leftOut: LeftOut[] = []
  const files: FileFacts[] = []
  const wanted: string[] = []
  for (const entry of entries) {
    if (!isWithin(entry.path, folder)) continue
    const reason = leaveOut(entry)
    if (reason === undefined) wanted.push(entry.path)
    else leftOut.push({ path: entry.path, reason })
  }
  return {
    wanted: wanted.sort(),
    take(path, content) {
      const facts = content === undefined ? 'unreadable' : readFileFacts(path, content)
      if (typeof facts === 'string') leftOut.push({ path, reason: facts })
      else files.push(facts)
    },
    cut: (scanName, removed = []) => cutSlices({ scanName, files, leftOut, removed }),
  }
}
