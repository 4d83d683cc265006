// Tasks over HTTP: create, read, list, filter, cancel, retry, delete.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiVersion } from '../../src/contract/kinds/resources/metadata.ts'
import { aiTask, type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

const post = (payload: object, headers: Record<string, string> = {}) =>
  service.call('POST /api/v1/tasks', { payload, headers })

/** Paths of the problems of a 400. */
async function problemsOf(payload: object): Promise<string[]> {
  const answer = await post(payload)
  expect(answer.statusCode).toBe(400)
  expect(answer.json().error).toMatchObject({ code: 400, reason: 'InvalidRequest' })
  return answer.json().error.details.map((problem: { path: string }) => problem.path)
}

describe('creating a task', () => {
  it('answers 201 with the task as stored, from the flat shape [TASK-003] [TASK-004] [TASK-006] [TASK-033]', async () => {
    const answer = await post(aiTask('flat'))
    expect(answer.statusCode).toBe(201)
    expect(answer.json()).toMatchObject({
      apiVersion: 'core.svc.ai/v1alpha1',
      kind: 'Task',
      metadata: { name: 'flat', namespace: 'default', generation: 1, finalizers: ['svc.ai/cleanup'] },
      spec: { type: 'ai', prompt: 'say hello', priority: 500 },
    })
    expect(answer.json().metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    expect((await service.call('GET /api/v1/tasks/flat')).json().spec.prompt).toBe('say hello')
  })

  it('takes {metadata, spec}, the agent and a timeout in Go style [TASK-005] [TASK-033] [TASK-035] [HTTP-028]', async () => {
    const spec = { type: 'ai', prompt: 'go', agentRef: { name: 'not-there-yet' }, timeout: '1h30m' }
    const answer = await post({ metadata: { name: 'nested', labels: { team: 'a' } }, spec })
    expect(answer.statusCode).toBe(201)
    expect(answer.json()).toMatchObject({ metadata: { labels: { team: 'a' } }, spec })
  })

  it('takes a session [TASK-007]', async () => {
    const spec = {
      type: 'ai',
      prompt: 'go',
      agentRef: { name: 'a' },
      sessionRef: { name: 'talk', create: true },
    }
    const answer = await post({ name: 'rich', spec })
    expect(answer.statusCode).toBe(201)
    expect(answer.json().spec).toMatchObject(spec)
  })

  it('ignores apiVersion, kind, status and server-set metadata [HTTP-016]', async () => {
    const metadata = {
      name: 'given',
      uid: 'mine',
      resourceVersion: '99',
      finalizers: ['x'],
      creationTimestamp: 'never',
    }
    const body = { apiVersion: 'v9', kind: 'Pod', metadata, spec: aiTask('x'), status: { phase: 'Succeeded' } }
    const answer = await post({ ...body, spec: { type: 'ai', prompt: 'p' } })
    expect(answer.statusCode).toBe(201)
    expect(answer.json().status?.phase).toBeUndefined()
    expect(answer.json().metadata).not.toMatchObject({ uid: 'mine' })
    expect(answer.json().metadata.finalizers).toEqual(['svc.ai/cleanup'])
  })

  it('answers 409 when the name is taken', async () => {
    await post(aiTask('twice'))
    const answer = await post(aiTask('twice'))
    expect(answer.statusCode).toBe(409)
    expect(answer.json().error.reason).toBe('AlreadyExists')
  })

  it.each([
    [{ requestedBy: {} }, 'requestedBy'],
    [{ spec: { RequestedBY: {} } }, 'spec.RequestedBY'],
    [{ Transaction: {} }, 'Transaction'],
    [{ spec: { transaction: {} } }, 'spec.transaction'],
  ])(
    'answers 400 to an identity that a client brings: %j [TASK-018] [TASK-019] [TASK-020] [TASK-021] [TASK-030]',
    async (more, path) => {
      expect(await problemsOf({ ...aiTask('forged'), ...more })).toContain(path)
    },
  )

  it('does not look for identities in free-form maps [TASK-031]', async () => {
    const answer = await post(
      aiTask('free', { env: [{ name: 'transaction', value: 'x' }], labels: { requestedBy: 'me' } }),
    )
    expect(answer.statusCode).toBe(201)
  })

  it('names every unknown field and every bad value at once [HTTP-004] [HTTP-015]', async () => {
    const spec = { type: 'ai', promt: 'x', priority: 5000, timeout: 'soon', schedule: '* * *' }
    const paths = await problemsOf({ name: 'Bad_Name', nmae: 'x', spec })
    expect(paths).toEqual(
      expect.arrayContaining(['name', 'nmae', 'spec.promt', 'spec.priority', 'spec.timeout', 'spec.schedule']),
    )
  })

  it('refuses what can be known not to work: type, agent, prompt, workspace [TASK-034]', async () => {
    expect(await problemsOf({ name: 'a', type: 'agent' })).toEqual(expect.arrayContaining(['agentRef', 'prompt']))
    expect(await problemsOf({ name: 'a', type: 'robot' })).toContain('type')
    const execution = { workspace: { enabled: true } }
    expect(await problemsOf(aiTask('a', { execution }))).toContain('execution.workspace')
  })

  it('refuses annotations of the service and leaves others', async () => {
    expect(await problemsOf({ ...aiTask('a'), annotations: { 'svc.ai/x': '1' } })).toEqual(['annotations["svc.ai/x"]'])
    expect((await post({ ...aiTask('noted'), annotations: { mine: '1' } })).statusCode).toBe(201)
  })

  it('refuses a namespace in the query that is not the one in the body', async () => {
    const payload = aiTask('torn', { namespace: 'one' })
    const answer = await service.call('POST /api/v1/tasks?namespace=two', { payload })
    expect(answer.statusCode).toBe(400)
    expect(answer.json().error.details[0].path).toBe('namespace')
  })
})

describe('changing a task', () => {
  const put = (name: string, spec: object, headers: Record<string, string> = {}) =>
    service.call(`PUT /api/v1/tasks/${name}`, { payload: { spec }, headers })

  it('is possible before it starts, as a whole and with what GET gave', async () => {
    await post(aiTask('early', { labels: { team: 'red' } }))
    const { metadata, spec, ...rest } = (await service.call('GET /api/v1/tasks/early')).json()
    const payload = { ...rest, metadata, spec: { ...spec, prompt: 'say goodbye', suspend: true, priority: 7 } }
    const changed = await service.call('PUT /api/v1/tasks/early', { payload })
    expect(changed.statusCode).toBe(200)
    expect(changed.json()).toMatchObject({
      metadata: { generation: 2, labels: { team: 'red' }, finalizers: metadata.finalizers },
      spec: { prompt: 'say goodbye', suspend: true, priority: 7 },
    })
    const stale = await put('early', spec, { 'if-match': `"${metadata.resourceVersion}"` })
    expect(stale.statusCode).toBe(409)
    expect((await put('nobody', spec)).statusCode).toBe(404)
  })

  it('is possible for a schedule at any time', async () => {
    const schedule = { type: 'ai', prompt: 'go', schedule: '@hourly' }
    await post({ name: 'hourly', ...schedule })
    await service.setStatus('Task', 'hourly', { phase: 'Scheduled', lastScheduleTime: '2026-01-01T00:00:00Z' })
    const changed = await put('hourly', { ...schedule, schedule: '@daily', suspend: true })
    expect(changed.json().spec).toMatchObject({ schedule: '@daily', suspend: true })
  })

  it.each(['Running', 'Succeeded', 'Failed', 'Cancelled', 'Pending'] as const)(
    'is 409, with field and phase, once it has started and is %s',
    async (phase) => {
      const name = `started-${phase.toLowerCase()}`
      await post(aiTask(name))
      await service.setStatus('Task', name, { phase, attempts: 1 })
      const { spec } = (await service.call(`GET /api/v1/tasks/${name}`)).json()
      const refused = await put(name, { ...spec, prompt: 'other', priority: 7 })
      expect([refused.statusCode, refused.json().error.reason]).toEqual([409, 'Conflict'])
      expect(refused.json().error.message).toMatch(new RegExp(`spec.priority, spec.prompt .* is ${phase}`))
      expect(refused.json().error.details).toContainEqual({
        path: 'spec.prompt',
        message: `is fixed: the task is ${phase}`,
      })
      expect((await put(name, { ...spec, ttlSecondsAfterFinished: 60 })).statusCode).toBe(200)
      const ended = phase !== 'Running' && phase !== 'Pending'
      const paused = await put(name, { ...spec, suspend: true, ttlSecondsAfterFinished: 60 })
      expect(paused.statusCode).toBe(ended ? 409 : 200)
      await put(name, { ...spec, ttlSecondsAfterFinished: 60 })
      const labelled = { metadata: { labels: { kept: 'yes' } }, spec: { ...spec, ttlSecondsAfterFinished: 60 } }
      expect((await service.call(`PUT /api/v1/tasks/${name}`, { payload: labelled })).statusCode).toBe(200)
    },
  )

  it('refuses what a new task may not have either', async () => {
    await post(aiTask('wrong'))
    expect((await put('wrong', { type: 'ai' })).statusCode).toBe(400)
    expect((await put('wrong', { type: 'ai', prompt: 'x', requestedBy: { subject: 'me' } })).statusCode).toBe(400)
    const long = `l${'o'.repeat(60)}ng`
    await post(aiTask(long))
    expect((await put(long, { type: 'ai', prompt: 'x', schedule: '@hourly' })).json().error.details).toMatchObject([
      { path: 'name' },
    ])
  })
})

describe('reading tasks', () => {
  it('lists them page by page, each once and in order of name [TASK-022]', async () => {
    const names = Array.from({ length: 7 }, (_, number) => `paged-${number}`)
    for (const name of names.toReversed()) await post(aiTask(name, { namespace: 'pages' }))
    const seen: string[][] = []
    let next: string | undefined
    do {
      const query = `namespace=pages&limit=3${next === undefined ? '' : `&continue=${encodeURIComponent(next)}`}`
      const { items, metadata } = (await service.call(`GET /api/v1/tasks?${query}`)).json()
      seen.push(items.map((task: { metadata: { name: string } }) => task.metadata.name))
      next = metadata.continue
    } while (next !== undefined)
    expect(seen).toEqual([names.slice(0, 3), names.slice(3, 6), names.slice(6)])
  })

  it('gives one with all there is to know of it [TASK-023]', async () => {
    const created = (await post(aiTask('known', { labels: { team: 'a' }, timeout: '5m' }))).json()
    const status = { phase: 'Running' as const, attempts: 2, message: 'attempt 2 runs', iteration: 0 }
    await service.setStatus('Task', 'known', status)
    const read = (await service.call('GET /api/v1/tasks/known')).json()
    expect(read).toEqual({
      ...created,
      metadata: { ...created.metadata, resourceVersion: expect.any(String) },
      status,
    })
    expect(read).toMatchObject({ kind: 'Task', metadata: { uid: expect.any(String) }, spec: { timeout: '5m' } })
  })

  it('answers 404 for an unknown one', async () => {
    const answer = await service.call('GET /api/v1/tasks/nobody')
    expect(answer.statusCode).toBe(404)
    expect(answer.json().error).toMatchObject({ code: 404, reason: 'NotFound' })
    expect(answer.json().error.message).toContain('nobody')
  })

  it('filters by phase, type, agent, label and parent [TASK-032]', async () => {
    const inNamespace = (payload: object) => post({ ...payload, namespace: 'filters' })
    await inNamespace(aiTask('one', { labels: { team: 'red' } }))
    await inNamespace({ name: 'two', type: 'container', command: ['true'] })
    await inNamespace(aiTask('three', { agentRef: { name: 'helper' } }))
    await service.setStatus('Task', 'two', { phase: 'Running' }, 'filters')
    const namesFor = async (query: string) => {
      const answer = await service.call(`GET /api/v1/tasks?namespace=filters&${query}`)
      expect(answer.statusCode).toBe(200)
      return answer.json().items.map((task: { metadata: { name: string } }) => task.metadata.name)
    }
    expect(await namesFor('')).toEqual(['one', 'three', 'two'])
    expect(await namesFor('phase=Running')).toEqual(['two'])
    expect(await namesFor('phase=Running,Failed&search=TW')).toEqual(['two'])
    expect(await namesFor('type=container')).toEqual(['two'])
    expect(await namesFor('agent=helper')).toEqual(['three'])
    expect(await namesFor('labelSelector=team%3Dred')).toEqual(['one'])
    expect(await namesFor('parent=one')).toEqual([])
    expect((await service.call('GET /api/v1/tasks?phase=Sleeping')).statusCode).toBe(400)
    expect((await service.call('GET /api/v1/tasks?labelSelector=%3D%3D')).statusCode).toBe(400)
  })

  it('lists the children of a task by their parent, none for an unknown one [TASK-029]', async () => {
    await post(aiTask('parent'))
    const spec = {
      type: 'ai' as const,
      prompt: 'p',
      priority: 500,
      concurrencyPolicy: 'Forbid' as const,
      startingDeadlineSeconds: 100,
    }
    const makeChild = async (name: string, metadata: object) =>
      service.ports.resources.create('Task', {
        metadata: { namespace: 'default', name, ...metadata },
        spec: { ...spec, successfulRunsHistoryLimit: 3, failedRunsHistoryLimit: 1, suspend: false },
      })
    const uidOf = async (name: string) => (await service.call(`GET /api/v1/tasks/${name}`)).json().metadata.uid
    const ownedBy = (uid: string) => ({ apiVersion, kind: 'Task', name: 'parent', uid, controller: true })
    await makeChild('child', { ownerReferences: [ownedBy(await uidOf('parent'))] })
    await makeChild('claims', {
      labels: { 'svc.ai/parent-task': 'parent' },
      annotations: { 'svc.ai/parent-task-name': 'parent' },
    })
    for (const line of ['GET /api/v1/tasks/parent/children', 'GET /api/v1/tasks?parent=parent']) {
      const { items } = (await service.call(line)).json()
      expect(items.map((task: { metadata: { name: string } }) => task.metadata.name)).toEqual(['child'])
    }
    const none = await service.call('GET /api/v1/tasks/no-such-parent/children')
    expect([none.statusCode, none.json()]).toEqual([200, { items: [], metadata: {} }])
  })
})

describe('cancelling a task', () => {
  it('asks the controller for it and answers the task; again is harmless', async () => {
    await post(aiTask('cancel-me'))
    const first = await service.call('POST /api/v1/tasks/cancel-me/cancel', { payload: { reason: 'enough' } })
    expect(first.statusCode).toBe(200)
    expect(first.json().metadata.annotations['svc.ai/cancel-requested']).toBe('enough')
    const again = await service.call('POST /api/v1/tasks/cancel-me/cancel')
    expect(again.json().metadata.resourceVersion).toBe(first.json().metadata.resourceVersion)
  })

  it('is not an error when it is cancelled, and 409 when it has ended otherwise', async () => {
    await post(aiTask('over'))
    await service.setStatus('Task', 'over', { phase: 'Cancelled' })
    expect((await service.call('POST /api/v1/tasks/over/cancel')).statusCode).toBe(200)
    await service.setStatus('Task', 'over', { phase: 'Succeeded' })
    const answer = await service.call('POST /api/v1/tasks/over/cancel')
    expect(answer.statusCode).toBe(409)
    expect(answer.json().error.message).toContain('Succeeded')
    expect((await service.call('POST /api/v1/tasks/nobody/cancel')).statusCode).toBe(404)
  })

  it('names an unknown field of its body', async () => {
    await post(aiTask('strict-cancel'))
    const answer = await service.call('POST /api/v1/tasks/strict-cancel/cancel', { payload: { why: 'x' } })
    expect(answer.statusCode).toBe(400)
    expect(answer.json().error.details[0].path).toBe('why')
  })
})

describe('trying a task again', () => {
  it('makes a new task of the spec, numbered, without what the service set', async () => {
    await post(aiTask('again', { labels: { team: 'a' } }))
    expect((await service.call('POST /api/v1/tasks/again/retry')).statusCode).toBe(409)
    await service.setStatus('Task', 'again', { phase: 'Failed' })
    const first = await service.call('POST /api/v1/tasks/again/retry')
    expect(first.statusCode).toBe(201)
    expect(first.json()).toMatchObject({
      metadata: { name: 'again-retry-1', labels: { team: 'a', 'svc.ai/retry-of': 'again' } },
      spec: { prompt: 'say hello' },
    })
    expect((await service.call('POST /api/v1/tasks/again/retry')).json().metadata.name).toBe('again-retry-2')
    await service.setStatus('Task', 'again-retry-2', { phase: 'Failed' })
    expect((await service.call('POST /api/v1/tasks/again-retry-2/retry')).json().metadata.name).toBe('again-retry-3')
  })

  it('is noted, also where the spec is changed, so that the origin finds what repeats it', async () => {
    await post(aiTask('origin'))
    await service.setStatus('Task', 'origin', { phase: 'Failed' })
    const changed = await service.call('POST /api/v1/tasks?retryOf=origin', { payload: aiTask('changed') })
    expect(changed.json().metadata.labels).toEqual({ 'svc.ai/retry-of': 'origin' })
    await service.call('POST /api/v1/tasks/origin/retry')
    const selector = encodeURIComponent('svc.ai/retry-of=origin')
    const found = await service.call(`GET /api/v1/tasks?labelSelector=${selector}`)
    expect(found.json().items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual([
      'changed',
      'origin-retry-1',
    ])
    await service.setStatus('Task', 'changed', { phase: 'Failed' })
    const again = await service.call('POST /api/v1/tasks/changed/retry')
    expect(again.json().metadata.labels).toEqual({ 'svc.ai/retry-of': 'changed' })
    const forged = aiTask('forged', { labels: { 'svc.ai/retry-of': 'origin' } })
    expect((await service.call('POST /api/v1/tasks', { payload: forged })).statusCode).toBe(400)
    expect((await service.call('POST /api/v1/tasks?retryOf=No+Name', { payload: aiTask('odd') })).statusCode).toBe(400)
  })

  it('counts as made by who tries it again [USAGE-002]', async () => {
    await post(aiTask('shared'))
    await service.setStatus('Task', 'shared', { phase: 'Failed' })
    const { token, record } = await service.ports.tokens.create({
      name: 'colleague',
      role: 'editor',
      serverTools: true,
    })
    const retried = await service.call('POST /api/v1/tasks/shared/retry', { token })
    const callerOf = async (name: string) =>
      (await service.ports.resources.get('Task', { namespace: 'default', name }))?.metadata.annotations?.[
        'svc.ai/caller-id'
      ]
    expect(await callerOf('shared')).toBe('owner')
    expect(await callerOf(retried.json().metadata.name)).toBe(record.id)
  })

  it('takes a name of the caller, which must be free', async () => {
    await post(aiTask('named'))
    await service.setStatus('Task', 'named', { phase: 'Succeeded' })
    const retry = () => service.call('POST /api/v1/tasks/named/retry', { payload: { name: 'other' } })
    expect((await retry()).json().metadata.name).toBe('other')
    expect((await retry()).statusCode).toBe(409)
  })

  it('shortens a long name, never the number', async () => {
    const name = `${'n'.repeat(62)}x`
    await post(aiTask(name))
    await service.setStatus('Task', name, { phase: 'Failed' })
    const answer = await service.call(`POST /api/v1/tasks/${name}/retry`)
    expect(answer.json().metadata.name).toBe(`${'n'.repeat(55)}-retry-1`)
  })
})

describe('deleting a task', () => {
  it('answers 204, again while it is on its way, and 404 once it is gone [TASK-024]', async () => {
    await post(aiTask('gone'))
    const remove = () => service.call('DELETE /api/v1/tasks/gone')
    const first = await remove()
    expect([first.statusCode, first.body]).toEqual([204, ''])
    expect((await remove()).statusCode).toBe(204)
    const task = (await service.call('GET /api/v1/tasks/gone')).json()
    expect(task.metadata.deletionTimestamp).toBeDefined()
    const { finalizers: _, ...metadata } = task.metadata
    await service.ports.resources.update('Task', { ...task, metadata })
    expect((await remove()).statusCode).toBe(404)
  })
})
