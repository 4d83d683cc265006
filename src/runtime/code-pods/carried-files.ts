// The files of a workspace that are sent with a command into its pod, and the command's changes to them.

import type { ApiConnection } from '../../cluster/api/connection.ts'
import { workspaceLimits } from '../../contract/api/workspaces/code-runs.ts'
import { messageOf } from '../../errors.ts'
import type { WorkspaceChanges, WorkspaceFile } from '../../ports/workspaces/sandbox.ts'
import { containerName } from '../jobs/names.ts'
import type { Pod } from '../jobs/objects.ts'
import { execInPod } from './exec.ts'
import { unpackFiles } from './tar.ts'

const collectTimeoutMs = 10_000
/** Headers of the archive, for files and folders. */
const archiveLimit = workspaceLimits.bytes + 2 * workspaceLimits.files * 1024

/** Ends whatever still runs there first, so that nothing is interrupted in the middle of a write. */
const collectScript =
  'kill -9 -1 2> /dev/null; exec tar -c -C /workspace --format=ustar --hard-dereference --owner=0 --group=0 .'

export type Collected = { changes: WorkspaceChanges } | { changesLost: string }

function lose(cause: string): Collected {
  return { changesLost: cause }
}

function compare(before: WorkspaceFile[], after: WorkspaceFile[]): WorkspaceChanges {
  const present = new Set(after.map(({ path }) => path))
  const sent = new Map(before.map(({ path, bytes }) => [path, bytes]))
  return {
    written: after.filter(({ path, bytes }) => !Buffer.from(sent.get(path) ?? []).equals(bytes) || !sent.has(path)),
    removed: before.map(({ path }) => path).filter((path) => !present.has(path)),
  }
}

function judge(before: WorkspaceFile[], archive: Buffer): Collected {
  const after = unpackFiles(archive)
  const size = after.reduce((sum, { bytes }) => sum + bytes.length, 0)
  if (size <= workspaceLimits.bytes && after.length <= workspaceLimits.files) return { changes: compare(before, after) }
  return lose(tooMuch)
}

const tooMuch = `afterwards there were more than ${workspaceLimits.files} files or ${workspaceLimits.bytes / 1024 ** 2} MiB`
const full = Symbol('more than the limit')

/** The command's changes to the files; only rejects when the caller's signal aborts. */
export async function collectChanges(
  connection: ApiConnection,
  pod: Pod,
  before: WorkspaceFile[],
  signal: AbortSignal,
): Promise<Collected> {
  const chunks: Buffer[] = []
  let size = 0
  let complaint = ''
  const ending = new AbortController()
  const { namespace, name } = pod.metadata
  const argv = ['/bin/sh', '-c', collectScript]
  const command = {
    namespace,
    pod: name,
    container: containerName,
    argv,
    input: Buffer.alloc(0),
    onStdout(chunk: Buffer) {
      size += chunk.length
      if (size > archiveLimit) ending.abort(full)
      else chunks.push(chunk)
    },
    onStderr(chunk: Buffer) {
      complaint = (complaint + chunk.toString('utf8')).slice(0, 200)
    },
  }
  const limit = AbortSignal.any([signal, ending.signal, AbortSignal.timeout(collectTimeoutMs)])
  try {
    const code = await execInPod(connection, command, limit)
    return code === 0 ? judge(before, Buffer.concat(chunks)) : lose(`they could not be read: ${complaint.trim()}`)
  } catch (error) {
    signal.throwIfAborted()
    return lose(error === full ? tooMuch : `they could not be read: ${messageOf(error)}`)
  }
}
