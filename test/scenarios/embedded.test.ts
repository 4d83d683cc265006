// What embedded mode promises around tasks: names, secrets, tools, defaults.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ProviderStatus } from '../../src/contract/kinds/providers/provider.ts'
import type { Task } from '../../src/contract/kinds/tasks/task.ts'
import { waitFor } from '../fixtures/time.ts'
import { createTask, makeFolder, removeFolder, type Service, startService, waitForPhase } from './service.ts'

type ToolItem = { name: string; builtin: boolean; available: boolean; reason?: string }

const folder = makeFolder()
let service: Service
beforeAll(async () => {
  service = await startService({ folder })
})
afterAll(async () => {
  await service.stop()
  removeFolder(folder)
})

const builtin = ['web_search', 'code_exec', 'file_read', 'web_fetch', 'file_write']

describe('names', () => {
  it('are `default` where no namespace is given, and namespaces need not be made first [MODE-017]', async () => {
    const spec = { type: 'container', command: ['true'] }
    expect((await createTask(service, 'nowhere', spec)).metadata.namespace).toBe('default')
    const answer = await service.call<Task>('POST', '/api/v1/tasks', {
      name: 'somewhere',
      namespace: 'team-a',
      ...spec,
    })
    expect(answer.body.metadata.namespace).toBe('team-a')
    expect((await service.call('GET', '/api/v1/tasks/somewhere')).status).toBe(404)
    expect((await service.call('GET', '/api/v1/tasks/somewhere?namespace=team-a')).status).toBe(200)
  })

  it('of what the service sets itself lie in svc.ai [NAME-001]', async () => {
    const task = await createTask(service, 'named', { type: 'container', command: ['true'] })
    const own = [...Object.keys(task.metadata.labels ?? {}), ...Object.keys(task.metadata.annotations ?? {})]
    for (const name of [...own, ...(task.metadata.finalizers ?? [])]) expect(name).toMatch(/^svc\.ai\//)
  })
})

describe('ids', () => {
  it('are uuidv7, of records with a prefix, and rising integers in streams [HTTP-029]', async () => {
    const uuidv7 = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}'
    const task = await createTask(service, 'identified', { type: 'container', command: ['true'] })
    expect(task.metadata.uid).toMatch(new RegExp(`^${uuidv7}$`))
    const token = await service.call<{ id: string }>('POST', '/api/v1/tokens', { name: 'identified' })
    expect(token.body.id).toMatch(new RegExp(`^tok-${uuidv7}$`))
    await waitForPhase(service, 'identified', 'Succeeded')
    const stream = await service.call<string>('GET', '/api/v1/tasks/identified/events?follow=true')
    const ids = [...stream.body.matchAll(/^id: (.*)$/gm)].map(([, id]) => Number(id))
    expect(ids).toEqual(ids.map((_, index) => index + 1))
  })
})

describe('secrets', () => {
  it('are encrypted on disk under a key that lies elsewhere, mode 0600 [MODE-013, MODE-014, PROV-007]', async () => {
    const value = 'a-made-up-key-that-must-not-be-readable'
    const made = await service.call('POST', '/api/v1/secrets', { name: 'sealed', stringData: { 'api-key': value } })
    expect(made.status).toBe(201)
    expect(JSON.stringify(made.body)).not.toContain(value)
    const data = join(folder, 'share', 'svc')
    for (const file of readdirSync(data).filter((name) => name.startsWith('svc.db'))) {
      expect(readFileSync(join(data, file)).includes(value)).toBe(false)
    }
    const key = join(folder, 'config', 'svc', 'secret.key')
    expect(statSync(key).mode & 0o777).toBe(0o600)
    expect(existsSync(join(data, 'secret.key'))).toBe(false)
  })
})

describe('built-in tools', () => {
  it('are always listed, with why one cannot run here [BUILT-015]', async () => {
    const answer = await service.call<{ items: ToolItem[] }>('GET', '/api/v1/tools')
    expect(answer.body.items.slice(0, 5).map((tool) => tool.name)).toEqual(builtin)
    const search = answer.body.items.find((tool) => tool.name === 'web_search')
    expect(search).toMatchObject({ available: false })
    expect(search?.reason).toMatch(/SVC_SEARCH|--search/)
  })

  it('are left out when they cannot run and --hide-unavailable-tools is set [BUILT-018]', async () => {
    const other = await startService({ flags: ['--hide-unavailable-tools'] })
    const answer = await other.call<{ items: ToolItem[] }>('GET', '/api/v1/tools')
    expect(answer.body.items.map((tool) => tool.name)).not.toContain('web_search')
    expect(answer.body.items.every((tool) => tool.available)).toBe(true)
    await other.stop()
    removeFolder(other.folder)
  })
})

describe('a vendor that stands on this machine', () => {
  let vendor: Server
  const asked: string[] = []
  beforeAll(async () => {
    vendor = createServer((request, response) => {
      asked.push(request.url ?? '')
      response.writeHead(429, { 'retry-after': '60', 'content-type': 'application/json' })
      response.end('{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}')
    })
    await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => vendor.close())

  it('that answers 429 is cooled down, and the task goes on with its fallback [PROV-010, NET-004]', async () => {
    const { port } = vendor.address() as AddressInfo
    await service.call('POST', '/api/v1/secrets', { name: 'key', stringData: { 'api-key': 'made-up-000000' } })
    const spec = { type: 'llma', baseURL: `http://127.0.0.1:${port}`, defaultModel: 'm', secretRef: { name: 'key' } }
    expect((await service.call('POST', '/api/v1/providers', { name: 'busy', spec })).status).toBe(201)
    await service.call('POST', '/api/v1/providers', { name: 'demo', spec: { type: 'demo', defaultModel: 'demo' } })
    await service.call('POST', '/api/v1/agents', {
      name: 'patient',
      spec: { providerRef: { name: 'busy' }, model: { fallbacks: [{ providerRef: { name: 'demo' } }] } },
    })
    await createTask(service, 'falls-back', { type: 'ai', agentRef: { name: 'patient' }, prompt: 'say hello' })
    await waitForPhase(service, 'falls-back', 'Succeeded')
    expect(asked).not.toEqual([])
    const status = await waitFor(async () => {
      const { body } = await service.call<{ status?: ProviderStatus }>('GET', '/api/v1/providers/busy')
      return body.status?.coolingDownUntil === undefined ? undefined : body.status
    }, 'the cool-down to be shown')
    expect(status.lastError).toContain('slow down')
  })
})

describe('metrics', () => {
  it('count what became of tasks, without a word that a user chose [HTTP-042]', async () => {
    const labels = { 'label-to-find': 'value-to-find' }
    const spec = { type: 'container', command: ['echo', 'words-to-find'] }
    const place = { name: 'task-to-find', namespace: 'space-to-find', labels }
    expect((await service.call('POST', '/api/v1/tasks', { metadata: place, spec })).status).toBe(201)
    const read = async () => (await service.call<string>('GET', '/metrics')).body
    const readValue = (text: string, series: string) =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${series} `))
          ?.split(' ')[1] ?? Number.NaN,
      )
    const text = await waitFor(async () => {
      const task = await service.call<Task>('GET', '/api/v1/tasks/task-to-find?namespace=space-to-find')
      return task.body.status?.phase === 'Succeeded' ? read() : undefined
    }, 'the task to succeed')
    for (const phase of ['Running', 'Succeeded']) {
      expect(readValue(text, `svc_task_transitions_total{phase="${phase}"}`)).toBeGreaterThan(0)
    }
    // Accepted, running, succeeded.
    expect(readValue(text, 'svc_execution_events_appended_total')).toBeGreaterThanOrEqual(3)
    expect(readValue(text, 'svc_tasks{phase="Succeeded"}')).toBeGreaterThan(0)
    expect(readValue(text, 'svc_tasks{phase="Scheduled"}')).toBe(0)
    expect(readValue(text, 'svc_queue_depth')).toBeGreaterThanOrEqual(0)
    expect(readValue(text, 'svc_task_queue_wait_seconds_count{type="container"}')).toBeGreaterThan(0)
    expect(readValue(text, 'svc_task_duration_seconds_count{type="container",phase="Succeeded"}')).toBeGreaterThan(0)
    expect(readValue(text, 'svc_task_retries_total{type="agent"}')).toBe(0)
    expect(text).not.toContain('to-find')
  })
})

describe('plans', () => {
  it('are answered 501 with --plan-store none [PLAN-011, PLAN-015]', async () => {
    const other = await startService({ flags: ['--plan-store', 'none'] })
    await createTask(other, 'planless', { type: 'container', command: ['true'] })
    expect((await other.call('GET', '/api/v1/tasks/planless/plan')).status).toBe(501)
    await other.stop()
    removeFolder(other.folder)
  })
})
