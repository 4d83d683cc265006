// What a workspace starts with: the files that a task was given, of which those that stay unchanged are known later, and what
// earlier turns wrote with file_write, which a new attempt writes again in order.
import { createHash } from 'node:crypto'
import { lstat, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { WorkspaceChanges } from '../contract/api/tasks/internal.ts'
import type { LoopState } from '../llm/loop/loop-state.ts'
import type { ToolHost } from '../llm/loop/tool-host.ts'
import type { ToolUseBlock } from '../llm/messages/messages.ts'
import type { WorkerApi } from './api.ts'

export type WrittenInputs = {
  /** Whether a file of the workspace was given and still has the same bytes. */
  isUnchanged(file: { name: string; size: number; open(): AsyncIterable<Uint8Array> }): Promise<boolean>
  /** Paths of those that were removed. */
  listRemoved(): Promise<WorkspaceChanges['removed']>
}

/** Concurrent downloads. */
const lanes = 8

type InputDigest = { size: number; digest: string }

type Placing = {
  /** Absent: the task was given none. */
  paths: string[] | undefined
  workspaceRoot: string
  /** False: an earlier run in the same folder has already put them there, and may have changed them. */
  isFresh: boolean
}

/** Undefined when the task was given none. */
export async function writeInputs(
  api: Pick<WorkerApi, 'readInput'>,
  { paths, workspaceRoot, isFresh }: Placing,
): Promise<WrittenInputs | undefined> {
  if (paths === undefined) return undefined
  const digests = new Map<string, InputDigest>()
  const waiting = [...paths]
  const download = async () => {
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      const bytes = await api.readInput(path)
      digests.set(path, { size: bytes.length, digest: createHash('sha256').update(bytes).digest('hex') })
      const address = join(workspaceRoot, path)
      if (isFresh) await mkdir(dirname(address), { recursive: true })
      if (isFresh) await writeFile(address, bytes)
    }
  }
  await Promise.all(Array.from({ length: lanes }, download))
  return trackInputs(digests, workspaceRoot)
}

function trackInputs(digests: ReadonlyMap<string, InputDigest>, workspaceRoot: string): WrittenInputs {
  return {
    async isUnchanged({ name, size, open }) {
      const before = digests.get(name)
      if (before?.size !== size) return false
      const hash = createHash('sha256')
      for await (const chunk of open()) hash.update(chunk)
      return hash.digest('hex') === before.digest
    },
    async listRemoved() {
      const removed: string[] = []
      for (const path of digests.keys()) {
        const stat = await lstat(join(workspaceRoot, path)).catch(() => undefined)
        if (!stat?.isFile()) removed.push(path)
      }
      return removed.sort()
    },
  }
}

/** How many writes were repeated; 0 when the folder still has the files. Files made by code cannot be restored. */
export async function restoreWorkspace(
  state: LoopState,
  host: ToolHost,
  options: { isFresh: boolean; signal: AbortSignal },
): Promise<number> {
  if (!options.isFresh) return 0
  const writes = listWrites(state)
  for (const { id, name, args } of writes) await host.call({ id, name, args }, options.signal)
  return writes.length
}

/** The writes that took effect, in order. */
function listWrites(state: LoopState): Pick<ToolUseBlock, 'id' | 'name' | 'args'>[] {
  const blocks = state.messages.flatMap((message) => message.content)
  const done = new Set(
    blocks.flatMap((block) => (block.type === 'tool_result' && !block.isError ? [block.toolUseId] : [])),
  )
  const uses = blocks.filter((block) => block.type === 'tool_use').filter((use) => done.has(use.id))
  const pending = state.pending.filter((call) => call.state === 'done' && call.result?.isError === false)
  return [...uses, ...pending.filter((call) => !done.has(call.id))].filter((call) => call.name === 'file_write')
}
