// The installed tar, which makes and unpacks archives of folders.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { SvcError } from '../../errors.ts'
import { CheckoutError } from '../../ports/workspaces/checkouts.ts'

const complaintLength = 500
const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' }

/** The last of what a program says about its failure. */
export function createComplaint() {
  let text = ''
  return {
    add: (chunk: Buffer) => {
      text = (text + chunk.toString('utf8')).slice(-complaintLength)
    },
    read: () => text.trim(),
  }
}

function explainTar(complaint: string): Error {
  if (complaint.includes('No space left')) {
    return new CheckoutError('DiskFull', 'The disk of the service is full; free space on it, then run the task again.')
  }
  return new SvcError('Internal', `tar failed: ${complaint}`)
}

/** `ended` rejects with CheckoutError `DiskFull`, or Internal. */
export type TarProcess = { child: ChildProcessWithoutNullStreams; ended: Promise<void> }

export function startTar(args: string[]): TarProcess {
  const child = spawn('tar', args, { stdio: ['pipe', 'pipe', 'pipe'], env: environment })
  const complaint = createComplaint()
  child.stderr.on('data', complaint.add)
  const ended = new Promise<void>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => (code === 0 ? resolve() : reject(explainTar(complaint.read()))))
  })
  ended.catch(() => undefined)
  return { child, ended }
}

/** Writes an archive of what is in the folder, without the folder itself, to its standard output. */
export async function packFolder(folder: string): Promise<TarProcess> {
  const names = (await readdir(folder)).map((name) => `./${name}\0`)
  const tar = startTar(['-c', '-C', folder, '--null', '-T', '-', '-f', '-'])
  tar.child.stdin.on('error', () => undefined).end(names.join(''))
  return tar
}
