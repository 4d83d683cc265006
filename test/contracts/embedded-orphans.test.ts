// What is left when the service is killed without warning, and what its next start cleans up.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { probeBubblewrap } from '../../src/runtime/local/confinement/bubblewrap.ts'
import { waitFor } from '../fixtures/time.ts'
import { findProcesses, makeFolder, removeFolder, testIds } from './embedded-bench.ts'
import { openEmbeddedBench } from './embedded-workloads-bench.ts'

const probe = await probeBubblewrap()
const root = join(import.meta.dirname, '..', '..')

let folder: string
let service: ChildProcess | undefined
beforeEach(() => {
  folder = makeFolder('orphans-test')
})
afterEach(async () => {
  service?.kill('SIGKILL')
  // Control groups outlive a killed service until its next start.
  const next = openEmbeddedBench({ dataDir: folder, instance: folder })
  await next.workloads.status()
  await next.close()
  removeFolder(folder)
})

/** Starts the service in a process of its own and waits until its worker and its command say that they run. */
async function startService(options: { marker: string; sandboxed: boolean }): Promise<ChildProcess> {
  const settings = { ...options, folder, root, worker: join(root, 'test/fixtures/workers/echo.mjs') }
  const child = spawn(process.execPath, [join(root, 'test/fixtures/service.ts'), JSON.stringify(settings)])
  service = child
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  await waitFor(() => /deaf/.test(output) && /begun/.test(output), 'worker and command run').catch(() => {
    throw new Error(`the service did not start its work: ${output}`)
  })
  return child
}

/** Everything that the service started carries its folder or the marker in its command line. */
function findLeft(marker: string, child: ChildProcess): number[] {
  return [...new Set([...findProcesses(marker), ...findProcesses(folder)])].filter((pid) => pid !== child.pid)
}

const kill = async (child: ChildProcess) => {
  child.kill('SIGKILL')
  await waitFor(() => child.signalCode === 'SIGKILL', 'the service is dead')
}

describe('a service that is killed', () => {
  it('takes its sandboxed workers and commands with it, even those that ignore signals', async (context) => {
    context.skip(!probe.available, 'there is no sandbox here')
    const marker = testIds.next('svc-orphan')
    const child = await startService({ marker, sandboxed: true })
    expect(findLeft(marker, child).length).toBeGreaterThan(0)
    await kill(child)
    await waitFor(() => findLeft(marker, child).length === 0, 'no process is left')
  })

  it('leaves folders, which its next start removes', async (context) => {
    context.skip(!probe.available, 'there is no sandbox here')
    const child = await startService({ marker: testIds.next('svc-orphan'), sandboxed: true })
    await kill(child)
    expect(readdirSync(join(folder, 'work')).length).toBeGreaterThan(0)
    const next = openEmbeddedBench({ dataDir: folder, instance: folder })
    await waitFor(() => readdirSync(join(folder, 'work')).length === 0, 'the folders are gone')
    await next.close()
  })

  it('leaves unsandboxed commands, which its next start ends', async () => {
    const marker = testIds.next('svc-orphan')
    const child = await startService({ marker, sandboxed: false })
    await kill(child)
    expect(findLeft(marker, child).length).toBeGreaterThan(0)
    const next = openEmbeddedBench({ dataDir: folder, instance: folder })
    await waitFor(() => findLeft(marker, child).length === 0, 'no process is left')
    await next.close()
    expect(existsSync(folder)).toBe(true)
  })
})
