import { describe, expect, it } from 'vitest'
import type { Agent } from '../contract/kinds/agents/agent.ts'
import type { Provider } from '../contract/kinds/providers/provider.ts'
import type { Task, TaskSpec } from '../contract/kinds/tasks/task.ts'
import { defaultNetworkSettings } from '../rules/workspaces/network.ts'
import { findGatedAttempt } from './gated-attempt.ts'

const identity = { taskUid: 'uid-1', attempt: 2, namespace: 'team', taskName: 'work' }
const metadata = { name: 'work', namespace: 'team', uid: 'uid-1' }

function find(spec: Partial<TaskSpec>, { agent = {}, status = {} }: { agent?: object; status?: object } = {}) {
  const task = { metadata, spec: { type: 'agent', ...spec }, status: { phase: 'Running', attempts: 2, ...status } }
  const agents: Record<string, unknown> = { 'team/writer': { metadata: { ...metadata, name: 'writer' }, spec: agent } }
  const providers = [
    { spec: { baseURL: 'https://models.example:8443/v1' } },
    { spec: { baseURL: 'nonsense' } },
    { spec: {} },
  ]
  const resources = {
    get: async (kind: string, key: { namespace: string; name: string }) =>
      (kind === 'Task' ? task : agents[`${key.namespace}/${key.name}`]) as unknown as Task & Agent,
    list: async () => ({ items: providers as unknown as Provider[], resourceVersion: '1' }),
  }
  const parts = { resources: resources as never, settings: defaultNetworkSettings, contextMode: 'enforce' as const }
  return findGatedAttempt(parts, identity)
}

describe('what the programs of an attempt may reach', () => {
  it('is that of the settings, with its repository and the providers of its namespace', async () => {
    const found = await find({ workspace: { gitRepo: 'https://git.example/a.git' } } as Partial<TaskSpec>)
    expect(found).toMatchObject({ key: { taskUid: 'uid-1', attempt: 2 }, namespace: 'team', taskName: 'work' })
    expect(found?.rules.allow).toEqual(
      expect.arrayContaining(['git.example', 'models.example:8443', 'registry.npmjs.org']),
    )
  })

  it('is that of its agent as it is now, within what the context token allows', async () => {
    const agent = { network: { allow: ['github.com', '*.example.com'], onUnknown: 'ask' } }
    const transaction = { id: 't', context: { allowedHosts: 'github.com' } }
    const spec = { agentRef: { name: 'writer' }, transaction } as Partial<TaskSpec>
    expect((await find(spec, { agent }))?.rules).toMatchObject({
      allow: ['github.com', '*.example.com'],
      onUnknown: 'ask',
      within: ['github.com'],
    })
  })

  it('is nothing for who is not under way, and for who has no gate', async () => {
    expect(await find({}, { status: { phase: 'Succeeded' } })).toBeUndefined()
    expect(await find({}, { status: { attempts: 3 } })).toBeUndefined()
    expect(await find({ type: 'container' })).toBeUndefined()
  })
})
