// Puts the files that a task was given into its workspace, and later tells which of them are unchanged.
import { createHash } from 'node:crypto'
import { lstat, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { WorkspaceChanges } from '../contract/api/tasks/internal.ts'
import type { WorkerApi } from './api.ts'

export type GivenFiles = {
  /** Whether a file of the workspace was given and still has the same bytes. */
  isUnchanged(file: { name: string; size: number; open(): AsyncIterable<Uint8Array> }): Promise<boolean>
  /** Paths of those that were removed. */
  listRemoved(): Promise<WorkspaceChanges['removed']>
}

/** Concurrent downloads. */
const lanes = 8

type Kept = { size: number; digest: string }

type Placing = {
  /** Absent: the task was given none. */
  paths: string[] | undefined
  workspaceRoot: string
  /** False: an earlier run in the same folder has already put them there, and may have changed them. */
  isFresh: boolean
}

/** Undefined when the task was given none. */
export async function placeInputs(
  api: Pick<WorkerApi, 'readInput'>,
  { paths, workspaceRoot, isFresh }: Placing,
): Promise<GivenFiles | undefined> {
  if (paths === undefined) return undefined
  const kept = new Map<string, Kept>()
  const waiting = [...paths]
  const place = async () => {
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      const bytes = await api.readInput(path)
      kept.set(path, { size: bytes.length, digest: createHash('sha256').update(bytes).digest('hex') })
      const address = join(workspaceRoot, path)
      if (isFresh) await mkdir(dirname(address), { recursive: true })
      if (isFresh) await writeFile(address, bytes)
    }
  }
  await Promise.all(Array.from({ length: lanes }, place))
  return openGiven(kept, workspaceRoot)
}

function openGiven(kept: ReadonlyMap<string, Kept>, workspaceRoot: string): GivenFiles {
  return {
    async isUnchanged({ name, size, open }) {
      const before = kept.get(name)
      if (before?.size !== size) return false
      const hash = createHash('sha256')
      for await (const chunk of open()) hash.update(chunk)
      return hash.digest('hex') === before.digest
    },
    async listRemoved() {
      const removed: string[] = []
      for (const path of kept.keys()) {
        const stat = await lstat(join(workspaceRoot, path)).catch(() => undefined)
        if (!stat?.isFile()) removed.push(path)
      }
      return removed.sort()
    },
  }
}
