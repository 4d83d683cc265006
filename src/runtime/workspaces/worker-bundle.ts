// The worker program of this very service as one archive, for workspaces whose template does not have it.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join, posix } from 'node:path'
import { promisify } from 'node:util'
import { SvcError } from '../../errors.ts'
import { once } from '../../lib/once.ts'

export type WorkerBundle = { version: string; archive: Uint8Array }

const maxBytes = 64 * 1024 ** 2

/** The built program imports the files beside it by relative paths. */
async function listParts(folder: string, entry: string): Promise<string[]> {
  const found = new Set<string>()
  const waiting = [entry]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (found.has(next)) continue
    found.add(next)
    const text = await readFile(join(folder, next), 'utf8')
    for (const [, path = ''] of text.matchAll(/["'](\.{1,2}\/[\w./-]+\.js)["']/g)) {
      const part = posix.join(posix.dirname(next), path)
      if (existsSync(join(folder, part))) waiting.push(part)
    }
  }
  return [...found].sort()
}

async function makeBundle(program: string): Promise<WorkerBundle> {
  if (!program.endsWith('.js')) {
    throw new SvcError('NotConfigured', 'the worker program is not built: run `npm run build`')
  }
  const folder = dirname(program)
  const parts = await listParts(folder, basename(program))
  // So that every machine makes the same of the same files.
  const same = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner']
  const { stdout } = await promisify(execFile)('tar', ['-c', '-z', ...same, '-C', folder, '-f', '-', ...parts], {
    encoding: 'buffer',
    maxBuffer: maxBytes,
  })
  return { version: createHash('sha256').update(stdout).digest('hex').slice(0, 16), archive: stdout }
}

/** Made on first use. NotConfigured when the program runs from its sources. */
export function createWorkerBundle(program: string): () => Promise<WorkerBundle> {
  return once(() => makeBundle(program))
}
