import { expect, it } from 'vitest'
import { loadConfig } from '../config/load.ts'
import type { Task } from '../contract/kinds/tasks/task.ts'
import { listForeignWorkspaces } from '../rules/identity/isolation.ts'
import { resolveWorkspace } from '../rules/workspaces/execution-workspace.ts'
import { readWorkspaceSettings } from './settings.ts'

function settingsOf(strategy: string) {
  const flags = {
    mode: 'kubernetes',
    agentSandboxEnabled: 'true',
    agentSandboxDefaultTemplate: 'agents',
    agentSandboxNamespaceStrategy: strategy,
  }
  return readWorkspaceSettings(loadConfig({ flags, env: {} }), 'svc-system')
}

const workspace = { enabled: true, reusePolicy: 'none' as const, boot: false }
const spec = { type: 'agent', prompt: 'x', agentRef: { name: 'a' }, execution: { workspace } } as Task['spec']
const task = { metadata: { namespace: 'team-a', name: 't', uid: 'u' }, spec } as Task
const taskOf = (namespace: string) =>
  ({ ...spec, execution: { workspace: { ...workspace, templateRef: { name: 'agents', namespace } } } }) as Task['spec']

it('claims sandboxes beside the task, from a template of its namespace', () => {
  const settings = settingsOf('task')
  const resolved = resolveWorkspace(settings, { task, attempt: 1, agent: undefined })
  expect(resolved).toMatchObject({ claim: { namespace: 'team-a' }, template: { namespace: 'team-a' } })
  expect(listForeignWorkspaces('team-a', taskOf('svc-system'), settings)).toHaveLength(1)
})

it('claims them beside the service with the strategy `controller`, where no other template is of use', () => {
  const settings = settingsOf('controller')
  const resolved = resolveWorkspace(settings, { task, attempt: 1, agent: undefined })
  expect(resolved).toMatchObject({ claim: { namespace: 'svc-system' }, template: { namespace: 'svc-system' } })
  expect(listForeignWorkspaces('team-a', taskOf('svc-system'), settings)).toEqual([])
  expect(listForeignWorkspaces('team-a', taskOf('team-a'), settings)).toMatchObject([
    { namespace: 'team-a', obstacle: expect.stringContaining('use a template of "svc-system"') },
  ])
})
