// create_pr_monitor in a conversation: what it makes, and everything that it refuses.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Task } from '../../src/contract/kinds/tasks/task.ts'
import { createEgress } from '../../src/egress/egress.ts'
import { listCodeHostTools } from '../../src/rules/codehost/tools.ts'
import { makeScheduledRun } from '../../src/rules/tasks/schedule.ts'
import { chooseTools } from '../../src/rules/tools/choice.ts'
import { readResults, type ScriptedVendor, startVendor } from '../fixtures/llm/scripted-vendor.ts'
import { type Service, startService } from './service.ts'

let service: Service
let vendor: ScriptedVendor
let args: object = {}
let offered: string[] = []

beforeAll(async () => {
  vendor = await startVendor((request) => {
    offered = (request.tools ?? []).map((tool) => String((tool as { function?: { name: string } }).function?.name))
    return readResults(request).length === 0 ? [{ call: { name: 'create_pr_monitor', args } }] : [{ text: 'done' }]
  })
  service = await startService({ usecases: { allowNetworks: ['127.0.0.1/32'] } })
  Object.assign(service.ports, { egress: createEgress() })
  const spec = { type: 'llmo', baseURL: vendor.url, defaultModel: 'm' }
  await service.call('POST /api/v1/providers', { payload: { name: 'default', spec } })
  const coordination = { enabled: true }
  await makeAgent('reviewer', { coordination })
  await makeAgent('alone', {})
  await makeAgent('restless', { coordination: { enabled: true, autonomous: true } })
  await service.ports.resources.create('Agent', {
    metadata: { namespace: 'default', name: 'coder' },
    spec: { coordination, runtime: { type: 'llma-cli' } },
  } as never)
  await makeSecret('codehost-token', { CODEHOST_TOKEN: 'made-up-1' })
  await makeSecret('git-token', { token: 'made-up-2' })
  await makeSecret('mine', { password: 'made-up-3' })
  await makeSecret('empty', { token: ' ', other: 'made-up-4' })
})
afterAll(async () => {
  await service.stop()
  await vendor.close()
})

async function makeAgent(name: string, spec: object) {
  expect((await service.call('POST /api/v1/agents', { payload: { name, spec } })).statusCode).toBe(201)
}

const makeSecret = (name: string, stringData: Record<string, string>) =>
  service.ports.secrets.create({ namespace: 'default', name, stringData })

const usual = { name: 'prs', repo_url: 'https://github.com/acme/site', schedule: '*/30 * * * *', agent_ref: 'reviewer' }

/** What the model is answered when it calls the tool. */
async function create(change: object = {}): Promise<Record<string, unknown>> {
  args = { ...usual, ...change }
  const payload = { message: 'create a monitor of pull requests' }
  await service.call('POST /api/v1/chat', { payload, headers: { accept: 'application/json' } })
  const last = vendor.requests.at(-1)
  return (last && readResults(last)[0]) ?? {}
}

async function createdTask(change: object = {}): Promise<Task> {
  const { data } = (await create(change)) as { data?: { name: string } }
  return (await service.call(`GET /api/v1/tasks/${data?.name}`)).json() as Task
}

describe('create_pr_monitor', () => {
  it('is a management tool [CODEHOST-018]', async () => {
    await create()
    expect(offered).toContain('create_pr_monitor')
    await service.call('POST /api/v1/chat', { payload: { message: 'hello' }, headers: { accept: 'application/json' } })
    expect(offered).not.toContain('create_pr_monitor')
  })

  it('makes a scheduled ai task that works on the repository [CODEHOST-019, CODEHOST-022]', async () => {
    expect(await create()).toMatchObject({
      success: true,
      data: { monitor_name: 'prs', namespace: 'default', schedule: usual.schedule, name: expect.any(String) },
    })
    const { spec, metadata } = await createdTask()
    expect(spec).toMatchObject({
      type: 'ai',
      schedule: usual.schedule,
      agentRef: { name: 'reviewer' },
      workspace: { gitRepo: usual.repo_url, gitSecretRef: { name: 'codehost-token' } },
    })
    expect(metadata.annotations).toMatchObject({ 'svc.ai/pr-monitor-name': 'prs' })
  })

  it('gives each of its runs the five tools for reviews and no other [CODEHOST-023]', async () => {
    const task = await createdTask()
    const agent = await service.ports.resources.get('Agent', { namespace: 'default', name: 'reviewer' })
    const run = makeScheduledRun(task, new Date()) as Task
    const { builtIn, custom } = chooseTools(run, agent)
    expect([builtIn, custom]).toEqual([[], []])
    expect(listCodeHostTools(run, agent, builtIn)).toEqual([
      ...[
        'list_pull_requests',
        'check_pr_review_marker',
        'check_pull_request_ci',
        'review_pull_request',
        'post_review_comment',
      ],
    ])
    expect(listCodeHostTools(run, undefined, builtIn)).toEqual([])
  })

  it('tells each run to pass the repository to every call [CODEHOST-024]', async () => {
    const prompt = (await createdTask({ prompt: 'Mind the tests.' })).spec.ai?.prompt ?? ''
    expect(prompt).toContain(
      `Pass repo_url "${usual.repo_url}" to every call of list_pull_requests, check_pr_review_marker, check_pull_request_ci, review_pull_request and post_review_comment`,
    )
    expect(prompt).toContain('Mind the tests.')
    expect(prompt).toContain('30 per page')
  })

  it('takes what is optional [CODEHOST-020]', async () => {
    const { spec } = await createdTask({
      namespace: 'default',
      provider_ref: 'default',
      gitSecretRef: 'mine',
      per_page: 500,
      review_event: 'approve',
      prompt: 'x',
    })
    expect(spec.ai).toMatchObject({ providerRef: { name: 'default' } })
    expect(spec.ai?.prompt).toContain('100 per page')
    expect(spec.ai?.prompt).toContain('the event APPROVE')
  })

  it('uses the Secret that is named, else the first of the usual ones [CODEHOST-028, CODEHOST-029]', async () => {
    const secretOf = async (change: object) => (await createdTask(change)).spec.workspace?.gitSecretRef?.name
    expect(await secretOf({ gitSecretRef: 'mine' })).toBe('mine')
    expect(await secretOf({})).toBe('codehost-token')
    await makeSecret('git-credentials', { token: 'made-up-5' })
    expect(await secretOf({})).toBe('git-credentials')
  })

  it.each([
    ['a Secret that is not there', { gitSecretRef: 'none' }, 'there is no secret "none"'],
    ['a Secret without a token', { gitSecretRef: 'empty' }, 'has no CODEHOST_TOKEN'],
    ['an agent that is not there', { agent_ref: 'nobody' }, 'there is no agent "nobody"'],
    ['an agent with a runtime', { agent_ref: 'coder' }, 'has a runtime'],
    ['an agent that does not coordinate', { agent_ref: 'alone' }, 'set coordination.enabled'],
    ['an autonomous agent', { agent_ref: 'restless' }, 'is autonomous'],
    ['a pull request', { repo_url: `${usual.repo_url}/pull/1` }, 'names a pull request'],
    ['a login in the address', { repo_url: 'https://me:secret@github.com/acme/site' }, 'has a login in it'],
    ['another host', { repo_url: 'https://example.com/acme/site' }, 'must be on a host of the code host'],
    ['plain HTTP', { repo_url: 'http://github.com/acme/site' }, 'uses plain HTTP'],
    ['a wrong schedule', { schedule: 'sometimes' }, 'schedule'],
    ['a wrong event', { review_event: 'MERGE' }, 'must be COMMENT, APPROVE or REQUEST_CHANGES'],
    ['no name', { name: undefined }, 'name'],
  ])(
    'refuses %s [CODEHOST-021, CODEHOST-025, CODEHOST-026, CODEHOST-027, CODEHOST-030]',
    async (_what, change, words) => {
      const before = (await service.call('GET /api/v1/tasks')).json().items.length
      const outcome = await create(change)
      expect(outcome).toMatchObject({ success: false, errorType: 'invalid_arguments' })
      expect(outcome.error).toContain(words)
      expect((await service.call('GET /api/v1/tasks')).json().items).toHaveLength(before)
    },
  )

  it('refuses the namespaces of the service itself', async () => {
    expect(await create({ namespace: 'svc-system' })).toMatchObject({ success: false, errorType: 'forbidden' })
  })
})
