// Execution workspaces of embedded mode: folders of this machine.
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeExecutionWorkspaces } from './execution-workspaces.contract.ts'
import { openLocalWorkspaces } from './local-workspaces-bench.ts'

describeExecutionWorkspaces('this machine', async () => {
  const workspaces = openLocalWorkspaces(await mkdtemp(join(tmpdir(), 'workspaces-')))
  const template = { namespace: 'default', name: 'default' }
  return { workspaces, namespace: 'default', template, readyMs: 10_000, close: () => workspaces.close() }
})
