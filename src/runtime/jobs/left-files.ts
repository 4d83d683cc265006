// The files that a command leaves on a cluster: a second container of its pod shares the folder and outlives the
// command, whatever its image, until the service has read them there.
import type { ApiConnection } from '../../cluster/api/connection.ts'
import { artifactLimits, recordLimit } from '../../contract/api/tasks/internal.ts'
import { ArtifactPath } from '../../contract/api/tasks/task-records.ts'
import { messageOf, SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { LeftFile } from '../../ports/tasks/workloads.ts'
import { captureInPod } from '../code-pods/exec.ts'
import { unpackFiles } from '../code-pods/tar.ts'
import type { Pod } from './objects.ts'
import { keeperName } from './objects.ts'

/** The keeper's path of the folder. */
export const keeperFolder = '/run/svc/artifacts'

const blockBytes = 512
/** Regular files in the folder and its folders that are not too large, and whose path fits the archive; follows no links. */
const listScript = [
  `find . -type f ! -size +${recordLimit / blockBytes} -print0`,
  "LC_ALL=C grep -zE '^.{1,100}$|^.{1,155}/[^/]{1,100}$'",
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
  const { namespace, name: pod } = metadata
  const program = { namespace, pod, container: keeperName, argv: ['/bin/sh', '-c', readScript] }
  const limits = { maxBytes: archiveLimit, tooMuch: full, signal: AbortSignal.timeout(readTimeoutMs) }
  const { code, stdout, complaint } = await captureInPod(connection, program, limits)
  if (code !== 0) throw new SvcError('Unavailable', `they cannot be read in the pod: ${complaint}`)
  return stdout
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
    const isFit = ArtifactPath.safeParse(name).success
    yield isFit
      ? { name, size: bytes.length, open: () => once(bytes) }
      : { name, skipped: 'its name is not a valid file name' }
  }
}
