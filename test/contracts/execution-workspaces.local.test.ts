// Execution workspaces of embedded mode: folders of this machine.
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { systemClock as clock, systemIds as ids } from '../../src/lib/system-clock.ts'
import { runShort } from '../../src/runtime/workspaces/commands.ts'
import { describeExecutionWorkspaces } from './execution-workspaces.contract.ts'
import { openLocalWorkspaces } from './local-workspaces-bench.ts'

describeExecutionWorkspaces('this machine', async () => {
  const workspaces = openLocalWorkspaces(await mkdtemp(join(tmpdir(), 'workspaces-')))
  const template = { namespace: 'default', name: 'default' }
  return { workspaces, namespace: 'default', template, readyMs: 10_000, close: () => workspaces.close() }
})

it('commands in a workspace of this machine see nothing of each other in /proc', async () => {
  const workspaces = openLocalWorkspaces(await mkdtemp(join(tmpdir(), 'workspaces-')))
  const claim = { namespace: 'default', name: 'svc-ws-apart', template: { namespace: 'default', name: 'default' } }
  const own = { ...claim, labels: {} }
  await workspaces.claim(own)
  await workspaces.waitUntilReady(own, { timeoutMs: 10_000, signal: AbortSignal.timeout(10_000) })
  const limits = { timeoutSeconds: 60, maxOutputBytes: 1000 }
  const command = ['sh', '-c', 'echo here >here; sleep 600']
  await workspaces.start(own, { id: 'holds', command, env: { HELD: 'made-up-secret' }, ...limits })
  const look = (script: string) => runShort({ workspaces, clock, ids }, own, { command: ['sh', '-c', script] })
  while ((await look('cat here')).exitCode !== 0) await clock.sleep(10)
  expect(await workspaces.observeCommand(own, 'holds')).toEqual({ phase: 'Running' })
  const seen = await look('cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr "\\0" "\\n"')
  expect(seen.stdout).toContain('PATH=')
  expect(seen.stdout).not.toMatch(/made-up-secret|sleep/)
  await workspaces.close()
})
