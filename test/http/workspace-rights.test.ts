// Who may act inside somebody's execution workspace: every door to it, asked by every role, for its own and another's.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { actingDoors, letsIn } from '../../src/contract/api/tasks/acting-doors.ts'
import type { ResolvedWorkspace } from '../../src/contract/api/workspaces/execution-workspaces.ts'
import type { ExecutionWorkspaces, ReadyWorkspace } from '../../src/ports/workspaces/execution-workspaces.ts'
import type { WorkspaceRecord } from '../../src/ports/workspaces/workspace-records.ts'
import { resolveWorkspace, type WorkspaceSettings } from '../../src/rules/workspaces/execution-workspace.ts'
import { waitFor } from '../fixtures/time.ts'
import { openWorkspaceService, specOf } from '../fixtures/workspaces/service.ts'
import { type Service, startService } from './service.ts'

const namespace = 'team'
const provider = 'agent-sandbox'
const usual = {
  template: 'agents',
  cleanupPolicy: 'delete',
  claimTimeoutSeconds: 60,
  commandTimeoutSeconds: 60,
} as const
const settings: WorkspaceSettings = { defaultProvider: provider, providers: { [provider]: usual } }

const started = new Map<string, string[]>()
const ended = { phase: 'Ended', stdout: 'inside', stderr: '', truncated: false } as const
/** Commands that look whether the worker has its assignment answer this. */
let sign = 0

/** Workers go on for ever in it, and commands say one word. */
const workspaces: ExecutionWorkspaces = {
  claim: async () => undefined,
  observe: async () => ({ phase: 'Ready' }),
  waitUntilReady: async (): Promise<ReadyWorkspace> => ({ reused: false, root: '/w', worker: ['worker'] }),
  stage: async () => undefined,
  start: async (_claim, { id, command }) => void started.set(id, command),
  observeCommand: async (_claim, id) =>
    id.startsWith('run-') ? { phase: 'Running' } : { ...ended, exitCode: started.get(id)?.[0] === 'test' ? sign : 0 },
  stop: async () => undefined,
  scrub: async () => undefined,
  suspend: async () => undefined,
  delete: async () => undefined,
  list: async function* () {},
}

const doors: Record<string, { line: (name: string) => string; payload?: object; isIn: number }> = {
  runInWorkspace: {
    line: (name) => `POST /api/v1/workspaces/${name}/commands`,
    payload: { command: ['env'] },
    isIn: 200,
  },
  // Whoever may end it is told that a task uses it.
  releaseWorkspace: { line: (name) => `DELETE /api/v1/workspaces/${name}`, isIn: 409 },
}

const callers = ['viewer', 'runner', 'editor', 'owner', 'runner elsewhere'] as const
const authors = ['runner', 'editor'] as const
type CallerName = (typeof callers)[number]

let service: Service
let runs: ReturnType<typeof openWorkspaceService>
const tokens: Partial<Record<CallerName, string>> = {}
const found: Record<string, WorkspaceRecord> = {}

async function makeToken(caller: CallerName): Promise<string> {
  const payload = { name: caller.replace(' ', '-'), role: caller.split(' ')[0] }
  const bound = caller.endsWith(' elsewhere') ? { namespace: 'other' } : {}
  return (await service.call('POST /api/v1/tokens', { payload: { ...payload, ...bound } })).json().token
}

async function make(kind: string, name: string, token: string | undefined, more: object) {
  const made = await service.call(`POST /api/v1/${kind}`, {
    ...(token === undefined ? {} : { token }),
    payload: kind === 'secrets' ? { name, namespace, ...more } : { metadata: { name, namespace }, spec: more },
  })
  if (made.statusCode !== 201) throw new Error(made.body)
}

/** A task that runs in a workspace, by the way of a task that anybody makes. */
async function run(name: string, token: string | undefined, spec: object): Promise<WorkspaceRecord> {
  const workspace = { enabled: true, provider }
  await make('tasks', name, token, { type: 'agent', prompt: 'x', execution: { workspace }, ...spec })
  const task = await service.ports.resources.get('Task', { namespace, name })
  const agent = await service.ports.resources.get('Agent', { namespace, name: task?.spec.agentRef?.name ?? '' })
  if (task === undefined) throw new Error(`there is no task ${name}`)
  const resolved = resolveWorkspace(settings, { task, attempt: 1, agent }) as ResolvedWorkspace
  const { claim, template } = resolved
  const attempt = { provider, taskUid: task.metadata.uid, taskName: name, namespace, claim, template } as const
  await runs.ensure({ ...specOf({ ...attempt, token: 'token' }), workspace: resolved })
  return waitFor(async () => {
    const record = await service.ports.records.workspaces.get({ provider, ...claim })
    return record?.step === 'running' ? record : undefined
  })
}

beforeAll(async () => {
  const executionWorkspaces = { [provider]: workspaces }
  const defaults = { defaultProvider: settings.defaultProvider, providers: settings.providers }
  service = await startService({ executionWorkspaces, usecases: { workspaces: defaults } })
  const { workspaces: records } = service.ports.records
  runs = openWorkspaceService({
    providers: executionWorkspaces,
    records,
    endsOnClose: false,
    findSecrets: async () => [],
  })
  for (const caller of callers) tokens[caller] = await makeToken(caller)
  await make('secrets', 'key', tokens.editor, { stringData: { token: 'value' } })
  const runtime = { type: 'llma-cli' }
  await make('agents', 'plain', tokens.editor, { runtime })
  await make('agents', 'keyed', tokens.editor, { runtime, secretRef: { name: 'key' } })
  for (const author of authors) {
    found[`${author} without`] = await run(`${author}-plain`, tokens[author], { agentRef: { name: 'plain' } })
    found[`${author} with an agent's`] = await run(`${author}-keyed`, tokens[author], { agentRef: { name: 'keyed' } })
  }
  const env = [{ name: 'KEY', valueFrom: { secretKeyRef: { name: 'key', key: 'token' } } }]
  found["editor with a task's"] = await run('editor-env', tokens.editor, { agentRef: { name: 'plain' }, env })
})
afterAll(async () => {
  await runs?.detach()
  await service?.stop()
})

function judge(caller: CallerName, workspace: string): 'in' | 403 {
  if (caller === 'viewer' || caller === 'runner elsewhere') return 403
  const [author = '', secret] = workspace.split(' ')
  const standing = caller === author ? 'requester' : caller === 'runner' ? 'other' : 'reader'
  return secret === 'without' || letsIn('workspace', standing) ? 'in' : 403
}

it('every route to the inside of a workspace is asked here', () => {
  expect(Object.keys(doors)).toEqual(actingDoors.workspace.routes)
})

const names = [
  ...authors.flatMap((author) => [`${author} without`, `${author} with an agent's`]),
  "editor with a task's",
]
const cells = Object.keys(doors).flatMap((door) =>
  callers.flatMap((caller) =>
    names.map((workspace) => ({ door, caller, workspace, verdict: judge(caller, workspace) })),
  ),
)

it.each(cells)('$door, by the $caller, where the task is of the $workspace Secret: $verdict', async (cell) => {
  const { line, payload, isIn } = doors[cell.door] ?? { line: () => '', isIn: 0 }
  const answer = await service.call(`${line(found[cell.workspace]?.name ?? '')}?namespace=${namespace}`, {
    token: tokens[cell.caller] ?? null,
    ...(payload && { payload }),
  })
  expect(answer.statusCode).toBe(cell.verdict === 'in' ? isIn : 403)
})

it('no command joins a worker that has not read its assignment', async () => {
  const { name = '' } = found['editor without'] ?? {}
  const command = () =>
    service.call(`POST /api/v1/workspaces/${name}/commands?namespace=${namespace}`, { payload: { command: ['env'] } })
  sign = 1
  const early = await command()
  sign = 0
  expect([early.statusCode, early.json().error.message]).toEqual([
    409,
    `task "editor-plain" is just beginning in workspace "${name}"; try again in a moment`,
  ])
  expect((await command()).json()).toMatchObject({ exitCode: 0, stdout: 'inside' })
})

describe('a workspace with what a Secret gave to tasks of somebody else', () => {
  it('is refused in words that say what to do', async () => {
    const { name = '' } = found["editor with a task's"] ?? {}
    const token = tokens.runner ?? null
    const refused = await service.call(`DELETE /api/v1/workspaces/${name}?namespace=${namespace}`, { token })
    expect(refused.json().error.message).toBe(
      `workspace "${name}" is of somebody else's tasks, and has what a Secret gave them: the role runner may not get a Secret: ` +
        'use a token with the role editor; or ask whoever created them',
    )
  })

  it.each([
    ['is there after a stranger has wanted its end', 'runner', 403],
    ['is ended by whom it is of', 'editor', 204],
  ] as const)('%s', async (_title, caller, status) => {
    const task = { agentRef: { name: 'keyed' } }
    const record = await run(`retained-${caller}`, tokens.editor, task)
    const { workspaces: records } = service.ports.records
    if (record.holder !== undefined) await records.release(record, record.holder)
    const path = `/api/v1/workspaces/${record.name}?namespace=${namespace}`
    const answer = await service.call(`DELETE ${path}`, { token: tokens[caller] ?? null })
    expect(answer.statusCode).toBe(status)
    expect((await records.get(record)) === undefined).toBe(status === 204)
  })

  it('needs the right to Secrets where an earlier version did not note who asked for it', async () => {
    const claim = { namespace, name: 'svc-ws-older', template: { namespace, name: 'agents' }, labels: {} }
    const holder = { taskUid: 'gone', attempt: 1, namespace, taskName: 'gone' }
    const key = { provider, namespace, name: claim.name } as const
    const { workspaces: records } = service.ports.records
    await records.lease({ ...key, holder, facts: { claim, cleanupPolicy: 'retain' }, quota: 0 })
    await records.release(key, holder)
    const command = (token: string | undefined) =>
      service.call(`POST /api/v1/workspaces/${claim.name}/commands?namespace=${namespace}`, {
        token: token ?? null,
        payload: { command: ['env'] },
      })
    expect((await command(tokens.runner)).statusCode).toBe(403)
    expect((await command(tokens.editor)).json()).toMatchObject({ stdout: 'inside' })
  })
})
