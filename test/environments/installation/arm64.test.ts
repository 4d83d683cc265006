// The program on another processor, where that is emulated: it starts, with its native module, and a worker does a task.
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { waitFor } from '../../fixtures/time.ts'
import {
  createTask,
  getTask,
  makeFolder,
  readResult,
  removeFolder,
  type Service,
  startService,
} from '../../scenarios/service.ts'

const parts = join(homedir(), '.cache', 'svc-tools', 'arm64')
const missing =
  process.platform !== 'linux' || process.arch !== 'x64'
    ? 'this machine is not the one that is told from another'
    : ['qemu', 'node', 'root'].every((name) => existsSync(join(parts, name)))
      ? undefined
      : 'what emulates it is not there: sh scripts/install-arm64.sh'
if (missing !== undefined) console.log(`arm64 is skipped: ${missing}`)

/** Emulated code is some ten times slower, also on a machine that does nothing else. */
const patienceMs = 400_000

const folder = makeFolder()
/** Not in memory, as other folders of tests may be: it is large, and workers see it. */
const built = mkdtempSync('/tmp/svc-arm64-')
let service: Service | undefined
afterAll(async () => {
  await service?.stop()
  removeFolder(folder)
  removeFolder(built)
}, 120_000)

/**
 * A built program whose Node is a script that emulates the other one. The script names itself as the program's Node, so that
 * workers start by it, too; it lies in a folder that the sandbox of workers shows them.
 */
function layProgram(): { program: string; runtime: string } {
  const [program, dist] = [join(built, 'program'), join(built, 'program', 'dist')]
  cpSync(process.env.SVC_TEST_PROGRAM ?? '', program, { recursive: true, verbatimSymlinks: true })
  const place = join(dist, 'arm64')
  cpSync(parts, place, { recursive: true, verbatimSymlinks: true })
  const [runtime, named] = [join(place, 'emulated'), join(place, 'named.cjs')]
  writeFileSync(named, `process.execPath = ${JSON.stringify(runtime)}\n`)
  writeFileSync(runtime, `#!/bin/sh\nexec ${place}/qemu -L ${place}/root ${place}/node --require ${named} "$@"\n`)
  chmodSync(runtime, 0o755)
  return { program: join(program, 'bin', 'svc'), runtime }
}

describe.skipIf(missing !== undefined)('on arm64', () => {
  it(
    'the service starts and does a task of a model',
    async () => {
      const { program, runtime } = layProgram()
      expect(execFileSync(runtime, ['-p', 'process.arch'], { encoding: 'utf8' })).toBe('arm64\n')
      service = await startService({ folder, program, runtime, patienceMs })
      await service.call('POST', '/api/v1/providers', { name: 'shown', spec: { type: 'demo' } })
      await createTask(service, 'greeting', { type: 'ai', prompt: 'say hello', ai: { providerRef: { name: 'shown' } } })
      const started = service
      const end = async () => {
        const { status } = await getTask(started, 'greeting')
        return /Succeeded|Failed/.test(status?.phase ?? '') && status
      }
      expect(await waitFor(end, 'the task to end', patienceMs)).toMatchObject({
        phase: 'Succeeded',
        usage: { llmCalls: 1 },
      })
      expect(await readResult(service, 'greeting')).toContain('say hello')
    },
    2 * patienceMs + 200_000,
  )
})
