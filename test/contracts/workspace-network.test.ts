// Workspaces that are folders of this machine have its network: what asks for less is not begun.
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { NetworkSource } from '../../src/contract/kinds/tasks/network.ts'
import { openWorkspaceService, specOf } from '../fixtures/workspaces/service.ts'
import { makeFolder, removeFolder } from './embedded-bench.ts'
import { openLocalWorkspaces } from './local-workspaces-bench.ts'
import type { RecordBench } from './record-bench.ts'
import { openSqliteBench } from './sqlite-bench.ts'

const root = makeFolder('network')
const workspaces = openLocalWorkspaces(root, { worker: ['/bin/true'] })
let store: RecordBench

beforeAll(async () => {
  store = await openSqliteBench()
})
afterAll(async () => {
  await workspaces.close()
  await store.close()
  removeFolder(root)
})

it.each<[NetworkSource, boolean]>([
  ['task', false],
  ['agent', false],
  ['namespace', false],
  ['service', true],
])('a network of the %s: begun %s', async (from, isBegun) => {
  const { workspaces: records } = store.stores()
  const providers = { 'agent-sandbox': workspaces } as const
  const service = openWorkspaceService({ providers, records, endsOnClose: true, findSecrets: async () => [] })
  const names = { taskUid: `uid-${from}`, taskName: from, namespace: 'team', token: 'made-up-token' }
  const claim = { namespace: 'default', name: `svc-ws-${from}` }
  const spec = specOf({
    provider: 'agent-sandbox',
    claim,
    template: { namespace: 'default', name: 'default' },
    ...names,
  })
  const network = { from, rules: { allow: [], onUnknown: 'refuse' as const, ports: [443] } }
  const begun = service.ensure({ ...spec, network })
  if (isBegun) await expect(begun).resolves.toBeUndefined()
  else await expect(begun).rejects.toMatchObject({ reason: 'InvalidRequest' })
  await service.remove({ taskUid: `uid-${from}`, attempt: 1 })
})
