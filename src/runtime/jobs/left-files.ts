// The files that a command leaves on a cluster: a second container of its pod shares the folder and outlives the
// command, whatever its image, until the service has read them there.

import type { ApiConnection } from '../../cluster/api/connection.ts'
import { artifactLimits, recordLimit } from '../../contract/api/tasks/internal.ts'
import { ArtifactName } from '../../contract/api/tasks/task-records.ts'
import { messageOf, SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { LeftFile } from '../../ports/tasks/results.ts'
import { execInPod } from '../code-pods/exec.ts'
import { unpackFiles } from '../code-pods/tar.ts'
import type { Pod } from './objects.ts'
import { keeperName } from './objects.ts'

/** The keeper's path of the folder. */
export const keeperFolder = '/run/svc/artifacts'

const blockBytes = 512
/** Regular files directly in the folder that are not empty and not too large; follows no links. */
const listScript = [
  `find . -maxdepth 1 -type f -size +0 ! -size +${recordLimit / blockBytes} -print0`,
  'sort -z',
  `head -z -n ${artifactLimits.entries}`,
].join(' | ')
const readScript = `cd ${keeperFolder} && ${listScript} | tar -c --no-recursion --hard-dereference --format=ustar --owner=0 --group=0 --null -T -`

/** Headers of the archive beside the files. */
const archiveLimit = artifactLimits.bytes + 2 * artifactLimits.entries * blockBytes * 2
const readTimeoutMs = 60_000
/** The keeper starts after the command, which may be faster. */
const startTries = 20
const startPauseMs = 500

const full = Symbol('more than the limit')

async function readArchive(connection: ApiConnection, { metadata }: Pod): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  let complaint = ''
  const ending = new AbortController()
  const command = {
    namespace: metadata.namespace,
    pod: metadata.name,
    container: keeperName,
    input: Buffer.alloc(0),
    argv: ['/bin/sh', '-c', readScript],
    onStdout(chunk: Buffer) {
      size += chunk.length
      if (size > archiveLimit) ending.abort(full)
      else chunks.push(chunk)
    },
    onStderr(chunk: Buffer) {
      complaint = (complaint + chunk.toString('utf8')).slice(0, 500)
    },
  }
  const code = await execInPod(
    connection,
    command,
    AbortSignal.any([ending.signal, AbortSignal.timeout(readTimeoutMs)]),
  )
  if (code !== 0) throw new SvcError('Unavailable', `they cannot be read in the pod: ${complaint.trim()}`)
  return Buffer.concat(chunks)
}

/** An exec is refused while the keeper is not running. */
async function readWithRetries(connection: ApiConnection, clock: Clock, pod: Pod): Promise<Buffer> {
  for (let left = startTries; ; left -= 1) {
    try {
      return await readArchive(connection, pod)
    } catch (error) {
      if (error === full) throw new SvcError('TooLarge', 'all artifacts together would be larger than 50 MiB')
      if (left === 1) throw new SvcError('Unavailable', messageOf(error), { cause: error })
      await clock.sleep(startPauseMs)
    }
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

export async function* readPodFiles(connection: ApiConnection, clock: Clock, pod: Pod): AsyncGenerator<LeftFile> {
  for (const { path: name, bytes } of unpackFiles(await readWithRetries(connection, clock, pod))) {
    const isFit = ArtifactName.safeParse(name).success
    yield isFit
      ? { name, size: bytes.length, open: () => once(bytes) }
      : { name, skipped: 'its name is not a valid file name' }
  }
}
