// Who may act inside somebody's task: every door that changes what it does or starts it, asked by every role, for its own
// and another's, with and without a Secret.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { routesByName } from '../../src/contract/api/index.ts'
import { type ActingDoor, actingDoors, letsIn, type TaskStanding } from '../../src/contract/api/tasks/acting-doors.ts'
import { type Service, startService } from './service.ts'

const namespace = 'team'
const callers = ['viewer', 'runner', 'other runner', 'editor', 'owner', 'runner elsewhere'] as const
type CallerName = (typeof callers)[number]

type Made = { name: string; token: string | null }
const bytes = { 'content-type': 'application/octet-stream' }

let service: Service
const tokens: Partial<Record<CallerName, string>> = {}
const tokenOf = (caller: CallerName) => tokens[caller] ?? null
let made = 0

/** What the author asks for: with an agent's Secret, with one of its own, or without. */
const secretSpecs: Record<string, object> = {
  without: { agentRef: { name: 'plain' } },
  "with an agent's": { agentRef: { name: 'keyed' } },
  "with a task's": {
    agentRef: { name: 'plain' },
    env: [{ name: 'KEY', valueFrom: { secretKeyRef: { name: 'key', key: 'token' } } }],
  },
}

async function make(kind: string, name: string, token: string | null, more: object) {
  const answer = await service.call(`POST /api/v1/${kind}`, {
    token,
    payload: kind === 'secrets' ? { name, namespace, ...more } : { metadata: { name, namespace }, spec: more },
  })
  if (answer.statusCode !== 201) throw new Error(answer.body)
}

async function change(task: Made, more: object) {
  const path = `/api/v1/tasks/${task.name}?namespace=${namespace}`
  const { spec } = (await service.call(`GET ${path}`)).json()
  const { requestedBy: _requestedBy, transaction: _transaction, ...rest } = spec
  return service.call(`PUT ${path}`, { token: task.token, payload: { metadata: {}, spec: { ...rest, ...more } } })
}

async function answer(task: Made, verb: string) {
  const found = await service.ports.resources.get('Task', { namespace, name: task.name })
  const approval = await service.ports.records.approvals.ask({
    namespace,
    task: { uid: found?.metadata.uid ?? '', name: task.name },
    agentName: undefined,
    call: 'x',
    tool: 'x',
    arguments: {},
    message: 'x',
    expiresAt: new Date(service.ports.clock.now().getTime() + 3_600_000),
  })
  const line = `POST /api/v1/approvals/${approval.id}/${verb}?namespace=${namespace}`
  return service.call(line, { token: task.token, payload: {} })
}

type Answer = { statusCode: number; json(): { error: { message: string } } }
const doors: Record<string, { route: string; spec?: object; enter: (task: Made) => Promise<Answer>; isIn: number }> = {
  'a change of its prompt': { route: 'updateTask', enter: (task) => change(task, { prompt: 'other' }), isIn: 200 },
  'its start': { route: 'updateTask', enter: (task) => change(task, { suspend: false }), isIn: 200 },
  'a change of its schedule': {
    route: 'updateTask',
    spec: { schedule: '0 0 1 1 *' },
    enter: (task) => change(task, { schedule: '0 0 2 1 *' }),
    isIn: 200,
  },
  'a run of it': {
    route: 'runTask',
    spec: { schedule: '0 0 1 1 *' },
    enter: ({ name, token }) => service.call(`POST /api/v1/tasks/${name}/run?namespace=${namespace}`, { token }),
    isIn: 202,
  },
  'a file for it': {
    route: 'putTaskInput',
    enter: ({ name, token }) =>
      service.call(`PUT /api/v1/tasks/${name}/inputs/a?namespace=${namespace}`, {
        token,
        payload: 'x',
        headers: bytes,
      }),
    isIn: 204,
  },
  // Whoever may open it is told that the task has not ended.
  'a pull request of it': {
    route: 'openTaskPullRequest',
    enter: ({ name, token }) =>
      service.call(`POST /api/v1/tasks/${name}/pull-request?namespace=${namespace}`, { token, payload: {} }),
    isIn: 409,
  },
  'a yes to its question': { route: 'approve', enter: (task) => answer(task, 'approve'), isIn: 200 },
  'a no to its question': { route: 'decline', enter: (task) => answer(task, 'decline'), isIn: 200 },
}

beforeAll(async () => {
  service = await startService()
  for (const caller of callers) {
    const role = caller.split(' ').find((word) => ['viewer', 'runner', 'editor', 'owner'].includes(word))
    const bound = caller.endsWith(' elsewhere') ? { namespace: 'elsewhere' } : {}
    const payload = { name: caller.replace(' ', '-'), role, ...bound }
    tokens[caller] = (await service.call('POST /api/v1/tokens', { payload })).json().token
  }
  const editor = tokenOf('editor')
  await make('secrets', 'key', editor, { stringData: { token: 'value' } })
  const runtime = { type: 'llma-cli' }
  await make('agents', 'plain', editor, { runtime })
  await make('agents', 'keyed', editor, { runtime, secretRef: { name: 'key' } })
  await make('agents', 'asking', editor, {
    runtime,
    secretRef: { name: 'key' },
    coordination: { approvers: [{ kind: 'token', id: await idOf('runner') }] },
  })
})
afterAll(() => service?.stop())

async function idOf(caller: CallerName): Promise<string> {
  await make('tasks', 'whoami', tokenOf(caller), { type: 'ai', prompt: 'x', suspend: true })
  const task = await service.ports.resources.get('Task', { namespace, name: 'whoami' })
  return task?.metadata.annotations?.['svc.ai/caller-id'] ?? ''
}

it('every route that changes a task or answers for it is asked here', () => {
  const inside = Object.entries(routesByName).filter(
    ([, { path, method }]) =>
      method !== 'GET' &&
      (/^\/api\/v1\/(tasks|approvals|workspaces)\/:/.test(path) ||
        /^\/api\/v1\/(tasks|agents|skills|providers|tools|configmaps|chat)\b/.test(path)),
  )
  const listed = Object.values(actingDoors).flatMap(({ routes }) => routes)
  // Whoever ends a turn of chat gives it nothing, nor who tries a provider.
  expect(inside.map(([name]) => name).sort()).toEqual([...listed, 'cancelChat', 'testProvider'].sort())
  const asked = new Set(Object.values(doors).map(({ route }) => route))
  expect([...asked].sort()).toEqual([...actingDoors.inside.routes, ...actingDoors.question.routes].sort())
})

async function makeTask(author: CallerName, more: object): Promise<string> {
  const name = `task-${++made}`
  await make('tasks', name, tokenOf(author), { type: 'agent', prompt: 'x', suspend: true, ...more })
  return name
}

function standingOf(caller: CallerName, author: CallerName): TaskStanding {
  if (caller === author) return 'requester'
  return caller === 'editor' || caller === 'owner' ? 'reader' : 'other'
}

function judge(door: ActingDoor, caller: CallerName, author: CallerName, secret: string): 'in' | 403 {
  if (caller === 'viewer' || caller === 'runner elsewhere') return 403
  return secret === 'without' || letsIn(door, standingOf(caller, author)) ? 'in' : 403
}

function classOf(door: string): ActingDoor {
  const { route = '' } = doors[door] ?? {}
  return (actingDoors.question.routes as readonly string[]).includes(route) ? 'question' : 'inside'
}

const cells = Object.keys(doors).flatMap((door) =>
  (['runner', 'editor'] as const).flatMap((author) =>
    Object.keys(secretSpecs)
      .filter((secret) => author === 'editor' || secret !== "with a task's")
      .flatMap((secret) =>
        callers.map((caller) => ({
          door,
          author,
          secret,
          caller,
          verdict: judge(classOf(door), caller, author, secret),
        })),
      ),
  ),
)

it.each(cells)('$door, by the $caller, where the $author made the task $secret Secret: $verdict', async (cell) => {
  const door = doors[cell.door]
  if (door === undefined) throw new Error('no such door')
  const name = await makeTask(cell.author, { ...secretSpecs[cell.secret], ...door.spec })
  const { statusCode } = await door.enter({ name, token: tokenOf(cell.caller) })
  expect(statusCode).toBe(cell.verdict === 'in' ? door.isIn : 403)
})

it('the refusal says what to do', async () => {
  const name = await makeTask('editor', { ...secretSpecs["with a task's"] })
  const refused = await change({ name, token: tokenOf('runner') }, { suspend: false })
  expect(refused.json().error.message).toBe(
    `task "${name}" is one of somebody else's tasks, and a Secret is given to it: the role runner may not get a Secret: ` +
      'use a token with the role editor; or ask whoever created them',
  )
})

it('whom the agent names as approver needs no right to its Secret', async () => {
  const name = await makeTask('editor', { agentRef: { name: 'asking' } })
  expect(letsIn('question', 'approver')).toBe(true)
  expect((await answer({ name, token: tokenOf('runner') }, 'approve')).statusCode).toBe(200)
})

/** Those of a runner; task-rights-identities.test.ts has those of an editor. */
type Way = Exclude<(typeof actingDoors.outside.routes)[number], 'deleteProvider' | 'deleteTool' | 'deleteConfigMap'>
const ways: Record<Way, (made: Made) => string> = {
  cancelTask: ({ name }) => `POST /api/v1/tasks/${name}/cancel`,
  deleteTask: ({ name }) => `DELETE /api/v1/tasks/${name}`,
  retryTask: ({ name }) => `POST /api/v1/tasks/${name}/retry`,
  deleteAgent: () => 'DELETE /api/v1/agents/unkeyed',
  deleteSkill: () => 'DELETE /api/v1/skills/unkeyed',
}

it.each(Object.keys(ways) as Way[])('%s gives a task nothing, and needs the role alone', async (route) => {
  await make('agents', 'unkeyed', tokenOf('editor'), { runtime }).catch(() => undefined)
  await make('skills', 'unkeyed', tokenOf('editor'), skill.made).catch(() => undefined)
  const name = await makeTask('editor', { ...secretSpecs["with a task's"], agentRef: { name: 'unkeyed' } })
  if (route === 'retryTask') await end(name)
  const token = tokenOf('other runner')
  const { statusCode } = await service.call(`${ways[route]({ name, token })}?namespace=${namespace}`, { token })
  expect([letsIn('outside', 'other'), statusCode < 300]).toEqual([true, route !== 'retryTask'])
})

/** What a task is made of beside its spec; `use` gives the fields of a task that uses one of that name. */
type Part = { kind: string; made: object; changed: object; use(name: string, ofAgent: object): Promise<object> }
const runtime = { type: 'llma-cli' }
const skill = {
  kind: 'skills',
  made: { description: 'x', content: { inline: 'x' } },
  changed: { description: 'x', content: { inline: 'other' } },
}
const parts: Record<string, Part> = {
  agent: {
    kind: 'agents',
    made: { runtime },
    changed: { runtime, model: { name: 'other' } },
    async use(name, ofAgent) {
      await make('agents', name, tokenOf('editor'), { ...this.made, ...ofAgent })
      return { agentRef: { name } }
    },
  },
  "agent's skill": {
    ...skill,
    async use(name, ofAgent) {
      await make('skills', name, tokenOf('editor'), this.made)
      await make('agents', `with-${name}`, tokenOf('editor'), { runtime, skills: [{ name }], ...ofAgent })
      return { agentRef: { name: `with-${name}` } }
    },
  },
  skill: {
    ...skill,
    async use(name) {
      await make('skills', name, tokenOf('editor'), this.made)
      return { type: 'ai', ai: { skills: [{ name }] } }
    },
  },
}

type PartDoor = (part: Part, name: string, token: string | null) => Promise<Answer>
const partDoors: Record<string, PartDoor> = {
  'a change of': ({ kind, changed }, name, token) =>
    service.call(`PUT /api/v1/${kind}/${name}?namespace=${namespace}`, {
      token,
      payload: { metadata: {}, spec: changed },
    }),
  'another with the name of': async ({ kind, made: spec }, name, token) => {
    const removed = await service.call(`DELETE /api/v1/${kind}/${name}?namespace=${namespace}`, { token })
    if (removed.statusCode >= 400) return removed
    return service.call(`POST /api/v1/${kind}`, { token, payload: { metadata: { name, namespace }, spec } })
  },
}

const partCells = Object.entries(parts).flatMap(([part, { kind }]) =>
  // Nobody but an editor may change an agent with a Secret, or give one to a task.
  Object.keys(secretSpecs).flatMap((secret) =>
    (kind === 'agents' || secret === "with a task's" ? (['editor'] as const) : (['runner', 'editor'] as const)).flatMap(
      (author) =>
        Object.keys(partDoors).flatMap((door) =>
          callers.map((caller) => ({
            door,
            part,
            author,
            secret,
            caller,
            verdict: judge('part', caller, author, secret),
          })),
        ),
    ),
  ),
)

async function makeUsed({ part, author, secret }: { part: Part; author: CallerName; secret: string }) {
  const name = `used-${++made}`
  const used = await part.use(name, secret === "with an agent's" ? { secretRef: { name: 'key' } } : {})
  return { name, task: await makeTask(author, { ...secretSpecs[secret], ...used }) }
}

function partOf(name: string): Part {
  const part = parts[name]
  if (part === undefined) throw new Error('no such part')
  return part
}

it.each(partCells)(
  '$door its $part, by the $caller, where the $author made the task $secret Secret: $verdict',
  async (cell) => {
    const part = partOf(cell.part)
    const { name } = await makeUsed({ ...cell, part })
    const { statusCode } = (await partDoors[cell.door]?.(part, name, tokenOf(cell.caller))) ?? {}
    if (cell.verdict === 'in') expect(statusCode).toBeLessThan(300)
    else expect(statusCode).toBe(403)
  },
)

it.each(Object.keys(parts))(
  'the refusal of its %s names a task that uses it and says what to do; when the task has ended there is none',
  async (key) => {
    const part = partOf(key)
    const { name, task } = await makeUsed({ part, author: 'editor', secret: "with a task's" })
    const changed = () => partDoors['a change of']?.(part, name, tokenOf('runner'))
    const noun = part.kind.slice(0, -1)
    expect((await changed())?.json().error.message).toMatch(
      new RegExp(
        `^${noun} "${name}" is used by task "${task}".* wait until it ends, or make another ${noun}: the role runner`,
      ),
    )
    const running = await service.ports.resources.get('Task', { namespace, name: task })
    if (running === undefined) throw new Error('no task')
    await service.ports.resources.updateStatus('Task', {
      ...running,
      status: { ...running.status, phase: 'Succeeded' },
    })
    expect((await changed())?.statusCode).toBe(200)
  },
)

/** Ways into the session of somebody's task; `waits`: with a task of the caller's own that was there before. */
type SessionDoor = { waits?: object; enter: (session: string, own: Made) => Promise<Answer>; isIn: number }
const nameOwn = () => `own-${++made}`
function makeInSession(session: string, token: string | null, more: object) {
  const spec = { type: 'ai', prompt: 'x', suspend: true, sessionRef: { name: session, create: true }, ...more }
  return service.call('POST /api/v1/tasks', { token, payload: { metadata: { name: nameOwn(), namespace }, spec } })
}
/** Whoever may enter is told that no provider is there. */
function chatIn(sessionId: string, token: string | null) {
  return service.call('POST /api/v1/chat', { token, payload: { message: 'x', sessionId, namespace } })
}
const sessionDoors: Record<string, SessionDoor> = {
  'a new task in': { enter: (session, { token }) => makeInSession(session, token, {}), isIn: 201 },
  'a schedule in': {
    enter: (session, { token }) => makeInSession(session, token, { schedule: '0 0 1 1 *' }),
    isIn: 201,
  },
  'a task that goes over to': {
    waits: {},
    enter: (session, own) => change(own, { sessionRef: { name: session, create: true } }),
    isIn: 200,
  },
  'the start of a task that waited in': {
    waits: { inSession: true },
    enter: (_session, own) => change(own, { suspend: false }),
    isIn: 200,
  },
  'a change of the time zone of a schedule that waited in': {
    waits: { inSession: true, schedule: '0 0 1 1 *' },
    enter: (_session, own) => change(own, { timeZone: 'Europe/Berlin' }),
    isIn: 200,
  },
  'a turn of chat in': { enter: (session, { token }) => chatIn(session, token), isIn: 400 },
  'a run of a schedule that waited in': {
    waits: { inSession: true, schedule: '0 0 1 1 *' },
    enter: (_session, { name, token }) =>
      service.call(`POST /api/v1/tasks/${name}/run?namespace=${namespace}`, { token }),
    isIn: 202,
  },
}

const sessionCells = Object.keys(sessionDoors).flatMap((door) =>
  (['runner', 'editor'] as const).flatMap((author) =>
    Object.keys(secretSpecs)
      .filter((secret) => author === 'editor' || secret !== "with a task's")
      .flatMap((secret) =>
        callers
          .filter((caller) => caller !== 'viewer' && caller !== 'runner elsewhere')
          .flatMap((caller) =>
            ['waits', 'has ended'].map((state) => ({
              door,
              author,
              secret,
              caller,
              state,
              verdict: judge('session', caller, author, secret),
            })),
          ),
      ),
  ),
)

async function end(name: string): Promise<void> {
  const task = await service.ports.resources.get('Task', { namespace, name })
  if (task === undefined) throw new Error('no task')
  await service.ports.resources.updateStatus('Task', { ...task, status: { ...task.status, phase: 'Succeeded' } })
}

it.each(sessionCells)(
  '$door the session of a task that $state, by the $caller, where the $author made it $secret Secret: $verdict',
  async (cell) => {
    const door = sessionDoors[cell.door]
    if (door === undefined) throw new Error('no such door')
    const session = `session-${++made}`
    const token = tokenOf(cell.caller)
    const own = { name: nameOwn(), token }
    const sessionRef = { name: session, create: true }
    if (door.waits !== undefined) {
      const { inSession, ...more } = door.waits as { inSession?: boolean }
      await make('tasks', own.name, token, {
        type: 'ai',
        prompt: 'x',
        suspend: true,
        ...more,
        ...(inSession && { sessionRef }),
      })
    }
    const name = `task-${++made}`
    const author = { ...secretSpecs[cell.secret], sessionRef }
    await make('tasks', name, tokenOf(cell.author), { type: 'agent', prompt: 'x', suspend: true, ...author })
    if (cell.state === 'has ended') await end(name)
    const { statusCode } = await door.enter(session, own)
    expect(statusCode).toBe(cell.verdict === 'in' ? door.isIn : 403)
  },
)

it.each<[string, (own: Made) => Promise<Answer>, number]>([
  ['take it out', (own) => change(own, { sessionRef: undefined }), 200],
  ['change its prompt', (own) => change(own, { prompt: 'other' }), 200],
  [
    'give it a file',
    ({ name, token }) =>
      service.call(`PUT /api/v1/tasks/${name}/inputs/a?namespace=${namespace}`, {
        token,
        payload: 'x',
        headers: bytes,
      }),
    204,
  ],
])('whose task was in a session before somebody joined it with a Secret may still %s', async (_what, enter, isIn) => {
  const sessionRef = { name: `session-${++made}`, create: true }
  const name = await makeTask('runner', { ...secretSpecs.without, sessionRef })
  await makeTask('editor', { ...secretSpecs["with a task's"], sessionRef })
  const { statusCode } = await enter({ name, token: tokenOf('runner') })
  expect(statusCode).toBe(isIn)
})

it('of two who join a session at once the second is judged by the first', async () => {
  const versionOf = (answer: { body: string }) => Number(JSON.parse(answer.body).metadata.resourceVersion)
  const rounds = Array.from({ length: 8 }, async () => {
    const session = `session-${++made}`
    const [keyed, other] = await Promise.all([
      makeInSession(session, tokenOf('editor'), secretSpecs["with a task's"] ?? {}),
      makeInSession(session, tokenOf('runner'), {}),
    ])
    expect(keyed.statusCode).toBe(201)
    // Who comes with a Secret to what others have said there does so knowingly.
    expect(other.statusCode === 403 || versionOf(other) < versionOf(keyed), other.body).toBe(true)
  })
  await Promise.all(rounds)
})

it('a session stays that of a task that was removed, until it is removed itself', async () => {
  const session = `session-${++made}`
  const sessionRef = { name: session, create: true }
  const { sessions } = service.ports.records
  const name = await makeTask('editor', { ...secretSpecs["with an agent's"], sessionRef })
  await sessions.ensure({ namespace, name: session }, { create: true, sessionType: 'task' })
  expect((await service.call(`DELETE /api/v1/tasks/${name}?namespace=${namespace}`)).statusCode).toBeLessThan(300)
  const kept = await service.ports.resources.get('Task', { namespace, name })
  if (kept !== undefined)
    await service.ports.resources.update('Task', { ...kept, metadata: { ...kept.metadata, finalizers: [] } })
  expect(await service.ports.resources.get('Task', { namespace, name })).toBeUndefined()
  const join = (caller: CallerName) => makeInSession(session, tokenOf(caller), {})
  const refused = await join('runner')
  expect([refused.statusCode, refused.json().error.message]).toEqual([
    403,
    expect.stringContaining(`session "${session}" was given a Secret by somebody else; use another session`),
  ])
  expect((await chatIn(session, tokenOf('runner'))).statusCode).toBe(403)
  expect([(await join('editor')).statusCode, (await join('owner')).statusCode]).toEqual([201, 201])
  await sessions.remove({ namespace, name: session })
  expect((await join('other runner')).statusCode).toBe(201)
})

it('a task that is refused, or not stored, gives its session nothing', async () => {
  const session = `session-${++made}`
  const name = nameOwn()
  const keyed = { ...secretSpecs["with a task's"], sessionRef: { name: session, create: true } }
  const others = async () =>
    (await service.ports.records.sessions.join({ namespace, name: session }, { secrets: [] })).others
  await make('tasks', name, tokenOf('editor'), { type: 'ai', prompt: 'x', suspend: true })
  await expect(
    make('tasks', name, tokenOf('editor'), { type: 'ai', prompt: 'x', suspend: true, ...keyed }),
  ).rejects.toThrow()
  expect(await others()).toEqual([])
  const own = { name, token: tokenOf('editor') }
  expect((await change(own, keyed)).statusCode).toBe(200)
  const secrets = [{ namespace, name: 'key' }]
  expect(await others()).toEqual([{ requester: expect.stringContaining('token'), secrets }])
})

it('each agent of a session is read once, however many tasks use it', async () => {
  const sessionRef = { name: `session-${++made}`, create: true }
  for (let at = 0; at < 5; at += 1) await makeTask('editor', { ...secretSpecs.without, sessionRef })
  const { resources } = service.ports
  const get = resources.get.bind(resources)
  const read: string[] = []
  resources.get = (kind, key) => {
    if (kind === 'Agent') read.push(key.name)
    return get(kind, key)
  }
  try {
    expect((await makeInSession(sessionRef.name, tokenOf('runner'), {})).statusCode).toBe(201)
    expect(read.filter((name) => name === 'plain')).toEqual(['plain'])
  } finally {
    resources.get = get
  }
})

it('the refusal of a session names a task of it and says what to do', async () => {
  const sessionRef = { name: 'nightly', create: true }
  const name = await makeTask('editor', { ...secretSpecs["with a task's"], sessionRef })
  const refused = await makeInSession('nightly', tokenOf('runner'), {})
  expect(refused.json().error.message).toMatch(
    new RegExp(`^session "nightly" is also that of task "${name}".* use another session: the role runner may not`),
  )
})

it('a task that goes from running back to pending while its agent is changed is found', async () => {
  const part = partOf('agent')
  const { name, task } = await makeUsed({ part, author: 'editor', secret: "with a task's" })
  const { resources } = service.ports
  const put = async (phase: 'Running' | 'Pending') => {
    const found = await resources.get('Task', { namespace, name: task })
    if (found !== undefined) await resources.updateStatus('Task', { ...found, status: { ...found.status, phase } })
  }
  await put('Running')
  const list = resources.list.bind(resources)
  let lists = 0
  resources.list = async (kind, query) => {
    const page = await list(kind, query)
    if (kind === 'Task') await put(++lists % 2 === 0 ? 'Running' : 'Pending')
    return page
  }
  try {
    expect((await partDoors['a change of']?.(part, name, tokenOf('runner')))?.statusCode).toBe(403)
  } finally {
    resources.list = list
  }
})

it('a task is found behind any number of others that use the same', async () => {
  const part = partOf("agent's skill")
  const { name, task } = await makeUsed({ part, author: 'editor', secret: "with a task's" })
  const last = await service.ports.resources.get('Task', { namespace, name: task })
  if (last === undefined) throw new Error('no task')
  const { env: _env, ...spec } = last.spec
  for (let at = 0; at < 450; at += 1)
    await service.ports.resources.create('Task', { metadata: { namespace, name: `before-${at}` }, spec })
  expect((await partDoors['a change of']?.(part, name, tokenOf('runner')))?.statusCode).toBe(403)
})
