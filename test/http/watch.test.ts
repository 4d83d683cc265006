// The one live stream: what happens to objects, for whom it may be told, taken up where it broke off.
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Role } from '../../src/contract/api/identity/access.ts'
import { TaskSpec } from '../../src/contract/kinds/tasks/task.ts'
import { summarize } from '../../src/contract/schema/summary.ts'
import type { Authorizer } from '../../src/ports/identity/identity.ts'
import { aiTask, ownerToken, type Service, startService } from './service.ts'

type Event = {
  id?: number
  event: string
  data: { kind?: string; namespace?: string; object?: Watched; resourceVersion?: string }
}
type Watched = {
  metadata: { name: string; namespace: string; resourceVersion: string }
  status?: { phase?: string }
}

let refused: string[] = []
const authorizer: Authorizer = {
  authorize: async (_caller, { verb, namespace }) =>
    verb === 'list' && (namespace === undefined ? refused.length > 0 : refused.includes(namespace))
      ? { allowed: false, reason: 'not there' }
      : { allowed: true },
}
const ring = { changes: 60, characters: 10_000_000 }

let service: Service
let base: string
const closing: (() => void)[] = []
beforeAll(async () => {
  service = await startService({ http: { heartbeatMs: 50, recheckMs: 0 }, identity: { authorizer }, ring })
  base = await service.listen()
})
afterAll(() => service.stop())
beforeEach(() => {
  refused = []
})
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

function parseFrame(frame: string): Event | undefined {
  const fields = Object.fromEntries(
    frame.split('\n').flatMap((line) => {
      const [, key, value] = /^(\w+): (.*)$/.exec(line) ?? []
      return key === undefined ? [] : [[key, value]]
    }),
  )
  if (fields.event === undefined) return undefined
  const id = fields.id === undefined ? {} : { id: Number(fields.id) }
  return { ...id, event: fields.event, data: JSON.parse(String(fields.data)) }
}

async function watch(query: string, { token = ownerToken, after }: { token?: string; after?: number } = {}) {
  const gone = new AbortController()
  closing.push(() => gone.abort())
  const response = await fetch(`${base}/api/v1/watch?${query}`, {
    headers: { authorization: `Bearer ${token}`, ...(after === undefined ? {} : { 'last-event-id': String(after) }) },
    signal: gone.signal,
  })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  let isOver = false
  const frames = () => text.split('\n\n').slice(0, -1)
  const events = () => frames().flatMap((frame) => parseFrame(frame) ?? [])
  async function until(done: () => boolean): Promise<void> {
    while (!isOver && !done()) {
      const step = await reader?.read()
      if (step === undefined || step.done) isOver = true
      else text += step.value
    }
  }
  const told = () =>
    events().flatMap(({ event, data }) => (data.object ? [`${event} ${data.object.metadata.name}`] : []))
  return {
    response,
    close: () => gone.abort(),
    events,
    told,
    text: () => text,
    isOver: () => isOver,
    until: (event: string) => until(() => told().includes(event) || events().some((one) => one.event === event)),
    untilSo: until,
    end: () => until(() => false),
  }
}

const tokenFor = async (role: Role, namespace?: string) =>
  service.ports.tokens.create({
    name: role,
    role,
    serverTools: true,
    ...(namespace === undefined ? {} : { namespace }),
  })

let count = 0
/** A namespace that no other test has. */
const placeOf = () => `place-${++count}`
const create = (namespace: string, name: string, more: object = {}) =>
  service.call('POST /api/v1/tasks', { payload: aiTask(name, { namespace, ...more }) })

/** Without the finalizer that a controller would take off. */
async function detach(namespace: string, name: string): Promise<void> {
  const task = await service.ports.resources.get('Task', { namespace, name })
  if (task === undefined) throw new Error(`${name} is not there`)
  const { finalizers: _done, ...metadata } = task.metadata
  await service.ports.resources.update('Task', { ...task, metadata })
}

describe('a watch', () => {
  it('begins with what there is, says so, and tells each change in order, with rising ids', async () => {
    const place = placeOf()
    for (const name of ['a', 'b']) await create(place, name)
    const stream = await watch(`kinds=Task&namespaces=${place}`)
    expect(stream.response.headers.get('content-type')).toContain('text/event-stream')
    await stream.until('synced')
    expect(stream.told()).toEqual(['added a', 'added b'])
    await create(place, 'c')
    await service.setStatus('Task', 'a', { phase: 'Running' }, place)
    await detach(place, 'b')
    await service.ports.resources.remove('Task', { namespace: place, name: 'b' })
    await stream.until('deleted b')
    const told = stream.told().slice(2)
    expect([told[0], told[1], told.at(-1)]).toEqual(['added c', 'modified a', 'deleted b'])
    const [changed] = stream.events().filter(({ event }) => event === 'modified')
    expect(changed?.data.object).toEqual(await service.ports.resources.get('Task', { namespace: place, name: 'a' }))
    const ids = stream.events().flatMap(({ id }) => id ?? [])
    expect(ids.length).toBeGreaterThanOrEqual(4)
    expect(ids).toEqual(ids.toSorted((one, other) => one - other))
  })

  it('tells of records that changed where the caller may list them', async () => {
    const [place, hidden] = [placeOf(), placeOf()]
    const remember = (namespace: string) =>
      service.call('POST /api/v1/memories', { payload: { namespace, content: 'a fact' } })
    refused = [hidden]
    const query = 'kinds=Task&records=Memory,MemoryProposal,Audit'
    const stream = await watch(`${query}&allNamespaces=true`)
    await stream.until('synced')
    for (const namespace of [hidden, place]) expect((await remember(namespace)).statusCode).toBe(201)
    const named = () => stream.events().filter(({ event }) => event === 'records')
    await stream.untilSo(() => named().some(({ data }) => data.kind === 'Memory'))
    expect(named()).toContainEqual({ event: 'records', data: { kind: 'Memory', namespace: place } })
    await create(place, 'a')
    await stream.until('added a')
    expect(JSON.stringify(named())).not.toContain(`"${hidden}"`)
    const viewer = await tokenFor('viewer', place)
    const after = stream.events().findLast(({ id }) => id !== undefined)?.id ?? 0
    const again = await watch(`${query}&namespaces=${place}`, { token: viewer.token, after })
    await again.until('records')
    expect(again.events().map(({ data }) => data.kind)).not.toContain('Audit')
    expect(again.events()[0]).toEqual({ event: 'records', data: { kind: 'Memory' } })
    expect((await watch('kinds=Task&records=Task')).response.status).toBe(400)
  })

  it('leaves out what is present when told so', async () => {
    const place = placeOf()
    await create(place, 'a')
    const stream = await watch(`kinds=Task&namespaces=${place}&present=false`)
    await stream.until('synced')
    await create(place, 'b')
    await stream.until('added b')
    expect(stream.told()).toEqual(['added b'])
    expect((await watch('kinds=Task&present=no')).response.status).toBe(400)
  })

  it('goes on after Last-Event-ID, and after the version of an object, without a gap', async () => {
    const place = placeOf()
    const stream = await watch(`kinds=Task,Agent&namespaces=${place}`)
    await stream.until('synced')
    const made = (await create(place, 'a')).json()
    await stream.until('added a')
    const last = stream.events().findLast(({ event }) => event === 'added')?.id
    stream.close()
    await create(place, 'b')
    await service.call('POST /api/v1/agents', { payload: { name: 'c', namespace: place, spec: {} } })
    await create(place, 'd')
    const resumed = await watch(`kinds=Task,Agent&namespaces=${place}`, { after: last ?? 0 })
    await resumed.until('added d')
    expect(resumed.told()).toEqual(['added b', 'added c', 'added d'])
    expect(resumed.events().map(({ data }) => data.kind)).toEqual(['Task', 'Agent', 'Task'])
    const since = await watch(`kinds=Task&namespaces=${place}&resourceVersion=${made.metadata.resourceVersion}`)
    await since.until('added d')
    expect(since.told()).toEqual(['added b', 'added d'])
  })

  it('is 410 from a version that is no longer kept, and from one that never existed', async () => {
    const place = placeOf()
    const first = (await create(place, 'first')).json().metadata.resourceVersion
    for (let index = 0; index < ring.changes + 5; index++) await create(place, `t-${index}`)
    for (const after of [Number(first), 999_999_999]) {
      const stream = await watch('kinds=Task', { after })
      expect(stream.response.status).toBe(410)
      await stream.end()
      expect(JSON.parse(stream.text()).error.reason).toBe('Expired')
    }
  })

  it('sends a bookmark when nothing changes, from which another watch can continue', async () => {
    const [place, elsewhere] = [placeOf(), placeOf()]
    const stream = await watch(`kinds=Task&namespaces=${place}`)
    await stream.until('synced')
    await create(elsewhere, 'unseen')
    await stream.until('bookmark')
    const bookmark = stream.events().findLast(({ event }) => event === 'bookmark')
    expect(bookmark?.data).toEqual({ resourceVersion: String(bookmark?.id) })
    await create(place, 'seen')
    const resumed = await watch(`kinds=Task&namespaces=${place}`, { after: bookmark?.id ?? 0 })
    await resumed.until('added seen')
    expect(resumed.told()).toEqual(['added seen'])
  })

  it('is of the objects that match: kinds, namespace, name, labels', async () => {
    const [place, elsewhere] = [placeOf(), placeOf()]
    await create(place, 'a', { metadata: { labels: { team: 'red' } } })
    const red = await watch(`kinds=Task&namespaces=${place},${elsewhere}&labelSelector=team%3Dred`)
    const named = await watch(`kinds=Task,Agent&namespaces=${place}&names=b,c`)
    await red.until('synced')
    await named.until('synced')
    const relabel = async (team: string) => {
      const task = await service.ports.resources.get('Task', { namespace: place, name: 'a' })
      if (task === undefined) throw new Error('it is gone')
      await service.ports.resources.update('Task', { ...task, metadata: { ...task.metadata, labels: { team } } })
    }
    await relabel('blue')
    await relabel('red')
    await create(elsewhere, 'b', { metadata: { labels: { team: 'red' } } })
    await create(place, 'b')
    await red.until('added b')
    await named.until('added b')
    expect(red.told()).toEqual(['added a', 'deleted a', 'added a', 'added b'])
    expect(named.told()).toEqual(['added b'])
  })

  it('is of the tasks that a list with the same filters has', async () => {
    const place = placeOf()
    for (const name of ['a', 'b', 'c']) await create(place, name)
    await create(place, 'd', { agentRef: { name: 'writer' } })
    await service.setStatus('Task', 'a', { phase: 'Running' }, place)
    const filters = [
      'phase=Running',
      'type=ai&phase=Running',
      'agent=writer',
      'names=a,d&type=ai',
      'phase=Pending&names=b',
    ]
    for (const filter of filters) {
      const stream = await watch(`kinds=Task&namespaces=${place}&${filter}`)
      await stream.until('synced')
      const { items } = (
        await service.call(`GET /api/v1/tasks?namespace=${place}&${filter.replace(/&?names=[^&]*/, '')}`)
      ).json()
      const names = /names=([^&]*)/.exec(filter)?.[1]?.split(',')
      const listed = items
        .map(({ metadata }: Watched) => metadata.name)
        .filter((name: string) => names?.includes(name) ?? true)
      expect(stream.told(), filter).toEqual(listed.map((name: string) => `added ${name}`))
      expect(listed.length, filter).toBeGreaterThan(0)
    }
    const running = await watch(`kinds=Task&namespaces=${place}&phase=Running`)
    await running.until('synced')
    await service.setStatus('Task', 'b', { phase: 'Running' }, place)
    await service.setStatus('Task', 'a', { phase: 'Succeeded' }, place)
    await running.until('deleted a')
    expect(running.told()).toEqual(['added a', 'added b', 'deleted a'])
    expect(running.events().at(-1)?.data.object?.status?.phase).toBe('Succeeded')
  })

  it('has summaries where they are asked for', async () => {
    const place = placeOf()
    const made = (await create(place, 'a')).json()
    const stream = await watch(`kinds=Task&namespaces=${place}&view=summary`)
    await stream.until('synced')
    expect(stream.events()[0]?.data).toEqual({ kind: 'Task', object: summarize('Task', made) })
  })

  it('covers the caller’s own namespace unless others are named', async () => {
    const { token } = await tokenFor('viewer', 'home')
    await create('home', 'mine')
    const stream = await watch('kinds=Task', { token })
    await stream.until('synced')
    expect(stream.told()).toEqual(['added mine'])
  })

  it.each([
    ['', 'kinds'],
    ['kinds=', 'kinds'],
    ['kinds=Secret', 'kinds'],
    ['kinds=Task&namespaces=', 'namespaces'],
    ['kinds=Task&namespaces=a&allNamespaces=true', 'allNamespaces'],
    ['kinds=Task&resourceVersion=x', 'resourceVersion'],
    ['kinds=Task&phase=Done', 'phase'],
    ['kinds=Task&names=A', 'names'],
    ['kinds=Task,Agent&phase=Running', 'phase'],
    ['kinds=Task&more=1', 'more'],
  ])('with %j is refused, naming %s', async (query, path) => {
    const answer = await service.call(`GET /api/v1/watch?${query}`)
    expect([answer.statusCode, answer.json().error.details[0].path.split(/[.[]/)[0]]).toEqual([400, path])
  })

  it('ends when the service stops, with a retry time', async () => {
    const other = await startService()
    const url = await other.listen()
    const answer = await fetch(`${url}/api/v1/watch?kinds=Task`, { headers: { authorization: `Bearer ${ownerToken}` } })
    const text = answer.text()
    await other.stop()
    expect(await text).toMatch(/retry: \d+\n/)
  })
})

describe('what a watch tells', () => {
  it('has nothing of a namespace that the caller may not list', async () => {
    const [place, foreign] = [placeOf(), placeOf()]
    const { token } = await tokenFor('viewer', place)
    expect((await watch(`kinds=Task&namespaces=${place},${foreign}`, { token })).response.status).toBe(403)
    await create(foreign, 'old-secret')
    const bound = await watch('kinds=Task,Agent&allNamespaces=true', { token })
    refused = [foreign]
    const some = await watch('kinds=Task&allNamespaces=true')
    await some.until('synced')
    await create(foreign, 'new-secret')
    await service.ports.resources.remove('Task', { namespace: foreign, name: 'old-secret' })
    await create(place, 'open')
    for (const stream of [bound, some]) {
      await stream.until('added open')
      expect(stream.text()).not.toContain('secret')
    }
    expect((await watch(`kinds=Task&namespaces=${foreign}`)).response.status).toBe(403)
  })

  it('ends once a named namespace may no longer be listed, without reporting its objects; the next request says why', async () => {
    const [place, lost] = [placeOf(), placeOf()]
    await create(lost, 'known')
    const stream = await watch(`kinds=Task&namespaces=${place},${lost}`)
    await stream.until('synced')
    expect(stream.told()).toEqual(['added known'])
    refused = [lost]
    await create(lost, 'hidden')
    await service.setStatus('Task', 'known', { phase: 'Running' }, lost)
    await service.ports.resources.remove('Task', { namespace: lost, name: 'known' })
    await stream.end()
    expect(stream.told()).toEqual(['added known'])
    expect((await watch(`kinds=Task&namespaces=${place},${lost}`)).response.status).toBe(403)
  })

  it('goes on without a namespace that is not named and may no longer be listed', async () => {
    const [place, lost] = [placeOf(), placeOf()]
    const stream = await watch('kinds=Task&allNamespaces=true')
    await stream.until('synced')
    refused = [lost]
    await create(lost, 'unlisted')
    await create(place, 'listed')
    await stream.until('added listed')
    expect(stream.text()).not.toContain('unlisted')
  })

  it('ends with the token: changes after its revocation are not reported', async () => {
    const place = placeOf()
    const { token, record } = await tokenFor('viewer')
    const stream = await watch(`kinds=Task&namespaces=${place}`, { token })
    const logs = await create(place, 'before')
    expect(logs.statusCode).toBe(201)
    await stream.until('added before')
    await service.ports.tokens.revoke(record.id)
    await create(place, 'after')
    await stream.end()
    expect(stream.told()).toEqual(['added before'])
    expect((await watch(`kinds=Task&namespaces=${place}`, { token })).response.status).toBe(401)
  })
})

describe('streams', () => {
  const openNow = async () => Number(/connections_current (\d+)/.exec((await service.metrics.expose()).text)?.[1])

  it('of one caller are limited in number, and free again when they end', async () => {
    const { token } = await tokenFor('viewer')
    const path = 'kinds=Task&namespaces=nowhere'
    const caller = await service.ports.authenticator.authenticate({ token, source: 'bearer' })
    const gone = new AbortController()
    for (let index = 0; index < 199; index++) {
      const open = await service.usecases.watch.open(caller, { kinds: ['Task'], namespaces: ['nowhere'] })
      open(gone.signal)
    }
    const last = await watch(path, { token })
    expect(last.response.status).toBe(200)
    const refusal = await watch(path, { token })
    expect([refusal.response.status, Number(refusal.response.headers.get('retry-after'))]).toEqual([429, 5])
    const other = await tokenFor('viewer')
    expect((await watch(path, { token: other.token })).response.status).toBe(200)
    last.close()
    await expect.poll(async () => (await watch(path, { token })).response.status).toBe(200)
  })

  it('buffer nothing for a reader that does not read: they end, and the next try says why', async () => {
    const place = placeOf()
    const started = await openNow()
    const request = get(`${base}/api/v1/watch?kinds=Task&namespaces=${place}`, {
      headers: { authorization: `Bearer ${ownerToken}` },
    })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    response.pause()
    const annotations = { note: 'x'.repeat(200_000) }
    const total = 150
    const spec = TaskSpec.parse({ type: 'ai', prompt: 'say hello' })
    for (let index = 0; index < total; index++) {
      const metadata = { namespace: place, name: `big-${index}`, annotations }
      await service.ports.resources.create('Task', { metadata, spec })
    }
    let text = ''
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => {
      text += chunk
    })
    response.resume()
    await once(response, 'end')
    const events = text.split('\n\n').flatMap((frame) => parseFrame(frame) ?? [])
    const told = events.filter(({ event }) => event === 'added').length
    expect(told).toBeLessThan(total)
    const after = events.findLast(({ id }) => id !== undefined)?.id ?? 0
    expect((await watch(`kinds=Task&namespaces=${place}`, { after })).response.status).toBe(410)
    await expect.poll(openNow).toBeLessThanOrEqual(started)
  })
})
