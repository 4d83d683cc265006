// A folder on its way into a pod and back: an archive that the installed tar makes on one side and unpacks on the other.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { PassThrough } from 'node:stream'
import type { ApiConnection } from '../../../cluster/api/connection.ts'
import { SvcError } from '../../../errors.ts'
import { removeTree } from '../../../lib/tree-removal.ts'
import { CheckoutError } from '../../../ports/workspaces/checkouts.ts'
import { workspaceInside } from '../../attempts/process-limits.ts'
import { createComplaint, packFolder, startTar } from '../../attempts/tar-process.ts'
import { execInPod } from '../../code-pods/exec.ts'
import type { Pod } from '../objects.ts'
import { checkoutName, keeperName } from '../objects.ts'
import { filledMark, keeperWorkspace } from './containers.ts'

export type Transfer = { connection: ApiConnection; pod: Pod; folder: string; signal: AbortSignal }

const blockBytes = 65_536
const blocks = 64
const windowBytes = blockBytes * blocks

/** One that was cut off begins again. */
const fillScript = `[ -e ${filledMark} ] && exit 0; cd ${workspaceInside} && find . -mindepth 1 -delete && tar -x --no-same-owner -f - && : >${filledMark}`

/**
 * Files, folders and links, without the checkout's own `.git`, which nothing reads. Each line of the input asks for one
 * window of the archive, so that whoever is slower is waited for. While the program runs files may change under it.
 */
const readScript = [
  `set -o pipefail; cd ${keeperWorkspace} || exit 2; exec 3>&1 4<&0`,
  'chmod -R u+rX . 2>/dev/null',
  String.raw`find . -mindepth 1 -path ./.git -prune -o -mindepth 1 \( -type f -o -type d -o -type l \) -print0 |`,
  '{ tar -c --no-recursion --hard-dereference --owner=0 --group=0 --null -T - -f - || [ $? = 1 ]; } |',
  'while read -r _ <&4; do',
  `said=$(dd bs=${blockBytes} count=${blocks} iflag=fullblock 2>&1 >&3)`,
  `case $said in ${blocks}+0*) ;; *) break ;; esac; done`,
].join('\n')

function containerOf({ pod }: Transfer, container: string) {
  return { namespace: pod.metadata.namespace, pod: pod.metadata.name, container }
}

/** Brings what is in the folder into the pod, where the program then begins. */
export async function fillPod(transfer: Transfer): Promise<void> {
  const { connection, folder, signal } = transfer
  const complaint = createComplaint()
  const { child, ended } = await packFolder(folder)
  try {
    const argv = ['/bin/sh', '-c', fillScript]
    // Read from the start: what a process has written that ends unread is lost.
    const input = child.stdout.pipe(new PassThrough())
    const command = { ...containerOf(transfer, checkoutName), argv, input, endsInput: true }
    const streams = { onStdout: () => undefined, onStderr: complaint.add }
    const code = await execInPod(connection, { ...command, ...streams }, signal)
    if (code !== 0) throw new SvcError('Unavailable', `the pod did not take its checkout: ${complaint.read()}`)
    await ended
  } finally {
    child.kill()
  }
}

/** Hands chunks to tar; each request for more waits until tar has taken a window. */
function createIntake(child: ChildProcess, maxBytes: number, onFull: () => void) {
  let size = 0
  let taken = 0
  let wake: () => void = () => undefined
  const ending = new AbortController()
  return {
    take(chunk: Buffer): void {
      size += chunk.length
      if (size > maxBytes) {
        onFull()
        return
      }
      child.stdin?.write(chunk, () => {
        taken += chunk.length
        wake()
      })
    },
    end(): void {
      ending.abort()
      wake()
    },
    async *requests(): AsyncGenerator<Buffer> {
      for (let requested = 0; !ending.signal.aborted; requested += windowBytes) {
        while (taken < requested && !ending.signal.aborted) {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
        if (!ending.signal.aborted) yield Buffer.from('\n')
      }
    },
  }
}

/** Puts what the program left in the pod in place of what is in the folder. */
export async function readPod(transfer: Transfer, maxBytes: number): Promise<void> {
  const { connection, folder, signal } = transfer
  await removeTree(folder)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const complaint = createComplaint()
  const { child, ended } = startTar(['-x', '--no-same-owner', '--no-same-permissions', '-C', folder, '-f', '-'])
  child.stdin.on('error', () => undefined)
  const full = new AbortController()
  const tooMuch = `What is in the workspace takes more than ${Math.floor(maxBytes / 1024 ** 2)} MiB.`
  const intake = createIntake(child, maxBytes, () => full.abort(new CheckoutError('TooLarge', tooMuch)))
  try {
    const argv = ['/bin/bash', '-c', readScript]
    const command = { ...containerOf(transfer, keeperName), argv, input: intake.requests() }
    const streams = { onStdout: intake.take, onStderr: complaint.add }
    const code = await execInPod(connection, { ...command, ...streams }, AbortSignal.any([signal, full.signal]))
    if (code !== 0) throw new SvcError('Unavailable', `the pod's files cannot be read: ${complaint.read()}`)
    child.stdin.end()
    await ended
  } finally {
    intake.end()
    child.kill()
    if (child.exitCode === null && child.signalCode === null) await once(child, 'close').catch(() => undefined)
  }
}
