// Execution workspaces of embedded mode: folders of this machine.
import { mkdtemp, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { systemClock as clock, systemIds as ids } from '../../src/lib/system-clock.ts'
import { runShort } from '../../src/runtime/workspaces/commands.ts'
import { openWorkspaceService, specOf } from '../fixtures/workspaces/service.ts'
import { describeExecutionWorkspaces } from './execution-workspaces.contract.ts'
import { openLocalWorkspaces } from './local-workspaces-bench.ts'
import { openSqliteBench } from './sqlite-bench.ts'

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

it('no file of a workspace has the assignment of its worker', async () => {
  const root = await mkdtemp(join(tmpdir(), 'workspaces-'))
  const script = 'gzip -dc | grep -o made-up-token >read && sleep 600'
  const workspaces = openLocalWorkspaces(root, { worker: ['/bin/sh', '-c', script] })
  const store = await openSqliteBench()
  const runs = openWorkspaceService({
    providers: { 'agent-sandbox': workspaces },
    records: store.stores().workspaces,
    endsOnClose: true,
    findSecrets: async () => [],
  })
  const claim = { namespace: 'default', name: 'svc-ws-handed' }
  const template = { namespace: 'default', name: 'default' }
  const task = { taskUid: 'handed', taskName: 'handed', namespace: 'default', token: 'made-up-token' }
  await runs.ensure(specOf({ provider: 'agent-sandbox', claim, template, ...task }))
  const list = async () => (await readdir(root, { recursive: true })).map((path) => path.split('/files/')[1])
  while (!(await list()).includes('read')) await clock.sleep(10)
  expect((await list()).filter((path) => path?.startsWith('.svc/'))).toEqual([])
  await runs.close()
  await workspaces.close()
  await store.close()
})
