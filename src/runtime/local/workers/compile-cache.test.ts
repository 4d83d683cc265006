import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { fillCompileCache, findCompileCache } from './compile-cache.ts'
import type { WorkerLauncherOptions } from './worker-launcher.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function lay() {
  const folder = mkdtempSync(join(tmpdir(), 'svc-cache-'))
  folders.push(folder)
  const program = join(folder, 'program', 'worker.js')
  mkdirSync(join(folder, 'program'))
  writeFileSync(program, '')
  return { launcher: { program } as WorkerLauncherOptions, folder: join(folder, 'cache') }
}

it('a cache that another service is filling is not used, and not taken away', async () => {
  const options = lay()
  mkdirSync(options.folder, { recursive: true })
  const filling = join(options.folder, 'abc.other-service.unfinished')
  mkdirSync(filling)
  writeFileSync(join(filling, 'half'), 'x')
  expect(await findCompileCache(options)).toBeUndefined()
  const stopped = AbortSignal.abort(new Error('over'))
  await expect(fillCompileCache({ ...options, id: 'x', signal: stopped })).rejects.toThrow('over')
  expect(readdirSync(options.folder)).toEqual(['abc.other-service.unfinished'])
})
