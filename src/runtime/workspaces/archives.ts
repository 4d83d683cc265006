// A folder of the service on its way into a workspace and back: an archive that the installed tar makes on one side and
// unpacks on the other.
import type { ChildProcess } from 'node:child_process'
import { Readable, Transform } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { CheckoutError } from '../../ports/workspaces/checkouts.ts'
import { WorkspaceError } from '../../ports/workspaces/execution-workspaces.ts'
import { packFolder, startTar } from '../attempts/tar-process.ts'
import type { WorkspaceAttempt, WorkspaceWorkloadsOptions } from './attempt.ts'
import { requireShort } from './commands.ts'
import { stageLarge } from './staging.ts'

/** Of what is brought in as one archive, which passes through memory. */
const maxFolderBytes = 512 * 1024 ** 2
const pieceBytes = 3 * 1024 ** 2
const newline = 0x0a

async function compressFolder(folder: string): Promise<Buffer> {
  const { child, ended } = await packFolder(folder)
  const tooMuch = `The repository takes more than ${maxFolderBytes / 1024 ** 2} MiB, which an execution workspace does not get.`
  const limit = limitBytes(maxFolderBytes, tooMuch)
  try {
    const packed = pipeline(child.stdout, limit, createGzip({ level: 1 }), (archive: AsyncIterable<Buffer>) =>
      buffer(Readable.from(archive)),
    )
    const [archive] = await Promise.all([packed, ended])
    return archive
  } finally {
    child.kill()
  }
}

/** Puts what is in the folder in place of what is in that of the workspace. `at`: where the archive lies meanwhile. */
export async function fillWorkspace(
  options: WorkspaceWorkloadsOptions,
  attempt: WorkspaceAttempt,
  { from, to, at }: { from: string; to: string; at: string },
): Promise<void> {
  await stageLarge(options, attempt, at, await compressFolder(from))
  const script = 'rm -rf -- "$2" && mkdir -p -- "$2" && tar -xzf "$1" --no-same-owner -C "$2" && rm -- "$1"'
  const command = { command: ['sh', '-c', script, 'fill', at, to], timeoutSeconds: 1800 }
  await requireShort({ ...options, workspaces: attempt.workspaces }, attempt.facts.claim, command)
}

/** Files, folders and links, without the checkout's own `.git`, which nothing reads. */
const packScript = [
  'out=$PWD/$1; cd "$2" || exit 2; chmod -R u+rX . 2>/dev/null',
  String.raw`find . -mindepth 1 -path ./.git -prune -o -mindepth 1 \( -type f -o -type d -o -type l \) -print0 |`,
  // Holes are kept: a file of any length is written in no time, and would be read for hours.
  // Programs that go on may change a file meanwhile, or remove it: 1 says no more than that.
  'tar -c -S --no-recursion --hard-dereference --ignore-failed-read --owner=0 --group=0 --null -T - -z -f "$out"',
  '[ $? -le 1 ] && wc -c <"$out"',
].join('\n')

async function* readPieces(options: WorkspaceWorkloadsOptions, attempt: WorkspaceAttempt, at: string, size: number) {
  const deps = { ...options, workspaces: attempt.workspaces }
  for (let piece = 0; piece * pieceBytes < size; piece += 1) {
    const script = `dd if="$1" bs=${pieceBytes} skip=${piece} count=1 2>/dev/null | base64`
    const request = { command: ['sh', '-c', script, 'read', at], maxOutputBytes: 2 * pieceBytes }
    yield Buffer.from(await requireShort(deps, attempt.facts.claim, request), 'base64')
  }
}

function limitBytes(max: number, tooMuch: string): Transform {
  let size = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length
      done(size > max ? new CheckoutError('TooLarge', tooMuch) : null, chunk)
    },
  })
}

/** tar closes its input once it has seen the end of the archive, which may come before everything is brought. */
function judgeReading([counted, brought, ended]: PromiseSettledResult<void>[]): void {
  const causes = [counted, ended?.status === 'rejected' ? brought : undefined, ended]
  const failed = causes.find((cause) => cause?.status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
}

/** Rejects, and ends the program, once it names more files than that. */
async function countNames(child: ChildProcess, max: number): Promise<void> {
  let count = 0
  for await (const chunk of child.stdout ?? []) {
    for (const byte of chunk as Buffer) if (byte === newline) count += 1
    if (count <= max) continue
    child.kill()
    throw new CheckoutError('TooLarge', `There are more than ${max} files in the workspace.`)
  }
}

type Reading = { from: string; to: string; at: string; maxBytes: number; maxFiles: number }

/** Puts what is in the folder of the workspace into an empty folder of the service. */
export async function readWorkspace(
  options: WorkspaceWorkloadsOptions,
  attempt: WorkspaceAttempt,
  { from, to, at, maxBytes, maxFiles }: Reading,
): Promise<void> {
  const command = { command: ['sh', '-c', packScript, 'pack', at, from], timeoutSeconds: 1800 }
  const answer = await requireShort({ ...options, workspaces: attempt.workspaces }, attempt.facts.claim, command)
  const size = Number(answer.trim())
  if (!Number.isSafeInteger(size)) throw new WorkspaceError('ProtocolError', 'the workspace does not say what it holds')
  const { child, ended } = startTar(['-x', '-v', '--no-same-owner', '--no-same-permissions', '-C', to, '-f', '-'])
  const pieces = Readable.from(readPieces(options, attempt, at, Math.min(size, maxBytes)))
  const tooMuch = `What is in the workspace takes more than ${Math.floor(maxBytes / 1024 ** 2)} MiB.`
  const brought = pipeline(pieces, createGunzip(), limitBytes(maxBytes, tooMuch), child.stdin)
  const counted = countNames(child, maxFiles)
  try {
    judgeReading(await Promise.allSettled([counted, brought, ended]))
  } finally {
    child.kill()
  }
}
